"""Derivatives of functions of functions, on any scalars and on arrays alike."""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial
from typing import Any


def composed(outer: Sequence[Any], inner: Sequence[Any]) -> list[Any]:
    """f(x) and its derivatives by t, from f, f', f'', ... by x and from x', x'', ... by t.

    As many are given as `inner` has, f itself counted as one more; those of f beyond the given ones are zero.
    """
    powers = _powers([0.0, *(d / factorial(k) for k, d in enumerate(inner, start=1))])
    found = [outer[0]]
    for j in range(1, len(inner) + 1):
        terms = [f * (powers[k][j] * (factorial(j) / factorial(k))) for k, f in enumerate(outer[: j + 1]) if k]
        found.append(sum(terms[1:], terms[0]))
    return found


def in_time(speed: Any, slopes: Sequence[Any]) -> list[Any]:
    """x', x'', x''', ... by t, from the speed x' and from y'/2, y''/2, ... by x, where y = x'^2.

    They follow from x'' = y'(x)/2, which is developed about the place where x is.
    """
    series = [0.0, speed]
    for k in range(len(slopes)):
        powers = _powers([*series[: k + 1], *[0.0] * (k + 2 - len(series))]) if k else [[1.0]]
        terms = [slopes[i] * (powers[i][k] * (1.0 / factorial(i))) for i in range(k + 1) if i or not k]
        total = sum(terms[1:], terms[0])
        series.append(total / ((k + 1.0) * (k + 2.0)))
    return [c * factorial(k) for k, c in enumerate(series) if k]


def _powers(c: Sequence[Any]) -> list[list[Any]]:
    """The powers 0, 1, ... of a series without a constant, each as long as the series."""
    n = len(c)
    powers: list[list[Any]] = [[1.0, *[0.0] * (n - 1)]]
    for k in range(1, n):
        row: list[Any] = [0.0] * n
        for j in range(k, n):
            terms = [powers[-1][i] * c[j - i] for i in range(k - 1, j)]
            row[j] = sum(terms[1:], terms[0])
        powers.append(row)
    return powers
