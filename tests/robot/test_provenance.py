"""Where numbers come from: kept by edits, in files, shown, and no obstacle to other readers."""

import json
from dataclasses import replace

import pytest

import linkwise as lw
from linkwise.formats.toml import with_side
from support.command import linkwise

GIVEN = {"log": 'run <3> & "4".csv', "date": "2026-02-03", "method": "least squares", "error": 0.071}
KEPT = tuple((k, str(x)) for k, x in GIVEN.items())


def arm():
    return lw.load("puma560").replace(provenance=GIVEN)


def test_a_text_alone_is_a_source():
    assert lw.load("puma560").replace(provenance="CAD of March").provenance == (("source", "CAD of March"),)
    assert lw.load("puma560").provenance == ()


@pytest.mark.parametrize("wrong", [3, {"a": None}, {1: "a"}, [("a",)], {"": "a"}, [("a", "b"), ("a", "c")]])
def test_other_things_are_refused(wrong):
    with pytest.raises(lw.ModelError, match="provenance"):
        lw.load("puma560").replace(provenance=wrong)


def test_edits_keep_it():
    robot = arm()
    tip = robot.moving_links[-1]
    edited = [
        robot.with_payload(1.0, at=tip), robot.lock(robot.names[0]), robot.rigid(), robot.without_friction(),
        robot.with_parameters(1.1 * robot.parameters()), robot.replace(gravity=(0, 0, 0)), robot.opened(),
    ]  # fmt: skip
    assert all(r.provenance == KEPT for r in edited)
    hand = lw.Robot([lw.Link("palm", 1.0)], name="hand", provenance="weighed")
    both = robot.attach(hand, at=tip, prefix="hand_")
    assert dict(both.provenance) == {**dict(KEPT), "hand_source": "weighed"}


@pytest.mark.parametrize("suffix", ["toml", "urdf"])
def test_files_keep_it(tmp_path, suffix):
    robot = arm()
    path = tmp_path / f"arm.{suffix}"
    lw.save(robot, path)
    assert lw.load(path).provenance == KEPT


def test_side_files_may_say_it():
    robot = with_side(lw.load("puma560"), '[provenance]\nlog = "a.csv"\nerror = 0.07\n')
    assert dict(robot.provenance) == {"log": "a.csv", "error": "0.07"}
    with pytest.raises(lw.ModelError, match="provenance"):
        with_side(robot, "[provenance]\nlog = [1]\n")


def test_other_readers_pass_over_it(tmp_path):
    pinocchio = pytest.importorskip("pinocchio")
    mujoco = pytest.importorskip("mujoco")
    robot = lw.random_tree(1, 5, fixed=0.0).replace(provenance=GIVEN)
    path = tmp_path / "arm.urdf"
    lw.save(robot, path)
    assert pinocchio.buildModelFromUrdf(str(path)).nv == robot.nv
    assert mujoco.MjModel.from_xml_path(str(path)).nv == robot.nv


def test_info_shows_it(tmp_path):
    path = tmp_path / "arm.toml"
    lw.save(arm(), path)
    shown = linkwise("info", str(path)).output
    assert "Provenance" in shown
    assert "least squares" in shown
    assert json.loads(linkwise("info", str(path), "--json").output)["provenance"] == dict(KEPT)


def test_notebooks_show_it():
    assert "least squares" in arm()._repr_html_()
    assert "run &lt;3&gt;" in arm()._repr_html_()


def test_kernels_do_not_depend_on_it():
    from linkwise.kernel.fingerprint import facts_of
    from linkwise.kernel.options import Options

    plain, known = lw.load("puma560"), arm()
    facts = [facts_of(r, lw.inverse_dynamics, Options(), {}) for r in (plain, known)]
    assert facts[0] == facts[1]
    moved = replace(plain.joints[1], armature=9.0)
    assert facts_of(plain.replace(moved), lw.inverse_dynamics, Options(), {}) != facts[0]
