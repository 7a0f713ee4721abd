"""Long-run covariances, periods and tests of residuals, by Monte Carlo and known answers; least squares by SciPy."""

import numpy as np
import pytest
from scipy import linalg
from scipy.signal import lfilter
from scipy.special import stdtrit

from linkwise.identification.covariance import cosines, period, robust
from linkwise.identification.least_squares import solve
from linkwise.identification.samples import Rows
from linkwise.identification.statistics import information, wald, whiteness


def rows_of(A: np.ndarray, b: np.ndarray) -> Rows:
    n, nu = b.shape
    ones = np.ones((n, nu))
    return Rows(np.arange(n) / 10.0, A, b, ones > 0.0, 0.0 * ones, ones, np.zeros(n, dtype=int), 10.0)


def test_ordinary_least_squares_are_those_of_scipy() -> None:
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(60, 2, 5)), rng.normal(size=(60, 2))
    found = solve(rows_of(A, b), "ordinary")
    expected = linalg.lstsq(A.reshape(-1, 5), b.ravel())[0]
    np.testing.assert_allclose(found.x, expected, rtol=1e-10)
    np.testing.assert_allclose(found.scores.sum(axis=0), 0.0, atol=1e-10)


def test_reweighting_finds_the_covariance_of_drives_and_the_outliers() -> None:
    rng = np.random.default_rng(1)
    L = np.array([[1.0, 0.0], [0.3, 0.1]])
    A, x = rng.normal(size=(4000, 2, 3)), np.array([1.0, -2.0, 0.5])
    e = rng.normal(size=(4000, 2)) @ L.T
    e[::400] += 30.0
    found = solve(rows_of(A, A @ x + e), "reweighted")
    np.testing.assert_allclose(found.sigma, L @ L.T, rtol=0.25)
    assert found.weight[::400].max() < 0.3
    plain = solve(rows_of(A, A @ x + e), "ordinary")
    assert np.abs(found.x - x).max() < 0.3 * np.abs(plain.x - x).max()


def test_errors_that_last_are_not_taken_for_noise_that_drives_share() -> None:
    rng = np.random.default_rng(1)
    A, x = rng.normal(size=(4000, 2, 3)), np.array([1.0, -2.0, 0.5])
    for lasting, shared in ((0.0, 1.0), (0.9, 0.0)):
        e = lfilter([1.0], [1.0, -lasting], rng.normal(size=4000))[:, None] + 0.1 * rng.normal(size=(4000, 2))
        found = solve(rows_of(A, A @ x + e), "reweighted")
        R = found.sigma[0, 1] / np.sqrt(found.sigma[0, 0] * found.sigma[1, 1])
        assert pytest.approx(shared, abs=0.05) == R


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8])
def test_intervals_hold_with_correlated_errors_and_columns(rho: float) -> None:
    rng = np.random.default_rng(2)
    inside, ratio = [], []
    for _ in range(200):
        n = 600
        e, c = lfilter([1.0], [1.0, -rho], rng.normal(size=(2, n + 100)), axis=1)[:, 100:]
        A = np.stack([np.ones(n), c], axis=1)[:, None, :]
        found = solve(rows_of(A, (A @ [1.0, 2.0]) + e[:, None]), "ordinary")
        covariance = robust(found, rows_of(A, e[:, None]))
        se = np.sqrt(np.diag(covariance.matrix))
        inside.append(np.abs(found.x - [1.0, 2.0]) < stdtrit(covariance.dof, 0.975) * se)
        ratio.append(se[0] ** 2 * n * (1.0 - rho) ** 2)  # the mean of an AR(1) series: 1 / (1 - rho)^2 / n
    assert 0.90 < np.mean(inside) < 0.985
    # the spectrum of the series at the waves, beside that at zero
    omega = np.pi * np.arange(1, cosines(600) + 1) / 600
    seen = np.mean((1.0 - rho) ** 2 / (1.0 - 2.0 * rho * np.cos(omega) + rho**2))
    assert np.mean(ratio) == pytest.approx(seen, abs=0.08)


def test_a_repeated_motion_is_noticed() -> None:
    rng = np.random.default_rng(3)
    one = lfilter([1.0], [1.0, -0.9], rng.normal(size=(120, 2, 3)), axis=0)
    A = np.concatenate([one] * 4) + 0.01 * rng.normal(size=(480, 2, 3))
    assert period(rows_of(A, A[:, :, 0])) == 120
    B = lfilter([1.0], [1.0, -0.9], rng.normal(size=(480, 2, 3)), axis=0)
    assert period(rows_of(B, B[:, :, 0])) == 0
    assert period(rows_of(np.ones((50, 1, 1)), np.ones((50, 1)))) == 0


def test_errors_that_repeat_widen_intervals() -> None:
    rng = np.random.default_rng(4)
    inside = []
    for _ in range(100):
        one = lfilter([1.0], [1.0, -0.5], rng.normal(size=(150, 1, 2)), axis=0)
        A = np.concatenate([one] * 6)
        e = np.concatenate([rng.normal(size=(150, 1))] * 6)
        found = solve(rows_of(A, A @ [1.0, 2.0] + e), "ordinary")
        covariance = robust(found, rows_of(A, e))
        inside.append(
            np.abs(found.x - [1.0, 2.0]) < stdtrit(covariance.dof, 0.975) * np.sqrt(np.diag(covariance.matrix))
        )
    assert np.mean(inside) > 0.88


def test_whiteness_tells_white_from_coloured() -> None:
    rng = np.random.default_rng(5)
    e = np.stack([rng.normal(size=2000), lfilter([1.0], [1.0, -0.9], rng.normal(size=2000))], axis=1)
    white, coloured = whiteness(("a", "b"), e, rows_of(e[:, :, None], e))
    assert white.white
    assert not coloured.white
    assert coloured.correlation == pytest.approx(0.81, abs=0.1)


def test_wald_is_an_f_test_of_known_level() -> None:
    rng = np.random.default_rng(6)
    found = []
    for _ in range(200):
        A, e = rng.normal(size=(300, 1, 3)), rng.normal(size=(300, 1))
        solution = solve(rows_of(A, e), "ordinary")
        found.append(wald(solution.x, robust(solution, rows_of(A, e)), [0, 2]).probability)
    assert 0.01 < np.mean(np.array(found) < 0.05) < 0.10


def test_a_useless_column_is_not_worth_it() -> None:
    rng = np.random.default_rng(7)
    A, e = rng.normal(size=(400, 1, 2)), rng.normal(size=(400, 1))
    b = A[:, :, 0] + e
    one, two = (solve(rows_of(A[:, :, :k], b), "ordinary") for k in (1, 2))
    bic = [information(s.residual, rows_of(A, b), k)[1] for s, k in ((one, 1), (two, 2))]
    assert bic[0] < bic[1]
    assert cosines(1000) == 40
