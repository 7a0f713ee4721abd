"""Nasser's scheme on the arm on which it was verified."""

import numpy as np

from papers import two_links as page


def test_the_closed_form_is_the_energys():
    """Power of the torques is the rate of kinetic and potential energy, along a step of Runge and Kutta's method."""
    arm, tau = page.Arm(), np.array([[2.0, -1.0]])
    q, qd = np.array([[0.4, -1.1]]), np.array([[1.5, -2.0]])

    def rate(x):
        return np.concatenate([x[:, 2:], page.closed_form(arm, x[:, :2], x[:, 2:], tau)], axis=1)

    def energy(x):
        (l, _), (c1, c2), (m1, m2), (I1, I2) = arm
        (a, b, w, v), g = x[0], 9.81
        u = w + v
        x2 = np.array([-l * np.sin(a) * w - c2 * np.sin(a + b) * u, l * np.cos(a) * w + c2 * np.cos(a + b) * u])
        kinetic = 0.5 * (m1 * c1**2 + I1) * w**2 + 0.5 * m2 * x2 @ x2 + 0.5 * I2 * (w + v) ** 2
        return kinetic + m1 * g * c1 * np.sin(a) + m2 * g * (l * np.sin(a) + c2 * np.sin(a + b))

    x, h = np.concatenate([q, qd], axis=1), 1e-3
    k1 = rate(x)
    k2 = rate(x + 0.5 * h * k1)
    k3 = rate(x + 0.5 * h * k2)
    after = x + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + rate(x + h * k3))
    work = tau[0] @ (after - x)[0, :2]
    assert abs(energy(after) - energy(x) - work) < 1e-11


def test_some_misprints_do_not_show_in_a_plane():
    seen = {row[0]: row[1] for row in page.two_links().tables[1].rows}
    assert seen[page.MISPRINTS["gamma = 1"]] == "yes"
    assert seen[page.MISPRINTS["(2.1.13.2)"]] == "no"
    assert seen[page.MISPRINTS["(2.3.3)"]] == "no"
