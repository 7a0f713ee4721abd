"""`linkwise identify`: from a log to a robot."""

import json
from dataclasses import replace

import pytest

import linkwise as lw
from linkwise.identification import simulated_log
from support.command import error, linkwise


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("identify")
    robot = lw.load("rr")
    joints = [replace(j, friction=lw.Friction(0.4, 0.6), armature=0.05) for j in robot.joints if not j.is_fixed]
    true = robot.replace(*joints)
    lw.save(robot, path / "rr.toml")
    simulated_log(true, 20.0, delay=0.004).save(path / "swing.csv")
    simulated_log(true, 10.0, seed=4, delay=0.004).save(path / "other.csv")
    return path


def test_it_prints_groups_intervals_and_errors(folder):
    found = linkwise("identify", folder / "rr.toml", folder / "swing.csv", "--validate", folder / "other.csv", "-o",
                     folder / "found.toml")  # fmt: skip
    assert found.exit_code == 0
    for words in (
        "joint1.viscous",
        "95 % interval",
        "left out",
        "other.csv",
        "torques come after positions by",
        "found.toml",
    ):
        assert words in found.stdout
    assert lw.load(folder / "found.toml").joint("joint1").friction.viscous == pytest.approx(0.4, rel=0.05)


def test_json_has_all_numbers(folder):
    found = linkwise("identify", folder / "rr.toml", folder / "swing.csv", "--friction", "viscous,coulomb", "--json")
    facts = json.loads(found.stdout)
    viscous = next(x for x in facts["base"] if x["name"] == "joint2.viscous")
    assert viscous["lower"] < 0.4 < viscous["upper"]
    assert facts["errors"]["mean"] < 0.02
    assert facts["undetermined"] == []


def test_wrong_usage_is_one_line(folder):
    both = (folder / "rr.toml", folder / "swing.csv")
    assert "unknown friction 'glue'" in error("identify", *both, "--friction", "glue")
    assert "expected two joints" in error("identify", *both, "--coupled", "joint1")
    assert "nothing.csv" in error("identify", folder / "rr.toml", folder / "nothing.csv")
    assert "unknown" in error("identify", *both, "--payload", "hand")


def test_help_teaches(folder):
    text = linkwise("identify", "--help").stdout
    for words in ("--payload", "--validate", "--friction", "--column", "--gain", "95 % interval", "Examples:"):
        assert words in text


def test_a_force_sensor_drift_and_springs_are_options(folder):
    robot = lw.load("rr")
    true = robot.with_payload(0.8, (0.05, 0.0, 0.0), (1e-3, 1e-3, 1e-3), at=robot.moving_links[-1], name="hand")
    guess = robot.with_payload(0.4, (0.0, 0.0, 0.0), (1e-3, 1e-3, 1e-3), at=robot.moving_links[-1], name="hand")
    lw.save(guess, folder / "hand.toml")
    log = simulated_log(true, 20.0, noise_q=0.0)
    smooth = lw.motion.smooth(log, 20.0)
    wrench = lw.compile(true).wrench_at("hand")(smooth.q, smooth.qd, smooth.qdd)
    tau = smooth.log.tau + smooth.log.t[:, None] / 10.0
    replace(smooth.log, q=smooth.q, tau=tau, wrenches={"hand": wrench}).save(folder / "hand.csv")
    found = linkwise("identify", folder / "hand.toml", folder / "hand.csv", "--sensor", "hand", "--drift", "line",
                     "--no-springs", "--json")  # fmt: skip
    facts = {x["name"]: x for x in json.loads(found.stdout)["base"]}
    assert facts["hand.m"]["value"] == pytest.approx(0.8, rel=1e-3)
    assert facts["joint1.drift"]["value"] == pytest.approx(smooth.log.t[-1] / 10.0 - smooth.log.t[0] / 10.0, rel=0.02)
    both = (folder / "hand.toml", folder / "hand.csv")
    assert "expected 'line', or seconds" in error("identify", *both, "--drift", "slow")
    assert "sensor 'arm'" in error("identify", *both, "--sensor", "arm")
