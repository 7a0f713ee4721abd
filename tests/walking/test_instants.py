"""What holds at an instant of walking: laws, two routes to the same torques, and exact derivatives."""

import numpy as np
import pytest

from linkwise.robot.tree import Tree
from linkwise.spatial import Wrench
from linkwise.vector import Vec3
from linkwise.walking import Person
from linkwise.walking.ground import Support, clamp, right_share
from linkwise.walking.instant import instant
from linkwise.walking.reactions import LoadKernel
from linkwise.walking.skeleton_numbers import with_numbers
from linkwise.walking.symmetry import mirror
from support.digits import Big, big, number
from support.digits import numbers as floats
from support.standing import expected, standing

SUPPORTS = {
    "flat": Support(0.0, 1.0, 0.0, 1.0),
    "heel off": Support(0.0, 1.0, 1.0, 1.0),
    "left": Support(0.0, 0.0, 1.0, 0.0),
    "double": Support(1.0, 1.0, 0.0, 1.0, 0.27, 0.07, -0.17, -0.07),
    "double, all left": Support(1.0, 1.0, 0.0, 1.0, 1.27, 0.07, 0.9, -0.07),
    "double, corner": Support(1.0, 1.0, 0.0, 1.0, 0.6, 0.0, 0.02, 0.0),
}
PEOPLE = {
    "man": Person(),
    "woman": Person(58.0, 1.66, "female"),
    "loaded": Person(80.0, 1.8, segments={"thigh_l": {"length": 0.41}}).with_backpack(12.0).with_hand_load(4.0, "l"),
}


def motions(count, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.uniform(-1.0, 1.0, (count, 3, 38)) * np.array([0.3, 2.0, 8.0])[:, None]
    z[:, 2, :6] *= 0.2
    return z


@pytest.mark.parametrize("person", PEOPLE)
def test_ground_reactions_leave_nothing_for_the_pelvis(person):
    robot = PEOPLE[person].robot(frozen=True)
    z = motions(50)
    for support in SUPPORTS.values():
        tau = LoadKernel(robot)(z, np.array(support)).tau
        assert np.abs(tau[:, :6]).max() < 1e-9


@pytest.mark.parametrize("person", PEOPLE)
def test_both_routes_to_the_torques_agree(person):
    """Jacobians of the legs against ground reactions, or wrenches on the bodies of the feet in a second pass."""
    robot = PEOPLE[person].robot(frozen=True)
    ours, loads = standing(robot), LoadKernel(robot)
    z = motions(50, 1)
    for support in SUPPORTS.values():
        found, other = ours.by_label(ours.first(z, support)[0]), loads(z, np.array(support))
        np.testing.assert_allclose(found["torque"], other.tau[:, 6:], atol=1e-8)
        np.testing.assert_allclose(found["zmp"][:, :3], other.ground.sum(axis=1)[:, [5, 3, 1]], atol=1e-8)


def test_one_kernel_serves_all_people():
    trees = [Tree.of(p.robot(frozen=True)) for p in PEOPLE.values()]
    z = motions(1, 2)[0].tolist()
    for tree in trees:
        ours = standing(PEOPLE["man"].robot(frozen=True), tree)
        assert with_numbers(trees[0], iter(ours.own)).parameters() == pytest.approx(tree.parameters(), abs=1e-12)
        for support in SUPPORTS.values():
            values = expected(instant(tree, *z, support))
            np.testing.assert_allclose(ours.first(np.array(z), support)[0], values, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", SUPPORTS)
def test_derivatives_against_differences_of_fifty_digits(name):
    """Along a random direction of q, qd and qdd each, relative to the size of the derivatives of the row."""
    robot, support = PEOPLE["loaded"].robot(frozen=True), SUPPORTS[name]
    tree, ours = Tree.of(robot), standing(robot)
    z = motions(1, 3)[0]
    _, found = ours.first(z, support)
    entries = ours.kernel.entries
    rng, step = np.random.default_rng(4), Big("1e-17")
    for order in range(3):
        d = rng.normal(size=38)
        sides = []
        for h in (step, -step):
            moved = [big(x) for x in z]
            moved[order] = [a + h * float(b) for a, b in zip(moved[order], d, strict=True)]
            sides.append(expected(instant(tree, *moved, support)))
        exact = floats((number(a) - number(b)) / 2e-17 for a, b in zip(*sides, strict=True))
        along, size = np.zeros(ours.kernel.count), np.ones(ours.kernel.count)
        slopes = found[:, order] * d[entries[:, 1]]
        np.add.at(along, entries[:, 0], slopes)
        np.add.at(size, entries[:, 0], np.abs(slopes))
        assert (np.abs(along - exact) / size).max() < 1e-11


def test_mirrored_motion_has_mirrored_forces():
    robot = Person().robot(frozen=True)
    loads = LoadKernel(robot)
    place, sign = mirror(robot.names)
    z = motions(20, 5)
    here = loads(z, np.array(SUPPORTS["double"]))
    s = SUPPORTS["double"]
    turned = Support(1.0, 0.0, s.toe_l, s.toe_r, s.left_x, -s.left_z, s.right_x, -s.right_z)
    there = loads(z[:, :, place] * sign, np.array(turned))
    np.testing.assert_allclose(there.tau, here.tau[:, place] * sign, atol=1e-8)
    flip = [1, 1, -1, -1, -1, 1]
    np.testing.assert_allclose(there.ground, here.ground[:, ::-1] * flip, atol=1e-8)


def test_shares_add_up_and_stay_within_both_feet():
    rng = np.random.default_rng(6)
    s = SUPPORTS["double"]
    for x, z in rng.uniform(-0.5, 0.6, (200, 2)):
        F = Vec3(*rng.normal(0, 100, 3)) + Vec3(0.0, 700.0, 0.0)
        M = Vec3(-z * F.y, rng.normal(0, 20), x * F.y)
        right = right_share(Wrench(F, M), s)
        a = right.force.y / F.y
        assert -1e-12 <= a <= 1.0 + 1e-12
        np.testing.assert_allclose(list(right.force), [a * f for f in F], atol=1e-9)


def test_the_clamp_is_smooth():
    p = np.linspace(-0.2, 1.2, 2801)
    a = np.array([clamp(float(x)) for x in p])
    slope = np.diff(a) / np.diff(p)
    assert a.min() == 0.0
    assert a.max() == 1.0
    assert (slope > -1e-12).all()
    assert np.abs(np.diff(slope)).max() < 0.006
    assert clamp(0.5) == 0.5
