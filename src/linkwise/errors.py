"""The one family of exceptions that Linkwise raises on purpose."""

from __future__ import annotations

import copyreg
from collections.abc import Iterable
from typing import Any


class LinkwiseError(ValueError):
    """Something a user can mend: the message says what, where, and what to do."""

    def __reduce__(self) -> Any:
        """Pickle message and attributes, whatever arguments the class takes, so that processes can send it back."""
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__ or None  # type: ignore[attr-defined]


class ModelError(LinkwiseError):
    """A robot description that has no meaning: impossible physics or structure."""


class InputError(LinkwiseError):
    """Arguments of a call that do not fit: shapes, types, unknown options."""


class SimulationError(LinkwiseError):
    """A simulation that cannot go on; `result` is the motion up to there, or None."""

    def __init__(self, *message: object, result: Any = None) -> None:
        super().__init__(*message)
        self.result = result


class GoneError(LinkwiseError, AttributeError):
    """A member of the last release that is no more; the message says what stands for it."""


class UnknownNameError(LinkwiseError):
    """A name that the robot does not have; the message lists those it has."""

    def __init__(self, kind: str, name: object, valid: Iterable[str]) -> None:
        from difflib import get_close_matches  # for a message alone

        names = list(valid)
        close = get_close_matches(str(name), names, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        super().__init__(f"unknown {kind} {name!r}.{hint} Valid names: {listing(names)}.")


def printable(text: str) -> str:
    """The text in one line; what a terminal would obey or a picture cannot hold is written out, as `repr` does."""
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def listing(names: Iterable[object], most: int = 40) -> str:
    """The names for a message, quoted, cut after `most` of them."""
    quoted = [repr(n) for n in names]
    if not quoted:
        return "(none)"
    rest = len(quoted) - most
    return ", ".join(quoted[:most]) + (f", ... and {rest} more" if rest > 0 else "")
