"""Locks that a forked process finds open, whoever held them in its parent.

Taking them and giving them back are steps of C, never of Python, between which an interrupt would leave them held.
"""

from __future__ import annotations

import os
import sys
import threading
from functools import cached_property


class ForkSafeLock(type(threading.RLock())):  # type: ignore[misc]
    """A lock that its holder may take again, and that a fork opens in the child."""

    def __init__(self) -> None:
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._at_fork_reinit)


def _awaited_lock() -> threading.RLock:
    """A lock that its holder may take again, and that a fork waits for: a child finds nothing half done."""
    lock = threading.RLock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock


# All that a fork waits for is made here, before a thread can hold any of it. A fork that waits for one lock already
# does not take another that is made meanwhile, and its child would find that one held for ever.
# A step of a back end holds a lane, and on the way in the gate. A fork takes the gate first, since what is registered
# last comes first: it waits for the steps under way, and for no second one. Last it waits for modules to be loaded, of
# which a child would have a half.
loading = _awaited_lock()
lanes = [_awaited_lock() for _ in range(min(os.cpu_count() or 1, 8))]  # steps under way at a time
gate = _awaited_lock()


def _renew_properties() -> None:
    """Until Python 3.12 a `cached_property` has one lock for all objects of its class, held while a value is made."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "linkwise":
            for kind in list(vars(module).values()):
                for value in list(vars(kind).values()) if isinstance(kind, type) else ():
                    if isinstance(value, cached_property):
                        value.lock = threading.RLock()  # type: ignore[attr-defined]


if sys.version_info < (3, 12) and hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_properties)
