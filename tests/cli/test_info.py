import json

import linkwise as lw
from support.command import linkwise


def test_shows_tree_sizes_joints_and_operations(folder):
    text = linkwise("info", "arm.urdf").stdout
    assert "5 links, 4 joints; nq = 3, nv = 3; total mass 9 kg" in text
    assert "   └─ shoulder (revolute) → upper_arm, 3 kg" in text
    assert "viscous 0.3, coulomb 0.5" in text
    assert "-1.6 to 2.4" in text
    assert "inverse_dynamics" in text


def test_json_has_the_counts_of_the_kernels(folder):
    facts = json.loads(linkwise("info", "arm.urdf", "--json").stdout)
    robot = lw.load("arm.urdf")
    assert facts["names"] == list(robot.names)
    assert facts["operations"]["inverse_dynamics"] == lw.compile(robot).inverse_dynamics.count()
    assert facts["joint_table"][1]["limits"] == {"lower": -1.6, "upper": 2.4, "velocity": 3.0, "effort": 120.0}


def test_nothing_is_compiled(folder, monkeypatch):
    def compiled(*_):
        raise AssertionError

    monkeypatch.setattr("linkwise.backend.native.function", compiled)
    assert linkwise("info", "puma560").exit_code == 0


def test_options_edit_the_robot(folder):
    facts = json.loads(linkwise("info", "arm.urdf", "--json", "--lock", "elbow=0.5", "--no-friction").stdout)
    assert facts["names"] == ["turn", "shoulder"]
    assert not any("friction" in j for j in facts["joint_table"])
    facts = json.loads(linkwise("info", "arm.urdf", "--json", "--base", "floating").stdout)
    assert facts["nv"] == 9


def test_elastic_drives_are_taken_as_rigid_on_request(folder):
    (folder / "side.toml").write_text('[[joint]]\nname = "elbow"\ndrive = { stiffness = 1000.0, gear = 50.0 }\n')
    text = linkwise("info", "arm.urdf", "--side", "side.toml").stdout
    assert "gear 50; stiffness 1000" in text
    assert "none for inverse_dynamics" in text
    text = linkwise("info", "arm.urdf", "--side", "side.toml", "--rigid").stdout
    assert "none for" not in text


def test_names_are_not_markup(folder):
    robot = lw.Robot([lw.Link("[red]a[/red]"), lw.Link("b", mass=1.0)], [lw.Joint("[x]", "[red]a[/red]", "b")])
    lw.save(robot, "odd.toml")
    text = linkwise("info", "odd.toml").stdout
    assert "[red]a[/red] → b" in text


def test_deep_chains_are_not_indented(folder):
    lines = linkwise("info", "snake40").stdout.splitlines()
    assert max(len(line) for line in lines if "(revolute)" in line) < 60


def test_large_robots_count_what_is_linear(folder):
    few = json.loads(linkwise("info", "snake70", "--json").stdout)["operations"]
    assert "inverse_dynamics" in few
    assert "mass_matrix" not in few
