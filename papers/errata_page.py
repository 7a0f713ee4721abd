"""The errata of the sources as the first page of the report."""

from __future__ import annotations

from papers.errata import KINDS, Erratum, errata
from papers.experiments import Experiment, Table
from papers.sources import SOURCES


def errata_page() -> Experiment:
    """For each misprint of the sources that can be evaluated, the error that the printed equation makes."""
    found = errata()
    sources = list(dict.fromkeys(e.source for e in found))
    evaluated = [e.error for e in found if e.error is not None]
    return Experiment(
        name="errata",
        title="Errata of the sources",
        source="The works named below, each equation by its number there",
        finding=f"{len(found)} places of {len(sources)} sources, {len(evaluated)} of them evaluated as printed.",
        text=(
            "The error is the largest relative error of the result (the largest absolute difference over the largest"
            " absolute reference) over a few random robots and states when only that equation is taken as printed and"
            " all others are right. It shows that an equation matters, not how much it matters in general. Where a"
            " suspicion is refuted, the error of the printed form is rounding.",
        ),
        tables=tuple(_table(source, [e for e in found if e.source == source]) for source in sources),
    )


def _table(source: str, entries: list[Erratum]) -> Table:
    head = ("equation", "kind", "printed", "right", "error", "note")
    rows = tuple((e.equation, _words(e.kind), e.printed, e.right, e.error, e.note) for e in entries)
    return Table(SOURCES.get(source, source), head, rows, digits=2)


def _words(kind: str) -> str:
    return " or ".join(KINDS.get(k, k) for k in kind.split("/"))
