"""The controller of Hua, Poursina and Sanfilippo for mixed rigid and elastic joints: links first, then motors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from linkwise.algorithms.algorithm import REFERENCES, REQUIRED, Outputs, Shape, World, algorithm
from linkwise.algorithms.coriolis import reference_forces
from linkwise.algorithms.inertia_route import no_inertia_along
from linkwise.algorithms.inverse_dynamics import inverse_dynamics
from linkwise.algorithms.mass_matrix import mass_matrix
from linkwise.control.gains import checked, refuse_floating
from linkwise.control.rigid import reference
from linkwise.errors import LinkwiseError
from linkwise.jet import Jet, part
from linkwise.mechanism import linear
from linkwise.robot.tree import Body, Tree
from linkwise.scalar import Scalar
from linkwise.vector import Vec3

SIGNALS = " ".join(("q", "qd", *REFERENCES))
GAINS: dict[str, Any] = {"kp": REQUIRED, "kd": REQUIRED, "kp_motor": REQUIRED, "kd_motor": REQUIRED}
OUTPUTS: dict[str, Shape] = {"tau": ("nm",), "theta_ref": ("ne",)}
VALUES: dict[str, Shape] = {"V1": (), "V2": ()}
Vector = list[Scalar]


@algorithm(inputs=SIGNALS, outputs=OUTPUTS, uses="gravity external", torques_only=True, rates=1, **GAINS)
def cascaded_control(tree: Tree, *signals: Sequence[Scalar], world: World, **gains: Any) -> Outputs:
    """Torques of the drives that make joints, rigid and elastic, follow a motion given with four derivatives.

    The law of the links asks for torques; where a spring is to give them it follows where the motor should be, and a
    law of the motors brings it there. Rates of that place are had by differentiating the law along the motion that the
    model foresees, so that neither accelerations nor jerks are measured.

    Exact in the model's terms where no motor behind a spring is carried by an elastic joint. Otherwise the acceleration
    of such motors in the links' law is neglected, which the source's law would have to know before it is decided, and
    so are the rates of their gyroscopic moments. Neglected is also damping of the drives' springs; friction and passive
    springs are made up for.

    Args:
        tree: a robot with elastic drives on joints that do not mimic.
        signals: q and qd of joints and motors; then of the joints alone where they should be, and four derivatives.
        world: gravity; and external wrenches with their rates, which the law of the links does not know, but which are
            felt in the accelerations and jerks of joints that the motors' law takes, as if those were measured.
        gains: kp (N m/rad) and kd (N m s/rad) of the joints, kp_motor and kd_motor of motors behind springs: one
            number for all or one for each.

    Returns:
        tau of the drives, as `robot.motors`; theta_ref, where the motors behind springs should be.

    Source: [Hua] (37)-(50), by recursion only. We depart in (39) by D(q, thetad) qd_r in place of C1(q, qd) thetad,
    whose difference is skew-symmetric and does not change (42), and by neglecting S thetadd there.
    """
    c = _cascade(tree, signals, world, gains)
    return [c.tau[k] for k in tree.drives], [part(x) for x in c.theta_ref]


@algorithm(inputs=SIGNALS, outputs=VALUES, uses="gravity external", torques_only=True, rates=1, **GAINS)
def cascaded_lyapunov(tree: Tree, *signals: Sequence[Scalar], world: World, **gains: Any) -> Outputs:
    """The functions that tell whether `cascaded_control` is stable: V1 of the links, V2 with the motors, J.

    Without loads that the model does not know V2 never rises.

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
    (M,) = mass_matrix.function(c.bare, signals[0])
    V2 = V1
    for (_, e), s, place in zip(tree.elastic_bodies, c.sigma_motor, c.theta_ref, strict=True):
        off = part(place) - signals[0][e.q]
        V2 = V2 + 0.5 * (M[e.v * tree.nv + e.v] * (s * s) + e.stiffness * (off * off))
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
    torque = law.torques([list(q), list(qd), qdd, qddd], motion, 2)  # (39) with two rates

    theta_ref = [Jet.of([q[b.v], qd[b.v], qdd[b.v]]) + torque[b.v] * (1.0 / e.stiffness) for b, e in drives]  # (43)
    _, qdd_r, sigma = reference(q[:n], qd[:n], motion[:3], gains["kp"], gains["kd"])
    slope = [p / d for p, d in zip(gains["kp_motor"], gains["kd_motor"], strict=True)]
    sigma_motor, thetadd_r = [], []
    for (b, e), place, s in zip(drives, theta_ref, slope, strict=True):
        rate = part(place, 1) + s * (part(place) - q[e.q]) + sigma[b.v]  # (45)
        sigma_motor.append(rate - qd[e.v])  # (47)
        thetadd_r.append(part(place, 2) + s * (part(place, 1) - qd[e.v]) + qdd_r[b.v] - qdd[b.v])

    forces = reference_forces(law.bare, q, qd, qd, [*qdd, *thetadd_r], Vec3(0.0, 0.0, 0.0))
    tau = [*(part(t) for t in torque), *[0.0] * len(drives)]
    for (b, e), place, s, d in zip(drives, theta_ref, sigma_motor, gains["kd_motor"], strict=True):
        tau[e.v] = forces[e.v] + (part(place) - q[b.v]) * e.stiffness + d * s + e.resistance(qd)  # (49)
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

    def torques(self, motion: Sequence[Vector], wanted: Sequence[Sequence[Scalar]], rates: int) -> Vector:
        """(39) for the joints, as jets with so many rates; `motion` is q, qd and what is known of further ones."""
        n, kd = self._n, self.gains["kd"]
        q, qd = self._state(motion, rates)
        ref = [_jets(wanted[j : j + rates + 1]) for j in range(3)]
        qd_r, qdd_r, sigma = reference(q[:n], qd[:n], ref, self.gains["kp"], kd)
        still = [0.0] * (self.tree.nv - n)
        tau = reference_forces(self.bare, q, qd, [*qd_r, *qd[n:]], [*qdd_r, *still], -self.world.gravity)
        for b in self._unsprung.bodies:
            if b.is_single:
                tau[b.v] = tau[b.v] + b.resistance(q, qd, [0.0] * self.tree.nv)
        return [tau[k] + kd[k] * sigma[k] for k in range(n)]

    def accelerations(self, motion: Sequence[Vector], wanted: Sequence[Sequence[Scalar]], rates: int) -> Vector:
        """What the joints do, elastic ones under their springs, rigid ones under (39)."""
        n, size = self._n, self.tree.nv
        q, qd = self._state(motion, rates)
        force = self.torques(motion, wanted, rates)
        for b, e in self.tree.elastic_bodies:
            force[b.v] = e.stretch(b.position(q), q) * e.stiffness
        felt = self.world if rates else self.world.each(part)
        (bias,) = inverse_dynamics.function(self._unsprung, q, qd, [0.0] * size, world=felt)
        (flat,) = mass_matrix.function(self.bare, q)
        M = [flat[k * size : k * size + n] for k in range(n)]
        factors = linear.factorise(M, lambda k: no_inertia_along(self.tree, k))
        return linear.solve(factors, [force[k] - bias[k] for k in range(n)])

    def _state(self, motion: Sequence[Vector], rates: int) -> tuple[Vector, Vector]:
        """q and qd of joints and motors with so many rates; those of motors beyond their velocities are not known."""
        filled = [list(x) + [0.0] * (self.tree.nv - len(x)) for x in motion]
        filled += [[0.0] * self.tree.nv for _ in range(rates + 2 - len(filled))]
        return _jets(filled[: rates + 1]), _jets(filled[1 : rates + 2])


def _jets(derivatives: Sequence[Sequence[Scalar]]) -> Vector:
    """The first of some vectors, with the others as its rates."""
    return [Jet.of(x) for x in zip(*derivatives, strict=True)]


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
