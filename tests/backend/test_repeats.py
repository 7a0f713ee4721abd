"""Programs that say the same again and again are compiled piece by distinct piece, and answer the same."""

import numpy as np
import pytest

from linkwise.backend import arrays, ir, native, repeats
from linkwise.backend.target import Target
from linkwise.graph.program import Port, trace
from linkwise.scalar import cos, sin, where


@pytest.fixture(autouse=True)
def short_ones_too(monkeypatch):
    monkeypatch.setenv("LINKWISE_CACHE", "off")
    monkeypatch.setattr(repeats, "LONG", 2_000)


def program(kinds, joints=150, seed=0):
    """A recursion with its own numbers at every step, of several kinds that alternate."""
    rng = np.random.default_rng(seed)
    numbers = rng.uniform(1.0, 3.0, (joints, 6))

    def run(x, y):
        a, b, out = y[0], 0.3, []
        for k in range(joints):
            c = [float(n) for n in numbers[k]]
            s, t = sin(x[k] * c[0]), cos(x[k] * c[0])
            a, b = (a * t - b * s) * 0.5 + c[1], (a * s + b * t) * c[2] * 0.2
            if k % 3 < kinds - 1:
                a = where(a, a + c[3], b) * 0.25
            b = b * c[4] + x[k] / (a * a + c[5])
            out.append(a * b)
        return out, [b, x[0], y[0], 7.0]

    return trace("steps", run, [Port("x", (joints,)), Port("y", (1,))], [Port("out", (joints,)), Port("rest", (4,))])


@pytest.mark.parametrize("kinds", [1, 2, 3])
def test_answers_are_the_interpreter_s(kinds):
    traced = program(kinds)
    pieces = repeats.pieces(traced.schedule)
    assert [n for piece in pieces for n in piece] == list(traced.schedule)
    x = np.random.default_rng(1).normal(size=(7, 150))
    for got, expected in zip(native.function(traced)(x, x[:, :1]), arrays.function(traced)(x, x[:, :1]), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


def test_a_longer_program_has_the_same_text():
    """Assembly grows by tables alone."""
    target = Target(4, True, True)
    short, long = (ir.modules(program(1, joints), target, 500, 5) for joints in (150, 600))
    assert sum(map(len, long[1:])) < 1.5 * sum(map(len, short[1:]))


def test_a_program_without_repetitions_is_cut_evenly():
    rng = np.random.default_rng(0)
    order = rng.integers(0, 8, (4000, 2))
    ops = rng.integers(0, 3, 4000)

    def run(x):
        values = list(x)
        for (i, j), op in zip(order, ops, strict=True):
            a, b = values[-1 - i], values[-1 - j]
            values.append(a + b if op == 0 else a * b if op == 1 else a - b * 0.5)
        return (values[-8:],)

    traced = trace("jumble", run, [Port("x", (8,))], [Port("y", (8,))])
    assert repeats.pieces(traced.schedule) == []
