"""Pictures inside pages that are read by day and by night."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from linkwise.figures import COLOURS, INK, LINE, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REM_PER_INCH = 6.25  # 9.6 inches fill a page


def panels(t: Any, curves: Mapping[str, Any], marks: Mapping[str, tuple[Any, Any]], xlabel: str, marked: str) -> Figure:
    """Small pictures side by side, one for each curve, with marks such as published values on it.

    Args:
        t: abscissae of all curves.
        curves: ordinates by title.
        marks: for a title, abscissae and ordinates of points.
        xlabel: below the lowest pictures.
        marked: what the marks are, for the legend.
    """
    from matplotlib.figure import Figure

    columns = min(3, len(curves))
    rows = -(-len(curves) // columns)
    with style():
        figure = Figure(figsize=(3.1 * columns, 0.45 + 2.05 * rows), layout="constrained")
        grid = figure.subplots(rows, columns, sharex=True, squeeze=False)
        for k, (title, y) in enumerate(curves.items()):
            axes = grid[k // columns][k % columns]
            axes.plot(t, y, color=LINE)
            if title in marks:
                axes.plot(*marks[title], ls="", marker="o", ms=4.5, color=COLOURS[1], label=marked)
            axes.set_title(title)
        for axes in grid.flat[len(curves) :]:
            axes.set_visible(False)
        for axes in grid[-1]:
            axes.set_xlabel(xlabel)
        handles, labels = grid[0][0].get_legend_handles_labels()
        if handles:
            figure.legend(handles, labels, loc="outside upper right")
    return figure


def inline_svg(figure: Figure, prefix: str, title: str) -> str:
    """A picture as SVG inside a page: transparent, in the page's text colour, with ids of its own and a title.

    Narrow pictures stay narrow, so that their text is as large as that of others.
    """
    from html import escape

    buffer = io.StringIO()
    with style():
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :].replace(INK, "currentColor")
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}-", svg)
    svg = re.sub(r'<svg([^>]*?) (width|height)="[^"]*"', r"<svg\1", svg)
    svg = re.sub(r'<svg([^>]*?) (width|height)="[^"]*"', r"<svg\1", svg)
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    width = REM_PER_INCH * figure.get_figwidth()
    size = f"max-width: {width:.1f}rem; min-width: min(38rem, {width:.1f}rem)"
    return svg.replace("<svg", f'<svg role="img" aria-label="{escape(title)}" style="{size}"', 1).strip()
