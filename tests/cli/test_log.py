"""`linkwise log`: a file of measurements, shown and cleaned."""

import json

import numpy as np
import pytest

import linkwise as lw
from linkwise.motion import read_log
from linkwise.table import write
from support.command import error, linkwise
from support.logs import ARM, columns, motion

T = np.arange(4000) / 500.0
Q, QD, _ = motion(T)


@pytest.fixture
def measured(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    q = Q + 2e-5 * rng.normal(size=Q.shape)
    late = motion(T - 0.004)[1] + 0.01 * rng.normal(size=Q.shape)
    write("measured.csv", columns(T + 1e-3 * rng.normal(size=len(T)) + 1.7e9, q, late, 5.0 * Q))
    return tmp_path


def test_it_shows_what_there_is(measured):
    result = linkwise("log", "measured.csv", "--robot", "industrial6", "--plot", "log.png", "-o", "clean.npz")
    assert result.exit_code == 0
    for words in ("rows at 500.003 Hz", "delay of qd", "stamps jitter by", "Unix stamps in s", "cutoff (Hz)", "tau."):
        assert words in result.stdout
    assert (measured / "log.png").read_bytes().startswith(b"\x89PNG")
    log = read_log("clean.npz", ARM)
    assert log.notes == ()  # nothing is left to be mended
    assert np.abs(log.q[20:-20] - Q[20 : len(log) - 20]).max() < 0.02


def test_json_has_all_figures(measured):
    facts = json.loads(linkwise("log", "measured.csv", "--robot", "industrial6", "--json").stdout)
    assert facts["jitter"] == pytest.approx(1e-3, abs=2e-4)
    assert facts["delays"]["qd"] == pytest.approx(0.004, abs=5e-4)
    noise = {row["channel"]: row["noise"] for row in facts["channels"]}
    assert noise[f"q.{ARM.names[0]}"] == pytest.approx(2e-5, rel=0.15)
    assert noise[f"qd.{ARM.names[0]}"] == pytest.approx(0.01, rel=0.15)
    assert all(0.0 < row["noise"] < 0.05 * row["rms"] for row in facts["accelerations"])
    assert facts["output"] is None


def test_columns_units_and_gains(measured):
    odd = (
        {"stamp": T} | {f"angle {k}": np.degrees(Q[:, k]) for k in range(6)} | {f"amp {k}": QD[:, k] for k in range(6)}
    )
    write("odd.csv", odd)
    options = ("--column", "angle *=q", "--column", "amp *=current", "--unit", "q=deg", "--gain", "*=1.5")
    assert linkwise("log", "odd.csv", "--robot", "industrial6", *options, "-o", "clean.csv").exit_code == 0
    log = read_log("clean.csv", ARM)
    np.testing.assert_allclose(log.q, Q, atol=1e-9)
    np.testing.assert_allclose(log.tau, 1.5 * QD, atol=1e-9)


def test_several_files_and_a_file_for_each_channel(measured):
    np.savetxt("t.txt", T)
    np.savetxt("q.txt", Q)
    write("again.csv", columns(T, Q))
    facts = json.loads(linkwise("log", "t=t.txt", "q=q.txt", "--robot", "industrial6", "--json").stdout)
    assert facts["rows"] == len(T)
    result = linkwise("log", "again.csv", "again.csv", "--robot", "industrial6", "--cutoff", "10")
    assert "Runs" in result.stdout
    assert "10" in result.stdout.split("cutoff (Hz)")[1]
    assert linkwise("log", "measured.csv").stdout.startswith("log: ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["log"], "missing argument 'FILE...'"),
        (["log", "no.csv"], "expected a file that can be read"),
        (["log", "measured.csv", "--column", "x"], "expected two names with = between them"),
        (["log", "measured.csv", "--gain", "waist=x"], "expected a number in N m/A"),
        (["log", "measured.csv", "--gain", "*=1", "--gain", "a=1"], "expected '*' alone"),
        (["log", "measured.csv", "--unit", "q=furlong"], "unknown unit 'furlong'"),
        (["log", "measured.csv", "--cutoff", "1e9"], "expected less than half the rate"),
        (["log", "measured.csv", "-o", "./measured.csv"], "expected another file"),
        (["log", "q=measured.csv", "-o", "measured.csv"], "expected another file"),
        (["log", "q=measured.csv", "measured.csv"], "expected files, or CHANNEL=FILE for all of them, got both"),
        (["log", "measured.csv", "--robot", "rr"], "expected positions of all joints, got none for"),
    ],
)
def test_wrong_uses_are_answered_in_words(measured, arguments, words):
    assert words in error(*arguments)


def test_logs_pickle_and_are_public():
    assert lw.read_log is read_log
