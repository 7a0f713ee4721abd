"""Forward dynamics and mass matrices of every robot of example-robot-data against Pinocchio."""

import numpy as np
import pinocchio as pin
import pytest

import linkwise as lw
from support.examples import CASES, IDS, UNDETERMINED, relative, summary
from support.pinocchio_bridge import coupling, from_pin_matrix, model, random_states, to_pin_q, to_pin_v

STATES = 100


def mass_matrices(theirs, pq):
    """Columns of unit accelerations by `rnea`, at rest and without gravity."""
    theirs = theirs.copy()
    theirs.gravity.linear = np.zeros(3)
    data, rest, units = theirs.createData(), np.zeros(theirs.nv), np.eye(theirs.nv)
    return np.array([[pin.rnea(theirs, data, x, rest, e) for e in units] for x in pq]).swapaxes(1, 2)


def accelerations(robot, theirs, M, pq, pv, tau):
    """By `aba`; where joints mimic by (G^T M G) qdd = tau - G^T h, because Pinocchio's model has them free."""
    data, G = theirs.createData(), coupling(robot, theirs)
    if theirs.nv == robot.nv:
        return np.array([pin.aba(theirs, data, x, v, G @ t) @ G for x, v, t in zip(pq, pv, tau, strict=True)])
    h = np.array([pin.nonLinearEffects(theirs, data, x, v) @ G for x, v in zip(pq, pv, strict=True)])
    return np.linalg.solve(M, (tau - h)[..., None])[..., 0]


def routes(robot, theirs):
    return ("inertia",) if theirs.nv != robot.nv else ("inertia", "articulated")


@pytest.mark.slow
@pytest.mark.parametrize(("path", "base"), CASES, ids=IDS)
def test_forward_routes_and_mass_matrix(path, base, record_property):
    """Within 1e-9 of each state's largest number, or of what one rounding of M becomes in it: eps cond(M)."""
    robot = lw.load(path, base=base).without_friction()
    theirs = model(path, floating=base == "floating")
    if robot.nv == 0:  # a quadrotor that is bolted down
        return
    q, qd, tau = random_states(robot, STATES)
    pq, pv = to_pin_q(robot, theirs, q), to_pin_v(robot, theirs, qd)
    M = from_pin_matrix(robot, theirs, mass_matrices(theirs, pq))
    error = relative(lw.compile(robot).mass_matrix(q), M)
    record_property("mass matrix", summary(error))
    assert error.max() < 1e-9
    if path.name in UNDETERMINED:
        with pytest.raises(
            lw.LinkwiseError, match=r"joint '\w+': the free link '\w+' and all it carries have no inertia"
        ):
            lw.compile(robot, lw.forward_dynamics)
        return

    expected = accelerations(robot, theirs, M, pq, pv, tau)
    bound = np.maximum(1e-9, np.finfo(float).eps * np.linalg.cond(M))
    for route in routes(robot, theirs):
        error = relative(lw.compile(robot, lw.forward_dynamics, route=route)(q, qd, tau), expected)
        record_property(route, summary(error))
        assert (error <= bound).all(), (route, error.max())
