"""Controllers of robots with rigid drives, which follow a motion of the joints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from linkwise.algorithms.algorithm import REFERENCES, REQUIRED, Outputs, World, algorithm
from linkwise.algorithms.coriolis import reference_forces
from linkwise.algorithms.inverse_dynamics import inverse_dynamics
from linkwise.control.gains import checked, refuse_floating
from linkwise.control.tracking import reference_velocity, wanted_accelerations
from linkwise.errors import LinkwiseError
from linkwise.jet import part
from linkwise.mechanism.machine import AnyMachine
from linkwise.mechanism.series import along_motion
from linkwise.scalar import Scalar

SIGNALS = " ".join(("q", "qd", *REFERENCES[:3]))


@algorithm(
    inputs=SIGNALS,
    outputs={"tau": ("nu",)},
    uses="gravity external base_motion",
    torques_only=True,
    kp=REQUIRED,
    kd=REQUIRED,
)
def computed_torque(
    machine: AnyMachine,
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
        machine: a robot with rigid drives; with loops, in the coordinates that lead.
        q: positions (nq).
        qd: velocities (nv).
        q_ref: where the joints should be; of a quaternion the error is the turn to it, see `linkwise.control.tracking`.
        qd_ref: their velocities there.
        qdd_ref: their accelerations there.
        world: gravity, base motion and external wrenches, as far as the controller knows them.
        kp: gains of position, 1/s^2: one number, or one for each joint.
        kd: gains of velocity, 1/s.
    """
    _check(machine, "computed_torque")
    gains = checked("computed_torque", {"kp": kp, "kd": kd}, dict.fromkeys(("kp", "kd"), machine.nv))
    wanted = wanted_accelerations(machine, (q, qd), (q_ref, qd_ref, qdd_ref), gains["kp"], gains["kd"])
    return inverse_dynamics.function(machine, q, qd, wanted, world=world)


@algorithm(
    inputs=SIGNALS,
    outputs={"tau": ("nu",)},
    uses="gravity base_motion",
    torques_only=True,
    kp=REQUIRED,
    kd=REQUIRED,
)
def passivity_control(
    machine: AnyMachine,
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

    C is never formed: `reference_forces` evaluates the sum with M_dot - 2 C skew-symmetric, with loops too. Friction
    and springs of the model are made up for.

    Args:
        machine: a robot with rigid drives; with loops, in the coordinates that lead.
        q: positions (nq).
        qd: velocities (nv).
        q_ref: where the joints should be; of a quaternion the error is the turn to it, see `linkwise.control.tracking`.
        qd_ref: their velocities there.
        qdd_ref: their accelerations there.
        world: gravity and base motion.
        kp: gains of position, N m/rad: one number, or one for each joint.
        kd: gains of velocity, N m s/rad.

    Source: [Hua] (37)-(42), which are Slotine and Li's for rigid joints.
    """
    _check(machine, "passivity_control")
    gains = checked("passivity_control", {"kp": kp, "kd": kd}, dict.fromkeys(("kp", "kd"), machine.nv))
    state, wanted = along_motion(machine, (q, qd), 1)[0], along_motion(machine, (q_ref, qd_ref, qdd_ref), 1)
    reference = reference_velocity(machine, state, wanted[0], wanted[1], slopes(gains["kp"], gains["kd"]))  # (37)
    sigma = [part(r) - v for r, v in zip(reference, qd, strict=True)]  # (38)
    at = machine.at(q)
    rates, every = at.rates(qd), machine.at(state).rates(reference)
    qd_r, qdd_r = ([part(x, k) for x in every] for k in (0, 1))  # of all joints: G qd_r, G qdd_r + G_dot qd_r
    tau = reference_forces(at.tree, at.q, rates, qd_r, qdd_r, *world.seen_by_reference)
    for body in at.tree.bodies:
        if body.is_single:
            tau[body.v] = tau[body.v] + body.resistance(at.q, rates, [0.0] * at.tree.nv)
    for v, d, s in zip(at.leads, gains["kd"], sigma, strict=True):
        tau[v] = tau[v] + d * s
    return (at.drives(tau),)


def slopes(kp: Sequence[float], kd: Sequence[float]) -> list[float]:
    """The rates at which errors decay where sigma is zero."""
    return [p / d for p, d in zip(kp, kd, strict=True)]


def _check(machine: AnyMachine, controller: str) -> None:
    refuse_floating(controller, machine)
    elastic = machine.tree.elastic_bodies
    if elastic:
        raise LinkwiseError(
            f"{controller}: expected rigid drives, got an elastic one at joint {elastic[0][0].name!r}. Use"
            " cascaded_control, or robot.rigid()."
        )
