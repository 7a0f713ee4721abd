"""Torques along measured motions: noise is named, and smoothed on request."""

import json

import numpy as np
import pytest

import linkwise as lw
from linkwise.motion import read
from linkwise.motion.torques import torques_along
from linkwise.table import write
from support.command import error, linkwise

ROBOT = lw.load("industrial6")
RATE, SECONDS = 250.0, 12.0
T = np.arange(int(RATE * SECONDS)) / RATE
W = 1.0 + 0.2 * np.arange(6)
Q, QD, QDD = (f * g for f, g in zip((0.4, 0.4 * W, -0.4 * W**2), (
    np.sin(np.outer(T, W)), np.cos(np.outer(T, W)), np.sin(np.outer(T, W))), strict=True))  # fmt: skip
NAMES = [f"q.{name}" for name in ROBOT.names]


def table(t, q):
    return {"t": t, **dict(zip(NAMES, q.T, strict=True))}


def noisy(seed=0, sd=2e-5, jitter=0.0):
    rng = np.random.default_rng(seed)
    return table(T + jitter * rng.normal(size=len(T)), Q + sd * rng.normal(size=Q.shape))


def rms(x):
    return np.sqrt(np.mean(x**2, axis=0))


TRUTH = lw.compile(ROBOT).inverse_dynamics(Q, QD, QDD)


@pytest.mark.parametrize(("sd", "jitter"), [(2e-5, 0.0), (0.0, 1e-4), (2e-5, 1e-4)])
def test_noise_of_positions_and_of_times_is_named_with_its_share(sd, jitter):
    result = torques_along(ROBOT, read(noisy(sd=sd, jitter=jitter), ROBOT))
    assert result.noise
    for name, share in result.noise.items():
        k = ROBOT.names.index(name)
        true = np.sqrt(1.0 - (rms(TRUTH[:, k]) / rms(result.tau[:, k])) ** 2)
        assert share == pytest.approx(true, abs=0.03)
    worst = np.argmax(rms(result.tau - TRUTH) / rms(TRUTH))
    assert ROBOT.names[worst] in result.noise
    assert "largely noise" in result.notes[0]


def test_the_cutoff_of_the_warning_brings_the_torques_back():
    loud = torques_along(ROBOT, read(noisy(jitter=1e-4), ROBOT))
    calm = torques_along(ROBOT, read(noisy(jitter=1e-4), ROBOT, cutoff=loud.motion.smooth.cutoff))
    assert calm.noise == {}
    inner = slice(25, -25)
    moved = lw.compile(ROBOT.without_friction())  # whose sign of speeds jumps at reversals
    tau = moved.inverse_dynamics(calm.motion.q, calm.motion.qd, calm.motion.qdd)
    true = moved.inverse_dynamics(Q, QD, QDD)
    assert np.all(rms((tau - true)[inner]) < 0.1 * rms(true))
    before = moved.inverse_dynamics(loud.motion.q, loud.motion.qd, loud.motion.qdd)
    assert np.any(rms((before - true)[inner]) > 0.5 * rms(true))


def test_planned_motions_have_no_noise():
    assert torques_along(ROBOT, read(table(T, Q), ROBOT)).noise == {}
    s = np.clip(T / 4.0, 0.0, 1.0)
    steps = np.outer(np.where(s < 0.5, 2.0 * s**2, 1.0 - 2.0 * (1.0 - s) ** 2), np.ones(6))  # accelerations jump
    assert torques_along(ROBOT, read(table(T, steps), ROBOT)).noise == {}


def test_the_command_warns_and_smooths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("measured.csv", noisy())
    loud = linkwise("torque", "industrial6", "measured.csv")
    assert "warning: the torques are largely noise" in loud.stdout
    facts = json.loads(linkwise("torque", "industrial6", "measured.csv", "--json").stdout)
    assert max(facts["noise"].values()) > 0.5
    calm = linkwise("torque", "industrial6", "measured.csv", "--cutoff", "8", "-o", "calm.npz", "--rates")
    assert "warning" not in calm.stdout
    assert "velocities from q, smooth below 8 Hz" in calm.stdout
    with np.load("calm.npz") as archive:
        assert archive["q"].shape == Q.shape
        assert np.all(rms(archive["qdd"] - QDD)[:] < 0.05 * rms(QDD))


def test_wrong_cutoffs_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("measured.csv", noisy())
    assert "expected less than half the rate of 250 Hz" in error(
        "torque", "industrial6", "measured.csv", "--cutoff", "200"
    )
    assert "expected a number above 0" in error("torque", "industrial6", "measured.csv", "--cutoff", "-1")
    short = {name: column[:9] for name, column in noisy().items()}
    with pytest.raises(lw.InputError, match="expected 16 rows or more to smooth, got 9"):
        read(short, ROBOT, cutoff=10.0)
    with pytest.raises(lw.InputError, match="needed to smooth the positions"):
        read({k: v for k, v in noisy().items() if k != "t"}, ROBOT, cutoff=10.0)
