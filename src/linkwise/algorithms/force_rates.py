"""Rates of generalised forces and joint wrenches, from the jerks of a motion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from linkwise.algorithms.algorithm import MOTION, Cheapest, Outputs, Shape, Signature, World, algorithm, dotted
from linkwise.algorithms.inverse_dynamics import (
    Accelerations,
    BodyWrenches,
    accelerations,
    at_joint,
    body_wrenches,
    joint_wrenches,
    rate_of_change,
    torques,
)
from linkwise.algorithms.inverse_dynamics import inverse_dynamics as plain
from linkwise.check import whole
from linkwise.jet import rate, with_rate, without_last
from linkwise.mechanism.series import along_motion, derivatives
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar, note
from linkwise.spatial import Wrench
from linkwise.vector import Mat3, Vec3, cross

if TYPE_CHECKING:
    from linkwise.mechanism.machine import AnyMachine

Motions = Sequence[Sequence[Scalar]]


def grown(outputs: dict[str, Shape]) -> Any:
    """The signature of an algorithm with these outputs and `order` rates of each."""

    def signature(order: Any) -> Signature:
        highest = len(MOTION) - 3
        whole(order, "order", 1, highest, f"how many rates, a whole number from 1 to {highest}")
        with_rates = {dotted(name, k): shape for k in range(order + 1) for name, shape in outputs.items()}
        return MOTION[: order + 3], with_rates

    return signature


@algorithm(
    inputs="q qd qdd qddd",
    outputs={"tau": ("nu",), "tau_dot": ("nu",)},
    uses="gravity external base_motion",
    torques_only=True,
    grown=grown({"tau": ("nu",)}),
    order=1,
    route=Cheapest("recursion", "series"),
)
def force_rates(machine: AnyMachine, *motion: Sequence[Scalar], world: World, order: int, route: str) -> Outputs:
    """Generalised forces and their rates along a motion: tau and d tau/dt, in one pass.

    Two passes as in inverse dynamics carry besides every vector the rate of its components. Constant gravity is an
    acceleration of the base that has no jerk. Coulomb friction has no rate; where a joint reverses its torque jumps,
    see `lw.motion.reversals`.

    Args:
        motion: q (nq), qd, qdd and qddd (nv); with order=2 the next derivative too, and so on. qddd is the rate of
            the components of qdd, also of a floating joint.
        world: gravity, base motion, and wrenches of the environment with the rates of their components in the axes of
            the frame they act on: zero for a load fixed in that frame, -omega x f for a force f fixed in the world.
        order: how many rates; the outputs are tau, tau_dot, tau_ddot, ...
        route: "recursion" (below), "series" (inverse dynamics on power series in time), or the cheaper of the two.

    Returns:
        tau (nv), N m or N, then tau_dot (nv), N m/s or N/s; of a floating joint, rates of the components.

    Source: [GuarinoLoBianco] (3)-(21). We depart from it in that rates are those of components in moving axes, not of
    vectors in the world: tau_dot is then a component itself, where he has to add n x omega in (20), and bodies need no
    term that inverse dynamics does not have. See `Inertia` for the moments of bodies.
    """
    if route == "series":
        return _by_series(plain.function, machine, motion, world, order)
    tree = machine.only_tree("route 'recursion'")
    return _along(tree, motion, world, order, lambda q, qd, qdd, through: (torques(tree, q, qd, qdd, through),))


@algorithm(
    inputs="q qd qdd qddd",
    outputs={
        "tau": ("nu",),
        "wrench": ("nb", 6),
        "cut": ("nc", 6),
        "tau_dot": ("nu",),
        "wrench_dot": ("nb", 6),
        "cut_dot": ("nc", 6),
    },
    uses="gravity external base_motion",
    grown=grown({"tau": ("nu",), "wrench": ("nb", 6), "cut": ("nc", 6)}),
    order=1,
    route=Cheapest("recursion", "series"),
)
def joint_wrench_rates(machine: AnyMachine, *motion: Sequence[Scalar], world: World, order: int, route: str) -> Outputs:
    """Generalised forces and the reactions through all joints, as `joint_wrenches` has them, and the rates of both.

    A row of `wrench_dot` holds the rates of the six numbers of that of `wrench`, which are components in the axes of
    the moving link. In the world the force changes at R (f_dot + omega x f), with omega the link's angular velocity in
    its axes, and the moment likewise.

    Source: [GuarinoLoBianco] (16), (17), whose rates are those in the world.
    """
    if route == "series":
        return _by_series(joint_wrenches.function, machine, motion, world, order)
    tree = machine.only_tree("route 'recursion'")

    def outputs(q: list[Scalar], qd: list[Scalar], qdd: list[Scalar], through: BodyWrenches) -> Outputs:
        rows = [at_joint(tree, i, through.wrench[i]) for i in tree.linked]
        return torques(tree, q, qd, qdd, through), [x for row in rows for x in row], []

    return _along(tree, motion, world, order, outputs)


def _by_series(function: Any, machine: AnyMachine, motion: Motions, world: World, order: int) -> Outputs:
    """An algorithm of q, qd, qdd and its rates, by running it on power series."""
    outputs = function(machine, *along_motion(machine, motion, order), world=world)
    return tuple(flat for k in range(order + 1) for flat in derivatives(outputs, k))


def _along(tree: Tree, motion: Motions, world: World, order: int, outputs: Any) -> Outputs:
    """The `outputs` of motion and wrenches through the joints, with their rates, by the recursion for the first rate.

    Higher rates are those of the recursion, run on series.
    """
    now, then = world.each(without_last), world.each(rate)
    q, qd, qdd, qddd = along_motion(tree, motion, order - 1)
    through, through_dot = wrench_rates(tree, q, qd, qdd, qddd, now, then)

    def joined(x: Iterable[Scalar], x_dot: Iterable[Scalar]) -> list[Scalar]:
        return [with_rate(a, b, order) for a, b in zip(x, x_dot, strict=True)]

    wrenches = [joined(*pair) for pair in zip(through.wrench, through_dot.wrench, strict=True)]
    turning = [Vec3(*joined(*pair)) for pair in zip(through.omega_dot, through_dot.omega_dot, strict=True)]
    both = BodyWrenches([Wrench(Vec3(*w[:3]), Vec3(*w[3:])) for w in wrenches], turning)
    found = outputs(*along_motion(tree, motion, order), both)
    return tuple(flat for k in range(order + 1) for flat in derivatives(found, k))


def wrench_rates(
    tree: Tree,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    qddd: Sequence[Scalar],
    world: World,
    world_dot: World,
) -> tuple[BodyWrenches, BodyWrenches]:
    """Both passes: the wrench through every joint, and the rates of its components in the body's axes."""
    bodies = tree.bodies
    motion = accelerations(tree, q, qd, qdd, world)
    through = body_wrenches(tree, q, qd, qdd, world)
    jerk = jerks(tree, motion, qd, qdd, qddd, world_dot)
    wrench_dot = [b.inertia.force(v, U) for b, v, U in zip(bodies, jerk.v_ddot, jerk.U_dot, strict=True)]  # (12), (13)

    # spinning rotors, and what the environment takes off the robot
    for r in tree.rotors:
        i = r.on
        spin, spin_dot, spin_ddot = (x[r.v] * r.ratio * r.inertia for x in (qd, qdd, qddd))
        tilt, tilt_dot = cross(motion.omega[i], r.axis), cross(motion.omega_dot[i], r.axis)
        wrench_dot[i] += Wrench(moment=r.axis * spin_ddot + tilt_dot * spin + tilt * spin_dot)
    for i, load_dot in world_dot.external.items():
        wrench_dot[i] += -load_dot

    # rates of wrenches inwards: the joint moves what it carries
    for i in range(len(bodies) - 1, 0, -1):
        s, wrench = bodies[i].rate(qd), through.wrench[i]
        swing = Wrench(cross(s.angular, wrench.force), cross(s.angular, wrench.moment) + cross(s.linear, wrench.force))
        wrench_dot[bodies[i].parent] += (wrench_dot[i] + swing).seen_from(*motion.poses[i])  # (16), (17)
        note(i, f_dot=wrench_dot[i].force, m_dot=wrench_dot[i].moment)
    return through, BodyWrenches(wrench_dot, jerk.omega_ddot)


class Jerks(NamedTuple):
    """Rates of the components of omega_dot, v_dot and U of every body, in its axes."""

    omega_ddot: list[Vec3]
    v_ddot: list[Vec3]
    U_dot: list[Mat3]


def jerks(
    tree: Tree,
    motion: Accelerations,
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    qddd: Sequence[Scalar],
    world_dot: World,
) -> Jerks:
    """The pass outwards. What a body shares with its parent turns against it as fast as the joint turns."""
    _, omega, omega_dot, v_dot, _ = motion
    start = world_dot.felt_acceleration
    omega_ddot, v_ddot = [start.angular], [start.linear]
    U_dot = [rate_of_U(start.angular, omega_dot[0], omega[0])]
    for i, body in enumerate(tree.bodies[1:], start=1):
        a = body.parent
        R, p = motion.poses[i]
        s, s_dot, s_ddot = body.rate(qd), body.rate(qdd), body.rate(qddd)
        omega_a, alpha_a = R.T @ omega[a], R.T @ omega_dot[a]
        omega_a_dot = alpha_a + cross(omega_a, s.angular)
        omega_ddot.append(
            R.T @ omega_ddot[a]
            + s_ddot.angular
            + (cross(alpha_a + omega_a_dot, s.angular) + cross(omega_a, s_dot.angular))
        )  # (5)
        shared = R.T @ (v_dot[a] + motion.U[a] @ p)
        v_ddot.append(
            R.T @ (v_ddot[a] + U_dot[a] @ p)
            + (rate_of_change(alpha_a, omega_a) @ s.linear + cross(shared, s.angular))
            + s_ddot.linear
            + cross(omega_a_dot + omega_dot[i], s.linear)
            + cross(omega_a + omega[i], s_dot.linear)
        )  # (8)
        U_dot.append(rate_of_U(omega_ddot[i], omega_dot[i], omega[i]))
        note(i, omega_ddot=omega_ddot[i], v_ddot=v_ddot[i])
    return Jerks(omega_ddot, v_ddot, U_dot)


def rate_of_U(omega_ddot: Vec3, omega_dot: Vec3, omega: Vec3) -> Mat3:
    """The rate of U = hat(omega_dot) + hat(omega)^2, which takes a body's point x to the rate of its acceleration."""
    (x, y, z), (dx, dy, dz) = omega, omega_dot
    xx, yy, zz = x * dx, y * dy, z * dz
    xy, xz, yz = x * dy + y * dx, x * dz + z * dx, y * dz + z * dy
    return Mat3.of(
        [
            [-2.0 * (yy + zz), xy - omega_ddot.z, xz + omega_ddot.y],
            [xy + omega_ddot.z, -2.0 * (xx + zz), yz - omega_ddot.x],
            [xz - omega_ddot.y, yz + omega_ddot.x, -2.0 * (xx + yy)],
        ]
    )
