"""`linkwise plan --line`, `--by` and `--arc`: motions of a tool on the command line."""

import json

import numpy as np
import pytest

import linkwise as lw
from support.command import error, linkwise

START = ("--start", "joint2=0.6", "--start", "joint4=1.2", "--start", "joint6=0.7")


def test_a_line_is_written_as_a_motion(tmp_path):
    file = tmp_path / "line.csv"
    said = linkwise("plan", "arm7", *START, "--by", "0", "-0.3", "0", "--tool-speed", "0.25", "-o", str(file))
    assert said.exit_code == 0
    assert "arm7: tool goes 0.3 m in 1.2" in said.stdout
    assert "off its course by at most" in said.stdout
    robot = lw.load("arm7")
    T = lw.compile(robot).pose(lw.motion.read(file, robot).q, "tool")
    assert np.abs(T[-1, :3, 3] - T[0, :3, 3] - [0.0, -0.3, 0.0]).max() < 1e-5
    assert np.abs(T[:, :3, :3] - T[0, :3, :3]).max() < 1e-4
    assert linkwise("torque", "arm7", str(file)).exit_code == 0  # its limits are kept


def test_goals_arcs_and_turns():
    robot = lw.load("arm7")
    p = lw.compile(robot).pose(robot.q({"joint2": 0.6, "joint4": 1.2, "joint6": 0.7}), "tool")[:3, 3]
    goal, way = p + np.array([0.0, 0.2, 0.0]), p + np.array([-0.03, 0.1, 0.02])
    numbers = [*map(str, goal), "--arc", *map(str, way)]
    found = json.loads(linkwise("plan", "arm7", *START, "--line", *numbers, "--json").stdout)
    assert found["facts"]["length"] > 0.2
    turned = json.loads(linkwise("plan", "arm7", *START, "--rpy", "0", "0", "0.3", "--axes", "tool", "--json").stdout)
    assert turned["facts"]["length"] == 0.0
    assert turned["facts"]["angle"] == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "expected a PROBLEM, or a motion of the tool"),
        (("problem.toml", "--by", "0", "0", "1"), "expected no PROBLEM beside them"),
        (("--by", "0", "0", "1", "--line", "0", "0", "1"), "expected --line or --by, got both"),
        (("--arc", "0.5", "0", "0.5"), "--arc: expected --line or --by beside it"),
        (("--by", "0", "0", "3"), "the goal is out of reach"),
        (("--by", "0", "0.1", "0", "--frame", "gripper"), "gripper"),
        (("--by", "0", "0.1", "0", "--start", "elbow=1"), "elbow"),
    ],
)
def test_wrong_uses_are_answered_in_one_line(arguments, words):
    assert words in error("plan", "arm7", *START, *arguments)
