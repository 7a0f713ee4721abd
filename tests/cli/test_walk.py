import json

import pytest

from support.command import error, linkwise


def test_a_walk_that_has_no_time(tmp_path):
    files = {"--film": "film.png", "--html": "walk.html", "--motion": "walk.mot", "--ground": "ground.sto",
             "--table": "stride.csv"}  # fmt: skip
    arguments = [x for flag, name in files.items() for x in (flag, tmp_path / name)]
    done = linkwise("walk", "--solver", "scipy", "--time-limit", "0.001", "--backpack", "5", "--json", *arguments)
    assert done.exit_code == 1, done.output
    facts = json.loads(done.stdout)
    assert facts["status"] == "out of time"
    assert facts["mass"] == pytest.approx(78.0)
    assert {w["kind"] for w in facts["not kept"]} >= {"contact", "knee"}
    assert all((tmp_path / name).exists() for name in files.values())
    assert 0.0 <= facts["compared"]["l"]["knee_angle"]["inside"] <= 1.0
    assert facts["published"]["knee_swing"]["low"] < 60.0 < facts["published"]["knee_swing"]["high"]
    assert any("Bovi" in source for source in facts["sources"].values())


def test_what_is_not_kept_is_said(tmp_path):
    done = linkwise("walk", "--solver", "scipy", "--time-limit", "0.001", "--coarse", "--without", "knee")
    assert done.exit_code == 1
    assert "out of time: 1.2 m/s, steps of 0.6 m, 73 kg" in done.stdout
    assert "not kept: contact " in done.stdout
    assert "not kept: knee" not in done.stdout
    assert "knee torque, N m/kg" not in done.stdout  # of a motion that is no walk


@pytest.mark.slow
def test_a_walk_of_a_leg_that_is_stiff_and_short(tmp_path):
    done = linkwise(
        "walk", "--solver", "ipopt", "--coarse", "--range", "knee_l=0,0.35", "--length", "shank_l=0.42",
        "--double", "0.25", "--points", "17", "--torques", tmp_path / "torques.sto",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "of both steps" in done.stdout
    assert "knee torque, N m/kg" in done.stdout
    assert "82 children, Schwartz et al. 2008" in done.stdout
    assert "peak knee flexion in stance, deg" in done.stdout
    assert "knee stance" not in done.stdout
    assert "a body weight is 716 N" in done.stdout
    assert "knee_l_moment" in (tmp_path / "torques.sto").read_text()


@pytest.mark.slow
def test_a_walk_of_a_leg_with_a_frozen_knee(tmp_path):
    done = linkwise(
        "walk", "--solver", "ipopt", "--coarse", "--freeze", "knee_l", "--track", "0.02", "--json",
        "--table", tmp_path / "stride.csv",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    assert facts["steps"] == 2
    assert "knee_torque" not in facts["compared"]["l"]
    assert 0.8 < facts["features"]["l"]["knee_force"] < 1.6
    assert "joint.knee_l.fy" in (tmp_path / "stride.csv").read_text()


@pytest.mark.slow
def test_a_person_who_is_too_weak():
    done = linkwise("walk", "--solver", "ipopt", "--limit", "hip=10", "--limit", "knee=10", "--json")
    assert done.exit_code == 1
    why = json.loads(done.stdout)["reason"]
    assert why["strength"]
    assert {row["kind"] for row in why["rows"]} == {"torque"}


def test_a_file_that_cannot_be_written_takes_no_answer_away():
    done = linkwise("walk", "--solver", "scipy", "--time-limit", "0.001", "--table", "/proc/stride.csv")
    assert "out of time: 1.2 m/s" in done.stdout
    assert done.exit_code != 0


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--height", "174"], "metres"),
        (["--limit", "ankel_l=60"], "unknown joint 'ankel_l'"),
        (["--limit", "ankle_l"], "JOINT=TORQUE"),
        (["--range", "knee_l=0,60"], "radians"),
        (["--range", "knee_l=0"], "2 numbers"),
        (["--length", "shin_l=0.4"], "unknown segment 'shin_l'"),
        (["--double", "1.5"], "0.0<x<1.0"),
        (["--step", "3"], "legs of this person"),
        (["--hand-load", "x=3"], "'r', 'l'"),
        (["--freeze", "tail"], "unknown joint to freeze 'tail'"),
        (["--freeze", "gx"], "joint to freeze 'gx': expected a joint of the body"),
        (["--without", "zpm"], "Did you mean 'zmp'?"),
        (["--soft", "zpm=1"], "Did you mean 'zmp'?"),
        (["--soft", "zmp=-1"], "above 0"),
        (["--speed", "0"], "x>0.0"),
        (["--film", "walk.gif"], ".png"),
    ],
)
def test_wrong_uses(arguments, expected):
    assert expected in error("walk", *arguments)
