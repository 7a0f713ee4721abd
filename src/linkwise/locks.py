"""Locks that a forked process finds open, whoever held them in its parent."""

from __future__ import annotations

import os
import threading


class ForkSafeLock:
    """A lock that its holder may take again."""

    def __init__(self) -> None:
        self._renew()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
