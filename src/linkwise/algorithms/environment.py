"""Forces of the environment as laws: of a frame's pose and velocity, and of a joint's position and speed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from linkwise.algorithms.algorithm import World
from linkwise.algorithms.kinematics import link_velocities, world_poses
from linkwise.errors import InputError, LinkwiseError
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar
from linkwise.spatial import Motion, Pose, Wrench
from linkwise.vector import Vec3, cross

Law = Callable[[Pose, Motion], Wrench]
JointLaw = Callable[[Scalar, Scalar], Scalar]


def frame_wrenches(
    tree: Tree,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    laws: Mapping[str, Sequence[Law]],
    world: World,
    base: Pose = Pose(),
) -> dict[str, Wrench]:
    """What the laws exert on the robot at their frames' origins, in the frames' axes.

    Args:
        tree: the robot.
        q: positions (nq).
        qd: velocities (nv).
        laws: for each frame or link the laws whose wrenches add; each is called with the pose of the frame in the world
            and its velocity in its own axes.
        world: the motion of the base.
        base: its pose in the world.
    """
    poses, velocities = world_poses(tree, q), link_velocities(tree, q, qd, world)
    found = {}
    for name, group in laws.items():
        i, X = tree.place(name)
        v, back = velocities[i], X.R.T
        velocity = Motion(back @ (v.linear + cross(v.angular, X.p)), back @ v.angular)
        total = Wrench()
        for law in group:
            total += _wrench(name, law, base @ poses[i] @ X, velocity)
        found[name] = total
    return found


def with_joint_laws(tree: Tree, laws: Mapping[str, Sequence[JointLaw]]) -> Tree:
    """The tree with laws that act along its joints, in all that knows friction and springs.

    A law is called with a joint's own position and speed, and returns the force or torque that it exerts on the joint.
    """
    if not laws:
        return tree

    def law(name: str) -> JointLaw | None:
        group = laws.get(name, ())
        return (lambda q, qd: sum(_force(name, f, q, qd) for f in group)) if group else None

    return replace(tree, bodies=tuple(replace(b, law=law(b.name)) for b in tree.bodies))


def _wrench(name: str, law: Law, pose: Pose, velocity: Motion) -> Wrench:
    wrench = called(f"forces {name!r}", law, pose, velocity)
    try:
        force, moment = wrench.force, wrench.moment
        return Wrench(Vec3(*(x * 1.0 for x in force)), Vec3(*(x * 1.0 for x in moment)))
    except (AttributeError, TypeError) as error:
        raise InputError(
            f"forces {name!r}: expected a law that returns Wrench(force, moment), three numbers each, got {wrench!r}."
        ) from error


def _force(name: str, law: JointLaw, q: Scalar, qd: Scalar) -> Scalar:
    force = called(f"joint_forces {name!r}", law, q, qd)
    if hasattr(force, "__len__") or not hasattr(force, "__mul__"):
        raise InputError(f"joint_forces {name!r}: expected a law that returns one force or torque, got {force!r}.")
    return force


def called(what: str, law: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """What the law returns, or an error that says why it could not be traced."""
    try:
        return law(*arguments, **named)
    except LinkwiseError:
        raise
    except (TypeError, ArithmeticError, ValueError, LookupError, AttributeError) as error:
        raise InputError(
            f"{what}: expected a function that can be traced, got: {error}."
            " Use the functions of linkwise.scalar (where, less, clip, tanh, ...) in place of `if` and of math's."
        ) from error
