"""Robot files: what is saved is loaded again without loss, and rows, side files and the documentation's file load."""

import math
import re
import tomllib
from dataclasses import fields, replace
from pathlib import Path

import pytest

import linkwise as lw
from linkwise.formats.dh import khalil, modified_dh, standard_dh
from linkwise.formats.toml import load_toml
from linkwise.formats.toml_writer import to_toml
from support.everything import everything
from support.pinocchio_bridge import ROBOTS

DOCS = Path(__file__).parents[2] / "docs"
NONSENSE = ("ur3.urdf", "alex_psyonic_hands.urdf")
FILES = [p for p in sorted(ROBOTS.rglob("*.urdf")) if p.name not in NONSENSE]


# ---- saved and loaded


@pytest.mark.parametrize("seed", range(40))
def test_robots_with_everything_come_back(seed, tmp_path):
    robot = everything(seed)
    assert lw.save(robot, tmp_path / "all.toml") == ()
    loaded = lw.load(tmp_path / "all.toml")
    assert loaded == robot
    assert repr(loaded) == repr(robot)  # which tells 0.0 from -0.0, and a Vec3 from a tuple


@pytest.mark.parametrize("file", FILES, ids=lambda p: p.name)
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_real_robots_come_back(file, base):
    robot = lw.load(file, base=base)
    assert load_toml(to_toml(robot)) == robot


@pytest.mark.parametrize(
    "robot",
    [
        lw.Robot([lw.Link("alone")]),
        lw.Robot([lw.Link("ä 'b' \"c\" \\ # [x] \n\t\r\0\x7f€😀")], name=" "),
        lw.Robot([lw.Link("a"), lw.Link("b")], [lw.Joint("j", "a", "b", spring=lw.Spring(), drive=lw.Drive())]),
        lw.Robot(
            [lw.Link("a", 5e-324, (1e49, -0.0, 0.1 + 0.2)), lw.Link("b", 1e22)],
            [lw.Joint("j", "a", "b", drive=lw.Drive(lw.Motor()), limits=lw.Limits(-math.inf, 3))],
        ),
        lw.Robot([lw.Link("a"), lw.Link("b")], [lw.Joint("j", "a", "b", limits=lw.Limits(math.inf, math.inf, 0.0))]),
    ],
)
def test_corner_cases_come_back(robot):
    assert load_toml(to_toml(robot)) == robot


def test_each_form_of_a_path_and_a_text(tmp_path):
    robot = everything(1)
    path = tmp_path / "arm.TOML"
    lw.save(robot, str(path))
    text = path.read_text(encoding="utf-8")
    assert robot == lw.load(path) == lw.load(str(path)) == load_toml(text) == load_toml(text.encode())
    assert load_toml("\ufeff" + text.replace("\n", "\r\n")) == robot


def test_options_of_load(tmp_path):
    path = tmp_path / "arm.toml"
    lw.save(lw.Robot([lw.Link("a", 1.0, inertia=(1.0, 1.0, 5.0))]), path)
    assert lw.load(path, base="floating").nv == 6
    with pytest.raises(lw.LinkwiseError, match=r"^arm\.toml: expected no errors \(strict\), got link 'a' inertia"):
        lw.load(path, strict=True)


# ---- the form itself


def blocks() -> list[str]:
    return re.findall(r"```toml\n(.*?)```", (DOCS / "robot_file.md").read_text(encoding="utf-8"), flags=re.DOTALL)


def test_the_documented_file_loads():
    robot = lw.load(DOCS / "robot_file.toml")
    assert robot.opened().names == ("shoulder", "elbow", "rock")
    assert robot.coordinates == ("shoulder", "elbow.motor")
    assert load_toml(to_toml(robot)) == robot
    assert [d.level for d in robot.diagnostics[:1]] == ["info"]


@pytest.mark.parametrize(
    "kind",
    [lw.Link, lw.Joint, lw.Frame, lw.Loop, lw.Friction, lw.Spring, lw.Drive, lw.Motor, lw.Limits, lw.Mimic, lw.Shape],
)
def test_the_documented_file_has_every_key(kind):
    text = (DOCS / "robot_file.toml").read_text(encoding="utf-8")
    for f in fields(kind):
        assert re.search(rf"\b{f.name}\b", text), f.name


def test_the_documented_rows_load():
    dh, tree = map(load_toml, blocks()[:2])
    assert dh.names == ("shoulder", "elbow")
    assert dh.joint("elbow").drive == lw.Drive(gear=50.0, friction=lw.Friction(1e-4))
    assert dh.joint("elbow").limits == lw.Limits(-2.6, 2.6)
    assert tuple(dh.gravity) == (0.0, -9.81, 0.0)
    assert dh.frame("tool").link == "elbow"
    assert tree.names == ("joint1", "joint2")


def test_the_documented_shapes_load():
    robot = lw.load(DOCS.parent / "examples" / "arm.urdf", side=blocks()[2].encode())
    assert [(s.link, s.kind, s.role) for s in robot.shapes[-2:]] == [
        ("forearm", "capsule", "both"),
        ("forearm", "mesh", "visual"),
    ]


def test_the_documented_side_file_loads():
    arm = DOCS.parent / "examples" / "arm.urdf"
    plain, robot = lw.load(arm), lw.load(arm, side=blocks()[3].encode())
    elbow, old = robot.joint("elbow"), plain.joint("elbow")
    assert (elbow.armature, elbow.limits.effort_rate, elbow.limits.jerk) == (0.02, 500.0, 100.0)
    assert elbow == replace(old, armature=0.02, limits=elbow.limits, friction=replace(old.friction, law="tanh"))
    assert elbow.limits == replace(old.limits, effort_rate=500.0, jerk=100.0)
    assert robot.frame("camera").link == "forearm"
    assert tuple(robot.gravity) == (0.0, 0.0, -1.62)
    assert robot.links == plain.links


ROW = {"theta": 0.1, "d": 0.2, "a": 0.3, "alpha": 0.4, "mass": 1.0, "com": (0.1, 0.2, 0.3), "name": "one"}


def row(header: str, values: dict) -> str:
    return f"[[{header}]]\n" + "\n".join(
        f"{key} = {list(v) if isinstance(v, tuple) else repr(v)}" for key, v in values.items()
    )


@pytest.mark.parametrize(("convention", "build"), [("standard", standard_dh), ("modified", modified_dh)])
def test_dh_rows(convention, build):
    second = {k: v for k, v in ROW.items() if k != "name"} | {"kind": "prismatic"}
    text = "\n".join([f'name = "x"\nconvention = "{convention}"', row("dh", ROW), row("dh", second)])
    assert load_toml(text) == build([ROW, second], name="x")


@pytest.mark.parametrize(("convention", "build"), [("standard", standard_dh), ("modified", modified_dh)])
def test_dh_rows_with_branches(convention, build, tmp_path):
    """Antecedents by number and by name; saved and loaded again the tree is the same."""
    rows = [ROW, {**ROW, "name": "two"}, {**ROW, "name": "three", "antecedent": 1}]
    rows += [{**ROW, "name": "four", "antecedent": "base"}, {**ROW, "name": "five", "antecedent": "two"}]
    robot = load_toml("\n".join([f'convention = "{convention}"', *(row("dh", r) for r in rows)]))
    assert robot == build(rows)
    assert {j.name: j.parent for j in robot.joints} == {
        "one": "base", "two": "one", "three": "one", "four": "base", "five": "two",
    }  # fmt: skip
    lw.save(robot, tmp_path / "tree.toml")
    assert lw.load(tmp_path / "tree.toml") == robot


def test_khalil_rows():
    rows = [
        {"antecedent": 0, "sigma": 0, "gamma": 0.1, "b": 0.2, "alpha": 0.3, "d": 0.4, "theta": 0.5, "r": 0.6},
        {"antecedent": "link1", "sigma": 1, "gamma": 0, "b": 0, "alpha": 1, "d": 0, "theta": 0, "r": 0},
    ]
    text = "gravity = [1, 2, 3]\n" + "\n".join(row("khalil", r) for r in rows)
    text += '\n[[loop]]\nname = "l"\na = "link1"\nb = "link2"\n'
    assert load_toml(text) == khalil(rows, gravity=(1, 2, 3)).add(lw.Loop("l", "link1", "link2"))


@pytest.mark.parametrize(
    "turn",
    [
        "origin.rpy = [0.0, 0.0, 1.5707963267948966]",
        "origin.quaternion = [0, 0, 5, 5]",
        "origin.rotation = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]",
    ],
)
def test_three_ways_to_turn(turn):
    text = f'link = [{{ name = "a" }}]\nframe = [{{ name = "f", link = "a", origin.xyz = [1, 2, 3], {turn} }}]'
    (frame,) = load_toml(text + "\n").frames
    assert tuple(frame.origin.p) == (1, 2, 3)
    assert [x for r in frame.origin.R for x in r] == pytest.approx([0, -1, 0, 1, 0, 0, 0, 0, 1], abs=1e-15)


def test_long_chains_are_quick():
    robot = lw.load("snake2000")
    assert load_toml(to_toml(robot)) == robot


def test_written_files_are_plain_toml():
    data = tomllib.loads(to_toml(everything(3)))
    assert set(data) == {"name", "gravity", "link", "joint", "frame", "loop", "note", "provenance"}
