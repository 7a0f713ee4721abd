"""Friction and delays that torques are not linear in are found, with errors that hold and exact derivatives."""

import numpy as np
import pytest
from scipy.optimize import least_squares

import linkwise as lw
from linkwise.identification.nonlinear import LAWS, nonlinear_friction
from linkwise.identification.separable import _Problem, separable_least_squares

RATE = 500.0


def exponentials(rng, rows=200, noise=1e-3):
    """y = 2 exp(-0.7 t) - exp(-3 t) + 0.5 t with noise."""
    t = np.linspace(0.0, 4.0, rows)
    y = 2.0 * np.exp(-0.7 * t) - np.exp(-3.0 * t) + 0.5 * t + noise * rng.standard_normal(rows)
    return t, y, lambda phi: np.exp(-np.outer(t, phi))


def test_equals_scipys_least_squares():
    rng = np.random.default_rng(0)
    t, y, columns = exponentials(rng)
    w = rng.uniform(0.5, 2.0, len(t))
    fit = separable_least_squares(columns, y, [0.5, 2.0], linear=t[:, None], weights=w)
    theirs = least_squares(
        lambda z: np.sqrt(w) * (y - z[0] * t - columns(z[3:]) @ z[1:3]),
        [0.4, 1.0, -1.0, 0.5, 2.0],
        xtol=1e-15,
        gtol=1e-15,
    )
    assert fit.status == "solved"
    np.testing.assert_allclose([*fit.linear, *fit.nonlinear], theirs.x, rtol=1e-5)
    assert fit.cost == pytest.approx(theirs.cost, rel=1e-9)
    inverse = np.linalg.inv(theirs.jac.T @ theirs.jac) * 2.0 * theirs.cost / (len(t) - 5)
    np.testing.assert_allclose(fit.covariance(), inverse, rtol=1e-3)


def test_the_reduced_jacobian_is_that_of_the_projected_residual():
    t, y, columns = exponentials(np.random.default_rng(1), noise=0.3)
    phi = np.array([0.9, 2.2])
    problem = _Problem(phi, columns, y, t[:, None], np.linspace(0.5, 1.5, len(t)), None)
    J = problem.reduced(problem.at(phi))
    for k in range(2):
        h = 1e-6 * np.eye(2)[k]
        slope = (problem.at(phi + h).r - problem.at(phi - h).r) / 2e-6
        np.testing.assert_allclose(J[:, k], slope, atol=1e-7 * np.abs(slope).max())


def test_bounds_hold_and_are_named():
    t, y, columns = exponentials(np.random.default_rng(2))
    fit = separable_least_squares(columns, y, [0.5, 2.0], linear=t[:, None], upper=[np.inf, 2.5])
    assert fit.nonlinear[1] == 2.5
    assert fit.at_bounds == (1,)
    assert np.isnan(fit.covariance()[-1, -1])
    assert np.isfinite(fit.covariance()[0, 0])


def test_columns_that_depend_on_others_are_said_to_be_undetermined():
    t, y, columns = exponentials(np.random.default_rng(3))
    fit = separable_least_squares(columns, y, [0.5, 2.0], linear=np.stack([t, 2.0 * t], axis=1))
    assert np.all(np.isnan(np.diag(fit.covariance())[:2]))
    assert np.all(np.isfinite(np.diag(fit.covariance())[2:]))


def pendulum_log(rng, friction, delay=0.0, noise=0.01, seconds=30.0):
    """Speed and torque, late by the delay, of an arm; columns of inertia, gravity, viscous and Coulomb friction."""
    fine = 20
    t = np.arange(int(seconds * RATE) * fine) / (RATE * fine)
    q = sum(a * np.sin(w * t + p) for a, w, p in ((0.9, 2.1, 0.3), (0.5, 5.3, 1.0), (0.2, 11.7, 2.0)))
    qd, qdd = np.gradient(q, t), np.gradient(np.gradient(q, t), t)
    tau = 1.3 * qdd + 4.0 * np.sin(q) + friction(qd)
    lag = round(delay * RATE * fine)
    late = np.concatenate([np.repeat(tau[:1], lag), tau[: len(tau) - lag]])
    at = slice(0, None, fine)
    A = np.stack([qdd, np.sin(q), qd, np.sign(qd)], axis=1)[at]
    return qd[at, None], (late[at] + noise * rng.standard_normal(len(t[at])))[:, None], A[:, None, :]


def test_stribeck_speed_is_found():
    law = lw.Friction(0.4, 0.8, "stribeck", width=1e-6, static=1.4, stribeck=0.15)
    qd, tau, A = pendulum_log(np.random.default_rng(4), lambda v: np.array([law.torque(x) for x in v]), seconds=6.0)
    found = nonlinear_friction(["pin"], qd, tau, A, {"pin": "stribeck"}, start={"pin.stribeck": 0.5})
    values, errors = found.values(), found.errors()
    assert values["pin.stribeck"] == pytest.approx(0.15, abs=4.0 * errors["pin.stribeck"])
    assert values["pin.static - coulomb"] == pytest.approx(0.6, abs=4.0 * errors["pin.static - coulomb"])
    assert errors["pin.stribeck"] < 0.01
    np.testing.assert_allclose(found.fit.linear[:4], [1.3, 4.0, 0.4, 0.8], rtol=0.02)


TRUE = {
    "stribeck_exponent": ({"stribeck": 0.2, "exponent": 1.2}, [0.6]),
    "power": ({"exponent": 0.6}, [0.9]),
    "tanh": ({"width": 0.1}, [0.7]),
    "asymmetric": ({"width_forwards": 0.05, "width_backwards": 0.2}, [0.7, 1.1]),
}


@pytest.mark.parametrize("law", TRUE)
def test_laws_are_found(law):
    phi, x = TRUE[law]
    own = ("tanh", "asymmetric")  # which bring Coulomb friction of their own
    dry = 0.0 if law in own else 0.5
    qd, tau, A = pendulum_log(
        np.random.default_rng(5),
        lambda v: 0.4 * v + dry * np.sign(v) + LAWS[law].columns(v, np.array(list(phi.values()))) @ x,
    )
    A = A[:, :, :3] if law in own else A
    found = nonlinear_friction(["pin"], qd, tau, A, {"pin": law})
    errors = found.errors()
    for name, value in phi.items():
        assert found.values()[f"pin.{name}"] == pytest.approx(value, abs=4.5 * errors[f"pin.{name}"]), name
        assert errors[f"pin.{name}"] < 0.2 * value


@pytest.mark.parametrize("how", ["one", "each"])
def test_delays_are_found_with_friction(how):
    law = lw.Friction(0.4, 0.8, "stribeck", width=1e-6, static=1.4, stribeck=0.15)
    rng = np.random.default_rng(6)
    qd, tau, A = pendulum_log(rng, lambda v: np.array([law.torque(x) for x in v]), delay=0.004, noise=0.02, seconds=6.0)
    found = nonlinear_friction(
        ["pin"], qd, tau, A, {"pin": "stribeck"}, delay=how, rate=RATE, runs=[slice(0, 1400), slice(1400, len(tau))]
    )
    late = found.values()["delay" if how == "one" else "pin.delay"]
    assert late == pytest.approx(0.004, abs=2e-4)


def test_weights_leave_rows_out():
    rng = np.random.default_rng(7)
    qd, tau, A = pendulum_log(rng, lambda v: 0.4 * v + 0.5 * np.tanh(v / 0.1))
    tau[100:200] += 100.0
    weights = np.ones_like(tau)
    weights[100:200] = 0.0
    found = nonlinear_friction(["pin"], qd, tau, A[:, :, :3], {"pin": "tanh"}, weights=weights)
    assert found.values()["pin.width"] == pytest.approx(0.1, rel=0.05)
    tau[50] = np.nan
    again = nonlinear_friction(["pin"], qd, tau, A[:, :, :3], {"pin": "tanh"}, weights=weights)
    assert again.values()["pin.width"] == pytest.approx(found.values()["pin.width"], rel=1e-2)


def test_standard_errors_cover():
    """Of 60 experiments, about 95 of 100 intervals hold the true width."""
    inside = 0
    for seed in range(60):
        rng = np.random.default_rng(100 + seed)
        v = rng.uniform(-1.0, 1.0, 300)
        tau = 0.3 * v + 0.7 * np.tanh(v / 0.2) + 0.05 * rng.standard_normal(300)
        found = nonlinear_friction(["pin"], v[:, None], tau[:, None], v[:, None, None], {"pin": "tanh"})
        inside += abs(found.values()["pin.width"] - 0.2) < 1.96 * found.errors()["pin.width"]
    assert 51 <= inside <= 60


def test_a_number_without_effect_stays_where_it_began():
    v = np.linspace(-1.0, 1.0, 50)[:, None]
    found = nonlinear_friction(["pin"], v, 0.3 * v, v[:, :, None], {"pin": "tanh"}, start={"pin.width": 0.3})
    assert found.fit.status == "solved"
    assert found.values()["column 0"] == pytest.approx(0.3)
    assert found.values()["pin.coulomb"] == pytest.approx(0.0, abs=1e-10)


def test_wrong_arguments_are_named():
    one = np.ones((5, 1))
    with pytest.raises(lw.UnknownNameError, match="law of friction"):
        nonlinear_friction(["pin"], one, one, one[:, :, None], {"pin": "magic"})
    with pytest.raises(lw.UnknownNameError, match="drive in laws"):
        nonlinear_friction(["pin"], one, one, one[:, :, None], {"nail": "tanh"})
    with pytest.raises(lw.InputError, match="expected qd"):
        nonlinear_friction(["pin"], one, one[:3], one[:, :, None], {})
    with pytest.raises(lw.InputError, match="delay: expected None"):
        nonlinear_friction(["pin"], one, one, one[:, :, None], {}, delay="one")
    with pytest.raises(lw.UnknownNameError, match="nonlinear parameter"):
        nonlinear_friction(["pin"], one, one, one[:, :, None], {"pin": "tanh"}, start={"pin.with": 1.0})
    with pytest.raises(lw.InputError, match="lower bounds below"):
        separable_least_squares(lambda phi: one, np.ones(5), [1.0], lower=2.0, upper=1.0)
    with pytest.raises(lw.InputError, match="finite numbers"):
        separable_least_squares(lambda phi: one * np.nan, np.ones(5), [1.0])
    with pytest.raises(lw.InputError, match="weights: expected numbers of at least 0"):
        separable_least_squares(lambda phi: one, np.ones(5), [1.0], weights=-np.ones(5))
    with pytest.raises(lw.LinkwiseError, match="complex numbers"):
        separable_least_squares(lambda phi: one * float(phi[0]), np.ones(5), [1.0])
