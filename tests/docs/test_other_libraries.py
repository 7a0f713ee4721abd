"""The page of ten tasks: every block runs where its library is installed, and computes what Linkwise computes."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "benchmarks"))

import tasks  # noqa: E402

import linkwise as lw  # noqa: E402
from support.urdf import MIMIC, joint, link, urdf  # noqa: E402

EXACT, NEAR = 1e-12, 1e-6  # parts: of rounding, and of finite differences and integrators
KEPT = ("tau", "M", "J", "dtau_dq", "dtau_dqd", "taus", "end", "q_found")
TOLERANCES = {
    "MuJoCo": {"dtau_dq": 1e-5, "dtau_dqd": 1e-5, "M": NEAR, "end": NEAR},  # differences to one side
    "Robotics Toolbox": {"dtau_dq": NEAR, "dtau_dqd": NEAR, "end": 1e-3, "pose": 1e-3},
    "Pinocchio": {"end": NEAR},
    "OpenSim": {"end": NEAR},
}


def computed(library):
    """What the blocks of a library leave behind, after each task."""
    found = {}
    with tasks.workplace(library) as space:
        q, qdd = space["q"].copy(), space["qdd"].copy()
        for task, code in tasks.blocks().items():
            if library in code:
                before = set(space)
                exec(compile(code[library], f"{library}: {task}", "exec"), space)
                names = set(space) - before | {"tau", "taus", "M", "J", "dtau_dq", "dtau_dqd", "end", "q_found"} & set(
                    space
                )
                found |= {n: np.array(space[n]) for n in names if isinstance(space[n], np.ndarray)}
        np.testing.assert_allclose(space["qdd"], qdd, rtol=1e-9)  # forward dynamics takes inverse dynamics back
        assert np.array_equal(space["q"], q)
        if "combinations" in space:
            found["rank"] = np.array(len([c for c in space["combinations"] if not own(c)]))
    if "q_found" in found:
        found["pose"] = lw.compile(lw.load(ROOT / "examples" / "six_axes.urdf")).pose(found.pop("q_found"), "hand")
    return found


def own(combination):
    """Whether a combination is one of friction or rotors alone, which only Linkwise counts."""
    return isinstance(combination, str) and bool(re.fullmatch(r"\w+\.(rotor|viscous|coulomb\w*|static)", combination))


@pytest.fixture(scope="module")
def ours():
    return computed("Linkwise")


@pytest.mark.parametrize("library", [name for name in tasks.NEEDS if name != "Linkwise"])
def test_libraries_agree(library, ours):
    if not tasks.installed(library):
        pytest.skip(f"{library} is not installed")
    theirs = computed(library)
    shared = theirs.keys() & ours.keys()
    assert shared >= {"tau", "M", "J"}
    for name in shared:
        size, part = np.abs(ours[name]).max(), TOLERANCES[library].get(name, 1e-5 if name == "pose" else EXACT)
        assert np.abs(theirs[name] - ours[name]).max() <= part * max(1.0, size), name


def test_lines_are_those_of_the_table():
    """And ours are never more than another's."""
    text = tasks.PAGE.read_text(encoding="utf-8")
    head, *rows = re.findall(r"^\| (lines of code|\[\d+\. [^|]*) \| (.*) \|$", text, re.MULTILINE)
    libraries = head[1].split(" | ")
    assert libraries == list(tasks.NEEDS)
    found = {task: code for task, code in tasks.blocks().items() if task != "shared"}
    assert len(found) == len(rows) == 10
    totals = dict.fromkeys(libraries, 0)
    for (task, code), (_, cells) in zip(found.items(), rows, strict=True):
        counted = [str(tasks.lines(code[name])) if name in code else "-" for name in libraries]
        assert cells.split(" | ") == counted, task
        assert all(tasks.lines(code["Linkwise"]) <= tasks.lines(x) for x in code.values()), task
        for name in libraries:
            totals[name] += tasks.lines(code.get(name, ""))
    assert f"rows = {totals}".replace("'", '"') in text


def test_lines_are_no_longer_than_lines_of_ours():
    for task, code in tasks.blocks().items():
        for library, text in code.items():
            assert max(map(len, text.splitlines())) <= 120, (task, library)
            assert ";" not in text, (task, library)


def test_peers_are_measured_with_the_same_lines(capsys, monkeypatch):
    monkeypatch.setattr(tasks, "SECONDS", 0.0)
    monkeypatch.setattr(tasks, "NEEDS", {"Linkwise": "linkwise"})
    rows = tasks.run()
    assert len(rows) == 10
    assert all(row["seconds"] > 0.0 for row in rows)
    assert "lines" in capsys.readouterr().out


MASS = (
    '<inertial><origin xyz="0.1 0.02 0.1"/><mass value="1"/>'
    '<inertia ixx="0.02" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.025"/></inertial>'
)
LIMIT = '<limit lower="-1" upper="1" effort="10" velocity="2"/>'
BRANCHES = urdf(
    *(link(name, MASS) for name in ("body", "leg", "disc", "arm")),
    joint("z_hip", "body", "leg", inside=LIMIT + '<origin xyz="0.1 0 0.3" rpy="0.1 0.2 0"/>'),
    joint("wheel", "leg", "disc", "continuous", '<origin xyz="0.2 0 0.3"/><axis xyz="0 1 0"/>'),
    joint("a_shoulder", "body", "arm", inside=LIMIT + '<origin xyz="-0.1 0 0.3"/><axis xyz="0 1 0"/>'),
)
MIMICS = urdf(
    *(link(name, MASS) for name in "abc"),
    joint("i", "a", "b", inside=LIMIT),
    joint("j", "a", "c", inside=LIMIT + MIMIC),
)


def test_pinocchio_differs_as_the_page_says():
    pin = pytest.importorskip("pinocchio")
    robot = lw.load(BRANCHES, base="floating")
    model = pin.buildModelFromXML(BRANCHES, pin.JointModelFreeFlyer())
    data, names = model.createData(), list(model.names)[1:]
    assert robot.coordinates == ("root_joint", "z_hip", "wheel", "a_shoulder")
    assert names == ["root_joint", "a_shoulder", "z_hip", "wheel"]
    assert (robot.nq, model.nq, model.nv) == (10, 11, 9)
    rng = np.random.default_rng(0)
    q, qd, qdd, force = robot.q(), *rng.normal(size=(2, 9)), rng.normal(size=6)
    q[:7] = 1.0, 2.0, 3.0, *(x := rng.normal(size=4)) / np.linalg.norm(x)
    q[7:] = angles = rng.normal(size=3)
    theirs = np.r_[q[:7], angles[[2, 0]], np.cos(angles[1]), np.sin(angles[1])]
    order = np.concatenate([np.arange(robot.slots[n].v, robot.slots[n].v + robot.slots[n].nv) for n in names])
    pushed = [pin.Force.Zero() for _ in range(model.njoints)]
    pushed[model.getJointId("wheel")] = pin.Force(force)
    expected = pin.rnea(model, data, theirs, qd[order], qdd[order], pushed)
    found = lw.compile(robot, external=("disc",)).inverse_dynamics(q, qd, qdd, force[None])[order]
    np.testing.assert_allclose(found, expected, rtol=0, atol=EXACT * np.abs(expected).max())


def test_mimic_joints_are_counted_as_the_page_says():
    pin, mujoco = pytest.importorskip("pinocchio"), pytest.importorskip("mujoco")
    read = pin.buildModelFromXML
    assert (lw.load(MIMICS).nq, read(MIMICS).nq, read(MIMICS, mimic=True).nq) == (1, 2, 1)
    model = mujoco.MjModel.from_xml_string(MIMICS)
    assert (model.nq, model.neq) == (2, 1)


def test_mujoco_differs_as_the_page_says():
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(BRANCHES)
    assert [model.joint(k).name for k in range(model.njnt)] == ["z_hip", "wheel", "a_shoulder"]
    assert model.nq == 3
