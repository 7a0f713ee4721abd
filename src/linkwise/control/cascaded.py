"""The controller of Hua, Poursina and Sanfilippo for mixed rigid and elastic joints: links first, then motors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from linkwise.algorithms.algorithm import REFERENCES, REQUIRED, Outputs, Shape, World, algorithm
from linkwise.algorithms.coriolis import reference_forces
from linkwise.algorithms.elastic_feedforward import carried_motors
from linkwise.algorithms.inertia_route import no_inertia_along
from linkwise.algorithms.inverse_dynamics import inverse_dynamics
from linkwise.algorithms.mass_matrix import mass_matrix
from linkwise.control.gains import checked, refuse_floating
from linkwise.control.rigid import reference
from linkwise.errors import LinkwiseError
from linkwise.jet import Jet, cut, is_zero, part
from linkwise.mechanism import linear
from linkwise.robot.tree import Body, Elastic, Tree
from linkwise.scalar import Scalar
from linkwise.spatial import Inertia

SIGNALS = " ".join(("q", "qd", *REFERENCES))
GAINS: dict[str, Any] = {"kp": REQUIRED, "kd": REQUIRED, "kp_motor": REQUIRED, "kd_motor": REQUIRED}
SURROUNDINGS: dict[str, Any] = {"uses": "gravity external base_motion", "rates": 1, "base_rates": 2}
OUTPUTS: dict[str, Shape] = {"tau": ("nm",), "theta_ref": ("ne",)}
VALUES: dict[str, Shape] = {"V1": (), "V2": ()}
Vector = list[Scalar]


@algorithm(inputs=SIGNALS, outputs=OUTPUTS, torques_only=True, **SURROUNDINGS, **GAINS)
def cascaded_control(tree: Tree, *signals: Sequence[Scalar], world: World, **gains: Any) -> Outputs:
    """Torques of the drives that make joints, rigid and elastic, follow a motion given with four derivatives.

    The law of the links asks for torques; where a spring is to give them it follows where the motor should be, and a
    law of the motors brings it there. Rates of that place are had by differentiating the law along the motion that the
    model foresees, so that neither accelerations nor jerks are measured.

    Exact in the model's terms where no motor behind a spring is carried by an elastic joint; wherever else motors
    stand, rigid drives make up for their accelerations and gyroscopic moments. An elastic joint that carries one would
    have to know the motor's acceleration before it is decided, with two rates more, which depend on that joint's own
    acceleration: no law of positions and velocities has that. There such motors are taken to spin as the wanted motion
    has their joints do: on the motion the torques are those of `elastic_feedforward` with coupling="rigid". What is
    neglected is their inertia times the difference. An error stays that is the smaller the stiffer the springs are, V2
    of `cascaded_lyapunov` may rise, and where such rotors are heavy, their S in `elastic_blocks` not small beside M,
    the loop can be unstable: simulate it first. Neglected is also damping of the drives' springs; friction and passive
    springs are made up for.

    Args:
        tree: a robot with elastic drives on joints that do not mimic.
        signals: q and qd of joints and motors; then of the joints alone where they should be, and four derivatives.
        world: gravity; the motion of the base with jerk and snap; and external wrenches with their rates, which the law
            of the links does not know, but which are felt in the accelerations and jerks of joints that the motors' law
            takes, as if those were measured.
        gains: kp (N m/rad) and kd (N m s/rad) of the joints, kp_motor and kd_motor of motors behind springs: one
            number for all or one for each.

    Returns:
        tau of the drives, as `robot.motors`; theta_ref, where the motors behind springs should be.

    Source: [Hua] (37)-(50), by recursion only. We depart in (39) for motors that elastic joints carry, whose thetad and
    thetadd there are those of the wanted motion of their joints, and by base motion.
    """
    c = _cascade(tree, signals, world, gains)
    return [c.tau[k] for k in tree.drives], [part(x) for x in c.theta_ref]


@algorithm(inputs=SIGNALS, outputs=VALUES, torques_only=True, **SURROUNDINGS, **GAINS)
def cascaded_lyapunov(tree: Tree, *signals: Sequence[Scalar], world: World, **gains: Any) -> Outputs:
    """The functions that tell whether `cascaded_control` is stable: V1 of the links, V2 with the motors, J.

    Without loads that the model does not know V2 never rises, if no elastic joint carries the motor of another.

        V1 = sigma^T M sigma / 2 + e^T kp e,   V2 = V1 + sigma_m^T B sigma_m / 2 + e_m^T K e_m / 2

    Args:
        tree: as for `cascaded_control`.
        signals: the same.
        world: the same.
        gains: the same.

    Source: [Hua] (41), (51).
    """
    c = _cascade(tree, signals, world, gains)
    zeros = [0.0] * tree.nv
    sigma = [*c.sigma, *[0.0] * len(c.theta_ref)]
    inertial = reference_forces(c.bare, signals[0], zeros, zeros, sigma)
    V1 = 0.5 * sum((a * b for a, b in zip(sigma, inertial, strict=True)), 0.0)
    V1 = V1 + sum((p * e * e for p, e in zip(c.kp, c.error, strict=True)), 0.0)
    V2 = V1
    for (_, e), s, place in zip(tree.elastic_bodies, c.sigma_motor, c.theta_ref, strict=True):
        off = part(place) - signals[0][e.q]
        V2 = V2 + 0.5 * (_motor_inertia(tree, e) * (s * s) + e.stiffness * (off * off))
    return [V1], [V2]


class _Cascade(NamedTuple):
    """All that the two laws bring about; `theta_ref` with two rates, the rest values."""

    tau: Vector
    theta_ref: Vector
    error: Vector
    sigma: Vector
    sigma_motor: Vector
    kp: list[float]
    bare: Tree


def _cascade(tree: Tree, signals: Sequence[Sequence[Scalar]], world: World, given: dict[str, Any]) -> _Cascade:
    """Both laws, with the rates of the first."""
    refuse_floating("cascaded_control", tree)
    q, qd, *motion = signals
    drives = tree.elastic_bodies
    _refuse(tree)
    n = tree.nv - len(drives)
    widths = {"kp": n, "kd": n, "kp_motor": len(drives), "kd_motor": len(drives)}
    gains = checked("cascaded_control", given, widths)
    law = _LoadLaw(tree, world, gains)

    # the motion that the model foresees: accelerations, then jerks
    qdd = law.accelerations([list(q), list(qd)], motion, 0)
    qddd = [part(a, 1) for a in law.accelerations([list(q), list(qd), qdd], motion, 1)]
    foreseen = [list(q), list(qd), qdd, qddd]
    links = law.torques(foreseen, motion, 2)  # (39) with two rates, but for the spin of motors
    torque = [a + b for a, b in zip(links, law.felt_spin(foreseen, motion, 2), strict=True)]

    theta_ref = [Jet.of([q[b.v], qd[b.v], qdd[b.v]]) + torque[b.v] * (1.0 / e.stiffness) for b, e in drives]  # (43)
    _, qdd_r, sigma = reference(q[:n], qd[:n], motion[:3], gains["kp"], gains["kd"])
    slope = [p / d for p, d in zip(gains["kp_motor"], gains["kd_motor"], strict=True)]
    sigma_motor: Vector = []
    thetadd_r: Vector = []
    for (b, e), place, s in zip(drives, theta_ref, slope, strict=True):
        rate = part(place, 1) + s * (part(place) - q[e.q]) + sigma[b.v]  # (45)
        sigma_motor.append(rate - qd[e.v])  # (47)
        thetadd_r.append(part(place, 2) + s * (part(place, 1) - qd[e.v]) + qdd_r[b.v] - qdd[b.v])

    around = world.each(part)
    forces = reference_forces(law.bare, q, qd, qd, [*qdd, *thetadd_r], *around.seen_by_reference)
    tau = [*(part(t) for t in links), *[0.0] * len(drives)]
    thetadd = []
    for (b, e), place, s, d, a in zip(drives, theta_ref, sigma_motor, gains["kd_motor"], thetadd_r, strict=True):
        tau[e.v] = forces[e.v] + (part(place) - q[b.v]) * e.stiffness + d * s + e.resistance(qd)  # (49)
        inertia = _motor_inertia(tree, e)
        off = part(place) - q[e.q]
        thetadd.append(a + (d * s + e.stiffness * off) / inertia if not is_zero(inertia) else 0.0)  # (50)
    spin = law.spin(q, qd, qd[n:], thetadd, around)
    for k in range(n):
        tau[k] = tau[k] + spin[k]
    for b, _ in drives:
        tau[b.v] = 0.0
    error = [a - b for a, b in zip(motion[0], q[:n], strict=True)]
    return _Cascade(tau, theta_ref, error, sigma, sigma_motor, gains["kp"], law.bare)


class _LoadLaw:
    """The law of the links (39), and the accelerations that follow, as functions of a motion with rates."""

    def __init__(self, tree: Tree, world: World, gains: dict[str, list[float]]) -> None:
        self.tree, self.world, self.gains = tree, world, gains
        self.bare = replace(tree, bodies=tuple(b.without_forces() for b in tree.bodies))
        self._unsprung = replace(tree, bodies=tuple(_without_drive_spring(b) for b in tree.bodies))
        self._n = tree.nv - len(tree.elastic_bodies)
        self._rotors = replace(
            self.bare,
            bodies=tuple(replace(b, inertia=Inertia(), armature=0.0) for b in self.bare.bodies),
            rotors=tuple(r for r in tree.rotors if r.v in tree.motor_coordinates),
        )
        soft = [i for i, b in enumerate(tree.bodies) if b.elastic is not None]
        self._felt = {v for i in soft for v in carried_motors(tree, i)}  # motors that elastic joints carry

    def torques(self, motion: Sequence[Vector], wanted: Sequence[Sequence[Scalar]], rates: int) -> Vector:
        """(39) for the joints with motors that do not spin, as jets with so many rates.

        `motion` is q, qd and what is known of further derivatives.
        """
        n, kd = self._n, self.gains["kd"]
        q, qd = self._state(motion, rates)
        ref = [_jets(wanted[j : j + rates + 1]) for j in range(3)]
        qd_r, qdd_r, sigma = reference(q[:n], qd[:n], ref, self.gains["kp"], kd)
        still = [0.0] * (self.tree.nv - n)
        around = self.world.each(lambda x: cut(x, rates))
        tau = reference_forces(self.bare, q, qd, [*qd_r, *still], [*qdd_r, *still], *around.seen_by_reference)
        for b in self._unsprung.bodies:
            if b.is_single:
                tau[b.v] = tau[b.v] + b.resistance(q, qd, [0.0] * self.tree.nv)
        return [tau[k] + kd[k] * sigma[k] for k in range(n)]

    def spin(
        self, q: Sequence[Scalar], qd: Sequence[Scalar], thetad: Sequence[Scalar], thetadd: Vector, around: World
    ) -> Vector:
        """What motors that spin so on their links take at the joints: S thetadd + C1 thetad of (39)."""
        full = [*qd[: self._n], *thetad]
        return reference_forces(self._rotors, q, full, full, [*[0.0] * self._n, *thetadd], *around.seen_by_reference)[
            : self._n
        ]

    def felt_spin(self, motion: Sequence[Vector], wanted: Sequence[Sequence[Scalar]], rates: int) -> Vector:
        """The same of motors that elastic joints carry, as if they spun as their joints are wanted to."""
        if not self._felt:
            return [0.0] * self._n
        q, qd = self._state(motion, rates)
        joints = [(b.v, e.v in self._felt) for b, e in self.tree.elastic_bodies]
        thetad, thetadd = (
            [x[v] if felt else 0.0 for v, felt in joints] for x in (_jets(wanted[j : j + rates + 1]) for j in (1, 2))
        )
        return self.spin(q, qd, thetad, thetadd, self.world.each(lambda x: cut(x, rates)))

    def accelerations(self, motion: Sequence[Vector], wanted: Sequence[Sequence[Scalar]], rates: int) -> Vector:
        """What the joints do: elastic ones under their springs, rigid ones under (39), which knows all motors."""
        n, size = self._n, self.tree.nv
        q, qd = self._state(motion, rates)
        force, spin = self.torques(motion, wanted, rates), self.felt_spin(motion, wanted, rates)
        for b, e in self.tree.elastic_bodies:
            force[b.v] = e.stretch(b.position(q), q) * e.stiffness - spin[b.v]
        around = self.world.each(lambda x: cut(x, rates))
        (bias,) = inverse_dynamics.function(self._unsprung, q, qd, [0.0] * size, world=around)
        (flat,) = mass_matrix.function(self.bare, q)
        M = [flat[k * size : k * size + n] for k in range(n)]
        factors = linear.factorise(M, lambda k: no_inertia_along(self.tree, k))
        return linear.solve(factors, [force[k] - bias[k] for k in range(n)])

    def _state(self, motion: Sequence[Vector], rates: int) -> tuple[Vector, Vector]:
        """q and qd with so many rates; motors stand where they are, at their rate, but do not spin on links."""
        filled = [list(x) + [0.0] * (self.tree.nv - len(x)) for x in motion]
        filled += [[0.0] * self.tree.nv for _ in range(rates + 2 - len(filled))]
        qd = _jets(filled[1 : rates + 2])
        return _jets(filled[: rates + 1]), [*qd[: self._n], *[0.0] * (self.tree.nv - self._n)]


def _jets(derivatives: Sequence[Sequence[Scalar]]) -> Vector:
    """The first of some vectors, with the others as its rates."""
    return [Jet.of(x) for x in zip(*derivatives, strict=True)]


def _motor_inertia(tree: Tree, e: Elastic) -> Scalar:
    """B of (31): what a motor behind a spring turns against its link, at its coordinate."""
    return sum((r.inertia * r.ratio * r.ratio for r in tree.rotors if r.v == e.v), e.armature)


def _without_drive_spring(b: Body) -> Body:
    return replace(b, elastic=b.elastic and replace(b.elastic, stiffness=0.0, damping=0.0))


def _refuse(tree: Tree) -> None:
    if not tree.elastic_bodies:
        raise LinkwiseError("cascaded_control: expected a robot with elastic drives, got one without. Use"
                            " passivity_control or computed_torque.")  # fmt: skip
    places = [b.v for b in tree.bodies if b.is_single]
    for b, _ in tree.elastic_bodies:
        if places.count(b.v) > 1:
            raise LinkwiseError(f"cascaded_control: joint {b.name!r} shares its coordinate with joints that mimic, so"
                                " that the load of its spring is not its own. Make its drive rigid.")  # fmt: skip
