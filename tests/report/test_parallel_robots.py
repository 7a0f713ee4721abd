"""The experiments with parallel robots."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.report import parallel_robots as experiments


def test_six_directions_is_a_motion():
    """Velocity and acceleration belong to the poses: by central differences of fourth order."""
    t, h = np.linspace(0.1, 3.9, 20), 1e-3
    par = lw.compile(experiments.hexapod_robot())
    at = experiments.six_directions(t)
    near = [experiments.six_directions(t + k * h) for k in (-2, -1, 1, 2)]

    def rate(x):
        return (x[0] - 8.0 * x[1] + 8.0 * x[2] - x[3]) / (12.0 * h)

    np.testing.assert_allclose(rate([m.pose for m in near]), par.pose_rate(at.pose, at.velocity), rtol=0, atol=1e-10)
    np.testing.assert_allclose(rate([m.velocity for m in near]), at.acceleration, rtol=0, atol=1e-9)


def test_the_gate_is_a_motion():
    """So it is for the way of the Delta, which stands still at its ends and comes back."""
    t, h = np.linspace(0.01, 0.49, 40), 1e-5
    at = experiments.gate(t)
    before, after = experiments.gate(t - h), experiments.gate(t + h)
    np.testing.assert_allclose((after.pose - before.pose) / (2 * h), at.velocity, rtol=0, atol=1e-5)
    np.testing.assert_allclose((after.velocity - before.velocity) / (2 * h), at.acceleration, rtol=0, atol=1e-2)
    ends = experiments.gate(np.array([0.0, experiments.CYCLE / 2.0, experiments.CYCLE]))
    assert not ends.velocity.any()
    assert not ends.acceleration.any()
    np.testing.assert_allclose(ends.pose[0], ends.pose[2], rtol=0, atol=1e-15)
    assert abs(np.linalg.norm(ends.pose[1] - ends.pose[0]) - experiments.REACH) < 1e-14
    assert abs(experiments.gate(np.array([0.125])).pose[0, 2] - experiments.FLOOR - experiments.LIFT) < 1e-14


def test_delta_agrees():
    found = experiments.pick_and_place()
    assert found.agrees
    assert len(found.pictures) == 2
    assert all(p.svg.startswith("<svg") for p in found.pictures)


@pytest.mark.slow
def test_hexapod_agrees():
    found = experiments.hexapod()
    assert found.agrees
    assert len(found.pictures) == 2
    assert not any("$" in p.svg for p in found.pictures)  # powers of ten are written out: pictures parse no formulas
