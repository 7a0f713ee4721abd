"""Loops that run before a program: Newton's method inside a kernel, on every back end, row by row and in batches."""

import itertools
import pickle
from dataclasses import replace
from math import inf, nan, pi

import numpy as np
import pytest

import linkwise as lw
from linkwise import scalar
from linkwise.backend import arrays, c, ir, loop
from linkwise.backend import native as compiler
from linkwise.backend.call import caller
from linkwise.backend.target import Target
from linkwise.graph.iteration import Before
from linkwise.graph.program import Port, trace
from linkwise.graph.show import listing
from linkwise.kernel.kernel import Compiled
from support.backends import definition, in_c, native, shared_object

MOST = 40
FORMS = [(2, False), (4, True), (8, True)]


def unsettled(changes, tolerance):
    """1 while one of the changes is larger than the tolerance; a NaN is not, so it ends the loop."""
    left = 0.0
    for change in changes:
        left = scalar.where(scalar.less(tolerance, scalar.absolute(change)), 1.0, left)
    return left


def roots(most=MOST):
    """Square roots by Newton's method: large and small numbers take more turns than those near one."""

    def turn(x, a):
        after = 0.5 * (x[0] + a[0] / x[0])
        return [after], [unsettled([after - x[0]], 1e-14 * after)]

    body = trace("turn", turn, [Port("x", ()), Port("a", ())], [Port("next", ()), Port("left", ())])
    return trace(
        "roots",
        lambda a, root, b: ([root[0] * b[0], root[0]], [a[0] + b[0]]),
        [Port("a", ()), Port("root", ()), Port("b", ())],
        [Port("y", (2,)), Port("sum", ())],
        before=Before(body, ((1.0,),), ((0, "root"),), most),
    )


def guessed():
    """As `roots`, from a guess that is an argument, and with the number of turns taken as a result."""

    def turn(x, turns, a):
        after = 0.5 * (x[0] + a[0] / x[0])
        return [after], [turns[0] + 1.0], [unsettled([after - x[0]], 1e-14 * after)]

    body = trace(
        "turn", turn, [Port("x", ()), Port("n", ()), Port("a", ())], [Port("x", ()), Port("n", ()), Port("left", ())]
    )
    return trace(
        "guessed",
        lambda x, guess, n, a: ([x[0], n[0]],),
        [Port("x", ()), Port("guess", ()), Port("n", ()), Port("a", ())],
        [Port("y", (2,))],
        before=Before(body, ("guess", (0.0,)), ((0, "x"), (1, "n")), MOST),
    )


def crossing():
    """Where a circle and a sine meet: two equations, two unknowns, coefficients as a matrix."""

    def turn(x, m):
        u, v = x
        f, g = m[0] * u * u + m[1] * v * v - 1.0, v - m[2] * scalar.sin(u) - m[3]
        fu, fv, gu = 2.0 * m[0] * u, 2.0 * m[1] * v, -m[2] * scalar.cos(u)
        det = fu - fv * gu
        du, dv = (f - fv * g) / det, (fu * g - gu * f) / det
        return [u - du, v - dv], [unsettled([du, dv], 1e-13)]

    body = trace("turn", turn, [Port("x", (2,)), Port("m", (2, 2))], [Port("next", (2,)), Port("left", ())])
    return trace(
        "crossing",
        lambda m, at: ([at[0], at[1], m[0] * at[0] * at[0] + m[1] * at[1] * at[1] - 1.0],),
        [Port("m", (2, 2)), Port("at", (2,))],
        [Port("y", (3,))],
        before=Before(body, ((1.0, 0.2),), ((0, "at"),), MOST),
    )


def odd():
    """What loops can do besides: values that change places, numbers and inputs as results, one value given twice."""

    def turn(x, y, k, a):
        return [y[0], x[1]], [x[0], a[0]], [k[0] - 1.0], [k[0] - 1.0]

    shapes = [Port("x", (2,)), Port("y", (2,)), Port("k", ())]
    body = trace("turn", turn, [*shapes, Port("a", (1,))], [*shapes, Port("left", ())])
    return trace(
        "odd",
        lambda a, k, u, v, w: ([*u, *v, *w, a[0]],),
        [Port("a", (1,)), Port("turns", ()), Port("u", (2,)), Port("v", (2,)), Port("w", (2,))],
        [Port("y", (7,))],
        before=Before(body, ((1.0, 2.0), (3.0, 4.0), "turns"), ((0, "u"), (1, "v"), (0, "w")), MOST),
    )


rng = np.random.default_rng(0)
A = 10.0 ** rng.uniform(-8.0, 8.0, 61)
ROWS = {
    "roots": (roots(), (A, rng.normal(size=61))),
    "guessed": (guessed(), (A ** rng.uniform(0.0, 1.0, 61), A)),
    "crossing": (crossing(), (rng.uniform(0.5, 1.5, (61, 2, 2)) * [[1.0, 1.0], [1.0, 0.2]],)),
    "odd": (odd(), (rng.normal(size=(61, 1)), rng.integers(1, MOST, 61).astype(float))),
}


@pytest.fixture(params=ROWS)
def case(request):
    return ROWS[request.param]


def tupled(result):
    return result if isinstance(result, tuple) else (result,)


def bits(result):
    return [np.ascontiguousarray(x).view(np.uint64) for x in tupled(result)]


def equal(found, expected):
    for a, b in zip(bits(found), bits(expected), strict=True):
        np.testing.assert_array_equal(a, b)


def near(found, expected, rtol=1e-12):
    for a, b in zip(tupled(found), tupled(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-13)


# ---- the numbers


@pytest.mark.parametrize(("lanes", "fma"), FORMS)
@pytest.mark.parametrize("chunk", [500, 3])
def test_native(case, lanes, fma, chunk):
    program, rows = case
    near(native(program, lanes, fma, chunk, 2)(*rows), definition(program)(*rows))


def test_numpy(case):
    program, rows = case
    near(arrays.function(program)(*rows), definition(program)(*rows))


def test_c(case, tmp_path):
    program, rows = case
    near(in_c(tmp_path, program)(*rows), definition(program)(*rows))


def test_square_roots_take_different_numbers_of_turns():
    y = native(guessed())(np.sqrt(A[:30]) * 1.001, A[:30])
    np.testing.assert_allclose(y[:, 0], np.sqrt(A[:30]), rtol=1e-15)
    turns = native(guessed())(1.0, A)[:, 1]
    assert (y[:, 1] < 6).all()
    assert len(set(turns.tolist())) > 5
    assert turns.max() < MOST


def test_a_system_of_two_equations_is_solved():
    program, (m,) = ROWS["crossing"]
    u, v, rest = native(program)(m).T
    assert np.abs(rest).max() < 1e-14
    assert np.abs(v - m[:, 1, 0] * np.sin(u) - m[:, 1, 1]).max() < 1e-14


def test_the_odd_one_by_hand():
    """After an odd number of turns the first numbers have changed places; one turn brings the input in."""
    y = native(odd())([[7.0], [7.0], [8.0]], [1.0, 2.0, 5.0])
    swapped, back = [3.0, 2.0, 1.0, 7.0, 3.0, 2.0, 7.0], [1.0, 2.0, 3.0, 7.0, 1.0, 2.0, 7.0]
    np.testing.assert_array_equal(y, [swapped, back, [3.0, 2.0, 1.0, 8.0, 3.0, 2.0, 8.0]])


# ---- rows that do not arrive


@pytest.mark.parametrize("run", [native, arrays.function, definition])
def test_rows_that_give_up_are_nan_and_others_are_not(run):
    """Seven turns are enough near one; results that do not need the loop are there in any case."""
    a = np.array([1.0, 1e8, 2.0, 1e-8, 0.5, 3.0, 1e12, 1.5, 0.7])
    y, total = run(roots(most=7))(a, np.ones(9))
    far = (a > 10.0) | (a < 0.1)
    assert np.isnan(y[far]).all()
    np.testing.assert_allclose(y[~far, 1], np.sqrt(a[~far]), rtol=1e-15)
    np.testing.assert_array_equal(total, a + 1.0)


def test_rows_that_give_up_are_nan_in_c(tmp_path):
    a = np.array([1.0, 1e8, 2.0, -0.3])
    y, total = in_c(tmp_path, roots(most=7))(a, np.ones(4))
    assert np.isnan(y[[1, 3]]).all()
    np.testing.assert_allclose(y[[0, 2], 1], np.sqrt(a[[0, 2]]), rtol=1e-15)
    np.testing.assert_array_equal(total, a + 1.0)


def endless(most):
    """A loop that counts turns and goes on until there are as many as its input says."""
    body = trace(
        "turn",
        lambda n, m: ([n[0] + 1.0], [m[0] - n[0] - 1.0]),
        [Port("n", ()), Port("m", ())],
        [Port("n", ()), Port("left", ())],
    )
    before = Before(body, ((0.0,),), ((0, "n"),), most)
    return trace("endless", lambda m, n: ([n[0]],), [Port("m", ()), Port("n", ())], [Port("y", ())], before=before)


@pytest.mark.parametrize("run", [native, arrays.function, definition])
@pytest.mark.parametrize("most", [1, 2, 5])
def test_how_many_turns_are_allowed(run, most):
    """The last turn counts; what says NaN is done with what it has, what says infinity is not."""
    m = np.array([1.0, 2.0, 5.0, 6.0, 0.0, nan, inf, -inf, most])
    expected = [k if k <= most else nan for k in (1.0, 2.0, 5.0, 6.0)] + [nan, 1.0, nan, nan, most]
    np.testing.assert_array_equal(run(endless(most))(m), expected)


@pytest.mark.parametrize("run", [native, arrays.function])
def test_nan_and_infinity_stay_in_their_rows_without_a_warning(run):
    for program, rows in ROWS.values():
        f = run(program)
        good = f(*rows)
        for k, bad in itertools.product(range(len(rows)), (nan, inf, -inf, 0.0, 1e300)):
            given = [x.copy() for x in rows]
            given[k][::3] = bad
            with np.errstate(all="raise"):
                found = f(*given)
            for a, b in zip(bits(found), bits(good), strict=True):
                spoilt = np.arange(61) % 3 == 0
                np.testing.assert_array_equal(a[~spoilt], b[~spoilt])


# ---- rows and batches


@pytest.mark.parametrize("lanes", [2, 4, 8])
def test_a_row_does_not_depend_on_its_batch(case, lanes):
    program, rows = case
    f = native(program, lanes)
    each = [tupled(f(*(x[k] for x in rows))) for k in range(61)]
    alone = [np.array(column) for column in zip(*each, strict=True)]
    for size in range(1, 34):
        for part in (slice(size), slice(61 - size, 61)):
            equal(f(*(x[part] for x in rows)), tuple(x[part] for x in alone))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_and_batch_axes_change_nothing(threads):
    a = 10.0 ** rng.uniform(-8.0, 8.0, (5, 200))
    f = caller(roots(), "", threads)
    y, total = f(a, 2.0)
    assert y.shape == (5, 200, 2)
    equal((y.reshape(-1, 2), total.reshape(-1)), tuple(native(roots(), 8)(a.reshape(-1), 2.0)))
    np.testing.assert_allclose(y[..., 0], 2.0 * np.sqrt(a), rtol=1e-15)


@pytest.fixture(params=["llvm", "numpy"])
def called(request, monkeypatch):
    monkeypatch.setenv("LINKWISE_BACKEND", request.param)
    return caller(roots(), "Roots of numbers.", 1)


def test_broadcasting_out_and_empty_batches(called):
    y, total = called(A[:6, None], [1.0, 2.0, 3.0])
    assert y.shape == (6, 3, 2)
    assert total.shape == (6, 3)
    targets = np.full((6, 3, 2), nan), np.full((6, 3), nan)
    back = called(A[:6, None], [1.0, 2.0, 3.0], out=targets)
    assert back[0] is targets[0]
    equal(targets, (y, total))
    assert called(np.ones((0, 4)), 1.0)[0].shape == (0, 4, 2)
    assert called(4.0, 1.0)[0].tolist() == [2.0, 2.0]
    strided = np.repeat(A, 3)[::3]
    equal(called(strided, 1.0), called(A, 1.0))


def test_arguments_are_those_that_the_loop_does_not_give(called):
    with pytest.raises(TypeError, match="unexpected keyword argument 'root'"):
        called(a=1.0, root=1.0, b=1.0)
    assert called(b=1.0, a=9.0).sum == 10.0
    with pytest.raises(lw.InputError, match=r"roots: the leading axes do not broadcast: a \(2,\), b \(3,\)"):
        called([1.0, 2.0], [1.0, 2.0, 3.0])
    with pytest.raises(lw.InputError, match="expected arrays without masks"):
        called(np.ma.array([1.0, 2.0], mask=[True, False]), 1.0)
    with pytest.raises(lw.InputError, match=r"expected a of shape \(...\)"):
        called(1j, 1.0)


def test_large_buffers_come_from_the_heap():
    width = loop.STACK // 64 + 3

    def turn(x, a):
        after = [0.5 * (u + v / u) for u, v in zip(x, a, strict=True)]
        return after, [unsettled([u - v for u, v in zip(x, after, strict=True)], 1e-13)]

    ports = [Port("x", (width,)), Port("a", (width,))]
    body = trace("turn", turn, ports, [Port("x", (width,)), Port("left", ())])
    program = trace(
        "wide", lambda x, a: ([u - v for u, v in zip(x, a, strict=True)],), ports, [Port("y", (width,))],
        before=Before(body, ((1.0,) * width,), ((0, "x"),), MOST),
    )  # fmt: skip
    assert "@malloc" in ir.modules(program, Target(8, True, True), 500, 16)[0]
    a = rng.uniform(0.1, 2.0, (11, width))
    np.testing.assert_allclose(native(program, 8, chunk=300, in_module=2)(a), np.sqrt(a) - a, atol=1e-14)


def test_a_body_that_says_the_same_again_and_again(monkeypatch):
    """Its pieces are compiled once, as those of a long program are."""
    monkeypatch.setattr("linkwise.backend.repeats.LONG", 100)

    def turn(x, a):
        y = x[0]
        for _ in range(300):
            y = y - 0.01 * (y * y - a[0]) * 0.5 + 0.003 * scalar.sin(y - x[0])
        return [y], [unsettled([y - x[0]], 1e-12)]

    body = trace("turn", turn, [Port("x", ()), Port("a", ())], [Port("x", ()), Port("left", ())])
    program = trace(
        "again", lambda a, x: ([x[0]],), [Port("a", ()), Port("x", ())], [Port("y", ())],
        before=Before(body, ((1.0,),), ((0, "x"),), 100),
    )  # fmt: skip
    assert "@turn_form0" in ir.modules(program, Target(4, True, True), 500, 5)[0]
    a = rng.uniform(0.5, 2.0, 9)
    near(native(program)(a), definition(program)(a), 1e-10)
    np.testing.assert_allclose(native(program)(a), np.sqrt(a), rtol=1e-10)


def test_steps_run_the_loop_anew_from_what_the_last_one_found():
    """A program in steps: the root of each step's number, from the root of the step before."""
    once = trace(
        "steps", lambda guess, a, x, n: ([x[0]], [n[0]]),
        [Port("guess", ()), Port("a", ()), Port("x", ()), Port("n", ())], [Port("root", ()), Port("n", ())],
    )  # fmt: skip
    body = guessed().before
    inputs = [Port("guess", ()), Port("a", (), True), *once.inputs[2:]]
    program = replace(
        once, inputs=tuple(inputs), outputs=tuple(replace(p, steps=True) for p in once.outputs), carries=((0, 0),),
        before=body,
    )  # fmt: skip
    a = np.cumsum(rng.uniform(0.0, 0.1, (5, 30)), axis=1) + 1.0
    for f in (native(program), arrays.function(program)):
        root, turns = f(1.0, a)
        np.testing.assert_allclose(root, np.sqrt(a), rtol=1e-15)
        assert turns[:, 1:].max() <= 5


# ---- what is told of it


def kernel(program):
    made = Compiled(caller(program, "", 1))
    made.program = program
    return made


def test_a_kernel_shows_its_arguments_and_counts_one_turn():
    made = kernel(roots())
    assert made.inputs == {"a": (), "b": ()}
    assert repr(made) == "<Kernel roots: a(), b() -> y(2,), sum()>"
    assert made.count() == {"mul": 3, "add": 3, "div": 1, "other": 3}


def test_a_listing_is_python(case):
    program, rows = case
    expected = definition(program)(*rows)
    text = listing(program, program.name)
    one = tupled(expected)[0]
    for k in range(10):
        space = {"nan": nan, "sin": np.sin, "cos": np.cos, "less": lambda a, b: float(a < b), "where": np.where}
        for port, x in zip(program.arguments, rows, strict=True):
            names = [f"{port.name}{i + 1}" for i in range(port.size)] if port.shape else [port.name]
            space.update(zip(names, np.reshape(x[k], -1).tolist(), strict=True))
        exec(text, space)
        port = program.outputs[0]
        found = [space[f"{port.name}{i + 1}"] for i in range(port.size)]
        np.testing.assert_allclose(found, one[k].reshape(-1), rtol=1e-12, atol=1e-13)


def test_a_listing_shows_the_loop():
    text = listing(guessed(), "roots from guesses")
    assert text.splitlines() == [
        "# roots from guesses",
        "# ",
        "# operations: none and, in each turn, 3 add, 1 div, 2 mul, 3 other",
        "# input : guess ()",
        "# input : a ()",
        "# output: y (2,)",
        "",
        "x = guess",
        "n = 0.0",
        f"for turn in range({MOST}):",
        "    t2 = x + a/x",
        "    t3 = 0.5*t2",
        "    t4 = 1.0 + n",
        "    t9 = where(less(5e-15*t2, abs(t3 - x)), 1.0, 0.0)",
        "    left = t9",
        "    x = t3",
        "    n = t4",
        "    if not abs(left) > 0.0:",
        "        break",
        "else:",
        "    x = nan",
        "    n = nan",
        "",
        "y1 = x",
        "y2 = n",
    ]


def test_c_source_of_a_loop(tmp_path):
    text = c.source(roots(), "root_of", "roots")
    assert "void root_of(const double *a, const double *b, double *y, double *sum);" in text
    assert f"Newton's method, at most {MOST} turns; NaN where it has not arrived by then." in text
    assert "Operations: 1 add, 1 mul and, in each turn, 2 add, 1 div, 2 mul, 3 other." in text
    assert text.count("static void root_of_turn(") == 1
    shared_object(tmp_path, text, c.header(roots(), "root_of", "roots"))


def test_names_in_c_are_kept_apart(tmp_path):
    """Ports and values that have the names of C's words, of the loop's own variables and of each other."""

    def turn(x, a):
        after = 0.5 * (x[0] + a[0] / x[0])
        after.named("left")
        return [after], [unsettled([after - x[0]], 1e-14)]

    def main(a, double, u):
        total = a[0] + u[0]
        total.named("left")
        product = a[0] * double[0]
        product.named("for")
        return ([total, product],)

    body = trace("turn", turn, [Port("int", ()), Port("turn", ())], [Port("int", ()), Port("turn", ())])
    program = trace(
        "f", main, [Port("turn", ()), Port("double", ()), Port("f_turn", ())], [Port("y", (2,))],
        before=Before(body, ("turn",), ((0, "double"),), MOST),
    )  # fmt: skip
    a = rng.uniform(0.5, 2.0, 5)
    near(in_c(tmp_path, program)(a, a), np.stack([2.0 * a, a * np.sqrt(a)], axis=1))


def test_pickles_and_digests():
    program = crossing()
    again = pickle.loads(pickle.dumps(program))
    assert again.digest == program.digest
    m = ROWS["crossing"][1][0]
    equal(native(again)(m), native(program)(m))
    other = replace(program, before=replace(program.before, most=MOST + 1))
    moved = replace(program, before=replace(program.before, start=((1.0, 0.3),)))
    assert len({program.digest, other.digest, moved.digest}) == 3


def test_equal_programs_share_their_code_and_the_cache_has_it(monkeypatch, tmp_path):
    monkeypatch.setenv("LINKWISE_CACHE", str(tmp_path / "cache"))
    program = replace(roots(), before=replace(roots().before, most=23))
    f = compiler.function(program)
    assert f is compiler.function(replace(program))
    assert f is not compiler.function(roots())
    monkeypatch.setattr(compiler, "_functions", {})
    monkeypatch.setattr("linkwise.backend.llvm.compile_objects", None)
    equal(compiler.function(program)(A, 1.0), f(A, 1.0))


def test_programs_without_a_loop_have_no_trace_of_one():
    program = trace("plain", lambda x: ([x[0] * pi],), [Port("x", (1,))], [Port("y", (1,))])
    assert "turn" not in "\n".join(ir.modules(program, Target(4, True, True), 500, 16))
    assert "turn" not in c.source(program, None, "plain")


# ---- what does not fit is refused

BODY = roots().before.body
WRONG = {
    "at least one turn": {"most": 0},
    "an output for each of the 2 carried inputs": {"start": ((1.0,), (2.0,))},
    "1 numbers where x starts, got 2": {"start": ((1.0, 2.0),)},
    r"a start of x \(\) that is among a \(\), b \(\), got c": {"start": ("c",)},
    "a start of x .* got root": {"start": ("root",)},
    "one of 1 carried inputs, got number 1": {"gives": ((1, "root"),)},
    "each input it gives once": {"gives": ((0, "root"), (0, "root"))},
    "each input it gives once, .* got z": {"gives": ((0, "z"),)},
    r"shared inputs to be among b \(\), got a \(\)": {"gives": ((0, "a"), (0, "root"))},
    "a straight program as its body": {"body": replace(BODY, before=None, inputs=(Port("x", (), True), Port("a", ())))},
    "another name for the carried input b": {"body": replace(BODY, inputs=(Port("b", ()), Port("a", ())))},
}


@pytest.mark.parametrize("message", WRONG)
def test_loops_that_do_not_fit_are_refused(message):
    program = roots()
    with pytest.raises(lw.LinkwiseError, match=f"roots: the loop before it: expected .*{message}"):
        replace(program, before=replace(program.before, **WRONG[message]))
