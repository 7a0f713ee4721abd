"""Steps of long work, each shown on a line; Ctrl-C ends the one at hand, and what is there is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from linkwise.status import StatusLine

T = TypeVar("T")


class Steps:
    """Steps with a way to do without each; a second Ctrl-C ends all.

    Attributes:
        stopped: the step in which Ctrl-C came; empty if it did not.
    """

    def __init__(self, title: str, progress: bool) -> None:
        self.title, self.stopped = title, ""
        self._line = StatusLine() if progress else None

    def __call__(self, words: str, step: Callable[[], T], without: Callable[[], T]) -> T:
        """What a step gives; after Ctrl-C what there is without it."""
        if self.stopped:
            return without()
        if self._line is not None:
            self._line.write(f"{self.title}: {words}")
        try:
            return step()
        except KeyboardInterrupt:
            self.stopped = words
            if self._line is not None:
                self._line.write(f"{self.title}: stopped at {words}, finishing; Ctrl-C again gives up")
            return without()

    def wipe(self) -> None:
        """Leave no line."""
        if self._line is not None:
            self._line.wipe()
