"""Loop closure: which configurations are found, in which assembly mode, and what is said of the others."""

import numpy as np
import pytest

import linkwise as lw
from support.linkages import EXAMPLES, example
from support.trees import error

BASE, ARM, BAR = 0.2, 0.2, 0.25  # of the five-bar linkage, m


def elbows_apart(q_active):
    """How far the elbows of the five-bar linkage are from each other, by trigonometry."""
    left, right = (
        np.stack([x + ARM * np.sin(q), ARM * np.cos(q)], axis=-1)
        for x, q in ((-BASE / 2, q_active[..., 0]), (BASE / 2, q_active[..., 1]))
    )
    return left, right, np.linalg.norm(right - left, axis=-1)


def tip(q_active):
    """The upper meeting point of the two bars, where the linkage is in its first assembly mode."""
    left, right, apart = elbows_apart(q_active)
    across = (right - left) / apart[..., None]
    height = np.sqrt(BAR**2 - (apart / 2) ** 2)
    return (left + right) / 2 + height[..., None] * np.stack([-across[..., 1], across[..., 0]], axis=-1)


def test_every_reachable_configuration_is_found_and_no_other():
    chain = example("fivebar")
    q_active = np.random.default_rng(0).uniform(-np.pi, np.pi, (3000, 2))
    apart = elbows_apart(q_active)[2]
    found = chain.positions(q_active)
    assert np.array_equal(found.converged, apart <= 2 * BAR)
    assert np.isnan(found.q[~found.converged]).all()
    assert np.isnan(found.condition[~found.converged]).all()
    gap = chain.assembled.closure(found.q[found.converged]).gap
    assert np.abs(gap).max() < 1e-9
    assert np.array_equal(chain.of(found.q[found.converged]), q_active[found.converged])


def test_the_assembly_mode_of_the_guess_is_kept():
    """Over half turns of both motors the tip is where trigonometry has it, never its mirror image."""
    chain = example("fivebar")
    q_active = np.random.default_rng(1).uniform(-1.0, 1.0, (2000, 2))
    found = chain.positions(q_active)
    good = found.converged & (found.condition < 100.0)
    assert good.mean() > 0.99
    where = lw.compile(chain.robot).pose(found.q[good], "tool")[..., [0, 2], 3]
    assert np.abs(where - tip(q_active[good])).max() < 1e-9
    # the mirror image, from a guess that is one
    mirrored = chain.positions([0.0, 0.0], guess={"left_elbow": 2.5, "right_elbow": -2.5})
    assert mirrored.mode == -1.0
    knees_in = chain.positions(q_active[good], guess=mirrored.q)
    assert (knees_in.mode == -1.0).mean() > 0.998


def test_along_a_motion_the_mode_is_kept():
    """A crank that turns ten times: the rocker is the same each time, and passive joints do not jump."""
    chain = example("fourbar")
    turns = np.linspace(0.0, 20.0 * np.pi, 501)[:, None] + 0.5
    found = chain.positions(turns, along=True)
    assert found.converged.all()
    assert len(set(found.mode)) == 1
    assert np.abs(np.diff(found.q, axis=0)).max() < 0.5
    rocker = found.q[:, chain.robot.slots["rocker"].q]
    assert np.abs(rocker[::50] - rocker[0]).max() < 1e-10


def test_along_a_motion_in_a_batch_and_through_what_cannot_be_reached():
    chain = example("fivebar")
    path = np.stack([np.linspace(0.0, 2.5, 40), np.linspace(0.0, -2.5, 40)], axis=-1)
    both = np.stack([path, -path])
    found = chain.positions(both, along=True)
    assert found.q.shape == (2, 40, 4)
    assert found.converged.shape == (2, 40)
    assert np.array_equal(found.converged, elbows_apart(both)[2] <= 2 * BAR)


def test_a_row_does_not_depend_on_others():
    chain = example("ankle")
    q_active = np.random.default_rng(2).uniform(-0.8, 0.8, (50, 2))
    whole = chain.positions(q_active)
    for k in (0, 17, 49):
        alone = chain.positions(q_active[k])
        assert np.array_equal(alone.q, whole.q[k], equal_nan=True)
        assert alone.converged == whole.converged[k]


def test_nan_stays_in_its_row():
    chain = example("fivebar")
    q_active = np.array([[0.1, 0.2], [np.nan, 0.2], [0.3, -0.1]])
    found = chain.positions(q_active)
    assert found.converged.tolist() == [True, False, True]
    assert np.isfinite(found.q[[0, 2]]).all()
    tau = chain.inverse_dynamics(q_active, np.zeros((3, 2)), np.zeros((3, 2))).tau
    assert np.isfinite(tau[[0, 2]]).all()
    assert np.isnan(tau[1]).all()


def test_condition_grows_towards_a_singular_configuration():
    """Bars nearly in line: the motors lose hold of the tip."""
    chain = example("fivebar")
    stretched = np.arcsin((2 * BAR - BASE) / (2 * ARM))
    open_ = stretched - np.array([0.5, 0.1, 1e-2, 1e-4, 1e-6])
    found = chain.positions(np.stack([-open_, open_], axis=-1))
    assert found.converged.all()
    assert np.all(np.diff(found.condition) > 0.0)
    assert found.condition[0] < 5.0
    assert found.condition[-1] > 300.0


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_reference_is_closed(name):
    chain = example(name)
    assert np.abs(chain.assembled.closure(chain.reference).gap).max() < 1e-10
    assert error(chain.positions(chain.of(chain.reference)).q, chain.reference) < 1e-10


def test_a_large_batch_closes():
    chain = example("fivebar")
    q_active = np.random.default_rng(0).uniform(-0.7, 0.7, (20_000, 2))
    assert chain.positions(q_active).converged.all()


def test_tools_stay_level():
    """What the parallelograms of the palletiser are for, over its whole reach."""
    chain = example("palletiser")
    q_active = np.random.default_rng(4).uniform(-0.6, 0.6, (300, 4))
    found = chain.positions(q_active)
    good = found.converged & (found.condition < 100.0) & (found.mode == chain.positions(np.zeros(4)).mode)
    assert good.mean() > 0.9
    T = lw.compile(chain.robot).pose(found.q[good], "plate")
    assert np.abs(T[..., 2, 2] - 1.0).max() < 1e-10


def test_geometry_as_an_input():
    """Loops close with other lengths, row by row."""
    robot = lw.load("fivebar")
    chain = lw.compile(robot, parameters=("left_elbow.xyz", "tool.xyz")).closed
    longer = np.tile([0.0, 0.0, 0.2, 0.0, 0.0, 0.25], (3, 1))
    longer[:, 2] += [0.0, 0.01, 0.02]
    found = chain.positions([0.1, -0.2], parameters=longer)
    assert found.converged.all()
    assert len({round(x, 6) for x in found.q[:, 1]}) == 3
    assert np.abs(chain.assembled.closure(found.q, longer).gap).max() < 1e-12
    still = chain.inverse_dynamics([0.1, -0.2], [0.0, 0.0], [0.0, 0.0], longer)
    assert np.array_equal(still.q, found.q)
    assert np.isfinite(still.tau).all()
    with pytest.raises(lw.InputError, match="expected the 6 numbers"):
        chain.positions([0.1, -0.2])
