"""Forces of drives along motions of platforms, and simulations of platforms, from the command line."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwise as lw
from support.command import error, linkwise

T = np.linspace(0.0, 2.0, 101)
W = np.pi


@pytest.fixture
def motions(tmp_path, monkeypatch):
    """A folder with motions of three machines, where the test then is."""
    monkeypatch.chdir(tmp_path)
    x, y, z = 0.08 * np.sin(W * T), 0.05 * (1.0 - np.cos(W * T)), 0.05 * np.sin(2.0 * W * T)
    turn = np.stack([0.1 * np.sin(W * T), 0.05 * np.sin(2.0 * W * T), 0.1 * np.cos(W * T)], axis=1)
    csv("hexapod.csv", "t,x,y,z,rx,ry,rz", T, x, y, 0.75 + z, turn)
    csv("delta.csv", "t,x,y,z", T, x, y, z - 0.5)
    csv("planar.csv", "t,x,y,angle", T, x / 4, y / 4, 0.3 * np.sin(W * T))
    return tmp_path


def csv(path, header, *columns):
    np.savetxt(path, np.column_stack(columns), delimiter=",", header=header, comments="", fmt="%.17g")


def answer(*arguments, code=0):
    result = linkwise(*arguments, "--json")
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def column(path, name):
    with open(path) as file:
        names = file.readline().strip().split(",")
    return np.loadtxt(path, delimiter=",", skiprows=1)[:, names.index(name)]


def test_forces_of_a_hexapod(motions):
    facts = answer("torque", "gough_stewart", "hexapod.csv", "-o", "out.npz", "--wrenches", "--plot", "out.png")
    assert (motions / "out.png").stat().st_size > 10_000
    robot = lw.gough_stewart()
    with np.load("out.npz") as out:
        dyn = lw.compile(robot)
        state = out["q"][:, :7], out["qd"][:, :6], out["qdd"][:, :6]
        turn = Rotation.from_quat(out["q"][:, 3:7]).as_rotvec()
        np.testing.assert_allclose(turn, np.loadtxt("hexapod.csv", delimiter=",", skiprows=1)[:, 4:], atol=1e-14)
        np.testing.assert_allclose(out["tau"], dyn.inverse_dynamics(*state), rtol=1e-12)
        np.testing.assert_array_equal(out["cut"], dyn.joint_wrenches(*state).cut)
        np.testing.assert_array_equal(out["q"], dyn.positions(out["q"][:, :7]).q)
        assert {n.split(".")[1] for n in out["columns"] if n.startswith("cut.")} == {f"leg{k}" for k in range(1, 7)}
        assert facts["peaks"][2]["highest"] == out["tau"][:, 2].max()
        assert facts["condition"]["worst"] == dyn.workspace(out["q"][:, :7]).drive_condition.max()
    assert [p["joint"] for p in facts["peaks"]] == list(robot.drives)
    assert facts["exceeded"] == facts["unreached"] == facts["singular"] == []
    again = answer("torque", "gough_stewart", "out.npz")
    assert again["origins"] == {"qd": "the file", "qdd": "the file"}
    for now, before in zip(again["peaks"], facts["peaks"], strict=True):
        assert now["rms"] == pytest.approx(before["rms"], rel=1e-14)


def test_rates_of_forces(motions):
    """Columns tau_dot by drive are the rates of tau."""
    assert linkwise("torque", "gough_stewart", "hexapod.csv", "--rates", "-o", "out.csv").exit_code == 0
    tau, rate = column("out.csv", "tau.leg1.slide"), column("out.csv", "tau_dot.leg1.slide")
    np.testing.assert_allclose(np.gradient(tau, T)[5:-5], rate[5:-5], atol=0.02 * np.abs(rate).max())


@pytest.mark.parametrize(("robot", "file"), [("delta", "delta.csv"), ("three_rrr", "planar.csv")])
def test_other_machines_and_files_of_them(motions, robot, file):
    text = linkwise("torque", robot, file, "-o", "out.csv", "--plot", "out.svg")
    assert text.exit_code == 0, text.output
    assert "101 rows, 0 to 2 s" in text.stdout
    assert "All within the limits that the robot has" in text.stdout
    assert linkwise("convert", robot, "machine.toml").exit_code == 0
    assert lw.load("machine.toml") == lw.load(robot)
    assert answer("torque", "machine.toml", "out.csv")["peaks"] == answer("torque", robot, "out.csv")["peaks"]
    assert linkwise("check", robot, "machine.toml").exit_code == 0


def test_names_of_the_joint_and_velocities_in_two_axes(motions):
    """Columns with and without the joint's name, and in world axes, say the same motion."""
    linkwise("torque", "gough_stewart", "hexapod.csv", "-o", "out.npz")
    with np.load("out.npz") as out:
        q, qd, qdd = out["q"][:, :7], out["qd"][:, :6], out["qdd"][:, :6]
    turn = Rotation.from_quat(q[:, 3:])
    v, w = turn.apply(qd[:, :3]), turn.apply(qd[:, 3:])
    a, w_dot = turn.apply(qdd[:, :3] + np.cross(qd[:, 3:], qd[:, :3])), turn.apply(qdd[:, 3:])
    ends, rates = ("x", "y", "z", "qx", "qy", "qz", "qw"), ("vx", "vy", "vz", "wx", "wy", "wz")
    names = [f"platform.{e}" for e in ends]
    own = [f"{key}.platform.{e}" for key in ("qd", "qdd") for e in rates]
    world = [f"{key}.{e}" for key in ("velocity", "acceleration") for e in rates]
    csv("own.csv", ",".join(("t", *names, *own)), T, q, qd, qdd)
    csv("world.csv", ",".join(("t", *ends, *world)), T, q, v, w, a, w_dot)
    found = [answer("torque", "gough_stewart", f"{name}.csv")["peaks"] for name in ("own", "world")]
    for one, other in zip(*found, strict=True):
        assert one["rms"] == pytest.approx(other["rms"], rel=1e-10)
    arm = lw.gough_stewart().attach(lw.load("rr"), at="platform", prefix="arm_")
    lw.save(arm, "arm.toml")
    still = np.zeros((len(T), 2))
    csv("arm.csv", ",".join(("t", *names, "arm_joint1", "arm_joint2")), T, q, still)
    assert [p["joint"] for p in answer("torque", "arm.toml", "arm.csv")["peaks"]] == list(arm.drives)


def test_loads(motions):
    """At rest a payload is a force downwards and its moment, in the axes of the platform."""
    csv("rest.csv", "t,x,y,z,rx,ry,rz", T[:8], np.tile([0.02, 0.0, 0.75, 0.1, 0.0, 0.0], (8, 1)))
    force = Rotation.from_rotvec([0.1, 0.0, 0.0]).inv().apply([0.0, 0.0, -5.0 * 9.81])
    wrench = ",".join(str(x) for x in (*force, *np.cross([0.1, 0.0, 0.2], force)))
    body = answer("torque", "gough_stewart", "rest.csv", "--payload", "5,0.1,0,0.2@platform")["peaks"]
    load = answer("torque", "gough_stewart", "rest.csv", "--external", f"platform={wrench}")["peaks"]
    free = answer("torque", "gough_stewart", "rest.csv")["peaks"]
    for a, b, c in zip(body, load, free, strict=True):
        assert a["highest"] == pytest.approx(b["highest"], abs=1e-9)
        assert abs(a["highest"] - c["highest"]) > 1.0


def test_friction_is_left_out(motions):
    lw.save(lw.gough_stewart(friction=lw.Friction(50.0)), "rough.toml")
    smooth = answer("torque", "gough_stewart", "hexapod.csv")["peaks"]
    assert answer("torque", "rough.toml", "hexapod.csv", "--no-friction")["peaks"] == smooth
    assert answer("torque", "rough.toml", "hexapod.csv")["peaks"] != smooth


def test_positions_out_of_reach(motions):
    x = np.where((T > 0.5) & (T < 1.0), 2.0, 0.0)
    csv("far.csv", "t,x,y,z", T, x, 0 * T, 0 * T - 0.5)
    facts = answer("torque", "delta", "far.csv", "-o", "far.csv.csv", code=1)
    (out,) = facts["unreached"]
    assert (out["first"], out["last"]) == (27, 50)
    assert out["start"] == pytest.approx(0.52)
    assert set(out["loops"]) == {"leg1", "leg2", "leg3"}
    assert np.isfinite(facts["peaks"][0]["highest"])
    forces = column("far.csv.csv", "tau.leg1.motor")
    np.testing.assert_array_equal(np.isnan(forces), x > 1.0)
    text = linkwise("torque", "delta", "far.csv")
    assert "Out of reach" in text.stdout
    assert "27 to 50" in text.stdout
    csv("away.csv", "t,x,y,z", T, 0 * T + 9.0, 0 * T, 0 * T)
    facts = answer("torque", "delta", "away.csv", "--plot", "away.png", code=1)
    assert facts["peaks"][0]["highest"] is None
    assert facts["condition"] is None
    assert linkwise("torque", "delta", "away.csv").exit_code == 1


def test_limits(motions):
    """Legs too long, too fast and too strong, each with the row where it is worst."""
    robot = lw.gough_stewart(stroke=(0.8, 0.9))
    weak = lw.Limits(0.8, 0.9, velocity=0.3, effort=45.0)
    lw.save(robot.replace(*(replace(j, limits=weak) for j in robot.joints if j.kind == "prismatic")), "weak.toml")
    facts = answer("torque", "weak.toml", "hexapod.csv", "-o", "out.csv", code=1)
    found = {(e["joint"], e["what"]): e for e in facts["exceeded"]}
    assert {what for _, what in found} == {"position", "velocity", "effort"}
    force = column("out.csv", "tau.leg4.slide")
    worst = found["leg4.slide", "effort"]
    assert worst["value"] == pytest.approx(force.max())
    assert worst["time"] == pytest.approx(T[force.argmax()])
    assert worst["rows"] == (np.abs(force) > 45.0).sum()
    assert "Limits exceeded" in linkwise("torque", "weak.toml", "hexapod.csv").stdout


def test_a_singular_position_on_the_way(motions):
    """A hexapod that turns about its axis by a quarter: forces change their sign through infinity."""
    csv("turn.csv", "t,x,y,z,rx,ry,rz", T, np.tile([0.0, 0.0, 0.75, 0.0, 0.0], (101, 1)), 0.95 * T)
    J = lw.compile(lw.gough_stewart()).drive_jacobian
    sides = np.sign([np.linalg.det(J([0, 0, 0.75, *Rotation.from_rotvec([0, 0, 0.95 * t]).as_quat()])) for t in T])
    row = int(np.flatnonzero(sides[1:] != sides[:-1])[0]) + 2
    facts = answer("torque", "gough_stewart", "turn.csv", code=1)
    assert [c["row"] for c in facts["singular"]] == [row]
    assert abs(0.95 * facts["singular"][0]["time"] - np.pi / 2) < 0.02
    assert "Singular positions" in linkwise("torque", "gough_stewart", "turn.csv").stdout
    at = np.pi / 2 * np.ones((6, 1))  # exactly there, all the time
    csv("there.csv", "t,x,y,z,rx,ry,rz", T[:6], np.tile([0.0, 0.0, 0.75, 0.0, 0.0], (6, 1)), at)
    facts = answer("torque", "gough_stewart", "there.csv", code=1)
    assert [e["what"] for e in facts["exceeded"] if e["joint"] == "drives"] == ["condition"]


def test_options_of_robots(motions):
    """Platforms take those of every robot."""
    (motions / "side.toml").write_text('[[joint]]\nname = "leg1.motor"\narmature = 0.5\n')
    plain = answer("torque", "delta", "delta.csv")["peaks"]
    assert answer("torque", "delta", "delta.csv", "--side", "side.toml")["peaks"][0]["rms"] != plain[0]["rms"]
    assert answer("torque", "delta", "delta.csv", "--rigid")["peaks"] == plain
    assert linkwise("bench", "delta").exit_code == 0


def test_mistakes(motions):
    assert "unknown frame or link 'tool'" in error("torque", "delta", "delta.csv", "--payload", "1@tool")
    assert "unknown frame or link 'leg1'" in error("torque", "delta", "delta.csv", "--external", "leg1=1,2,3")
    assert "got none for 'platform.z'" in error("torque", "gough_stewart", "planar.csv", "--ignore-extra")
    assert "unknown column 'rx'" in error("torque", "delta", "hexapod.csv")
    assert "'gough_stewart'" in error("info", "hexapd")
    assert linkwise("convert", "delta", "--dh").exit_code != 0


def test_forms_of_files(motions):
    """A .urdf carries the tree, and says what it leaves out; it knows no platforms that only translate."""
    done = linkwise("convert", "gough_stewart", "hexapod.urdf")
    assert done.exit_code == 0, done.output
    assert "loop" in done.stdout
    assert "URDF has no translation joints. Save the robot as .toml" in error("convert", "delta", "delta.urdf")


def test_names(motions):
    known = answer("robots")
    assert known == lw.list_robots()
    for name in ("delta", "gough_stewart", "three_rrr"):
        assert linkwise("info", name).exit_code == 0
        assert name in linkwise("robots").stdout
    assert lw.load("delta") == lw.delta()
    with pytest.raises(lw.InputError, match=r"unknown robot 'hexapod'.*'gough_stewart'"):
        lw.load("hexapod")


# ---- simulation


def test_a_simulation_and_its_forces(motions):
    """What moved it comes out of inverse dynamics along the file."""
    for suffix in (".npz", ".csv"):
        flags = ("--start", "platform=0,0,-0.5", "--torque", "leg1.motor=-1.2", "--time", "0.2", "-o", f"s{suffix}")
        facts = answer("simulate", "delta", *flags, "--plot", "s.png")
        assert facts["status"] == "finished"
        assert facts["energy drift"] < 1e-6
        peaks = answer("torque", "delta", f"s{suffix}")["peaks"]
        assert [p["lowest"] for p in peaks] == pytest.approx([-1.2, 0.0, 0.0], abs=1e-6)
        assert [p["highest"] for p in peaks] == pytest.approx([-1.2, 0.0, 0.0], abs=1e-6)
    assert (motions / "s.png").stat().st_size > 10_000


def test_a_fall_from_home(motions):
    text = linkwise("simulate", "gough_stewart", "--time", "0.3")
    assert text.exit_code == 0
    assert "platform" in text.stdout
    assert "of 'leg1.slide' is exceeded from t = 0." in text.stdout
    facts = answer("simulate", "gough_stewart", "--time", "0.01", "--speed", "platform=0,0,0,0,0,1")
    (joint,) = [j for j in facts["joints"] if j["joint"] == "platform"]
    assert joint["start"][2] == pytest.approx(0.75, abs=1e-12)
    assert joint["end"][5] == pytest.approx(np.sin(0.005), rel=1e-2)


def test_mistakes_of_simulations(motions):
    assert "expected 3 numbers x,y,z, got 7" in error("simulate", "delta", "--start", "platform=1,2,3,4,5,6,7")
    assert "expected 3 numbers vx,vy,wz, got 6" in error("simulate", "three_rrr", "--speed", "platform=1,2,3,4,5,6")
    assert "Did you mean 'platform'" in error("simulate", "delta", "--start", "plattform=1,2,3")
    assert "'leg1'" in error("simulate", "delta", "--torque", "leg1=1")
    assert "'leg1.motor' twice" in error("simulate", "delta", "--torque", "leg1.motor=1", "--torque", "leg1.motor=2")
    assert "expected one number, got 6" in error("simulate", "delta", "--torque", "leg1.motor=1,2,3,4,5,6")
    assert "'platform' twice" in error("simulate", "delta", *["--start", "platform=1,2,3"] * 2)
    assert "do not close" in error("simulate", "delta", "--start", "platform=0,0,5")
