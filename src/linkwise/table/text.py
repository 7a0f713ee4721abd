"""Tables from text as loggers write it: any separator, titles, comments, units, with or without a header."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from linkwise.errors import InputError, listing
from linkwise.files import reading
from linkwise.table.reading import LONGEST, number
from linkwise.table.table import Table
from linkwise.table.writing import Array

SUFFIXES = (".csv", ".txt", ".dat", ".tsv", ".log")
SEPARATORS = ";\t,"  # the first one that a row has; blanks if none
COMMENTS = "#%"
LOOKED_AT = 64  # lines among which the header and the first row are
ODD = 0.01  # of the lines: so many may be messages, or not whole
MISSING = ("", "na", "n/a", "null", "none", "-", "--")
UNIT = re.compile(
    r"[\[(]?\s*((?:rad|deg|degrees?|°|turns?|rev|rpm|mm?|[mun]?s|m?A|m?Nm|N ?m|N)(?:\s*/\s*s(?:\^?[23]|²|³)?)?|-|%|V)?"
    r"\s*[\])]?"
)
LISTED = re.compile(r"[^\[(]*(?:\([^\[(]*)?[\[(]([-+.\deE,\s]+)[\])]\s*\)?")
LIST = re.compile(r'"[^"\[(]*(?:\([^"\[(]*)?[\[(][-+.\deE,\s]+[\])][^"]*"')
WRAPPED = re.compile(r"np\.float\d+\(([^)]*)\)")  # as NumPy writes numbers of a list
CLOCK = re.compile(r"(\d{1,2}):(\d\d):(\d\d(?:\.\d+)?)")

Lines = list[tuple[int, str]]  # with their numbers
Cells = tuple[Array, list[int], dict[int, tuple[int, str]], tuple[str, ...]]


class Form(NamedTuple):
    """How a text is written.

    Attributes:
        separator: of cells; None for blanks.
        names: of the columns, with units; empty where there is no header.
        header: its place among the lines, and that of the first row.
        first: likewise.
        width: cells in a row.
    """

    separator: str | None
    names: list[str]
    header: int
    first: int
    width: int


def read_text(source: Any) -> Table:
    """The table of a text; columns without a header are named "0", "1", ... and `header` is zero then.

    Lines before the header are left out, and those that begin with `#` or `%`, though the last of these may be the
    header. A line of units below the header goes to the names. Where cells are separated by anything but a comma,
    numbers may have one. Cells may be dates. A few lines with another number of cells are left out, with a note.
    """
    path = Path(source)
    with reading(path, "expected a text of rows of numbers, got something else.") as file:
        lines = _unlisted(_lines(file.read(), path.name))
    form = _form(lines, path.name)
    body = [(k, line) for k, line in lines[form.first :] if line[0] not in COMMENTS]
    if form.separator != "," and any("," in line for _, line in body[:LOOKED_AT]):
        body = [(k, line.replace(",", ".")) for k, line in body]
    try:
        values = np.loadtxt([line for _, line in body], delimiter=form.separator, ndmin=2, comments=None)
        if values.shape[1] != form.width:
            raise ValueError("another number of columns")
        found: Cells = values, [k for k, _ in body], {}, ()
    except ValueError:
        found = _by_cells(body, form, path.name)
    values, rows, faults, notes = found
    names = form.names or [str(k) for k in range(form.width)]
    titles = [name or f"column {k + 1}" for k, name in enumerate(names)]
    line = lines[form.header][0] if form.names else 0
    for name, count in Counter(titles).items():
        if count > 1:
            raise InputError(
                f"{path.name}:{line}: expected each column once, got {name!r} {count} times. Rename or remove some."
            )
    kept = [k for k, name in enumerate(names) if name or np.isfinite(values[:, k]).any()]
    columns = {titles[k]: np.ascontiguousarray(values[:, k]) for k in kept}
    bad = {titles[k]: fault for k, fault in faults.items() if k in kept}
    return Table(columns, path.name, {}, rows, line, bad, notes)


def _lines(data: bytes, name: str) -> Lines:
    """Lines that are not blank, with their numbers; of a text in UTF-8, UTF-16, or as old Windows programs write it."""
    wide = data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    try:
        text = data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    if "\0" in text:
        raise InputError(f"{name}: expected a text of rows of numbers, got other bytes. Is it a text?")
    every = text.splitlines()
    for k, line in enumerate(every, 1):
        if len(line) >= LONGEST:
            raise InputError(f"{name}:{k}: expected at most {LONGEST} characters in a line, got more. Is it a text?")
    lines = [(k, bare) for k, line in enumerate(every, 1) if (bare := line.strip(" \r\n"))]
    if not lines:
        raise InputError(f"{name}: expected rows of numbers, got an empty file.")
    return lines


def _unlisted(lines: Lines) -> Lines:
    """Lines in which cells that are lists of numbers are as many cells, as of messages in a data frame."""
    if any("np.float" in line for _, line in lines[:LOOKED_AT]):
        lines = [(k, WRAPPED.sub(r"\1", line)) for k, line in lines]
    sample = next((line for _, line in lines[:LOOKED_AT] if LIST.search(line)), "")
    if not sample:
        return lines
    separator = next((s for s in SEPARATORS if s in LIST.sub("", sample)), ",")
    widths = [len(_items(cell)) for cell in cells_of(sample, separator)]
    found = []
    for k, line in lines:
        cells = cells_of(line, separator)
        if len(cells) == len(widths):
            parts = [_items(cell) or ([f"{cell}.{i}" for i in range(w)] if w else [cell.replace(",", " ")])
                     for cell, w in zip(cells, widths, strict=True)]  # fmt: skip
            line = ",".join(part for group in parts for part in group)
        found.append((k, line))
    return found


def _items(cell: str) -> list[str]:
    """The numbers of a list, none for any other cell."""
    hit = LISTED.fullmatch(cell)
    return [part.strip() for part in re.split(r"[,\s]+", hit[1].strip(" ,"))] if hit else []


def cells_of(line: str, separator: str | None) -> list[str]:
    """The cells of a line, without blanks around them."""
    if separator is None:
        return line.split()
    found = next(csv.reader([line], delimiter=separator)) if '"' in line else line.split(separator)
    return [cell.strip() for cell in found]


def _form(lines: Lines, name: str) -> Form:
    looked = [line for _, line in lines[:LOOKED_AT] if line[0] not in COMMENTS]
    if not looked:
        raise InputError(f"{name}: expected rows of numbers, got comments alone.")
    sample = looked[len(looked) // 2]
    separator = next((s for s in SEPARATORS if s in sample), None)
    width = len(cells_of(sample, separator))

    def is_row(line: str) -> bool:
        cells = [cell for cell in cells_of(line, separator) if cell]
        known = sum(value_of(cell.replace(",", ".")) is not None for cell in cells)
        numbered = width > 1 and cells == list(map(str, range(width)))  # a header of numbers, as of a data frame
        return line[0] not in COMMENTS and 2 * known >= max(len(cells), 1) and not numbered

    first = next((k for k, (_, line) in enumerate(lines[:LOOKED_AT]) if is_row(line)), None)
    if first is None:
        raise InputError(
            f"{name}:{lines[0][0]}: expected rows of numbers below a header, got none in the first {LOOKED_AT} lines."
        )
    units: list[str] = []
    for k in range(first - 1, -1, -1):
        names = _header(lines[k][1], separator, width)
        if names and not units and k and all(UNIT.fullmatch(cell) for cell in names):
            units = names
        elif names:
            known = [hit[1] if (hit := UNIT.fullmatch(cell)) else "" for cell in units or [""] * width]
            named = [f"{n} [{u}]" if u and "[" not in n else n for n, u in zip(names, known, strict=True)]
            return Form(separator, named, k, first, width)
    before = [cells for _, line in lines[:first] if len(cells := cells_of(line, separator)) > 1]
    if before and separator and lines[first - 1][1][0] not in COMMENTS:
        raise InputError(
            f"{name}:{lines[first][0]}: expected {len(before[-1])} cells as in the header, got {width}. The header is"
            f" {listing(before[-1], 12)}."
        )
    return Form(separator, [], 0, first, width)


def _header(line: str, separator: str | None, width: int) -> list[str]:
    """The names in a line, if there are as many as cells in a row; a separator may be missing at its end."""
    bare = line.lstrip(COMMENTS + " ") if line[0] in COMMENTS else line
    for mark in (separator, *SEPARATORS, None):
        cells = cells_of(bare, mark)
        cells += [""] * (len(cells) == width - 1 and mark == separator is not None)
        if len(cells) == width and any(cells):
            return cells
    return []


def value_of(cell: str) -> float | None:
    """The number in a cell; dates are s since 1970, times of day s since midnight."""
    if (x := number(cell)) is not None:
        return x
    if hit := CLOCK.fullmatch(cell):
        return 3600.0 * int(hit[1]) + 60.0 * int(hit[2]) + float(hit[3])
    if len(cell) < 10 or cell[4] not in "-/" or not cell[:4].isdigit():
        return None
    try:
        date = datetime.fromisoformat(cell.replace("/", "-"))
    except ValueError:
        return None
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()


def _by_cells(body: Lines, form: Form, name: str) -> Cells:
    """Rows of numbers, their lines, by column the first cell that is none, and notes: cell by cell."""
    rows: list[list[float]] = []
    lines: list[int] = []
    odd: list[tuple[int, int]] = []
    faults: dict[int, tuple[int, str]] = {}
    for k, line in body:
        cells = cells_of(line, form.separator)
        if len(cells) != form.width:
            odd.append((k, len(cells)))
            continue
        row = []
        for place, cell in enumerate(cells):
            x = value_of(cell)
            row.append(np.nan if x is None else x)
            if x is None and cell.lower() not in MISSING:
                faults.setdefault(place, (len(rows), cell))
        rows.append(row)
        lines.append(k)
    cut = len(odd) == 1 and odd[0][0] == body[-1][0]  # where a logger was stopped
    if not rows or (len(odd) > ODD * len(body) and not cut):
        k, count = odd[0]
        raise InputError(f"{name}:{k}: expected {form.width} cells as in most lines, got {count}.")
    notes = [f"{len(odd)} lines have another number of cells than the others and were left out, first line {k}"
             for k, _ in odd[:1]]  # fmt: skip
    notes = [f"the last line, {odd[0][0]}, is not whole and was left out"] if cut else notes
    return np.array(rows), lines, faults, tuple(notes)
