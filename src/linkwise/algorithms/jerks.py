"""Jerks of frames, links and mass centres: the third derivatives of where they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from linkwise.algorithms.algorithm import REQUIRED, Outputs, World, algorithm
from linkwise.algorithms.force_rates import Jerks, jerks
from linkwise.algorithms.inverse_dynamics import Accelerations, accelerations
from linkwise.algorithms.kinematics import world_pose, world_poses
from linkwise.jet import rate, without_last
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar
from linkwise.vector import ZERO3, Vec3, cross

if TYPE_CHECKING:
    from linkwise.mechanism.machine import AnyMachine


@algorithm(inputs="q qd qdd qddd", outputs={"j": (6,)}, uses="base_motion", rates=1, frame=REQUIRED, axes="world")
def jerk(
    machine: AnyMachine,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    qddd: Sequence[Scalar],
    world: World,
    frame: str,
    axes: str,
) -> Outputs:
    """Jerk of a frame's origin, then angular jerk: the rates of the vectors of `acceleration`, as seen in the world.

    In world axes or (axes="local") the frame's own.

    Source: [GuarinoLoBianco] (5), (8).
    """
    tree, q, qd, qdd, qddd = machine.complete(q, qd, qdd, qddd)
    i, X = tree.place(frame)
    link = _moving(tree, q, qd, qdd, qddd, world)
    linear, angular = X.R.T @ link.linear(i, X.p), X.R.T @ link.angular(i)
    if axes == "world":
        R = (world_pose(tree, q, i) @ X).R
        linear, angular = R @ linear, R @ angular
    return ([*linear, *angular],)


@algorithm(
    inputs="q qd qdd qddd", outputs={"j": ("nb", 6), "j_com": ("nb", 3)}, uses="base_motion", rates=1, axes="world"
)
def link_jerks(
    machine: AnyMachine,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    qddd: Sequence[Scalar],
    world: World,
    axes: str,
) -> Outputs:
    """Jerks of all moving links: of the origin, then angular; and the jerks of their mass centres.

    One row for each of `robot.moving_links`, in world axes or (axes="local") the link's own. What is welded to a link
    belongs to it; the centre of a link without mass is its origin.

    Source: [GuarinoLoBianco] (5), (8), (9).
    """
    tree, q, qd, qdd, qddd = machine.complete(q, qd, qdd, qddd)
    link = _moving(tree, q, qd, qdd, qddd, world)
    X_world = world_poses(tree, q)
    rows, centres = [], []
    for i in tree.linked:
        body = tree.bodies[i]
        p = body.of_link.inverse().p
        R = X_world[i].R if axes == "world" else body.of_link.R
        rows += [*(R @ link.linear(i, p)), *(R @ link.angular(i))]
        centres += [*(R @ link.linear(i, body.centre))]
    return rows, centres


class _Moving(NamedTuple):
    """How bodies move; gravity is not counted."""

    motion: Accelerations
    rates: Jerks

    def linear(self, i: int, p: Vec3) -> Vec3:
        """The jerk of point p of body i, in its axes."""
        a = self.motion.v_dot[i] + self.motion.U[i] @ p
        return self.rates.v_ddot[i] + self.rates.U_dot[i] @ p + cross(self.motion.omega[i], a)

    def angular(self, i: int) -> Vec3:
        """The angular jerk of body i, in its axes."""
        return self.rates.omega_ddot[i] + cross(self.motion.omega[i], self.motion.omega_dot[i])


def _moving(
    tree: Tree,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    qddd: Sequence[Scalar],
    world: World,
) -> _Moving:
    now, then = (replace(world.each(f), gravity=ZERO3) for f in (without_last, rate))
    motion = accelerations(tree, q, qd, qdd, now)
    return _Moving(motion, jerks(tree, motion, qd, qdd, qddd, then))
