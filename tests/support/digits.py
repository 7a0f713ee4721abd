"""Numbers of fifty digits that algorithms run on, and derivatives by differences that lose none that matter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import mpmath
import numpy as np

from linkwise.algorithms.integration import integrate
from linkwise.robot.tree import Tree

mp = mpmath.mp.clone()
mp.dps = 50
STEP = mp.mpf(10) ** -17  # central differences are then right to 30 digits


class Big:
    """A number of fifty digits with the methods that `linkwise.scalar` asks for."""

    __slots__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.x = mp.mpf(x)

    def __add__(self, other: Any) -> Big:
        return Big(self.x + number(other))

    def __sub__(self, other: Any) -> Big:
        return Big(self.x - number(other))

    def __rsub__(self, other: Any) -> Big:
        return Big(number(other) - self.x)

    def __mul__(self, other: Any) -> Big:
        return Big(self.x * number(other))

    def __truediv__(self, other: Any) -> Big:
        return Big(self.x / number(other))

    def __rtruediv__(self, other: Any) -> Big:
        return Big(number(other) / self.x)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Big:
        return Big(-self.x)

    def __abs__(self) -> Big:
        return Big(abs(self.x))

    def __float__(self) -> float:
        return float(self.x)

    def sin(self) -> Big:
        return Big(mp.sin(self.x))

    def cos(self) -> Big:
        return Big(mp.cos(self.x))

    def sqrt(self) -> Big:
        return Big(mp.sqrt(self.x))

    def exp(self) -> Big:
        return Big(mp.exp(self.x))

    def tanh(self) -> Big:
        return Big(mp.tanh(self.x))

    def atan2(self, x: Any) -> Big:
        return Big(mp.atan2(self.x, number(x)))

    def atan2_of(self, y: Any) -> Big:
        return Big(mp.atan2(number(y), self.x))

    def sign(self) -> Big:
        return Big(mp.sign(self.x))

    def minimum(self, other: Any) -> Big:
        return Big(min(self.x, number(other)))

    def maximum(self, other: Any) -> Big:
        return Big(max(self.x, number(other)))

    def less(self, other: Any) -> float:
        return float(self.x < number(other))

    def greater(self, other: Any) -> float:
        return float(self.x > number(other))


def number(x: Any) -> Any:
    """What a scalar stands for, as mpmath takes it."""
    return x.x if isinstance(x, Big) else x


def big(values: Iterable[float]) -> list[Big]:
    """The same numbers, with fifty digits."""
    return [Big(float(x)) for x in values]


def numbers(values: Iterable[Any]) -> np.ndarray:
    return np.array([float(x) for x in values])


Move = Callable[[Sequence[float], Big], list[Any]]  # a direction and a step


def slopes(
    function: Callable[..., Sequence[Any]], given: Sequence[list[Big]], i: int, move: Move, D: Any
) -> np.ndarray:
    """Derivatives of a function when its i-th argument moves along each column of D, one in each column."""
    columns = []
    for direction in np.asarray(D, float).T.tolist():
        moved = [[move(direction, Big(h)) if k == i else x for k, x in enumerate(given)] for h in (STEP, -STEP)]
        above, below = (function(*x) for x in moved)
        columns.append([float((number(a) - number(b)) / (2 * STEP)) for a, b in zip(above, below, strict=True)])
    return np.array(columns).T


def along_tangents(tree: Tree, q: Sequence[Big]) -> Move:
    """q moved along a tangent vector."""
    return lambda direction, h: list(integrate.function(tree, q, direction, [h])[0])


def along_itself(x: Sequence[Big]) -> Move:
    """x with a multiple of a direction added."""
    return lambda direction, h: [a + h * d for a, d in zip(x, direction, strict=True)]
