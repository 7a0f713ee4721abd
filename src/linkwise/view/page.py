"""Pages of one HTML file: a viewer, and what it shows. Nothing is loaded from elsewhere, nothing listens."""

from __future__ import annotations

import base64
import gzip
import html
import tempfile
import warnings
from collections.abc import Iterable
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any

from linkwise.card import in_notebook, inline
from linkwise.errors import InputError, printable
from linkwise.files import replacing
from linkwise.robot.robot import Robot
from linkwise.view.payload import Payload, digest, payload

ASSETS = Path(__file__).with_name("assets")
SCRIPTS = ("unpack", "motion", "solids", "stage", "machine", "traces", "arrows", "plots", "panel", "view", "viewer")
SUFFIXES = (".html", ".htm")
FULL = "html, body { margin: 0; height: 100%; }\n#linkwise { width: 100vw; height: 100vh; height: 100dvh; }\n"
START = """
const asked = linkwise.options(location.hash.slice(1));
if (asked.theme) document.documentElement.dataset.theme = asked.theme;
const text = document.getElementById('linkwise-payload').textContent;
linkwise.mount(document.getElementById('linkwise'), text, asked)
  .then((view) => view.root.focus({ preventScroll: true }));
"""


class Page(type(Path())):  # type: ignore[misc]
    """The path of a page, which a notebook shows inline."""

    def _repr_html_(self) -> str | None:
        is_page = self.suffix.lower() in SUFFIXES and self.is_file()
        return inline(self.read_text(encoding="utf-8"), self.stem) if is_page else None


def view(robot: Robot, motion: Any = None, path: str | PathLike[str] | None = None, **options: Any) -> Path:
    """Write a page of a robot and perhaps its motion.

    Args:
        robot: what is drawn.
        motion: a result, a file, columns or positions, as `Motion.of` takes them.
        path: of the page, ending in .html; without one it is a temporary file that the browser opens, unless a
            notebook shows it.
        options: those of `payload`: ghost, wrenches, base_motion, obstacles, trace, meshes, triangles, title, compact.

    Returns:
        The path of the page, which notebooks show inline.
    """
    if path is not None:
        checked(path)  # before any work
    return written(payload(robot, motion, **options), path, say=True)


def written(shown: Payload, path: str | PathLike[str] | None = None, say: bool = False) -> Path:
    """Write a page; without a path into a temporary file that the browser opens, and `say` prints where it is."""
    text = document(shown)
    if path is not None:
        file = checked(path)
        with replacing(file) as part:
            part.write_text(text, encoding="utf-8")
        return Page(file)
    import webbrowser

    file = Page(tempfile.mkdtemp(prefix="linkwise-"), "view.html")
    file.write_text(text, encoding="utf-8")
    if in_notebook():
        return file
    if not webbrowser.open(file.as_uri()):
        warnings.warn(f"view: expected a browser to open the page with, got none. Open {file} yourself.", stacklevel=3)
    if say:
        print(f"page in {file}")
    return file


def checked(path: Any) -> Path:
    """The path of a page."""
    if not isinstance(path, (str, PathLike)):
        raise InputError(f"view path: expected the name of an .html file, got {path!r}.")
    file = Path(path)
    if file.suffix.lower() not in SUFFIXES:
        raise InputError(f"{file.name}: expected a name that ends in .html, got {file.suffix or 'no suffix'}.")
    return file


def document(shown: Payload) -> str:
    """A whole page of one view."""
    return (
        "<!doctype html>\n"
        '<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"{policy([shown], [START], [FULL])}\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(printable(shown.title))}</title>\n"
        f"<style>{FULL}</style>\n</head>\n<body>\n"
        '<div id="linkwise"></div>\n'
        f"{viewer()}\n"
        f'<script type="text/plain" id="linkwise-payload">{shown.text}</script>\n'
        f"<script>{START}</script>\n</body>\n</html>\n"
    )


@cache
def viewer() -> str:
    """What pages carry once, for all their views: style, three.js, and the viewer.

    After it, a script may call `linkwise.mount(element, text of a payload, options)` as often as it likes.
    """
    library = base64.b64encode((ASSETS / "three.js.gz").read_bytes()).decode()
    licence = (ASSETS / "three.LICENSE").read_text(encoding="utf-8")
    return (
        f"<!-- three.js\n{licence}-->\n"
        f"<style>{style()}</style>\n"
        f'<script type="text/plain" id="linkwise-three">{library}</script>\n'
        f"<script>{script()}</script>"
    )


def policy(shown: Iterable[Payload], scripts: Iterable[str] = (), styles: Iterable[str] = ()) -> str:
    """The element that forbids a page all that it does not carry: the network, and scripts other than these.

    Args:
        shown: payloads of the page.
        scripts: further scripts in it, as they stand between their tags.
        styles: further style sheets.
    """
    allowed = [digest(text) for text in (script(), _three(), *scripts)] + [p.digest for p in shown]
    sheets = [digest(text) for text in (style(), *styles)]
    rules = (
        "default-src 'none'",
        f"script-src {' '.join(dict.fromkeys(allowed))}",
        f"style-src {' '.join(dict.fromkeys(sheets))}",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return f'<meta http-equiv="Content-Security-Policy" content="{"; ".join(rules)}">'


@cache
def script() -> str:
    """The viewer."""
    parts = [(ASSETS / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS]
    return "(() => {\n'use strict';\n" + "\n".join(parts) + "})();\n"


@cache
def style() -> str:
    """The viewer's style sheet."""
    return (ASSETS / "viewer.css").read_text(encoding="utf-8")


@cache
def _three() -> str:
    """The text of three.js, which pages carry compressed."""
    return gzip.decompress((ASSETS / "three.js.gz").read_bytes()).decode()
