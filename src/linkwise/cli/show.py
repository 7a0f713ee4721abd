"""Output: tables and trees for people, JSON for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from linkwise.errors import printable

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

WIDE = 160  # columns of output that is not a terminal's
SHORT = 13  # characters; shorter cells are never broken
TO_KEEP_A_MOTION = "To keep the motion, give --output FILE.npz, FILE.csv or FILE.parquet; to see it, --plot FILE.png."


def console() -> Console:
    """Where tables go: the terminal with its width, or a wide plain text."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else WIDE
    return Console(width=width, highlight=False, markup=False, emoji=False, soft_wrap=False)


def line(text: str = "", **style: Any) -> None:
    """Print one line, in which names and paths stand for nothing but themselves."""
    text = printable(text)
    click.echo(click.style(text, **style) if style else text)


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], right: Sequence[str] = ()) -> None:
    """Print rows under a head; columns named in `right` are set flush right."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    cells = [[cell if isinstance(cell, Text) else Text(printable(str(cell))) for cell in row] for row in rows]
    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold", padding=(0, 1, 0, 0))
    for k, title in enumerate(head):
        short = all(len(row[k]) <= SHORT for row in cells)
        grid.add_column(title, justify="right" if title in right else "left", overflow="fold", no_wrap=short)
    for row in cells:
        grid.add_row(*row)
    out = console()
    with out.capture() as captured:
        out.print(grid)
    for row_of_text in captured.get().splitlines():
        click.echo(row_of_text.rstrip())


def title(text: str, **style: Any) -> None:
    """Print a headline above what follows."""
    line()
    line(text, bold=True, **style)


def level(name: str) -> Any:
    """The level of a diagnostic, coloured."""
    from rich.text import Text

    return Text(name, style={"error": "bold red", "warning": "yellow"}.get(name, "dim"))


def as_json(data: Any) -> None:
    """Print data as JSON."""
    click.echo(json.dumps(data, indent=1, allow_nan=False))


def number(x: float | None) -> str:
    """A number for reading, empty for None."""
    return "" if x is None else f"{x:.6g}"


def written(files: Mapping[str, Path | None], remedy: str = "") -> None:
    """Say which files were written, or what to do for one."""
    for what, path in files.items():
        if path:
            line(f"{what} in {path}")
    if remedy and not any(files.values()):
        line(remedy)


def plural(n: int, word: str) -> str:
    """A number and the word for what is counted."""
    return f"{n} {word}" + ("" if n == 1 else "s")
