"""Drift: offsets that change slowly with time, as of sensors that warm up."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from linkwise.check import positive
from linkwise.motion.log import Log
from linkwise.motion.trajectory import Array

LEAST = 2  # knots of a line


@dataclass(frozen=True)
class Drift:
    """Offsets that are lines between knots, for each file of a log its own.

    Args:
        knots: by file, times in s as its log has them.
    """

    knots: tuple[tuple[str, tuple[float, ...]], ...] = ()

    @classmethod
    def of(cls, log: Log, asked: bool | float) -> Drift:
        """Of the files of a log: one line along each, or lines between knots that are about so many seconds apart."""
        if isinstance(asked, (bool, np.bool_)) and not asked:
            return cls()
        found = []
        for source in dict.fromkeys(log.sources):
            t = [log.t[run] for run, own in zip(log.runs, log.sources, strict=True) if own == source]
            first, last = min(float(x[0]) for x in t), max(float(x[-1]) for x in t)
            pieces = (
                1 if isinstance(asked, (bool, np.bool_)) else max(1, round((last - first) / positive(asked, "drift")))
            )
            found.append((source, tuple(np.linspace(first, last, pieces + 1).tolist())))
        return cls(tuple(found))

    @cached_property
    def labels(self) -> dict[str, str]:
        """By channel what its column adds to the name of a drive's drift."""
        found = {}
        for k, (source, knots) in enumerate(self.knots):
            name = f"{Path(source).name} " if len(self.knots) > 1 else ""
            # the mean over the first file is the offset itself
            for i, t in list(enumerate(knots))[k == 0 :]:
                plain = len(self.knots) == 1 and len(knots) == LEAST
                found[f"drift {k} {i}"] = "" if plain else f"[{name}{t:.1f} s]"
        return found

    def channels(self, log: Log) -> dict[str, Array]:
        """(rows,) each along a log: a hat about its knot; zero in other files, and held before and after its own."""
        found = {channel: np.zeros(len(log)) for channel in self.labels}
        for k, (source, knots) in enumerate(self.knots):
            span = knots[-1] - knots[0]
            for i in range(k == 0, len(knots)):
                hat = np.eye(len(knots))[i]
                mean = (knots[min(i + 1, len(knots) - 1)] - knots[i - 1]) / 2.0 / span if k == 0 else 0.0
                for run, own in zip(log.runs, log.sources, strict=True):
                    if own == source:
                        found[f"drift {k} {i}"][run] = np.interp(log.t[run], knots, hat) - mean
        return found
