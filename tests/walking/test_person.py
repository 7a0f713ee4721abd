"""Persons: their masses, lengths, loads, strengths, and the answers to wrong ones."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.algorithms.kinematics import world_poses
from linkwise.errors import InputError, LinkwiseError, UnknownNameError
from linkwise.robot.tree import Tree
from linkwise.walking import Load, Person
from linkwise.walking.anthropometry import MEN, PAIRED, TABLES
from linkwise.walking.joints import FROZEN, mirrored_name
from linkwise.walking.skeleton_numbers import FIGURE
from linkwise.walking.symmetry import mirror


def test_the_bundled_walker_is_the_average_man():
    assert lw.load("walker") == Person().robot()


def test_the_skeleton_has_the_joints_of_the_source():
    robot = Person().robot()
    assert robot.nv == 55
    assert Person().robot(frozen=True).nv == 38
    assert len(FROZEN) == 17


@pytest.mark.parametrize("sex", TABLES)
def test_fractions_of_mass_add_up(sex):
    total = sum(s.mass * (2 if n in PAIRED else 1) for n, s in TABLES[sex].segments.items())
    assert total == pytest.approx(1.0, abs=1.01e-4)  # of women 0.9999 as printed


@pytest.mark.parametrize("sex", TABLES)
@pytest.mark.parametrize(("mass", "height"), [(50.0, 1.55), (73.0, 1.741), (100.0, 1.95)])
def test_people_weigh_what_they_weigh_and_stand_on_the_ground(sex, mass, height):
    person = Person(mass, height, sex)
    assert person.total_mass == pytest.approx(mass, rel=1e-12)
    robot = person.robot()
    zero = [0.0] * robot.nv
    tau = lw.inverse_dynamics.plain(robot, zero, zero, zero)
    assert tau[robot.names.index("gy")] == pytest.approx(mass * 9.81, rel=1e-12)
    tree = Tree.of(robot)
    poses = world_poses(tree, zero)

    def up(name):
        i, X = tree.place(name)
        return poses[i].point(X.p).y

    for point in ("heel_r", "ball_l", "tip_r"):
        assert up(point) == pytest.approx(0.0, abs=1e-12)
    assert 0.9 * height < up("vertex") < 1.06 * height


def test_mass_centre_of_the_average_man_is_where_it_is_known_to_be():
    """About 0.56 to 0.58 of the height above the ground in men."""
    robot = Person().robot()
    centre = lw.algorithms.centre_of_mass.plain(robot, robot.q())
    assert 0.55 < centre[1] / MEN.height < 0.59


def test_the_mirrored_posture_is_mirrored():
    tree = Tree.of(Person().robot())
    names = Person().robot().names
    place, sign = mirror(names)
    q = np.random.default_rng(0).uniform(-0.4, 0.4, len(names))
    here, there = (world_poses(tree, list(x)) for x in (q, sign * q[place]))
    for name in FIGURE:
        i, X = tree.place(name)
        k, Y = tree.place(mirrored_name(name))
        np.testing.assert_allclose(there[k].point(Y.p), np.array(here[i].point(X.p)) * [1, 1, -1], atol=1e-12)


def test_sides_that_differ_are_seen():
    assert Person().is_symmetric
    assert Person(60.0, 1.65, "female").is_symmetric
    assert Person().with_backpack(15.0).is_symmetric
    assert Person(limits={"ankle": 60.0}).is_symmetric
    assert not Person(limits={"ankle_l": 60.0}).is_symmetric
    assert not Person(ranges={"knee_r": (0.0, 1.0)}).is_symmetric
    assert not Person(segments={"thigh_l": {"length": 0.4}}).is_symmetric
    assert not Person(segments={"foot_r": {"mass": 1.5}}).is_symmetric
    assert not Person().with_hand_load(5.0, "r").is_symmetric
    assert Person().with_hand_load(5.0, "r").with_hand_load(5.0, "l").is_symmetric
    assert not Person(frozen=(*FROZEN, "knee_l")).is_symmetric


def test_loads_limits_and_frozen_joints_arrive():
    person = Person(limits={"ankle_l": 60.0}, frozen=("hip_rot", "sp4_ax")).with_backpack(15.0)
    robot = person.robot()
    assert person.total_mass == pytest.approx(88.0)
    joints = {j.name: j for j in robot.joints}
    assert joints["ank_flex_l"].limits.effort == 60.0
    assert joints["ank_flex_r"].limits.effort == pytest.approx(150.0)
    assert set(robot.names) - set(person.robot(frozen=True).names) == {"hip_rot_r", "hip_rot_l", "sp4_ax"}
    behind = next(k for k in robot.links if k.name == "load1").com
    assert behind.x < -0.15


def test_overridden_segments():
    person = Person(segments={"shank_l": {"length": 0.40, "mass": 4.0}, "foot": {"length": 0.24}})
    assert person.body["shank_l"].length == 0.40
    assert person.body["shank_r"].length == pytest.approx(0.434)
    assert person.body["foot_r"].length == person.body["foot_l"].length == 0.24
    assert person.total_mass == pytest.approx(73.0 + 4.0 - 0.0433 * 73.0)


@pytest.mark.parametrize(
    ("wrong", "kind", "words"),
    [
        ({"height": 174.1}, InputError, "metres"),
        ({"height": -1}, InputError, "above 0"),
        ({"mass": float("nan")}, InputError, "mass of a person"),
        ({"mass": "73"}, InputError, "mass of a person"),
        ({"sex": "men"}, UnknownNameError, "'female'"),
        ({"limits": {"ankel_l": 60}}, UnknownNameError, "ank_flex"),
        ({"limits": {"ankel_l": 60}}, UnknownNameError, "Did you mean 'ankle_l'"),
        ({"limits": {3: 60}}, UnknownNameError, "unknown joint 3"),
        ({"ranges": {"knee_l": (0, 60)}}, InputError, "radians"),
        ({"limits": {"ankle_l": -60}}, InputError, "above 0"),
        ({"limits": [60]}, InputError, "by joint"),
        ({"limits": {"gx": 60}}, UnknownNameError, "gx"),
        ({"ranges": {"knee": (1.0, 0.5)}}, InputError, "below"),
        ({"segments": {"leg": {"mass": 3}}}, UnknownNameError, "thigh_r"),
        ({"segments": {"thigh": 3}}, InputError, "by name"),
        ({"segments": {"thigh": {"radii": 3}}}, InputError, "three"),
        ({"frozen": "tail"}, UnknownNameError, "freeze 'tail'"),
        ({"loads": [15.0]}, InputError, "Load"),
        ({"loads": [Load(15.0, "back")]}, LinkwiseError, "back"),
    ],
)
def test_wrong_persons_are_refused(wrong, kind, words):
    with pytest.raises(kind, match=words):
        Person(**wrong)
