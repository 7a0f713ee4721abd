"""Contacts in plans: frames of a floating robot that stand on something, with the wrenches that hold them there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from linkwise.check import fraction, positive, vector
from linkwise.errors import InputError
from linkwise.kernel.compile import compile
from linkwise.planning.chart import Chart
from linkwise.planning.curve import Array, Basis
from linkwise.planning.drives import drives_of
from linkwise.planning.stance import Stance
from linkwise.planning.term_and_constraint import Constraint
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree
from linkwise.spatial import Pose
from linkwise.vector import Mat3, Vec3

EARTH = 9.81  # m/s^2, by which forces are counted where there is no gravity
LEVEL = 1e-3  # rad, by which the ground may be inclined to a sole in another phase


@dataclass(frozen=True, eq=False)
class Contact(Constraint):
    """A frame that stands in some phases; `contact` says what the arguments are."""

    frame: str
    phases: tuple[tuple[float, float], ...]
    at: tuple[Any, ...]
    sole: Array | None
    friction: float
    torsion: float | None
    normal: Array | None
    slip: float
    lift: float

    def stance(self, chart: Chart, q: Array | None, name: str) -> Stance:
        """The contact of a robot that starts at positions q of what leads."""
        robot = chart.robot
        robot.frame(self.frame)
        if Tree.of(robot).place(self.frame)[0] == 0:
            raise InputError(f"contact {self.frame!r}: expected a frame of a link that moves, got one of the ground.")
        here = None if q is None else compile(robot).pose(q, self.frame)
        places = [_place(f"contact {self.frame!r} at", given, here) for given in self.at]
        weight = sum(link.mass for link in robot.links) * (float(np.linalg.norm(robot.gravity)) or EARTH)
        n = -np.array(robot.gravity, dtype=float) if self.normal is None else self.normal
        if not np.linalg.norm(n) > 0.0:
            raise InputError(f"contact {self.frame!r}: expected normal=..., as there is no gravity, got none.")
        n = n / np.linalg.norm(n)
        if self.sole is None:
            axes, middle, corners, torsion = _axes(n, np.eye(3)), np.zeros(3), np.zeros((0, 2)), 0.0
        else:
            axes = _axes(places[0][:3, :3].T @ n, np.eye(3))
            for T in places[1:]:
                if np.abs(T[:3, :3] @ axes[:, 2] - n).max() > LEVEL:
                    raise InputError(
                        f"contact {self.frame!r} at: expected the same inclination of the sole in all phases. Give"
                        " another contact for the other one."
                    )
            middle, corners = _sole(self.sole, axes, self.frame)
            torsion = self.friction * _grip(corners) if self.torsion is None else self.torsion
        return Stance(
            name, self.frame, self.phases, tuple(Pose.of_matrix(T.tolist()) for T in places), Mat3.of(axes.tolist()),
            Vec3(*middle.tolist()), tuple((float(x), float(y)) for x, y in corners), self.friction, torsion, self.slip,
            self.lift, weight, Vec3(*n.tolist()),
        )  # fmt: skip


def contact(
    frame: str,
    *,
    sole: Any = None,
    friction: float = 0.7,
    torsion: float | None = None,
    during: Any = None,
    at: Any = None,
    normal: Any = None,
    slip: float = 5e-4,
    lift: float = 0.0,
) -> Contact:
    """A frame or link of a floating robot that stands, and is held by a wrench that the plan finds.

    While it stands its place is held, its force is within the cone of friction, and the centre of pressure is within
    the sole. Forces begin and end with zero, where a phase begins or ends within the motion.

    Args:
        frame: what stands, such as the middle of a sole.
        sole: (length, width) of a rectangle about the frame's origin, the length along the frame's x as far as that is
            in the ground's plane; or corners, in the frame's axes (k, 3). None for a point, about which it can turn.
        friction: coefficient of dry friction.
        torsion: m; the moment about the normal is at most this times the normal force. By default that of even
            pressure on a round sole of the same area.
        during: (from, to), or a list of these, in fractions of the motion's time; all of it if not given.
        at: where it stands: a position (3) at which it is turned as at the start, or a pose (4 by 4); a list with one
            for each phase; None where it is at the start.
        normal: of the ground or wall, towards the robot, in the world; upwards if not given.
        slip: m and rad, how far it may be from its place between the instants where it is there.
        lift: m, how high it is at least in the middle of the way between two phases.
    """
    what = f"contact {frame!r}"
    if not isinstance(frame, str):
        raise InputError(f"contact: expected the name of a frame or link, got {frame!r}.")
    if normal is not None and not np.any(vector(normal, f"{what} normal")):
        raise InputError(f"{what} normal: expected a direction, from the ground towards the robot, got {normal!r}.")
    phases = _phases(during, what)
    return Contact(
        frame, phases, _places(at, len(phases), what), None if sole is None else _numbers(sole, what),
        positive(friction, f"{what} friction"), None if torsion is None else positive(torsion, f"{what} torsion"),
        None if normal is None else vector(normal, f"{what} normal"), positive(slip, f"{what} slip"),
        0.0 if lift == 0 else positive(lift, f"{what} lift"),
    )  # fmt: skip


def _phases(during: Any, what: str) -> tuple[tuple[float, float], ...]:
    given = [(0.0, 1.0)] if during is None else [during] if np.ndim(during) == 1 else during
    try:
        pairs = [(fraction(a, f"{what} during"), fraction(b, f"{what} during")) for a, b in given]
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{what} during: expected (from, to), or a list of these, got {during!r}.") from error
    ends = [x for pair in pairs for x in pair]
    if not pairs or any(b <= a for a, b in pairwise(ends)):
        raise InputError(f"{what} during: expected phases one after the other, got {during!r}.")
    return tuple(pairs)


def _places(at: Any, count: int, what: str) -> tuple[Any, ...]:
    """A place for each phase, from one for all or a list."""
    several = isinstance(at, (list, tuple)) and any(x is None or np.ndim(x) or isinstance(x, Pose) for x in at)
    if not several or _matrix(at) is not None:
        return (at,) * count
    if len(at) != count:
        raise InputError(f"{what} at: expected a place, or a list of {count}, one for each phase, got {at!r}.")
    return tuple(at)


def _numbers(sole: Any, what: str) -> Array:
    try:
        found = np.asarray(sole, dtype=float)
    except (TypeError, ValueError):
        found = np.zeros(0)
    corners = found.ndim == 2 and found.shape[1] == 3 and len(found) >= 3
    if not (corners or (found.shape == (2,) and (found > 0.0).all())) or not np.isfinite(found).all():
        raise InputError(f"{what} sole: expected (length, width), or three or more corners (x, y, z), got {sole!r}.")
    return found


def _place(what: str, given: Any, here: Array | None) -> Array:
    """A pose (4, 4), from what users give and where the frame is at the start."""
    T = _matrix(given)
    if T is not None:
        if not np.allclose(T[:3, :3] @ T[:3, :3].T, np.eye(3), atol=1e-6):
            raise InputError(f"{what}: expected a 4 by 4 matrix with a rotation, got {given!r}.")
        return T
    if here is None:
        raise InputError(f"{what}: expected a pose (4 by 4), since the start is free, got {given!r}.")
    T = np.array(here, dtype=float)
    if given is not None:
        T[:3, 3] = vector(given, what)
    return T


def _matrix(given: Any) -> Array | None:
    """The 4 by 4 matrix that was given, or None where it is none."""
    try:
        T = np.asarray(given.matrix() if isinstance(given, Pose) else given, dtype=float)
    except (TypeError, ValueError):
        return None
    return T if T.shape == (4, 4) else None


def _axes(n: Array, R: Array) -> Array:
    """Axes as columns: z along n, x along the first, or else the second, of others as far as that is across n."""
    first = R[:, 0] if abs(R[:, 0] @ n) < 0.9 else R[:, 1]
    x = first - (first @ n) * n
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(n, x), n], axis=1)


def _sole(sole: Array, axes: Array, frame: str) -> tuple[Array, Array]:
    """The middle of a sole in the frame's axes, and its corners in the contact's, anticlockwise."""
    if sole.ndim == 1:
        x, y = sole / 2.0
        return np.zeros(3), np.array([(x, y), (-x, y), (-x, -y), (x, -y)])
    from scipy.spatial import ConvexHull, QhullError

    middle = sole.mean(axis=0)
    flat = (sole - middle) @ axes
    if np.abs(flat[:, 2]).max() > 1e-2:
        raise InputError(f"contact {frame!r} sole: expected corners in the plane of the ground, got {sole.tolist()}.")
    try:
        return middle, flat[ConvexHull(flat[:, :2]).vertices, :2]
    except QhullError as error:
        raise InputError(f"contact {frame!r} sole: expected corners of an area, got {sole.tolist()}.") from error


def _grip(corners: Array) -> float:
    """The mean distance from the middle of a disc with the area of a sole, m."""
    x, y = corners.T
    area = 0.5 * abs(float(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))))
    return float(2.0 / 3.0 * np.sqrt(area / np.pi))


# ---- in a problem


def with_contacts(
    chart: Chart, constraints: Sequence[Constraint], start: Any, goal: Any = None, base_motion: Any = None
) -> Chart:
    """The chart with the numbers of contacts; `start` and `goal` are states in the chart's numbers."""
    contacts = [c for c in constraints if isinstance(c, Contact)]
    if not contacts:
        return chart
    _check(chart.robot)
    if base_motion is not None:
        raise InputError("contact: expected ground that stands still, got base_motion=...")
    begin, end = (_positions(chart, state) for state in (start, goal))
    names: list[str] = []
    for c in contacts:
        again = names.count(c.frame)
        names.append(c.frame if not again else f"{c.frame}#{again + 1}")
    stances = tuple(c.stance(chart, begin, name) for c, name in zip(contacts, names, strict=True))
    for stance in stances:
        _check_end(chart.robot, stance, "start", begin, stance.phases[0][0] <= 0.0, 0)
        _check_end(chart.robot, stance, "goal", end, stance.phases[-1][1] >= 1.0, -1)
    for one, other in combinations(stances, 2):
        _check_apart(one, other)
    _check_upwards(chart.robot, stances)
    return replace(chart, stances=stances)


def _positions(chart: Chart, state: Any) -> Array | None:
    """Positions of what leads at an end, where all are known."""
    numbers = None if state is None or state.q is None else np.asarray(state.q, dtype=float)
    return None if numbers is None or not np.isfinite(numbers).all() else chart.motion([numbers])[0]


def _check_end(robot: Robot, stance: Stance, which: str, q: Array | None, stands: bool, k: int) -> None:
    """Refuse a contact that stands at an end elsewhere than where its frame is."""
    if q is None or not stands:
        return
    T, place = compile(robot).pose(q, stance.frame), np.array(stance.places[k].matrix(), dtype=float)
    away = float(np.linalg.norm(T[:3, 3] - place[:3, 3]))
    turned = float(np.arccos(np.clip(0.5 * (np.trace(T[:3, :3].T @ place[:3, :3]) - 1.0), -1.0, 1.0)))
    if away > stance.slip or (stance.is_sole and turned > max(stance.slip, LEVEL)):
        raise InputError(
            f"contact {stance.name!r} at: expected where its frame is at the {which}, since it stands there,"
            f" {np.round(T[:3, 3], 4).tolist()}, got a place that is {away:.4g} m away and turned by {turned:.4g} rad."
            f" Leave at= out, change the {which}, or let it stand in another phase, during=(from, to)."
        )


def _check_apart(one: Stance, other: Stance) -> None:
    """Refuse two contacts that hold one frame at two places at once."""
    if one.frame != other.frame:
        return
    for (a, b), here in zip(one.phases, one.places, strict=True):
        for (c, d), there in zip(other.phases, other.places, strict=True):
            if min(b, d) > max(a, c) and not np.allclose(here.matrix(), there.matrix(), atol=one.slip):
                raise InputError(
                    f"contact {one.frame!r}: expected one place at a time, got two from {max(a, c):g} to"
                    f" {min(b, d):g} of the motion. Give one contact with a list of phases, during=[...], and at=[...]."
                )


def _check_upwards(robot: Robot, stances: Sequence[Stance]) -> None:
    """Refuse contacts of which none can carry any weight."""
    g = np.array(robot.gravity, dtype=float)
    if not g.any():
        return
    up = -g / np.linalg.norm(g)
    rise = [float(np.array(s.normal) @ up) for s in stances]
    if all(x + s.friction * np.sqrt(max(0.0, 1.0 - x * x)) <= 0.0 for x, s in zip(rise, stances, strict=True)):
        raise InputError(
            f"contact {stances[0].name!r} normal: expected a contact that can push upwards, got normals that point"
            " downwards. Give normal=..., from the ground towards the robot."
        )


def _check(robot: Robot) -> None:
    """Refuse robots whose contacts would hold nothing, or whose springs would need more of them."""
    drives = drives_of(robot)
    if len(drives.floating_joints) != 1:
        raise InputError(
            f"contact: expected a robot on one floating joint without a limit of effort, got {robot.name!r} with"
            f" {len(drives.floating_joints)}. Load it with base='floating'."
        )
    if drives.levels:
        raise InputError(f"contact: expected rigid drives, got elastic ones of {robot.name!r}. Use robot.rigid().")


def space(degree: int, count: Any, chart: Chart) -> Basis:
    """The basis of so many control points: evenly spread, with breaks where contacts begin and end.

    While one contact takes over from another there are as many spans as the degree: with fewer some control points of
    wrenches would reach beyond both, and belong to none.
    """
    basis = Basis.uniform(degree, count)
    ends = sorted({round(x, 9) for stance in chart.stances for phase in stance.phases for x in phase} | {0.0, 1.0})
    if len(ends) == 2:
        return basis
    spans = len(basis.breaks) - 1
    lengths = np.diff(ends)
    least = np.array([degree if _is_passed_on(chart, a, b) else 1 for a, b in pairwise(ends)])
    if least.sum() > spans:
        raise InputError(
            f"control_points: expected {least.sum() + degree} or more, since phases of contacts begin and end at"
            f" {ends[1:-1]} of the motion, got {count}."
        )
    own = np.maximum(np.round(lengths * spans), least).astype(int)
    while own.sum() != spans:
        step = 1 if own.sum() < spans else -1
        rest = np.where((own > least) | (step > 0), (lengths * spans - own) * step, -np.inf)
        own[int(np.argmax(rest))] += step
    breaks = [np.linspace(a, b, k + 1)[:-1] for (a, b), k in zip(pairwise(ends), own, strict=True)]
    basis = Basis(degree, (*np.concatenate(breaks).tolist(), 1.0))
    for stance in chart.stances:
        known = stance.fixed(basis)[:, 0]
        for a, b in stance.phases:
            within = (basis.abscissae > a) & (basis.abscissae < b)
            if not np.isnan(known[within]).any():
                enough = int(np.ceil((degree + 1) / (b - a))) + degree
                raise InputError(
                    f"control_points: expected about {enough} or more, so that the force of contact {stance.name!r}"
                    f" from {a:g} to {b:g} has some, got {count}."
                )
    return basis


def _is_passed_on(chart: Chart, a: float, b: float) -> bool:
    """Whether from a to b contacts stand that did before, and others that will after, but none that does both."""
    phases = [phase for stance in chart.stances for phase in stance.phases]
    stands = [(c < a - 1e-9, d > b + 1e-9) for c, d in phases if c < b - 1e-9 and d > a + 1e-9]
    before, after = (any(x) for x in zip(*stands, strict=True)) if stands else (False, False)
    return before and after and (True, True) not in stands
