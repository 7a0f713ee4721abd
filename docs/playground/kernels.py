"""What the playground computes: poses and torques of an arm whose table is an input, traced once for all tables.

A row of the arm holds both conventions of Denavit and Hartenberg:

    T = Rx(alpha) Tx(a)  Rz(theta) Tz(d)  Tx(a') Rx(alpha')

The modified one has a' = alpha' = 0, the standard one a = alpha = 0. Every row has a revolute joint and a prismatic
one; sigma says which of them the coordinate moves: theta + (1 - sigma) q and d + sigma q, as in Khalil's notation.
Rows that a table does not have are zero: they weigh nothing and stay at rest.
"""

from __future__ import annotations

from typing import Any

import linkwise as lw
from linkwise.algorithms.algorithm import flat_pose
from linkwise.backend import javascript
from linkwise.graph.program import Port, Program, trace
from linkwise.robot.parameters import substitute
from linkwise.rotation import rot_x, rot_z
from linkwise.spatial import Pose
from linkwise.vector import Vec3

ROWS = 6
TABLE = Port("table", (ROWS, 7))  # alpha, a, theta, d, a', alpha', sigma
BODIES = Port("bodies", (ROWS, 10))  # mass, com (x, y, z), inertia about it (xx, xy, xz, yy, yz, zz)
PAYLOAD = Port("payload", (4,))  # mass, com, in the last frame
GRAVITY = Port("gravity", (3,))
Q, QD, QDD, TAU = (Port(name, (ROWS,)) for name in ("q", "qd", "qdd", "tau"))

Scalars = list[Any]


def frames() -> Program:
    """(table, q) -> A, the transform of every row, and T, the pose of every frame in the base."""

    def run(table: Scalars, q: Scalars) -> tuple[Scalars, Scalars]:
        X, steps, poses = Pose(), [], []
        for row, x in zip(_cut(table, 7), q, strict=True):
            before, after = _ends(row)
            theta, d = _joints(row, x, row[2:4])
            A = before @ Pose(rot_z(theta), Vec3(0.0, 0.0, d)) @ after
            X = X @ A
            steps += flat_pose(A)
            poses += flat_pose(X)
        return steps, poses

    matrices = (ROWS, 4, 4)
    return trace("frames", run, [TABLE, Q], [Port("A", matrices), Port("T", matrices)])


def torques() -> Program:
    """(table, bodies, payload, gravity, q, qd, qdd) -> tau, by Linkwise's own inverse dynamics."""
    robot = _robot()

    def run(table: Scalars, bodies: Scalars, payload: Scalars, gravity: Scalars, *motion: Scalars) -> tuple[Scalars]:
        rows, numbers = _cut(table, 7), {}
        for k, (row, body) in enumerate(zip(rows, _cut(bodies, 10), strict=True), start=1):
            for joint, X in zip((f"turn{k}", f"mount{k}"), _ends(row), strict=True):
                numbers[f"{joint}.xyz"] = tuple(X.p)
                numbers[f"{joint}.rotation"] = tuple(x for r in X.R for x in r)
            numbers |= _body(f"link{k}", body)
        numbers |= {"payload.mass": tuple(payload[:1]), "payload.com": tuple(payload[1:])}
        q, qd, qdd = motion
        at = [x for row, value in zip(rows, q, strict=True) for x in _joints(row, value, row[2:4])]
        rates = [
            [x for row, value in zip(rows, given, strict=True) for x in _joints(row, value)] for given in (qd, qdd)
        ]
        tau = lw.inverse_dynamics.plain(substitute(robot, numbers), at, *rates, gravity=gravity)
        return ([(1.0 - row[6]) * a + row[6] * b for row, (a, b) in zip(rows, _cut(tau, 2), strict=True)],)

    return trace("torques", run, [TABLE, BODIES, PAYLOAD, GRAVITY, Q, QD, QDD], [TAU])


def source() -> str:
    """Both as JavaScript."""
    return "\n".join(
        javascript.source(program(), None, f"{program.__name__} of an arm by its table")
        for program in (frames, torques)
    )


# ---- parts


def _cut(flat: Scalars, width: int) -> list[Scalars]:
    return [flat[k : k + width] for k in range(0, len(flat), width)]


def _ends(row: Scalars) -> list[Pose]:
    """The poses before and after the joints of a row."""
    return [Pose(rot_x(alpha), Vec3(a, 0.0, 0.0)) for alpha, a in (row[0:2], row[5:3:-1])]


def _joints(row: Scalars, x: Any, offset: Any = (0.0, 0.0)) -> Scalars:
    """What the revolute and the prismatic joint of a row have of its coordinate, or of a rate of it."""
    return [offset[0] + (1.0 - row[6]) * x, offset[1] + row[6] * x]


def _body(name: str, ten: Scalars) -> dict[str, tuple[Any, ...]]:
    return {f"{name}.mass": tuple(ten[:1]), f"{name}.com": tuple(ten[1:4]), f"{name}.inertia": tuple(ten[4:])}


def _robot() -> lw.Robot:
    """The arm, whose numbers are to be exchanged."""
    full = (1.0, 0.0, 0.0, 1.0, 0.0, 1.0)
    links, joints = [lw.Link("base")], []
    for k in range(1, ROWS + 1):
        links += [lw.Link(f"turned{k}"), lw.Link(f"slid{k}"), lw.Link(f"link{k}", 1.0, inertia=full)]
        joints += [
            lw.Joint(f"turn{k}", links[-4].name, f"turned{k}", "revolute"),
            lw.Joint(f"slide{k}", f"turned{k}", f"slid{k}", "prismatic"),
            lw.Joint(f"mount{k}", f"slid{k}", f"link{k}", "fixed"),
        ]
    return lw.Robot(links, joints).with_payload(1.0, at=links[-1].name)
