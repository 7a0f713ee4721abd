"""One step of a robot's joints towards a pose of a frame, as a compiled function."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from linkwise.algorithms.integration import integrate
from linkwise.algorithms.kinematics import jacobian, world_pose
from linkwise.errors import InputError
from linkwise.kernel.kernel import Compiled
from linkwise.mechanism.linear import factorise, solve
from linkwise.mechanism.loops import cuts
from linkwise.mechanism.partition import Partition
from linkwise.mechanism.structure import structure_of
from linkwise.planning.traced import traced
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar, less, sqrt, where
from linkwise.spatial import Pose
from linkwise.vector import Mat3, Vec3, cross, dot

LEAST = 1e-14  # damping that is always there, so that singular steps are solved too
BLUNT = 0.2  # cosine of half an angle, below which slopes are kept, since the error is level at half a turn
KEPT = 64  # kernels


@lru_cache(maxsize=KEPT)
def step_kernel(robot: Robot, frame: str) -> Compiled:
    """(q, T, damping, weights, moving, lower, upper) -> q_next, before, after: one step towards a pose T.

    q are positions of all joints; `before` and `after` are the squared errors of position, of rotation, and of closure.
    """
    nq, nv, part = robot.opened().nq, robot.opened().nv, structure_of(robot).part

    def step(tree: Tree, *inputs: list[Scalar]) -> Sequence[Sequence[Scalar]]:
        """One damped step towards a pose, and the squared errors before and after it."""
        return _step(tree, frame, part, *inputs)

    shapes = {"q": (nq,), "T": (4, 4), "damping": (), "weights": (6,), "moving": (nv,), "lower": (nq,), "upper": (nq,)}
    return traced("reach", robot, step, shapes, {"q_next": (nq,), "before": (3,), "after": (3,)})


def _step(
    tree: Tree,
    frame: str,
    part: Partition,
    q: list[Scalar],
    T: list[Scalar],
    damping: list[Scalar],
    weights: list[Scalar],
    moving: list[Scalar],
    lower: list[Scalar],
    upper: list[Scalar],
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    target = Pose.of_matrix([T[4 * k : 4 * k + 4] for k in range(4)])
    e, J = _error(tree, frame, part, q, target, weights)
    J = [[x * m for x, m in zip(row, moving, strict=True)] for row in J]
    before = _squares(e)
    soft = damping[0] * sum(before[1:], before[0]) + LEAST
    dq = _damped(J, e, soft, [1.0] * tree.nv)

    # joints that would leave their limits go to them, and the others make up for it
    inside, change = [1.0] * tree.nv, list(dq)
    for at, to in tree.singles:
        end = q[at] + dq[to]
        low, high = less(end, lower[at]) * moving[to], less(upper[at], end) * moving[to]
        inside[to] = 1.0 - low - high
        change[to] = low * (lower[at] - q[at]) + high * (upper[at] - q[at])
    held = [c * (1.0 - i) for c, i in zip(change, inside, strict=True)]
    left = [x + sum(a * h for a, h in zip(row, held, strict=True)) for x, row in zip(e, J, strict=True)]
    dq = [h + d for h, d in zip(held, _damped(J, left, soft, inside), strict=True)]
    (moved,) = integrate.function(tree, q, dq, [1.0])
    for at, to in tree.singles:
        end = where(less(moved[at], lower[at]), lower[at], where(less(upper[at], moved[at]), upper[at], moved[at]))
        moved[at] = where(less(0.5, moving[to]), end, q[at])
    return moved, before, _squares(_error(tree, frame, part, moved, target, weights)[0])


def _error(
    tree: Tree, frame: str, part: Partition, q: Sequence[Scalar], target: Pose, weights: Sequence[Scalar]
) -> tuple[list[Scalar], list[list[Scalar]]]:
    """The weighted error of a frame's pose in the target's axes, then what loops are open by and joints are off curves.

    Derivatives of all are along tangent vectors.
    """
    i, X = tree.place(frame)
    here = world_pose(tree, q, i) @ X
    R = target.R.T @ here.R
    half, cosine = _quaternion(R)
    e = [*(target.R.T @ (here.p - target.p)), *(half * 2.0)]
    lever = where(less(cosine, BLUNT), BLUNT, cosine)
    (flat,) = jacobian.function(tree, q, frame=frame, axes="local")
    columns = []
    for k in range(tree.nv):
        linear, omega = (Vec3(*(flat[(r + b) * tree.nv + k] for r in range(3))) for b in (0, 3))
        columns.append([*(R @ linear), *(omega * lever + cross(half, omega))])
    rows = [[w * c[r] for c in columns] for r, w in enumerate(weights)]
    e = [w * x for w, x in zip(weights, e, strict=True)]
    every = cuts(tree, q, part.loops, part.normals)
    gap = [x for cut in every for x in cut.gap()]
    slopes = [row for cut in every for row in cut.jacobian()]
    e += [gap[r] * part.weights[r] for r in part.rows]
    rows += [[x * part.weights[r] for x in slopes[r]] for r in part.rows]
    for c in part.couplings:
        slope = c.coupling.value(q[c.of_q], 1)
        e.append(q[c.q] - c.coupling.value(q[c.of_q]))
        rows.append([1.0 if v == c.v else -slope if v == c.of_v else 0.0 for v in range(tree.nv)])
    return e, rows


def _quaternion(R: Mat3) -> tuple[Vec3, Scalar]:
    """Vector and scalar of a rotation's quaternion, the one that turns less, exact also about half a turn."""
    odd = Vec3(R.z.y - R.y.z, R.x.z - R.z.x, R.y.x - R.x.y)
    even = (R.y.z + R.z.y, R.z.x + R.x.z, R.x.y + R.y.x)
    trace = R.x.x + R.y.y + R.z.z
    near = less(-0.5, trace)
    w = 0.5 * sqrt(where(near, 1.0 + trace, 1.0))
    vector, cosine = odd * (0.25 / w), w
    for k, (x, y, z) in enumerate(((0, 1, 2), (1, 2, 0), (2, 0, 1))):
        a, b, c = R[x][x], R[y][y], R[z][z]
        largest = where(near, 0.0, less(b, a) * less(c, a))
        root = 0.5 * sqrt(where(largest, 1.0 + a - b - c, 1.0))
        other = 0.25 / root
        turned = where(less(odd[k], 0.0), -1.0, 1.0)
        parts = {x: root * turned, y: even[z] * other * turned, z: even[y] * other * turned}
        vector = Vec3(*(where(largest, parts[j], old) for j, old in enumerate(vector)))
        cosine = where(largest, odd[k] * other * turned, cosine)
    return vector, cosine


def _squares(e: Sequence[Scalar]) -> list[Scalar]:
    """The squared errors of position, of rotation, and of closure."""
    position, rotation = Vec3(*e[:3]), Vec3(*e[3:6])
    return [dot(position, position), dot(rotation, rotation), sum((x * x for x in e[6:]), 0.0)]


def _damped(
    J: Sequence[Sequence[Scalar]], e: Sequence[Scalar], damping: Scalar, free: Sequence[Scalar]
) -> list[Scalar]:
    """The step -(J^T J + damping)^-1 J^T e of the free joints; the others do not move."""
    A = [[x * f for x, f in zip(row, free, strict=True)] for row in J]
    n = len(free)
    H = [[sum((row[i] * row[j] for row in A), 0.0) for j in range(n)] for i in range(n)]
    for i in range(n):
        H[i][i] = H[i][i] + damping
    slope = [-sum((row[i] * x for row, x in zip(A, e, strict=True)), 0.0) for i in range(n)]
    return solve(factorise(H, lambda k: InputError("inverse_kinematics: no joint moves the frame.")), slope)
