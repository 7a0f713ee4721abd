"""The experiments with platforms on legs."""

import numpy as np
import pytest

import linkwise as lw
from papers import delta, hexapod


def test_six_directions_is_a_motion():
    """Velocity and acceleration belong to the positions: by central differences of fourth order."""
    t, h = np.linspace(0.1, 3.9, 20), 1e-3
    dyn = lw.compile(hexapod.hexapod_robot())
    at = hexapod.six_directions(t)
    near = [hexapod.six_directions(t + k * h) for k in (-2, -1, 1, 2)]

    def rate(x):
        return (x[0] - 8.0 * x[1] + 8.0 * x[2] - x[3]) / (12.0 * h)

    np.testing.assert_allclose(rate([m.q for m in near]), dyn.q_dot(at.q, at.qd), rtol=0, atol=1e-10)
    np.testing.assert_allclose(rate([m.qd for m in near]), at.qdd, rtol=0, atol=1e-9)


def test_the_gate_is_a_motion():
    """So it is for the way of the Delta, which stands still at its ends and comes back."""
    t, h = np.linspace(0.01, 0.49, 40), 1e-5
    at = delta.gate(t)
    before, after = delta.gate(t - h), delta.gate(t + h)
    np.testing.assert_allclose((after.q - before.q) / (2 * h), at.qd, rtol=0, atol=1e-5)
    np.testing.assert_allclose((after.qd - before.qd) / (2 * h), at.qdd, rtol=0, atol=1e-2)
    ends = delta.gate(np.array([0.0, delta.CYCLE / 2.0, delta.CYCLE]))
    assert not ends.qd.any()
    assert not ends.qdd.any()
    np.testing.assert_allclose(ends.q[0], ends.q[2], rtol=0, atol=1e-15)
    assert abs(np.linalg.norm(ends.q[1] - ends.q[0]) - delta.REACH) < 1e-14
    assert abs(delta.gate(np.array([0.125])).q[0, 2] - delta.FLOOR - delta.LIFT) < 1e-14


def test_delta_agrees():
    found = delta.pick_and_place()
    assert found.agrees
    assert len(found.pictures) == 2
    assert all(p.svg.startswith("<svg") for p in found.pictures)


@pytest.mark.slow
def test_hexapod_agrees():
    found = hexapod.hexapod()
    assert found.agrees
    assert len(found.pictures) == 2
    assert not any("$" in p.svg for p in found.pictures)  # powers of ten are written out: pictures parse no formulas


def test_the_hexapod_has_a_witness_that_shares_nothing_with_it():
    """It is as exact as rounding allows, and notices one rod that is 10 g heavier."""
    robot = hexapod.hexapod_robot()
    dyn = lw.compile(robot)
    assert hexapod.witness_error(robot, dyn) < 1e-11
    rod = robot.link("leg3.rod")
    other = robot.replace(lw.Link(rod.name, rod.mass + 0.01, rod.com, rod.inertia))
    assert hexapod.witness_error(other, dyn) > 1e-4
