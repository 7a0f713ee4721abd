"""Listings read as Python: running one gives the program's numbers."""

import mpmath
import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st

from linkwise.graph.op import OPS
from linkwise.graph.program import Port, trace
from linkwise.graph.show import assignments, listing, names
from support.expressions import ANY, INPUTS, MP, TAME, Reject, close, expressions, program, run

NAMES = ("sqrt", "sin", "cos", "exp", "tanh", "atan2", "sign", "abs", "min", "max", "less", "where")
FUNCTIONS = {op: TAME[op] for op in NAMES}


@given(
    st.lists(expressions(ANY), min_size=1, max_size=3),
    st.lists(st.floats(-3.0, 3.0), min_size=INPUTS, max_size=INPUTS),
)
def test_a_listing_computes_the_program(roots, x):
    """The texts' parentheses are right."""
    p = program(*roots)
    with mpmath.workdps(40):
        x = [mpmath.mpf(v) for v in x]
        try:
            expected = run(p, x, TAME, mpmath.mpf)
            space = {**FUNCTIONS, "nan": mpmath.nan, "inf": mpmath.inf, **{f"x{k + 1}": v for k, v in enumerate(x)}}
            exec(listing(p, "test"), space)
        except Reject:
            reject()
        assume(all(map(mpmath.isfinite, expected)))
        assert all(close(space[f"y{k + 1}"], y, 1e-30) for k, y in enumerate(expected))


@pytest.mark.parametrize("outer", OPS)
@pytest.mark.parametrize("inner", OPS)
def test_an_operation_within_another_is_in_parentheses_where_needed(outer, inner):
    """In every place, written as it is and no rule applied."""
    x = [mpmath.mpf(v) / 8 for v in (5, 11, 17, 23, 41)]
    for place in range(OPS[outer].arity):

        def function(leaves, place=place):
            spare = iter(leaves)
            within = leaves[0].graph.apply(inner, *(next(spare) for _ in range(OPS[inner].arity)))
            args = [within if k == place else next(spare) for k in range(OPS[outer].arity)]
            return ([leaves[0].graph.apply(outer, *args)],)

        p = trace("f", function, [Port("x", (5,))], [Port("y", (1,))])
        space = {**{op: MP[op] for op in FUNCTIONS}, **{f"x{k + 1}": v for k, v in enumerate(x)}}
        exec(listing(p, "test"), space)
        assert close(space["y1"], run(p, x, MP, mpmath.mpf)[0], 1e-14)


def test_names_are_unique_even_if_inputs_look_like_ours():
    def function(t, q):
        parts = [t[0] + q[0], t[1] * q[0], t[0] * t[1]]
        parts[1].named("t3")
        return ([p.sin() * p.cos() for p in parts],)

    p = trace("f", function, [Port("t", (2,)), Port("q", (1,))], [Port("y", (3,))])
    given = list(names(p).values())
    assert len(set(given)) == len(given)


def test_sines_and_cosines_of_coordinates_have_short_names():
    p = trace("f", lambda q: ([q[1].sin() * q[1].cos()],), [Port("q", (2,))], [Port("y", (1,))])
    assert set(names(p).values()) >= {"S2", "C2"}


def test_named_values_keep_a_line_of_their_own():
    def function(x):
        v = x[0] * x[1]
        v.named("power")
        return ([v + 1.0],)

    p = trace("f", function, [Port("x", (2,))], [Port("y", (1,))])
    assert ("power", "x1*x2") in assignments(p)


def test_head_of_a_listing():
    p = trace("f", lambda x: ([x[0] + x[1]],), [Port("x", (2,))], [Port("y", ())])
    assert listing(p, "sum\nof two").splitlines()[:8] == [
        "# sum", "# of two", "# ", "# operations: 1 add", "# input : x (2,)", "# output: y ()", "", "t1 = x1 + x2",
    ]  # fmt: skip
