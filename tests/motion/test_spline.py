"""Rates of floating joints, against motions that are known in closed form."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwise as lw
from linkwise.motion.spline import body_rates, motion


@pytest.fixture
def body():
    links = [lw.Link("world"), lw.Link("body", mass=1.0, inertia=(0.1, 0.2, 0.3))]
    return lw.Robot(links, [lw.Joint("free", "world", "body", "floating")])


def test_body_rates_of_a_tumbling_body(body):
    """A turn at a constant rate about a fixed body axis, on a circle: omega is known, and its rate is zero."""
    t = np.linspace(0.0, 2.0, 401)
    omega = np.array([0.4, -0.7, 1.1])
    R = Rotation.from_rotvec([0.3, 0.2, 0.1]) * Rotation.from_rotvec(t[:, None] * omega)
    p = np.stack([np.cos(t), np.sin(t), 0.2 * t], axis=1)
    p_dot = np.stack([-np.sin(t), np.cos(t), np.full_like(t, 0.2)], axis=1)
    p_ddot = np.stack([-np.cos(t), -np.sin(t), np.zeros_like(t)], axis=1)
    quaternion = R.as_quat()
    quaternion[100:250] *= -1.0  # the same rotations
    qd, qdd = motion(body, t, np.hstack([p, quaternion]), 5)
    v = R.inv().apply(p_dot)
    np.testing.assert_allclose(qd[:, :3], v, atol=1e-9)
    np.testing.assert_allclose(qd[:, 3:], np.tile(omega, (401, 1)), atol=1e-9)
    np.testing.assert_allclose(qdd[:, :3], R.inv().apply(p_ddot) - np.cross(omega, v), atol=1e-6)
    np.testing.assert_allclose(qdd[:, 3:], 0.0, atol=1e-6)


def test_work_of_the_torques_is_the_change_of_energy(body):
    """The spline's qd and qdd belong together: power of the inverse dynamics is the rate of energy."""
    t = np.linspace(0.0, 3.0, 3001)
    R = Rotation.from_euler("xyz", np.stack([np.sin(t), 0.5 * t, 0.3 * np.cos(2 * t)], axis=1))
    q = np.hstack([np.stack([np.sin(2 * t), np.cos(t), t**2], axis=1), R.as_quat()])
    qd, qdd = motion(body, t, q, 5)
    dyn = lw.compile(body)
    power = np.sum(dyn.inverse_dynamics(q, qd, qdd) * qd, axis=1)
    work = np.trapezoid(power, t)
    energy = dyn.kinetic_energy(q, qd) + dyn.potential_energy(q)
    assert work == pytest.approx(energy[-1] - energy[0], rel=1e-6)


def test_jerks_of_a_tumbling_body(body):
    """The spline's third rates = differences of its second ones, also where quaternions have other lengths."""
    t = np.linspace(0.0, 1.0, 2001)
    R = Rotation.from_euler("xyz", np.stack([np.sin(t), 0.5 * t, 0.3 * np.cos(2 * t)], axis=1))
    q = np.hstack([np.stack([np.sin(2 * t), np.cos(t), t**2], axis=1), R.as_quat()])
    _, qdd, qddd = motion(body, t, q, 5, 3)
    slope = np.gradient(qdd, t, axis=0)[100:-100]
    np.testing.assert_allclose(qddd[100:-100], slope, atol=2e-5)


def test_three_rates_of_position_and_quaternion():
    """body_rates = the derivatives of R^T p_dot and omega, by hand at a quaternion that is not of length one."""
    rng = np.random.default_rng(3)
    series = rng.normal(size=(4, 5, 7))

    def at(s):
        terms = [1.0, s, s**2 / 2.0, s**3 / 6.0]
        value = sum(c * k for c, k in zip(series, terms, strict=True))
        first = series[1] + series[2] * s + series[3] * s**2 / 2.0
        return body_rates(value, first, series[2] + series[3] * s)

    h = 1e-4
    found = body_rates(*series)
    for lower, higher in ((0, 1), (1, 2)):
        slope = (8.0 * (at(h)[lower] - at(-h)[lower]) - (at(2 * h)[lower] - at(-2 * h)[lower])) / (12.0 * h)
        np.testing.assert_allclose(found[higher], slope, rtol=1e-7, atol=1e-7 * np.abs(slope).max())
