"""Foreign work in threads of its own, out of reach of whatever stops a Python program halfway.

Python answers signals in the main thread, between any two instructions: an exception raised there, such as that of
Ctrl-C, would leave LLVM's objects half made. And a fork copies one thread only: what another held at that moment, the
child finds held for ever. So LLVM works in threads that no signal reaches; they own all its objects, and work in
steps so short that a fork waits for their end. Whoever waits here can be interrupted at any time: a step under way is
then finished for nobody, and no further one begins.
"""

from __future__ import annotations

import _thread
import atexit
import os
from collections.abc import Callable, Sequence
from itertools import count
from threading import Lock, RLock
from typing import Any

from linkwise.errors import LinkwiseError
from linkwise.locks import gate, lanes

STACK = 8 * 2**20  # bytes for a thread, whatever the user has chosen for others
GLANCE = 0.1  # seconds between looks at how far work has come

_inside: set[int] = set()  # threads that do a step
_torn = _leaving = False


class _Work:
    """Steps to do, and what has come of them."""

    def __init__(self, steps: Sequence[Callable[[], Any]]) -> None:
        self.steps, self.numbers = steps, count()
        self.results: dict[int, Any] = {}
        self.errors: list[BaseException] = []
        self.stopped = False

    def run(self, lane: RLock, latch: Lock) -> None:
        """Do steps, as long as there are any, and open the latch in the end."""
        try:
            while not self.stopped and (k := next(self.numbers)) < len(self.steps):
                with gate:
                    lane.acquire()
                try:
                    _inside.add(_thread.get_ident())
                    self.results[k] = self.steps[k]()
                finally:
                    _inside.discard(_thread.get_ident())
                    lane.release()
        except BaseException as error:
            self.errors.append(error)
            self.stopped = True
        finally:
            latch.release()


def apart(step: Callable[[], Any]) -> Any:
    """What a step gives, done apart."""
    return side_by_side([step])[0]


def side_by_side(steps: Sequence[Callable[[], Any]], watch: Callable[[int], None] | None = None) -> list[Any]:
    """What the steps give, as many at a time as the machine has cores; `watch` is told how many are done."""
    if _thread.get_ident() in _inside:  # a step of a step
        return [step() for step in steps]
    if _torn:
        raise LinkwiseError(
            "native code: expected a process of its own, got one that was forked while its parent compiled."
            " Start it again, or start processes by multiprocessing's method 'spawn'."
        )
    work = _Work(steps)
    try:
        for latch in [_start(work, lane) for lane in lanes[: len(steps)]]:
            while not latch.acquire(timeout=GLANCE):
                if watch is not None:
                    watch(len(work.results))
    except BaseException:
        work.stopped = True
        raise
    if work.errors:
        raise work.errors[0]
    return [work.results[k] for k in range(len(steps))]


def _start(work: _Work, lane: RLock) -> Lock:
    """Begin to work in a lane; the latch opens in the end."""
    latch = Lock()
    latch.acquire()
    try:
        if _leaving:
            raise RuntimeError
        chosen = _thread.stack_size(STACK)
        try:
            _thread.start_new_thread(work.run, (lane, latch))
        finally:
            _thread.stack_size(chosen)
    except RuntimeError:  # no thread is to be had: the limit is reached, or the interpreter is about to end
        work.run(lane, latch)
    return latch


def _in_child() -> None:
    """See whether the fork has waited: a lane that another thread still holds stays so, for that thread is not here."""
    global _torn
    _inside.clear()
    for lock in (*lanes, gate):
        if lock.acquire(blocking=False):
            lock.release()
        else:
            _torn = True


def _leave() -> None:
    """Wait for the last step, so that LLVM is not taken down under it, and let no other thread begin one."""
    global _leaving
    _leaving = True
    for lock in (gate, *lanes):
        lock.acquire()


atexit.register(_leave)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
