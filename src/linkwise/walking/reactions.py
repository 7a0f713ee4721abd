"""What a solved motion is looked at for: ground reactions of both feet, forces through joints, points of the figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from linkwise.algorithms.algorithm import World
from linkwise.algorithms.inverse_dynamics import BodyWrenches, at_joint, body_wrenches, torques
from linkwise.algorithms.kinematics import world_poses
from linkwise.kernel.tracing import Port, Program, remembered, trace
from linkwise.planning.curve import Array
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar
from linkwise.spatial import Pose, Wrench
from linkwise.walking.ground import Support
from linkwise.walking.instant import foot_wrenches, toe_body
from linkwise.walking.skeleton_numbers import FIGURE, facts, numbers, with_numbers

# joints with the coordinates whose link their force acts on
JOINTS = {f"{name}_{s}": f"{last}_{s}" for s in "rl" for name, last in
          (("hip", "hip_rot"), ("knee", "knee"), ("ankle", "ank_inv"))}  # fmt: skip


class Loads(NamedTuple):
    """At instants (...).

    Args:
        tau: generalised forces, ground reactions applied as wrenches on the feet (..., nv).
        ground: on the right and on the left foot, force and moment about the world's origin (..., 2, 6).
        joints: what the upper segment exerts on the lower one, in its axes, in the order of `JOINTS` (..., 6, 6).
        points: of `FIGURE`, then the origins of all bodies, in the world (..., points, 3).
    """

    tau: Array
    ground: Array
    joints: Array
    points: Array


class LoadKernel:
    """The compiled function of `loads` for a skeleton whose frozen joints are locked."""

    def __init__(self, robot: Robot) -> None:
        self.tree = tree_of(robot)
        self.numbers = np.array(list(numbers(self.tree)))
        self._function, _ = remembered(f"walking_loads {facts(self.tree)}", lambda: (_program(self.tree), None))

    def __call__(self, motion: Array, supports: Array) -> Loads:
        """At instants: motion (..., 3, n) is q, qd, qdd, supports (..., 8) the fields of `Support`."""
        q, qd, qdd = (np.ascontiguousarray(motion[..., k, :]) for k in range(3))
        return Loads(*self._function(q, qd, qdd, supports, self.numbers))


def tree_of(robot: Robot) -> Tree:
    """The bodies of a skeleton; frozen hips, knees and ankles stay joints, so that their forces are known."""
    return Tree.of(robot, keep=tuple(JOINTS.values()))


def _program(tree: Tree) -> Program:
    outputs = [
        Port("tau", (tree.nv,)),
        Port("ground", (2, 6)),
        Port("joints", (len(JOINTS), 6)),
        Port("points", (len(FIGURE) + len(tree.bodies) - 1, 3)),
    ]

    def run(q: Any, qd: Any, qdd: Any, support: Any, given: Any) -> Sequence[Any]:
        return loads(with_numbers(tree, iter(given)), q, qd, qdd, Support(*support))

    motion = [Port(name, (tree.nv,)) for name in ("q", "qd", "qdd")]
    inputs = [*motion, Port("support", (len(Support._fields),)), Port("numbers", (len(list(numbers(tree))),))]
    return trace("walking_loads", run, inputs, outputs)


class Standing(NamedTuple):
    """A body on its feet at an instant: wrenches through joints, the feet's shares of the ground's, poses of bodies."""

    through: BodyWrenches
    right: Wrench
    left: Wrench
    poses: list[Pose]


def standing(
    tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar], support: Support
) -> Standing:
    """The second pass, with ground reactions on the bodies of the feet."""
    W = body_wrenches(tree, q, qd, qdd, World(gravity=tree.gravity)).wrench[0]
    poses = world_poses(tree, q)
    right, left = foot_wrenches(W, support)
    external: dict[int, Wrench] = {}
    for side, share, toe in (("r", right, support.toe_r), ("l", left, support.toe_l)):
        on_toes, foot = share * toe, tree.place(f"heel_{side}")[0]
        for i, part in ((toe_body(tree, side), on_toes), (foot, share + -on_toes)):
            pushed = in_body(part, poses[i])
            external[i] = external[i] + pushed if i in external else pushed  # frozen joints make both one body
    through = body_wrenches(tree, q, qd, qdd, World(gravity=tree.gravity, external=external))
    return Standing(through, right, left, poses)


def loads(
    tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar], support: Support
) -> tuple[list[Scalar], ...]:
    """`Loads` of one instant, flat."""
    through, right, left, poses = standing(tree, q, qd, qdd, support)
    by_name = {b.name: i for i, b in enumerate(tree.bodies)}
    reactions = [x for name in JOINTS.values() for x in at_joint(tree, by_name[name], through.wrench[by_name[name]])]
    points: list[Scalar] = []
    for name in FIGURE:
        i, X = tree.place(name)
        points.extend(poses[i].point(X.p))
    points.extend(x for X in poses[1:] for x in X.p)
    return torques(tree, q, qd, qdd, through), [*right, *left], reactions, points


def in_body(W: Wrench, X: Pose) -> Wrench:
    """A wrench about the world's origin in world axes, as of a body at X about its origin in its axes."""
    inverse = X.inverse()
    return W.seen_from(inverse.R, inverse.p)
