"""Loop closure: which configurations are found, in which assembly mode, and what is said of the others."""

from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.mechanism.structure import structure_of
from linkwise.spatial import Pose
from linkwise.vector import Vec3
from support.linkages import EXAMPLES, compiled, example, leading, openness
from support.trees import error

BASE, ARM, BAR = 0.2, 0.2, 0.25  # of the five-bar linkage, m


def elbows_apart(q):
    """How far the elbows of the five-bar linkage are from each other, by trigonometry."""
    left, right = (
        np.stack([x + ARM * np.sin(q), ARM * np.cos(q)], axis=-1)
        for x, q in ((-BASE / 2, q[..., 0]), (BASE / 2, q[..., 1]))
    )
    return left, right, np.linalg.norm(right - left, axis=-1)


def tip(q):
    """The upper meeting point of the two bars, where the linkage is in its first assembly mode."""
    left, right, apart = elbows_apart(q)
    across = (right - left) / apart[..., None]
    height = np.sqrt(BAR**2 - (apart / 2) ** 2)
    return (left + right) / 2 + height[..., None] * np.stack([-across[..., 1], across[..., 0]], axis=-1)


def test_every_reachable_configuration_is_found_and_no_other():
    dyn = example("fivebar")
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (3000, 2))
    apart = elbows_apart(q)[2]
    found = dyn.positions(q)
    assert np.array_equal(found.converged, apart <= 2 * BAR)
    assert np.isnan(found.q[~found.converged]).all()
    assert np.isnan(found.condition[~found.converged]).all()
    assert openness(dyn.robot, found.q[found.converged]) < 1e-9
    assert np.array_equal(leading(dyn.robot, found.q[found.converged]), q[found.converged])


def test_the_assembly_mode_of_the_guess_is_kept():
    """Over half turns of both motors the tip is where trigonometry has it, never its mirror image."""
    dyn = example("fivebar")
    q = np.random.default_rng(1).uniform(-1.0, 1.0, (2000, 2))
    found = dyn.positions(q)
    good = found.converged & (found.condition < 100.0)
    assert good.mean() > 0.99
    opened = compiled(dyn.robot.opened())
    where = opened.pose(found.q[good], "tool")[..., [0, 2], 3]
    assert np.abs(where - tip(q[good])).max() < 1e-9
    assert np.abs(dyn.pose(q[good], "tool")[..., [0, 2], 3] - where).max() < 1e-12
    # the mirror image, from a guess that is one
    mirrored = dyn.positions([0.0, 0.0], guess={"left_elbow": 2.5, "right_elbow": -2.5})
    knees_in = dyn.positions(q[good], guess=mirrored.q)
    assert knees_in.converged.all()
    left, right, _ = elbows_apart(q[good])
    below = opened.pose(knees_in.q, "tool")[..., [0, 2], 3]
    assert np.abs(below + where - left - right).max() < 1e-9


def test_a_guess_is_as_good_as_a_reference():
    """Functions of a robot whose reference is in the other mode answer there."""
    robot = example("fivebar").robot
    mirrored = example("fivebar").positions([0.0, 0.0], guess={"left_elbow": 2.5, "right_elbow": -2.5})
    other = compiled(robot.replace(reference=dict(zip(robot.opened().names, mirrored.q.tolist(), strict=True))))
    assert error(other.positions([0.1, -0.2]).q, example("fivebar").positions([0.1, -0.2], guess=mirrored.q).q) < 1e-12
    assert other.pose([0.0, 0.0], "tool")[2, 3] < ARM < example("fivebar").pose([0.0, 0.0], "tool")[2, 3]
    assert np.array_equal(other.robot.q(), [0.0, 0.0])


def test_along_a_motion_the_mode_is_kept():
    """A crank that turns ten times: the rocker is the same each time, and joints that follow do not jump."""
    dyn = example("fourbar")
    turns = np.linspace(0.0, 20.0 * np.pi, 501)[:, None] + 0.5
    for found in (dyn.positions(turns, along=True), compiled(dyn.robot, closure="newton").positions(turns, along=True)):
        assert found.converged.all()
        assert np.abs(np.diff(found.q, axis=0)).max() < 0.5
        rocker = found.q[:, dyn.robot.opened().slots["rocker"].q]
        assert np.abs(rocker[::50] - rocker[0]).max() < 1e-10


def test_along_a_motion_in_a_batch_and_through_what_cannot_be_reached():
    path = np.stack([np.linspace(0.0, 2.5, 40), np.linspace(0.0, -2.5, 40)], axis=-1)
    both = np.stack([path, -path])
    found = example("fivebar").positions(both, along=True)
    assert found.q.shape == (2, 40, 4)
    assert found.converged.shape == (2, 40)
    assert np.array_equal(found.converged, elbows_apart(both)[2] <= 2 * BAR)


def test_newtons_method_goes_around_singular_configurations():
    """The straight way from the reference passes where the elbows meet; one joint after the other gets there."""
    robot = example("fivebar").robot
    newton = compiled(robot, closure="newton")
    via, goal = [0.0, -2.24], [2.25, -2.24]
    motion = np.vstack([np.linspace([0.0, 0.0], via, 20), np.linspace(via, goal, 20)])
    found = newton.positions(motion, along=True)
    assert found.converged.all()
    assert np.abs(np.diff(found.q, axis=0)).max() < 1.0
    alone = newton.positions(goal)
    assert alone.converged
    for other in (found.q[-1], compiled(robot).positions(goal).q):  # but for whole turns
        assert np.abs(np.sin((alone.q - other) / 2.0)).max() < 1e-12


def test_newtons_method_finds_nothing_that_is_not_there():
    """It may miss what lies behind singular configurations, but what it finds is what closed forms have."""
    dyn = example("fivebar")
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (3000, 2))
    form, newton = dyn.positions(q), compiled(dyn.robot, closure="newton").positions(q)
    assert not (newton.converged & ~form.converged).any()
    assert np.abs(np.sin((form.q - newton.q)[newton.converged] / 2.0)).max() < 1e-12
    near = np.abs(q).max(axis=1) < 0.5
    assert newton.converged[near].all()


def test_a_row_does_not_depend_on_others():
    dyn = example("ankle")
    q = np.random.default_rng(2).uniform(-0.8, 0.8, (50, 2))
    whole = dyn.positions(q)
    for k in (0, 17, 49):
        alone = dyn.positions(q[k])
        assert np.array_equal(alone.q, whole.q[k], equal_nan=True)
        assert alone.converged == whole.converged[k]


def test_nan_stays_in_its_row():
    dyn = example("fivebar")
    q = np.array([[0.1, 0.2], [np.nan, 0.2], [0.3, -0.1]])
    found = dyn.positions(q)
    assert found.converged.tolist() == [True, False, True]
    assert np.isfinite(found.q[[0, 2]]).all()
    tau = dyn.inverse_dynamics(q, np.zeros((3, 2)), np.zeros((3, 2)))
    assert np.isfinite(tau[[0, 2]]).all()
    assert np.isnan(tau[1]).all()


def test_condition_grows_towards_a_singular_configuration():
    """Bars nearly in line: the motors lose hold of the tip."""
    stretched = np.arcsin((2 * BAR - BASE) / (2 * ARM))
    open_ = stretched - np.array([0.5, 0.1, 1e-2, 1e-4, 1e-6])
    found = example("fivebar").positions(np.stack([-open_, open_], axis=-1))
    assert found.converged.all()
    assert np.all(np.diff(found.condition) > 0.0)
    assert found.condition[0] < 5.0
    assert found.condition[-1] > 300.0


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_reference_is_closed(name):
    dyn = example(name)
    reference = structure_of(dyn.robot).reference
    assert openness(dyn.robot, reference) < 1e-10
    assert np.array_equal(dyn.robot.q(), leading(dyn.robot, reference))
    assert error(dyn.positions(dyn.robot.q()).q, reference) < 1e-10


def test_a_large_batch_closes():
    q = np.random.default_rng(0).uniform(-0.7, 0.7, (20_000, 2))
    assert example("fivebar").positions(q).converged.all()


def test_tools_stay_level():
    """What the parallelograms of the palletiser are for, over its whole reach."""
    dyn = example("palletiser")
    q = np.random.default_rng(4).uniform(-0.6, 0.6, (300, 4))
    found = dyn.positions(q)
    good = found.converged & (found.condition < 100.0)
    assert good.mean() > 0.9
    for T in (compiled(dyn.robot.opened()).pose(found.q[good], "plate"), dyn.pose(q[good], "plate")):
        assert np.abs(T[..., 2, 2] - 1.0).max() < 1e-10


@pytest.mark.parametrize("closure", ["auto", "newton"])
def test_geometry_as_an_input(closure):
    """Loops close with other lengths, row by row."""
    robot = lw.load("fivebar")
    dyn = lw.compile(robot, parameters=("left_elbow.xyz", "tool.xyz"), closure=closure)
    longer = np.tile([0.0, 0.0, 0.2, 0.0, 0.0, 0.25], (3, 1))
    longer[:, 2] += [0.0, 0.01, 0.02]
    found = dyn.positions([0.1, -0.2], longer)
    assert found.converged.all()
    assert len({round(x, 6) for x in found.q[:, 1]}) == 3
    for row, numbers in zip(found.q, longer, strict=True):
        elbow = robot.joint("left_elbow")
        other = robot.replace(replace(elbow, origin=Pose(elbow.origin.R, Vec3(*numbers[:3].tolist()))))
        assert openness(other, row) < 1e-12
        assert error(compiled(other).positions([0.1, -0.2]).q, row) < 1e-11
    still = dyn.inverse_dynamics([0.1, -0.2], [0.0, 0.0], [0.0, 0.0], longer)
    assert np.isfinite(still).all()
    with pytest.raises(lw.InputError, match=r"expected 1 further input\(s\) \(parameters\) after q, got 0"):
        dyn.positions([0.1, -0.2])


REFUSALS = {
    r"expected shape \(..., 2\), positions of 'left_motor', 'right_motor', got \(3,\)": ([0.0, 0.0, 0.0], {}),
    r"expected shape \(..., 2\)": (0.0, {}),
    "expected real numbers, got 'a'": ("a", {}),
    "expected q, or drives=..., got neither": (None, {}),
    "expected left_motor, right_motor, got none for right_motor": ({"left_motor": 0.0}, {}),
    "'left_elbow' follows other joints of robot 'fivebar'": (
        {"left_motor": 0.0, "right_motor": 0.0, "left_elbow": 1.0}, {},
    ),
    r"guess: expected positions of all joints, shape \(4,\)": ([0.0, 0.0], {"guess": [0.0, 0.0]}),
    "unknown joint 'elbow'": ([0.0, 0.0], {"guess": {"elbow": 1.0}}),
    r"one for all rows, got \(3, 4\)": (np.zeros((2, 2)), {"guess": np.zeros((3, 4))}),
    "guess: expected finite positions": ([0.0, 0.0], {"guess": np.full(4, np.nan)}),
    "guess: expected positions of all joints, got 'there'": ([0.0, 0.0], {"guess": "there"}),
    r"along: expected rows of a motion \(..., steps, 2\)": ([0.0, 0.0], {"along": True}),
    "along: expected True or False": ([[0.0, 0.0]], {"along": "yes"}),
    r"along: expected rows of a motion \(..., steps, 2\), got \(0, 2\)": (np.zeros((0, 2)), {"along": True}),
    r"expected 0 further input\(s\) after q, got 1": ([0.0, 0.0], {"parameters": [1.0]}),
}  # fmt: skip


@pytest.mark.parametrize("message", REFUSALS)
def test_bad_input_is_named(message):
    q, how = REFUSALS[message]
    extra = [how.pop("parameters")] if "parameters" in how else []
    with pytest.raises(lw.LinkwiseError, match=message):
        example("fivebar").positions(q, *extra, **how)


def test_shapes():
    dyn = example("fivebar")
    assert dyn.inverse_dynamics(np.zeros((3, 1, 2)), np.zeros((4, 2)), np.zeros(2)).shape == (3, 4, 2)
    assert dyn.positions([0.0, 0.0]).converged.shape == ()
    named = dyn.positions({"right_motor": 0.1, "left_motor": 0.2})
    assert np.array_equal(named.q, dyn.positions([0.2, 0.1]).q)
    assert dyn.positions(np.zeros((0, 2))).q.shape == (0, 4)
    assert dyn.positions(np.zeros((3, 1, 2))).q.shape == (3, 1, 4)


def test_a_tree_has_all_its_positions():
    dyn = compiled(lw.load("stanford"))
    q = dyn.robot.q()
    found = dyn.positions(q)
    assert found.converged
    assert np.array_equal(found.q, q)
