"""Functions of one coordinate, by which other coordinates follow: polynomials, and splines through points."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from linkwise.errors import ModelError
from linkwise.robot import check
from linkwise.scalar import Scalar, less, where


class Piece(NamedTuple):
    """A polynomial in x - start, its constant first, that holds up to `end`."""

    start: float
    end: float
    coefficients: tuple[float, ...]

    def value(self, x: Scalar, order: int) -> Scalar:
        """The polynomial, or a derivative."""
        c = self.coefficients
        for _ in range(order):
            c = tuple(k * a for k, a in enumerate(c) if k)
        total: Scalar = 0.0
        for a in reversed(c):
            total = total * (x - self.start) + a
        return total


@dataclass(frozen=True)
class Curve:
    """A function of one coordinate: a polynomial, or the natural cubic spline through points.

    Beyond its points a spline goes on straight.

    Args:
        coefficients: of a polynomial, the constant first; (0, 1) is the coordinate itself.
        x: coordinates of the points of a spline, rising.
        y: the spline's values there.
    """

    coefficients: tuple[float, ...] = ()
    x: tuple[float, ...] = ()
    y: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for name in ("coefficients", "x", "y"):
            given = getattr(self, name)
            try:
                values = tuple(check.number(v, f"curve {name}") for v in given)
            except TypeError as error:
                raise ModelError(f"curve {name}: expected numbers, got {given!r}.") from error
            object.__setattr__(self, name, values)
        if bool(self.coefficients) == bool(self.x or self.y):
            raise ModelError("curve: expected either coefficients, or points x and y.")
        if self.x or self.y:
            if len(self.x) != len(self.y) or len(self.x) < 2:
                raise ModelError(
                    f"curve: expected at least two points, as many x as y, got {len(self.x)} and {len(self.y)}."
                )
            if any(b <= a for a, b in zip(self.x, self.x[1:], strict=False)):
                raise ModelError(f"curve x: expected rising numbers, got {list(self.x)}.")

    def __call__(self, x: Scalar) -> Scalar:
        return self.value(x)

    def value(self, x: Scalar, order: int = 0) -> Scalar:
        """The function, or its derivative of that order."""
        *before, last = self.pieces
        found = last.value(x, order)
        for piece in reversed(before):
            found = where(less(x, piece.end), piece.value(x, order), found)
        return found

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """Polynomials that it is made of, from left to right."""
        infinite = float("inf")
        if self.coefficients:
            return (Piece(0.0, infinite, self.coefficients),)
        if len(self.x) == 2:
            slope = (self.y[1] - self.y[0]) / (self.x[1] - self.x[0])
            return (Piece(self.x[0], infinite, (self.y[0], slope)),)
        from scipy.interpolate import CubicSpline

        spline = CubicSpline(self.x, self.y, bc_type="natural")
        inner = [
            Piece(a, b, tuple(float(c) for c in spline.c[::-1, k]))
            for k, (a, b) in enumerate(zip(self.x, self.x[1:], strict=False))
        ]
        first = Piece(self.x[0], self.x[0], (self.y[0], float(spline(self.x[0], 1))))
        last = Piece(self.x[-1], infinite, (self.y[-1], float(spline(self.x[-1], 1))))
        return (first, *inner, last)


IDENTITY = Curve((0.0, 1.0))


@dataclass(frozen=True)
class Course:
    """How a coupled joint moves with its one coordinate: slides along, then turns about, the axes of its frame.

    The frame stands at the joint's anchor, its z along the joint's axis. A curve that is left out moves nothing. A knee
    that rolls and slides is `Course(x=..., y=..., turn_z=Curve((0, 1)))`.

    Args:
        x, y, z: shifts along the axes, m.
        turn_x, turn_y, turn_z: angles about the axes, one after the other, rad.
    """

    x: Curve | None = None
    y: Curve | None = None
    z: Curve | None = None
    turn_x: Curve | None = None
    turn_y: Curve | None = None
    turn_z: Curve | None = None

    @property
    def curves(self) -> dict[str, Curve]:
        """The curves that are given, by name."""
        return {name: c for name in NAMES if (c := getattr(self, name)) is not None}

    def __post_init__(self) -> None:
        for name in NAMES:
            value = getattr(self, name)
            if value is not None and not isinstance(value, Curve):
                raise ModelError(f"course {name}: expected a Curve, got {value!r}.")
        if not self.curves:
            raise ModelError("course: expected at least one curve, got none.")


NAMES = ("x", "y", "z", "turn_x", "turn_y", "turn_z")
