"""The angle of a point: native code against high precision, complex points against steps and logarithms."""

import cmath
import itertools
import math

import mpmath
import numpy as np
import pytest

from linkwise import scalar
from linkwise.graph.program import Port, trace
from support.backends import native, ulps

FORMS = [(2, False), (2, True), (4, False), (4, True), (8, True)]
AXES = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, 5e-324, -5e-324, 1e308, -1.7e308, 1e-310, -3e-300)
rng = np.random.default_rng(0)
DIRECTION = rng.uniform(-np.pi, np.pi, 20_000)
POINTS = {
    "a square": rng.uniform(-1.0, 1.0, (60_000, 2)),
    "all sizes": rng.normal(size=(30_000, 2)) * 10.0 ** rng.uniform(-300.0, 300.0, (30_000, 2)),
    "like sizes": (rng.normal(size=(20_000, 2)) * 10.0 ** rng.uniform(-300.0, 300.0, (20_000, 1))),
    "the unit circle": np.stack([np.sin(DIRECTION), np.cos(DIRECTION)], axis=1),
    "next to where the route changes": np.stack(
        [np.full(20_000, 0.41421356237309503) * (1.0 + rng.integers(-9, 9, 20_000) * 2.0**-52), np.ones(20_000)], axis=1
    ),
}


def function(lanes, fma):
    program = trace("angle", lambda y, x: ([y[0].atan2(x[0])],), [Port("y", ()), Port("x", ())], [Port("angle", ())])
    return native(program, lanes, fma)


@pytest.fixture(scope="module", params=FORMS, ids=str)
def angle(request):
    return function(*request.param)


@pytest.mark.parametrize("where", POINTS)
def test_two_units_in_the_last_place(angle, where):
    """NumPy's own angle is right to less than one of them."""
    y, x = POINTS[where].T
    assert ulps(angle(y, x), np.arctan2(y, x)).max() <= 2.0


def test_two_units_in_the_last_place_against_high_precision(angle):
    points = np.concatenate([p[:400] for p in POINTS.values()])
    worst = 0.0
    with mpmath.workprec(160):
        for y, x, found in zip(*points.T.tolist(), angle(*points.T).tolist(), strict=True):
            truth = mpmath.atan2(mpmath.mpf(y), mpmath.mpf(x))
            worst = max(worst, float(abs(found - truth)) / np.spacing(abs(float(truth))))
    assert worst < 2.0


def test_axes_signed_zeros_and_infinities_are_those_of_c(angle):
    y, x = np.array(list(itertools.product(AXES, repeat=2))).T
    expected = np.array([math.atan2(a, b) for a, b in zip(y, x, strict=True)])
    found = angle(y, x)
    assert ulps(found, expected).max() <= 2.0
    on_axis = (np.abs(y) == np.abs(x)) | (y == 0.0) | (x == 0.0) | np.isinf(y) | np.isinf(x)
    np.testing.assert_array_equal(found[on_axis].view(np.uint64), expected[on_axis].view(np.uint64))


def test_nan_of_nan(angle):
    other = np.array([0.0, 1.0, np.inf, np.nan])
    assert np.isnan(angle(np.nan, other)).all()
    assert np.isnan(angle(other, np.nan)).all()


def test_opposite_points_and_mirrored_points_have_the_angles_that_belong_to_them(angle):
    y, x = POINTS["a square"].T
    np.testing.assert_array_equal(angle(-y, x), -angle(y, x))
    assert np.abs(np.abs(angle(y, x) - angle(-y, -x)) - np.pi).max() < 1e-15


@pytest.mark.parametrize("step", [1e-40, 1e-200])
def test_a_complex_step_passes_through(step):
    """Of either part, in every quadrant, however small the step is."""
    for y, x in POINTS["a square"][:200].tolist():
        square = x * x + y * y
        assert scalar.atan2(complex(y, step), x).imag / step == pytest.approx(x / square, rel=1e-14)
        assert scalar.atan2(y, complex(x, step)).imag / step == pytest.approx(-y / square, rel=1e-14)
        assert scalar.atan2(complex(y, step), x).real == math.atan2(y, x)


def test_a_complex_point_by_logarithms():
    for y, x, b, a in rng.uniform(-1.0, 1.0, (200, 4)).tolist():
        Y, X = complex(y, 0.3 * b), complex(2.0 + x, 0.3 * a)
        expected = cmath.log((X + 1j * Y) / cmath.sqrt(X * X + Y * Y)) / 1j
        assert scalar.atan2(Y, X) == pytest.approx(expected, rel=1e-13)
    assert scalar.atan2(0j, 0j) == 0.0


def test_an_expression_meets_a_number_from_both_sides():
    program = trace(
        "f", lambda x: ([scalar.atan2(x[0], -2.0), scalar.atan2(1.5, x[0])],), [Port("x", (1,))], [Port("y", (2,))]
    )
    np.testing.assert_allclose(native(program)([0.7]), [math.atan2(0.7, -2.0), math.atan2(1.5, 0.7)], rtol=1e-15)
