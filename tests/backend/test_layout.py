"""Outputs with blocks of structural zeros, which are written without being kept."""

import numpy as np
import pytest

from linkwise.backend import ir, prefetch
from linkwise.backend.layout import layouts
from linkwise.backend.target import REALS, Target
from linkwise.graph.program import Port, trace
from support.backends import native

FORMS = [(2, "float64"), (4, "float64"), (8, "float64"), (8, "float32"), (16, "float32")]


def program(shape, seed, dtype="float64"):
    """A matrix that is zero but for some entries, the sums and products of two inputs."""
    rng = np.random.default_rng(seed)
    size = int(np.prod(shape))
    kept = rng.random(size) < rng.choice([0.05, 0.2, 0.7])
    factors = rng.normal(size=(size, 2))

    def entries(x):
        values = [
            x[0] * float(a) + x[1] * float(b) if keep else 0.0 for keep, (a, b) in zip(kept, factors, strict=True)
        ]
        values[-1] = 3.0 if seed % 3 == 0 else values[-1]
        return (values, [x[0] + x[1]], [x[1]])

    ports = [Port("y", shape), Port("s", ()), Port("copy", (1,))]
    traced = trace("sparse", entries, [Port("x", (2,))], ports, dtype=dtype)

    def expected(x):
        y = np.where(kept, x[..., :1] * factors[:, 0] + x[..., 1:] * factors[:, 1], 0.0)
        y[..., -1] = 3.0 if seed % 3 == 0 else y[..., -1]
        return y.reshape(*x.shape[:-1], *shape)

    return traced, expected


@pytest.mark.parametrize("shape", [(4,), (7,), (33,), (6, 6), (5, 7), (3, 4, 5)])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("lanes", "dtype"), FORMS)
def test_zeros_are_written(shape, seed, lanes, dtype):
    traced, expected = program(shape, seed, dtype)
    function = native(traced, lanes)
    rng, near = np.random.default_rng(1), 1e-14 if dtype == "float64" else 1e-6
    for rows in (1, 2, 4, 7, 16):
        x = rng.normal(size=(rows, 2)).astype(dtype)
        y, s, copy = function(x)
        assert np.allclose(y, expected(x), rtol=near, atol=near)
        assert np.array_equal(s, x.sum(axis=1))
        assert np.array_equal(copy[:, 0], x[:, 1])
        # into memory that is neither empty nor contiguous
        out = np.full((*reversed(shape), rows), np.nan, dtype).T
        function(x, out=(out, np.empty(rows, dtype), np.empty((rows, 1), dtype)))
        assert np.allclose(out, expected(x), rtol=near, atol=near)
        wide = np.full((rows, *shape[:-1], 2 * shape[-1]), np.nan, dtype)
        function(x, out=(wide[..., ::2], np.empty(rows, dtype), np.empty((rows, 1), dtype)))
        assert np.allclose(wide[..., ::2], expected(x), rtol=near, atol=near)
        assert np.isnan(wide[..., 1::2]).all()


@pytest.mark.parametrize("shape", [(64,), (8, 8), (3, 32)])
@pytest.mark.parametrize(("lanes", "dtype"), [(8, "float64"), (16, "float32")])
def test_lines_are_written_past_the_cache(shape, lanes, dtype, monkeypatch):
    """Where rows begin at lines; others, and what lies between, are as ever."""
    monkeypatch.setattr(prefetch, "FARTHEST", 0)
    some = (program(shape, seed, dtype) for seed in range(20))
    traced, expected = next((p, e) for p, e in some if layouts(p, lanes)[0].runs)
    target = Target(lanes, True, True, REALS[dtype])
    texts = ["\n".join(ir.modules(traced, t, 400, 2)) for t in (target, target._replace(x86=False))]
    assert [("nontemporal" in text, "sfence" in text) for text in texts] == [(True, True), (False, False)]
    function = native(traced, lanes)
    size, line, near = int(np.prod(shape)), 64 // np.dtype(dtype).itemsize, 1e-14 if dtype == "float64" else 1e-6
    for rows in (1, 16, 40, 1001):
        x = np.random.default_rng(rows).normal(size=(rows, 2)).astype(dtype)
        for first, between in ((0, 0), (1, 0), (0, line), (0, 1), (line - 1, 2 * line)):
            memory = np.full((rows + 2) * (size + between) + 2 * line, np.nan, dtype)
            start = -memory.ctypes.data // memory.itemsize % line + first
            whole = memory[start : start + rows * (size + between)].reshape(rows, size + between)
            y = whole[:, :size].reshape(rows, *shape)
            assert np.shares_memory(y, memory)
            function(x, out=(y, np.empty(rows, dtype), np.empty((rows, 1), dtype)))
            np.testing.assert_allclose(y, expected(x), rtol=near, atol=near)
            assert np.isnan(memory).sum() == memory.size - rows * size


def test_zeros_take_no_place():
    traced, _ = program((40, 40), 0)
    (layout, single, copy) = layouts(traced, 4)
    assert layout.size < 1600
    assert layout.runs
    assert single.places == copy.places == ((0,),)
    assert all(len(p) == 1 for p in layout.places)
