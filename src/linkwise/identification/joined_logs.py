"""Logs that are given as logs, files, or several of them, as one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from linkwise.errors import InputError
from linkwise.motion.columns import column_names
from linkwise.motion.log import Log
from linkwise.robot.robot import Robot

Source = Log | str | PathLike[str]


def joined(robot: Robot, log: Source | Iterable[Source]) -> Log:
    """One log of all that was given, each file a run or several."""
    sources = [log] if isinstance(log, Log | str | PathLike) or not isinstance(log, Iterable) else list(log)
    for one in sources:
        if not isinstance(one, Log | str | PathLike):
            raise InputError(f"log: expected a Log, the path of a file, or several of them, got {one!r}.")
    if not sources:
        raise InputError("identify: expected a log, got none. Give a Log or the path of a file.")
    if not all(isinstance(x, Log) for x in sources):
        from linkwise.motion.log_reader import read_log

        if not any(isinstance(x, Log) for x in sources):
            return read_log(sources, robot)
        sources = [x if isinstance(x, Log) else read_log(x, robot) for x in sources]
    logs = [x for x in sources if isinstance(x, Log)]
    for one in logs:
        if column_names(one.robot, "q") != column_names(robot, "q"):
            without = column_names(one.robot, "q") == column_names(robot.rigid(), "q")
            got = "one without positions of motors behind springs" if without else "one with other joints"
            remedy = "Give robot.rigid()" if without else "Read it with lw.read_log(path, robot)"
            raise InputError(f"log of {one.robot.name!r}: expected a log of {robot.name!r}, got {got}. {remedy}.")
    return logs[0] if len(logs) == 1 else _chained(logs)


def _chained(logs: list[Log]) -> Log:
    """Logs one after the other."""
    first = logs[0]
    channels: dict[str, Any] = {"t": np.concatenate([x.t for x in logs]), "q": np.concatenate([x.q for x in logs])}
    for key in ("qd", "tau", "current"):
        parts = [getattr(x, key) for x in logs]
        width = next((p.shape[1] for p in parts if p is not None), 0)
        filled = [np.full((len(x), width), np.nan) if p is None else p for x, p in zip(logs, parts, strict=True)]
        channels[key] = np.concatenate(filled) if width else None
    if channels["qd"] is not None and not np.isfinite(channels["qd"]).all():
        channels["qd"] = None
    for key in ("wrenches", "others"):
        shared = set.intersection(*(set(getattr(x, key)) for x in logs))
        channels[key] = {name: np.concatenate([getattr(x, key)[name] for x in logs]) for name in sorted(shared)}
    runs, at = [], 0
    for x in logs:
        runs += [slice(r.start + at, r.stop + at) for r in x.runs]
        at += len(x)
    notes = tuple(dict.fromkeys(note for x in logs for note in x.notes))
    return replace(first, **channels, runs=tuple(runs), sources=sum((x.sources for x in logs), ()), notes=notes)
