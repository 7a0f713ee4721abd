"""Errata of the five sources: what each prints, what is right, and the error that the printed form makes.

The algorithm of each source is written once, next to the paper (`hua`, `barman`, `guarino`, `khalil`, `nasser`), with
every equation in its right form; a set of labels picks the equations that are taken as printed instead. `tables` holds
the entries, and compares each printed form with Linkwise on a few random robots and states.
"""

from __future__ import annotations

from collections import Counter

from papers.errata.erratum import KINDS, Erratum
from papers.errata.tables import TABLES

__all__ = ["KINDS", "Erratum", "errata", "summary"]


def errata() -> list[Erratum]:
    """All entries, source by source, with their errors computed; takes a few seconds."""
    return [entry for table in TABLES for entry in table()]


def summary(entries: list[Erratum] | None = None) -> str:
    """Counts by source and kind, one line a source."""
    entries = errata() if entries is None else entries
    lines = []
    for source in dict.fromkeys(e.source for e in entries):
        own = [e for e in entries if e.source == source]
        kinds = Counter(e.kind for e in own)
        listed = ", ".join(f"{kinds[k]} {k}" for k in sorted(kinds, key=_rank))
        evaluated = sum(e.error is not None for e in own)
        lines.append(f"{source}: {len(own)} entries ({listed}), {evaluated} evaluated")
    return "\n".join([*lines, "; ".join(f"{k} {meaning}" for k, meaning in KINDS.items())])


def _rank(kind: str) -> list[int]:
    """The place of a kind in the order of `KINDS`."""
    return [list(KINDS).index(k) for k in kind.split("/")]
