"""Experiments as one page of HTML that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from os import PathLike

from linkwise._version import __version__
from linkwise.files import replacing
from papers.experiments import Cell, Experiment, Picture, Table

CSS = """
:root { --paper: #fdfdfc; --ink: #23272e; --soft: #5d6470; --rule: #dfe1e5; --shade: #f3f4f6; --accent: #1f6aa5;
  --good: #2f7d46; --bad: #b3303f; color-scheme: light dark; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #16181c; --ink: #e3e5e8; --soft: #9aa1ac; --rule: #33373e; --shade: #1f2227; --accent: #7ab8ea;
    --good: #7cc793; --bad: #f08a96; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0.5rem 0; }
h2 { font-size: 1.35rem; margin: 0 0 0.3rem; }
h3 { font-size: 1.02rem; margin: 1.6rem 0 0.4rem; }
p { margin: 0.5rem 0; max-width: 46rem; }
a { color: var(--accent); }
.soft, figcaption, .note { color: var(--soft); font-size: 0.9rem; }
nav ol { padding-left: 1.3rem; margin: 0.8rem 0; }
section { border-top: 1px solid var(--rule); margin-top: 2.2rem; padding-top: 1.6rem; }
.finding { font-weight: 600; }
.good::before { content: "✓ "; color: var(--good); }
.bad::before { content: "✗ "; color: var(--bad); }
.wide { overflow-x: auto; border: 1px solid var(--rule); border-radius: 6px; }
table { border-collapse: collapse; width: 100%; font-size: 0.88rem; }
th, td { padding: 0.32rem 0.65rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--rule); }
tr:last-child td { border-bottom: 0; }
th { background: var(--shade); font-weight: 600; white-space: nowrap; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.text { overflow-wrap: break-word; }
td.long { min-width: 9rem; }
figure { margin: 1rem 0; }
figure svg { width: 100%; height: auto; max-width: 60rem; min-width: 38rem; }
.scroll { overflow-x: auto; }
@media print { section { break-before: page; } }
"""


def page(experiments: Sequence[Experiment]) -> str:
    """The whole report: a list of what is inside, then a section for each experiment."""
    items = "\n".join(
        f'<li><a href="#{escape(e.name)}">{escape(e.title)}</a>'
        f': <span class="{_mark(e)}">{escape(e.finding)}</span></li>'
        for e in experiments
    )
    sections = "\n".join(_section(e) for e in experiments)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Linkwise: experiments of the sources</title>
<style>{CSS}</style>
</head>
<body>
<main>
<h1>Experiments of the sources, repeated</h1>
<p class="soft">Computed by Linkwise {escape(__version__)}. Each section says what is published, what we find, and what
had to be assumed.</p>
<nav><ol>
{items}
</ol></nav>
{sections}
</main>
</body>
</html>
"""


def write(experiments: Sequence[Experiment], path: str | PathLike[str]) -> None:
    """The report into a file."""
    with replacing(path) as part:
        part.write_text(page(experiments), encoding="utf-8")


def number(x: float, digits: int = 6) -> str:
    """A number for reading: so many digits, three or fewer for tiny and huge ones."""
    if x == 0:
        return "0"
    if not 1e-4 <= abs(x) < 1e7:
        return f"{x:.{min(digits, 3) - 1}e}"
    return f"{x:.{digits}g}"


def _mark(experiment: Experiment) -> str:
    return "good" if experiment.agrees else "bad"


def _section(e: Experiment) -> str:
    parts = [
        f'<section id="{escape(e.name)}">',
        f"<h2>{escape(e.title)}</h2>",
        f'<p class="soft">{escape(e.source)}</p>',
        f'<p class="finding {_mark(e)}">{escape(e.finding)}</p>',
        *(f"<p>{escape(text)}</p>" for text in e.text),
        *(_figure(picture) for picture in e.pictures),
        *(_table(table) for table in e.tables),
    ]
    if e.assumptions:
        parts.append("<h3>What had to be assumed</h3>\n<ul>")
        parts += [f"<li>{escape(text)}</li>" for text in e.assumptions]
        parts.append("</ul>")
    return "\n".join([*parts, "</section>"])


def _figure(picture: Picture) -> str:
    caption = f"<figcaption>{escape(picture.caption)}</figcaption>"
    return f'<figure>\n<div class="scroll">{picture.svg}</div>\n{caption}\n</figure>'


def _table(table: Table) -> str:
    numeric = [all(not isinstance(row[k], str) for row in table.rows) for k in range(len(table.head))]
    head = "".join(_cell("th", title, right) for title, right in zip(table.head, numeric, strict=True))
    body = "\n".join(
        "<tr>" + "".join(_cell("td", x, right, table.digits) for x, right in zip(row, numeric, strict=True)) + "</tr>"
        for row in table.rows
    )
    note = f'\n<p class="note">{escape(table.note)}</p>' if table.note else ""
    return (
        f'<h3>{escape(table.title)}</h3>\n<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table></div>{note}"
    )


def _cell(tag: str, value: Cell, right: bool, digits: int = 6) -> str:
    text = "–" if value is None else value if isinstance(value, str) else number(float(value), digits)
    kind = "number" if right else "long text" if len(text) > 16 else "text"
    return f'<{tag} class="{kind}">{escape(text)}</{tag}>'
