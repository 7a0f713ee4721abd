"""Where links and frames are, and how they move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from linkwise.algorithms.algorithm import REQUIRED, Outputs, World, algorithm, flat_pose
from linkwise.robot.placement import step
from linkwise.robot.placement import world_poses as world_poses
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar
from linkwise.spatial import Motion, Pose
from linkwise.vector import Vec3, cross

if TYPE_CHECKING:
    from linkwise.mechanism.machine import AnyMachine


@algorithm(inputs="q", outputs={"T": (4, 4)}, frame=REQUIRED)
def pose(machine: AnyMachine, q: Sequence[Scalar], frame: str) -> Outputs:
    """The 4 by 4 matrix T_world_frame of a frame or link."""
    tree, q = machine.complete(q)
    i, X = tree.place(frame)
    return (flat_pose(world_pose(tree, q, i) @ X),)


@algorithm(inputs="q", outputs={"T": ("nb", 4, 4)})
def poses(machine: AnyMachine, q: Sequence[Scalar]) -> Outputs:
    """The 4 by 4 matrices of all moving links, in the order of `robot.moving_links`."""
    tree, q = machine.complete(q)
    X_world = world_poses(tree, q)
    links = [X_world[i] @ tree.bodies[i].of_link.inverse() for i in tree.linked]
    return ([x for X in links for x in flat_pose(X)],)


@algorithm(inputs="q", outputs={"J": (6, "nv")}, frame=REQUIRED, axes="world")
def jacobian(machine: AnyMachine, q: Sequence[Scalar], frame: str, axes: str) -> Outputs:
    """J with [v; omega] = J qd at the frame's origin, linear rows first, in world or (axes="local") its axes."""
    at = machine.at(q)
    rows = at.gathered([list(c) for c in _columns(at.tree, at.q, frame, axes)])
    return ([row[r] for r in range(6) for row in rows],)


def _columns(tree: Tree, q: Sequence[Scalar], frame: str, axes: str) -> list[Motion]:
    """The motion of a frame for a unit rate of each coordinate of a tree."""
    i, X = tree.place(frame)
    chain = tree.ancestors(i)
    X_world = _chain_poses(tree, q, chain)
    X_world_frame = (X_world[-1] if chain else Pose()) @ X
    columns = [Motion()] * tree.nv
    for k, X_world_k in zip(reversed(chain), X_world, strict=True):
        lever = X_world_frame.p - X_world_k.p
        for v, unit in tree.bodies[k].axes:
            angular = X_world_k.R @ unit.angular
            columns[v] += Motion(X_world_k.R @ unit.linear + cross(angular, lever), angular)
    if axes == "local":
        R = X_world_frame.R.T
        columns = [Motion(R @ c.linear, R @ c.angular) for c in columns]
    return columns


@algorithm(inputs="q qd", outputs={"J_dot": (6, "nv")}, frame=REQUIRED, axes="world")
def jacobian_dot(machine: AnyMachine, q: Sequence[Scalar], qd: Sequence[Scalar], frame: str, axes: str) -> Outputs:
    """The time derivative of the components of `jacobian` while the robot moves at qd.

    In world axes the frame's acceleration is J qdd + J_dot qd. With axes="local" the axes turn, and omega x [v; omega]
    has to be added to it.
    """
    at = machine.at(q)
    tree, q, qd = machine.complete(q, qd)
    rows_dot = [list(c) for c in _column_rates(tree, q, qd, frame, axes)]
    rows = at.gathered_rates(lambda: [list(c) for c in _columns(tree, q, frame, axes)], rows_dot, qd)
    return ([row[r] for r in range(6) for row in rows],)


def _column_rates(tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], frame: str, axes: str) -> list[Motion]:
    """The rates of `_columns` while a tree moves at qd."""
    i, X = tree.place(frame)
    chain = tree.ancestors(i)
    X_world = _chain_poses(tree, q, chain)
    X_world_frame = (X_world[-1] if chain else Pose()) @ X
    moving = _chain_velocities(tree, qd, chain, X_world)
    v = _at(moving[-1], X_world_frame.p - X_world[-1].p) if chain else Motion()
    columns = [Motion()] * tree.nv
    for k, X_world_k, v_k in zip(reversed(chain), X_world, moving, strict=True):
        lever, lever_dot = X_world_frame.p - X_world_k.p, v.linear - v_k.linear
        for at, unit in tree.bodies[k].axes:
            along, around = X_world_k.R @ unit.linear, X_world_k.R @ unit.angular
            around_dot = cross(v_k.angular, around)
            linear = cross(v_k.angular, along) + cross(around_dot, lever) + cross(around, lever_dot)
            if axes == "local":
                here = along + cross(around, lever)
                linear, around_dot = linear - cross(v.angular, here), around_dot - cross(v.angular, around)
            columns[at] += Motion(linear, around_dot)
    if axes == "local":
        R = X_world_frame.R.T
        columns = [Motion(R @ c.linear, R @ c.angular) for c in columns]
    return columns


@algorithm(inputs="q qd", outputs={"v": (6,)}, frame=REQUIRED, axes="world", uses="base_motion")
def velocity(
    machine: AnyMachine, q: Sequence[Scalar], qd: Sequence[Scalar], world: World, frame: str, axes: str
) -> Outputs:
    """Velocity of a frame: of its origin, then angular, in world axes or (axes="local") the frame's own."""
    tree, q, qd = machine.complete(q, qd)
    v, _, R = _frame_motion(tree, q, qd, [0.0] * tree.nv, world, frame)
    return (_in_axes(v, R, axes),)


@algorithm(inputs="q qd qdd", outputs={"a": (6,)}, frame=REQUIRED, axes="world", uses="base_motion")
def acceleration(
    machine: AnyMachine,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    world: World,
    frame: str,
    axes: str,
) -> Outputs:
    """Classical acceleration of a frame's origin, then angular, in world axes or (axes="local") the frame's own."""
    tree, q, qd, qdd = machine.complete(q, qd, qdd)
    _, a, R = _frame_motion(tree, q, qd, qdd, world, frame)
    return (_in_axes(a, R, axes),)


def world_pose(tree: Tree, q: Sequence[Scalar], i: int) -> Pose:
    """Pose of body i in the world."""
    return _chain_poses(tree, q, tree.ancestors(i))[-1] if i else Pose()


def link_velocities(tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], world: World) -> list[Motion]:
    """Velocity of each body's origin and its angular velocity, in its own axes."""
    v = [world.base_velocity]
    for body in tree.bodies[1:]:
        R, p = body.pose(q)
        up, s = v[body.parent], body.rate(qd)
        v.append(Motion(R.T @ (up.linear + cross(up.angular, p)) + s.linear, R.T @ up.angular + s.angular))
    return v


def _frame_motion(
    tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar], world: World, frame: str
) -> tuple[Motion, Motion, Pose]:
    """Velocity and classical acceleration of a frame in its own axes, and its pose in the world."""
    i, X = tree.place(frame)
    v, a = world.base_velocity, world.base_acceleration
    for k in reversed(tree.ancestors(i)):
        body = tree.bodies[k]
        v, a = _step(*body.pose(q), v, a, body.rate(qd), body.rate(qdd))
    v, a = _step(X.R, X.p, v, a, Motion(), Motion())
    return v, a, world_pose(tree, q, i) @ X


def _step(R: Any, p: Vec3, v: Motion, a: Motion, s: Motion, s_dot: Motion) -> tuple[Motion, Motion]:
    """Velocity and acceleration carried over one joint."""
    omega_a = R.T @ v.angular
    omega = omega_a + s.angular
    swing = cross(a.angular, p) + cross(v.angular, cross(v.angular, p))
    velocity = Motion(R.T @ (v.linear + cross(v.angular, p)) + s.linear, omega)
    return velocity, Motion(
        R.T @ (a.linear + swing) + s_dot.linear + cross(omega_a + omega, s.linear),
        R.T @ a.angular + s_dot.angular + cross(omega_a, s.angular),
    )


def _in_axes(m: Motion, X: Pose, axes: str) -> list[Scalar]:
    return list(m) if axes == "local" else [*(X.R @ m.linear), *(X.R @ m.angular)]


def _chain_poses(tree: Tree, q: Sequence[Scalar], chain: list[int]) -> list[Pose]:
    """World poses of the bodies of a chain of ancestors, from the base outwards."""
    X, found = Pose(), []
    for k in reversed(chain):
        X = X @ step(*tree.bodies[k].pose(q))
        found.append(X)
    return found


def _chain_velocities(tree: Tree, qd: Sequence[Scalar], chain: list[int], X_world: Sequence[Pose]) -> list[Motion]:
    """World velocities of the bodies of a chain of ancestors, from a base at rest outwards."""
    v, p, found = Motion(), Vec3(0.0, 0.0, 0.0), []
    for k, X in zip(reversed(chain), X_world, strict=True):
        s = tree.bodies[k].rate(qd)
        v = _at(v, X.p - p) + Motion(X.R @ s.linear, X.R @ s.angular)
        p = X.p
        found.append(v)
    return found


def _at(v: Motion, lever: Vec3) -> Motion:
    """The velocity of a body at another of its points."""
    return Motion(v.linear + cross(v.angular, lever), v.angular)
