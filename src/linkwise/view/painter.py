"""The one thread that changes a live page, so that whoever moves the robot never waits."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

from linkwise.errors import LinkwiseError

FRAME = 1.0 / 60.0  # seconds between two pictures


class Painter(threading.Thread):
    """Does what it is asked, at most 60 times a second; of what is asked under one key the last alone."""

    def __init__(self) -> None:
        super().__init__(name="linkwise show", daemon=True)
        self._tasks: dict[str, tuple[float, Callable[[], Any]]] = {}
        self._lock, self._wake, self._ended = threading.Lock(), threading.Event(), threading.Event()

    def ask(self, key: str, do: Callable[[], Any], after: float = 0.0) -> None:
        """Do this soon, or after some seconds from when the key was first asked; nothing once the thread is gone."""
        if self._ended.is_set() or not self.is_alive():  # as in a forked child, where the lock may be held for ever
            return
        due = time.monotonic() + after
        with self._lock:
            self._tasks[key] = (min(due, self._tasks[key][0]) if key in self._tasks else due, do)
        self._wake.set()

    def run(self) -> None:
        while not self._ended.is_set():
            for do in self._due():
                try:
                    do()
                except LinkwiseError:  # nothing to be seen: a place that the robot cannot go to
                    pass
                except Exception:  # of a function of the user's, which must not end the page
                    traceback.print_exc()
            self._ended.wait(FRAME)
            self._wake.wait(self._rest())
            self._wake.clear()

    def stop(self) -> None:
        """End the thread."""
        self._ended.set()
        self._wake.set()
        if self.is_alive() and self is not threading.current_thread():
            self.join(timeout=2.0)

    def _due(self) -> list[Callable[[], Any]]:
        now = time.monotonic()
        with self._lock:
            keys = [key for key, (due, _) in self._tasks.items() if due <= now]
            return [self._tasks.pop(key)[1] for key in keys]

    def _rest(self) -> float | None:
        """Seconds until there is something to do; None for as long as nobody asks."""
        with self._lock:
            return max(0.0, min(due for due, _ in self._tasks.values()) - time.monotonic()) if self._tasks else None
