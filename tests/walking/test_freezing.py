"""Freezing any joint: it is the joint held at zero, or it is refused by name."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import InputError
from linkwise.robot.tree import Tree
from linkwise.walking import Person
from linkwise.walking.ground import Support
from linkwise.walking.instant import instant
from linkwise.walking.joints import FROZEN, GLOBAL, LEG, spoken
from linkwise.walking.problem import Problem
from linkwise.walking.reactions import LoadKernel, loads, tree_of
from linkwise.walking.skeleton_numbers import FIGURE
from support.standing import standing

ROBOT = Person().robot(frozen=True)
NAMES = [n for n in Person().robot().names if n not in GLOBAL]
STEMS = {n[:-2] for n in NAMES if n.endswith(("_r", "_l"))}
SUPPORTS = [Support(0.0, 1.0, 0.0, 1.0), Support(1.0, 1.0, 0.3, 0.6, 0.27, 0.07, -0.17, -0.07)]
LEGS = tuple(f"{n}_{s}" for n in LEG for s in "rl")


def held_at_zero(person, seed=0):
    """A motion of the person's free joints, and the same one of all joints that move by default."""
    rng = np.random.default_rng(seed)
    free = person.robot(frozen=True).names
    z = rng.uniform(-1.0, 1.0, (3, len(free))) * np.array([0.3, 2.0, 8.0])[:, None]
    whole = np.zeros((3, ROBOT.nv))
    whole[:, [ROBOT.names.index(n) for n in free]] = z
    return z.tolist(), whole.tolist()


@pytest.mark.parametrize("frozen", [*sorted({*NAMES, *STEMS, *spoken()}), ("toe", "ank_inv"), LEGS], ids=str)
def test_a_frozen_joint_is_a_joint_held_at_zero(frozen):
    """Torques by both routes, ground reactions, forces through joints and points of the figure."""
    person = Person(frozen=(*FROZEN, *((frozen,) if isinstance(frozen, str) else frozen)))
    problem = Problem(person, steps=1 if person.is_symmetric else 2)
    torque = next(r for r in problem.own_rows if r.label == "torque")
    assert set(torque.names) == set(problem.robot.names) - set(GLOBAL)
    assert problem.linear
    kept = [ROBOT.names.index(n) for n in problem.robot.names]
    z, whole = held_at_zero(person)
    for support in SUPPORTS:
        ours, theirs = loads(tree_of(problem.robot), *z, support), loads(tree_of(ROBOT), *whole, support)
        np.testing.assert_allclose(ours[0], np.array(theirs[0])[kept], atol=1e-8)
        np.testing.assert_allclose(instant(Tree.of(problem.robot), *z, support).tau, ours[0], atol=1e-8)
        for here, there in zip(ours[1:3], theirs[1:3], strict=True):
            np.testing.assert_allclose(here, there, atol=1e-8)
        points = 3 * len(FIGURE)
        np.testing.assert_allclose(ours[3][:points], theirs[3][:points], atol=1e-12)


@pytest.mark.parametrize("name", GLOBAL)
def test_the_pelvis_in_the_world_is_not_frozen(name):
    with pytest.raises(InputError, match=f"{name!r}: expected a joint of the body"):
        Person(frozen=(*FROZEN, name))


def test_kernels_of_a_person_with_frozen_joints():
    """Stiff toes, ankle and knee: compiled values are the plain ones, and derivatives are those of differences."""
    person = Person(frozen=(*FROZEN, "toe", "ank_inv_r", "knee_l"))
    robot = person.robot(frozen=True)
    ours, support = standing(robot), SUPPORTS[1]
    z = np.array(held_at_zero(person)[0])
    plain = loads(tree_of(robot), *z.tolist(), support)
    for found, theirs in zip(LoadKernel(robot)(z, np.array(support)), plain, strict=True):
        np.testing.assert_allclose(found.ravel(), theirs, atol=1e-8)
    (_, slopes), h = ours.first(z, support), 1e-5
    entries = ours.kernel.entries
    for order in range(3):
        d = np.zeros_like(z)
        d[order] = np.random.default_rng(1).normal(size=robot.nv)
        ends = [ours.first(z + k * h * d, support)[0] for k in (-2, -1, 1, 2)]
        exact, found = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * h), np.zeros_like(ends[0])
        np.add.at(found, entries[:, 0], slopes[:, order] * d[order, entries[:, 1]])
        assert (np.abs(found - exact) / (1.0 + np.abs(exact))).max() < 1e-6


def test_published_curves_of_frozen_joints_do_not_count():
    robot = Person(frozen=(*FROZEN, "knee_l")).robot(frozen=True)
    rows, weights, _ = lw.walking.tracking().integrand(robot)
    assert rows.names == ("hip_flex_r", "knee_r", "ank_flex_r", "hip_flex_l", "ank_flex_l")
    assert weights.sum() == pytest.approx(1.0)
    with pytest.raises(InputError, match="frozen ones, 'knee_l'"):
        lw.walking.tracking({"knee_l": [0.1, 0.2, 0.3]}).integrand(robot)


@pytest.mark.slow
def test_a_walk_with_stiff_toes():
    found = lw.walking.walk(Person(frozen=(*FROZEN, "toe")), solver="ipopt", progress=False)
    assert found.converged
    assert found.audit().residual < 1e-9
    assert 0.8 < found.features()["hip_force"] < found.features()["ankle_force"] < 1.6
