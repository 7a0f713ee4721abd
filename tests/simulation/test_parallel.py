"""Platforms in motion."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.parallel import builders

HOME = np.array([0.0, 0.0, 0.75, 0.0, 0.0, 0.0, 1.0])


@pytest.fixture(scope="module")
def sprung():
    """A hexapod on six springs, without motors that push."""
    return builders.gough_stewart(spring=lw.Spring(stiffness=4000.0, rest=0.87))


def test_a_passive_machine_keeps_its_energy(sprung):
    """Ten seconds of free motion on springs, platform and legs with their masses: drift below 1e-6."""
    start, v = [0.03, -0.02, 0.76, 0.05, 0.03, 0.02, 1.0], [0.1, 0.2, 0.0, 0.3, -0.2, 0.5]
    result = lw.simulation.simulate_parallel(sprung, start, v, 10.0, rtol=1e-8, atol=1e-10)
    assert result.status == "finished"
    assert result.energy.drift < 1e-6
    assert np.ptp(result.energy.kinetic) > 5.0
    np.testing.assert_allclose(np.linalg.norm(result.pose[:, 3:], axis=1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(lw.compile(sprung).actuators(result.pose), result.positions)


def test_work_of_motors_and_friction_is_counted():
    """A controlled machine with dry friction, pushed from outside: energy balances."""
    robot = builders.gough_stewart(friction=lw.Friction(viscous=30.0, coulomb=3.0), armature=0.2)
    par = lw.compile(robot)

    def hold(t, pose, velocity):
        error = np.concatenate([HOME[:3] - pose[:3], -2.0 * pose[3:6] * pose[6]])
        wrench = (
            par.gravity_forces(pose) + np.repeat([2000.0, 200.0], 3) * error - np.repeat([200.0, 20.0], 3) * velocity
        )
        return np.linalg.solve(par.inverse_jacobian(pose).T, wrench)

    result = lw.simulation.simulate_parallel(
        robot, [0.0, 0.02, 0.72, 0.1, 0.0, 0.0, 1.0], None, 2.0, control=hold, external=[5.0, 0.0, 0.0, 0.0, 0.0, 0.1]
    )
    assert result.energy.drift < 1e-7
    assert result.energy.friction[-1] > 0.0
    assert "smoothed" in result.notes[0]
    np.testing.assert_allclose(result.pose[-1], HOME, rtol=0, atol=2e-2)


def test_forces_of_a_motion_give_the_motion():
    """Constant torques that hold a Delta hold it; a little more moves it as forward dynamics says."""
    robot = builders.delta()
    par = lw.compile(robot)
    start = np.array([0.02, 0.01, -0.5])
    held = par.inverse_dynamics(start, np.zeros(3), np.zeros(3))
    result = lw.simulation.simulate_parallel(robot, start, None, 0.3, control=held)
    np.testing.assert_allclose(result.pose[-1], start, rtol=0, atol=1e-6)
    pushed = lw.simulation.simulate_parallel(robot, start, None, [0.0, 1e-3], control=held + 0.1)
    expected = par.forward_dynamics(start, np.zeros(3), held + 0.1)
    np.testing.assert_allclose(pushed.velocity[-1] / 1e-3, expected, rtol=1e-3)


def test_events_stop_a_fall():
    """A hexapod without motors falls; an event ends it at a height."""
    robot = builders.gough_stewart()

    def low(t, pose, velocity):
        return pose[2] - 0.6

    low.terminal = True
    result = lw.simulation.simulate_parallel(robot, HOME, None, 5.0, events=low)
    assert result.status == "stopped by event 'low'"
    assert abs(result.pose[-1, 2] - 0.6) < 1e-9
    assert len(result.events["low"].t) == 1
    assert result.energy.drift < 1e-7


def test_a_platform_that_leaves_its_reach():
    """The motion up to there is kept."""
    with pytest.raises(lw.SimulationError, match="Has the platform left the reach of a leg") as error:
        lw.simulation.simulate_parallel(
            builders.delta(), [0.0, 0.0, -0.5], [0.0, 0.0, -3.0], 5.0, control=[0.0, 0.0, 0.0]
        )
    assert len(error.value.result.t) > 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pose0": HOME[:3]}, r"pose0: expected 7 finite numbers"),
        ({"pose0": np.full(7, np.nan)}, r"pose0: expected 7 finite numbers"),
        ({"pose0": [0, 0, 0.75, 0, 0, 0, 0]}, r"pose0: expected a quaternion x, y, z, w that is not zero"),
        ({"velocity0": [1.0]}, r"velocity0: expected 6 finite numbers"),
        ({"control": [1.0, 2.0]}, r"control: expected 6 finite numbers"),
        ({"control": lambda t, x, v: [1.0]}, r"control at t = 0 s: expected 6 numbers, got \[1.0\]"),
        ({"external": [1.0]}, r"external: expected 6 finite numbers"),
        ({"method": "rk4"}, r"unknown method of simulate_parallel 'rk4'"),
        ({"rtol": -1.0}, r"rtol: expected a number"),
        ({"t": -1.0}, r"t: expected a final time"),
        ({"robot": builders.delta(), "pose0": [5.0, 0.0, 0.0]}, r"pose0: expected a pose that all legs reach"),
        ({"robot": lw.load("rr")}, r"expected a ParallelRobot first"),
    ],
)
def test_refusals(arguments, message):
    given = {"robot": builders.gough_stewart(), "pose0": HOME, "velocity0": None, "t": 1.0, **arguments}
    with pytest.raises(lw.LinkwiseError, match=message):
        lw.simulation.simulate_parallel(**given)


def test_simulate_points_here():
    with pytest.raises(lw.InputError, match=r"use lw\.simulation\.simulate_parallel for a ParallelRobot"):
        lw.simulate(builders.delta(), None, None, 1.0)
