import json

import numpy as np
import pytest

import linkwise as lw
from support.command import error, linkwise


def test_other_forms_have_the_same_torques(folder):
    assert linkwise("convert", "arm.urdf", "arm.toml").exit_code == 0
    assert lw.load("arm.toml") == lw.load("arm.urdf")
    assert linkwise("convert", "stanford", "stanford.urdf").exit_code == 0
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 10, 6))
    ours, theirs = (lw.compile(lw.load(r)).inverse_dynamics(q, qd, qdd) for r in ("stanford", "stanford.urdf"))
    np.testing.assert_allclose(theirs, ours, rtol=0, atol=1e-12 * np.abs(ours).max())


def test_dh_table(folder):
    text = linkwise("convert", "arm.urdf", "--dh").stdout
    assert "modified DH parameters" in text
    assert "elbow" in text
    facts = json.loads(linkwise("convert", "arm.urdf", "--dh", "--json").stdout)
    again = lw.modified_dh([lw.dh.DHRow(**_row(r)) for r in facts["rows"]], gravity=facts["gravity"])
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 10, 3))
    ours, theirs = (lw.compile(r).inverse_dynamics(q, qd, qdd) for r in (lw.load("arm.urdf"), again))
    np.testing.assert_allclose(theirs, ours, rtol=0, atol=1e-12 * np.abs(ours).max())


def _row(row):
    limits = {k: v for k, v in row["limits"].items() if v is not None}
    return {**row, "friction": lw.Friction(**row["friction"]), "limits": lw.Limits(**limits)}


def test_what_has_no_dh_table_is_said_plainly(folder):
    assert "floating" in error("convert", "arm.urdf", "--dh", "--base", "floating")


def test_khalil_table(folder):
    assert "antecedent" in linkwise("convert", "arm.urdf", "--khalil").stdout


def test_losses_are_said(folder):
    (folder / "side.toml").write_text('[[joint]]\nname = "elbow"\n[joint.drive]\ngear = 50.0\nstiffness = 1000.0\n')
    result = linkwise("convert", "arm.urdf", "out.urdf", "--side", "side.toml")
    assert result.exit_code == 0
    assert "What a .urdf file does not carry:" in result.stdout
    assert json.loads(linkwise("convert", "arm.urdf", "out.urdf", "--side", "side.toml", "--json").stdout)["lost"]


BAD = """<robot name="bad"><link name="a"/><link name="b"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="9"/></inertial></link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
<limit effort="1" velocity="1"/></joint></robot>"""


@pytest.fixture
def bad(folder):
    (folder / "bad.urdf").write_text(BAD)
    (folder / "broken.urdf").write_text(BAD.replace('value="1"', 'value="-1"'))
    (folder / "light.urdf").write_text(BAD.replace('<mass value="1"/>', "").replace('izz="9"', 'izz="1"'))


def test_check_is_an_exit_code(bad):
    assert linkwise("check", "arm.urdf").exit_code == 0
    result = linkwise("check", "arm.urdf", "bad.urdf", "broken.urdf")
    assert result.exit_code == 1
    assert "triangle inequality" in result.stdout
    assert "3 robots: 2 with problems" in result.stdout


def test_strict_counts_warnings(bad):
    assert linkwise("check", "light.urdf").exit_code == 0
    assert linkwise("check", "light.urdf", "--strict").exit_code == 1


def test_quiet_prints_problems_only(bad):
    assert linkwise("check", "arm.urdf", "--quiet").stdout == ""
    assert linkwise("check", "bad.urdf", "--quiet").stdout.startswith("bad.urdf: problems")


def test_check_json(bad):
    reports = json.loads(linkwise("check", "arm.urdf", "bad.urdf", "--json").stdout)
    assert [r["good"] for r in reports] == [True, False]
