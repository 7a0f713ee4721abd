"""Inverse dynamics by the recursive Newton-Euler method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from linkwise.algorithms.algorithm import Outputs, World, algorithm
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar, note
from linkwise.spatial import Wrench
from linkwise.vector import Mat3, Vec3, cross, dot

if TYPE_CHECKING:
    from linkwise.mechanism.machine import AnyMachine


@algorithm(inputs="q qd qdd", outputs={"tau": ("nu",)}, uses="gravity external base_motion", torques_only=True)
def inverse_dynamics(
    machine: AnyMachine, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar], world: World
) -> Outputs:
    """Generalised forces that give the robot the accelerations `qdd`: tau = M qdd + bias.

    Forward over the tree the accelerations of links, backward their wrenches; tau is the wrench's part along the joint,
    plus rotor inertia, friction and springs. Every vector of body i is in frame i at its origin.

    Where drives are elastic the coordinates are [q; theta] with the motors' theta last. The entry of an elastic joint
    is then what would have to act on it beside its spring, zero in a motion that the springs cause, and the entry of
    its motor is the drive's torque; `motor_torques` picks the drives' from both kinds.

    With loops, what follows moves along with what leads, and the drives' torques are those that amount to the tree's.

    Args:
        machine: the robot.
        q: positions (nq).
        qd: velocities (nv), rad/s or m/s.
        qdd: accelerations (nv).
        world: gravity, base motion, and the wrenches that the environment exerts on bodies.

    Returns:
        tau (nu), N m or N, in the order of `robot.drives`.

    Source: [Khalil] (20)-(31). We depart in the sign of external wrenches (his are exerted by the link), in the moment
    of inertial forces (see `Inertia`), and by the rotors of [Hua] (24)-(29) where motors are given. With elastic drives
    it is [Hua] Algorithm 1, with the load on the effector taken as acting on the robot. With loops it is [Khalil]
    (55)-(57), with the transpose in (57), and (59)-(66) for a platform on legs.
    """
    at = machine.at(q)
    return (at.drives(tree_torques(at, *at.led(qd, qdd), world)),)


def tree_torques(at: Any, qd: Sequence[Scalar], qdd: Sequence[Scalar], world: World) -> list[Scalar]:
    """Generalised forces of the tree of a machine, in a motion of the tree."""
    return torques(at.tree, at.q, qd, qdd, body_wrenches(at.tree, at.q, qd, qdd, world))


class Accelerations(NamedTuple):
    """How every body moves, gravity taken as an acceleration of the base: poses in the parent, then motion."""

    poses: list[tuple[Any, Vec3]]
    omega: list[Vec3]
    omega_dot: list[Vec3]
    v_dot: list[Vec3]
    U: list[Mat3]


def accelerations(
    tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar], world: World
) -> Accelerations:
    """The pass outwards."""
    start, turning = world.felt_acceleration, world.base_velocity.angular
    poses, omega, omega_dot, v_dot = [tree.bodies[0].pose(q)], [turning], [start.angular], [start.linear]
    U = [rate_of_change(start.angular, turning)]
    for i, body in enumerate(tree.bodies[1:], start=1):
        a = body.parent
        R, p = body.pose(q)
        s, s_dot = body.rate(qd), body.rate(qdd)
        omega_a = R.T @ omega[a]
        omega.append(omega_a + s.angular)  # (19)
        omega_dot.append(R.T @ omega_dot[a] + s_dot.angular + cross(omega_a, s.angular))  # (20)
        v_dot.append(R.T @ (v_dot[a] + U[a] @ p) + s_dot.linear + cross(omega_a + omega[i], s.linear))  # (22)
        U.append(rate_of_change(omega_dot[i], omega[i]))  # (21)
        poses.append((R, p))
        note(i, omega=omega[i], omega_dot=omega_dot[i], v_dot=v_dot[i])
    return Accelerations(poses, omega, omega_dot, v_dot, U)


class BodyWrenches(NamedTuple):
    """What the parent exerts on each body, about its origin in its axes, and the angular accelerations on the way."""

    wrench: list[Wrench]
    omega_dot: list[Vec3]


def body_wrenches(
    tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar], world: World
) -> BodyWrenches:
    """Both passes: the wrench through every joint; entry 0 is what the ground exerts on the base."""
    bodies = tree.bodies
    motion = accelerations(tree, q, qd, qdd, world)
    wrench = [b.inertia.force(v, U) for b, v, U in zip(bodies, motion.v_dot, motion.U, strict=True)]  # (24), (25)

    # spinning rotors, and what the environment takes off the robot
    for r in tree.rotors:
        i = r.on
        spin, spin_dot = (x[r.v] * r.ratio * r.inertia for x in (qd, qdd))
        wrench[i] += Wrench(moment=r.axis * spin_dot + cross(motion.omega[i], r.axis) * spin)
    for i, load in world.external.items():
        wrench[i] += -load

    # wrenches inwards
    for i in range(len(bodies) - 1, 0, -1):
        wrench[bodies[i].parent] += wrench[i].seen_from(*motion.poses[i])  # (26)-(30)
        note(i, f=wrench[i].force, m=wrench[i].moment)
    return BodyWrenches(wrench, motion.omega_dot)


def torques(
    tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar], through: BodyWrenches
) -> list[Scalar]:
    """Generalised forces of the wrenches through the joints."""
    tau: list[Scalar] = [0.0] * tree.nv
    for body, wrench in zip(tree.bodies[1:], through.wrench[1:], strict=True):
        for k, x in body.project(wrench):
            tau[k] += x  # (31)
        if body.is_single:
            tau[body.v] += body.resistance(q, qd, qdd)
    for body, e in tree.elastic_bodies:
        tau[e.v] += body.motor_resistance(q, qd) + qdd[e.v] * e.armature
    for r in tree.rotors:
        tau[r.v] += (dot(r.axis, through.omega_dot[r.on]) + qdd[r.v] * r.ratio) * r.inertia * r.ratio
    return tau


@algorithm(
    inputs="q qd qdd",
    outputs={"tau": ("nu",), "wrench": ("nb", 6), "cut": ("nc", 6)},
    uses="gravity external base_motion",
)
def joint_wrenches(
    machine: AnyMachine, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar], world: World
) -> Outputs:
    """Generalised forces, and the reaction through every joint.

    A row is force then moment that the parent exerts on the child, at the joint's anchor, in the axes of the child link
    as the user gave them; one row for each of `robot.moving_links`. With loops, a row of `cut` for each of them is what
    link a exerts on link b through the cut joint, at its point in the axes of frame a. Equations that depend on others,
    as those across the plane of a planar loop, carry nothing there.

    Source: [Khalil] (26)-(30); [Barman] calls the rows F_jp and tau_jp.
    """
    tree, tau, through, cut = reactions(machine, q, qd, qdd, world)
    rows = [at_joint(tree, i, through.wrench[i]) for i in tree.linked]
    return tau, [x for row in rows for x in row], cut


@algorithm(inputs="q qd qdd", outputs={"wrench": (6,)}, uses="gravity external base_motion", keep=())
def wrench_at(
    machine: AnyMachine, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar], world: World
) -> Outputs:
    """The wrench through one fixed joint, such as a force/torque sensor.

    Force then moment that the parent's side exerts on the child's, at the origin of the child link, in its axes.
    """
    tree, _, through, _ = reactions(machine, q, qd, qdd, world)
    (sensor,) = [i for i, b in enumerate(tree.bodies) if i and not b.kind.nv]
    return (list(through.wrench[sensor]),)


class Reactions(NamedTuple):
    """A machine's tree, the drives' torques, the wrench through every joint, and what the cut joints carry."""

    tree: Tree
    tau: list[Scalar]
    through: BodyWrenches
    cut: list[Scalar]


def reactions(
    machine: AnyMachine, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar], world: World
) -> Reactions:
    """The wrenches through all joints. What cuts carry loads the links that they join; the tree carries the rest."""
    at = machine.at(q)
    qd, qdd = at.led(qd, qdd)
    through = body_wrenches(at.tree, at.q, qd, qdd, world)
    tau = torques(at.tree, at.q, qd, qdd, through)
    torque = at.drives(tau)
    cut = at.cut_wrenches(tau, torque)
    if cut:
        loads = dict(world.external)
        for i, load in at.cut_loads(cut):
            loads[i] = loads[i] + load if i in loads else load
        through = body_wrenches(at.tree, at.q, qd, qdd, replace(world, external=loads))
    return Reactions(at.tree, torque, through, cut)


def at_joint(tree: Tree, i: int, wrench: Wrench) -> Wrench:
    """The wrench on body i about the joint's anchor, in the axes of the moving link."""
    X, anchor = tree.bodies[i].of_link, tree.bodies[i].anchor
    return wrench.seen_from(X.R, X.p - anchor)


def rate_of_change(omega_dot: Vec3, omega: Vec3) -> Mat3:
    """U = hat(omega_dot) + hat(omega)^2, which takes a body's point x to its acceleration relative to the origin."""
    x, y, z = omega
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    return Mat3.of(
        [
            [-(yy + zz), xy - omega_dot.z, xz + omega_dot.y],
            [xy + omega_dot.z, -(xx + zz), yz - omega_dot.x],
            [xz - omega_dot.y, yz + omega_dot.x, -(xx + yy)],
        ]
    )
