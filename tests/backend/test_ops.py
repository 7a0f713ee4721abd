"""Every operation in every back end against the definition, on ordinary and on special numbers."""

import itertools
import re

import numpy as np
import pytest

from linkwise.backend import arrays, ir
from linkwise.backend.target import Target
from linkwise.graph.op import FARTHEST, OPS
from support.backends import definition, every_op, in_c, native, ulps

EXACT = ("add", "sub", "mul", "div", "neg", "sqrt", "sign", "abs", "min", "max", "less", "where")
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.3, -2.75, 5e-324, -2.2e-308, 1e-160, -1e-9, 12345.678, -30.0, 709.5, -740.0,
           1e160, -1.7e308, np.inf, -np.inf, np.nan]  # fmt: skip
PROGRAM = every_op()


@pytest.fixture(scope="module")
def rows():
    """All triples of special numbers, and random ones of all sizes."""
    rng = np.random.default_rng(1)
    wide = rng.normal(size=(400, 3)) * 10.0 ** rng.integers(-8, 8, (400, 3))
    pairs = np.array([(a, b, c) for a, b in itertools.product(SPECIAL, repeat=2) for c in (1.5, np.nan)])
    return np.concatenate([pairs, rng.uniform(-4.0, 4.0, (400, 3)), wide])


@pytest.fixture(scope="module")
def expected(rows):
    return dict(zip(OPS, definition(PROGRAM)(rows), strict=True))


def check(found, expected, rows):
    """Arithmetic to the last bit, functions to 4 units in the last place."""
    for op, y in zip(OPS, found, strict=True):
        truth = expected[op]
        worst = ulps(y, truth)
        k = int(np.argmax(worst))
        limit = 0.0 if op in EXACT else 4.0
        assert worst[k] <= limit, f"{op}{tuple(rows[k])}: {y[k]!r}, expected {truth[k]!r}, {worst[k]} ulp"


@pytest.mark.parametrize("lanes", [2, 4, 8])
@pytest.mark.parametrize("fma", [True, False])
@pytest.mark.parametrize(("chunk", "in_module"), [(500, 16), (5, 1), (5, 2)])
def test_native(lanes, fma, chunk, in_module, rows, expected):
    found = native(PROGRAM, lanes, fma, chunk, in_module)(rows)
    check(found, expected, rows)


def test_numpy(rows, expected):
    check(arrays.function(PROGRAM)(rows), expected, rows)


def test_c(rows, expected, tmp_path):
    """Sine and cosine are those of libm, which has numbers for angles that are NaN elsewhere."""
    found = dict(zip(OPS, in_c(tmp_path, PROGRAM)(rows), strict=True))
    far = np.isfinite(rows[:, 0]) & (np.abs(rows[:, 0]) >= FARTHEST["float64"])
    for op in ("sin", "cos"):
        assert (np.abs(found[op][far]) <= 1.0).all()
        found[op][far] = np.nan
    check(found.values(), expected, rows)


@pytest.mark.parametrize("fma", [True, False])
def test_native_is_silent_about_special_numbers(rows, fma):
    with np.errstate(all="raise"):
        native(PROGRAM, fma=fma)(rows)


def test_numpy_is_silent_about_special_numbers(rows):
    with np.errstate(all="raise"):
        arrays.function(PROGRAM)(rows)


def test_the_compiler_may_not_assume_numbers_to_be_finite():
    text = "\n".join(ir.modules(PROGRAM, Target(4, True, True), 500, 16))
    assert not re.search(r"(?<!%)\b(fast|nnan|ninf|arcp|afn)\b", text)
