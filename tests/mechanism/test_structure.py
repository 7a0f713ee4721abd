"""Mobility: counted and measured, and named where it does not fit."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import linkwise as lw
from linkwise.mechanism.structure import structure_of
from linkwise.robot import Joint, Link, Loop, Mimic
from linkwise.spatial import Pose


def test_planar_loops_have_equations_that_repeat():
    found = structure_of(lw.load("palletiser"))
    assert found.mobility == 4
    assert len(found.equations) == 15
    assert len(found.dependent) == 9
    assert found.dependent[:3] == (
        "forearm_drive: z",
        "forearm_drive: tilt of z along x",
        "forearm_drive: tilt of z along y",
    )
    assert found.independent == ("waist", "shoulder", "flange", "crank")
    text = str(found)
    assert "mobility 4 = 10 coordinates - rank 6 of 15 equations" in text
    assert "equations that follow from others: forearm_drive: z" in text


def test_spatial_loops_need_all_equations():
    found = structure_of(lw.load("ankle"))
    assert (found.mobility, len(found.equations), found.dependent) == (2, 6, ())


@pytest.mark.parametrize(("kind", "count", "mobility"), [("spherical", 3, 1), ("universal", 4, 1), ("fixed", 6, 0)])
def test_kinds_of_cuts_in_a_plane(kind, count, mobility):
    """A four-bar linkage whose last pin passes more or less; a weld leaves nothing to move."""
    robot = lw.load("fourbar")
    (loop,) = robot.loops
    # a universal joint with its cross's axes along the pin and across
    robot = robot.replace(replace(loop, kind=kind))
    if not mobility:
        with pytest.raises(lw.ModelError, match=r"'fourbar': (expected loops that leave some motion|no configuration)"):
            structure_of(robot)
        return
    found = structure_of(robot)
    assert len(found.equations) == count
    assert found.mobility == mobility


def slider_crank():
    """A crank, a rod, and a cut slide along x of the ground."""
    moving = [Link(name, 1.0, (0.1, 0.0, 0.0), (0.01, 0.01, 0.01)) for name in ("crank", "rod", "block")]
    links = [Link("ground"), *moving]
    joints = [
        Joint("crank", "ground", "crank", "continuous", axis=(0, 1, 0)),
        Joint("rod", "crank", "rod", "continuous", Pose.of((0.2, 0, 0)), axis=(0, 1, 0)),
        Joint("pin", "rod", "block", "continuous", Pose.of((0.5, 0, 0)), axis=(0, 1, 0)),
    ]
    along = Pose.of(rpy=(0.0, np.pi / 2, 0.0))
    return lw.Robot(links, joints, loops=[Loop("slide", "ground", "block", "prismatic", along, along, ("crank",))])


def test_a_slider_crank():
    """By trigonometry: x = r cos + sqrt(l^2 - r^2 sin^2), the block without turning."""
    robot = slider_crank()
    dyn = lw.compile(robot)
    assert structure_of(robot).mobility == robot.nv == 1
    turns = np.linspace(0.0, 4.0 * np.pi, 200)[:, None]
    found = dyn.positions(turns, along=True)
    assert found.converged.all()
    T = dyn.pose(turns, "block")
    assert np.abs(T - lw.compile(robot.opened()).pose(found.q, "block")).max() < 1e-12
    x = 0.2 * np.cos(turns[:, 0]) + np.sqrt(0.25 - (0.2 * np.sin(turns[:, 0])) ** 2)
    assert np.abs(T[:, 0, 3] - x).max() < 1e-11
    assert np.abs(T[:, :3, :3] - np.eye(3)).max() < 1e-11


def test_too_few_active_joints_are_named():
    robot = lw.load("fivebar")
    (loop,) = robot.loops
    with pytest.raises(lw.ModelError) as error:
        structure_of(robot.replace(replace(loop, active=("left_motor",))))
    for part in (
        "'fivebar': expected active joints that determine the 2 degree(s) of freedom",
        "4 coordinates less the rank 2 of 5 equations",
        "got 1 ('left_motor')",
        "'left_elbow', 'right_motor', 'right_elbow' would not be determined",
        "Name further joints",
    ):
        assert part in str(error.value), str(error.value)
    with pytest.raises(lw.ModelError, match="got none"):
        structure_of(robot.replace(replace(loop, active=())))
    with pytest.raises(lw.ModelError, match=r"expected active joints that determine"):
        lw.compile(robot.replace(replace(loop, active=("left_motor",)))).inverse_dynamics([0.0], [0.0], [0.0])


def test_leads_that_do_not_fit_are_named():
    robot = lw.load("fivebar")
    for leads, message in (
        (("left_motor",), r"expected leads that determine the 2 degree\(s\) of freedom .* got 1 \('left_motor'\)"),
        (
            ("left_motor", "left_elbow", "right_motor"),
            r"got 3 \(.*\), more than can be chosen. Name 2 of them in leads",
        ),
        (("left_motr",), "leads: unknown joint 'left_motr'. Did you mean 'left_motor'"),
        ((3,), "leads: expected names of joints, got 3"),
        (("left_motor", "left_motor"), "leads: expected each joint once"),
    ):
        with pytest.raises(lw.ModelError, match=message):
            structure_of(robot.replace(leads=leads))


def test_redundant_drives_need_leads():
    """Which of them are the coordinates is the model's to say."""
    robot = lw.load("fourbar")
    (loop,) = robot.loops
    both = robot.replace(replace(loop, active=("crank", "rocker")))
    with pytest.raises(lw.ModelError, match=r"got 2 \('crank', 'rocker'\), more than can be chosen.*leads=\(...\)"):
        structure_of(both)
    found = structure_of(both.replace(leads=("rocker",)))
    assert (found.independent, found.redundant) == (("rocker",), ("crank",))
    assert "redundantly driven: crank" in str(found)


def test_active_joints_that_depend_on_each_other():
    """As many as the mobility, but a parallelogram ties the second to the first."""
    robot = lw.load("palletiser")
    wrong = robot.replace(replace(robot.loops[0], active=("shoulder", "triangle")))
    with pytest.raises(lw.ModelError, match=r"got 2 \('shoulder', 'triangle'\): '.*' would not be determined"):
        structure_of(wrong)


def test_any_joints_that_determine_the_others_may_be_active():
    """A foot moved by one leg's two joints drags the other leg along."""
    robot = lw.load("ankle")
    left, right = robot.loops
    odd = robot.replace(replace(left, active=("left_motor", "left_swing")), replace(right, active=()))
    assert structure_of(odd).independent == ("left_motor", "left_swing")


def test_active_joints_must_have_coordinates():
    robot = lw.load("fourbar")
    (loop,) = robot.loops
    follows = robot.add(Link("wheel", 1.0), Joint("wheel", "base", "wheel", mimic=Mimic("crank", 2.0)))
    with pytest.raises(
        lw.ModelError, match="active 'wheel': expected a joint with a coordinate, got one that mimics 'crank'"
    ):
        structure_of(follows.replace(replace(loop, active=("wheel",))))
    with pytest.raises(lw.ModelError, match="unknown joint 'crnk'"):
        robot.replace(replace(loop, active=("crnk",)))


def test_a_tree_is_a_machine_in_which_nothing_follows():
    robot = lw.load("stanford")
    found = structure_of(robot)
    assert (found.mobility, found.lead_q, found.independent) == (robot.nv, tuple(range(robot.nq)), robot.names)
    assert found.passive == found.free == found.redundant == found.equations == found.sought == ()
    assert found.active == robot.names
    np.testing.assert_array_equal(found.reference, robot.q())
    assert str(found).startswith("mobility 6 = 6 coordinates - rank 0 of 0 equations")


def test_nothing_moves_without_joints():
    assert structure_of(lw.Robot([lw.Link("stone", 1.0)])).mobility == 0


def test_loops_that_cannot_close():
    robot = lw.load("fourbar")
    (loop,) = robot.loops
    with pytest.raises(lw.ModelError, match=r"no configuration was found in which its loops \('four_bar'\) close"):
        structure_of(robot.replace(replace(loop, origin_b=Pose.of((9.0, 0.0, 0.0)))))
    with pytest.raises(lw.ModelError, match="no configuration was found"):
        robot.replace(replace(loop, origin_b=Pose.of((9.0, 0.0, 0.0)))).q()


def test_a_reference_that_does_not_close_says_how_far():
    robot = lw.load("fourbar")
    (loop,) = robot.loops
    far = robot.replace(replace(loop, origin_b=Pose.of((9.0, 0.0, 0.0))), reference={"crank": 0.3, "coupler": 0.1})
    with pytest.raises(
        lw.ModelError, match=r"reference: expected positions near .* four_bar: [xyz] by 8\.\d+ m, and no"
    ):
        structure_of(far)
    flipped = robot.replace(replace(loop, origin_b=loop.origin_b @ Pose.of(rpy=(np.pi, 0.0, 0.0))))
    closed = lw.compile(robot).positions([0.3]).q.tolist()
    flipped = flipped.replace(reference=dict(zip(robot.opened().names, closed, strict=True)))
    with pytest.raises(lw.ModelError, match="four_bar: its axes point opposite ways, and no closed ones near"):
        structure_of(flipped)
    with pytest.raises(lw.ModelError, match="reference: unknown joint 'crnk'"):
        robot.replace(reference={"crnk": 0.3})


def test_positions_of_what_follows_are_not_given():
    robot = lw.load("fourbar")
    with pytest.raises(lw.InputError, match=r"'rocker' follows other joints of robot 'fourbar': expected what leads"):
        robot.q({"rocker": 0.3})
    with pytest.raises(lw.InputError, match=r"'rocker' follows"):
        robot.v({"rocker": 0.3})
    assert robot.opened().q({"rocker": 0.3})[robot.opened().slots["rocker"].q] == 0.3


def test_a_loop_joins_two_links():
    with pytest.raises(lw.ModelError, match="loop 'self': expected two links that it joins, got 'bar' for both"):
        Loop("self", "bar", "bar")


def test_a_single_active_joint_may_stand_alone():
    assert Loop("pin", "coupler", "rocker", active="crank").active == ("crank",)


def test_a_locked_joint_is_active_no_longer():
    robot = lw.load("fivebar")
    found = structure_of(robot.lock("left_motor", at=robot.q()))
    assert (found.mobility, found.independent) == (1, ("right_motor",))
    # what follows may be held too, where positions of all joints are given
    everything = lw.compile(robot).positions(robot.q()).q
    assert structure_of(robot.lock("left_elbow", at=everything).replace(leads=("left_motor",))).mobility == 1
    with pytest.raises(lw.InputError, match=r"positions of all joints \(4\) to hold 'left_elbow', which follows"):
        robot.lock("left_elbow", at=robot.q())


def test_flipped_axes_are_not_closed():
    """Pins that point opposite ways satisfy the equations of a revolute cut, and are not what was asked for."""
    robot = lw.load("fourbar")
    (loop,) = robot.loops
    with pytest.raises(lw.ModelError, match="no configuration"):
        structure_of(robot.replace(replace(loop, origin_b=loop.origin_b @ Pose.of(rpy=(np.pi, 0.0, 0.0)))))


def test_mimic_joints_in_a_loop():
    """Two cranks geared together leave a five-bar linkage one degree of freedom."""
    robot = lw.load("fivebar")
    geared = robot.replace(replace(robot.joint("right_motor"), mimic=Mimic("left_motor", -1.0), armature=0.0))
    (loop,) = robot.loops
    geared = geared.replace(replace(loop, active=("left_motor",)))
    dyn = lw.compile(geared)
    assert structure_of(geared).mobility == 1
    x = np.linspace(-0.4, 0.4, 9)[:, None]
    found = dyn.positions(x)
    assert found.converged.all()
    whole = lw.compile(robot).positions(np.hstack([x, -x]))
    assert np.abs(found.q[:, 1:] - whole.q[:, [1, 3]]).max() < 1e-10
    # the tip goes straight up and down
    assert np.abs(dyn.pose(x, "tool")[:, 0, 3]).max() < 1e-10


def test_a_file_beside_a_urdf_closes_it(tmp_path):
    robot = lw.load("fivebar")
    path, side = tmp_path / "arm.urdf", tmp_path / "loops.toml"
    lw.save(robot.replace(loops=()), path)
    half = np.pi / 2
    side.write_text(
        "[[loop]]\nname = 'tip'\na = 'left_bar'\nb = 'right_bar'\nactive = ['left_motor', 'right_motor']\n"
        f"origin_a = {{ xyz = [0, 0, 0.25], rpy = [{-half}, 0, 0] }}\n"
        f"origin_b = {{ xyz = [0, 0, 0.25], rpy = [{-half}, 0, 0] }}\n"
    )
    beside = lw.compile(lw.load(path, side=side))
    expected = lw.compile(robot).positions([0.2, -0.1])
    assert np.abs(beside.positions([0.2, -0.1]).q - expected.q).max() < 1e-9


def test_the_documented_file_closes():
    """Its elbow has an elastic drive, whose motor stands beside the loop."""
    file = Path(__file__).parents[2] / "docs" / "robot_file.toml"
    found = structure_of(lw.load(file))
    assert found.independent == ("shoulder", "elbow.motor")
    assert found.passive == ("elbow", "rock")


@pytest.mark.parametrize("name", ["fourbar", "fivebar", "palletiser", "ankle"])
def test_bundled_linkages_survive_a_file(name, tmp_path):
    robot = lw.load(name)
    lw.save(robot, tmp_path / "again.toml")
    assert lw.load(tmp_path / "again.toml") == robot


def test_a_floating_base_beside_a_loop():
    """Loops leave it alone, and it leads: derivatives go along its own velocities."""
    robot = lw.load("fivebar", base="floating")
    dyn = lw.compile(robot)
    assert robot.coordinates == ("root_joint", "left_motor", "right_motor")
    rng = np.random.default_rng(0)
    q = rng.uniform(-0.3, 0.3, (5, 9))
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    v, a = rng.normal(size=(2, 5, 8))
    tau = dyn.inverse_dynamics(q, v, a)
    assert np.abs(dyn.forward_dynamics(q, v, tau) - a).max() < 1e-10
    slopes, h = dyn.inverse_dynamics_derivatives(q, v, a), 1e-5
    for k, step in enumerate(np.eye(robot.nv)):
        ahead, back = (dyn.inverse_dynamics(dyn.integrate(q, step, s), v, a) for s in (h, -h))
        assert np.abs((ahead - back) / (2.0 * h) - slopes.dtau_dq[..., k]).max() < 1e-7
