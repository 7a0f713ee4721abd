"""One entry of the errata."""

from __future__ import annotations

from dataclasses import dataclass

KINDS = {
    "M": "misprint",
    "O": "damage by OCR",
    "A": "ambiguous",
    "X": "error of the method",
    "OK": "suspicion refuted",
}


@dataclass(frozen=True)
class Erratum:
    """What a source prints, what is right, and the error that the printed form makes.

    Args:
        source: first author of the source, as in docs/notation.md.
        equation: its number, or the place.
        kind: a key of `KINDS`, or several joined by "/" where the cause is open.
        printed: the printed form; for an entry "OK" what was in doubt.
        right: the right form.
        error: largest relative error (max abs difference / max abs reference) over a few random robots and states when
            only this equation is taken as printed; None where it cannot be evaluated.
        note: the quantity that `error` belongs to, or why there is none.
    """

    source: str
    equation: str
    kind: str
    printed: str
    right: str
    error: float | None
    note: str = ""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds, one by one."""
        return tuple(self.kind.split("/"))
