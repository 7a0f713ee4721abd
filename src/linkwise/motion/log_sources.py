"""The tables of a log's source: files of several forms, arrays, data frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from linkwise.errors import InputError, listing
from linkwise.motion.log_names import channel_names
from linkwise.robot.robot import Robot
from linkwise.table import TIME, Table
from linkwise.table import read as read_table
from linkwise.table.bags import SUFFIXES as BAGS
from linkwise.table.bags import is_bag, read_bag
from linkwise.table.text import SUFFIXES as TEXTS
from linkwise.table.text import read_text
from linkwise.table.writing import SUFFIXES

PATHS = (str, PathLike)


class Options(NamedTuple):
    """What a caller said about the columns, as `read_log` takes it."""

    columns: Any
    units: Mapping[str, Any]
    counts: Any
    gains: Any
    rate: float | None
    gap: float | None
    mend: bool


def tables(source: Any, robot: Robot, options: Options) -> list[tuple[Table, str]]:
    """The tables of a source, each with the channel that its columns are where they do not say it themselves."""
    if isinstance(source, Mapping) and any(isinstance(value, PATHS) for value in source.values()):
        return [(_of_channel(key, value, robot, options), str(key)) for key, value in source.items()]
    if isinstance(source, Mapping):
        return [(read_table(_flat(source)), "")]
    if not isinstance(source, PATHS):
        if not hasattr(source, "reset_index"):
            raise InputError(f"read_log: expected a file, a list of files, or columns by name, got {type(source)}.")
        return [(read_table(source), "")]
    if is_bag(source):
        found = read_bag(source)
        starts = [table.facts["start"] for table in found]
        shifted = [{**t.columns, "t": t.columns["t"] + t.facts["start"] - min(starts)} for t in found]
        return [(replace(t, columns=columns), "") for t, columns in zip(found, shifted, strict=True)]
    suffix = Path(source).suffix.lower()
    if suffix in TEXTS:
        table = read_text(source)
        return [(_ordered(table, robot, options) if isinstance(options.columns, (list, tuple)) else table, "")]
    if suffix not in SUFFIXES:
        every = ", ".join((*SUFFIXES, *TEXTS, *BAGS))
        raise InputError(
            f"{Path(source).name}: expected a name that ends in one of {every}, or the folder of a ROS 2 bag, got"
            f" {suffix or 'no suffix'}."
        )
    return [(read_table(source, named=_numbered), "")]


def _flat(source: Mapping[Any, Any]) -> dict[str, Any]:
    """Columns by name, arrays of several columns taken apart."""
    found: dict[str, Any] = {}
    names = source.get("names")
    for key, value in source.items():
        array = np.asarray(value)
        if key == "names":
            continue
        if array.ndim < 2:
            found[str(key)] = array
            continue
        flat = array.reshape(len(array), -1)
        labels = names if names is not None and len(names) == flat.shape[1] else range(flat.shape[1])
        found |= {f"{key}.{label}": flat[:, k] for k, label in enumerate(labels)}
    return found


def _numbered(key: str, arrays: Mapping[str, Any]) -> list[str]:
    """Names of the columns of an archive's array: by `names`, if there are as many, else by number."""
    whole, names = arrays[key], arrays.get("names")
    if whole.dtype.kind not in "biuf" or not whole.ndim:
        return []
    width = int(np.prod(whole.shape[1:]))
    if whole.ndim == 1:
        return [key]
    labels = [str(n) for n in np.atleast_1d(names)] if names is not None and np.size(names) == width else range(width)
    return [f"{key}.{label}" for label in labels]


def _of_channel(key: Any, value: Any, robot: Robot, options: Options) -> Table:
    """The table of one channel, in a file or an array of its own."""
    if not isinstance(value, PATHS):
        return read_table(_flat({key: value}))
    if Path(value).suffix.lower() in TEXTS:
        return _ordered(read_text(value), robot, options._replace(columns=[str(key)]))
    return read_table(value, named=_numbered)


def _ordered(table: Table, robot: Robot, options: Options) -> Table:
    """A table without names whose columns are those of channels, one after the other.

    Numbers in a single column may also be those of a channel's columns, instant by instant.
    """
    names: list[str] = []
    for key in options.columns:
        if key in TIME or "." in key:
            names.append("t" if key in TIME else key)
        else:
            names += channel_names(robot, key)
    values = list(table.columns.values())
    if len(values) == 1 < len(names) and not len(values[0]) % len(names):
        values = list(values[0].reshape(-1, len(names)).T)
    if len(values) != len(names):
        raise table.error(
            f"expected {len(names)} columns, {listing(names, 8)}, got {len(values)}."
            " Say in `columns` what they are, in their order."
        )
    return replace(table, columns=dict(zip(names, values, strict=True)), faults={}, lines=(), header=0)
