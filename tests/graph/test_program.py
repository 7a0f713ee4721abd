"""Programs: schedule, counts, digest, and results that are no expressions."""

import pytest
from hypothesis import given

from linkwise.backend import python
from linkwise.errors import LinkwiseError
from linkwise.graph.program import Port, trace
from support.expressions import ANY, expressions, program
from support.processes import run

X, Y = Port("x", (3,)), Port("y", (2,))


def traced(function, inputs=(X,), outputs=(Y,)):
    return trace("f", function, inputs, outputs)


def test_results_that_are_inputs_or_constants():
    p = trace(
        "f",
        lambda x, s: ([x[2], 4, x[0]], [s[0]], [-0.0, x[1] * 0.0]),
        [X, Port("s", ())],
        [Port("a", (3,)), Port("b", ()), Port("c", (2,))],
    )
    assert p.schedule == ()
    assert p.count() == {}
    assert python.evaluate(p, [1.0, 2.0, 3.0], [5.0]) == [[3.0, 4.0, 1.0], [5.0], [0.0, 0.0]]


def test_dead_expressions_are_not_scheduled():
    def function(x):
        _ = x[0].exp() * x[1]
        return ([x[0] + x[1], x[2]],)

    assert [n.op for n in traced(function).schedule] == ["add"]


@given(expressions(ANY), expressions(ANY))
def test_schedule_is_live_ordered_and_unique(a, b):
    p = program(a, b)
    seen = {n.index for n in p.leaves[0]}
    for n in p.schedule:
        assert all(arg.op == "const" or arg.index in seen for arg in n.args)
        assert n.index not in seen
        seen.add(n.index)
    used = {arg.index for n in p.schedule for arg in n.args} | {n.index for n in p.results[0]}
    assert all(n.index in used for n in p.schedule)


def test_count_by_kind():
    def function(x):
        a, b, c = x
        return ([(a * b - c) / b + a.sin() * a.cos() + b.cos(), -(a * c).sqrt() + abs(a.sign())],)

    # the sum of -sqrt and abs is a difference
    assert traced(function).count() == {"mul": 3, "add": 4, "div": 1, "sincos": 2, "other": 3}


def test_a_shared_expression_counts_once():
    assert traced(lambda x: ([(x[0] * x[1]) + 1.0, (x[1] * x[0]) + 2.0],)).count() == {"mul": 1, "add": 2}


def test_a_lone_negation_counts():
    assert traced(lambda x: ([-x[0], x[1]],)).count() == {"neg": 1}


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda x: ([x[0]],), "expected 2 numbers for y, got 1"),
        (lambda x: ([x[0]] * 3,), "expected 2 numbers for y, got 3"),
        (lambda x: ([x[0]] * 2, [1.0]), "expected 1 outputs, got 2"),
        (lambda x: (), "expected 1 outputs, got 0"),
    ],
)
def test_sizes_are_checked(returned, message):
    with pytest.raises(LinkwiseError, match=message):
        traced(returned)


# ---- digest

DIFFERENT = {
    "reference": lambda x: ([x[0] + x[1], x[2]],),
    "operation": lambda x: ([x[0] * x[1], x[2]],),
    "arguments": lambda x: ([x[0] + x[2], x[2]],),
    "order": lambda x: ([x[2], x[0] + x[1]],),
    "result is another input": lambda x: ([x[0] + x[1], x[1]],),
    "result is a number": lambda x: ([x[0] + x[1], 2.0],),
    "another number": lambda x: ([x[0] + x[1], 2.0000000000000004],),
    "a number in an expression": lambda x: ([x[0] + 1.0, x[2]],),
    "infinity": lambda x: ([x[0] + float("inf"), x[2]],),
    "nan": lambda x: ([x[0] + float("nan"), x[2]],),
    "difference": lambda x: ([x[0] - x[1], x[2]],),
    "difference turned": lambda x: ([x[1] - x[0], x[2]],),
    "longer": lambda x: ([(x[0] + x[1]).sin(), x[2]],),
}


def test_digests_of_different_programs_differ():
    digests = [traced(f).digest for f in DIFFERENT.values()]
    digests.append(traced(DIFFERENT["reference"], inputs=[Port("z", (3,))]).digest)
    digests.append(traced(DIFFERENT["reference"], inputs=[Port("x", (1, 3))]).digest)
    digests.append(traced(DIFFERENT["reference"], outputs=[Port("y", (2, 1))]).digest)
    digests.append(traced(DIFFERENT["reference"], inputs=[Port("x", (4,))]).digest)
    assert len(set(digests)) == len(digests)


def test_digest_ignores_names_and_dead_expressions():
    def function(x):
        x[2].exp()
        total = x[0] + x[1]
        total.named("total")
        return ([total, x[2]],)

    assert traced(function).digest == traced(DIFFERENT["reference"]).digest


DIGEST = """
from support.arms import arm
import linkwise as lw
print([lw.compile(arm(), a).program.digest for a in (lw.inverse_dynamics, lw.regressor)])
print(lw.compile(arm(), lw.inverse_dynamics).c_source())
"""


def test_digest_and_source_are_the_same_in_every_process():
    assert len({run(DIGEST, PYTHONHASHSEED=seed) for seed in ("0", "1", "4242")}) == 1
