"""An angle known by its cosine and sine, which closed forms give; algorithms of trees ask for no more than these."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from linkwise.jet import Jet, is_zero
from linkwise.scalar import Scalar, atan2, is_number, sqrt


@dataclass(frozen=True, slots=True)
class Angle:
    """The angle with cosine `c` and sine `s`: the position of a revolute joint where no arc is needed.

    Where one is asked for after all, as springs do, it is the one within half a turn of `near`.
    """

    c: Scalar
    s: Scalar
    near: float = 0.0

    @classmethod
    def of(cls, value: float) -> Angle:
        """A known angle."""
        return cls(math.cos(value), math.sin(value))

    def cos(self) -> Scalar:
        return self.c

    def sin(self) -> Scalar:
        return self.s

    def __mul__(self, ratio: float) -> Angle:
        if ratio == 1.0:
            return self
        if ratio == -1.0:
            return Angle(self.c, -self.s, -self.near)
        raise TypeError(f"an angle known by its cosine and sine cannot be multiplied by {ratio!r}")

    def __add__(self, turn: float) -> Angle:
        if turn == 0.0:
            return self
        c, s = math.cos(turn), math.sin(turn)
        return Angle(self.c * c - self.s * s, self.s * c + self.c * s, self.near + turn)

    def number(self) -> Scalar:
        """The angle itself, rad."""
        c, s = math.cos(self.near), math.sin(self.near)
        return atan2(self.s * c - self.c * s, self.c * c + self.s * s) + self.near

    def turning(self, speed: Scalar) -> Angle:
        """The same with its rate."""
        return Angle(Jet([self.c, -self.s * speed]), Jet([self.s, self.c * speed]), self.near)


Position = Any  # of a joint: an Angle, or a length
NOWHERE = Angle(math.nan, math.nan)


def root(x: Scalar) -> Scalar:
    """The square root of x; not a number where x is below zero."""
    below = x.real < 0.0 if isinstance(x, complex) else is_number(x) and x < 0.0
    return math.nan if below else sqrt(x)


def sum_of_waves(a: Scalar, b: Scalar, d: Scalar, branch: float, *, sure: bool = False) -> Angle:
    """The angle with a cos + b sin = d: of the two, the one where a sin - b cos has the sign `branch`.

    Cosine and sine are not numbers where there is none; where it is `sure` that there is one, that takes nothing.
    """
    square = a * a + b * b
    rest = root(square - d * d)
    if not sure and (is_zero(a) or is_zero(b)):
        # the root is in one of cosine and sine alone, so it goes into the scale of both
        square = d * d + rest * rest
    rest, inverse = rest * branch, 1.0 / square
    return Angle((a * d - b * rest) * inverse, (b * d + a * rest) * inverse)
