import json

import numpy as np
import pytest

import linkwise as lw
from linkwise.cli.simulate import sine
from linkwise.simulation.system import System
from support.command import error, linkwise


def test_a_fall_is_that_of_the_library(folder):
    done = linkwise("simulate", "arm.urdf", "--start", "shoulder=0.5", "--speed", "elbow=1", "--torque", "turn=2",
                    "--time", "1", "-o", "fall.npz", "--plot", "fall.png")  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "arm: finished, 0 to 1 s in " in done.stdout
    assert "energy drift " in done.stdout
    found = lw.simulation.Simulation.load(folder / "fall.npz")
    same = lw.simulate(found.robot, {"shoulder": 0.5}, {"elbow": 1.0}, 1.0, control={"turn": 2.0})
    np.testing.assert_array_equal(found.q, same.q)
    assert found.robot == lw.load("arm.urdf")
    assert (folder / "fall.png").read_bytes().startswith(b"\x89PNG")


def test_driven_and_held_joints(folder):
    arguments = (
        "--drive",
        "elbow=0.4,1.5",
        "--drive",
        "turn=0.1,2,0.5",
        "--hold",
        "shoulder",
        "--start",
        "shoulder=-1",
    )
    assert linkwise("simulate", "arm.urdf", *arguments, "--time", "1", "-o", "wave.csv").exit_code == 0
    table = np.genfromtxt("wave.csv", delimiter=",", names=True, deletechars="")
    t = table["t"]
    np.testing.assert_allclose(table["q.elbow"], 0.4 * np.sin(3 * np.pi * t), atol=1e-12)
    np.testing.assert_allclose(table["q.turn"], 0.1 * np.sin(4 * np.pi * t + 0.5), atol=1e-12)
    np.testing.assert_array_equal(table["q.shoulder"], -1.0)
    assert np.abs(table["tau.shoulder"]).max() > 1.0


def test_a_sine_has_its_derivatives():
    motion, h = sine(0.3, 0.7, 1.3, 0.2), 1e-5
    (below, _, _), (_, qd, qdd), (above, _, _) = (motion(0.4 + d) for d in (-h, 0.0, h))
    assert qd == pytest.approx((above - below) / (2 * h), rel=1e-8)
    assert qdd == pytest.approx((motion(0.4 + h)[1] - motion(0.4 - h)[1]) / (2 * h), rel=1e-8)


def test_json_of_a_free_flight(folder):
    arguments = ("--base", "floating", "--hold", "turn", "--speed", "root_joint=0,0,1,0,0,2", "--json")
    done = linkwise("simulate", "arm.urdf", *arguments)
    found = json.loads(done.stdout)
    assert found["status"] == "finished"
    assert found["energy drift"] < 1e-6
    assert [len(j["end"]) for j in found["joints"] if j["joint"] == "root_joint"] == [7]


def test_a_simulation_that_cannot_go_on_keeps_what_it_has(folder):
    """Pushed hard enough, the speeds overflow: the motion up to there is written, and the exit code is 1."""
    done = linkwise("simulate", "arm.urdf", "--torque", "turn=1e30", "--json", "-o", "run.npz")
    assert done.exit_code == 1
    found = json.loads(done.stdout)
    assert found["status"] == "failed"
    assert "expected finite accelerations" in found["problem"]
    assert len(lw.simulation.Simulation.load("run.npz")) == found["rows"]
    text = linkwise("simulate", "arm.urdf", "--torque", "turn=1e30").stdout
    assert "problem: simulate: expected finite" in text
    assert "To keep the motion" in text


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--start", "elbow"], "expected JOINT=VALUE, such as elbow=0.5, got 'elbow'"),
        (["--start", "elbow=x"], "expected 1 or 2 or 3 or 4 or 7 numbers"),
        (["--start", "knee=1"], "unknown joint 'knee'. Valid names: 'turn'"),
        (["--start", "elbow=1", "--start", "elbow=2"], "expected each joint once, got 'elbow' twice"),
        (["--speed", "elbow=1,2,3,4,5,6"], "--speed elbow: expected one number, got 6"),
        (["--base", "floating", "--start", "root_joint=1"], "expected 7 numbers x,y,z,qx,qy,qz,qw, got 1"),
        (["--base", "floating", "--drive", "root_joint=1,1"], "expected a joint of one coordinate"),
        (["--drive", "elbow=1"], "expected 2 or 3 numbers"),
        (["--drive", "elbow=1,1", "--hold", "elbow"], "got 'elbow' twice"),
        (["--hold", "elbow", "--torque", "elbow=1"], "expected a joint that is free"),
        (["--hold", "knee"], "unknown joint 'knee'"),
        (["--time", "0"], "0.0 is not in the range"),
        (["--method", "Euler"], "'Euler' is not one of 'DOP853'"),
        (["-o", "x.txt"], "ends in .csv or .npz or .parquet, got .txt"),
        (["--plot", "x.gif"], "ends in .png or .svg or .pdf, got .gif"),
    ],
)
def test_wrong_uses_are_answered_in_one_line(folder, arguments, expected):
    assert expected in error("simulate", "arm.urdf", *arguments)


def test_a_start_that_opens_the_loops_is_refused(folder):
    """Joints that were named stay, as in Python."""
    named = ("--start", "left_motor=-1.5", "--start", "right_motor=1.5")
    assert "do not close there, nor near it with 'left_motor', 'right_motor' held" in error(
        "simulate", "fivebar", *named
    )


def test_ctrl_c_keeps_what_there_is_and_ends_as_in_other_commands(folder, monkeypatch):
    whole = System.__call__

    def interrupted(self, t, y):
        if t > 0.5:
            raise KeyboardInterrupt
        return whole(self, t, y)

    monkeypatch.setattr(System, "__call__", interrupted)
    done = linkwise("simulate", "arm.urdf", "--json", "-o", "part.npz")
    assert done.exit_code == 130
    assert json.loads(done.stdout)["status"] == "interrupted"
    assert 0.0 < lw.simulation.Simulation.load("part.npz").t[-1] <= 0.5


def test_a_budget_keeps_what_there_is_and_says_so(folder):
    done = linkwise("simulate", "arm.urdf", "--max-steps", "10", "--json", "-o", "part.npz")
    assert done.exit_code == 1
    told = json.loads(done.stdout)
    assert told["status"] == "out of steps"
    assert "used up its max_steps=10" in told["problem"]
    assert told["steps"] == 10
    assert 0.0 < lw.simulation.Simulation.load("part.npz").t[-1] < 2.0
    done = linkwise("simulate", "puma560", "--time", "1e7", "--time-limit", "0.05", "-o", "part.csv")
    assert done.exit_code == 1
    assert "out of time" in done.stdout
    assert "problem: simulate: stopped at t =" in done.stdout
    assert (folder / "part.csv").exists()
    done = linkwise("simulate", "delta", "--time", "0.2", "--max-steps", "3", "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["status"] == "out of steps"


def test_loops_by_name(folder):
    """What leads and what follows can be given; all joints are told and written, and the file is a motion."""
    arguments = ("simulate", "fourbar", "--time", "0.5", "--no-friction", "--json")
    lead = json.loads(linkwise(*arguments, "--start", "crank=1", "--speed", "crank=2", "-o", "run.npz").stdout)
    assert [j["joint"] for j in lead["joints"]] == ["crank", "coupler", "rocker"]
    assert lead["notes"] == []
    robot = lw.load("fourbar").without_friction()
    same = lw.simulate(robot, [1.0], [2.0], 0.5)
    assert np.array_equal(lw.simulation.Simulation.load("run.npz").positions, same.positions)
    motion = lw.motion.read("run.npz", robot)
    assert np.array_equal(motion.q, same.q)
    assert np.array_equal(motion.tree, same.positions)
    assert motion.notes == ()
    angle = float(same["rocker"].q[0])
    follows = json.loads(linkwise(*arguments, "--start", f"rocker={angle!r}").stdout)
    assert follows["joints"][2]["start"] == pytest.approx(angle, abs=1e-12)
    held = json.loads(linkwise(*arguments, "--start", "crank=1", "--hold", "rocker", "--plot", "run.png").stdout)
    assert [j["end"] for j in held["joints"]] == pytest.approx([j["start"] for j in held["joints"]], abs=1e-9)
    assert held["joints"][2]["top torque"] > 0.01
    assert "unknown joint 'tip'. Valid names: 'crank'" in error("simulate", "fourbar", "--torque", "tip=1")


def limited(*arguments):
    return json.loads(linkwise("simulate", "arm7", "--json", *arguments).stdout)


def test_limits_are_noted_enforced_or_end_the_motion():
    said = linkwise("simulate", "arm7", "--torque", "joint2=400", "--time", "0.2")
    assert "note: the effort limit 250 N m of 'joint2' is exceeded from t = 0 s on" in said.stdout
    facts = limited("--torque", "joint2=400", "--time", "0.2", "--limits", "saturate")
    (effort,) = [x for x in facts["limits met"] if x["kind"] == "effort"]
    assert effort["held"]
    assert {j["joint"]: j["top torque"] for j in facts["joints"]}["joint2"] == 250.0
    ended = limited("--torque", "joint2=200", "--time", "1", "--limits", "stop")
    assert ended["status"].startswith("stopped by the velocity limit of 'joint")
    assert limited("--torque", "joint2=400", "--time", "0.1", "--limits", "none")["limits met"] == []
