"""Families of plans: each begins from a neighbour, in this process or in others, and none that is done is lost."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, Future, as_completed
from os import PathLike
from pathlib import Path
from typing import Any

from linkwise.errors import InputError, LinkwiseError
from linkwise.files import contents, replacing
from linkwise.planning.content_digest import FORMAT, digest
from linkwise.planning.function_source import content
from linkwise.planning.processes import check_sendable, sent_back
from linkwise.planning.result import Plan
from linkwise.status import StatusLine

Solve = Callable[[Any, Plan | None], Plan]
ASKED = "sweep.json"  # what the plans in a folder are answers to
ASKED_BYTES = 2**24  # more than any question needs


def sweep(
    solve: Solve,
    values: Any,
    *,
    executor: Executor | None = None,
    folder: str | PathLike[str] | None = None,
    key: Callable[[Any], Any] | None = None,
    progress: bool = True,
) -> list[Plan]:
    """Plans for a family of values, such as weights or payloads, in their order.

    `solve(value, guess)` returns the plan of one value; `guess` is the plan of a neighbour, to begin from, or None.
    One after the other each begins from the one before. In an executor the middle value is solved first, and all others
    begin from it; for processes `solve` has to be a function of a module. Ctrl-C ends it; what was finished is kept.

    Args:
        solve: what to do for one value.
        values: such as [0.0, 0.1, 1.0].
        executor: any `concurrent.futures.Executor`: a pool of processes, or a cluster's.
        folder: where finished plans are kept; called again after a failure, only those that miss are solved. A folder
            belongs to one `solve`: its file "sweep.json" has the source of the function, the values that it takes from
            outside and its robots, and plans of another one are refused. What it calls in other modules and what files
            it reads is not known there. Values are known by their content at full precision, arrays and robots
            included. What older versions left there, which knew values by their `repr`, is solved again.
        key: what a value is known by in the folder, a function of it, where it has no content that can be read.
        progress: whether to show a line of it on a terminal.
    """
    if not callable(solve):
        raise InputError(f"sweep: expected a function of a value and a guess, got {solve!r}.")
    every = list(values) if isinstance(values, Iterable) else []
    if not every:
        raise InputError(f"sweep: expected values, got {values!r}.")
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise InputError(f"sweep executor: expected a concurrent.futures.Executor, got {executor!r}.")
    if executor is not None:
        check_sendable("sweep", executor, {"solve": solve, "values": every})
    if key is not None and not callable(key):
        raise InputError(f"sweep key: expected a function of a value, got {key!r}.")
    store = _Store(folder, every, solve, key)
    line = StatusLine() if progress else None
    plans = {k: plan for k in range(len(every)) if (plan := store.read(k)) is not None}

    def finished(k: int, plan: Any) -> None:
        if not isinstance(plan, Plan):
            raise InputError(f"sweep: expected a Plan from the function for the value {every[k]!r}, got {plan!r}.")
        if plan.status == "interrupted":  # Ctrl-C, which a single plan answers by its best motion so far
            raise KeyboardInterrupt
        plans[k] = plan
        store.write(k, plan)
        if line:
            line.write(f"sweep: {len(plans)} of {len(every)} plans, the last for {every[k]!r}: {plan.status}")

    try:
        if executor is None:
            for k in range(len(every)):
                if k not in plans:
                    finished(k, solve(every[k], plans.get(k - 1)))
        else:
            _in_executor(executor, solve, every, plans, finished)
    finally:
        if line:
            line.wipe()
    return [plans[k] for k in range(len(every))]


def _in_executor(
    executor: Executor,
    solve: Solve,
    values: Sequence[Any],
    plans: dict[int, Plan],
    finished: Callable[[int, Any], None],
) -> None:
    """The middle one first, then all others from the nearest that is done."""
    missing = [k for k in range(len(values)) if k not in plans]
    if not plans:
        middle = missing.pop(len(missing) // 2)
        finished(middle, sent_back("sweep", executor.submit(solve, values[middle], None).result))
    waiting: dict[Future[Plan], int] = {}
    for k in missing:
        near = min(plans, key=lambda j: abs(j - k))
        waiting[executor.submit(solve, values[k], plans[near])] = k
    failure: BaseException | None = None
    for future in as_completed(waiting):
        try:
            plan = sent_back("sweep", future.result)
        except Exception as error:
            failure = failure or error
        else:
            finished(waiting[future], plan)
    if failure is not None:
        raise failure


class _Store:
    """Finished plans in a folder, one file for each value, and a file that says what they are answers to."""

    def __init__(
        self, folder: str | PathLike[str] | None, values: Sequence[Any], solve: Solve, key: Callable[[Any], Any] | None
    ) -> None:
        self.folder = None if folder is None else Path(folder)
        self.names: list[str] = []
        if self.folder is not None:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise InputError(f"sweep folder {str(folder)!r}: {error.strerror or error}.") from error
            known = [digest(v if key is None else key(v), f"sweep value {k + 1}") for k, v in enumerate(values)]
            self.names = [f"{k:04d}-{x[:32]}.npz" for k, x in enumerate(known)]
            self._claim(self.folder, {"format": FORMAT, **content(solve)})

    def _claim(self, folder: Path, now: dict[str, str]) -> None:
        """Write down what is asked, unless plans in the folder are answers to something else."""
        before = _read(folder / ASKED)
        if before == now:
            return
        if before is not None and before.get("format") == FORMAT and any(folder.glob("[0-9]*.npz")):
            raise InputError(
                f"sweep folder {str(folder)!r}: expected plans of this function, got plans of another:"
                f" {_differences(before, now)}. Take another folder or remove this one; or, if its plans are right all"
                f" the same, remove its file {ASKED}."
            )
        with replacing(folder / ASKED) as part:
            part.write_text(json.dumps(now, indent=1), encoding="utf-8")

    def read(self, k: int) -> Plan | None:
        """The plan of a value, where it was finished; a file that cannot be read counts as missing."""
        if self.folder is None or not (self.folder / self.names[k]).exists():
            return None
        try:
            return Plan.load(self.folder / self.names[k])
        except LinkwiseError:
            return None

    def write(self, k: int, plan: Plan) -> None:
        """Keep a plan that is finished."""
        if self.folder is not None:
            plan.save(self.folder / self.names[k])


def _read(path: Path) -> dict[str, str] | None:
    """What was asked, or None where that is not known."""
    try:
        found = json.loads(contents(path, ASKED_BYTES))
    except (ValueError, RecursionError):  # a LinkwiseError is a ValueError
        return None
    return {key: str(text) for key, text in found.items()} if isinstance(found, dict) else None


def _differences(before: dict[str, str], now: dict[str, str]) -> str:
    """What is not as it was, in words."""
    parts = []
    for key in [*now, *(key for key in before if key not in now)]:
        was, has = before.get(key), now.get(key)
        if was == has:
            continue
        if was is None or has is None:
            parts.append(f"{key} is {'new' if was is None else 'gone'}")
        elif key.startswith("source") or max(len(was), len(has)) > 60:
            parts.append(f"{key} has changed")
        else:
            parts.append(f"{key} was {was}, now {has}")
    return "; ".join(parts)
