"""The tables of a log's source: files of several forms, arrays, data frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from linkwise.errors import InputError, listing
from linkwise.files import foreign_arrays
from linkwise.motion.log_names import CHANNELS, channel_names, match
from linkwise.motion.units import without_units
from linkwise.robot.robot import Robot
from linkwise.table import TIME, Sampled, Table
from linkwise.table import read as read_table
from linkwise.table.bags import SUFFIXES as BAGS
from linkwise.table.bags import is_bag, read_bag
from linkwise.table.matlab import SUFFIX as MATLAB
from linkwise.table.matlab import read_matlab
from linkwise.table.text import SUFFIXES as TEXTS
from linkwise.table.text import read_text
from linkwise.table.writing import SUFFIXES

PATHS = (str, PathLike)
FORMS = (("t", "q", "tau"), ("t", "q", "qd"), ("t", "q", "qd", "tau"), ("q", "tau"), ("q", "qd", "tau"), ("t", "q"))


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
    if isinstance(source, Sampled):  # a simulation, another log
        source = source.columns()
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
    table = _of_file(source)
    if isinstance(options.columns, (list, tuple)):
        return [(_ordered(table, robot, options), "")]
    if table.header == 0 and Path(source).suffix.lower() in TEXTS:
        raise _nameless(table, robot)
    return [(table, "")]


def _of_file(path: Any) -> Table:
    """The table of a text, an archive of arrays or a Parquet file."""
    suffix = Path(path).suffix.lower()
    if suffix in TEXTS:
        return read_text(path)
    arrays = read_matlab(path) if suffix == MATLAB else foreign_arrays(path) if suffix == ".npz" else None
    if arrays is not None:
        return replace(read_table(_flat(arrays)), source=Path(path).name)
    if suffix in SUFFIXES:
        return read_table(path, named=_numbered)
    every = ", ".join(dict.fromkeys((*SUFFIXES, *TEXTS, MATLAB, *BAGS)))
    raise InputError(
        f"{Path(path).name}: expected a name that ends in one of {every}, or the folder of a ROS 2 bag, got"
        f" {suffix or 'no suffix'}."
    )


def _nameless(table: Table, robot: Robot) -> InputError:
    """What to say of a file without a header: which channels may be in it, by the number of columns."""
    count = len(table.columns)
    if count in (1, robot.nq):
        return InputError(
            f"{table.source}: expected a header with the names of its columns, got none. A file that has one channel"
            f" alone is given with its name, as in {{'q': {table.source!r}, 'tau': ...}}, in a command"
            f" q={table.source}; channels are t, q, qd, tau and current."
        )
    widths = {"t": 1} | {key: len(channel_names(robot, key)) for key in ("q", "qd", "tau")}
    every = [form for form in FORMS if sum(widths[key] for key in form) == count and robot.nq]
    form = every[0] if every else FORMS[0]
    fits = f" {count} columns may be {' or '.join(', '.join(form) for form in every)}." if every else ""
    return InputError(
        f"{table.source}: expected a header with the names of its {count} columns, got none.{fits} Say what they are,"
        f" in their order, as in columns={list(form)}, in a command --column {','.join(form)}; single columns are named"
        " as in q.elbow, and those to leave out None or none; `...` at the end leaves the rest out."
    )


def _flat(source: Mapping[Any, Any]) -> dict[str, Any]:
    """Columns by name, arrays of several columns taken apart."""
    found: dict[str, Any] = {}
    names = source.get("names")
    arrays = {key: np.asarray(value) for key, value in source.items() if key != "names"}
    rows = max((max(x.shape, default=0) for x in arrays.values()), default=0)
    for key, array in arrays.items():
        if array.size == 1 < rows or (array.ndim and array.dtype.kind in "US" and len(array) != rows):
            continue  # a setting, a text
        if array.ndim == 2 and array.shape[0] != rows == array.shape[1]:  # a row for each column
            array = array.T
        if array.ndim < 2 or array.shape == (rows, 1):
            found[str(key)] = array.ravel() if array.ndim else array
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
    table = _of_file(value)
    ours = [] if key in TIME or key not in CHANNELS else channel_names(robot, key)
    if table.header or Path(value).suffix.lower() not in TEXTS:
        known = match(list(without_units(table)[0].columns), robot, {}, key if ours else "").found
        if len(table.columns) != len(ours) or set(ours) <= set(known):
            return table
    return _ordered(table, robot, options._replace(columns=[str(key)]))


def _ordered(table: Table, robot: Robot, options: Options) -> Table:
    """A table without names whose columns are those of channels, one after the other.

    Numbers in a single column may also be those of a channel's columns, instant by instant.
    """
    names: list[str] = []
    for key in options.columns:
        if key in (None, "none"):
            names.append(f"column {len(names) + 1}")
        elif key in (..., "..."):
            names += [f"column {k}" for k in range(len(names) + 1, len(table.columns) + 1)]
        elif key in CHANNELS:
            names += channel_names(robot, key)
        else:
            names.append("t" if key in TIME else key)
    values = list(table.columns.values())
    if len(values) == 1 < len(names) and not len(values[0]) % len(names):
        values = list(values[0].reshape(-1, len(names)).T)
    if len(values) != len(names) == len(values[0]):  # a line for each column
        values = list(np.stack(values, axis=1))
    if len(values) != len(names):
        raise table.error(
            f"expected {len(names)} columns, {listing(names, 8)}, got {len(values)}."
            " Say in `columns` what they are, in their order; `...` at the end leaves the rest out."
        )
    return replace(table, columns=dict(zip(names, values, strict=True)), faults={}, lines=(), header=0)
