"""Every command on every machine that comes along, and on those that users build of them."""

import json
from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.robot.joint import Course, Curve
from linkwise.table import SUFFIXES, write
from support.command import error, linkwise

SURROUNDINGS = ("--base-motion", "z=0.05,1.5", "--base-motion", "roll=0.1,1,0.5")
FREE = ("--no-friction", *SURROUNDINGS)


def soft_fivebar():
    robot = lw.load("fivebar")
    drive = lw.Drive(gear=50.0, stiffness=200.0, motor=lw.Motor(mass=0.5, rotor=1e-4))
    driven = [j for j in robot.joints if j.name in robot.drives]
    return robot.replace(*(replace(j, armature=0.0, drive=drive) for j in driven))


def arm_on_a_hexapod():
    return lw.gough_stewart().attach(lw.load("rr"), at="platform", prefix="arm_")


def knee():
    """A joint that turns and slides by curves of one angle, and a mimic."""
    course = Course(z=Curve((0.0, 0.02, 0.05)), turn_y=Curve((0.0, 1.0)))
    links = [lw.Link("thigh"), lw.Link("shank", 3.0, (0.0, 0.0, -0.2), (0.05, 0.05, 0.01)), lw.Link("patella", 0.1)]
    joints = [
        lw.Joint("flexion", "thigh", "shank", "coupled", course=course),
        lw.Joint("slide", "shank", "patella", "prismatic", mimic=lw.Mimic("flexion", 0.02)),
    ]
    return lw.Robot(links, joints, name="knee")


BUILT = {"soft_fivebar": soft_fivebar, "arm_on_a_hexapod": arm_on_a_hexapod, "knee": knee}
MACHINES = [*lw.list_robots(), *BUILT]


@pytest.fixture(params=MACHINES)
def machine(request, tmp_path, monkeypatch):
    """A robot as a command takes it, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    if request.param in BUILT:
        lw.save(BUILT[request.param](), f"{request.param}.toml")
        return f"{request.param}.toml"
    return request.param


def facts(*arguments):
    result = linkwise(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_info_check_convert(machine):
    robot = lw.load(machine)
    told = facts("info", machine)
    assert told["nq"] == robot.nq
    assert told["drives"] == list(robot.drives)
    assert linkwise("check", machine, "--base", "floating", "--quiet").exit_code in (0, 1)
    assert facts("convert", machine, "again.toml")["lost"] == []
    assert lw.load("again.toml") == robot


def test_what_moved_a_machine_comes_out_of_its_motion(machine):
    """Nothing but gravity, a load and a base that moves: the torques along the motion are zero."""
    robot, suffix = lw.load(machine), SUFFIXES[MACHINES.index(machine.removesuffix(".toml")) % 3]
    load = ("--external", f"{robot.moving_links[-1]}=1,2,3")
    run = facts("simulate", machine, "--time", "0.02", *FREE, *load, "-o", f"run{suffix}")
    assert run["status"] == "finished"
    told = facts("torque", machine, f"run{suffix}", *FREE, *load, "--wrenches", "-o", f"out{suffix}", "--ignore-extra")
    scale = 9.81 * sum(link.mass for link in robot.links)
    assert max(abs(p[key]) for p in told["peaks"] for key in ("lowest", "highest")) < 1e-7 * scale
    again = facts("torque", machine, f"out{suffix}", *FREE, *load)
    assert again["origins"] == {"qd": "the file", "qdd": "the file"}


@pytest.mark.parametrize("machine", ["rr", "differential_drive", "three_rrr", "soft_fivebar", "knee"], indirect=True)
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_a_base_that_flies(machine, base):
    told = facts("info", machine, "--base", base)
    assert ("root_joint" in told["coordinates"]) == (base == "floating")
    options = ("--base", base, "--no-friction", "--payload", f"0.5,0.1,0.1,0.1@{lw.load(machine).root.name}")
    run = facts("simulate", machine, "--time", "0.02", *options, "-o", "run.csv")
    assert run["status"] == "finished"
    assert facts("torque", machine, "run.csv", *options)["rows"] == run["rows"]


def test_rates(machine):
    linkwise("simulate", machine, "--time", "0.02", "--no-friction", "-o", "run.csv")
    if "differential" in machine:
        assert "on wheels that do not slip" in error("torque", machine, "run.csv", "--rates")
    else:
        found = linkwise("torque", machine, "run.csv", "--rates", "--wrenches", "--no-friction", "-o", "out.npz")
        assert found.exit_code in (0, 1)
        with np.load("out.npz") as out:
            assert np.isfinite(out["tau_dot"]).all()


PLANNED = [name for name in MACHINES if name not in ("walker", "snake", "arm_on_a_hexapod")]  # which take seconds


@pytest.mark.parametrize("machine", PLANNED, indirect=True)
def test_plans_keep_their_limits_in_every_file(machine):
    robot = lw.load(machine)
    last = next(n for n in reversed(robot.coordinates) if n in robot.names)
    goal = robot.rigid().q()
    start = goal.tolist()
    goal[robot.rigid().slots[last].q] += 0.02
    text = f"start = {start}\ngoal = {goal.tolist()}\ncontrol_points = 8\nrefine = false\nduration = 1.0\n"
    with open("problem.toml", "w") as file:
        file.write(text + "[minimize]\neffort = 1.0\n[limits]\nvelocity = 5.0\n")
    arguments = ("plan", machine, "problem.toml", "--solver", "uno", "--external", f"{robot.moving_links[-1]}=0,1,0")
    if "differential" in machine:
        assert "on wheels that do not slip" in error(*arguments)
        return
    assert facts(*arguments, "-o", "plan.csv")["status"] == "converged"
    assert linkwise("torque", machine, "plan.csv").exit_code == 0


def test_a_plan_at_its_limits_is_within_them(tmp_path, monkeypatch):
    """What keeps a limit as plans do, to a thousandth, keeps it as a motion too."""
    monkeypatch.chdir(tmp_path)
    robot = lw.load("rr")
    limits = lw.Limits(velocity=2.175, effort=100.0)
    lw.save(robot.replace(*(replace(j, limits=limits) for j in robot.joints)), "fast.toml")
    with open("problem.toml", "w") as file:
        file.write("start = [0.0, -2.0]\ngoal = [1.0, -1.0]\nsolver = 'uno'\ncontrol_points = 12\n")
        file.write("[limits]\nvelocity = true\neffort = true\n")
    found = facts("plan", "fast.toml", "problem.toml", "-o", "plan.csv", "--step", "0.001")
    assert found["joints"][0]["top speed"] == pytest.approx(2.175, rel=2e-3)
    assert linkwise("torque", "fast.toml", "plan.csv").exit_code == 0


def test_wheels_that_slip_are_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    robot = lw.load("differential_drive")
    t = np.linspace(0.0, 1.0, 50)
    rolled = lw.simulate(robot, None, {"left": 2.0, "right": 3.0}, t)
    table = {name: column for name, column in rolled.columns().items() if name.startswith(("t", "q."))}
    write("rolled.csv", {k: v for k, v in table.items() if not k.startswith("tau")})
    assert not [n for n in facts("torque", "differential_drive", "rolled.csv")["notes"] if "slip" in n]
    table["q.planar_joint.y"] = table["q.planar_joint.y"] + 0.3 * t
    write("pushed.csv", {k: v for k, v in table.items() if not k.startswith("tau")})
    (note,) = [n for n in facts("torque", "differential_drive", "pushed.csv")["notes"] if "slip" in n]
    assert "positions of planar_joint change by up to 0.3" in note


def test_ways_of_a_base(tmp_path):
    assert "expected one of x, y, z, roll, pitch, yaw, got 'up'" in error("simulate", "rr", "--base-motion", "up=1,1")
    assert "each way once, got 'x' twice" in error("simulate", "rr", *["--base-motion", "x=1,1"] * 2)
    np.savez(tmp_path / "m.npz", q=np.zeros((3, 2)), qd=np.zeros((3, 2)), qdd=np.zeros((3, 2)))
    assert "with times" in error("torque", "rr", tmp_path / "m.npz", "--base-motion", "x=1,1")
