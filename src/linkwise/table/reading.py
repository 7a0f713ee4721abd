"""Tables from files, data frames and mappings."""

from __future__ import annotations

import csv
import io
import json
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from linkwise.errors import InputError, LinkwiseError
from linkwise.files import LARGEST, arrays, reading, required
from linkwise.table.table import Table
from linkwise.table.writing import DIGEST, META, SUFFIXES, Array, checked_suffix, digest

Naming = Callable[[str, Mapping[str, Any]], Sequence[str]]  # of the columns of an archive's array; none to leave it out

SEPARATORS = ",;\t"
LONGEST = 1 << 24  # characters of a line


def read(
    source: Any,
    named: Naming | None = None,
    what: str = "a table of numbers",
    suffixes: Sequence[str] = SUFFIXES,
) -> Table:
    """The table of a file, a pandas DataFrame, or columns by name.

    Args:
        source: a .csv, .npz or .parquet file; a data frame, whose index is a column if it has a name; a mapping.
        named: names of the columns of arrays in an archive that does not tell; numbers if not given.
        what: a file should be, for messages.
        suffixes: of files that will do.
    """
    if hasattr(source, "reset_index"):
        frame = source.reset_index() if source.index.name is not None else source
        _refuse_twice(Table({}, "data frame"), list(frame.columns))
        return _of_columns("data frame", {str(name): frame[name].to_numpy() for name in frame.columns})
    if isinstance(source, Mapping):
        return _of_columns("columns", {str(name): np.asarray(column) for name, column in source.items()})
    suffix = checked_suffix(source, suffixes)
    path, otherwise = Path(source), f"expected {what}, got something else, or a part of it."
    if suffix == ".csv":
        return _read_csv(path, otherwise)
    return _read_npz(path, otherwise, named or _numbered) if suffix == ".npz" else _read_parquet(path, otherwise)


def _of_columns(source: str, given: Mapping[str, Any], facts: Mapping[str, Any] | None = None) -> Table:
    """Columns of numbers; others are faults, refused when they are asked for."""
    columns: dict[str, Array] = {}
    faults = {}
    for name, column in given.items():
        if column.dtype.kind in "biuf" and column.ndim == 1:
            columns[name] = np.asarray(column, dtype=float)
        elif column.dtype.kind in "Mm" and column.ndim == 1:  # dates are s since 1970
            whole = column.astype(f"{column.dtype.kind}8[ns]")
            columns[name] = np.where(np.isnat(whole), np.nan, whole.astype(np.int64) * 1e-9)
        else:
            cells = np.atleast_1d(column)
            columns[name], faults[name] = np.full(len(cells), np.nan), (0, str(cells[:1])[1:40].rstrip("]"))
    _refuse_lengths(table := Table(columns, source, facts or {}, faults=faults))
    return table


def _read_parquet(path: Path, otherwise: str) -> Table:
    parquet = required("pyarrow.parquet", "read")
    with reading(path, otherwise) as file, parquet.ParquetFile(file) as opened:
        if 8 * opened.metadata.num_rows * opened.metadata.num_columns > LARGEST:
            raise ValueError("more numbers than can be kept")
        whole = opened.read()
        columns = {name: whole[name].to_numpy() for name in whole.column_names}
        kept = whole.schema.metadata or {}
        meta = kept.get(META, b"{}").decode()
        if DIGEST in kept and kept[DIGEST] != digest(columns, meta):
            raise ValueError("another digest than that of the data")
        return _of_columns(path.name, columns, _facts(meta))


def _facts(meta: str) -> dict[str, Any]:
    """What was kept as JSON, if it is such."""
    try:
        found = json.loads(meta)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _numbered(key: str, found: Mapping[str, Any]) -> list[str]:
    """Columns of an array by their place, those of texts left out."""
    whole = found[key]
    if whole.dtype.kind not in "biuf" or not whole.ndim:
        return []
    return [key] if whole.ndim == 1 else [f"{key}.{k}" for k in range(int(np.prod(whole.shape[1:])))]


def _read_npz(path: Path, otherwise: str, named: Naming) -> Table:
    with reading(path, otherwise) as file:
        found = arrays(file)
        facts = _facts(str(found.pop("meta", "{}")))
    listed = found.pop("columns", None)
    columns: dict[str, Array] = {}
    table = Table(columns, path.name, facts)
    if listed is not None:
        every = [str(name) for name in np.atleast_1d(listed)]
        _refuse_twice(table, every)
        groups: dict[str, list[str]] = {}
        for name in every:
            groups.setdefault(name.split(".")[0], []).append(name)
        if lost := [key for key in groups if key not in found]:
            raise table.error(f"expected an array {lost[0]!r}, of which columns are listed, got none.")
    for key, whole in found.items():
        try:
            names = groups.get(key, ()) if listed is not None else named(key, found)
        except LinkwiseError as error:
            raise table.error(str(error)) from error
        if names:
            columns.update(zip(names, _split(table, key, whole, names), strict=True))
    _refuse_lengths(table)
    return table


def _split(table: Table, key: str, whole: Any, names: Sequence[str]) -> Array:
    """The columns of an array, one after the other."""
    if whole.dtype.kind not in "biuf":
        raise table.error(f"array {key!r}: expected real numbers, got {whole.dtype}.")
    if not whole.ndim or np.prod(whole.shape[1:]) != len(names):
        raise table.error(
            f"array {key!r}: expected the shape (rows, {len(names)}), got {whole.shape}."
            f" Its columns are {', '.join(names)}."
        )
    return np.asarray(whole, dtype=float).reshape(len(whole), len(names)).T


def _refuse_twice(table: Table, names: Sequence[Any]) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            raise table.error(f"expected each column once, got {name!r} twice. Rename or remove one.")


def _refuse_lengths(table: Table) -> None:
    lengths = {name.split(".")[0]: len(column) for name, column in table.columns.items()}
    if len(set(map(len, table.columns.values()))) > 1:
        rows = ", ".join(f"{k} {v}" for k, v in lengths.items())
        raise table.error(f"expected arrays with as many rows each, got {rows}.")


def _read_csv(path: Path, otherwise: str) -> Table:
    """A text of numbers.

    The separator is whichever of comma, semicolon and tab the header uses most, or blanks where it uses none of these.
    Between semicolons or tabs numbers may have decimal commas.
    Blank lines and lines that begin with `#` are skipped, but the header itself may begin with `#`.
    """
    with (
        reading(path, otherwise) as file,
        io.TextIOWrapper(file, encoding="utf-8-sig", newline="\n") as text,
    ):
        try:
            return _rows(path.name, _lines(text, path.name))
        except UnicodeDecodeError as error:
            message = f"{path.name}: expected a text in UTF-8, got other bytes. Is it a CSV file?"
            raise InputError(message) from error
        except csv.Error as error:
            message = f"{path.name}: expected a table separated by commas, got one with a fault: {error}."
            raise InputError(message) from error


def _rows(name: str, text: Iterator[tuple[int, str]]) -> Table:
    first, head = next(text, (0, ""))
    if not first:
        raise InputError(f"{name}: expected a header and rows of numbers, got an empty file.")
    head = head.lstrip("# ")
    separator = max(SEPARATORS, key=head.count)
    blank = separator not in head
    names = [cell.strip() for cell in (head.split() if blank else next(csv.reader([head], delimiter=separator)))]
    lines: list[int] = []
    faults: dict[str, tuple[int, str]] = {}
    table = Table({}, name, {}, lines, first, faults)
    if all(number(cell) is not None for cell in names):
        raise table.error("expected a header that names the columns, such as t,shoulder,elbow; got numbers.")
    if "" in names:
        raise table.error("expected a name for every column, got an empty one.")
    _refuse_twice(table, names)
    values, limit = array("d"), csv.field_size_limit()
    for k, line in text:
        if line.lstrip().startswith("#"):
            continue
        if separator != "," and not blank:
            line = line.replace(",", ".")
        plain = '"' not in line and len(line) <= limit
        row = line.split(None if blank else separator) if plain else next(csv.reader([line], delimiter=separator))
        lines.append(k)
        if len(row) != len(names):
            raise table.error(f"expected {len(names)} cells as in the header, got {len(row)}.", "row", -1)
        try:
            if "_" in line or not line.isascii():  # in which Python sees numbers where nobody else does
                raise ValueError
            values.extend(list(map(float, row)))
        except ValueError:
            for title, cell in zip(names, row, strict=True):
                x = number(cell)
                values.append(np.nan if x is None else x)
                if x is None:
                    faults.setdefault(title, (len(lines) - 1, cell))
    if not lines:
        raise table.error("expected rows of numbers after the header, got none.")
    columns = np.frombuffer(values).reshape(len(lines), len(names)).T
    return Table(dict(zip(names, columns, strict=True)), name, {}, lines, first, faults)


def number(cell: str) -> float | None:
    """The number that a cell says, if any; Python's own liberties (1_000, digits of other scripts) are none."""
    cell = cell.strip()
    try:
        return float(cell) if cell.isascii() and "_" not in cell else None
    except ValueError:
        return None


def _lines(text: TextIO, name: str) -> Iterator[tuple[int, str]]:
    """The lines of a text that are not blank, with their numbers."""
    k = 0
    while line := text.readline(LONGEST):
        k += 1
        if len(line) == LONGEST:
            raise InputError(
                f"{name}:{k}: expected at most {LONGEST} characters in a line, got more. Is it a CSV file?"
            )
        if line.strip():
            yield k, line.rstrip("\r\n")
