"""Tables from plain text: numbers separated by blanks or commas, with or without a header."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.errors import InputError, listing
from linkwise.files import reading
from linkwise.table.reading import LONGEST, number
from linkwise.table.table import Table

SUFFIXES = (".txt", ".dat", ".tsv")
COMMENTS = "#%"


def read_text(source: Any) -> Table:
    """The table of a text; columns without a header are named "0", "1", ..."""
    path = Path(source)
    otherwise = "expected a text of rows of numbers, got something else, or rows of different lengths."
    with reading(path, otherwise) as file, io.TextIOWrapper(file, encoding="utf-8-sig") as text:
        first = _first_row(text, path.name)
        separator = max(",;\t", key=first.count)
        blank = separator not in first
        cells = [cell.strip() for cell in (first.split() if blank else first.split(separator))]
        headed = any(number(cell) is None for cell in cells)
        text.seek(0)
        lines = _rows(text, first if headed else "")
        values = np.loadtxt(lines, delimiter=None if blank else separator, ndmin=2, comments=None)
    names = [cell.lstrip(COMMENTS).strip() for cell in cells] if headed else [str(k) for k in range(values.shape[1])]
    if headed and len(names) == values.shape[1] + 1 and not names[0]:  # the mark of a comment stood alone
        names = names[1:]
    if len(names) != values.shape[1] or len(set(names)) < len(names):
        raise InputError(
            f"{path.name}: expected a header of {values.shape[1]} different names, got {listing(names, 12)}."
        )
    return Table(dict(zip(names, values.T, strict=True)), path.name)


def _first_row(text: io.TextIOWrapper, name: str) -> str:
    """The header, or the first row of numbers."""
    while line := text.readline(LONGEST):
        if len(line) == LONGEST:
            raise InputError(f"{name}: expected at most {LONGEST} characters in a line, got more. Is it a text?")
        if line.strip() and line.lstrip()[0] not in COMMENTS:
            return line.strip()
    raise InputError(f"{name}: expected rows of numbers, got an empty file.")


def _rows(text: io.TextIOWrapper, header: str) -> Iterator[str]:
    """Lines of numbers."""
    for line in text:
        bare = line.strip()
        if bare and bare[0] not in COMMENTS and bare != header:
            yield bare
