"""Torque rows of a plan and their slopes, from Pinocchio's derivatives and the chain rule written out."""

import dataclasses

import numpy as np
import pinocchio as pin

import linkwise as lw
from linkwise.planning.curve import Basis, Curve
from linkwise.planning.ends import State
from linkwise.planning.problem import Problem
from linkwise.planning.term_and_constraint import Sum
from support import pinocchio_bridge as bridge


def test_torque_rows_and_slopes(tmp_path):
    plain = lw.load("arm7").without_friction()
    robot = plain.replace(*(dataclasses.replace(j, armature=0.0) for j in plain.joints))
    lw.save(robot, tmp_path / "arm.urdf")
    model = bridge.model(tmp_path / "arm.urdf")
    assert tuple(model.names)[1:] == robot.names
    n, T, basis = robot.nv, 1.7, Basis.uniform(4, 8)
    rest = State(robot.q()), State(0.1 * np.arange(1.0, n + 1.0))
    made = Problem(robot, *rest, Sum.of(lw.cost.time()), (lw.limit.joints("effort"),), basis)
    variables, s = made.variables(T), np.array([0.0, 0.13, 0.5, 0.77, 1.0])
    program = made.program(variables, s)
    rng = np.random.default_rng(1)
    x = variables.of(Curve(basis, rng.uniform(-1.0, 1.0, (basis.count, n)), T))
    P, data = variables.split(x)[0], model.createData()
    effort = np.array([robot.joint(name).limits.effort for name in robot.names])
    B = [basis.matrix(s, d) / T**d for d in range(3)]
    g, J = [], np.zeros((len(s), n, basis.count, n))
    by_time = np.zeros((len(s), n))
    for i in range(len(s)):
        q, qd, qdd = (b[i] @ P for b in B)
        pin.computeRNEADerivatives(model, data, q, qd, qdd)
        M = np.triu(data.M) + np.triu(data.M, 1).T
        g.append(data.tau / effort)
        for b, d in zip(B, (data.dtau_dq, data.dtau_dv, M), strict=True):
            J[i] += np.einsum("k,rj->rkj", b[i], d / effort[:, None])
        by_time[i] = -(data.dtau_dv @ qd + 2.0 * M @ qdd) / (T * effort)
    theirs = np.hstack([J.reshape(len(s) * n, -1), by_time.reshape(-1, 1)])[:, variables.free]
    ours = np.zeros((program.m, program.n))
    np.add.at(ours, (program.jac_rows, program.jac_columns), program.jacobian(x))
    np.testing.assert_allclose(program.g(x), np.concatenate(g), rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-10)
