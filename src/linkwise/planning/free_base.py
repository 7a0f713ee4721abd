"""A base that nothing drives: it moves as the rest of the robot makes it move.

Its numbers move on splines too. At as many instants as they have free control points no force acts on the base, so that
the motion of the rest determines them, and momentum is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.planning.chart import Chart
from linkwise.planning.curve import Array, Basis, Curve
from linkwise.planning.drives import drives_of
from linkwise.planning.rows import Rows

if TYPE_CHECKING:
    from linkwise.planning.problem import Problem

LABEL = "free base"
STEPS, CLOSE = 20, 1e-9  # of Newton's method towards a first motion, and how small its last one is


def free_base_rows(chart: Chart, basis: Basis, fixed: Array) -> list[Rows]:
    """Rows that leave no force on a floating base that nothing drives."""
    drives = drives_of(chart.robot)
    if not drives.passive:
        return []
    free = np.isnan(fixed[:, _numbers(chart)]).any(axis=1)
    zero, one = np.zeros(len(drives.passive)), np.ones(len(drives.passive))
    at = tuple(basis.abscissae[free].tolist())
    return [Rows(LABEL, drives.floating, lambda p: p.base_wrench, zero, zero, one, at=at)]


def _numbers(chart: Chart) -> list[int]:
    """Where the numbers of the base are among those on splines."""
    names = {n.rsplit(".", 1)[0] for n in drives_of(chart.robot).floating}
    return [k for place in chart.leads if place.name in names for k in range(place.x.start, place.x.stop)]


def settled(problem: Problem, curve: Curve) -> Curve:
    """A first motion whose base goes along with the rest: its control points by Newton's method, the rest held."""
    if not drives_of(problem.robot).passive:
        return curve
    own = [s for s in problem.instants if any(g.label == LABEL for g in s.kernel.rows)]
    points = curve.points.copy()
    moves = np.zeros(points.shape, dtype=bool)
    moves[:, _numbers(problem.chart)] = True
    moves &= ~np.isfinite(problem.ends.fixed)
    at = np.flatnonzero(moves)
    for _ in range(STEPS):
        rows, columns = [], []
        for s in own:
            first = s.first(points, curve.duration)
            J = np.zeros((len(s.s), s.kernel.count, points.size))
            J[np.arange(len(s.s))[:, None, None], s.kernel.entries[:, 0][:, None], s.columns] = first.by_points
            rows.append(first.values.ravel())
            columns.append(J.reshape(-1, points.size)[:, at])
        step = np.linalg.lstsq(np.vstack(columns), -np.concatenate(rows), rcond=None)[0]
        if not np.isfinite(step).all():
            return curve
        points.flat[at] += step * min(1.0, 1.0 / float(np.abs(step).max(initial=1.0)))
        if np.abs(step).max(initial=0.0) < CLOSE:
            break
    return Curve(curve.basis, points, curve.duration)


def left_on_base(plan: Any) -> str:
    """How large the forces are that act on the base between the instants, in words; nothing where there is none."""
    if not drives_of(plan.robot).passive:
        return ""
    t = plan.times()
    left, size = plan.base_wrench(t), plan.base_wrench(t, held=True)
    parts = []
    for what, unit, k in (("force", "N", slice(0, 3)), ("moment", "N m", slice(3, 6))):
        most, scale = (float(np.linalg.norm(x[:, k], axis=1).max()) for x in (left, size))
        share = f" ({100.0 * most / scale:.2g} % of what a base that is held would feel)" if scale > 0.0 else ""
        parts.append(f"a {what} of {most:.3g} {unit}{share}")
    return f"the base floats freely; at most {' and '.join(parts)} are left on it between control points"
