"""Torques of elastic drives along files that have the joints alone: feed-forward."""

import json
import shutil

import numpy as np
import pytest

import linkwise as lw
from linkwise.motion import read
from linkwise.motion.torques import torques_along
from support.command import error, linkwise

W, A = np.array([1.0, 1.5, 2.0]), np.array([0.4, 0.3, 0.5])


@pytest.fixture
def soft(folder, request):
    shutil.copy(request.config.rootpath / "examples" / "soft.toml", folder)
    return folder


def path(t, count=5):
    """Sines of all joints, and their derivatives."""
    t = np.asarray(t)[..., None]
    return [A * W**k * np.sin(W * t + k * np.pi / 2) for k in range(count)]


def table(name):
    return np.genfromtxt(name, delimiter=",", names=True, deletechars="")


def written(name, rows=201, derivatives=("q", "qd", "qdd", "qddd")):
    """The motion in a file, with the derivatives named."""
    t = np.linspace(0.0, 2.0, rows)
    motion = dict(zip(("q", "qd", "qdd", "qddd"), path(t), strict=False))
    header = ",".join(["t", *(f"{k}.{j}" for k in derivatives for j in ("turn", "shoulder", "elbow"))])
    np.savetxt(
        name, np.c_[t, *(motion[k] for k in derivatives)], delimiter=",", header=header, comments="", fmt="%.17g"
    )
    return t


@pytest.mark.parametrize(
    ("derivatives", "bound"), [(("q",), 3e-4), (("q", "qd", "qdd"), 1e-6), (("q", "qd", "qdd", "qddd"), 1e-8)]
)
def test_torques_are_those_of_the_exact_motion(soft, derivatives, bound):
    t = written("wave.csv", derivatives=derivatives)
    load = np.array([[1.0, 2.0, 3.0, 0.0, 0.0, 0.0]])
    arguments = ("--side", "soft.toml", "--external", "tool=1,2,3", "--no-friction", "--wrenches", "-o", "out.csv")
    result = linkwise("torque", "arm.urdf", "wave.csv", *arguments)
    assert result.exit_code == 0
    assert "shoulder.motor, elbow.motor follow from the joints; 4 derivatives, the highest from a quin" in result.stdout
    robot = lw.load("arm.urdf", side="soft.toml").without_friction()
    kernel = lw.compile(robot, lw.algorithms.elastic_feedforward, external="tool")
    exact = kernel(*path(t), load, 0.0 * load, 0.0 * load)
    found = table("out.csv")
    for k, name in enumerate(("turn", "shoulder.motor", "elbow.motor")):
        assert np.abs(found[f"tau.{name}"] - exact.tau[:, k]).max() < bound * np.abs(exact.tau[:, k]).max()
    for k, name in enumerate(("shoulder", "elbow")):
        assert not found[f"tau.{name}"].any()
        np.testing.assert_allclose(found[f"q.{name}.motor"], exact.theta[:, k], rtol=0, atol=bound)
    whole = [np.hstack(x) for x in zip(path(t)[:3], exact[:3], strict=True)]
    wrench = lw.compile(robot, lw.joint_wrenches, external="tool")(*whole, load).wrench
    np.testing.assert_allclose(found["wrench.column.mz"], wrench[:, 0, 5], rtol=0, atol=bound * np.abs(wrench).max())


def test_the_file_of_results_has_the_motors_and_reads_back(soft):
    first = json.loads(
        linkwise("torque", "arm.urdf", "swing.csv", "--side", "soft.toml", "-o", "a.npz", "--json").stdout
    )
    again = json.loads(linkwise("torque", "arm.urdf", "a.npz", "--side", "soft.toml", "--json").stdout)
    assert [p["joint"] for p in first["peaks"]] == ["turn", "shoulder", "elbow", "shoulder.motor", "elbow.motor"]
    for one, other in zip(first["peaks"], again["peaks"], strict=True):
        assert one["highest"] == pytest.approx(other["highest"], abs=1e-10)
    assert not [note for note in again["notes"] if "follow from the joints" in note]


def test_limits_of_effort_are_those_of_the_motors(soft):
    arguments = ("--side", "soft.toml", "--payload", "15,0,0,0.05@tool", "--json")
    result = linkwise("torque", "arm.urdf", "swing.csv", *arguments)
    assert result.exit_code == 1
    assert [(e["joint"], e["what"]) for e in json.loads(result.stdout)["exceeded"]] == [("shoulder", "effort")]


def test_archives_without_names(soft):
    np.savez("wave.npz", t=np.linspace(0.0, 1.0, 40), q=path(np.linspace(0.0, 1.0, 40))[0])
    result = linkwise("torque", "arm.urdf", "wave.npz", "--side", "soft.toml")
    assert "follow from the joints" in result.stdout


def test_what_is_neglected_is_told(soft):
    text = (soft / "soft.toml").read_text().replace("stiffness = 900.0", "damping = 2.0\nstiffness = 900.0")
    (soft / "damped.toml").write_text(text)
    notes = json.loads(linkwise("torque", "arm.urdf", "swing.csv", "--side", "damped.toml", "--json").stdout)["notes"]
    assert "damping of springs is neglected in the motors' motion: shoulder" in notes


def test_motors_that_elastic_joints_carry_are_counted(soft):
    """The elbow's motor sits on the upper arm: six derivatives give the exact torques, seven their rates."""
    carried(soft)
    t = written("wave.csv")
    options = ("--side", "carried.toml", "--no-friction", "--wrenches", "--rates", "-o", "out.csv", "--json")
    notes = json.loads(linkwise("torque", "arm.urdf", "wave.csv", *options).stdout)["notes"]
    assert any("7 derivatives, the highest from a quintic spline of qddd" in note for note in notes)
    assert not any("neglected" in note for note in notes)
    robot = lw.load("arm.urdf", side="carried.toml").without_friction()
    exact = lw.compile(robot, lw.algorithms.elastic_feedforward, order=5)(*path(t, 8))
    rigid = lw.compile(robot, lw.algorithms.elastic_feedforward, coupling="rigid")(*path(t))
    found = table("out.csv")
    missed = np.abs(rigid.tau - exact.tau).max()  # by four derivatives
    assert missed > 1e-3
    for k, name in enumerate(("turn", "shoulder.motor", "elbow.motor")):
        assert np.abs(found[f"tau.{name}"] - exact.tau[:, k]).max() < 0.01 * missed
        assert np.abs(found[f"tau_dot.{name}"] - exact.tau_dot[:, k]).max() < 1e-3 * np.abs(exact.tau_dot[:, k]).max()
    slope = np.gradient(found["wrench.upper_arm.mz"], t)
    assert np.abs(slope - found["wrench_dot.upper_arm.mz"])[2:-2].max() < 1e-2 * np.abs(slope).max()


def carried(folder):
    """The elbow's motor on the upper arm, which an elastic drive moves."""
    text = (folder / "soft.toml").read_text()
    heavy = text.replace("rotor = 1e-4", "rotor = 4e-3")
    (folder / "carried.toml").write_text(heavy.replace('link = "column"', 'link = "upper_arm"'))


def test_a_floating_base(soft):
    flying = lw.load("arm.urdf", side="soft.toml", base="floating")
    still = np.tile(flying.rigid().q({"elbow": 0.3}), (20, 1))
    np.savez("still.npz", t=np.linspace(0, 1, 20), q=still)
    facts = json.loads(
        linkwise("torque", "arm.urdf", "still.npz", "--side", "soft.toml", "--base", "floating", "--json").stdout
    )
    fixed = lw.compile(flying.rigid()).gravity_forces(still[0])
    found = {p["joint"]: p["highest"] for p in facts["peaks"]}
    assert found["root_joint.fz"] == pytest.approx(fixed[2])
    assert found["elbow.motor"] == pytest.approx(fixed[-1])


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("t,turn,shoulder,elbow\n" + "\n".join(f"{k},0,0,0" for k in range(5)), [], "expected at least 6 rows"),
        ("t,turn,shoulder,elbow,elbow.motor\n0,0,0,0,0\n", [], "got none for 'shoulder.motor'"),
        ("t,turn,shoulder\n0,0,0\n", [], "got none for 'elbow'"),
        (
            ",".join(f"{k}.{j}" for k in ("q", "qd", "qdd", "qddd") for j in ("turn", "shoulder", "elbow"))
            + "\n"
            + "\n".join([",".join("0" * 12)] * 6),
            [],
            "expected a column 't' or 'time'",
        ),
    ],
)
def test_files_without_what_is_needed(soft, text, options, message):
    (soft / "bad.csv").write_text(text)
    assert message in error("torque", "arm.urdf", "bad.csv", "--side", "soft.toml", *options)


def test_a_motion_without_jerks_is_refused(soft):
    robot = lw.load("arm.urdf", side="soft.toml")
    with pytest.raises(lw.InputError, match="with jerks"):
        torques_along(robot, read("swing.csv", robot.rigid()))


@pytest.mark.parametrize("name", ["run.csv", "run.npz"])
def test_a_file_with_motors_serves_the_rigid_robot_too(soft, name):
    linkwise("simulate", "arm.urdf", "--side", "soft.toml", "--time", "0.1", "-o", name)
    assert "--ignore-extra" in error("torque", "arm.urdf", name)
    result = linkwise("torque", "arm.urdf", name, "--ignore-extra")
    assert result.exit_code == 0
    assert "not used: q.shoulder.motor, q.elbow.motor" in result.stdout
