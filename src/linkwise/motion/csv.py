"""Comma-separated files: a header of names, then a row of numbers for each sample."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TextIO

import numpy as np

from linkwise.errors import InputError
from linkwise.files import reading
from linkwise.formats.xml import to_float
from linkwise.motion.columns import Columns
from linkwise.motion.trajectory import Array

SEPARATORS = ",;\t"
LONGEST = 1 << 24  # characters of a line
BLOCK = 1 << 16  # cells that become numbers at once


class CsvColumns(Columns):
    """A table of numbers; a cell that is none is an error when its column is asked for.

    The separator is whichever of comma, semicolon and tab the header uses most. Blank lines and lines that begin with
    `#` are skipped, but the header itself may begin with `#`.
    """

    def __init__(self, path: Path) -> None:
        self.file = path.name
        self._blocks: list[Array] = []
        self._lines: list[int] = []  # of rows
        self._faults: dict[int, tuple[int, str]] = {}  # of columns: the first row without a number, and what is there
        with (
            reading(path, "expected a table of numbers, got something else.") as file,
            io.TextIOWrapper(file, encoding="utf-8-sig", newline="\n") as text,
        ):
            try:
                self._read(_lines(text, self.file))
            except UnicodeDecodeError as error:
                message = f"{self.file}: expected a text in UTF-8, got other bytes. Is it a CSV file?"
                raise InputError(message) from error
            except csv.Error as error:
                message = f"{self.file}: expected a table separated by commas, got one with a fault: {error}."
                raise InputError(message) from error

    def _read(self, lines: Iterator[tuple[int, str]]) -> None:
        first, head = next(lines, (0, ""))
        if not first:
            raise InputError(f"{self.file}: expected a header and rows of numbers, got an empty file.")
        self.header = f"{self.file}:{first}"
        head = head.lstrip("# ")
        separator = max(SEPARATORS, key=head.count)
        self._names = [name.strip() for name in next(csv.reader([head], delimiter=separator))]
        self._check_names()
        rows: list[list[str]] = []
        for k, line in lines:
            if line.lstrip().startswith("#"):
                continue
            plain = '"' not in line and len(line) <= csv.field_size_limit()
            row = line.split(separator) if plain else next(csv.reader([line], delimiter=separator))
            if len(row) != len(self._names):
                message = f"expected {len(self._names)} cells as in the header, got {len(row)}."
                raise self.error(message, f"{self.file}:{k}")
            self._lines.append(k)
            rows.append(row)
            if len(rows) * len(row) >= BLOCK:
                self._keep(rows)
                rows = []
        self._keep(rows)
        if not self._lines:
            raise self.error("expected rows of numbers after the header, got none.")

    def _check_names(self) -> None:
        if all(to_float(name.strip()) is not None for name in self._names):
            raise self.error("expected a header that names the columns, such as t,shoulder,elbow; got numbers.")
        for name, count in Counter(self._names).items():
            if not name:
                raise self.error("expected a name for every column, got an empty one.")
            if count > 1:
                raise self.error(f"expected each column once, got {name!r} twice. Rename or remove one.")

    def _keep(self, rows: list[list[str]]) -> None:
        """Turn rows of cells into numbers."""
        begin = len(self._lines) - len(rows)
        try:
            numbers = _numbers(list(chain.from_iterable(rows)))
            self._blocks.append(numbers.reshape(len(rows), len(self._names)))
        except ValueError:
            block = np.full((len(rows), len(self._names)), np.nan)
            for j, cells in enumerate(zip(*rows, strict=True)):
                values = [to_float(cell.strip()) for cell in cells]
                if None in values:
                    k = values.index(None)
                    self._faults.setdefault(j, (begin + k, cells[k]))
                else:
                    block[:, j] = values
            self._blocks.append(block)

    def names(self) -> list[str]:
        return self._names

    def column(self, name: str) -> Array:
        j = self._names.index(name)
        if j in self._faults:
            k, cell = self._faults[j]
            raise self.error(f"column {name!r}: expected a number, got {cell!r}.", self.place(name, k))
        return np.concatenate([block[:, j] for block in self._blocks])

    def place(self, name: str, row: int) -> str:
        return f"{self.file}:{self._lines[row]}"


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


def _numbers(cells: Sequence[str]) -> Array:
    """Cells as numbers; Python's own liberties (1_000, digits of other scripts) are none."""
    joined = "".join(cells)
    if "_" in joined or not joined.isascii():
        raise ValueError
    return np.array(list(map(float, cells)))
