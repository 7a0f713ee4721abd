"""First derivatives of forces at an instant, as expressions of a graph.

Torques before ground reactions and the ground's wrench are differentiated by the recursion of `sensitivities`, whose
vectors are carried one step further, to the world. With J_i the motion of joint i at the world's origin and W_s the
share of its foot,

    tau_i = tau_i(no ground) - J_i . W_s,    d tau_i = d tau_i(no ground) - J_i . S_s dW - (dJ_i) . W_s,

where S_s = dW_s / dW is small and taken by the graph, and dJ_i / dq_k is J_k crossed with J_i for joints k before i.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from linkwise.algorithms.algorithm import World
from linkwise.algorithms.kinematics import world_poses
from linkwise.algorithms.sensitivities import Disturbed, Matrix, disturbed, torque_derivatives
from linkwise.kernel.tracing import Node, forward
from linkwise.robot.tree import Tree
from linkwise.spatial import Motion, Pose, Wrench
from linkwise.vector import Vec3, cross, dot
from linkwise.walking.ground import Support, right_share
from linkwise.walking.instant import GLOBAL, Instant, axis_in_world, leg, moves_toes

Row = list[Any]
Rows = list[Row]


def slopes(
    tree: Tree, q: Sequence[Node], qd: Sequence[Node], qdd: Sequence[Node], support: Support, values: Instant
) -> dict[Node, Row]:
    """Derivatives of an instant's torques and of its ground's wrench, by q, qd and qdd in one row."""
    d = disturbed(tree, q, qd, qdd, World(gravity=tree.gravity))
    free = torque_derivatives(d, q, qdd)
    ground = _ground_slopes(d)
    tau = tuple([list(row) for row in matrix[GLOBAL:]] for matrix in free)
    W = Wrench(Vec3(*values.ground[:3]), Vec3(*values.ground[3:]))
    _add_ground(tree, world_poses(tree, q), W, support, ground, tau)
    every = zip(
        [*values.tau[GLOBAL:], *values.ground], *([*a, *b] for a, b in zip(tau, ground, strict=True)), strict=True
    )
    return {value: [x for row in rows for x in row] for value, *rows in every if isinstance(value, Node)}


def _ground_slopes(d: Disturbed) -> tuple[Rows, Rows, Rows]:
    """Derivatives of the wrench that the world exerts: 6 rows over coordinates, by q, qd and qdd."""
    n, bodies, poses = d.tree.nv, d.tree.bodies, d.motion.poses
    found: tuple[Matrix, Matrix, Matrix] = tuple([[0.0] * n for _ in range(6)] for _ in range(3))  # type: ignore[assignment]
    for i, composite in d.composites():
        for c in d.columns[i]:
            changes = [composite.force(field) for field in (c.by_q, c.by_qd, c.by_qdd)]
            changes[0] = changes[0] + c.swing(d.wrench[i])
            k = i
            while k:
                changes = [w.seen_from(*poses[k]) for w in changes]
                k = bodies[k].parent
            for matrix, change in zip(found, changes, strict=True):
                for row, x in zip(matrix, change, strict=True):
                    row[c.k] += x
    return found


def _add_ground(
    tree: Tree, poses: list[Pose], W: Wrench, support: Support, ground: tuple[Rows, Rows, Rows], tau: Any
) -> None:
    """Take what ground reactions do off the derivatives of torques."""
    right = right_share(W, support)
    S = forward(list(right), list(W))
    units = [[float(r == c) for c in range(6)] for r in range(6)]
    for side, share, part, toe in (
        ("r", right, S, support.toe_r),
        (
            "l",
            W + -right,
            [[u - x for u, x in zip(*rows, strict=True)] for rows in zip(units, S, strict=True)],
            support.toe_l,
        ),
    ):
        for i, k in leg(tree, side):
            J = list(axis_in_world(tree, poses, i))
            weight = toe if moves_toes(tree, i) else 1.0
            along = [sum((J[r] * part[r][c] for r in range(6)), 0.0) * weight for c in range(6)]
            for matrix, slope in zip(tau, ground, strict=True):
                row = matrix[k - GLOBAL]
                for j in range(tree.nv):
                    row[j] = row[j] - sum((along[r] * slope[r][j] for r in range(6)), 0.0)
            row = tau[0][k - GLOBAL]
            for m, x in _turned(tree, poses, i, share):
                row[m] = row[m] - x * weight


def _turned(tree: Tree, poses: list[Pose], i: int, W: Wrench) -> list[tuple[int, Any]]:
    """How J_i . W changes with the coordinates before i, for a wrench that stays as it is."""
    J = axis_in_world(tree, poses, i)
    found = []
    for k in tree.ancestors(tree.bodies[i].parent):
        K = axis_in_world(tree, poses, k)
        moved = Motion(cross(K.angular, J.linear) + cross(K.linear, J.angular), cross(K.angular, J.angular))
        found.append((tree.bodies[k].v, dot(moved.linear, W.force) + dot(moved.angular, W.moment)))
    return found
