"""Comma-separated files: a header of names, then a row of numbers for each sample."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from linkwise.errors import InputError
from linkwise.trajectory.columns import Columns
from linkwise.trajectory.trajectory import Array

SEPARATORS = ",;\t"


class CsvColumns(Columns):
    """A table whose cells become numbers when a column is asked for.

    The separator is whichever of comma, semicolon and tab the header uses most. Blank lines and lines that begin with
    `#` are skipped, but the header itself may begin with `#`.
    """

    def __init__(self, path: Path) -> None:
        self.file = path.name
        try:
            text = path.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError as error:
            raise InputError(f"{self.file}: expected a text in UTF-8, got other bytes. Is it a CSV file?") from error
        lines = [(k, line) for k, line in enumerate(text.split("\n"), start=1) if line.strip()]
        if not lines:
            raise InputError(f"{self.file}: expected a header and rows of numbers, got an empty file.")
        first, head = lines[0]
        self.header = f"{self.file}:{first}"
        head = head.lstrip("# ")
        separator = max(SEPARATORS, key=head.count)
        body = [(k, line) for k, line in lines[1:] if not line.lstrip().startswith("#")]
        self._lines = [k for k, _ in body]
        try:
            self._names = [name.strip() for name in next(csv.reader([head], delimiter=separator))]
            self._rows = list(csv.reader((line for _, line in body), delimiter=separator))
        except csv.Error as error:
            raise InputError(
                f"{self.file}: expected a table separated by commas, got one with a fault: {error}."
            ) from error
        self._check()

    def _check(self) -> None:
        if all(_is_number(name) for name in self._names):
            raise self.error("expected a header that names the columns, such as t,shoulder,elbow; got numbers.")
        for name in self._names:
            if not name:
                raise self.error("expected a name for every column, got an empty one.")
            if self._names.count(name) > 1:
                raise self.error(f"expected each column once, got {name!r} twice. Rename or remove one.")
        if not self._rows:
            raise self.error("expected rows of numbers after the header, got none.")
        for k, row in zip(self._lines, self._rows, strict=False):
            if len(row) != len(self._names):
                message = f"expected {len(self._names)} cells as in the header, got {len(row)}."
                raise self.error(message, f"{self.file}:{k}")

    def names(self) -> list[str]:
        return self._names

    def column(self, name: str) -> Array:
        j = self._names.index(name)
        try:
            return np.array([float(row[j]) for row in self._rows])
        except ValueError:
            k = next(k for k, row in enumerate(self._rows) if not _is_number(row[j]))
            cell = self._rows[k][j]
            raise self.error(f"column {name!r}: expected a number, got {cell!r}.", self.place(name, k)) from None

    def place(self, name: str, row: int) -> str:
        return f"{self.file}:{self._lines[row]}"


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
