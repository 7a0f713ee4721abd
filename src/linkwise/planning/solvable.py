"""What solvers ask of a nonlinear program, whoever wrote it."""

from __future__ import annotations

from time import perf_counter
from typing import Any, Protocol

import numpy as np

from linkwise.planning.curve import Array
from linkwise.planning.variables import Index


class Solvable(Protocol):
    """The problem to minimise f(x) within lower <= x <= upper and row_lower <= g(x) <= row_upper.

    `jacobian` gives the values at `jac_rows`, `jac_columns`; `hessian` those of the lower triangle at `hess_rows`,
    `hess_columns` of sigma f + multipliers . g, or an approximation. `seconds` is the time spent in these functions.
    """

    n: int
    m: int
    lower: Array
    upper: Array
    row_lower: Array
    row_upper: Array
    seconds: float

    @property
    def jac_rows(self) -> Index: ...
    @property
    def jac_columns(self) -> Index: ...
    @property
    def hess_rows(self) -> Index: ...
    @property
    def hess_columns(self) -> Index: ...

    def prepare(self, second: bool) -> None:
        """Compile what a solver will call, with second derivatives where it uses them."""

    def f(self, x: Array) -> float: ...
    def gradient(self, x: Array) -> Array: ...
    def g(self, x: Array) -> Array: ...
    def jacobian(self, x: Array) -> Array: ...
    def hessian(self, x: Array, sigma: float, multipliers: Array) -> Array: ...
    def infeasibility(self, x: Array) -> float:
        """The largest distance of a row from its bounds."""
        ...


def beyond(g: Array, lower: Array, upper: Array) -> Array:
    """How far values are outside of bounds; infinite where they are no numbers."""
    over = np.maximum(np.maximum(lower - g, g - upper), 0.0)
    return np.where(np.isnan(over), np.inf, over)


class Judged:
    """A program that tells how far its rows are beyond their bounds."""

    row_lower: Array
    row_upper: Array

    def g(self, x: Array) -> Array:
        """The rows."""
        raise NotImplementedError

    def violations(self, x: Array) -> Array:
        """How far each row is beyond its bounds, in its own scale."""
        return beyond(self.g(x), self.row_lower, self.row_upper)

    def infeasibility(self, x: Array) -> float:
        """The largest of `violations`."""
        return float(self.violations(x).max(initial=0.0))


class Timed:
    """Adds the time spent within to the `seconds` of a program."""

    def __init__(self, program: Any) -> None:
        self.program = program

    def __enter__(self) -> None:
        self.began = perf_counter()

    def __exit__(self, *_: object) -> None:
        self.program.seconds += perf_counter() - self.began
