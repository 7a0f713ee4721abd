"""Delays between channels, between samples too."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.motion import Log, delay, read_log
from support.logs import ARM, columns, motion

RATE = 500.0
T = np.arange(10000) / RATE


@pytest.mark.parametrize("late", [0.0, 0.0004, 0.004, 0.0373, -0.011])
def test_delays_are_found_between_samples(late):
    rng = np.random.default_rng(0)
    a, b = motion(T)[1], motion(T - late)[1]
    noise = 0.02 * rng.normal(size=a.shape)
    assert delay(a, b, RATE) == pytest.approx(late, abs=1e-7)
    assert delay(a, -3.0 * b + 0.4 + noise, RATE) == pytest.approx(late, abs=2e-4)
    assert delay(a[:, 0], b[:, 0], RATE) == pytest.approx(late, abs=1e-6)


def test_runs_are_taken_together():
    a, b = motion(T)[1], motion(T - 0.004)[1]
    runs = [slice(0, 3000), slice(3000, 3010), slice(3010, 10000)]
    assert delay(a, b, RATE, runs=runs) == pytest.approx(0.004, abs=1e-5)


def test_wrong_arguments_are_refused():
    a = motion(T)[1]
    for arguments, words in (
        ((a, a[:-1], RATE), "expected two arrays of one shape"),
        ((a[:5], a[:5], RATE), "of 16 rows or more"),
        ((a, a, 0.0), "expected a number above 0, got 0.0"),
        ((a, a, RATE, -1.0), "expected a number above 0, got -1.0"),
    ):
        with pytest.raises(lw.InputError, match=words):
            delay(*arguments)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("uneven", [False, True])
def test_delay_of_4_ms_and_jitter_of_1_ms_are_found(seed, uneven):
    """Within 0.5 ms; whether the stamps jitter or the samples do; and the accelerations are as good as without."""
    rng = np.random.default_rng(seed)
    jitter = 1e-3 * rng.normal(size=len(T))
    stamps = np.sort(T + jitter) if uneven else T + jitter
    when = stamps if uneven else T
    q, qd = motion(when)[0], motion(when - 0.004)[1]
    noisy = q + 2e-5 * rng.normal(size=q.shape), qd + 0.01 * rng.normal(size=q.shape)
    log = read_log(columns(stamps + 1.7e9, *noisy), ARM)
    assert log.delays["qd"] == pytest.approx(0.004, abs=5e-4)
    assert log.jitter == pytest.approx(1e-3, abs=5e-4)
    assert any("come 4" in note or "come 3.9" in note for note in log.notes)
    clean = read_log(columns(T, motion(T)[0] + 2e-5 * rng.normal(size=q.shape)), ARM)
    errors = [_error(lw.motion.smooth(x, 10.0)) for x in (log, clean)]
    assert errors[0] < 1.2 * errors[1] + 2e-3


def _error(smoothed):
    """Of accelerations beside their root mean square, at whatever time the log starts."""
    rows = slice(200, -200, 20)
    tried = [motion(smoothed.log.t[rows] + shift)[2] for shift in np.linspace(-2e-3, 2e-3, 41)]
    return min(np.sqrt(np.mean((smoothed.qdd[rows] - x) ** 2) / np.mean(x**2)) for x in tried)


def test_a_shifted_channel_is_where_it_belongs():
    q, qd, _ = motion(T)
    late = motion(T - 0.0047)[1]
    log = Log(ARM, T, q, late, runs=(slice(0, 4000), slice(4000, 10000)), others={"heat": late[:, 0]})
    moved = log.shifted({"qd": 0.0047})
    at = np.searchsorted(T, moved.t)
    np.testing.assert_allclose(moved.qd, qd[at], atol=1e-7)
    np.testing.assert_array_equal(moved.q, q[at])
    np.testing.assert_array_equal(moved.others["heat"], late[at, 0])
    assert moved.delays == {"qd": 0.0047}
    assert len(moved) == len(log) - 2 * 3
    back = moved.shifted({"qd": -0.0047})
    assert back.delays == {"qd": pytest.approx(0.0)}
    np.testing.assert_allclose(back.qd, late[np.searchsorted(T, back.t)], atol=1e-6)
    with pytest.raises(lw.UnknownNameError, match="unknown channel 'tau'"):
        log.shifted({"tau": 0.004})
    with pytest.raises(lw.InputError, match="expected delays shorter than the runs"):
        log.shifted({"qd": 100.0})
