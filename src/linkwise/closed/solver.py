"""Loop closure over batches: Newton's method with a line search, and walks from one configuration to another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from linkwise.closed.results import Array, Flags

TIGHT, CLOSED = 1e-14, 1e-10  # of the mechanism's size: when to stop, and what counts as closed
ITERATIONS, SHORTEST = 50, 2.0**-10
STRIDES, LONGEST, LEAST = 200, 0.25, 2.0**-7  # of a walk, as parts of its way
BRIEF = 10  # iterations after a stride, which is a good guess
RESTARTS = 12  # guesses all around, for rows that neither method could close

Extra = Sequence[Array]  # further inputs of a kernel, with one row for each of the batch


def newton(
    kernel: Callable[..., Any], q: Array, extra: Extra = (), iterations: int = ITERATIONS
) -> tuple[Array, Flags]:
    """Positions (rows, nq) that close the loops, and which rows do; independent joints stay where they are.

    `kernel` is the question `newton` or `nearby`. A step that does not bring the loops nearer together is halved. Rows
    are independent of each other: only those that are still open are computed.
    """
    start = np.zeros((len(q), kernel.inputs["step"][0]))  # type: ignore[attr-defined]
    found_q, found_gap, step = kernel(q, start, np.zeros(len(q)), *extra)
    rows = np.flatnonzero(found_gap > TIGHT)  # a NaN is not
    here, gap, step, extra = found_q[rows], found_gap[rows], step[rows], [e[rows] for e in extra]
    length = np.ones(len(rows))
    for _ in range(iterations):
        if not len(rows):
            break
        q_new, gap_new, step_new = kernel(here, step, length, *extra)
        better = gap_new < gap * (1.0 - 1e-4 * length)
        here = np.where(better[:, None], q_new, here)
        step = np.where(better[:, None], step_new, step)
        gap = np.where(better, gap_new, gap)
        length = np.where(better, 1.0, 0.5 * length)
        done = ~((gap > TIGHT) & (length > np.where(gap < CLOSED, 0.5, SHORTEST)))
        if done.any():
            found_q[rows[done]], found_gap[rows[done]] = here[done], gap[done]
            keep = ~done
            rows, here, gap, step, length = rows[keep], here[keep], gap[keep], step[keep], length[keep]
            extra = [e[keep] for e in extra]
    found_q[rows], found_gap[rows] = here, gap
    return found_q, found_gap <= CLOSED


class Walk:
    """Ways from closed configurations to others of the independent joints, in strides that keep the assembly mode."""

    def __init__(self, kernels: Any) -> None:
        self._kernels = kernels

    def __call__(self, start: Array, goal: Array, extra: Extra = ()) -> tuple[Array, Flags]:
        """Closed positions with the independent joints of `goal`, and which rows got there.

        Args:
            start: closed positions (rows, nq).
            goal: positions (rows, nq) whose independent joints are to be reached.
            extra: the input `parameters` of the kernels, where there is one.
        """
        k = self._kernels
        way = k.difference(start, goal)
        way[:, k.passive] = 0.0
        here, done, stride = start.copy(), np.zeros(len(start)), np.full(len(start), LONGEST)
        side = np.sign(k.hold(start, *extra).determinant)
        rows = np.flatnonzero(np.isfinite(way).all(axis=1))
        for _ in range(STRIDES):
            if not len(rows):
                break
            along = [e[rows] for e in extra]
            part = np.minimum(done[rows] + stride[rows], 1.0) - done[rows]
            ahead = k.rates(here[rows], (way[rows] * part[:, None])[:, k.independent], *along)
            tried = k.integrate(here[rows], ahead, 1.0)
            found, closed = newton(k.newton, tried, along, BRIEF)
            moved = np.abs(k.difference(tried, found)).max(axis=1)
            good = closed & (moved <= 0.1 + 0.25 * np.abs(ahead).max(axis=1))
            good &= np.sign(k.hold(found, *along).determinant) == side[rows]
            at = rows[good]
            here[at], done[at] = found[good], done[at] + part[good]
            stride[at] = np.minimum(2.0 * stride[at], LONGEST)
            stride[rows[~good]] *= 0.5
            rows = rows[(done[rows] < 1.0) & (stride[rows] > LEAST)]
        arrived = done >= 1.0
        at = here[arrived]
        at[:, k.places] = goal[arrived][:, k.places]  # rounded sums of strides made exact
        here[arrived], closed = newton(k.newton, at, [e[arrived] for e in extra])
        arrived[arrived] = closed
        return here, arrived


def restarted(kernels: Any, q: Array, side: Array, extra: Extra = ()) -> tuple[Array, Flags]:
    """Closed positions with the independent joints of q (rows, nq), from guesses of the passive ones all around.

    The first found whose determinant has the sign `side` is taken, or else the first found.
    """
    best, ok = q.copy(), np.zeros(len(q), dtype=bool)
    rows = np.arange(len(q))
    rng = np.random.default_rng(2)
    for _ in range(RESTARTS):
        shift = np.zeros(kernels.robot.opened().nv)
        shift[kernels.passive] = rng.uniform(-np.pi, np.pi, len(kernels.passive)) * kernels.reach
        some = [e[rows] for e in extra]
        found, closed = newton(kernels.newton, kernels.integrate(q[rows], shift, 1.0), some, 2 * BRIEF)
        same = closed & (np.sign(kernels.hold(found, *some).determinant) == side[rows])
        new = same | (closed & ~ok[rows])
        best[rows[new]], ok[rows[new]] = found[new], True
        rows = rows[~same]
        if not len(rows):
            break
    return best, ok
