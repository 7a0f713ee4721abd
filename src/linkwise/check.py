"""Numbers among the arguments of calls: each is returned as what it is computed with, or refused in words."""

from __future__ import annotations

from math import inf, isnan, nan
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from linkwise.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LARGEST = 2**31 - 1  # of whole numbers
HUGE = 1e300  # products of larger numbers are infinite


def number(value: Any, what: str, expected: str = "a number") -> float:
    """A real number, which may be infinite."""
    try:
        found = float(value) if isinstance(value, Real) and not isinstance(value, bool) else nan
    except OverflowError:  # a whole number of hundreds of digits
        found = nan
    if isnan(found):
        raise InputError(f"{what}: expected {expected}, got {value!r}.")
    return found


def finite(value: Any, what: str) -> float:
    """A number that is not infinite."""
    return _within(value, what, "a finite number", lambda x: abs(x) < inf)


def positive(value: Any, what: str, expected: str = "a number above 0") -> float:
    """A number above zero that can be computed with."""
    return _within(value, what, expected, lambda x: 0.0 < x < HUGE)


def fraction(value: Any, what: str) -> float:
    """A number from 0 to 1."""
    return _within(value, what, "a fraction of the motion's time from 0 to 1", lambda x: 0.0 <= x <= 1.0)


def whole(value: Any, what: str, least: int, most: float = LARGEST, expected: str = "") -> int:
    """A whole number from `least` to `most`, which may be infinite."""
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if is_whole and value > LARGEST == most:
        raise InputError(f"{what}: expected a whole number below 2**31, got {float(min(value, 10**300)):.3g}.")
    if not is_whole or not least <= value <= most:
        bounds = f"of at least {least}" if most in (LARGEST, inf) else f"from {least} to {most}"
        raise InputError(f"{what}: expected {expected or f'a whole number {bounds}'}, got {value!r}.")
    return int(value)


def vector(value: Any, what: str, width: int = 3) -> NDArray[np.float64]:
    """So many finite numbers."""
    import numpy as np

    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what}: expected {width} numbers, got {value!r}.") from error
    if array.shape != (width,) or not np.isfinite(array).all():
        raise InputError(f"{what}: expected {width} finite numbers, got {value!r}.")
    return array


def _within(value: Any, what: str, expected: str, fits: Any) -> float:
    x = number(value, what, expected)
    if not fits(x):
        raise InputError(f"{what}: expected {expected}, got {value!r}.")
    return x
