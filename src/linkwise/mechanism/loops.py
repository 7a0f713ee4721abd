"""Closure of loops: what a cut joint asks of the two frames it holds together, with first and second time derivatives.

For frame b seen from frame a, with origin p and axes R, the equations of every kind of cut joint are linear in p and R.
So one list of them gives the gap at (p, R), its rate at (p_dot, R_dot), and its second rate at (p_ddot, R_ddot). Where
the whole point is held, p is measured in axes that stand still in the last body that carries both frames.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from linkwise.robot.loop import Loop
from linkwise.robot.round_off import snapped
from linkwise.robot.tree import Tree
from linkwise.rotation import Turn, with_z_along
from linkwise.scalar import Scalar, is_number
from linkwise.spatial import Motion, Pose, Wrench
from linkwise.vector import EYE3, ZERO3, Mat3, Vec3, cross, dot

ON_AXIS = 1e-12  # m, from a joint's axis: as good as on it


class Closure(NamedTuple):
    """What a kind of cut joint asks: names of its equations, how many of them are lengths, and the equations.

    `equations(p, R)` must vanish, and are linear in p and R; the first ones are lengths, the others sines of angles.
    `flipped(R)` is how far the axes are from the right one of the two ways in which they hold: 0, or 2 and more.
    """

    names: tuple[str, ...]
    lengths: int
    equations: Callable[[Vec3, Mat3], list[Scalar]]
    flipped: Callable[[Mat3], Scalar]

    @property
    def holds_point(self) -> bool:
        """Whether the two origins stay together, so that they may be compared in any axes."""
        return self.lengths == 3

    @property
    def is_ball(self) -> bool:
        """Whether a point is held and nothing else."""
        return self.holds_point and len(self.names) == 3

    @property
    def is_slide(self) -> bool:
        """Whether a shift along the common axis is all that is left."""
        return self.lengths == 2

    @property
    def is_hinge(self) -> bool:
        """Whether a turn about the common axis is all that is left."""
        return self.holds_point and len(self.names) == 5


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
    # of wheels p is a velocity where they touch the ground: along, across, normal
    "rolling": Closure(("along", "across", "normal"), 3, lambda p, R: list(p), lambda R: 0.0),
    "omni": Closure(("along", "normal"), 2, lambda p, R: [p.x, p.z], lambda R: 0.0),
    "skate": Closure(("across", "normal"), 2, lambda p, R: [p.y, p.z], lambda R: 0.0),
    "glider": Closure(("normal",), 1, lambda p, R: [p.z], lambda R: 0.0),
}


class Column(NamedTuple):
    """How frame b moves relative to a for a unit rate of coordinate `v`: rates of p, and omega in a's axes."""

    v: int
    p_dot: Vec3
    omega: Vec3


class Push(NamedTuple):
    """What a cut joint exerts: the force on b at its point, the opposite on a, and the moment on b; axes of `Cut.X`."""

    force: Vec3
    moment: Vec3


class Cut(NamedTuple):
    """A cut joint in one configuration: frame b in a, and the bodies between the two with their frames.

    `a` and `b` are the frames in the last body that carries both, `path_a` and `path_b` the bodies from there on
    outwards, and `X` their poses in it. `axes` stand still there: a point that is held has its gap in them.
    """

    loop: Loop
    tree: Tree
    q: Sequence[Scalar]
    path_a: list[int]
    path_b: list[int]
    X: dict[int, Pose]
    a: Pose
    b: Pose
    axes: Mat3

    @classmethod
    def at(cls, tree: Tree, q: Sequence[Scalar], loop: Loop, normal: Vec3 | None = None) -> Cut:
        """The cut joint of a loop in the configuration q.

        `normal` is the direction across which equations of a planar loop are dependent, in the link that carries both
        ends; it becomes the z of `axes`.
        """
        (i, X_a), (j, X_b) = tree.places[loop.a], tree.places[loop.b]
        path_a, path_b = tree.paths(i, j)
        axes = EYE3 if normal is None else _across(tree, (path_a or path_b)[0], normal)
        X: dict[int, Pose] = {}
        for path in (path_a, path_b):
            for k in path:
                X[k] = X.get(tree.bodies[k].parent, Pose()) @ _plain(*tree.bodies[k].pose(q))
        a, b = X.get(i, Pose()) @ (X_a @ loop.origin_a), X.get(j, Pose()) @ (X_b @ loop.origin_b)
        return cls(loop, tree, q, path_a, path_b, X, a, b, axes)

    def closed(self, passive: Collection[int]) -> Cut:
        """The same where the loop is known to be closed, so that the held point may be taken from either side.

        It is taken from the side on which less follows, unless it lies on the axis of the last joint of the other one.
        """
        if not self.closure.holds_point:
            return self
        follow = [sum(v in passive for k in path for v, _ in self.tree.bodies[k].axes) for path in self._paths]
        far = int(follow[1] >= follow[0])
        name, origin = ((self.loop.a, self.loop.origin_a), (self.loop.b, self.loop.origin_b))[far]
        p = (self.tree.places[name][1] @ origin).p
        on_axis = all(is_number(x) and abs(x) < ON_AXIS for x in p[:2])
        if bool(far) != on_axis:
            return self._replace(b=Pose(self.b.R, self.a.p))
        return self._replace(a=Pose(self.a.R, self.b.p))

    @property
    def _paths(self) -> tuple[list[int], list[int]]:
        return self.path_a, self.path_b

    @property
    def closure(self) -> Closure:
        """What its kind asks."""
        return CLOSURES[self.loop.kind]

    @property
    def R(self) -> Mat3:
        """Axes of b in those of a."""
        return self.a.R.T @ self.b.R

    @property
    def p(self) -> Vec3:
        """Origin of b in a's frame."""
        return self.a.R.T @ (self.b.p - self.a.p)

    @property
    def ends(self) -> tuple[tuple[int, Pose], tuple[int, Pose]]:
        """The two bodies that it joins, each with its frame of the cut joint."""
        (i, X_a), (j, X_b) = self.tree.places[self.loop.a], self.tree.places[self.loop.b]
        return (i, X_a @ self.loop.origin_a), (j, X_b @ self.loop.origin_b)

    def gap(self) -> list[Scalar]:
        """What the equations are off by: m, and sines of angles."""
        d = self.b.p - self.a.p
        return self.closure.equations(self._measured(d), self.R if self._turns else EYE3)

    def columns(self, wanted: Callable[[int], bool] = lambda v: True) -> list[Column]:
        """How the frames move relative to each other by each coordinate of the loop, or by those that are wanted."""
        found = []
        for sign, path, end in ((-1.0, self.path_a, self.a), (1.0, self.path_b, self.b)):
            point = end.p if self.closure.holds_point else self.b.p
            for k in path:
                X = self.X[k]
                for v, unit in self.tree.bodies[k].axes:
                    if wanted(v):
                        angular = X.R @ unit.angular
                        linear = X.R @ unit.linear + cross(angular, point - X.p)
                        omega = self.a.R.T @ angular * sign if self._turns else ZERO3
                        found.append(Column(v, self._measured(linear * sign), omega))
        return found

    def jacobian(self) -> list[list[Scalar]]:
        """Rows of d gap / d q, in the velocities' coordinates."""
        rows: list[list[Scalar]] = [[0.0] * self.tree.nv for _ in self.closure.names]
        for column in self.columns():
            for row, x in zip(rows, self.changes(column), strict=True):
                row[column.v] = row[column.v] + x
        return rows

    def changes(self, column: Column) -> list[Scalar]:
        """The rates of all equations for a unit rate of a column's coordinate."""
        R_dot = _turning(column.omega, self.R) if self._turns else EYE3
        return self.closure.equations(column.p_dot, R_dot)

    def rate(self, qd: Sequence[Scalar]) -> list[Scalar]:
        """The rates of all equations at velocities of the tree: J qd."""
        a, b = self._ends(qd, None)
        if self.closure.holds_point:
            p_dot = self.axes.T @ (b.v - a.v)
        else:
            p_dot = self.a.R.T @ (b.v - a.v - cross(a.omega, self.b.p - self.a.p))
        R_dot = _turning(self.a.R.T @ (b.omega - a.omega), self.R) if self._turns else EYE3
        return self.closure.equations(p_dot, R_dot)

    def acceleration(self, qd: Sequence[Scalar], qdd: Sequence[Scalar] | None = None) -> list[Scalar]:
        """The second rates of all equations: J qdd + J_dot qd, the second alone without accelerations."""
        a, b = self._ends(qd, qdd)
        back, w = self.a.R.T, a.omega
        if self.closure.holds_point:
            p_ddot = self.axes.T @ (b.v_dot - a.v_dot)
        else:
            d, d_dot = self.b.p - self.a.p, b.v - a.v
            swing = cross(a.omega_dot, d) + cross(w, d_dot * 2.0 - cross(w, d))
            p_ddot = back @ (b.v_dot - a.v_dot - swing)
        if not self._turns:
            return self.closure.equations(p_ddot, EYE3)
        turn = b.omega - w
        omega, omega_dot = back @ turn, back @ (b.omega_dot - a.omega_dot - cross(w, turn))
        R_ddot = _turning(omega_dot, self.R) + _turning(omega, _turning(omega, self.R))
        return self.closure.equations(p_ddot, R_ddot)

    def drift(self, qd: Sequence[Scalar]) -> list[Scalar]:
        """The second rates of all equations where no coordinate accelerates: J_dot qd."""
        return self.acceleration(qd)

    # ---- forces

    def push(self, multipliers: Sequence[Scalar]) -> Push:
        """What multipliers of all equations exert through the cut joint."""
        n = self.closure.lengths
        along = Vec3(*(*multipliers[:n], *(0.0,) * (3 - n)))
        force = self.axes @ along if self.closure.holds_point else self.a.R @ along
        if not self._turns:
            return Push(force, ZERO3)

        def power(omega: Vec3) -> Scalar:
            rates = self.closure.equations(ZERO3, _turning(omega, self.R))
            return sum((x * y for x, y in zip(multipliers[n:], rates[n:], strict=True)), 0.0)

        return Push(force, self.a.R @ Vec3(*(power(e) for e in EYE3)))

    def wrench(self, multipliers: Sequence[Scalar]) -> Wrench:
        """What a exerts on b through the cut joint, at its point in a's axes, for a multiplier of each equation."""
        force, moment = self.push(multipliers)
        return Wrench(self.a.R.T @ force, self.a.R.T @ moment)

    def on_bodies(self, push: Push) -> list[tuple[int, Wrench]]:
        """What the push is on each body of both paths: force, and moment about the body's origin, in the axes of X."""
        found = []
        for sign, path, end in ((-1.0, self.path_a, self.a), (1.0, self.path_b, self.b)):
            force, moment = push.force * sign, push.moment * sign
            point = end.p if self.closure.holds_point else self.b.p
            found += [(k, Wrench(force, moment + cross(point - self.X[k].p, force))) for k in path]
        return found

    def point_on(self, i: int) -> Vec3 | None:
        """Where the cut joint holds body i, in the body's frame, if it does so and passes no moment; else None."""
        if self._turns or not self.closure.holds_point:
            return None
        for name, origin in ((self.loop.a, self.loop.origin_a), (self.loop.b, self.loop.origin_b)):
            k, X = self.tree.places[name]
            if k == i:
                return (X @ origin).p
        return None

    def projected(self, k: int, wrench: Wrench) -> list[tuple[int, Scalar]]:
        """The generalised forces of a wrench on body k, given as `on_bodies` gives it, each with its place."""
        R = self.X[k].R
        found = []
        for v, unit in self.tree.bodies[k].axes:
            found.append((v, dot(R @ unit.linear, wrench.force) + dot(R @ unit.angular, wrench.moment)))
        return found

    # ---- within

    @property
    def _turns(self) -> bool:
        """Whether some equations are about axes."""
        return len(self.closure.names) > self.closure.lengths

    def _measured(self, d: Vec3) -> Vec3:
        return (self.axes if self.closure.holds_point else self.a.R).T @ d

    def _ends(self, qd: Sequence[Scalar], qdd: Sequence[Scalar] | None) -> tuple[_Moving, _Moving]:
        return self._motion(self.path_a, self.a, qd, qdd), self._motion(self.path_b, self.b, qd, qdd)

    def _motion(self, path: list[int], end: Pose, qd: Sequence[Scalar], qdd: Sequence[Scalar] | None) -> _Moving:
        """How the frame at the end of a path moves, seen from its beginning."""
        now, at = _Moving(), ZERO3
        for k in path:
            X, body = self.X[k], self.tree.bodies[k]
            s: Motion = body.rate(qd)
            linear, angular = X.R @ s.linear, X.R @ s.angular
            now = now.carried(X.p - at)
            omega = now.omega + angular
            v_dot = now.v_dot + cross(now.omega + omega, linear)
            omega_dot = now.omega_dot + cross(now.omega, angular)
            if qdd is not None:
                s_dot: Motion = body.rate(qdd)
                v_dot, omega_dot = v_dot + X.R @ s_dot.linear, omega_dot + X.R @ s_dot.angular
            now = _Moving(now.v + linear, omega, v_dot, omega_dot)
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


def cuts(tree: Tree, q: Sequence[Scalar], loops: Sequence[Loop], normals: Sequence[Vec3 | None] = ()) -> list[Cut]:
    """All cut joints in the configuration q."""
    found: list[Cut] = []
    for k, loop in enumerate(loops):
        if loop.is_wheel:
            from linkwise.mechanism.wheel import Contact  # which is a cut joint itself

            found.append(Contact.at(tree, q, loop))
        else:
            found.append(Cut.at(tree, q, loop, normals[k] if normals else None))
    return found


def looped_coordinates(tree: Tree, loops: Sequence[Loop]) -> set[int]:
    """Places in `qd` of the coordinates that move the parts of a loop relative to each other."""
    found = set()
    for loop in loops:
        for path in tree.paths(tree.places[loop.a][0], tree.places[loop.b][0]):
            found |= {v for k in path for v, _ in tree.bodies[k].axes}
    return found


def _across(tree: Tree, first: int, normal: Vec3) -> Mat3:
    """Axes of the body that carries body `first`, whose z is a direction given in the axes of its link."""
    base = tree.bodies[tree.bodies[first].parent]
    z = base.of_link.R.T @ normal
    return snapped(Pose(with_z_along(snapped(Pose(p=z)).p))).R


def _turning(omega: Vec3, R: Mat3) -> Mat3:
    """The rate of R whose axes turn by omega."""
    return Mat3(*(cross(omega, R.column(j)) for j in range(3))).T


def _plain(R: Turn | Mat3, p: Vec3) -> Pose:
    return Pose(R.matrix() if isinstance(R, Turn) else R, p)
