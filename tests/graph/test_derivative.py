"""Derivatives: forward, reverse and along a direction, once and twice, against differences in high precision."""

import mpmath
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from linkwise.backend import python
from linkwise.graph import derivative
from linkwise.graph.derivative import along, forward, gradient, jacobian, reverse
from linkwise.graph.node import Graph
from linkwise.graph.op import OPS
from linkwise.graph.program import Port, finish, trace
from support.expressions import ANY, INPUTS, MP, TAME, Reject, build, close, expressions, run, value

DIGITS = 60
STEP = mpmath.mpf(10) ** -15
points = st.lists(st.floats(-2.0, 2.0), min_size=INPUTS, max_size=INPUTS)


def derived(roots, derive):
    """A program of what `derive(outputs, inputs)` returns, flat, for outputs given as expressions."""
    g = Graph()
    x = tuple(g.input(f"x{k}") for k in range(INPUTS))
    values = derive([build(e, x) for e in roots], list(x))
    return finish("derived", g, [Port("x", (INPUTS,))], [Port("y", (len(values),))], [x], [values])


def flat(rows):
    return [x for row in rows for x in row]


def second(mode):
    """All second derivatives of the first output."""

    def derive(outputs, x):
        return flat(jacobian(jacobian(outputs[:1], x, mode)[0], x, mode))

    return derive


def tame(e, x):
    """The value near x, or Reject where a derivative would be large or missing."""
    return value(e, x, TAME, mpmath.mpf)


def differences(e, x):
    rows = []
    for k in range(INPUTS):
        up, down = ([v + s * STEP * (j == k) for j, v in enumerate(x)] for s in (1, -1))
        rows.append((tame(e, up) - tame(e, down)) / (2 * STEP))
    return rows


def second_differences(e, x):
    def at(j, k, a, b):
        return tame(e, [v + STEP * (a * (i == j) + b * (i == k)) for i, v in enumerate(x)])

    return [
        (at(j, k, 1, 1) - at(j, k, 1, -1) - at(j, k, -1, 1) + at(j, k, -1, -1)) / (4 * STEP**2)
        for j in range(INPUTS)
        for k in range(INPUTS)
    ]


def precise(p, x):
    return run(p, x, MP, mpmath.mpf)


@given(expressions(ANY), points)
def test_first_derivatives(e, x):
    with mpmath.workdps(DIGITS):
        x = [mpmath.mpf(v) for v in x]
        try:
            expected = differences(e, x)
        except Reject:
            reject()
        for mode in ("forward", "reverse", "auto"):
            p = derived([e], lambda out, w, mode=mode: jacobian(out, w, mode)[0])
            assert all(map(lambda a, b: close(a, b, 1e-12), precise(p, x), expected)), mode


@given(expressions(ANY, most=8), points)
def test_second_derivatives(e, x):
    with mpmath.workdps(DIGITS):
        x = [mpmath.mpf(v) for v in x]
        try:
            expected = second_differences(e, x)
        except Reject:
            reject()
        for mode in ("forward", "reverse"):
            found = precise(derived([e], second(mode)), x)
            assert all(map(lambda a, b: close(a, b, 1e-12), found, expected)), mode


@given(st.lists(expressions(ANY, most=6), min_size=1, max_size=3), points, points)
def test_modes_agree_on_many_outputs(roots, x, v):
    """Forward rows = reverse rows, and their product with a direction = the derivative along it."""
    with mpmath.workdps(DIGITS):
        x = [mpmath.mpf(a) for a in x]
        try:
            for e in roots:
                differences(e, x)
        except Reject:
            reject()
        ahead, back = (precise(derived(roots, lambda o, w, m=m: flat(m(o, w))), x) for m in (forward, reverse))
        assert all(map(lambda a, b: close(a, b, 1e-12), ahead, back))
        moved = precise(derived(roots, lambda o, w: along(o, w, v)), x)
        rows = [ahead[INPUTS * k : INPUTS * (k + 1)] for k in range(len(roots))]
        expected = [mpmath.fdot(row, v) for row in rows]
        assert all(map(lambda a, b: close(a, b, 1e-12), moved, expected))


@given(expressions(ANY, most=8), points)
def test_time_derivative_by_inputs_as_rates(e, x):
    """`along` takes traced directions: d/dt of f(x(t)) with x1 the rate of x0."""
    with mpmath.workdps(DIGITS):
        x = [mpmath.mpf(a) for a in x]
        try:
            d = differences(e, x)
        except Reject:
            reject()
        (found,) = precise(derived([e], lambda o, w: along(o, w, [w[1], 2.0, 0.0])), x)
        assert close(found, d[0] * x[1] + 2 * d[1], 1e-11)


# ---- each rule alone, in floats, where the derivative is known

AT = {
    "add": ((0.3, -0.7), (1.0, 1.0)),
    "sub": ((0.3, -0.7), (1.0, -1.0)),
    "mul": ((0.3, -0.7), (-0.7, 0.3)),
    "div": ((0.3, -0.5), (-2.0, -1.2)),
    "neg": ((0.3,), (-1.0,)),
    "sqrt": ((0.25,), (1.0,)),
    "sin": ((0.0,), (1.0,)),
    "cos": ((0.0,), (0.0,)),
    "exp": ((0.0,), (1.0,)),
    "tanh": ((0.0,), (1.0,)),
    "atan2": ((0.3, -0.4), (-1.6, -1.2)),
    "sign": ((0.0,), (0.0,)),
    "abs": ((-0.3,), (-1.0,)),
    "min": ((0.3, -0.7), (0.0, 1.0)),
    "max": ((0.3, -0.7), (1.0, 0.0)),
    "less": ((0.3, 0.3), (0.0, 0.0)),
    "where": ((1.0, 5.0, 6.0), (0.0, 1.0, 0.0)),
}


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("op", OPS)
def test_partial_derivatives(op, mode):
    x, expected = AT[op]
    g = Graph()
    leaves = tuple(g.input(f"x{k}") for k in range(len(x)))
    rows = jacobian([g.apply(op, *leaves)], list(leaves), mode)
    p = finish("d", g, [Port("x", (len(x),))], [Port("y", (len(x),))], [leaves], rows)
    assert python.evaluate(p, x)[0] == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("x", [-1.0, 0.0, 1.0])
def test_absolute_value_has_slope_zero_at_zero(x):
    p = trace("d", lambda x: (gradient(abs(x[0]), x),), [Port("x", (1,))], [Port("y", (1,))])
    assert python.evaluate(p, [x]) == [[float((x > 0) - (x < 0))]]


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_constants_and_inputs_as_outputs(mode):
    g = Graph()
    x, y = g.input("x"), g.input("y")
    assert jacobian([3.0, x, g.constant(2.0), y.sin() * 0.0], [x, y], mode) == [
        [0.0, 0.0],
        [1.0, 0.0],
        [0.0, 0.0],
        [0.0, 0.0],
    ]


def test_with_respect_to_an_intermediate_value():
    """The chain stops there: the intermediate value is independent."""
    g = Graph()
    x = g.input("x")
    z = x.sin()
    assert forward([z * x], [z]) == reverse([z * x], [z]) == [[x]]
    assert along([z * x], [z], [1.0]) == [x]


def test_derivatives_of_linear_functions_are_numbers():
    g = Graph()
    x, y = g.input("x"), g.input("y")
    rows = [[2.0, -3.0], [-1.0, 0.0]]
    outputs = [2.0 * x - 3.0 * y, 1.0 - x]
    assert forward(outputs, [x, y]) == reverse(outputs, [x, y]) == rows


@pytest.mark.parametrize("divide", [lambda x: x / 0.0, lambda x: (x * x) / 0.0])
def test_division_by_zero_has_a_derivative_that_is_not_finite(divide):
    p = trace("d", lambda x: (gradient(divide(x[0]), x),), [Port("x", (1,))], [Port("y", (1,))])
    assert abs(python.evaluate(p, [1.0])[0][0]) == float("inf")


def test_forward_derivative_of_the_branch_not_taken_may_be_infinite():
    """sqrt guarded by a where: the infinite slope of the other branch does not spoil the result."""

    def guarded(x):
        return x[0].greater(0.0).where(x[0].sqrt(), x[0])

    p = trace("d", lambda x: (forward([guarded(x)], x)[0],), [Port("x", (1,))], [Port("y", (1,))])
    assert python.evaluate(p, [0.0]) == [[1.0]]
    assert python.evaluate(p, [0.25]) == [[1.0]]


def test_only_known_modes():
    with pytest.raises(KeyError):
        jacobian([], [], "sideways")


def test_sparse_forward_mode_does_no_work_for_absent_directions():
    g = Graph()
    x = [g.input(f"x{k}") for k in range(5)]
    before = len(g.nodes)
    rows = derivative.forward([v.sin() for v in x], x)
    assert [[v != 0.0 for v in row] for row in rows] == [[j == k for j in range(5)] for k in range(5)]
    assert len(g.nodes) == before + 10  # five sines, five cosines


def test_reverse_mode_does_no_work_for_what_does_not_matter():
    g = Graph()
    x, y = g.input("x"), g.input("y")
    f = (x * y.sin()).sin()
    before = len(g.nodes)
    derivative.reverse([f], [x])
    assert [n.op for n in g.nodes[before:]] == ["cos", "mul"]  # none for the sine of y
