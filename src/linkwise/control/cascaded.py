"""The controller of Hua, Poursina and Sanfilippo for mixed rigid and elastic joints: links first, then motors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from linkwise.algorithms.algorithm import REFERENCES, REQUIRED, Outputs, Shape, World, algorithm
from linkwise.algorithms.coriolis import reference_forces
from linkwise.algorithms.elastic_feedforward import carried_motors
from linkwise.algorithms.inertia_route import no_inertia_along
from linkwise.algorithms.inverse_dynamics import body_wrenches, torques
from linkwise.algorithms.mass_matrix import mass_matrix
from linkwise.control.gains import checked, refuse_floating
from linkwise.control.rigid import slopes
from linkwise.control.tracking import errors, reference_velocity
from linkwise.errors import LinkwiseError
from linkwise.jet import Jet, cut, is_zero, part
from linkwise.jet import rate as jet_rate
from linkwise.mechanism import linear
from linkwise.mechanism.machine import AnyMachine
from linkwise.mechanism.series import along_motion
from linkwise.robot.tree import Elastic, Tree
from linkwise.scalar import Scalar, number
from linkwise.spatial import Inertia

SIGNALS = " ".join(("q", "qd", *REFERENCES))
GAINS: dict[str, Any] = {"kp": REQUIRED, "kd": REQUIRED, "kp_motor": REQUIRED, "kd_motor": REQUIRED}
SURROUNDINGS: dict[str, Any] = {"uses": "gravity external base_motion", "rates": 1, "base_rates": 2}
OUTPUTS: dict[str, Shape] = {"tau": ("nm",), "theta_ref": ("ne",)}
VALUES: dict[str, Shape] = {"V1": (), "V2": ()}
Vector = list[Scalar]


@algorithm(inputs=SIGNALS, outputs=OUTPUTS, torques_only=True, **SURROUNDINGS, **GAINS)
def cascaded_control(machine: AnyMachine, *signals: Sequence[Scalar], world: World, **gains: Any) -> Outputs:
    """Torques of the drives that make joints, rigid and elastic, follow a motion given with four derivatives.

    The law of the links asks for torques; where a spring is to give them it follows where the motor should be, and a
    law of the motors brings it there. Rates of that place are had by differentiating the law along the motion that the
    model foresees, so that neither accelerations nor jerks are measured. With loops the law of the links is in what
    leads, and drives of joints that follow are asked for what amounts to it.

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
        machine: a robot with elastic drives on joints that do not mimic.
        signals: q and qd of what leads, motors behind springs among it; then without motors where it should be, and
            four derivatives.
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
    c = _cascade(machine, signals, world, gains)
    return [c.tau[k] for k in machine.tree_drives], [part(x) for x in c.theta_ref]


@algorithm(inputs=SIGNALS, outputs=VALUES, torques_only=True, **SURROUNDINGS, **GAINS)
def cascaded_lyapunov(machine: AnyMachine, *signals: Sequence[Scalar], world: World, **gains: Any) -> Outputs:
    """The functions that tell whether `cascaded_control` is stable: V1 of the links, V2 with the motors, J.

    Without loads that the model does not know V2 never rises, if no elastic joint carries the motor of another, and
    where errors of quaternions are small.

        V1 = sigma^T M sigma / 2 + e^T kp e,   V2 = V1 + sigma_m^T B sigma_m / 2 + e_m^T K e_m / 2

    Args:
        machine: as for `cascaded_control`.
        signals: the same.
        world: the same.
        gains: the same.

    Source: [Hua] (41), (51).
    """
    c = _cascade(machine, signals, world, gains)
    tree, at = c.law.bare.tree, c.at
    zeros = [0.0] * tree.nv
    sigma = at.rates([*c.sigma, *[0.0] * (c.law.links.nv - len(c.sigma))])
    inertial = reference_forces(tree, at.q, zeros, zeros, sigma)
    V1 = 0.5 * sum((a * b for a, b in zip(sigma, inertial, strict=True)), 0.0)
    V1 = V1 + sum((p * e * e for p, e in zip(c.kp, c.error, strict=True)), 0.0)
    V2 = V1
    for (_, e), s, place, theta in zip(tree.elastic_bodies, c.sigma_motor, c.theta_ref, c.theta, strict=True):
        off = part(place) - theta
        V2 = V2 + 0.5 * (_motor_inertia(tree, e) * (s * s) + c.law.stiffness[e.v] * (off * off))
    return [V1], [V2]


class _Cascade(NamedTuple):
    """All that the two laws bring about; `theta_ref` with two rates, the rest values. `tau` is by place in the tree."""

    law: _LoadLaw
    at: Any
    tau: dict[int, Scalar]
    theta: Sequence[Scalar]
    theta_ref: Vector
    error: Sequence[Scalar]
    sigma: Vector
    sigma_motor: Vector
    kp: list[float]


def _cascade(machine: AnyMachine, signals: Sequence[Sequence[Scalar]], world: World, given: dict[str, Any]) -> _Cascade:
    """Both laws, with the rates of the first."""
    refuse_floating("cascaded_control", machine)
    q, qd, *motion = signals
    tree, drives = machine.tree, machine.tree.elastic_bodies
    _refuse(tree)
    n, soft = machine.nv - len(drives), len(drives)
    widths = {"kp": n, "kd": n, "kp_motor": soft, "kd_motor": soft}
    gains = checked("cascaded_control", given, widths)
    theta, thetad = q[len(q) - soft :], qd[n:]
    law = _LoadLaw(machine, world, gains, (theta, thetad))

    # the motion that the model foresees: accelerations, then jerks
    state = [list(q[: len(q) - soft]), list(qd[:n])]
    qdd = law.accelerations(state, motion, 0)
    qddd = [part(a, 1) for a in law.accelerations([*state, qdd], motion, 1)]
    foreseen = [*state, qdd, qddd]
    here = law.at(foreseen, motion, 2)
    links = here.torques  # (39) with two rates, but for the spin of motors
    torque = {v: a + b for (v, a), b in zip(links.items(), law.felt_spin(here, motion, 2), strict=True)}

    K = law.stiffness
    place = [number(here.q[b.q]) for b, _ in drives]
    theta_ref = [x + torque[b.v] * (1.0 / K[e.v]) for x, (b, e) in zip(place, drives, strict=True)]  # (43)
    slope = slopes(gains["kp_motor"], gains["kd_motor"])
    sigma_motor: Vector = []
    thetadd_r: Vector = []
    for k, ((b, _), x, s) in enumerate(zip(drives, theta_ref, slope, strict=True)):
        off = cut(here.reference[b.v], 1) - cut(here.qd[b.v], 1)  # of the joint from its reference velocity
        rate = part(x, 1) + s * (part(x) - theta[k]) + part(off)  # (45)
        sigma_motor.append(rate - thetad[k])  # (47)
        thetadd_r.append(part(x, 2) + s * (part(x, 1) - thetad[k]) + part(off, 1))

    around, at = world.each(part), law.links.at(law.padded(state[0]))
    still = [*(part(x) for x in here.qd[: tree.nv - soft]), *thetad]
    speeding = [*(part(x, 1) for x in here.qd[: tree.nv - soft]), *thetadd_r]
    forces = reference_forces(law.bare.tree, here.still, still, still, speeding, *around.seen_by_reference)
    tau, thetadd = {v: part(x) for v, x in links.items()}, []
    for k, ((_, e), x, s, d, a) in enumerate(
        zip(drives, theta_ref, sigma_motor, gains["kd_motor"], thetadd_r, strict=True)
    ):
        gives = (part(x) - part(place[k])) * K[e.v] + d * s
        tau[e.v] = forces[e.v] + gives + e.resistance(still)  # (49)
        inertia, off = _motor_inertia(tree, e), part(x) - theta[k]
        thetadd.append(a + (d * s + K[e.v] * off) / inertia if not is_zero(inertia) else 0.0)  # (50)
    spin = law.spin(at, here.still, still[: tree.nv - soft], thetad, thetadd, around)
    for v, x in spin.items():
        tau[v] = tau[v] + x
    return _Cascade(
        law, at, tau, theta, theta_ref, errors(machine, q, motion[0]), [part(x) for x in here.sigma], sigma_motor,
        gains["kp"],
    )  # fmt: skip


class _Here(NamedTuple):
    """The links in a motion with rates: positions and velocities of the tree, what the law wants, and what it gives.

    `still` are the positions without rates, `reference` velocities of the tree with a rate more, `sigma` is of what
    leads, `torques` are of drives by place.
    """

    at: Any
    q: Vector
    still: Vector
    qd: Sequence[Scalar]
    reference: Sequence[Scalar]
    sigma: Vector
    torques: dict[int, Scalar]


class _LoadLaw:
    """The law of the links (39), and the accelerations that follow, as functions of a motion with rates."""

    def __init__(
        self, machine: AnyMachine, world: World, gains: dict[str, list[float]], motors: Sequence[Sequence[Scalar]]
    ) -> None:
        self.machine, self.world, self.gains, self.motors = machine, world, gains, motors
        tree = machine.tree
        self.links, self.drives = machine.unsprung(), tree.elastic_bodies
        self.bare = self.links.without_forces()
        self.stiffness = {e.v: e.stiffness for _, e in self.drives}
        self._n = machine.nv - len(self.drives)
        bodies = tuple(replace(b, inertia=Inertia(), armature=0.0) for b in self.bare.tree.bodies)
        rotors = tuple(r for r in tree.rotors if r.v in tree.motor_coordinates)
        self._rotors = replace(self.bare.tree, bodies=bodies, rotors=rotors)

    def padded(self, x: Sequence[Scalar], place: bool = True) -> Vector:
        """Numbers of what leads without motors, with zeros for motors where these lead too."""
        return [*x, *[0.0] * ((self.links.nq if place else self.links.nv) - len(x))]

    def _series(self, motion: Sequence[Sequence[Scalar]], rates: int) -> list[Vector]:
        """q, and qd where it is known so far, with so many rates."""
        return along_motion(self.links, [self.padded(x, not k) for k, x in enumerate(motion[: rates + 2])], rates)

    def at(self, motion: Sequence[Vector], wanted: Sequence[Sequence[Scalar]], rates: int) -> _Here:
        """(39) for the drives of links whose motors do not spin, with so many rates.

        `motion` is q, qd and what is known of further derivatives.
        """
        links, n, kd = self.links, self._n, self.gains["kd"]
        ahead = self._series(motion[: rates + 2], rates + 1)[0]
        at = links.at([cut(x, rates) for x in ahead])
        qd = at.rates(_jets([self.padded(x, False) for x in motion[1 : rates + 2]]))
        goal = self._series(wanted, rates + 1)
        slope = [*slopes(self.gains["kp"], kd), *[0.0] * (links.nv - n)]
        lead = reference_velocity(links, ahead, goal[0], goal[1], slope)
        sigma = [cut(r, rates) - v for r, v in zip(lead, _jets(motion[1 : rates + 2]), strict=False)][:n]
        q, around = self._filled(at), self.world.each(lambda x: cut(x, rates))
        every = links.at(ahead).rates(lead)
        tau = reference_forces(
            self.bare.tree, q, qd, [cut(x, rates) for x in every], [_rate(x, rates) for x in every],
            *around.seen_by_reference,
        )  # fmt: skip
        for b in links.tree.bodies:
            if b.is_single:
                tau[b.v] = tau[b.v] + b.resistance(q, qd, [0.0] * at.tree.nv)
        for v, d, s in zip(at.leads, kd, sigma, strict=False):
            tau[v] = tau[v] + d * s
        torques = self._driven(at, tau)
        return _Here(at, q, [part(x) if isinstance(x, Jet) else x for x in q], qd, every, sigma, torques)

    def _filled(self, at: Any) -> Vector:
        """Positions of the tree, motors with their joints."""
        q = list(at.q)
        for b, e in self.drives:
            q[e.q] = number(q[b.q])
        return q

    def _driven(self, at: Any, tau: Vector) -> dict[int, Scalar]:
        """Torques of drives at the joints by place in the tree, those of motors left out."""
        motors = self.machine.tree.motor_coordinates
        return {v: x for v, x in zip(at.drive_places, at.drives(tau), strict=True) if v not in motors}

    def spin(
        self, at: Any, q: Vector, qd: Sequence[Scalar], thetad: Sequence[Scalar], thetadd: Vector, around: World
    ) -> dict[int, Scalar]:
        """What motors that spin so on their links take at rigid drives: S thetadd + C1 thetad of (39)."""
        elastic = {b.v for b, _ in self.drives}
        found = self._driven(at, self._spun(q, qd, thetad, thetadd, around))
        return {v: x for v, x in found.items() if v not in elastic}

    def _spun(
        self, q: Vector, qd: Sequence[Scalar], thetad: Sequence[Scalar], thetadd: Sequence[Scalar], around: World
    ) -> Vector:
        full = [*qd, *thetad]
        return reference_forces(self._rotors, q, full, full, [*[0.0] * len(qd), *thetadd], *around.seen_by_reference)

    def felt_spin(self, here: _Here, wanted: Sequence[Sequence[Scalar]], rates: int) -> Vector:
        """The same of motors that elastic joints carry, as if they spun as their joints are wanted to."""
        felt = self._felt(here.at)
        if not felt:
            return [0.0] * len(here.torques)
        goal = self._series(wanted, rates + 1)
        every = self.links.at(goal[0]).rates(goal[1])
        thetad, thetadd = (
            [x[b.v] if e.v in felt else 0.0 for b, e in self.drives]
            for x in ([cut(y, rates) for y in every], [_rate(y, rates) for y in every])
        )
        qd = here.qd[: len(here.qd) - len(self.drives)]
        around = self.world.each(lambda x: cut(x, rates))
        return list(self._driven(here.at, self._spun(here.q, qd, thetad, thetadd, around)).values())

    def _felt(self, at: Any) -> set[int]:
        """Motors that elastic joints carry; loops pass on what any of their links feels."""
        tree = self.machine.tree
        together = {i: unit.bodies for unit in at.units for i in unit.bodies}
        soft = [i for i, b in enumerate(tree.bodies) if b.elastic is not None]
        return {v for i in soft for k in together[i] for v in carried_motors(tree, k)}

    def accelerations(self, motion: Sequence[Vector], wanted: Sequence[Sequence[Scalar]], rates: int) -> Vector:
        """What leads does: elastic joints move under their springs, rigid ones under (39), which knows all motors."""
        n, size, links = self._n, self.links.nv, self.links
        here = self.at(motion, wanted, rates)
        at, force = here.at, dict(here.torques)
        spin = dict(zip(force, self.felt_spin(here, wanted, rates), strict=True))
        for k, (b, e) in enumerate(self.drives):
            theta = Jet.of([x[k] for x in self.motors[: rates + 1]])
            force[b.v] = (theta - number(here.q[b.q])) * self.stiffness[e.v] - spin[b.v]
        around = self.world.each(lambda x: cut(x, rates))
        qdd = at.accelerations(here.qd, [0.0] * size)
        tau = torques(links.tree, here.q, here.qd, qdd, body_wrenches(links.tree, here.q, here.qd, qdd, around))
        pushed = at.force_of([force.get(v, 0.0) for v in at.drive_places])
        (flat,) = mass_matrix.function(self.bare, [cut(x, rates) for x in self._series(motion, rates)[0]])
        M = [flat[k * size : k * size + n] for k in range(n)]
        factors = linear.factorise(M, lambda k: no_inertia_along(self.machine, k))
        return linear.solve(factors, [x - y for x, y in zip(pushed[:n], at.project(tau)[:n], strict=True)])


def _jets(derivatives: Sequence[Sequence[Scalar]]) -> Vector:
    """The first of some vectors, with the others as its rates."""
    return [Jet.of(x) for x in zip(*derivatives, strict=True)]


def _rate(x: Scalar, rates: int) -> Scalar:
    """The rate of a scalar that has one rate more, with so many."""
    return cut(jet_rate(x), rates)


def _motor_inertia(tree: Tree, e: Elastic) -> Scalar:
    """B of (31): what a motor behind a spring turns against its link, at its coordinate."""
    return sum((r.inertia * r.ratio * r.ratio for r in tree.rotors if r.v == e.v), e.armature)


def _refuse(tree: Tree) -> None:
    if not tree.elastic_bodies:
        raise LinkwiseError("cascaded_control: expected a robot with elastic drives, got one without. Use"
                            " passivity_control or computed_torque.")  # fmt: skip
    places = [b.v for b in tree.bodies if b.is_single]
    for b, _ in tree.elastic_bodies:
        if places.count(b.v) > 1:
            raise LinkwiseError(f"cascaded_control: joint {b.name!r} shares its coordinate with joints that mimic, so"
                                " that the load of its spring is not its own. Make its drive rigid.")  # fmt: skip
