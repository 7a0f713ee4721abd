"""Scalars that carry their rates, against Taylor series of mpmath."""

import math

import mpmath
import numpy as np
import pytest

from linkwise import scalar
from linkwise.graph.program import Port, trace
from linkwise.jet import Jet, part, rate, with_rate, without_last
from support.backends import definition

X = (0.7, -0.4, 0.9, 0.3, -1.1)  # a value and its rates
FUNCTIONS = {
    "sin": (scalar.sin, mpmath.sin),
    "cos": (scalar.cos, mpmath.cos),
    "exp": (scalar.exp, mpmath.exp),
    "tanh": (scalar.tanh, mpmath.tanh),
    "angle": (lambda x: scalar.atan2(x * x, x - 2.0), lambda x: mpmath.atan2(x * x, x - 2)),
    "angle over a constant": (lambda x: scalar.atan2(x, -1.5), lambda x: mpmath.atan2(x, mpmath.mpf("-1.5"))),
    "angle of a constant": (lambda x: scalar.atan2(-2.0, x), lambda x: mpmath.atan2(-2, x)),
    "sqrt": (scalar.sqrt, mpmath.sqrt),
    "cube": (lambda x: x**3, lambda x: x**3),
    "inverse square": (lambda x: x**-2, lambda x: x**-2),
    "quotient": (lambda x: (1.0 - x) / (x * x + 2.0), lambda x: (1 - x) / (x * x + 2)),
    "reciprocal": (lambda x: 2.0 / x, lambda x: 2 / x),
    "absolute": (lambda x: scalar.absolute(-x) * 3.0, lambda x: 3 * x),
    "reversed": (lambda x: 2.0 - (1.5 + x * 0.5), lambda x: 2 - (mpmath.mpf("1.5") + x / 2)),
    "smaller": (lambda x: scalar.minimum(x * x, 5.0), lambda x: x * x),
    "larger": (lambda x: scalar.maximum(1.0 - x, scalar.minimum(9.0, x)), lambda x: x),
    "bounded": (lambda x: scalar.clip(x, -0.1, 0.2), lambda x: mpmath.mpf(0.2) + 0 * x),
    "chosen": (lambda x: scalar.where(scalar.less(x, 1.0), x * x, 5.0), lambda x: x * x),
    "other": (lambda x: scalar.where(scalar.less(1.0, x), x * x, 5.0), lambda x: 5 + 0 * x),
}


def at(t):
    return mpmath.fsum(mpmath.mpf(d) * t**k / mpmath.factorial(k) for k, d in enumerate(X))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_of_functions(name):
    ours, theirs = FUNCTIONS[name]
    found = ours(Jet.of(X))
    with mpmath.workdps(30):
        series = mpmath.taylor(lambda t: theirs(at(t)), 0, 4)
    for k, c in enumerate(series):
        assert part(found, k) == pytest.approx(float(c * mpmath.factorial(k)), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_same_on_traced_values(name):
    """A jet of expressions gives the expressions of the rates."""
    ours, _ = FUNCTIONS[name]
    program = trace(
        "f", lambda x: ([part(ours(Jet.of(x)), k) for k in range(5)],), [Port("x", (5,))], [Port("y", (5,))]
    )
    expected = [part(ours(Jet.of(X)), k) for k in range(5)]
    assert definition(program)(list(X)) == pytest.approx(expected, rel=1e-13, abs=1e-13)


def test_an_expression_meets_a_jet_from_both_sides():
    """A traced number that is constant in time, left and right of a jet."""

    def f(x):
        a, jet = x[0], Jet([x[1], x[2]])
        results = (a + jet, jet + a, a - jet, jet - a, a * jet, jet * a, a / jet, jet / a)
        chosen = scalar.where(scalar.less(a, 0.0), jet, 1.0), scalar.where(scalar.less(a, jet), 1.0, jet)
        angles = scalar.atan2(a, jet), scalar.atan2(jet, a)
        return ([part(y, k) for y in (*results, *chosen, *angles) for k in (0, 1)],)

    program = trace("f", f, [Port("x", (3,))], [Port("y", (24,))])
    a, b, c = 2.0, 5.0, 3.0
    sums = [a + b, c, a + b, c, a - b, -c, b - a, c]
    products = [a * b, a * c, a * b, a * c, a / b, -a * c / b**2, b / a, c / a]
    angles = [math.atan2(a, b), -a * c / (a * a + b * b), math.atan2(b, a), a * c / (a * a + b * b)]
    assert definition(program)([a, b, c]) == pytest.approx([*sums, *products, 1.0, 0.0, 1.0, 0.0, *angles])


def test_a_sign_and_a_condition_have_no_rate():
    x = Jet([0.5, 2.0])
    assert part(scalar.sign(x), 1) == 0.0
    assert part(scalar.less(x, 1.0), 1) == 0.0
    assert part(3.0, 1) == 0.0


@pytest.mark.parametrize("number", [0.5, np.float64(0.5)])
def test_numbers_of_numpy_are_numbers(number):
    x = Jet([0.7, 2.0])
    assert part(scalar.less(x, number)) == 0.0
    assert part(scalar.where(scalar.less(number, x), x, number), 1) == 2.0
    assert part(scalar.maximum(number, x), 1) == part(scalar.maximum(x, number), 1) == 2.0
    assert part(scalar.atan2(x, number)) == scalar.atan2(0.7, 0.5)


def test_bounds_of_numbers():
    """Also of complex ones, whose real parts are compared, and a NaN is not hidden."""
    assert scalar.clip(3.0, -1.0, 2.0) == 2.0
    assert scalar.clip(-3, -1.0, 2.0) == -1.0
    assert scalar.minimum(1.0 + 5.0j, 2.0) == 1.0 + 5.0j
    assert scalar.maximum(1.0 + 5.0j, 2.0) == 2.0
    for a, b in ((math.nan, 1.0), (1.0, math.nan)):
        assert math.isnan(scalar.minimum(a, b))
        assert math.isnan(scalar.maximum(a, b))


def test_a_series_comes_apart_and_together():
    x = Jet.of(X)
    again = with_rate(without_last(x), rate(x), 4)
    assert again.c == pytest.approx(x.c)
    assert part(rate(x), 2) == pytest.approx(X[3])
    assert without_last(Jet([1.0, 2.0])) == 1.0
    assert rate(7.0) == 0.0


def test_what_has_no_rates_is_refused():
    with pytest.raises(TypeError, match=r"use scalar\.where"):
        bool(Jet([1.0, 2.0]))
    with pytest.raises(TypeError, match="no single number"):
        float(Jet([1.0, 2.0]))
    with pytest.raises(TypeError, match="whole powers"):
        Jet([1.0, 2.0]) ** 0.5
