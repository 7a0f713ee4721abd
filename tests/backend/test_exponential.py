"""Exponential and hyperbolic tangent of the native back end against high precision."""

import mpmath
import numpy as np
import pytest

from linkwise.graph.program import Port, trace
from support.backends import native

rng = np.random.default_rng(0)
ENDS = {"float64": (-708.0, 709.0, -300.0), "float32": (-87.0, 88.0, -37.0)}
NEAR = {
    "near one": lambda low, high, least: rng.uniform(-3.0, 3.0, 2000),
    "everywhere": lambda low, high, least: rng.uniform(low, high, 2000),
    "small": lambda low, high, least: 10.0 ** rng.uniform(least, 0.0, 500) * rng.choice([-1.0, 1.0], 500),
    "halves of log 2": lambda low, high, least: np.log(2.0) / 2 * np.arange(-50.0, 50.0),
}


@pytest.fixture(scope="module", params=ENDS)
def both(request):
    program = trace(
        "both",
        lambda x: ([x[0].exp()], [x[0].tanh()]),
        [Port("x", (1,))],
        [Port("e", (1,)), Port("t", (1,))],
        dtype=request.param,
    )
    function = native(program)
    return request.param, lambda x: [y[:, 0] for y in function(np.asarray(x, request.param)[:, None])]


@pytest.mark.parametrize("where", NEAR)
def test_units_in_the_last_place(both, where):
    """At most 1.5 of exp, and 3 of tanh."""
    dtype, function = both
    x = NEAR[where](*ENDS[dtype]).astype(dtype)
    worst = [0.0, 0.0]
    with mpmath.workprec(160):
        for row in zip(x.tolist(), *(y.tolist() for y in function(x)), strict=True):
            at, *found = map(mpmath.mpf, row)
            for k, truth in enumerate((mpmath.exp(at), mpmath.tanh(at))):
                unit = np.spacing(np.abs(np.array(float(truth), dtype)))
                worst[k] = max(worst[k], float(abs(found[k] - truth)) / float(unit))
    assert worst[0] < 1.5
    assert worst[1] < 3.0


def test_ends(both):
    """Infinite and zero beyond the format, subnormal before that, one where tanh is flat; signs of zero, and NaN."""
    dtype, function = both
    low, high, _ = ENDS[dtype]
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, high + 2.0, -1e30, low - 8.0], dtype)
    e, t = function(x)
    np.testing.assert_array_equal(e[:7], np.array([1.0, 1.0, np.inf, 0.0, np.nan, np.inf, 0.0], dtype))
    assert e[7] == pytest.approx(
        float(np.exp(np.float64(x[7]))), rel=1e-4, abs=float(np.finfo(dtype).smallest_subnormal)
    )
    np.testing.assert_array_equal(t, np.array([0.0, -0.0, 1.0, -1.0, np.nan, 1.0, -1.0, -1.0], dtype))
    assert np.signbit(t[1])
