"""Cards: what notebooks show of an object. All text is escaped here, and nowhere else.

An object's `_repr_html_` gives `card(title, part, ...)`, whose parts are made by the functions below.
"""

from __future__ import annotations

import html
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from linkwise.errors import printable

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8f6fd6", "#a6a118", "#7a8691", "#b5533c")
WIDE, HIGH, EDGE = 260, 90, 4  # of a plot, in pixels
POINTS = 240  # of a line
ROWS = 60  # of a table
NAMED = len(COLOURS)  # lines in a legend
HEIGHT = 520  # of a page in a notebook, in pixels

Lines = tuple[Sequence[str], Any]  # names, and columns (rows, names)


def text(given: object) -> str:
    """Any text as a page can hold it."""
    return html.escape(printable(str(given)))


def card(title: object, *parts: str) -> str:
    """A title and parts below each other, in the colours of the page around them."""
    whole = "".join(parts)
    return (
        '<div style="font-family:system-ui,sans-serif;font-size:13px;line-height:1.45;max-width:960px">'
        f'<div style="font-weight:600;margin-bottom:4px;overflow-wrap:anywhere">{text(title)}</div>{whole}</div>'
    )


def line(given: object) -> str:
    """A line of text."""
    return f'<div style="opacity:0.8;margin:2px 0;overflow-wrap:anywhere">{text(given)}</div>'


def lines(given: Iterable[object]) -> str:
    """Some of them."""
    return "".join(map(line, given))


def table(head: Sequence[object], rows: Iterable[Sequence[object]], most: int = ROWS) -> str:
    """Rows under a head; of many the first ones."""
    cell = "padding:2px 12px 2px 0;text-align:left;vertical-align:top;overflow-wrap:anywhere"
    given = list(rows)
    top = "".join(f'<th style="{cell}">{text(x)}</th>' for x in head)
    body = "".join(
        "<tr>" + "".join(f'<td style="{cell}">{text(x)}</td>' for x in row) + "</tr>" for row in given[:most]
    )
    more = line(f"... and {len(given) - most} more") if len(given) > most else ""
    style = "border-collapse:collapse;font-size:inherit"
    return f'<table style="{style}"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>{more}'


def folded(title: object, *parts: str) -> str:
    """Parts that open when their title is clicked."""
    return f'<details style="margin:4px 0"><summary>{text(title)}</summary>{"".join(parts)}</details>'


def plots(t: Any, curves: Mapping[str, Lines]) -> str:
    """Small plots beside each other, a line for each column, and a legend of the first names."""
    drawn = [_plot(title, t, values) for title, (names, values) in curves.items() if len(names)]
    return f'<div style="display:flex;flex-wrap:wrap;gap:14px">{"".join(drawn)}</div>{_legend(curves)}' if drawn else ""


def _plot(title: str, t: Any, values: Any) -> str:
    step = max(1, math.ceil(len(t) / POINTS))
    rows = [*range(0, len(t), step)]
    rows += [len(t) - 1] if rows[-1:] != [len(t) - 1] and len(t) else []
    times = [float(t[k]) for k in rows]
    columns = [[float(values[k][j]) for k in rows] for j in range(len(values[0]))] if rows else []
    known = [y for column in columns for y in column if math.isfinite(y)]
    low, high = min(known, default=0.0), max(known, default=0.0)
    across = (WIDE - 2 * EDGE) / ((times[-1] - times[0]) or 1.0) if times else 1.0
    up = (HIGH - 2 * EDGE) / ((high - low) or 1.0)

    def place(x: float, y: float) -> str:
        return f"{EDGE + (x - times[0]) * across:.1f} {HIGH - EDGE - (y - low) * up:.1f}"

    paths = []
    for j, column in enumerate(columns):
        d, pen = [], "M"
        for x, y in zip(times, column, strict=True):
            fine = math.isfinite(y)
            d += [pen + place(x, y)] if fine else []
            pen = "L" if fine else "M"
        paths.append(f'<path d="{"".join(d)}" fill="none" stroke="{COLOURS[j % len(COLOURS)]}" stroke-width="1.4"/>')
    caption = f"{text(title)}: {low:.4g} to {high:.4g}"
    return (
        f'<figure style="margin:4px 0"><figcaption style="opacity:0.8">{caption}</figcaption>'
        f'<svg width="{WIDE}" height="{HIGH}" viewBox="0 0 {WIDE} {HIGH}" role="img" aria-label="{text(title)}"'
        f' xmlns="http://www.w3.org/2000/svg"><rect x="0.5" y="0.5" width="{WIDE - 1}" height="{HIGH - 1}" fill="none"'
        f' stroke="currentColor" stroke-opacity="0.25"/>{"".join(paths)}</svg></figure>'
    )


def _legend(curves: Mapping[str, Lines]) -> str:
    names = max((names for names, _ in curves.values()), key=len, default=())
    marks = "".join(
        f'<span style="margin-right:10px"><span style="color:{colour}">&#9632;</span> {text(name)}</span>'
        for colour, name in zip(COLOURS, names, strict=False)
    )
    more = f"... and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f'<div style="overflow-wrap:anywhere">{marks}{text(more)}</div>'


# ---- pages inside of notebooks


def in_notebook() -> bool:
    """Whether a notebook runs this, which shows HTML; asked without importing IPython."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and type(shell).__name__ not in ("TerminalInteractiveShell", "InteractiveShellEmbed")


def framed(address: str) -> str:
    """A page of this machine inside of a notebook."""
    return f'<iframe src="{text(address)}" {_frame("allow-scripts allow-same-origin")}></iframe>'


def inline(page: str, title: str) -> str:
    """A whole page inside of a notebook, in a frame that cannot reach the notebook."""
    return f'<iframe srcdoc="{html.escape(page)}" title="{text(title)}" {_frame("allow-scripts")}></iframe>'


def _frame(allowed: str) -> str:
    return f'sandbox="{allowed}" allow="fullscreen" style="width:100%;height:{HEIGHT}px;border:0;border-radius:6px"'
