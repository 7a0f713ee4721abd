"""Torques and speeds beyond what numbers hold end in an error of Linkwise's, at once and without warnings."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.simulation.solver import METHODS


@pytest.mark.parametrize("torque", [1e100, 1e160, 1e300, 1e308])
@pytest.mark.parametrize("method", METHODS)
def test_a_torque_without_measure(method, torque):
    robot = lw.load("puma560")
    with pytest.raises(lw.SimulationError, match=r"expected (a )?finite|Has the motion run away\?") as caught:
        lw.simulate(robot, robot.q({}), None, 1.0, control=np.full(6, torque), method=method)
    assert caught.value.result.status == "failed"
    assert caught.value.result.tau[0] == pytest.approx(np.full(6, torque))


@pytest.mark.parametrize("method", METHODS)
def test_warnings_and_errors_of_a_control_are_its_own(method):
    def overflows(t, q, qd):
        return [float(np.float64(1e308) * 10.0 > 1.0)]

    def fails(t, q, qd):
        raise ValueError("mine")

    robot = lw.Robot([lw.Link("a"), lw.Link("b", 1.0, (1, 0, 0), (1, 1, 1))], [lw.Joint("x", "a", "b")])
    with pytest.warns(RuntimeWarning, match="overflow"):
        lw.simulate(robot, [0.0], None, 0.1, control=overflows, method=method)
    with pytest.raises(ValueError, match="mine"):
        lw.simulate(robot, [0.0], None, 0.1, control=fails, method=method)
