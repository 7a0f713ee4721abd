"""Chunks of long programs: where they end, and outputs that are fetched while they run."""

import numpy as np
import pytest

from linkwise.backend import ir, prefetch
from linkwise.graph.program import Port, trace
from support.backends import definition, native


def waists(widths):
    """A program that spreads one value over so many and sums them up again, one after the other."""

    def run(x):
        value = x[0]
        for k, width in enumerate(widths):
            several = [value * x[1 + i] + 0.1 * (k + 1) for i in range(width)]
            value = sum(several[1:], several[0]) * 0.1
        return ([value, *(value * y for y in x)],)

    size = 1 + max(widths)
    return trace("waists", run, [Port("x", (size,))], [Port("y", (1 + size,))])


@pytest.mark.parametrize("size", [1, 2, 3, 10, 64, 400, 10_000])
def test_no_chunk_is_larger_than_asked(size):
    schedule = waists([20] * 15).schedule
    ends = ir.cuts(schedule, size)
    pieces = np.diff([0, *ends])
    assert ends[-1] == len(schedule)
    assert pieces.max() <= size
    assert len(pieces) == 1 or pieces.min() >= int(ir.THIN * size)


def test_an_empty_schedule_has_no_chunks():
    assert ir.cuts((), 400) == []


def test_chunks_end_where_few_values_are_alive():
    program = waists([20] * 15)
    for size in (100, 150, 200):
        chunks, scratch = ir.split(program, size)
        assert scratch <= 2
        assert all(len(c.loads) == 1 for c in chunks[1:])


@pytest.mark.parametrize("lanes", [2, 8])
@pytest.mark.parametrize("far", [0, 1000])
def test_fetching_changes_nothing(monkeypatch, lanes, far):
    """Whether outputs are fetched depends on the size of the batch, and on no result."""
    monkeypatch.setattr(prefetch, "FAR", far)
    program = waists([9] * 8)
    f = native(program, lanes, chunk=40)
    x = np.random.default_rng(0).normal(size=(150, 10))
    expected = definition(program)(x)
    for rows in (1, 7, 8, 17, 150):
        wide = np.full((2 * rows, 11), np.nan)
        for out in (np.empty((rows, 11)), np.empty((rows, 11), order="F"), wide[::2], wide[:rows][::-1]):
            f(x[:rows], out=out)
            np.testing.assert_allclose(out, expected[:rows], rtol=1e-13)
            assert (out == f(x)[:rows]).all()
        assert np.isnan(wide[2 * rows - 1]).all()
