"""Lagrange's equations in recursive form give the torques of Newton and Euler."""

import pytest

import linkwise as lw
from support.trees import SEEDS, dynamics, error, states, tree


@pytest.mark.parametrize("seed", SEEDS)
def test_torques_are_those_of_newton_and_euler(seed):
    robot = tree(seed, floating=False, kinds=("revolute", "prismatic"), motors=0.0)
    given = states(robot)
    found = lw.compile(robot, lw.algorithms.recursive_lagrangian)(*given)
    assert error(found, dynamics(robot).inverse_dynamics(*given)) < 1e-12


def test_robots_it_does_not_know_are_refused():
    for robot in (lw.random_tree(1, 3, floating=True), lw.random_tree(1, 3, motors=1.0)):
        with pytest.raises(lw.LinkwiseError, match="expected revolute and prismatic joints without motors"):
            lw.compile(robot, lw.algorithms.recursive_lagrangian)
