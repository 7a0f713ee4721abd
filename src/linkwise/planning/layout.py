"""All rows of a program in a line: their bounds, their names, and where their derivatives are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from linkwise.planning.curve import Array, Index
from linkwise.planning.rows import LinearRows, RowName
from linkwise.planning.samples import Samples


class Layout:
    """Rows of samples, point after point, then linear ones.

    Attributes:
        lower, upper: bounds, over their scales.
        scale: by which rows are divided.
        prices: of the squares of their violations.
        hard: places of the rows that have to be kept.
        soft: of those that have a price. Rows without bounds are neither.
    """

    def __init__(self, samples: Sequence[Samples], linear: Sequence[LinearRows], last: int) -> None:
        """Lay out the rows of samples and linear rows; `last` is the column of the duration."""
        self._samples, self._linear, self._last = samples, linear, last
        every: list[list[Array]] = [[np.zeros(0)] for _ in range(4)]
        for s in samples:
            for found, x in zip(every, (*s.limits, s.scale, s.prices), strict=True):
                found.append(np.broadcast_to(x, s.limits[0].shape).ravel())
        for group in linear:
            ones = np.ones(len(group.lower))
            for found, x in zip(every, (group.lower, group.upper, ones, ones * group.price), strict=True):
                found.append(x)
        self.lower, self.upper, self.scale, self.prices = (np.concatenate(x) for x in every)
        held = np.isfinite(self.lower) | np.isfinite(self.upper)
        self.hard = np.flatnonzero(held & np.isinf(self.prices))
        self.soft = np.flatnonzero(held & np.isfinite(self.prices))

    @property
    def powers(self) -> Array:
        """2 for rows whose quantity is the square of what the user bounded, else 1."""
        parts = [np.tile(s.powers, len(s.s)) for s in self._samples]
        return np.concatenate([*parts, np.ones(sum(len(g.lower) for g in self._linear))])

    @cached_property
    def names(self) -> list[RowName]:
        found = [s.name(i, k) for s in self._samples for i in range(len(s.s)) for k in range(s.kernel.count)]
        return found + [RowName(g.label, name, g.at) for g in self._linear for name in g.names]

    @cached_property
    def titles(self) -> list[tuple[str, float]]:
        """Of all rows the title, and the fraction of time."""
        found = [(title, s) for group in self._samples for s, row in group.titles for title in row]
        return found + [(RowName(g.label, name, g.at).title, g.at) for g in self._linear for name in g.names]

    @cached_property
    def entries(self) -> tuple[Index, Index, Array]:
        """Rows and columns of all derivatives, by fixed numbers too, and the last of them, which are constant."""
        rows, columns, constant = [np.zeros(0, dtype=int)], [np.zeros(0, dtype=int)], [np.zeros(0)]
        at = 0
        for s in self._samples:
            count, points = s.kernel.count, len(s.s)
            index = at + np.arange(points)[:, None] * count + s.kernel.entries[:, 0]
            rows += [np.broadcast_to(index[:, :, None], s.columns.shape).ravel(), at + np.arange(points * count)]
            columns += [s.columns.ravel(), np.full(points * count, self._last)]
            at += points * count
        for group in self._linear:
            r, c = np.nonzero(group.matrix)
            rows.append(at + r)
            columns.append(c)
            constant.append(group.matrix[r, c])
            at += len(group.lower)
        return np.concatenate(rows), np.concatenate(columns), np.concatenate(constant)

    def derivatives(self, chosen: Index) -> tuple[Index, Index, Index]:
        """The derivatives of chosen rows: their rows among the chosen, their columns, and their places among all."""
        rows, columns, _ = self.entries
        place = np.full(len(self.lower), -1)
        place[chosen] = np.arange(len(chosen))
        at = np.flatnonzero(place[rows] >= 0)
        return place[rows[at]], columns[at], at
