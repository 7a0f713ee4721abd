"""Rates of torques against Pinocchio's torques along a motion, and against a Lagrangian in fifty digits."""

import mpmath
import numpy as np
import pytest

import linkwise as lw
from support.arms import two_link
from support.pinocchio_bridge import example, model, random_states, rnea
from support.trees import error, q_dot

DIGITS = 50
CASES = [("panda.urdf", "fixed"), ("ur5_robot.urdf", "fixed"), ("solo12.urdf", "floating"), ("go2.urdf", "floating"),
         ("talos_reduced.urdf", "fixed")]  # fmt: skip


@pytest.mark.parametrize(("file", "base"), CASES)
def test_rates_are_slopes_of_pinocchio_torques(file, base):
    """tau_dot = central differences, of sixth order, of `rnea` along the motion."""
    robot = lw.load(example(file), base=base).without_friction()
    theirs = model(example(file), floating=base == "floating")
    q, qd, qdd = random_states(robot, 4)
    qddd = np.random.default_rng(1).normal(size=qdd.shape)
    found = lw.compile(robot).force_rates(q, qd, qdd, qddd)
    speeds = np.array([q_dot(robot, *x) for x in zip(q, qd, strict=True)])
    h = 2e-3

    def torques(k):
        x = q + k * h * speeds
        for slot in robot.slots.values():
            if slot.nq == 7:  # Pinocchio does not normalise
                x[:, slot.q + 3 : slot.q + 7] /= np.linalg.norm(x[:, slot.q + 3 : slot.q + 7], axis=1, keepdims=True)
        return rnea(robot, theirs, x, qd + k * h * qdd, qdd + k * h * qddd)

    odd = [torques(k) - torques(-k) for k in (1, 2, 3)]
    assert error(found.tau, rnea(robot, theirs, q, qd, qdd)) < 1e-13
    assert error(found.tau_dot, (45.0 * odd[0] - 9.0 * odd[1] + odd[2]) / (60.0 * h)) < 1e-9


def test_rates_of_two_links_in_fifty_digits():
    """Lagrange's equations of the arm of two links, and their derivatives of three orders, by mpmath."""
    coefficients = [[0.3, 0.7, -0.4, 0.9, 0.2, -0.5], [-0.8, 0.4, 1.1, -0.6, 0.3, 0.8]]  # of t^k, for each joint
    kernel = lw.compile(two_link(), lw.force_rates, order=3)
    at = 0.37
    with mpmath.workdps(DIGITS):
        t = mpmath.mpf(at)
        motion = [[float(mpmath.diff(lambda s, c=c: mpmath.polyval(c[::-1], s), t, k)) for c in coefficients]
                  for k in range(6)]  # fmt: skip
        taylor = [mpmath.taylor(lambda s, i=i: _lagrangian(coefficients, s)[i], t, 3) for i in range(2)]
        expected = [[float(c[k] * mpmath.factorial(k)) for c in taylor] for k in range(4)]
    for ours, theirs in zip(kernel(*motion), expected, strict=True):
        assert error(ours, theirs) < 1e-12


def _lagrangian(coefficients, t):
    """Torques of the textbook's arm by the closed form of M qdd + h + g; angles turn about y, gravity is along -z."""
    (a, ad, add), (b, bd, bdd) = (
        [mpmath.diff(lambda s, c=c: mpmath.polyval(c[::-1], s), t, k) for k in range(3)] for c in coefficients
    )
    m1, m2, l1, c1, c2, I1, I2, g = map(mpmath.mpf, ("2", "1", "1", "0.5", "0.5", "0.2", "0.1", "9.81"))
    cos, sin = mpmath.cos, mpmath.sin
    M12 = I2 + m2 * (c2**2 + l1 * c2 * cos(b))
    M11 = I1 + m1 * c1**2 + m2 * l1**2 + m2 * l1 * c2 * cos(b) + M12
    h = m2 * l1 * c2 * sin(b)
    # a positive angle about y lowers a link that points along x
    weight2 = -m2 * g * c2 * cos(a + b)
    weight1 = -(m1 * c1 + m2 * l1) * g * cos(a) + weight2
    first = M11 * add + M12 * bdd - h * (2 * ad * bd + bd**2) + weight1
    return first, M12 * add + (I2 + m2 * c2**2) * bdd + h * ad**2 + weight2
