"""A missing table entry fails here, not at a user."""

import pytest

from linkwise.backend import arrays, c, javascript, operations
from linkwise.graph.derivative import PARTIALS
from linkwise.graph.inline import WRITTEN
from linkwise.graph.op import OPS

TABLES = {
    "PARTIALS": set(PARTIALS),
    "INSTRUCTIONS and COMPOSITE": set(operations.INSTRUCTIONS)
    | set(operations.COMPOSITE)
    | {"sin", "cos"},  # one sincos an angle
    "FUNCTIONS": set(arrays.FUNCTIONS),
    "EXPRESSIONS of C": set(c.EXPRESSIONS),
    "EXPRESSIONS of JavaScript": set(javascript.EXPRESSIONS),
    "WRITTEN": set(WRITTEN),
}


@pytest.mark.parametrize("table", TABLES)
def test_table_has_every_operation_and_no_other(table):
    assert TABLES[table] == set(OPS)


@pytest.mark.parametrize("op", OPS.values(), ids=OPS)
def test_texts_use_every_argument(op):
    marks = [f"<{k}>" for k in range(op.arity)]
    for text in (op.text, c.EXPRESSIONS[op.name], javascript.EXPRESSIONS[op.name]):
        assert all(m in text.format(*marks, f="") for m in marks)


@pytest.mark.parametrize("op", OPS.values(), ids=OPS)
def test_partials_are_as_many_as_arguments(op):
    from linkwise.graph.node import Graph

    g = Graph()
    args = [g.input(f"x{k}") for k in range(op.arity)]
    assert len(PARTIALS[op.name](g.apply(op.name, *args), *args)) == op.arity


def test_an_operation_is_listed_once():
    assert not set(operations.INSTRUCTIONS) & set(operations.COMPOSITE)
    assert all(name == op.name for name, op in OPS.items())
