"""Many questions at once: walks of several persons, speeds or loads, in processes side by side."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

from linkwise.errors import InputError
from linkwise.planning.processes import check_sendable, sent_back
from linkwise.walking.result import Walk
from linkwise.walking.walk import walk


def sweep(cases: Iterable[Mapping[str, Any]], executor: Executor | None = None, **common: Any) -> list[Walk]:
    """Predict several walks, each by arguments of `walk`.

        sweep([{"speed": v} for v in (0.8, 1.0, 1.2)], person=person, smooth=True)

    Args:
        cases: the arguments that differ.
        executor: who runs them, such as a `ProcessPoolExecutor`; as many processes as there are cores if none is
            given. Threads gain nothing: one solve runs at a time in a process. What goes to processes must be known
            there by name: functions of terms have to be functions of a module, not lambdas.
        common: the arguments that all share.
    """
    questions = []
    for k, case in enumerate(cases):
        if not isinstance(case, Mapping):
            raise InputError(f"sweep: expected arguments of walk by name, got {case!r} as case {k + 1}.")
        questions.append({"progress": False, **common, **case})
    if executor is not None:
        return _in_executor(executor, questions)
    if len(questions) < 2:
        return [_ask(q) for q in questions]
    workers = min(len(questions), os.cpu_count() or 1)
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        return _in_executor(pool, questions)


def _in_executor(executor: Executor, questions: list[dict[str, Any]]) -> list[Walk]:
    for question in questions:
        check_sendable("sweep", executor, question)
    tasks = [executor.submit(_ask, q) for q in questions]
    try:
        return [sent_back("sweep", task.result) for task in tasks]
    finally:
        for task in tasks:  # after a failure none begins
            task.cancel()


def _ask(question: dict[str, Any]) -> Walk:
    return walk(**question)
