"""Vectors with their sensitivities to the joints' positions, velocities and accelerations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from linkwise.scalar import Scalar
from linkwise.vector import ZERO3, Mat3, Vec3, cross


class Sensed(NamedTuple):
    """A vector and its derivatives to all q, qd, qdd; sums, linear maps and products carry them along."""

    value: Vec3
    q: list[Vec3]
    qd: list[Vec3]
    qdd: list[Vec3]

    @classmethod
    def constant(cls, value: Vec3, n: int) -> Sensed:
        return cls(value, *([ZERO3] * n for _ in range(3)))

    def depending(self, of: str, i: int, derivative: Vec3) -> Sensed:
        """The same, with `derivative` to variable i added."""
        changed: Any = {of: [x + derivative if k == i else x for k, x in enumerate(getattr(self, of))]}
        return self._replace(**changed)

    def without(self, *of: str) -> Sensed:
        """The same, with all derivatives to these variables zero."""
        changed: Any = {x: [ZERO3] * len(self.q) for x in of}
        return self._replace(**changed)

    def map(self, f: Callable[[Vec3], Vec3]) -> Sensed:
        """A linear function of it that depends on nothing."""
        return Sensed(f(self.value), *([f(x) for x in xs] for xs in self[1:]))

    def turned(self, R: Mat3, dR: Mat3, i: int) -> Sensed:
        """R times it, where R has the derivative dR to q of joint i."""
        return self.times(R).depending("q", i, dR @ self.value)

    def __add__(self, b: Sensed) -> Sensed:  # type: ignore[override]
        sums = ([x + y for x, y in zip(xs, ys, strict=True)] for xs, ys in zip(self[1:], b[1:], strict=True))
        return Sensed(self.value + b.value, *sums)

    def times(self, A: Mat3) -> Sensed:
        """A times it."""
        return self.map(lambda x: A @ x)

    def __mul__(self, s: Scalar) -> Sensed:
        return self.map(lambda x: x * s)

    def __neg__(self) -> Sensed:
        return self * -1.0

    def cross(self, b: Sensed) -> Sensed:
        """The product self x b."""
        products = (
            [cross(x, b.value) + cross(self.value, y) for x, y in zip(xs, ys, strict=True)]
            for xs, ys in zip(self[1:], b[1:], strict=True)
        )
        return Sensed(cross(self.value, b.value), *products)
