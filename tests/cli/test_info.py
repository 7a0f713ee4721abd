import json

import pytest

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


def test_elastic_drives_have_coordinates_or_are_rigid_on_request(folder):
    side = '[[joint]]\nname = "elbow"\narmature = 0.2\ndrive = { stiffness = 1000.0, gear = 50.0 }\n'
    (folder / "side.toml").write_text(side)
    text = linkwise("info", "arm.urdf", "--side", "side.toml").stdout
    assert "gear 50; stiffness 1000" in text
    assert "order of q: turn, shoulder, elbow, elbow.motor" in text
    facts = json.loads(linkwise("info", "arm.urdf", "--side", "side.toml", "--json").stdout)
    assert (facts["nq"], facts["coordinates"]) == (4, ["turn", "shoulder", "elbow", "elbow.motor"])
    facts = json.loads(linkwise("info", "arm.urdf", "--side", "side.toml", "--rigid", "--json").stdout)
    assert (facts["nq"], facts["coordinates"]) == (3, facts["names"])


def test_a_motor_without_inertia_is_named(folder):
    (folder / "side.toml").write_text('[[joint]]\nname = "elbow"\ndrive = { stiffness = 1000.0 }\n')
    text = linkwise("info", "arm.urdf", "--side", "side.toml").stdout
    assert "joint 'elbow': the motor of its elastic drive has no inertia" in " ".join(text.split())


def test_names_are_not_markup(folder):
    robot = lw.Robot([lw.Link("[red]a[/red]"), lw.Link("b", mass=1.0)], [lw.Joint("[x]", "[red]a[/red]", "b")])
    lw.save(robot, "odd.toml")
    text = linkwise("info", "odd.toml").stdout
    assert "[red]a[/red] → b" in text


def test_a_platform_on_legs(folder):
    """Its tree, what leads and loops; `check` knows it too."""
    robot = lw.delta(arm=0.25, forearm=0.6)
    lw.save(robot, "delta.toml")
    text = linkwise("info", "delta.toml").stdout
    assert "order of q: platform" in text
    assert "leg1.motor (revolute)" in text
    assert "Loops" in text
    facts = json.loads(linkwise("info", "delta.toml", "--json").stdout)
    assert facts["operations"]["inverse_dynamics"] == lw.compile(robot).inverse_dynamics.count()
    assert facts["mass"] == pytest.approx(sum(k.mass for k in robot.links))
    assert [loop["name"] for loop in facts["loops"]] == ["leg1", "leg2", "leg3"]
    assert facts["drives"] == list(robot.drives)
    assert f"order of tau: {', '.join(robot.drives)}" in text
    assert linkwise("check", "delta.toml").exit_code == 0


def test_deep_chains_are_not_indented(folder):
    lines = linkwise("info", "snake40").stdout.splitlines()
    assert max(len(line) for line in lines if "(revolute)" in line) < 60


def test_large_robots_count_what_is_linear(folder):
    few = json.loads(linkwise("info", "snake70", "--json").stdout)["operations"]
    assert isinstance(few["inverse_dynamics"], dict)
    assert "--all counts every kernel" in few["mass_matrix"]
    many = json.loads(linkwise("info", "snake40", "--json").stdout)["operations"]
    assert isinstance(many["mass_matrix"], dict)
    assert "--all counts every kernel" in many["inverse_dynamics_hessian"]


def test_both_routes_of_forward_dynamics_are_counted_and_the_one_taken_is_marked(folder):
    facts = json.loads(linkwise("info", "puma560", "--json").stdout)
    forward, robot = facts["forward_dynamics"], lw.load("puma560")
    assert list(forward["routes"]) == ["inertia", "articulated"]
    for route, count in forward["routes"].items():
        assert count == lw.compile(robot, lw.forward_dynamics, route=route).count()
    assert forward["routes"][forward["taken"]] == facts["operations"]["forward_dynamics"]
    lines = linkwise("info", "puma560").stdout.splitlines()
    (taken,) = [line for line in lines if "taken by compile" in line]
    assert taken.split()[:2] == [forward["taken"], str(forward["routes"][forward["taken"]]["mul"])]


def test_a_route_that_cannot_be_taken_says_why(folder):
    links = [lw.Link(n, 1.0, (0.1, 0, 0), (1, 1, 1)) for n in "abc"]
    joints = [lw.Joint("x", "a", "b"), lw.Joint("y", "b", "c", mimic=lw.Mimic("x", 2.0))]
    lw.save(lw.Robot(links, joints), "pair.toml")
    text = linkwise("info", "pair.toml").stdout
    assert "not by articulated: joints that mimic couple bodies" in text
    lw.save(lw.Robot([lw.Link("a"), lw.Link("b")], [lw.Joint("x", "a", "b")]), "empty.toml")
    text = linkwise("info", "empty.toml").stdout
    assert "Forward dynamics by route" not in text
    assert "have no inertia along the joint" in text
