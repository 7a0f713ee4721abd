"""The short way into a kernel gives what its ufunc gives, and leaves to it whatever is out of the ordinary."""

import sys

import numpy as np
import pytest

import linkwise as lw
from linkwise.backend import direct, native
from linkwise.errors import InputError
from linkwise.kernel.tracing import Port, trace
from support.arms import arm, states

pytestmark = pytest.mark.skipif(native.backend() != "llvm", reason="of native code")
rng = np.random.default_rng(0)


def program(dtype="float64"):
    def run(x, y, a):
        return [x[0] * y[k] + a[0] for k in range(6)], [x[0] - x[1]], [y[0] + y[5], x[1], a[0]]

    ports = [Port("x", (2,)), Port("y", (2, 3)), Port("a", ())]
    return trace("mixed", run, ports, [Port("u", (3, 2)), Port("v", ()), Port("w", (3,))], dtype=dtype)


@pytest.fixture(scope="module")
def ways():
    short, ufunc = native.function(program(), directly=True), native.function(program())
    assert type(short) is type(len)
    assert type(ufunc) is np.ufunc
    return short, ufunc


def equal(found, expected):
    assert type(found) is type(expected) is tuple
    for a, b in zip(found, expected, strict=True):
        assert type(a) is type(b)
        assert a.shape == b.shape
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


BATCHES = {
    "none": ((), (), ()),
    "one": ((1,), (1,), (1,)),
    "rows": ((9,), (9,), (9,)),
    "many rows": ((700,), (700,), (700,)),
    "large": ((40_000,), (40_000,), (40_000,)),
    "axes": ((3, 4), (3, 4), (3, 4)),
    "one for all": ((), (9,), ()),
    "the last has rows": ((), (), (9,)),
    "one and axes": ((2, 3, 2), (), (2, 3, 2)),
    "broadcast": ((3, 1), (4,), (3, 4)),
    "rows and one row": ((9,), (1,), (9,)),
    "empty": ((0,), (0,), (0,)),
    "empty axis": ((3, 0), (3, 0), ()),
    "wrong": ((3,), (4,), (3,)),
}


def given(batches):
    return [rng.normal(size=(*b, *s)) for b, s in zip(batches, ((2,), (2, 3), ()), strict=True)]


@pytest.mark.parametrize("name", BATCHES)
def test_batches(ways, name):
    short, ufunc = ways
    x = given(BATCHES[name])
    if name == "wrong":
        with pytest.raises(ValueError, match="broadcast"):
            short(*x)
        return
    equal(short(*x), ufunc(*x))


class Own(np.ndarray):
    pass


LAYOUTS = {
    "every second row": lambda a: np.repeat(a, 2, 0)[::2],
    "backwards": lambda a: a[::-1].copy()[::-1],
    "Fortran": np.asfortranarray,
    "same row": lambda a: np.broadcast_to(a[0], a.shape),
    "single": lambda a: a.astype(np.float32),
    "swapped": lambda a: a.astype(">f8"),
    "whole": lambda a: np.round(a).astype(int),
    "list": lambda a: a.tolist(),
    "subclass": lambda a: a.view(Own),
    "memmap": lambda a: a.view(np.memmap),
    "records": lambda a: np.stack([a, a], -1)[..., 0],
    "unaligned": lambda a: np.frombuffer(b"." + a.tobytes(), np.float64, offset=1).reshape(a.shape),
    "read-only": lambda a: np.frombuffer(a.tobytes()).reshape(a.shape),
    "another dtype object": lambda a: a.astype(np.dtype("f8", metadata={"unit": "m"})),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("batch", [(8,), (3, 5)])
def test_layouts(ways, layout, batch):
    short, ufunc = ways
    x = given((batch,) * 3)
    for which in ((0,), (1,), (0, 1, 2)):
        odd = [LAYOUTS[layout](a) if k in which else a for k, a in enumerate(x)]
        found, expected = short(*odd), ufunc(*odd)
        equal(found, expected)


@pytest.mark.parametrize("shape", [(9, 1), (1, 9), (1, 1, 9), (9, 1, 1), (3, 1, 3), (1,), (1, 1)])
def test_strides_along_axes_of_length_one_mean_nothing(ways, shape):
    short, ufunc = ways
    x = given((shape,) * 3)
    odd = []
    for a in x:
        strides = [7 * s if n == 1 else s for s, n in zip(a.strides, a.shape, strict=True)]
        odd.append(np.lib.stride_tricks.as_strided(a, a.shape, strides))
        assert odd[-1].flags.c_contiguous
    equal(short(*odd), ufunc(*x))
    out = targets(ufunc, x)
    places = [[0 if n == 1 else s for s, n in zip(a.strides, a.shape, strict=True)] for a in out]
    views = tuple(np.lib.stride_tricks.as_strided(a, a.shape, s) for a, s in zip(out, places, strict=True))
    short(*odd, out=views)
    equal(out, ufunc(*x))


def test_views_of_a_trajectory(ways):
    short, ufunc = ways
    table = rng.normal(size=(50, 20))
    x = (table[:, 3:5], np.lib.stride_tricks.as_strided(table[:, 6:], (50, 2, 3), (160, 24, 8)), table[:, 19])
    equal(short(*x), ufunc(*x))
    equal(short(*(a[7] for a in x)), ufunc(*(a[7] for a in x)))


@pytest.mark.parametrize("rows", [(), (9,), (40_000,), (3, 4)])
@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_numbers_of_single_precision(rows, kind):
    single = program("float32")
    short, ufunc = native.function(single, directly=True), native.function(single)
    x = [np.asarray(a, kind) for a in given((rows,) * 3)]
    expected = ufunc(*x)
    equal(short(*x), expected)
    assert expected[0].dtype == np.float32
    for to in ("float32", "float64"):
        out = tuple(np.zeros(y.shape, to) for y in expected)
        assert short(*x, out=out)[2] is out[2]
        for a, b in zip(out, expected, strict=True):
            np.testing.assert_array_equal(a, b)


# ---- out


def targets(ufunc, x):
    return tuple(np.full(np.shape(y), np.nan) for y in ufunc(*x))


@pytest.mark.parametrize("name", [n for n in BATCHES if n != "wrong"])
def test_given_arrays_are_filled(ways, name):
    short, ufunc = ways
    x = given(BATCHES[name])
    out = targets(ufunc, x)
    found = short(*x, out=out)
    assert all(a is b for a, b in zip(found, out, strict=True))
    for a, b in zip(out, ufunc(*x), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("rows", [(), (4,), (600,)])
def test_an_output_may_be_an_input(ways, rows):
    short, ufunc = ways
    x = given((rows,) * 3)
    expected, out = ufunc(*x), targets(ufunc, x)
    wide = np.zeros((*rows, 5))
    for place in (slice(0, 2), slice(1, 3), slice(3, 5)):
        wide[..., place] = x[0]
        short(wide[..., place], *x[1:], out=(*out[:2], wide[..., :3]))
        np.testing.assert_array_equal(wide[..., :3], expected[2])


def test_outputs_that_share_memory(ways):
    short, ufunc = ways
    x = given(((5,),) * 3)
    one, two = np.zeros((2, 40))
    for function, place in ((short, one), (ufunc, two)):
        function(*x, out=(place[:30].reshape(5, 3, 2), np.zeros(5), place[20:35].reshape(5, 3)))
    np.testing.assert_array_equal(one, two)


def test_odd_targets(ways):
    short, ufunc = ways
    x = given(((6,),) * 3)
    expected = ufunc(*x)
    for change in (np.asfortranarray, lambda a: a.astype(np.float32), lambda a: np.repeat(a, 2, 0)[::2]):
        out = tuple(change(a) for a in targets(ufunc, x))
        short(*x, out=out)
        for a, b in zip(out, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6)
    u, v, w = short(*x, out=(None, np.zeros(6), None))
    equal((u, v, w), expected)


REFUSED = {
    "too few": lambda out: out[:2],
    "too many": lambda out: (*out, out[0]),
    "one": lambda out: out[0],
    "rows": lambda out: (out[0][:3], *out[1:]),
    "read-only": lambda out: tuple(np.frombuffer(a.tobytes()).reshape(a.shape) for a in out),
    "widths": lambda out: (out[0].reshape(6, 2, 3), *out[1:]),
    "lists": lambda out: tuple(a.tolist() for a in out),
}


@pytest.mark.parametrize("name", REFUSED)
def test_targets_that_are_refused(ways, name):
    x = given(((6,),) * 3)
    out = REFUSED[name](targets(ways[1], x))
    errors = []
    for function in ways:
        with pytest.raises((TypeError, ValueError)) as error:
            function(*x, out=out)
        errors.append(str(error.value))
    assert errors[0] == errors[1]


def test_a_kernel_with_one_output():
    robot = arm(3)
    k = lw.compile(robot, lw.inverse_dynamics)
    x = states(robot, 4)
    expected = k(*x)
    for out in (np.zeros((4, 3)), (np.zeros((4, 3)),)):
        found = k(*x, out=out)
        assert found is (out[0] if isinstance(out, tuple) else out)
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(InputError, match="out must be writable float64"):
        k(*x, out=np.zeros((3, 3)))
    with pytest.raises(InputError, match="out must be writable float64"):
        k(*x, out=np.zeros((4, 3), "U8"))


# ---- what must not change


def test_steps():
    program = lw.compile_rollout(arm(2)).program
    short, ufunc = native.function(program, directly=True), native.function(program)
    for rows in ((), (3,), (300,), (2, 3)):
        for steps in (1, 7):
            x = [0.01 * rng.normal(size=(*rows, *[steps] * p.steps, *p.shape)) for p in program.arguments]
            for kept in {1, steps}:  # as many as the arrays to fill have room for
                ours, theirs = (tuple(np.zeros((*rows, kept, *p.shape)) for p in program.outputs) for _ in range(2))
                equal(short(*x, out=ours), ufunc(*x, out=theirs))


def test_references_are_given_back(ways):
    short, ufunc = ways
    x = given(((50,),) * 3)
    out = targets(ufunc, x)
    things = [*x, *out, out, short, np.dtype(float), x[0].dtype]

    def calls():
        short(*x), short(*x, out=out), short(*(a[0] for a in x)), short(x[0].tolist(), *x[1:])
        for bad in (out[:2], (out[0], out[1][:3], out[2])):
            with pytest.raises(ValueError, match=r"out|broadcast"):
                short(*x, out=bad)
        with pytest.raises(MemoryError):
            short(np.broadcast_to(x[0][0], (2**40, 2)), x[1][0], x[2][0])

    calls()
    before = [sys.getrefcount(t) for t in things]
    for _ in range(200):
        calls()
    after = [sys.getrefcount(t) for t in things]
    assert max(abs(a - b) for a, b in zip(after, before, strict=True)) < 20


def test_where_arrays_are_laid_out_otherwise_the_ufunc_is_used(monkeypatch):
    monkeypatch.setattr(direct, "_as_expected", lambda table: False)
    direct._method.cache_clear()
    try:
        assert isinstance(native.function(program(), directly=True), np.ufunc)
    finally:
        direct._method.cache_clear()


def test_too_many_ports_for_the_short_way():
    ports = [Port(f"x{k}", ()) for k in range(direct.PORTS)]
    sums = trace("sums", lambda *x: ([sum(a[0] for a in x)],), ports, [Port("y", ())])
    assert isinstance(native.function(sums, directly=True), np.ufunc)


def test_the_back_end_is_chosen_by_the_first_call(monkeypatch):
    robot = arm(3)
    x = states(robot, 3)
    k = lw.compile(robot, lw.inverse_dynamics)
    with monkeypatch.context() as m:
        m.setenv("LINKWISE_BACKEND", "numpy")
        k(*x)
    m = pytest.MonkeyPatch()
    m.setattr(native, "_native", None)
    try:
        assert k(*x).shape == k(*x).shape == (3, 3)
    finally:
        m.undo()
