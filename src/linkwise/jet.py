"""Scalars that carry their derivatives with respect to time: power series cut off after a few terms.

A function of scalars called with jets returns jets: its value and its rates along a motion, whatever the scalars inside
are, numbers or traced expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import factorial
from typing import Any

from linkwise.scalar import Scalar, atan2, cos, exp, is_number, less, maximum, minimum, sign, sin, sqrt, tanh, where


class Jet:
    """A scalar x(t) as the series c[0] + c[1] t + c[2] t^2 + ..., so that c[k] is the k-th derivative over k!.

    Whatever meets a jet and is not one is constant in time. Conditions look at the value alone, and a sign or a
    condition has no rate.
    """

    __slots__ = ("c",)

    def __init__(self, c: Sequence[Scalar]) -> None:
        self.c = list(c)

    @classmethod
    def of(cls, derivatives: Sequence[Scalar]) -> Scalar:
        """The scalar with these derivatives: value, first rate, ...; a single one stays what it is."""
        if len(derivatives) == 1:
            return derivatives[0]
        return cls([d if k < 2 else d * (1.0 / factorial(k)) for k, d in enumerate(derivatives)])

    @property
    def dtype(self) -> Any:
        """The kind of numbers that its value is."""
        return getattr(self.c[0], "dtype", "float64")

    def _with(self, other: Scalar) -> list[Scalar]:
        """The terms of the other scalar, as many as this one has."""
        return other.c if isinstance(other, Jet) else [other, *[0.0] * (len(self.c) - 1)]

    def __add__(self, other: Scalar) -> Jet:
        return Jet([a + b for a, b in zip(self.c, self._with(other), strict=True)])

    __radd__ = __add__

    def __sub__(self, other: Scalar) -> Jet:
        return Jet([a - b for a, b in zip(self.c, self._with(other), strict=True)])

    def __rsub__(self, other: Scalar) -> Jet:
        return Jet([b - a for a, b in zip(self.c, self._with(other), strict=True)])

    def __neg__(self) -> Jet:
        return Jet([-a for a in self.c])

    def __mul__(self, other: Scalar) -> Scalar:
        if not isinstance(other, Jet):
            return Jet([a * other for a in self.c]) if not _is_zero(other) else 0.0
        return Jet([_product(self.c, other.c, k) for k in range(len(self.c))])

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar) -> Jet:
        if not isinstance(other, Jet):
            return Jet([a / other for a in self.c])
        quotient: list[Scalar] = []
        for k, a in enumerate(self.c):  # a[k] is the product's term of the quotient and the divisor
            quotient.append((a - _sum(quotient[j] * other.c[k - j] for j in range(k))) / other.c[0])
        return Jet(quotient)

    def __rtruediv__(self, other: Scalar) -> Jet:
        return Jet(self._with(other)) / self

    def __pow__(self, power: int) -> Scalar:
        if not isinstance(power, int):
            raise TypeError("only whole powers have a rate here; use sqrt and exp for others")
        result: Scalar = 1.0
        for _ in range(abs(power)):
            result = self * result
        return result if power >= 0 else 1.0 / result

    def __abs__(self) -> Jet:
        return self * sign(self.c[0]) if self.c[1:] else Jet([abs(self.c[0])])

    def sqrt(self) -> Jet:
        root = [sqrt(self.c[0])]
        half = 0.5 / root[0]
        for k, a in enumerate(self.c[1:], start=1):
            root.append((a - _sum(root[j] * root[k - j] for j in range(1, k))) * half)
        return Jet(root)

    def sin(self) -> Jet:
        return self._sincos()[0]

    def cos(self) -> Jet:
        return self._sincos()[1]

    def _sincos(self) -> tuple[Jet, Jet]:
        s, c = [sin(self.c[0])], [cos(self.c[0])]
        rate = self.rates()
        for k in range(1, len(self.c)):
            share = 1.0 / k
            new = (_product(rate, c, k - 1) * share, -(_product(rate, s, k - 1) * share))
            s.append(new[0])
            c.append(new[1])
        return Jet(s), Jet(c)

    def exp(self) -> Jet:
        return self._integral(exp(self.c[0]), lambda e: e)

    def tanh(self) -> Jet:
        def slope(y: list[Scalar]) -> list[Scalar]:
            return [(1.0 if k == 0 else 0.0) - _product(y, y, k) for k in range(len(y))]

        return self._integral(tanh(self.c[0]), slope)

    def atan2(self, x: Scalar) -> Jet:
        """The angle of the point (x, y), of which this is y."""
        return _angle(self.c, self._with(x))

    def atan2_of(self, y: Scalar) -> Jet:
        """The angle of the point (x, y), of which this is x."""
        return _angle(self._with(y), self.c)

    def _integral(self, value: Scalar, slope: Callable[[list[Scalar]], list[Scalar]]) -> Jet:
        """The series y with y' = slope(y) x', where `slope` gives as many terms as it gets."""
        y, rate = [value], self.rates()
        for k in range(1, len(self.c)):
            y.append(_product(rate, slope(y), k - 1) * (1.0 / k))
        return Jet(y)

    def sign(self) -> Scalar:
        return sign(self.c[0])

    def minimum(self, other: Scalar) -> Jet:
        return self._chosen(other, minimum(self.c[0], part(other)), less(self.c[0], part(other)))

    def maximum(self, other: Scalar) -> Jet:
        return self._chosen(other, maximum(self.c[0], part(other)), less(part(other), self.c[0]))

    def _chosen(self, other: Scalar, value: Scalar, this: Scalar) -> Jet:
        """A value with the rates of this jet, or where it is not `this`, of the other."""
        pairs = zip(self.c[1:], self._with(other)[1:], strict=True)
        return Jet([value, *(where(this, x, y) for x, y in pairs)])

    def less(self, other: Scalar) -> Jet:
        return Jet([less(self.c[0], part(other)), *[0.0] * (len(self.c) - 1)])

    def greater(self, other: Scalar) -> Jet:
        return Jet([less(part(other), self.c[0]), *[0.0] * (len(self.c) - 1)])

    def where(self, a: Scalar, b: Scalar) -> Scalar:
        return where(self.c[0], a, b)

    def choose(self, condition: Scalar, a: Scalar, b: Scalar) -> Jet:
        """a where the condition is not zero, else b, term by term; one of them is this jet."""
        pairs = zip(self._with(a), self._with(b), strict=True)
        return Jet([where(part(condition), x, y) for x, y in pairs])

    def rates(self) -> list[Scalar]:
        """The series of the rate, one term shorter."""
        return [a * float(k) if k > 1 else a for k, a in enumerate(self.c[1:], start=1)]

    def __bool__(self) -> bool:
        raise TypeError("a value with rates has no truth of its own: use scalar.where and scalar.less")

    __lt__ = __le__ = __gt__ = __ge__ = lambda self, other: self.__bool__()

    def __float__(self) -> float:
        raise TypeError("a value with rates is no single number: use the functions of linkwise.scalar")

    def __repr__(self) -> str:
        return f"Jet({self.c})"


def part(x: Scalar, k: int = 0) -> Scalar:
    """The k-th derivative of a scalar; of one that is no jet the first is zero, and so on."""
    if not isinstance(x, Jet):
        return 0.0 if k else x
    return x.c[k] * float(factorial(k)) if k > 1 else x.c[k]


def is_zero(x: Scalar) -> bool:
    """Whether a scalar is known to be zero, with all its rates."""
    return all(map(_is_zero, x.c)) if isinstance(x, Jet) else _is_zero(x)


def without_last(x: Scalar) -> Scalar:
    """The scalar with one rate less."""
    return _jet(x.c[:-1]) if isinstance(x, Jet) else x


def cut(x: Scalar, order: int) -> Scalar:
    """The scalar with no more than so many rates."""
    return _jet(x.c[: order + 1]) if isinstance(x, Jet) else x


def rate(x: Scalar) -> Scalar:
    """The scalar's rate, as a jet of one rate less."""
    return _jet(x.rates()) if isinstance(x, Jet) else 0.0


def with_rate(x: Scalar, x_dot: Scalar, order: int) -> Jet:
    """The scalar x with `order` rates, from itself and its rate, which has one less."""
    rates = x_dot.c if isinstance(x_dot, Jet) else [x_dot, *[0.0] * (order - 1)]
    return Jet([part(x), *(r * (1.0 / (k + 1)) if k else r for k, r in enumerate(rates))])


def _jet(c: list[Scalar]) -> Scalar:
    return Jet(c) if len(c) > 1 else c[0]


def _product(a: list[Scalar], b: list[Scalar], k: int) -> Scalar:
    """Term k of the product of two series."""
    return _sum(a[j] * b[k - j] for j in range(k + 1))


def _angle(y: list[Scalar], x: list[Scalar]) -> Jet:
    """The series of atan2(y, x), whose rate is (x y' - y x') / (x^2 + y^2)."""
    value = atan2(y[0], x[0])
    if len(y) == 1:
        return Jet([value])
    y_dot, x_dot = Jet(y).rates(), Jet(x).rates()
    moment = [_product(x, y_dot, k) - _product(y, x_dot, k) for k in range(len(y_dot))]
    square = [_product(x, x, k) + _product(y, y, k) for k in range(len(y_dot))]
    rates = Jet(moment) / Jet(square)
    return Jet([value, *(r * (1.0 / k) if k > 1 else r for k, r in enumerate(rates.c, start=1))])


def _sum(terms: Any) -> Scalar:
    total: Scalar = 0.0
    for x in terms:
        total = total + x
    return total


def _is_zero(x: Scalar) -> bool:
    return is_number(x) and x == 0.0
