import json
from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.motion import read
from support.command import error, linkwise


def test_results_are_those_of_the_kernel(folder):
    result = linkwise("torque", "arm.urdf", "swing.csv", "-o", "out.csv", "--plot", "out.png")
    assert result.exit_code == 0
    assert "velocities from a quintic spline of q, accelerations from a quintic spline of q" in result.stdout
    robot = lw.load("arm.urdf")
    motion = read("swing.csv", robot)
    table = np.genfromtxt("out.csv", delimiter=",", names=True, deletechars="")
    tau = lw.compile(robot).inverse_dynamics(motion.q, motion.qd, motion.qdd)
    for k, name in enumerate(robot.names):
        np.testing.assert_array_equal(table[f"tau.{name}"], tau[:, k])
        np.testing.assert_array_equal(table[f"qdd.{name}"], motion.qdd[:, k])
    assert (folder / "out.png").read_bytes().startswith(b"\x89PNG")


def test_payload_and_external_wrench(folder):
    arguments = ("--payload", "2,0.1,0,0.05@tool", "--payload", "1@forearm", "--external", "tool=1,2,3,0.1,0.2,0.3")
    assert linkwise("torque", "arm.urdf", "swing.csv", *arguments, "--wrenches", "-o", "out.npz").exit_code == 0
    robot = lw.load("arm.urdf")
    motion = read("swing.csv", robot)
    loaded = robot.with_payload(2.0, (0.1, 0, 0.05), at="tool", name="a").with_payload(1.0, at="forearm", name="b")
    kernel = lw.compile(loaded, lw.joint_wrenches, external="tool")
    tau, wrench = kernel(motion.q, motion.qd, motion.qdd, [[1, 2, 3, 0.1, 0.2, 0.3]])
    with np.load("out.npz") as archive:
        np.testing.assert_allclose(archive["tau"], tau, rtol=1e-13)
        np.testing.assert_allclose(archive["wrench"], wrench, rtol=1e-12, atol=1e-12)
        assert list(archive["names"]) == list(robot.names)
        assert json.loads(str(archive["meta"]))["external"] == {"tool": [1, 2, 3, 0.1, 0.2, 0.3]}


@pytest.mark.parametrize("name", ["out.csv", "out.npz"])
def test_results_can_be_read_back(folder, name):
    first = linkwise("torque", "arm.urdf", "swing.csv", "-o", name, "--json")
    again = linkwise("torque", "arm.urdf", name, "--json")
    first, again = json.loads(first.stdout), json.loads(again.stdout)
    assert again["origins"] == {"qd": "the file", "qdd": "the file"}
    assert first["peaks"] == again["peaks"]


def test_exceeded_limits_are_listed_with_exit_code_1(folder):
    result = linkwise("torque", "arm.urdf", "swing.csv", "--payload", "15,0,0,0.05@tool", "--plot", "a.svg")
    assert result.exit_code == 1
    assert "Limits exceeded" in result.stdout
    facts = json.loads(linkwise("torque", "arm.urdf", "swing.csv", "--payload", "15,0,0,0.05@tool", "--json").stdout)
    (worst,) = facts["exceeded"]
    assert (worst["joint"], worst["what"], worst["limit"], worst["time"]) == ("shoulder", "effort", 120.0, 0.65)


def test_a_results_file_survives_a_failure(folder, monkeypatch):
    linkwise("torque", "arm.urdf", "swing.csv", "-o", "out.csv")
    before = (folder / "out.csv").read_bytes()

    def fails(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("linkwise.motion.writer.write_csv", fails)
    result = linkwise("torque", "arm.urdf", "swing.csv", "-o", "out.csv", "--payload", "1@tool")
    assert result.exit_code == 2
    assert "No space left on device" in result.stderr
    assert (folder / "out.csv").read_bytes() == before
    assert sorted(p.name for p in folder.iterdir()) == ["arm.urdf", "out.csv", "swing.csv"]


def test_locked_joints_may_stay_in_the_file(folder):
    result = linkwise("torque", "arm.urdf", "swing.csv", "--lock", "turn=0.5")
    assert result.exit_code == 0
    assert "not used, their joints do not move by themselves: turn" in result.stdout


def test_floating_base(folder):
    t = np.linspace(0, 1, 20)
    still = np.tile(lw.load("arm.urdf", base="floating").q(), (20, 1))
    np.savez("still.npz", t=t, q=still)
    facts = json.loads(
        linkwise("torque", "arm.urdf", "still.npz", "--base", "floating", "--json", "--plot", "a.png").stdout
    )
    force = {p["joint"]: p["highest"] for p in facts["peaks"]}
    assert force["root_joint.fz"] == pytest.approx(9 * 9.81)


def test_rows_without_time(folder):
    header = ",".join(f"{k}{j}" for k in ("", "qd.", "qdd.") for j in ("turn", "shoulder", "elbow"))
    (folder / "states.csv").write_text(f"{header}\n0,0,0,0,0,0,0,0,0\n")
    result = linkwise("torque", "arm.urdf", "states.csv", "--plot", "a.png")
    assert result.exit_code == 0
    assert "1 row, without times" in result.stdout


@pytest.mark.parametrize("name", ["out.csv", "out.npz"])
def test_rates_are_those_of_the_kernel(folder, name):
    arguments = ("--rates", "--wrenches", "--external", "tool=1,2,3")
    result = linkwise("torque", "arm.urdf", "swing.csv", *arguments, "-o", name, "--plot", "out.png")
    assert result.exit_code == 0
    assert "jerks from a quintic spline of q" in result.stdout
    assert "top rate" in result.stdout
    robot = lw.load("arm.urdf")
    motion = read("swing.csv", robot, jerks=True)
    kernel = lw.compile(robot, lw.joint_wrench_rates, external="tool")
    load = np.array([[1.0, 2.0, 3.0, 0.0, 0.0, 0.0]])
    expected = kernel(motion.q, motion.qd, motion.qdd, motion.qddd, load, 0.0 * load)
    if name.endswith(".csv"):
        table = np.genfromtxt(name, delimiter=",", names=True, deletechars="")
        tau_dot = np.stack([table[f"tau_dot.{n}"] for n in robot.names], axis=1)
        force = table[f"wrench_dot.{robot.moving_links[-1]}.fx"]
    else:
        with np.load(name) as archive:
            tau_dot, force = archive["tau_dot"], archive["wrench_dot"][:, -1, 0]
    np.testing.assert_array_equal(tau_dot, expected.tau_dot)
    np.testing.assert_array_equal(force, expected.wrench_dot[:, -1, 0])


@pytest.mark.parametrize("name", ["out.csv", "out.npz"])
def test_rates_can_be_read_back(folder, name):
    first = json.loads(linkwise("torque", "arm.urdf", "swing.csv", "--rates", "-o", name, "--json").stdout)
    again = json.loads(linkwise("torque", "arm.urdf", name, "--rates", "--json").stdout)
    assert again["origins"] == {"qd": "the file", "qdd": "the file", "qddd": "the file"}
    assert first["peaks"] == again["peaks"]
    assert first["reversals"] == again["reversals"]
    assert linkwise("torque", "arm.urdf", name).exit_code == 0


def test_limits_of_effort_rate_and_jerk(folder):
    """Both are named with the joint, the worst value and its time, and make the exit code 1."""
    (folder / "more.toml").write_text(
        "[[joint]]\nname = 'shoulder'\nlimits.effort_rate = 9.0\n[[joint]]\nname = 'elbow'\nlimits.jerk = 1.0\n"
    )
    result = linkwise("torque", "arm.urdf", "swing.csv", "--side", "more.toml", "--rates", "--plot", "a.svg")
    assert result.exit_code == 1
    assert "effort rate" in result.stdout
    facts = json.loads(linkwise("torque", "arm.urdf", "swing.csv", "--side", "more.toml", "--rates", "--json").stdout)
    found = {(e["joint"], e["what"]): e for e in facts["exceeded"]}
    assert set(found) == {("shoulder", "effort rate"), ("elbow", "jerk")}
    assert found["shoulder", "effort rate"]["limit"] == -9.0
    assert found["shoulder", "effort rate"]["time"] == pytest.approx(1.35)
    unrated = linkwise("torque", "arm.urdf", "swing.csv", "--side", "more.toml")
    assert unrated.exit_code == 0
    assert "those of jerk and effort rate were not checked: give --rates" in unrated.stdout


def test_jumps_of_friction_are_listed(folder):
    facts = json.loads(linkwise("torque", "arm.urdf", "swing.csv", "--rates", "--json").stdout)
    assert [(r["joint"], r["what"], r["jump"]) for r in facts["reversals"]] == [
        ("turn", "starts", 0.5),
        ("turn", "stops", -0.5),
    ]
    assert "Jumps of torques" in linkwise("torque", "arm.urdf", "swing.csv", "--rates").stdout
    assert "Jumps of torques" not in linkwise("torque", "arm.urdf", "swing.csv", "--rates", "--no-friction").stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("t,turn,shoulder,elbow,qddd.turn\n0,0,0,0,1\n1,0,0,0,1\n", "got none for 'qddd.shoulder', 'qddd.elbow'"),
        ("turn,shoulder,elbow\n0,0,0\n", "expected a column 't' or 'time'"),
        ("t,turn,shoulder,elbow,qdddd.turn\n0,0,0,0,1\n", "unknown column 'qdddd.turn'"),
    ],
)
def test_bad_columns_of_jerks_are_named(folder, text, message):
    (folder / "bad.csv").write_text(text)
    assert message in error("torque", "arm.urdf", "bad.csv", "--rates")


def test_few_rows_make_a_note(folder):
    rows = "\n".join(f"{k},{0.1 * k * k},0,0" for k in range(5))
    (folder / "few.csv").write_text(f"t,turn,shoulder,elbow\n{rows}\n")
    assert "the jerk of a cubic spline jumps" in linkwise("torque", "arm.urdf", "few.csv", "--rates").stdout


# ---- closed chains


def test_a_free_closed_chain_needs_no_torques(folder):
    """What falls freely, as simulated with multipliers, has no torques by the inverse model; an open tree would."""
    lw.simulate(lw.load("fivebar"), {"left_motor": 0.2}, None, 0.5, rtol=1e-10, progress=False).save("fall.csv")
    result = linkwise("torque", "fivebar", "fall.csv", "-o", "out.npz")
    assert "left_elbow, right_elbow follow others" in result.stdout
    with np.load("out.npz") as archive:
        tree = lw.compile(lw.load("fivebar").opened()).inverse_dynamics(archive["q"], archive["qd"], archive["qdd"])
        assert np.abs(archive["tau"]).max() < 1e-9 * np.abs(tree).max()


def test_columns_of_what_leads_suffice(folder):
    t = np.linspace(0.0, 1.0, 51)
    lead = np.stack([0.4 * np.sin(3.0 * t), 0.3 * np.cos(3.0 * t)], axis=1)
    np.savetxt("lead.csv", np.c_[t, lead], delimiter=",", header="t,left_motor,right_motor", comments="")
    assert linkwise("torque", "fivebar", "lead.csv", "-o", "out.csv", "--external", "tool=1,2,3").exit_code == 0
    robot = lw.load("fivebar")
    motion, whole = read("out.csv", robot), read("out.csv", robot.opened())
    given = (motion.q, motion.qd, motion.qdd)
    tau = lw.compile(robot, external="tool").inverse_dynamics(*given, [[1, 2, 3, 0, 0, 0]])
    table = np.genfromtxt("out.csv", delimiter=",", names=True, deletechars="")
    for k, name in enumerate(robot.drives):
        np.testing.assert_allclose(table[f"tau.{name}"], tau[:, k], rtol=0, atol=1e-12)
    assert [n for n in table.dtype.names if n.startswith("tau.")] == ["tau.left_motor", "tau.right_motor"]
    found = lw.compile(robot).tree_motion(*given)
    for ours, values in ((whole.q, found.q_tree), (whole.qd, found.qd_tree), (whole.qdd, found.qdd_tree)):
        np.testing.assert_allclose(ours, values, rtol=0, atol=1e-10)


def test_limits_of_joints_that_follow(folder):
    """An elbow that nobody drives may not turn further than it can."""
    robot = lw.load("fivebar")
    elbow = robot.joint("left_elbow")
    lw.save(robot.replace(replace(elbow, limits=replace(elbow.limits, lower=0.4))), "stiff.toml")
    t = np.linspace(0.0, 1.0, 51)
    np.savetxt("lead.csv", np.c_[t, 0.8 * t, 0.8 * t], delimiter=",", header="t,left_motor,right_motor", comments="")
    assert linkwise("torque", "fivebar", "lead.csv").exit_code == 0
    result = linkwise("torque", "stiff.toml", "lead.csv", "--json", "--plot", "out.svg")
    assert result.exit_code == 1
    (excess,) = json.loads(result.stdout)["exceeded"]
    assert (excess["joint"], excess["what"]) == ("left_elbow", "position")


def test_all_joints_choose_the_assembly_mode(folder):
    """Of a file that has them; without them it is that of the model's reference."""
    robot = lw.load("fivebar")
    dyn = lw.compile(robot)
    t = np.linspace(0.0, 1.0, 51)
    lead = np.stack([0.3 * np.sin(2.0 * t), -0.2 * np.sin(3.0 * t)], axis=1)
    mirrored = dyn.positions(lead, guess={"left_elbow": 2.5, "right_elbow": -2.5}, along=True)
    names = ",".join(("t", *robot.opened().names))
    np.savetxt("all.csv", np.c_[t, mirrored.q], delimiter=",", header=names, comments="")
    np.savetxt("lead.csv", np.c_[t, lead], delimiter=",", header="t,left_motor,right_motor", comments="")
    for file, tree_q in (("all.csv", mirrored.q), ("lead.csv", dyn.positions(lead).q)):
        assert linkwise("torque", "fivebar", file, "-o", "out.csv").exit_code == 0
        np.testing.assert_allclose(read("out.csv", robot.opened()).q, tree_q, rtol=0, atol=1e-9)


def test_redundant_motors_share(folder):
    """Where the rocker is driven too, the torques are those of the closed model's least squares."""
    robot = lw.load("fourbar")
    (loop,) = robot.loops
    lw.save(robot.replace(replace(loop, active=("crank", "rocker")), leads=("crank",)), "twice.toml")
    (folder / "turn.csv").write_text("t,crank\n" + "\n".join(f"{k / 20},{0.5 + k / 10}" for k in range(20)))
    assert linkwise("torque", "twice.toml", "turn.csv", "-o", "out.csv").exit_code == 0
    model = lw.load("twice.toml")
    motion = read("out.csv", model)
    tau = lw.compile(model).inverse_dynamics(motion.q, motion.qd, motion.qdd)
    table = np.genfromtxt("out.csv", delimiter=",", names=True, deletechars="")
    both = np.stack([table["tau.crank"], table["tau.rocker"]], axis=1)
    np.testing.assert_allclose(both, tau, rtol=0, atol=1e-11)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            "t,left_motor,left_elbow,right_motor,right_elbow\n0,0,0.2,0,0\n1,0,0,0,0\n2,0,0,0,0\n3,0,0,0,0\n",
            "row 1 (t = 0): expected",
        ),
        ("t,left_motor,right_motor\n0,0,0\n1,0,0\n", "expected at least 4 rows"),
        ("t,left_motor,right_elbow\n0,0,0\n1,0,0\n", "got none for 'right_motor'."),
    ],
)
def test_rows_that_open_the_loops_are_named(folder, rows, message):
    (folder / "bad.csv").write_text(rows)
    assert message in error("torque", "fivebar", "bad.csv")


def test_rows_of_what_leads_that_are_out_of_reach_are_listed(folder):
    """The others are computed."""
    (folder / "far.csv").write_text("t,left_motor,right_motor\n0,0,0\n1,-1.5,1.5\n2,0,0\n3,0,0\n")
    result = linkwise("torque", "fivebar", "far.csv", "-o", "out.npz", "--json")
    assert result.exit_code == 1
    facts = json.loads(result.stdout)
    (lost,) = facts["unreached"]
    assert (lost["first"], lost["last"], lost["start"]) == (2, 2, 1.0)
    with np.load("out.npz") as out:
        np.testing.assert_array_equal(np.isnan(out["tau"]).any(axis=1), [False, True, False, False])
    assert "Out of reach" in linkwise("torque", "fivebar", "far.csv").stdout


def test_wrenches_and_rates_of_closed_chains(folder):
    """Columns of all joints and of the cut; files that are read back as motions."""
    t = np.linspace(0.0, 2.0, 201)
    lead = np.stack([0.3 * np.sin(2.0 * t), -0.2 * np.sin(3.0 * t)], axis=1)
    np.savetxt("lead.csv", np.c_[t, lead], delimiter=",", header="t,left_motor,right_motor", comments="")
    robot = lw.load("fivebar")
    load = ("--external", "tool=1,2,3")
    for options in ((), ("--wrenches",), ("--rates",), ("--wrenches", "--rates")):
        for file in ("out.csv", "out.npz"):
            assert linkwise("torque", "fivebar", "lead.csv", "-o", file, *load, *options).exit_code == 0
    motion = read("out.csv", robot, jerks=True)
    dyn = lw.compile(robot, external="tool")
    found = dyn.joint_wrenches(motion.q, motion.qd, motion.qdd, [[1, 2, 3, 0, 0, 0]])
    table = np.genfromtxt("out.csv", delimiter=",", names=True, deletechars="")
    with np.load("out.npz") as archive:
        assert archive["loops"].tolist() == ["tip"]
        np.testing.assert_allclose(archive["wrench"], found.wrench, atol=1e-10)
        np.testing.assert_allclose(archive["cut"], found.cut, atol=1e-10)
        np.testing.assert_array_equal(archive["cut"][:, 0, 2], table["cut.tip.fz"])
        for rates, values in ((archive["tau_dot"], archive["tau"]), (archive["cut_dot"], archive["cut"])):
            slope = (values[2:] - values[:-2]) / (t[2] - t[0])
            assert np.abs(rates[1:-1] - slope).max() < 2e-3 * np.abs(slope).max()
    assert linkwise("torque", "fivebar", "out.npz", "--rates").exit_code == 0
