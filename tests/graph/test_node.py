"""Interning, and what a traced value refuses to do."""

import math

import pytest
from hypothesis import given

from linkwise.graph.node import Graph, lift
from support.expressions import ANY, build, expressions


@pytest.fixture
def graph():
    return Graph()


@pytest.fixture
def x(graph):
    return graph.input("x")


@pytest.fixture
def y(graph):
    return graph.input("y")


def test_equal_expressions_are_one_node(x, y):
    assert (x * y).sin() + 2.0 is (x * y).sin() + 2.0


def test_sums_and_products_commute(x, y):
    assert x + y is y + x
    assert x * y is y * x
    assert 3.0 * x is x * 3
    assert 3.0 + x is x + 3


def test_differences_and_quotients_do_not_commute(x, y):
    assert x - y is not y - x
    assert x / y is not y / x


def test_inputs_of_one_name_are_two(graph):
    assert graph.input("x") is not graph.input("x")


def test_constants_are_interned(graph):
    assert graph.constant(1.5) is graph.constant(1.5)
    assert lift(graph, 2) is graph.constant(2.0)
    assert isinstance(lift(graph, True).value, float)


@given(expressions(ANY))
def test_writing_an_expression_again_makes_no_node(e):
    g = Graph()
    x = [g.input(f"x{k}") for k in range(3)]
    first = build(e, x)
    made = len(g.nodes)
    assert build(e, x) is first or isinstance(first, float)
    assert len(g.nodes) == made


@given(expressions(ANY))
def test_arguments_stand_before_uses(e):
    g = Graph()
    build(e, [g.input(f"x{k}") for k in range(3)])
    for k, n in enumerate(g.nodes):
        assert n.index == k
        assert all(a.index < k for a in n.args)


@pytest.mark.parametrize("power", range(-3, 5))
def test_whole_powers(x, power):
    from linkwise.backend import python
    from linkwise.graph.program import Port, trace

    p = trace("power", lambda x: ([x[0] ** power],), [Port("x", (1,))], [Port("y", (1,))])
    assert python.evaluate(p, [1.5])[0][0] == pytest.approx(1.5**power, rel=1e-15)


def test_other_powers_are_refused(x):
    with pytest.raises(TypeError, match="whole powers"):
        x**0.5


@pytest.mark.parametrize(
    "misuse",
    [bool, float, lambda x: x < 1.0, lambda x: x >= x, lambda x: max(x, 1.0), lambda x: 1.0 if x else 2.0, math.sin],
)
def test_a_traced_value_has_no_number(x, misuse):
    with pytest.raises(TypeError, match="while tracing"):
        misuse(x)


def test_the_first_name_stays(graph, x, y):
    z = x + y
    z.named("sum")
    z.named("other")
    x.named("renamed")
    assert graph.names == {z.index: "sum"}


def test_repr_reads_as_the_expression(x, y):
    assert repr(x + y) == "x + y"
    assert repr(x.less(2.0)) == "less(x, 2.0)"
    assert repr((x + y).sin()).startswith("sin(t")
