"""A page of machines in motion, `gallery.html`: each with its torques and the code that made it. Run by `make demo`."""

from __future__ import annotations

import inspect
import io
import json
import keyword
import time
import tokenize
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import Any

import linkwise as lw
from linkwise.errors import printable
from linkwise.files import replacing
from linkwise.view.motion import Motion
from linkwise.view.page import policy, viewer
from linkwise.view.payload import Payload, payload

HERE = Path(__file__).parent
STYLE = (HERE / "gallery.css").read_text(encoding="utf-8")
START = (HERE / "gallery.js").read_text(encoding="utf-8")
ROWS, TRIANGLES = 300, 24_000  # of a card: a page of a dozen should open at once
KINDS = {"STRING": "string", "NUMBER": "number", "COMMENT": "comment"}
KINDS |= dict.fromkeys(("FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END"), "string")  # from Python 3.12 on


@dataclass(frozen=True)
class Card:
    """A machine of the gallery.

    Args:
        make: what is run, and shown; it returns a result, or a result and options of its `.view()`.
        title: of the card.
        text: what is seen, in a sentence.
        number: something remarkable of the result, in words.
        look: options of the viewer: speed, from where it is seen.
    """

    make: Callable[[], Any]
    title: str
    text: str
    number: Callable[[Any], str]
    look: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.make.__name__


@dataclass(frozen=True)
class Made:
    """A card after its machine was run: what is shown and said, or why there is nothing to show."""

    card: Card
    seconds: float
    shown: Payload | None = None
    number: str = ""
    failure: str = ""


def made(card: Card) -> Made:
    """Run a machine. A failure is part of the answer: one machine must not take the others with it."""
    start = time.perf_counter()
    try:
        found = card.make()
        result, options = found if isinstance(found, tuple) else (found, {})
        shown, number = _payload(card, result, options), card.number(result)
    except Exception as error:
        return Made(card, time.perf_counter() - start, failure=printable(f"{type(error).__name__}: {error}"))
    return Made(card, time.perf_counter() - start, shown, number)


def _payload(card: Card, result: Any, options: dict[str, Any]) -> Payload:
    """The result as a view: fewer rows than were computed, and the forces of the ground but none inside of joints."""
    given = result.shown() if hasattr(result, "shown") else result
    motion = replace(Motion.of(given.robot, given), wrench=None).thinned(ROWS)
    return payload(motion.robot, motion, title=card.title, compact=True, triangles=TRIANGLES, **options)


def source(function: Callable[..., Any]) -> str:
    """The code of a function, as it stands in its file."""
    return inspect.getsource(function).rstrip()


def coloured(code: str) -> str:
    """Python as HTML, with words of the language, texts, numbers and comments in spans."""
    lines, parts, at = code.splitlines(keepends=True), [], (1, 0)

    def until(end: tuple[int, int]) -> str:
        """The text from `at` to a place."""
        (row, column), (last, stop) = at, end
        if row == last:
            return lines[row - 1][column:stop]
        return "".join([lines[row - 1][column:], *lines[row : last - 1], lines[last - 1][:stop] if stop else ""])

    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        kind = "word" if keyword.iskeyword(token.string) else KINDS.get(tokenize.tok_name[token.type], "")
        if kind:
            parts.append(escape(until(token.start)))
            at = token.start
            parts.append(f'<span class="{kind}">{escape(until(token.end))}</span>')
            at = token.end
    return "".join([*parts, escape("".join([lines[at[0] - 1][at[1] :], *lines[at[0] :]]))])


def page(cards: Sequence[Made], table: str = "", report: str = "") -> str:
    """The whole page.

    Args:
        cards: machines, in their order.
        table: a comparison, as HTML.
        report: address of the experiments of the sources, where there is one.
    """
    shown = [made.shown for made in cards if made.shown]
    link = f'<p><a href="{escape(report)}">The experiments of the sources, repeated</a></p>' if report else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"{policy(shown, [START], [STYLE])}\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<title>Linkwise: machines in motion</title>\n"
        f"<style>{STYLE}</style>\n</head>\n<body>\n"
        "<header><h1>Machines in motion</h1>\n"
        f"<p>Computed by Linkwise {escape(lw.__version__)} as this page was made. Every machine can be turned, stopped"
        " and asked for its numbers. Below each is the code that ran, whole but for imports: NumPy, SciPy's splines and"
        " <code>import linkwise as lw</code>. It returns a result, some with options of its <code>.view()</code>.</p>"
        "</header>\n"
        f'<main class="cards">\n{"".join(map(_card, cards))}</main>\n'
        f"<footer>{table}\n{link}</footer>\n{viewer()}\n<script>{START}</script>\n</body>\n</html>\n"
    )


def _card(made: Made) -> str:
    card = made.card
    if made.shown:
        look = escape(json.dumps({"name": card.name, **card.look}))
        data = f'<script type="text/plain" id="{escape(card.name)}-data">{made.shown.text}</script>'
        view = f'<div class="view" data-look="{look}"></div>{data}'
    else:
        view = f'<div class="view failed"><p>This machine could not be shown here.<br>{escape(made.failure)}</p></div>'
    return (
        f'<article class="card" id="{escape(card.name)}">\n{view}\n<div class="words"><h2>{escape(card.title)}</h2>\n'
        f"<p>{escape(card.text)} <strong>{escape(made.number)}</strong></p></div>\n"
        f"<pre><code>{coloured(source(card.make))}</code></pre>\n</article>\n"
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]], title: str, note: str) -> str:
    """A table, its first column of words and the others of numbers."""
    top = "".join(f"<th>{escape(x)}</th>" for x in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(x)}</td>" for x in row) + "</tr>\n" for row in rows)
    return (
        f'<section><h2>{escape(title)}</h2>\n<div class="wide"><table>\n<thead><tr>{top}</tr></thead>\n'
        f'<tbody>\n{body}</tbody>\n</table></div>\n<p class="note">{escape(note)}</p></section>'
    )


def write(path: Path, cards: Sequence[Made], **parts: str) -> None:
    """Write the page, whole or not at all."""
    with replacing(path) as part:
        part.write_text(page(cards, **parts), encoding="utf-8")
