"""Generated JavaScript gives the kernel's numbers in a browser."""

from dataclasses import replace

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwise as lw
from linkwise.backend import javascript
from linkwise.errors import InputError
from linkwise.graph.op import FARTHEST, OPS
from linkwise.graph.program import Port, trace
from support.arms import arm, states, still
from support.backends import definition, every_op, in_javascript, ulps
from support.browser import Opened
from support.every_machine import sort
from support.expressions import BOUNDED, RATIONAL, SMOOTH, Reject, expressions, program, value

EXACT = ("add", "sub", "mul", "div", "neg", "sqrt", "sign", "abs", "min", "max", "less", "where")
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.3, -2.75, 5e-324, -1e-9, 12345.678, -30.0, 709.5, 1e160, np.inf, -np.inf, np.nan]
MACHINES = (
    "arm", "floating", "moving base", "elastic", "five-bar", "five-bar, elastic", "ankle, moving base", "hexapod",
    "hexapod, elastic", "3-RRR", "arm + hexapod",
)  # fmt: skip


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    """An empty page, which nothing may complain in."""
    path = tmp_path_factory.mktemp("pages") / "empty.html"
    path.write_text("<!doctype html><title>empty</title><link rel='icon' href='data:,'>")
    with Opened(browser, path) as opened:
        yield opened.page
        assert opened.console == []


def near(found, expected, part):
    """Results to a part of the largest number of each; NaN in the same places."""
    for a, b in zip(*(x if isinstance(x, tuple) else (x,) for x in (found, expected)), strict=True):
        np.testing.assert_allclose(a, b, rtol=0.0, atol=part * max(1e-30, np.nanmax(np.abs(b), initial=0.0)))


# ---- operations


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_operation(page, dtype):
    """Arithmetic to the last bit, functions to 4 units in the last place; sine and cosine take any angle."""
    rng = np.random.default_rng(1)
    pairs = [(a, b, c) for a in SPECIAL for b in SPECIAL for c in (1.5, np.nan)]
    wide = rng.normal(size=(200, 3)) * 10.0 ** rng.integers(-8, 8, (200, 3))
    rows = np.concatenate([pairs, rng.uniform(-4.0, 4.0, (200, 3)), wide])
    with np.errstate(all="ignore"):
        rows = rows.astype(dtype).astype(float)
    found = dict(zip(OPS, in_javascript(page, every_op(dtype))(rows), strict=True))
    expected = dict(zip(OPS, definition(every_op())(rows), strict=True))
    far = np.isfinite(rows[:, 0]) & (np.abs(rows[:, 0]) >= FARTHEST["float64"])
    for op, y in found.items():
        with np.errstate(all="ignore"):
            truth = expected[op].astype(dtype)
        if op in ("sin", "cos"):
            assert (np.abs(y[far]) <= 1.0).all()
            y[far] = np.nan
        worst = ulps(y, truth)
        k = int(np.argmax(worst))
        assert worst[k] <= (0.0 if op in EXACT else 4.0), f"{op}{tuple(rows[k])}: {y[k]!r}, expected {truth[k]!r}"


NUMBERS = st.floats(-4.0, 4.0) | st.sampled_from(SPECIAL)


@settings(max_examples=60)
@given(st.lists(expressions((*RATIONAL, "sqrt")), min_size=8, max_size=8), st.lists(NUMBERS, min_size=3, max_size=3))
def test_random_expressions_to_the_last_bit(page, some, x):
    p = program(*some)
    np.testing.assert_array_equal(in_javascript(page, p)(x), definition(p)(x))


@settings(max_examples=60)
@given(st.lists(expressions(SMOOTH), min_size=8, max_size=8), st.lists(st.floats(-3.0, 3.0), min_size=3, max_size=3))
def test_random_functions_to_a_bound_of_their_rounding(page, some, x):
    found = in_javascript(page, program(*some))(x)
    for e, y in zip(some, found, strict=True):
        try:
            expected, size = value(e, [(mpmath.mpf(v), 0) for v in x], BOUNDED, lambda c: (mpmath.mpf(c), 0))
        except (Reject, ZeroDivisionError):
            continue
        assert abs(mpmath.mpf(float(y)) - expected) <= 4 * 2.0**-53 * size + 1e-300


# ---- machines


@pytest.mark.parametrize("name", MACHINES)
def test_machines(page, name):
    """Torques of trees, of loops closed in form and by Newton's method, of platforms and elastic drives."""
    machine = sort(name)
    kernel = machine.dynamics().inverse_dynamics
    inputs = [*machine.states(5), *machine.surroundings(5)]
    near(in_javascript(page, kernel.program)(*inputs), kernel(*inputs), 1e-12)


def test_some_machine_is_closed_by_newtons_method():
    text = sort("ankle, moving base").dynamics().inverse_dynamics.javascript_source("ankle")
    assert "function ankle_turn(" in text
    assert "Newton's method, at most" in text


@pytest.mark.parametrize(
    ("algorithm", "options"),
    [
        (lw.mass_matrix, {}),
        (lw.forward_dynamics, {}),
        (lw.joint_wrenches, {"external": ("tool",), "gravity": "input"}),
        (lw.inverse_dynamics_derivatives, {}),
        (lw.jacobian, {"frame": "tool"}),
        (lw.inverse_dynamics, {"parameters": ("link2.mass", "joint1.coulomb")}),
    ],
    ids=lambda x: getattr(x, "name", None),
)
def test_kernels(page, algorithm, options):
    k = lw.compile(arm(3), algorithm, **options)
    rng = np.random.default_rng(0)
    x = [rng.uniform(-2.0, 2.0, (5, *s)) for s in k.inputs.values()]
    near(in_javascript(page, k.program)(*x), k(*x), 1e-12)


def test_rows_that_have_not_arrived_are_nan(page):
    machine = sort("ankle, moving base")
    program = machine.dynamics().inverse_dynamics.program.whole
    short = replace(program, before=replace(program.before, most=1))
    inputs = [*machine.states(2), *machine.surroundings(2)]
    assert np.isnan(in_javascript(page, short)(*inputs)).all()


def test_float32(page):
    k = lw.compile(arm(3), lw.inverse_dynamics, dtype="float32")
    x = states(k.robot, 20)
    near(in_javascript(page, k.program)(*x), k(*x), 5e-6)
    tau = in_javascript(page, replace(k.program.whole, dtype="float64"))(*x).astype(np.float32)
    assert (in_javascript(page, k.program)(*x) != tau).any()  # rounded all along, not at the end


@pytest.mark.parametrize("name", ["arm", "ankle, moving base"])
def test_long_functions_are_cut(page, name, monkeypatch):
    """Engines leave very long functions uncompiled."""
    machine = sort(name)
    kernel = machine.dynamics().inverse_dynamics
    inputs = [*machine.states(3), *machine.surroundings(3)]
    whole = in_javascript(page, kernel.program)(*inputs)
    monkeypatch.setattr(javascript, "LONGEST", {"float64": 60})
    assert kernel.javascript_source().count("(() => {") > 10
    np.testing.assert_array_equal(in_javascript(page, kernel.program)(*inputs), whole)


def test_a_step_of_a_rollout(page):
    rollout = lw.compile_rollout(lw.load("rr"))
    assert rollout.javascript_source("one_step").count("function one_step(q, qd, u, dt") == 1


# ---- as text


def ask(page, text, call):
    return page.evaluate(f"() => {{ {text}\n return {call}; }}")


def test_flat_arrays_of_both_kinds(page):
    k = lw.compile(arm(2), lw.algorithms.gravity_forces)
    text = k.javascript_source("hold_still")
    for kind in ("", "new Float64Array"):
        found = ask(page, text, f"(g => {{ hold_still({kind}([0.3, -0.4]), g); return [...g]; }})({kind}([0, 0]))")
        np.testing.assert_allclose(found, k([0.3, -0.4]), rtol=1e-13)


@pytest.mark.parametrize("name", ["", "1st", "a-b", "function", "Math", "NaN", "f(", "été", 3, "x\n"])
def test_names_that_javascript_does_not_allow(name):
    k = lw.compile(arm(2), lw.algorithms.gravity_forces)
    with pytest.raises(InputError, match="javascript_source name: expected"):
        k.javascript_source(name)


def test_outputs_may_be_inputs(page):
    program = trace("turn", lambda x: ([x[2], x[0], x[1] * x[0], 4.0, x[0]],), [Port("x", (3,))], [Port("y", (5,))])
    text = javascript.source(program, None, "t")
    assert ask(page, text, "(x => { turn(x, x); return x; })([1, 2, 3, 0, 0])") == [3.0, 1.0, 2.0, 4.0, 1.0]


def test_names_and_numbers_that_javascript_has_itself(page):
    numbers = [0.1, -0.1, 1e300, -5e-324, 1e16, 2.0**70, float("inf"), -float("inf"), float("nan"), -3.0]

    def function(new, t1, arguments):
        part = new[0].exp() * t1[0]
        part.named("typeof")
        other = part + arguments[0]
        other.named("kept")
        return [part.sin() + other, part], list(numbers)

    ports = [Port("new", (1,)), Port("t1", ()), Port("arguments", (1,))]
    program = trace("words", function, ports, [Port("new", (2,)), Port("Math", (10,))])
    a, b = in_javascript(page, program)([0.3], 1.7, [-0.2])
    part = np.exp(0.3) * 1.7
    np.testing.assert_allclose(a, [np.sin(part) + part - 0.2, part], rtol=1e-15)
    np.testing.assert_array_equal(b, numbers)


def test_a_robot_that_cannot_move(page):
    k = lw.compile(still(2), lw.inverse_dynamics)
    assert ask(page, k.javascript_source(), "inverse_dynamics([], [], [], [])") is None


@pytest.mark.parametrize(
    "name", ["a */ b", "two\nlines", "back\\", "</script><b>", "<!-- <script>", "\u2028", '"`${1}']
)
def test_a_robots_name_cannot_leave_the_comment_or_the_page(browser, name, tmp_path):
    k = lw.compile(arm(1, name=name), lw.algorithms.gravity_forces)
    path = tmp_path / "page.html"
    text = f"<!doctype html><meta charset='utf-8'><script>{k.javascript_source('f')}</script><p>end</p>"
    path.write_text(text, encoding="utf-8")
    with Opened(browser, path) as opened:
        assert opened.ask("typeof f") == "function"
        assert opened.ask("document.body.innerText").strip() == "end"
        assert opened.console == []
