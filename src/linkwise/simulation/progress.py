"""Signs of life of a long simulation."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from linkwise.errors import InputError
from linkwise.status import StatusLine

PATIENCE = 2.0  # seconds of silence
INTERVAL = 0.2  # seconds between two signs


class Progress:
    """Calls a function with the time reached and the end, or writes a line on a terminal, now and then.

    Args:
        begin, end: the first and the last time of the simulation, s.
        report: `report(t, end)`; None writes to stderr when it is a terminal, False does nothing.
    """

    def __init__(self, begin: float, end: float, report: Any) -> None:
        if report is not None and report is not False and not callable(report):
            raise InputError(f"progress: expected a function of (t, end), None or False, got {report!r}.")
        self._start, self._end = begin, end
        self._report: Callable[[float, float], None] | None = report if callable(report) else None
        self._line = StatusLine()
        self._silent = report is False or (self._report is None and self._line.silent)
        self._begin = self._last = time.monotonic()

    def update(self, t: float) -> None:
        """Say that the time `t` has been reached, if it is time to."""
        now = time.monotonic()
        if self._silent or now - self._last < INTERVAL:
            return
        self._last = now
        if self._report is not None:
            self._report(t, self._end)
        elif now - self._begin > PATIENCE:
            left = (now - self._begin) * (self._end - t) / max(t - self._start, 1e-12)
            far = f"simulating: {t:.4g} of {self._end:g} s, about {left:.0f} s left"
            self._line.write(f"{far} (Ctrl-C keeps what is done)")

    def close(self, t: float) -> None:
        """Say the last word: the final time to a function; a terminal's line is wiped."""
        if self._report is not None:
            self._report(t, self._end)
        else:
            self._line.wipe()
