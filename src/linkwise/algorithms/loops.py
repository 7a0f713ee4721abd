"""Closure of loops: what a cut joint asks of the two frames it holds together, with first and second time derivatives.

For frame b seen from frame a, with origin p and axes R, the equations of every kind of cut joint are linear in p and R.
So one list of them gives the gap at (p, R), its rate at (p_dot, R_dot), and its second rate at (p_ddot, R_ddot).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from linkwise.robot.loop import Loop
from linkwise.robot.tree import Tree
from linkwise.rotation import Turn
from linkwise.scalar import Scalar
from linkwise.spatial import Motion, Pose, Wrench
from linkwise.vector import EYE3, ZERO3, Mat3, Vec3, cross


class Closure(NamedTuple):
    """What a kind of cut joint asks: names of its equations, how many of them are lengths, and the equations.

    `equations(p, R)` must vanish, and are linear in p and R; the first ones are lengths, the others sines of angles.
    `flipped(R)` is how far the axes are from the right one of the two ways in which they hold: 0, or 2 and more.
    """

    names: tuple[str, ...]
    lengths: int
    equations: Callable[[Vec3, Mat3], list[Scalar]]
    flipped: Callable[[Mat3], Scalar]


def _turn(R: Mat3) -> list[Scalar]:
    return [(R.z.y - R.y.z) * 0.5, (R.x.z - R.z.x) * 0.5, (R.y.x - R.x.y) * 0.5]


def _turned(R: Mat3) -> Scalar:
    return 3.0 - (R.x.x + R.y.y + R.z.z)


POINT, LINE = ("x", "y", "z"), ("x", "y")
TURNS = ("turn about x", "turn about y", "turn about z")
TILTS = ("tilt of z along x", "tilt of z along y")
CLOSURES = {
    "revolute": Closure((*POINT, *TILTS), 3, lambda p, R: [*p, R.x.z, R.y.z], lambda R: 1.0 - R.z.z),
    "prismatic": Closure((*LINE, *TURNS), 2, lambda p, R: [*p[:2], *_turn(R)], _turned),
    "spherical": Closure(POINT, 3, lambda p, R: list(p), lambda R: 0.0),
    "universal": Closure((*POINT, "tilt of x along z"), 3, lambda p, R: [*p, R.z.x], lambda R: 0.0),
    "fixed": Closure((*POINT, *TURNS), 3, lambda p, R: [*p, *_turn(R)], _turned),
}


class Column(NamedTuple):
    """How frame b moves relative to a, in a's axes, for a unit rate of coordinate `v`."""

    v: int
    p_dot: Vec3
    omega: Vec3


class Cut(NamedTuple):
    """A cut joint in one configuration: frame b in a, and the bodies between the two with their frames.

    `a` and `b` are the frames in the last body that carries both, and `path_a`, `path_b` the bodies from there on
    outwards.
    """

    loop: Loop
    tree: Tree
    q: Sequence[Scalar]
    path_a: list[int]
    path_b: list[int]
    X: dict[int, Pose]
    a: Pose
    b: Pose
    p: Vec3
    R: Mat3

    @classmethod
    def at(cls, tree: Tree, q: Sequence[Scalar], loop: Loop) -> Cut:
        """The cut joint of a loop in the configuration q."""
        (i, X_a), (j, X_b) = tree.places[loop.a], tree.places[loop.b]
        path_a, path_b = paths(tree, i, j)
        X: dict[int, Pose] = {}
        for path in (path_a, path_b):
            for k in path:
                X[k] = X.get(tree.bodies[k].parent, Pose()) @ _plain(*tree.bodies[k].pose(q))
        a, b = X.get(i, Pose()) @ (X_a @ loop.origin_a), X.get(j, Pose()) @ (X_b @ loop.origin_b)
        return cls(loop, tree, q, path_a, path_b, X, a, b, a.R.T @ (b.p - a.p), a.R.T @ b.R)

    def gap(self) -> list[Scalar]:
        """What the equations are off by: m, and sines of angles."""
        return CLOSURES[self.loop.kind].equations(self.p, self.R)

    def columns(self) -> list[Column]:
        """How the frames move relative to each other by each coordinate of the loop."""
        found = []
        for sign, path in ((-1.0, self.path_a), (1.0, self.path_b)):
            for k in path:
                X = self.X[k]
                for v, unit in self.tree.bodies[k].axes:
                    angular = X.R @ unit.angular
                    linear = X.R @ unit.linear + cross(angular, self.b.p - X.p)
                    found.append(Column(v, self.a.R.T @ linear * sign, self.a.R.T @ angular * sign))
        return found

    def jacobian(self) -> list[list[Scalar]]:
        """Rows of d gap / d q, in the velocities' coordinates."""
        closure = CLOSURES[self.loop.kind]
        rows: list[list[Scalar]] = [[0.0] * self.tree.nv for _ in closure.names]
        for v, p_dot, omega in self.columns():
            for row, x in zip(rows, closure.equations(p_dot, _turning(omega, self.R)), strict=True):
                row[v] = row[v] + x
        return rows

    def drift(self, qd: Sequence[Scalar]) -> list[Scalar]:
        """The second rate of the gap where no coordinate accelerates: J_dot qd."""
        a, b = (self._motion(path, end, qd) for path, end in ((self.path_a, self.a), (self.path_b, self.b)))
        back, w = self.a.R.T, a.omega
        d, d_dot = self.b.p - self.a.p, b.v - a.v
        swing = cross(a.omega_dot, d) + cross(w, d_dot * 2.0 - cross(w, d))
        p_ddot = back @ (b.v_dot - a.v_dot - swing)
        turn = b.omega - w
        omega, omega_dot = back @ turn, back @ (b.omega_dot - a.omega_dot - cross(w, turn))
        once = _turning(omega, self.R)
        R_ddot = _turning(omega_dot, self.R) + _turning(omega, once)
        return CLOSURES[self.loop.kind].equations(p_ddot, R_ddot)

    def wrench(self, multipliers: Sequence[Scalar]) -> Wrench:
        """What a exerts on b through the cut joint, at its point in a's axes, for a multiplier of each equation."""

        def power(p_dot: Vec3, omega: Vec3) -> Scalar:
            rates = CLOSURES[self.loop.kind].equations(p_dot, _turning(omega, self.R))
            return sum((x * y for x, y in zip(multipliers, rates, strict=True)), 0.0)

        force, moment = (Vec3(*(power(*pair) for pair in pairs)) for pairs in _UNIT_MOTIONS)
        return Wrench(force, moment)

    def _motion(self, path: list[int], end: Pose, qd: Sequence[Scalar]) -> _Moving:
        """How the frame at the end of a path moves while no coordinate accelerates, seen from its beginning."""
        now, at = _Moving(), ZERO3
        for k in path:
            X, body = self.X[k], self.tree.bodies[k]
            s: Motion = body.rate(qd)
            linear, angular = X.R @ s.linear, X.R @ s.angular
            now = now.carried(X.p - at)
            omega = now.omega + angular
            now = _Moving(
                now.v + linear,
                omega,
                now.v_dot + cross(now.omega + omega, linear),
                now.omega_dot + cross(now.omega, angular),
            )
            at = X.p
        return now.carried(end.p - at)


class _Moving(NamedTuple):
    """Velocities and classical accelerations of a body and of one of its points."""

    v: Vec3 = ZERO3
    omega: Vec3 = ZERO3
    v_dot: Vec3 = ZERO3
    omega_dot: Vec3 = ZERO3

    def carried(self, r: Vec3) -> _Moving:
        """The same of the point that is further by r."""
        swing = cross(self.omega, r)
        v_dot = self.v_dot + cross(self.omega_dot, r) + cross(self.omega, swing)
        return self._replace(v=self.v + swing, v_dot=v_dot)


def cuts(tree: Tree, q: Sequence[Scalar], loops: Sequence[Loop]) -> list[Cut]:
    """All cut joints in the configuration q."""
    return [Cut.at(tree, q, loop) for loop in loops]


def paths(tree: Tree, i: int, j: int) -> tuple[list[int], list[int]]:
    """The bodies that lead to i and to j from the last one that carries both, each outwards."""
    up_i, up_j = tree.ancestors(i), tree.ancestors(j)
    return [k for k in reversed(up_i) if k not in up_j], [k for k in reversed(up_j) if k not in up_i]


def looped_coordinates(tree: Tree, loops: Sequence[Loop]) -> set[int]:
    """Places in `qd` of the coordinates that move the parts of a loop relative to each other."""
    found = set()
    for loop in loops:
        for path in paths(tree, tree.places[loop.a][0], tree.places[loop.b][0]):
            found |= {v for k in path for v, _ in tree.bodies[k].axes}
    return found


_UNIT_MOTIONS = tuple(zip(*(((e, ZERO3), (ZERO3, e)) for e in EYE3), strict=True))


def _turning(omega: Vec3, R: Mat3) -> Mat3:
    """The rate of R whose axes turn by omega."""
    return Mat3(*(cross(omega, R.column(j)) for j in range(3))).T


def _plain(R: Turn | Mat3, p: Vec3) -> Pose:
    return Pose(R.matrix() if isinstance(R, Turn) else R, p)
