"""Smoothing knows its noise: against known motions, SciPy's filters and its spectra."""

import numpy as np
import pytest
from scipy.signal import butter, sosfiltfilt, welch

import linkwise as lw
from linkwise.identification import simulated_log
from linkwise.motion import Log, low_pass, smooth
from linkwise.motion.smoothing import smooth_rates
from linkwise.motion.spectrum import noise_of, spectrum
from support.logs import ARM, motion, noisy_log


def rms(x):
    return np.sqrt(np.mean(x**2, axis=0))


@pytest.mark.parametrize(("seconds", "f"), [(60.0, 0.5), (300.0, 0.1), (300.0, 1.0)])
def test_a_motion_that_is_repeated_is_no_noise(seconds, f):
    robot = lw.load("rr")
    log = simulated_log(robot, seconds, 100.0, noise_q=1e-5, base_frequency=f)  # five harmonics
    smoothed = smooth(log)
    assert np.all(smoothed.cutoff > 5.0 * f)
    np.testing.assert_allclose(smoothed.noise, 1e-5, rtol=0.1)


@pytest.mark.parametrize(("rate", "sd"), [(1000.0, 2e-5), (250.0, 2e-5), (125.0, 1e-3), (500.0, 1e-7)])
def test_standard_deviations_are_those_of_the_errors(rate, sd):
    """Errors against the true motion are noise by the deviations that are told, wherever the filter takes little."""
    log, truth = noisy_log(rate, sd=sd)
    found = smooth(log)
    at = np.searchsorted(log.t, found.log.t)
    np.testing.assert_allclose(found.noise, sd, rtol=0.1)
    for k, x in enumerate((found.q, found.qd, found.qdd)):
        ratio = rms(x - truth[k][at]) / found.sd[k]
        assert np.median(ratio) == pytest.approx(1.0, abs=0.2)
        assert np.all(ratio < 2.0)


def test_accelerations_are_nearly_as_good_as_any_cutoff_could_make_them():
    log, truth = noisy_log(sd=1e-3)
    chosen = smooth(log)
    at = np.searchsorted(log.t, chosen.log.t)
    tried = []
    for cutoff in np.geomspace(1.0, 50.0, 30):
        q = sosfiltfilt(butter(4, cutoff, fs=log.rate, output="sos"), log.q, axis=0)
        qdd = np.gradient(np.gradient(q, log.t, axis=0), log.t, axis=0)
        tried.append(rms((qdd - truth[2])[at]))
    assert np.all(rms(chosen.qdd - truth[2][at]) < 1.5 * np.min(tried, axis=0) + 0.006 * rms(truth[2]))


def test_the_filter_is_that_of_scipy():
    log, _ = noisy_log()
    expected = sosfiltfilt(butter(4, 6.0, fs=log.rate, output="sos"), log.q, axis=0)
    inner = slice(1000, -1000)
    np.testing.assert_allclose(low_pass(log.q, log.rate, 6.0, log.runs)[inner], expected[inner], atol=1e-9)
    cutoff = np.full(log.robot.nv, 6.0)
    np.testing.assert_allclose(smooth_rates(log.q, log.rate, cutoff, log.runs, 0)[0][inner], expected[inner], atol=1e-7)


def test_columns_may_have_cutoffs_and_shapes_of_their_own():
    log, _ = noisy_log(seconds=4.0)
    both = low_pass(log.q[:, :2], log.rate, [3.0, 9.0], log.runs)
    for k, cutoff in enumerate((3.0, 9.0)):
        np.testing.assert_allclose(both[:, k], low_pass(log.q[:, k], log.rate, cutoff, log.runs), rtol=1e-12)
    cube = log.q.reshape(-1, 2, 3)
    np.testing.assert_allclose(low_pass(cube, log.rate, 5.0, log.runs), low_pass(
        log.q, log.rate, 5.0, log.runs).reshape(-1, 2, 3))  # fmt: skip


def test_rates_are_of_one_function():
    """The integral of the velocities is the positions, that of the accelerations the velocities."""
    log, _ = noisy_log(sd=1e-3)
    found = smooth(log, 8.0)
    for x, rate in ((found.q, found.qd), (found.qd, found.qdd)):
        step = np.diff(found.log.t)[:, None]
        integral = np.cumsum((rate[1:] + rate[:-1]) / 2.0 * step, axis=0)
        np.testing.assert_allclose(x[1:] - x[0], integral, atol=2e-3 * np.abs(x).max())


def test_spectra_are_those_of_welch():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2**16, 2)) * [1.0, 0.1]
    found = spectrum(x, 100.0, [slice(0, len(x))])
    f, P = welch(x, 100.0, nperseg=2048, axis=0)
    np.testing.assert_allclose(found.mean[found.many > 50].mean(axis=0), P[10:].mean(axis=0), rtol=0.02)
    np.testing.assert_allclose(found.floor[-5:], found.mean[-5:], rtol=0.05)
    assert f[-1] == pytest.approx(found.f[-1], rel=0.1)


@pytest.mark.parametrize("counts", [2**14, 2**20])
def test_noise_of_counts_of_an_encoder(counts):
    """Quantised positions of a motion that crosses many counts have the noise q / sqrt(12)."""
    t = np.arange(20000) / 1000.0
    q, _, qdd = motion(t)
    unit = 2.0 * np.pi / counts
    found = smooth(Log(ARM, t, np.round(q / unit) * unit))
    assert np.median(found.noise) == pytest.approx(unit / np.sqrt(12.0), rel=0.3)
    at = np.searchsorted(t, found.log.t)
    assert np.all(rms(found.qdd - qdd[at]) < 0.1 * rms(qdd))


def test_noise_that_falls_with_the_frequency_is_noise():
    """A random walk falls by the second power, positions of motions by the fourth or more."""
    rng = np.random.default_rng(1)
    t = np.arange(30000) / 1000.0
    q, _, qdd = motion(t)
    walk = 1e-6 * np.cumsum(rng.normal(size=q.shape), axis=0)
    top = noise_of(spectrum(q + walk, 1000.0, [slice(0, len(t))])).top
    assert np.all((top > 1.0) & (top < 8.0))
    found = smooth(Log(ARM, t, q + walk))
    assert np.all(rms(found.qdd - qdd[np.searchsorted(t, found.log.t)]) < 0.03 * rms(qdd))


def test_ends_are_good_enough_to_be_plotted_and_are_cut_for_estimates():
    log, truth = noisy_log()
    found = smooth(log)
    assert found.log.t[0] >= log.t[0] + 0.5 / found.cutoff.min()
    _, _, qdd = smooth_rates(log.q, log.rate, found.cutoff, log.runs)
    assert np.all(np.abs(qdd - truth[2])[[0, -1]] < 0.35 * rms(truth[2]))


def test_runs_are_smoothed_by_themselves():
    log, _ = noisy_log()
    halves = Log(ARM, log.t, log.q, runs=(slice(0, 4000), slice(4000, 10000)), sources=("a", "b"))
    one, two = smooth(halves, 7.0), smooth(Log(ARM, log.t[:4000], log.q[:4000]), 7.0)
    assert one.log.sources == ("a", "b")
    np.testing.assert_allclose(one.qdd[one.log.runs[0]], two.qdd, rtol=1e-9, atol=1e-12)


def test_a_floating_base_turns_smoothly():
    """Body rates of a smooth turning body, through quaternions with noise and signs that jump."""
    walker = lw.load("walker", base="floating")
    slot = next(s for s in walker.slots.values() if s.quaternion is not None)
    rng = np.random.default_rng(0)
    t = np.arange(6000) / 500.0
    q = np.tile(walker.q(), (len(t), 1))
    half = 0.4 * np.sin(1.5 * t) / 2.0 + 0.5
    turn = slot.quaternion
    q[:, turn] = np.stack([0.0 * t, 0.0 * t, np.sin(half), np.cos(half)], axis=1)
    q[:, slot.q] = 0.3 * np.sin(2.0 * t)
    noisy = q + 1e-5 * rng.normal(size=q.shape)
    noisy[1000:2000, turn] *= -1.0
    found = smooth(Log(walker, t, noisy))
    at = np.searchsorted(t, found.log.t)
    wz, wz_dot = (0.6 * np.cos(1.5 * t))[at], (-0.9 * np.sin(1.5 * t))[at]
    assert rms(found.qd[:, slot.v + 5] - wz) < 2e-3
    assert rms(found.qdd[:, slot.v + 5] - wz_dot) < 0.03
    assert found.noise[slot.v + 5] == pytest.approx(2e-5, rel=0.2)  # half the angle is in a quaternion
    np.testing.assert_allclose(np.linalg.norm(found.q[:, turn], axis=1), 1.0, rtol=1e-12)


def test_cutoffs_by_name_by_number_and_wrong_ones():
    log, _ = noisy_log(seconds=4.0)
    name = ARM.names[2]
    assert smooth(log, {name: 4.0}).cutoff[2] == 4.0
    assert smooth(log, np.arange(3.0, 9.0)).cutoff.tolist() == [3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    for wrong, words in (
        (300.0, "less than half the rate of 500 Hz"),
        ([1.0, 2.0], "expected one frequency in Hz, or 6, got 2"),
        ({"knee": 3.0}, "unknown joint 'knee'"),
        ("fast", "expected a number above 0, got 'fast'"),
        (-1.0, "expected a number above 0"),
    ):
        with pytest.raises(lw.LinkwiseError, match=words):
            smooth(log, wrong)


def test_noise_that_drowns_the_motion_is_named():
    log, _ = noisy_log(sd=0.05, seconds=5.0)
    assert "noise is a large part of smooth accelerations" in smooth(log, 20.0).notes[0]
    still = Log(ARM, log.t, np.zeros_like(log.q))
    assert np.all(smooth(still).qdd == 0.0)
    with pytest.raises(lw.InputError, match="expected runs longer than 16 rows, got at most 9"):
        smooth(Log(ARM, log.t[:9], log.q[:9]))
