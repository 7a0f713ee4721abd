"""Controllers of robots with rigid drives, which follow a motion of the joints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from linkwise.algorithms.algorithm import REFERENCES, REQUIRED, Outputs, World, algorithm
from linkwise.algorithms.coriolis import reference_forces
from linkwise.algorithms.inverse_dynamics import inverse_dynamics
from linkwise.control.gains import checked, refuse_floating
from linkwise.errors import LinkwiseError
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar

SIGNALS = " ".join(("q", "qd", *REFERENCES[:3]))


@algorithm(
    inputs=SIGNALS,
    outputs={"tau": ("nv",)},
    uses="gravity external base_motion",
    torques_only=True,
    kp=REQUIRED,
    kd=REQUIRED,
)
def computed_torque(
    tree: Tree,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    q_ref: Sequence[Scalar],
    qd_ref: Sequence[Scalar],
    qdd_ref: Sequence[Scalar],
    world: World,
    kp: Any,
    kd: Any,
) -> Outputs:
    """Torques that make the error obey e'' + kd e' + kp e = 0, e = q_ref - q, if the model is right.

        tau = M (qdd_ref + kd e' + kp e) + h

    Args:
        tree: a robot with rigid drives.
        q: positions (nq).
        qd: velocities (nv).
        q_ref: where the joints should be.
        qd_ref: their velocities there.
        qdd_ref: their accelerations there.
        world: gravity, base motion and external wrenches, as far as the controller knows them.
        kp: gains of position, 1/s^2: one number, or one for each joint.
        kd: gains of velocity, 1/s.
    """
    _check(tree, "computed_torque")
    gains = checked("computed_torque", {"kp": kp, "kd": kd}, dict.fromkeys(("kp", "kd"), tree.nv))
    wanted = [
        a + d * (b - v) + p * (c - x)
        for a, b, c, v, x, d, p in zip(qdd_ref, qd_ref, q_ref, qd, q, gains["kd"], gains["kp"], strict=True)
    ]
    return inverse_dynamics.function(tree, q, qd, wanted, world=world)


@algorithm(
    inputs=SIGNALS,
    outputs={"tau": ("nv",)},
    uses="gravity base_motion",
    torques_only=True,
    kp=REQUIRED,
    kd=REQUIRED,
)
def passivity_control(
    tree: Tree,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    q_ref: Sequence[Scalar],
    qd_ref: Sequence[Scalar],
    qdd_ref: Sequence[Scalar],
    world: World,
    kp: Any,
    kd: Any,
) -> Outputs:
    """Torques of Slotine and Li's law, which is stable whatever errors the gains leave, by one recursion.

        tau = M qdd_r + C(q, qd) qd_r + g + kd sigma,   qd_r = qd_ref + kp / kd (q_ref - q),   sigma = qd_r - qd

    C is never formed: `reference_forces` evaluates the sum with M_dot - 2 C skew-symmetric. Friction and springs of the
    model are made up for.

    Args:
        tree: a robot with rigid drives.
        q: positions (nq).
        qd: velocities (nv).
        q_ref: where the joints should be.
        qd_ref: their velocities there.
        qdd_ref: their accelerations there.
        world: gravity and base motion.
        kp: gains of position, N m/rad: one number, or one for each joint.
        kd: gains of velocity, N m s/rad.

    Source: [Hua] (37)-(42), which are Slotine and Li's for rigid joints.
    """
    _check(tree, "passivity_control")
    gains = checked("passivity_control", {"kp": kp, "kd": kd}, dict.fromkeys(("kp", "kd"), tree.nv))
    qd_r, qdd_r, sigma = reference(q, qd, (q_ref, qd_ref, qdd_ref), gains["kp"], gains["kd"])
    tau = reference_forces(tree, q, qd, qd_r, qdd_r, *world.seen_by_reference)
    for body in tree.bodies:
        if body.is_single:
            tau[body.v] = tau[body.v] + body.resistance(q, qd, [0.0] * tree.nv)
    return ([t + d * s for t, d, s in zip(tau, gains["kd"], sigma, strict=True)],)


def reference(
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    wanted: Sequence[Sequence[Scalar]],
    kp: Sequence[float],
    kd: Sequence[float],
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """Reference velocity (37), its rate, and sigma (38), from where the joints are and should be."""
    slope = [p / d for p, d in zip(kp, kd, strict=True)]
    q_ref, qd_ref, qdd_ref = wanted
    qd_r = [v + s * (x - y) for v, s, x, y in zip(qd_ref, slope, q_ref, q, strict=True)]
    qdd_r = [a + s * (x - y) for a, s, x, y in zip(qdd_ref, slope, qd_ref, qd, strict=True)]
    return qd_r, qdd_r, [r - v for r, v in zip(qd_r, qd, strict=True)]


def _check(tree: Tree, controller: str) -> None:
    refuse_floating(controller, tree)
    if tree.elastic_bodies:
        raise LinkwiseError(
            f"{controller}: expected rigid drives, got an elastic one at joint {tree.elastic_bodies[0][0].name!r}. Use"
            " cascaded_control, or robot.rigid()."
        )
