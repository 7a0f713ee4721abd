"""Rewrite rules: each on its own, and all of them against exact arithmetic."""

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from linkwise.backend import python
from linkwise.graph.node import Graph
from linkwise.graph.program import Port, trace
from support.expressions import (
    BOUNDED,
    FRACTIONS,
    INPUTS,
    RATIONAL,
    SMOOTH,
    Reject,
    expressions,
    program,
    run,
    value,
)

INF, NAN = float("inf"), float("nan")

# what is written, and what it becomes
RULES = {
    "x + 0": (lambda x, y: x + 0.0, lambda x, y: x),
    "0 + x": (lambda x, y: 0 + x, lambda x, y: x),
    "x - 0": (lambda x, y: x - 0.0, lambda x, y: x),
    "0 - x": (lambda x, y: 0.0 - x, lambda x, y: -x),
    "x * 0": (lambda x, y: x * 0.0, lambda x, y: 0.0),
    "0 * x": (lambda x, y: 0 * x, lambda x, y: 0.0),
    "x * 1": (lambda x, y: x * 1.0, lambda x, y: x),
    "x * -1": (lambda x, y: -1 * x, lambda x, y: -x),
    "x / 1": (lambda x, y: x / 1, lambda x, y: x),
    "x / 2": (lambda x, y: x / 2, lambda x, y: 0.5 * x),
    "0 / x": (lambda x, y: 0.0 / x, lambda x, y: 0.0),
    "x / x": (lambda x, y: x / x, lambda x, y: 1.0),
    "x - x": (lambda x, y: x - x, lambda x, y: 0.0),
    "x + x": (lambda x, y: x + x, lambda x, y: 2.0 * x),
    "neg of neg": (lambda x, y: (-x).__neg__(), lambda x, y: x),
    "-1 * (-x)": (lambda x, y: -1.0 * -x, lambda x, y: x),
    "-(x - y)": (lambda x, y: -(x - y), lambda x, y: y - x),
    "-(2 x)": (lambda x, y: -(2.0 * x), lambda x, y: -2.0 * x),
    "-(1 - x)": (lambda x, y: -(1.0 - x), lambda x, y: x - 1.0),
    "x + (-y)": (lambda x, y: x + -y, lambda x, y: x - y),
    "(-x) + y": (lambda x, y: -x + y, lambda x, y: y - x),
    "x - (-y)": (lambda x, y: x - -y, lambda x, y: x + y),
    "(-x) - y": (lambda x, y: -x - y, lambda x, y: -(x + y)),
    "1 - (-x)": (lambda x, y: 1.0 - -x, lambda x, y: 1.0 + x),
    "(-x) * y": (lambda x, y: -x * y, lambda x, y: -(x * y)),
    "x * (-y)": (lambda x, y: x * -y, lambda x, y: -(x * y)),
    "(-x) * 2": (lambda x, y: -x * 2.0, lambda x, y: -2.0 * x),
    "(-x) / y": (lambda x, y: -x / y, lambda x, y: -(x / y)),
    "x / (-y)": (lambda x, y: x / -y, lambda x, y: -(x / y)),
    "2 (3 x)": (lambda x, y: 2.0 * (3.0 * x), lambda x, y: 6.0 * x),
    "(x + 1) + 2": (lambda x, y: x + 1.0 + 2.0, lambda x, y: x + 3.0),
    "2 x + 3 x": (lambda x, y: 2.0 * x + 3.0 * x, lambda x, y: 5.0 * x),
    "2 x - 3 x": (lambda x, y: 2.0 * x - 3.0 * x, lambda x, y: -x),
    "2 x - 2 x": (lambda x, y: 2.0 * x - x * 2.0, lambda x, y: 0.0),
    "x + (-2) y": (lambda x, y: x + -2.0 * y, lambda x, y: x - 2.0 * y),
    "(-2) x + y": (lambda x, y: -2.0 * x + y, lambda x, y: y - 2.0 * x),
    "x - (-2) y": (lambda x, y: x - -2.0 * y, lambda x, y: x + 2.0 * y),
    "where of one value": (lambda x, y: x.where(y, y), lambda x, y: y),
    "mask * y": (lambda x, y: x.where(1.0, 0.0) * y, lambda x, y: x.where(y, 0.0)),
    "y * mask": (lambda x, y: y * x.where(0.0, 1.0), lambda x, y: x.where(0.0, y)),
}


@pytest.mark.parametrize("rule", RULES)
def test_rule(rule):
    g = Graph()
    x, y = g.input("x"), g.input("y")
    written, expected = (f(x, y) for f in RULES[rule])
    assert written is expected or (isinstance(written, float) and written == expected)


@pytest.mark.parametrize("divisor", [3.0, -7.0, 1e-299, 1e299, 1e-310, 5e-324, 1.7e308, -1e-305])
def test_division_by_a_number_keeps_its_digits(divisor):
    p = trace("quotient", lambda x: ([x[0] / divisor],), [Port("x", (1,))], [Port("y", (1,))])
    for x in (divisor, 3.0 * divisor, divisor / 3.0):
        if x and abs(x) < INF:
            assert python.evaluate(p, [x])[0][0] == pytest.approx(x / divisor, rel=4e-16)


@pytest.mark.parametrize(("x", "expected"), [(1.0, INF), (-1.0, -INF), (0.0, NAN)])
def test_division_by_zero_is_left_to_arithmetic(x, expected):
    p = trace("quotient", lambda x: ([x[0] / 0.0],), [Port("x", (1,))], [Port("y", (1,))])
    assert python.evaluate(p, [x])[0][0] == pytest.approx(expected, nan_ok=True)


numbers = st.integers(-12, 12).map(lambda k: Fraction(k, 4))


@given(expressions(RATIONAL), st.lists(numbers, min_size=INPUTS, max_size=INPUTS))
def test_rules_keep_the_exact_value(e, x):
    try:
        expected = value(e, x, FRACTIONS, Fraction)
        found = run(program(e), x, FRACTIONS, Fraction)
    except Reject:
        reject()
    assert found == [expected]


@given(expressions(SMOOTH), st.lists(st.floats(-3.0, 3.0), min_size=INPUTS, max_size=INPUTS))
def test_rules_keep_the_value_in_floats(e, x):
    """To 1e-12 of the sizes that are added on the way: a bound on the round-off of either order."""
    p = program(e)
    with mpmath.workdps(40):
        try:
            expected, size = value(e, [(mpmath.mpf(v), 0) for v in x], BOUNDED, lambda c: (mpmath.mpf(c), 0))
        except Reject:
            reject()
        (found,) = python.evaluate(p, x)[0]
        assert abs(found - expected) <= 1e-12 * size + 1e-300


@given(expressions(SMOOTH), expressions(("add", "mul", "sin", "where", "less", "tanh")))
def test_what_is_multiplied_by_zero_may_be_nan(e, other):
    """Zero times anything is zero: the program does not even contain it."""
    alone = program(e, inputs=2 * INPUTS)

    def shifted(e):
        return (e[0], e[1] + INPUTS) if e[0] == "x" else e if e[0] == "c" else (e[0], *map(shifted, e[1:]))

    nothing = ("mul", ("c", 0.0), shifted(other))
    for joined in (("add", e, nothing), ("sub", e, nothing), ("add", nothing, e)):
        p = program(joined, inputs=2 * INPUTS)
        assert p.digest == alone.digest


def test_a_masked_value_may_be_nan():
    p = trace("safe", lambda x: ([x[0].greater(0.0).where(1.0, 0.0) * x[1]],), [Port("x", (2,))], [Port("y", (1,))])
    assert python.evaluate(p, [-1.0, NAN]) == [[0.0]]
    assert python.evaluate(p, [1.0, 3.0]) == [[3.0]]
