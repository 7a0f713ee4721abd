"""Timings of paths against TOPP-RA, which knows limits of velocity and torque."""

from dataclasses import replace

import numpy as np
import pytest
import toppra
from toppra import algorithm, constraint, interpolator

import linkwise as lw
from support.trees import dynamics

PATHS = 50
GRID = 400


class Told(interpolator.AbstractGeometricPath):
    """A path of ours as TOPP-RA asks for it."""

    def __init__(self, path: lw.planning.Path, n: int) -> None:
        self._path, self._n = path, n

    def __call__(self, s, order=0):
        found = self._path.derivatives(np.atleast_1d(s))[order]
        return found[0] if np.ndim(s) == 0 else found

    @property
    def dof(self):
        return self._n

    @property
    def path_interval(self):
        return np.array([self._path.start, self._path.end])


def their_time(
    robot: lw.Robot, path: lw.planning.Path, grid: np.ndarray, effort: np.ndarray, velocity: np.ndarray
) -> float:
    """The time that TOPP-RA finds on a grid, with the same scheme between its points."""
    limits = [
        constraint.JointVelocityConstraint(np.stack([-velocity, velocity], axis=1)),
        constraint.JointTorqueConstraint(
            dynamics(robot).inverse_dynamics, np.stack([-effort, effort], axis=1), np.zeros(robot.nv),
            discretization_scheme=constraint.DiscretizationType.Interpolation,
        ),
    ]  # fmt: skip
    solver = algorithm.TOPPRA(limits, Told(path, robot.nv), gridpoints=grid, solver_wrapper="seidel")
    _, speed, _ = solver.compute_parameterization(0.0, 0.0)
    return float(np.sum(2.0 * np.diff(grid) / (speed[1:] + speed[:-1])))


@pytest.mark.parametrize("share", [0.3, 1.0])
def test_times_of_random_paths(share):
    """50 paths of a 7-axis arm without friction, within 0.5 % of its time."""
    toppra.setup_logging("ERROR")
    robot = lw.load("arm7").without_friction()
    free = {"lower": -np.inf, "upper": np.inf}  # paths swing out between their points
    robot = robot.replace(*(replace(j, limits=replace(j.limits, **free)) for j in robot.joints))
    joints = [robot.joint(n).limits for n in robot.names]
    effort, velocity = share * np.array([k.effort for k in joints]), np.array([k.velocity for k in joints])
    ratios = []
    for seed in range(PATHS // 2):
        points = np.random.default_rng(seed).uniform(-1.5, 1.5, (4 + seed % 5, 7))
        path = lw.planning.Path.through(points, robot)
        ours = lw.retime(robot, path, effort=effort, velocity=velocity, intervals=GRID)
        ratios.append(ours.duration / their_time(robot, path, path.grid(GRID, ends_at_rest=True), effort, velocity))
    print(f"share {share}: {min(ratios):.5f} to {max(ratios):.5f} of its time")
    assert np.abs(np.array(ratios) - 1.0).max() < 5e-3
