"""Sine and cosine of the native back end against high precision."""

import mpmath
import numpy as np
import pytest

from linkwise.graph.program import Port, trace
from support.backends import native


@pytest.fixture(scope="module")
def sincos():
    program = trace(
        "sincos", lambda x: ([x[0].sin()], [x[0].cos()]), [Port("x", (1,))], [Port("s", (1,)), Port("c", (1,))]
    )
    function = native(program)
    return lambda x: [y[:, 0] for y in function(np.asarray(x, float)[:, None])]


def errors(sincos, x):
    """The largest absolute error, and the largest in units of the last place."""
    absolute = relative = 0.0
    with mpmath.workprec(160):
        for row in zip(x.tolist(), *(y.tolist() for y in sincos(x)), strict=True):
            angle, *found = map(mpmath.mpf, row)
            for y, truth in zip(found, mpmath.cos_sin(angle)[::-1], strict=True):
                distance = float(abs(y - truth))
                absolute = max(absolute, distance)
                relative = max(relative, distance / np.spacing(abs(float(truth))))
    return absolute, relative


rng = np.random.default_rng(0)
NEAR = {
    "within a turn": rng.uniform(-7.0, 7.0, 2000),
    "up to 1e5": rng.uniform(-1e5, 1e5, 2000),
    "small": 10.0 ** rng.uniform(-300.0, 0.0, 500),
    "whole numbers": np.arange(-500.0, 500.0),
}


@pytest.mark.parametrize("where", NEAR)
def test_two_units_in_the_last_place(sincos, where):
    assert errors(sincos, NEAR[where])[1] < 2.0


def test_two_units_in_the_last_place_next_to_multiples_of_half_pi(sincos):
    """Where one of the two nearly vanishes, its digits come from the last part of pi/2."""
    with mpmath.workprec(160):
        x = np.array([float(k * mpmath.pi / 2) for k in (*range(1, 800), *range(800, 63000, 29), 29327)])
    assert errors(sincos, x)[1] < 2.0
    assert errors(sincos, np.nextafter(x[:300], 0.0))[1] < 2.0


def test_absolute_error_far_out(sincos):
    assert errors(sincos, rng.uniform(-1e9, 1e9, 2000))[0] < 1e-15
    assert errors(sincos, rng.uniform(-1e15, 1e15, 1000))[0] < 1e-15


def test_nan_where_the_turn_is_lost(sincos):
    far = [1e15, -1e15, 1.0001e15, -1e16, 1e22, 1e300, -1.7e308, np.inf, -np.inf, np.nan]
    assert np.isnan(sincos(far)).all()
    assert np.isfinite(sincos([9.99e14, -9.99e14])).all()


def test_exact_at_zero(sincos):
    assert [y.tolist() for y in sincos([0.0, -0.0])] == [[0.0, 0.0], [1.0, 1.0]]
