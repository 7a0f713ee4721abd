"""How a try ended: in a clear answer or a clear error, or in one of five ways that are bad."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from linkwise.errors import LinkwiseError

KINDS = {
    "crash": "a signal, or an error that is none of Linkwise's",
    "hang": "no end within the time that such a try may take",
    "wrong": "a number other than the second witness's, or a state that is wrong afterwards",
    "silent": "bad input that was taken without a word",
    "unclear": "an error that does not say what was wrong",
    "clear": "the right answer, or an error that says what was wrong",
}


class Verdict(NamedTuple):
    """One of `KINDS`, and in words what led to it."""

    kind: str
    why: str = ""


CLEAR = Verdict("clear")


def crashed(error: BaseException) -> Verdict:
    """The verdict on an error that is none of Linkwise's, with the place where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return Verdict("crash", f"{type(error).__name__}: {str(error)[:300]}{place}")


def refused(act: Callable[[], Any], *names: str, also: tuple[type[BaseException], ...] = ()) -> Verdict:
    """Whether bad input is refused with a LinkwiseError, or an error of a type in `also`, that has one of the names."""
    try:
        found = act()
    except (LinkwiseError, *also) as error:
        return said(str(error), names)
    except Exception as error:
        return crashed(error)
    return Verdict("silent", f"returned {repr(found)[:120]}")


def said(message: str, names: Sequence[str]) -> Verdict:
    """Whether a message says something about one of the names."""
    if not message.strip() or (names and not any(name in message for name in names)):
        return Verdict("unclear", f"expected one of {list(names)} in: {message[:300]}")
    return CLEAR


ROUNDED = 1e-16  # an angle of zero may be one of so much by another order of operations


def same(found: Any, expected: Any, tolerance: float, what: str = "result", least: float = ROUNDED) -> Verdict:
    """Whether numbers are those of a witness, by the largest of them, or within `least`; NaN are at the same places."""
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    if found.shape != expected.shape:
        return Verdict("wrong", f"{what} has shape {found.shape}, expected {expected.shape}")
    nan = np.isnan(expected)
    if (np.isnan(found) != nan).any():
        return Verdict("wrong", f"{what} has NaN where the witness has none, or none where it has")
    found, expected = found[~nan], expected[~nan]
    size = np.abs(expected).max(initial=0.0)
    with np.errstate(all="ignore"):
        error = np.where(found == expected, 0.0, np.abs(found - expected)).max(initial=0.0)
    if not error <= max(tolerance * size, least, ROUNDED):
        return Verdict("wrong", f"{what} differs by {error:.3g} of {size:.3g}")
    return CLEAR


def worst(verdicts: Sequence[Verdict]) -> Verdict:
    """The first that is bad."""
    return next((v for v in verdicts if v.kind != "clear"), CLEAR)
