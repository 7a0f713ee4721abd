"""Derivatives of inverse and forward dynamics of every robot of example-robot-data against Pinocchio."""

import numpy as np
import pinocchio as pin
import pytest

import linkwise as lw
from support.examples import CASES, IDS, UNDETERMINED, relative, summary
from support.pinocchio_bridge import coupling, from_pin_matrix, model, random_states, to_pin_q, to_pin_v

STATES = 6
FEW = ("panda.urdf-fixed", "ur5_robot.urdf-fixed", "solo12.urdf-floating", "hyq_no_sensors.urdf-floating")
LIMIT = 1e-8


@pytest.fixture(autouse=True)
def back_end(monkeypatch):
    """The interpreter: nothing is compiled for so few states."""
    monkeypatch.setenv("LINKWISE_BACKEND", "numpy")


def of_inverse(theirs, pq, pv, pa):
    """dtau/dq, dtau/dqd and M of each state, by `computeRNEADerivatives`."""
    data, found = theirs.createData(), []
    for state in zip(pq, pv, pa, strict=True):
        pin.computeRNEADerivatives(theirs, data, *state)
        upper = np.triu(data.M)
        found.append([data.dtau_dq.copy(), data.dtau_dv.copy(), upper + np.triu(upper, 1).T])
    return np.array(found).swapaxes(0, 1)


def of_forward(theirs, pq, pv, tau):
    """dqdd/dq, dqdd/dqd and M^-1 of each state, by `computeABADerivatives`."""
    data, found = theirs.createData(), []
    for state in zip(pq, pv, tau, strict=True):
        pin.computeABADerivatives(theirs, data, *state)
        upper = np.triu(data.Minv)
        found.append([data.ddq_dq.copy(), data.ddq_dv.copy(), upper + np.triu(upper, 1).T])
    return np.array(found).swapaxes(0, 1)


SLOW = pytest.mark.slow
EVERY = [
    pytest.param(*case, id=name, marks=() if name.endswith(FEW) else SLOW)
    for case, name in zip(CASES, IDS, strict=True)
]


@pytest.mark.parametrize(("path", "base"), EVERY)
def test_derivatives(path, base, record_property):
    """Within 1e-8 of each state's largest number; of accelerations, or of what roundings of M become in them.

    That is so in one case: iCub on a floating base comes to a state with cond(M) = 5e11 and differs by 2e-5, of which
    an inverse of fifty digits leaves 2e-8 to Linkwise.
    """
    robot = lw.load(path, base=base).without_friction()
    theirs = model(path, floating=base == "floating")
    if robot.nv == 0:  # a quadrotor that is bolted down
        return
    q, qd, qdd = random_states(robot, STATES)
    pq, pv, pa = to_pin_q(robot, theirs, q), to_pin_v(robot, theirs, qd), to_pin_v(robot, theirs, qdd)
    expected = [from_pin_matrix(robot, theirs, x) for x in of_inverse(theirs, pq, pv, pa)]
    found = lw.compile(robot).inverse_dynamics_derivatives(q, qd, qdd)
    least = 1e-6 * np.abs(found.M).max()  # what vanishes but for round-off, as torques of a balanced rotor do
    for name, ours, by_pinocchio in zip(found._fields, found, expected, strict=True):
        error = relative(ours, by_pinocchio, least)
        record_property(name, summary(error))
        assert error.max() < LIMIT, name
    if path.name in UNDETERMINED:
        with pytest.raises(lw.LinkwiseError, match="have no inertia"):
            lw.compile(robot, lw.forward_dynamics_derivatives)
        return

    tau = lw.compile(robot).inverse_dynamics(q, qd, qdd)
    if theirs.nv == robot.nv:
        G = coupling(robot, theirs)
        expected = [from_pin_matrix(robot, theirs, x) for x in of_forward(theirs, pq, pv, tau @ G.T)]
    else:  # their joints that mimic are free, so that their accelerations are others
        by_q, by_qd, M = expected
        expected = [-np.linalg.solve(M, by_q), -np.linalg.solve(M, by_qd), np.linalg.inv(M)]
    found = lw.compile(robot).forward_dynamics_derivatives(q, qd, tau)
    least = 1e-6 * np.abs(found.Minv).max()
    bound = np.maximum(LIMIT, 4.0 * np.finfo(float).eps * np.linalg.cond(lw.compile(robot).mass_matrix(q)))
    for name, ours, by_pinocchio in zip(found._fields, found, expected, strict=True):
        error = relative(ours, by_pinocchio, least)
        record_property(name, summary(error))
        assert (error <= bound).all(), (name, error.max(), bound)
