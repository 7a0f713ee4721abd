"""Offsets that change with time: a line along each file, or lines between knots."""

from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.identification import simulated_log
from linkwise.motion import Log
from support.experiments import distances, motion, repeated, times, truth

JOINTS = [replace(j, friction=lw.Friction(0.4, 0.5), armature=0.05) for j in lw.load("rr").joints if not j.is_fixed]
RR = lw.load("rr").replace(*JOINTS)
CHANGE = np.array([3.0, -1.5])  # from the first row to the last, N m


def warming(log: Log) -> Log:
    """With offsets that change in proportion to the time."""
    along = (log.t - log.t[0]) / (log.t[-1] - log.t[0]) - 0.5
    return replace(log, tau=log.tau + CHANGE * along[:, None])


LOG = warming(simulated_log(RR, 40.0, delay=0.003))
TRUE = {"joint1.drift": 3.0, "joint2.drift": -1.5}


def test_a_line_is_found_with_its_interval() -> None:
    fit = lw.identify(RR, LOG, drift=True)
    assert np.abs(distances(fit, RR, TRUE)).max() < 4.0
    for name, change in TRUE.items():
        assert fit.base[name].lower < change < fit.base[name].upper
    assert fit.training.mean < 0.01
    assert lw.identify(RR, LOG).training.mean > 0.2  # without it the model lacks something
    assert fit.error(LOG).mean < 0.05  # the drift of this file is known
    assert fit.robot.joint("joint1").friction.offset == pytest.approx(0.0, abs=0.01)  # the mean along the log


def test_without_noise_it_is_exact() -> None:
    smooth = RR.replace(*(replace(j, friction=lw.Friction(0.4)) for j in JOINTS))
    q, qd, qdd = motion(smooth, 1.0)
    tau = repeated(lw.compile(smooth).inverse_dynamics(q, qd, qdd), 3)
    log = warming(Log(smooth, times(len(tau)), repeated(q, 3), tau=tau))
    fit = lw.identify(smooth, log, drift=True, delays=False, physical=False)
    np.testing.assert_allclose(fit.base.values, truth(fit, smooth, TRUE), atol=1e-8)


def test_knots_follow_a_curve() -> None:
    curved = replace(LOG, tau=LOG.tau + 2.0 * np.exp(-LOG.t / 8.0)[:, None])
    errors = {drift: lw.identify(RR, curved, drift=drift, physical=False).training.mean for drift in (True, 10.0, 4.0)}
    assert errors[4.0] < 0.5 * errors[10.0] < 0.25 * errors[True]
    fit = lw.identify(RR, LOG, drift=10.0, physical=False)
    names = [n for n in fit.base.names if "joint1.drift" in n]
    assert names == [f"joint1.drift[{t} s]" for t in ("10.0", "20.0", "30.0", "40.0")]
    assert fit.base["joint1.drift[20.0 s]"].value == pytest.approx(1.5, abs=0.02)


def test_each_file_has_its_own() -> None:
    other = simulated_log(RR, 20.0, seed=3, delay=0.003)
    shifted = replace(other, tau=other.tau + 0.7, sources=("b.csv",))
    fit = lw.identify(RR, [replace(LOG, sources=("a.csv",)), shifted], drift=True, physical=False)
    assert fit.base["joint2.drift[a.csv 40.0 s]"].value == pytest.approx(-1.5, abs=0.02)
    assert fit.base["joint2.drift[b.csv 0.0 s]"].value == pytest.approx(0.7, abs=0.02)
    unknown = replace(other, sources=("c.csv",))
    assert fit.error(unknown).mean < 0.1  # of an unknown file the mean offset


def test_wrong_drift_is_refused() -> None:
    with pytest.raises(lw.LinkwiseError, match="drift"):
        lw.identify(RR, LOG, drift=-3.0)
