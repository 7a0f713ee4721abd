"""Pictures, drawn without a screen: their look, and how they become files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkwise.errors import InputError, printable
from linkwise.files import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg", ".pdf")
INK = "#31363f"  # text and axes; `inline_svg` gives them the colour of the page's text
LINE = "#2b7bba"
LIMIT = "#d1495b"
COLOURS = ("#2b7bba", "#e08a1e", "#3f9c56", "#b0529c", "#7a6cd0", "#3aa6a6", "#b5651d")
STYLE: Any = {
    "font.family": "sans-serif", "font.size": 9.0, "axes.titlesize": 9.5, "axes.labelsize": 9.0,
    "axes.edgecolor": INK, "axes.labelcolor": INK, "text.color": INK, "xtick.color": INK, "ytick.color": INK,
    "axes.spines.top": False, "axes.spines.right": False, "axes.linewidth": 0.7,
    "axes.grid": True, "grid.color": "#8a8f98", "grid.alpha": 0.25, "grid.linewidth": 0.6,
    "legend.frameon": False, "legend.fontsize": 8.0, "lines.linewidth": 1.6, "axes.formatter.useoffset": False,
    "axes.unicode_minus": False, "text.parse_math": False, "svg.fonttype": "none", "svg.hashsalt": "linkwise",
}  # fmt: skip


def curve_look(k: int) -> dict[str, Any]:
    """The colour and dashes of the k-th curve of a panel."""
    return {"color": COLOURS[k % len(COLOURS)], "ls": ("-", "--", ":", "-.")[k // len(COLOURS) % 4]}


@contextmanager
def style() -> Iterator[None]:
    """The look of all our pictures."""
    import matplotlib

    with matplotlib.rc_context(STYLE):
        yield


def drawn(figure: Figure, path: str | PathLike[str] | None) -> Figure:
    """The picture, which `path` receives if there is one."""
    if path is not None:
        save_figure(figure, path)
    return figure


def save_figure(figure: Figure, path: str | PathLike[str]) -> None:
    """A picture into a .png, .svg or .pdf file, replaced as a whole."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{Path(path).name}: expected one of {', '.join(SUFFIXES)}, got {suffix or 'no suffix'}.")
    from matplotlib.text import Text

    for text in figure.findobj(Text):  # names may have characters that no XML can hold
        if not text.get_text().isprintable():
            text.set_text("\n".join(map(printable, text.get_text().split("\n"))))
    with style(), replacing(path) as part:
        figure.savefig(part, dpi=130, facecolor="white")
