"""A base that nothing drives: it moves as the rest of the robot makes it move.

Its numbers move on splines too, and rows let the rest determine them. Where the whole robot hangs on the base, and
nothing but gravity acts on it, its centre of mass falls freely and it keeps its angular momentum: at as many instants
as there are free control points. Else no force is left on the base at as many instants. At the goal velocity and
position of the base follow from that; a position that the goal names is held within a tolerance, a rotation exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwise.kernel.compile import compile
from linkwise.motion.environment import Environment
from linkwise.planning.chart import Chart
from linkwise.planning.curve import Array, Basis, Curve
from linkwise.planning.drives import drives_of
from linkwise.planning.rows import Rows
from linkwise.robot.robot import Robot
from linkwise.scalar import Scalar

if TYPE_CHECKING:
    from linkwise.planning.point import Point
    from linkwise.planning.problem import Problem

LABELS = ("free base force", "free base fall", "free base momentum")
AXES = ("x", "y", "z")
NONE = 1e-9  # of the largest singular value: what is none
WEAK = 1e-3  # the same of forces of contacts: what two points nearly on a line hold by forces without measure is left
HELD, NOTHING = 1e-2, 1e-6  # weights, or weights times a metre: what contacts may leave on the base, and what is none
STEPS, CLOSE = 20, 1e-9  # of Newton's method towards a first motion, and how small its last one is


def floating_numbers(chart: Chart) -> list[int]:
    """Where the numbers of a base that nothing drives, nor any contact holds, are among those on splines."""
    if chart.stances:
        return []
    names = drives_of(chart.robot).floating_joints
    return [k for place in chart.leads if place.name in names for k in range(place.x.start, place.x.stop)]


def free_base_rows(chart: Chart, basis: Basis, begin: list[Array], environment: Environment) -> list[Rows]:
    """Rows by which a base that nothing drives follows the rest.

    Args:
        chart: what moves on splines.
        basis: of the splines.
        begin: numbers on splines at the start, and their rates; nan where they are free.
        environment: what acts from outside.
    """
    drives = drives_of(chart.robot)
    if not drives.passive:
        return []
    mass = sum(link.mass for link in chart.robot.links)
    known = np.isfinite([x[: chart.moving] for x in begin]).all() and not (drives.levels and begin[1].any())
    if chart.stances or environment or not _is_alone(chart.robot) or not known:
        zero, size = np.zeros(len(drives.passive)), np.full(len(drives.passive), mass)
        at = tuple((_determined(chart, basis) if chart.stances else basis.lower(2).abscissae).tolist())
        return [Rows(LABELS[0], drives.floating, lambda p: p.base_wrench, zero, zero, size, at=at)]
    start, first, kept = _momentum(chart, begin)
    zero, one = np.zeros(3), np.ones(3)

    def fall(p: Point) -> list[Scalar]:
        g = p.tree.gravity
        return [c - a - v * p.t - x * p.t * p.t * 0.5 for c, a, v, x in zip(p.centre, start, first, g, strict=True)]

    def momentum(p: Point) -> list[Scalar]:
        return [h - h0 for h, h0 in zip(p.angular_momentum, kept, strict=True)]

    return [
        Rows(LABELS[1], AXES, fall, zero, zero, one, at=tuple(basis.abscissae[2:].tolist())),
        Rows(LABELS[2], AXES, momentum, zero, zero, mass * one, at=tuple(basis.lower(1).abscissae[1:].tolist())),
    ]


def _determined(chart: Chart, basis: Basis) -> Array:
    """Abscissae of control points, but for those of no contact that reach over nothing but places where some stand.

    Where one contact takes over from another within fewer spans than a control point reaches, some belong to neither.
    """
    s, knots, d = basis.abscissae, basis.knots, basis.degree
    has = np.any([np.isnan(stance.fixed(basis)[:, 0]) for stance in chart.stances], axis=0)
    spans = 0.5 * (knots[1:] + knots[:-1])
    stands = np.any([stance.stands(spans) for stance in chart.stances], axis=0)
    carried = np.array([stands[k : k + d + 1].all() for k in range(basis.count)])
    return s[has | ~carried]


def _is_alone(robot: Robot) -> bool:
    """Whether all that moves hangs on the one floating base."""
    root, floating = robot.root.name, drives_of(robot).floating_joints
    on_root = [j.name for j in robot.joints if j.parent == root]
    return on_root == list(floating) and not any(root in (loop.a, loop.b) for loop in robot.loops)


def _momentum(chart: Chart, begin: list[Array]) -> tuple[list[float], list[float], list[float]]:
    """Centre of mass and its velocity, and angular momentum about it, at the start."""
    dyn = compile(chart.robot.rigid())
    q, qd = chart.motion(begin[:2])
    h = dyn.centroidal_momentum(q, qd)
    mass = sum(link.mass for link in chart.robot.links if link is not chart.robot.root)
    return dyn.centre_of_mass(q).tolist(), (h[:3] / mass).tolist(), h[3:].tolist()


def settled(problem: Problem, curve: Curve) -> Curve:
    """A first motion whose base goes along with the rest, or is held by its contacts: by Newton's method."""
    own = [s for s in problem.instants if any(g.label in LABELS for g in s.kernel.rows)]
    if not own:
        return curve
    points = curve.points.copy()
    moves = np.zeros(points.shape, dtype=bool)
    moves[:, floating_numbers(problem.chart) or slice(problem.chart.moving, None)] = True
    moves &= ~np.isfinite(problem.ends.fixed)
    at, small = np.flatnonzero(moves), WEAK if problem.chart.stances else NONE
    for _ in range(STEPS):
        rows, columns = [], []
        for s in own:
            first = s.first(points, curve.duration)
            J = np.zeros((len(s.s), s.kernel.count, points.size))
            J[np.arange(len(s.s))[:, None, None], s.kernel.entries[:, 0][:, None], s.columns] = first.by_points
            rows.append(first.values.ravel())
            columns.append(J.reshape(-1, points.size)[:, at])
        step = np.linalg.lstsq(np.vstack(columns), -np.concatenate(rows), rcond=small)[0]
        if not np.isfinite(step).all():
            return curve
        most = np.inf if problem.chart.stances else 1.0  # forces of contacts are linear
        points.flat[at] += step * min(1.0, most / float(np.abs(step).max(initial=1.0)))
        if np.abs(step).max(initial=0.0) < CLOSE:
            break
    return Curve(curve.basis, points, curve.duration)


class Left(NamedTuple):
    """What acts on a base between the instants, in words, and whether contacts hold the robot but for a little."""

    words: str = ""
    is_little: bool = True


def left_on_base(plan: Any) -> Left:
    """How large the forces are that act on the base between the instants; nothing where there is none.

    Contacts cannot hold all where they are points on one line, or where none stands.
    """
    if not drives_of(plan.robot).passive:
        return Left()
    left = plan.base_wrench(plan.times())
    if plan.chart.stances:
        force, moment = (float(np.sqrt((left[:, k] ** 2).sum(axis=1)).max()) for k in (slice(0, 3), slice(3, 6)))
        most = max(force, moment) / plan.chart.stances[0].weight
        much = "" if most < HELD else ", which is too much: give a sole, a third contact, or more control_points"
        words = f"splines leave a force of {force:.2g} N and a moment of {moment:.2g} N m at most{much}"
        return Left("" if most < NOTHING else f"contacts cannot hold all: {words}", most < HELD)
    size = plan.base_wrench(plan.times(), held=True)
    parts = []
    for what, unit, k in (("force", "N", slice(0, 3)), ("moment", "N m", slice(3, 6))):
        mean, scale = (float(np.sqrt((x[:, k] ** 2).sum(axis=1).mean())) for x in (left, size))
        share = f" ({100.0 * mean / scale:.2g} % of what it would feel if it were held)" if scale > 0.0 else ""
        parts.append(f"a {what} of {mean:.2g} {unit}{share}")
    return Left(f"the base floats freely; root mean squares of what splines leave on it are {' and '.join(parts)}")
