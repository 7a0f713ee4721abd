"""The native loop: shapes of ports, strides, buffers on the heap, and rows that know nothing of each other."""

from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.backend import arrays, ir, loop
from linkwise.backend.native import function as loaded
from linkwise.backend.target import Target
from linkwise.graph.program import Port, trace
from support.arms import arm, states
from support.backends import definition, every_op, native

SHAPES = [(), (1,), (2,), (3,), (4,), (5,), (8,), (9,), (1, 1), (2, 3), (3, 2), (4, 4), (5, 1), (2, 3, 4), (1, 3, 1),
          (3, 1, 9)]  # fmt: skip


FORMS = [(2, "float64"), (4, "float64"), (8, "float64"), (4, "float32"), (8, "float32"), (16, "float32")]


def moved(shape, dtype="float64"):
    """A program that doubles its first input and reverses its second."""
    size = Port("", shape).size
    program = trace(
        "moved",
        lambda a, b: ([2.0 * x for x in a], b[::-1], [a[0] * b[-1]], [7.0] * size),
        [Port("a", shape), Port("b", shape)],
        [Port("twice", shape), Port("back", shape), Port("one", ()), Port("seven", shape)],
        dtype=dtype,
    )
    return program


def layouts(a):
    """The same numbers in other places: strided, reversed, Fortran order, with gaps, broadcast."""
    gaps = np.full([2 * n for n in a.shape], -99.0, a.dtype)
    view = gaps[tuple(slice(None, None, 2) for _ in a.shape)]
    view[...] = a
    back = np.empty_like(a)[tuple(slice(None, None, -1) for _ in a.shape)]
    back[...] = a
    return {"C": a, "Fortran": np.asfortranarray(a), "gaps": view, "reversed": back}


@pytest.mark.parametrize(("lanes", "dtype"), FORMS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_ports_of_every_rank_and_layout(shape, lanes, dtype):
    program = moved(shape, dtype)
    f = native(program, lanes)
    rng = np.random.default_rng(0)
    for rows in (1, lanes - 1, lanes, lanes + 1, 3 * lanes + 1):
        a, b = rng.normal(size=(2, rows, *shape)).astype(dtype)
        expected = [x.astype(dtype) for x in definition(program)(a, b)]
        for kind, x in layouts(a).items():
            for y in layouts(b).values():
                for found, truth in zip(f(x, y), expected, strict=True):
                    np.testing.assert_array_equal(found, truth, err_msg=kind)


@pytest.mark.parametrize(("lanes", "dtype"), FORMS)
@pytest.mark.parametrize("shape", [(), (3,), (5,), (2, 3), (4, 4), (2, 3, 4)], ids=str)
def test_output_arrays_of_every_layout(shape, lanes, dtype):
    program = moved(shape, dtype)
    f = native(program, lanes)
    a, b = np.random.default_rng(0).normal(size=(2, 2 * lanes + 3, *shape)).astype(dtype)
    expected = [x.astype(dtype) for x in definition(program)(a, b)]
    blank = [np.full(e.shape, np.nan, dtype) for e in expected]
    for kind in layouts(a):
        targets = tuple(layouts(o)[kind] for o in blank)
        returned = f(a, b, out=targets)
        for target, back, truth in zip(targets, returned, expected, strict=True):
            assert back is target
            np.testing.assert_array_equal(target, truth, err_msg=kind)


def test_gaps_of_a_strided_output_stay_untouched():
    buffer = np.full((14, 12), -99.0)
    a = np.ones((7, 5))
    native(moved((5,)))(a, a, out=(buffer[::2, 1:11:2], None, None, None))
    untouched = np.ones(buffer.shape, bool)
    untouched[::2, 1:11:2] = False
    assert (buffer[untouched] == -99.0).all()
    assert (buffer[~untouched] == 2.0).all()


@pytest.mark.parametrize("lanes", [2, 4, 8])
def test_buffers_on_the_heap(lanes):
    width = loop.STACK // (8 * lanes) + 3
    program = trace(
        "wide", lambda x: ([a * b + 1.0 for a, b in zip(x, x[::-1], strict=True)],), [Port("x", (width,))],
        [Port("y", (width,))],
    )  # fmt: skip
    assert "@malloc" in ir.modules(program, Target(lanes, True, True), 500, 16)[0]
    f = native(program, lanes, chunk=300, in_module=2)
    x = np.random.default_rng(0).integers(-9, 9, (2 * lanes + 1, width)).astype(float)
    for _ in range(3):
        np.testing.assert_array_equal(f(x), x * x[:, ::-1] + 1.0)


@pytest.mark.parametrize("chunk", [1, 2, 7, 50])
def test_values_that_cross_chunks(chunk):
    """Scratch places are used again only once free."""

    def function(x):
        a = list(x)
        for k in range(60):
            a.append((0.4 * a[(7 * k) % len(a)]).sin() * a[(5 * k + 3) % len(a)].cos() + 0.5 * a[-1])
        return (a[-5:],)

    program = trace("crossing", function, [Port("x", (3,))], [Port("y", (5,))])
    pieces, scratch = ir.split(program, chunk)
    assert sum(len(p.nodes) for p in pieces) == len(program.schedule)
    assert scratch <= len(program.schedule)
    x = np.random.default_rng(0).uniform(-1.0, 1.0, (9, 3))
    np.testing.assert_allclose(native(program, chunk=chunk, in_module=3)(x), definition(program)(x), rtol=1e-13)


@pytest.mark.parametrize("lanes", [2, 4, 8])
def test_results_that_are_only_inputs_and_numbers(lanes):
    """Nothing is computed, everything is copied."""
    program = trace(
        "copies",
        lambda x, s: ([x[2], x[0]], [s[0]], [4.0, x[1], -1.5]),
        [Port("x", (3,)), Port("s", ())],
        [Port("a", (2,)), Port("b", ()), Port("c", (3,))],
    )
    x, s = np.arange(27.0).reshape(9, 3), np.arange(9.0)
    for found, truth in zip(native(program, lanes)(x, s), definition(program)(x, s), strict=True):
        np.testing.assert_array_equal(found, truth)


def test_results_that_are_only_numbers():
    program = trace("numbers", lambda x: ([1.0, 2.0],), [Port("x", (3,))], [Port("y", (2,))])
    np.testing.assert_array_equal(native(program)(np.full((5, 3), np.nan)), [[1.0, 2.0]] * 5)


# ---- rows are independent


@pytest.fixture(scope="module")
def robot():
    return arm(3)


@pytest.fixture(scope="module")
def kernels(robot):
    return {n: lw.compile(robot, lw.joint_wrenches, threads=n) for n in (1, 2, 3)}


def bits(result):
    return [np.ascontiguousarray(x).view(np.uint64) for x in result]


@pytest.fixture(scope="module")
def alone(robot, kernels):
    """1000 states and the results of each row called on its own."""
    inputs = states(robot, 1000)
    rows = [kernels[1](*(x[k] for x in inputs)) for k in range(1000)]
    return inputs, bits([np.array([r[j] for r in rows]) for j in range(2)])


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("rows", [*range(1, 10), 1000])
def test_a_row_does_not_depend_on_its_batch(alone, kernels, rows, threads):
    inputs, expected = alone
    for kind in layouts(inputs[0][:rows]):
        given = [layouts(x[:rows])[kind] for x in inputs]
        for found, truth in zip(bits(kernels[threads](*given)), expected, strict=True):
            np.testing.assert_array_equal(found, truth[:rows], err_msg=kind)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("shape", [(10, 100), (100, 10), (1, 1000), (1000, 1), (5, 20, 10)], ids=str)
def test_a_row_does_not_depend_on_the_batch_axes(alone, kernels, shape, threads):
    inputs, expected = alone
    found = bits(kernels[threads](*(x.reshape(*shape, -1) for x in inputs)))
    for f, truth in zip(found, expected, strict=True):
        np.testing.assert_array_equal(f.reshape(truth.shape), truth)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e300])
def test_a_bad_row_spoils_no_other_and_is_silent(alone, kernels, bad, threads):
    inputs, expected = alone
    rng = np.random.default_rng(2)
    spoilt = rng.choice(1000, 200, replace=False)
    given = [x.copy() for x in inputs]
    for x in given:
        x[spoilt, rng.integers(0, x.shape[1], 200)] = bad
    with np.errstate(all="raise"):
        found = kernels[threads](*given)
    good = np.setdiff1d(np.arange(1000), spoilt)
    for f, truth in zip(bits(found), expected, strict=True):
        np.testing.assert_array_equal(f[good], truth[good])
    assert not np.isfinite(found[0][spoilt]).all(axis=1).any()


def test_an_input_without_influence_may_be_nan(robot):
    """Gravity forces of the first joint about the vertical do not depend on its angle."""
    q = states(robot, 5)[0]
    g = lw.compile(robot, lw.algorithms.gravity_forces)
    spoilt = q.copy()
    spoilt[:, 0] = np.nan
    np.testing.assert_array_equal(g(spoilt), g(q))


def test_floating_point_flags_are_left_clear():
    """A warning of NumPy's own operations is neither caused nor swallowed."""
    f = native(every_op())
    with np.errstate(all="raise"):
        f(np.full((5, 3), np.inf))
        assert np.add(1.0, 1.0) == 2.0
        with pytest.raises(FloatingPointError):
            np.divide(1.0, np.zeros(3))


@pytest.mark.parametrize("rows", [1, 3, 600])
def test_steps_that_are_kept(rows):
    """Of a thinned output, the array says how many: native, interpreted and in threads, gaps untouched."""
    run = trace(
        "running",
        lambda x, u: ([x[0] + u[0], x[1] * u[1]], [u[0] - u[1]]),
        [Port("x", (2,)), Port("u", (2,), steps=True)],
        [Port("y", (2,), steps=True, thinned=True), Port("z", (), steps=True)],
    )
    program = replace(run, carries=((0, 0),))
    x, u = np.random.default_rng(0).normal(size=(rows, 2)), np.random.default_rng(1).normal(size=(rows, 12, 2))
    sums, products = x[:, None, 0] + np.cumsum(u[..., 0], 1), x[:, None, 1] * np.cumprod(u[..., 1], 1)
    for function in (native(program), arrays.function(program), loaded(program, threads=2)):
        for kept in (1, 2, 3, 4, 6, 12):
            wide = np.full((rows, 2 * kept, 2), -99.0)
            y, z = function(x, u, out=(wide[:, ::2], np.empty((rows, 12))))
            every = 12 // kept
            np.testing.assert_allclose(y[..., 0], sums[:, every - 1 :: every], rtol=1e-12)
            np.testing.assert_allclose(y[..., 1], products[:, every - 1 :: every], rtol=1e-12)
            np.testing.assert_allclose(z, u[..., 0] - u[..., 1], rtol=1e-15)
            assert (wide[:, 1::2] == -99.0).all()
    for room in (0, 5, 24):  # which the steps are no multiple of
        with pytest.raises(ValueError, match="has room for"):
            arrays.function(program)(x, u, out=(np.empty((rows, room, 2)), np.empty((rows, 12))))
