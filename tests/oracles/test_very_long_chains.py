"""Chains of hundreds of joints against Pinocchio, and of a thousand, where its data no longer fit, against laws."""

import time

import numpy as np
import pinocchio as pin
import pytest

import linkwise as lw
from linkwise.kernel.columns import Columns

pytestmark = pytest.mark.slow


def chain(joints):
    return lw.random_tree(0, joints, branching=0.0, fixed=0.0, kinds=("revolute",))


def state(robot):
    return np.random.default_rng(0).uniform(-0.1, 0.1, (3, robot.nv))


def model_of(robot):
    """Pinocchio's model of a chain of revolute joints, in our order."""
    model, parent, before = pin.Model(), 0, pin.SE3.Identity()
    links = {link.name: link for link in robot.links}
    for j in robot.joints:
        anchor = pin.SE3(np.eye(3), np.array(list(j.anchor)))
        origin = pin.SE3(np.array([list(row) for row in j.origin.R]), np.array(list(j.origin.p)))
        kind = pin.JointModelRevoluteUnaligned(np.array(list(j.axis)))
        parent = model.addJoint(parent, kind, before * origin * anchor, j.name)
        before = anchor.inverse()
        link = links[j.child]
        xx, xy, xz, yy, yz, zz = link.inertia
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        model.appendBodyToJoint(parent, pin.Inertia(link.mass, np.array(list(link.com)), tensor), before)
    return model


def close(ours, theirs, relative):
    assert np.abs(ours - theirs).max() <= relative * np.abs(theirs).max()


def test_two_hundred_joints_against_pinocchio():
    robot = chain(200)
    q, qd, qdd = state(robot)
    dyn, model = lw.compile(robot), model_of(robot)
    data = model.createData()
    assert isinstance(dyn.inverse_dynamics_derivatives, Columns)
    tau = dyn.inverse_dynamics(q, qd, qdd)
    close(tau, pin.rnea(model, data, q, qd, qdd), 1e-13)
    M = np.triu(pin.crba(model, data, q))
    close(dyn.mass_matrix(q), M + np.triu(M, 1).T, 1e-13)
    d = dyn.inverse_dynamics_derivatives(q, qd, qdd)
    by_q, by_qd, _ = pin.computeRNEADerivatives(model, data, q, qd, qdd)
    close(d.dtau_dq, by_q, 1e-12)
    close(d.dtau_dqd, by_qd, 1e-12)
    bound = 1e-15 * np.linalg.cond(d.M)
    close(dyn.forward_dynamics(q, qd, tau), qdd, bound)
    f = dyn.forward_dynamics_derivatives(q, qd, tau)
    for ours, theirs in zip(f, pin.computeABADerivatives(model, data, q, qd, tau), strict=False):
        close(ours, theirs, bound)


def test_a_thousand_joints(monkeypatch):
    """Each function compiles in seconds; torques are those of the plain algorithm, the rest follows from laws."""
    monkeypatch.setenv("LINKWISE_CACHE", "off")
    robot = chain(1000)
    q, qd, qdd = state(robot)
    dyn = lw.compile(robot)
    start = time.process_time()
    tau = dyn.inverse_dynamics(q, qd, qdd)
    close(tau, np.array(lw.inverse_dynamics.plain(robot, q.tolist(), qd.tolist(), qdd.tolist())), 1e-12)
    d = dyn.inverse_dynamics_derivatives(q, qd, qdd)
    M = dyn.mass_matrix(q)
    close(M, M.T, 1e-13)
    close(d.M, M, 1e-13)
    close(M @ qdd, tau - dyn.inverse_dynamics(q, qd, 0.0 * qdd), 1e-10)
    step, way = 1e-6, np.random.default_rng(1).normal(size=(2, 1000))
    change = [
        dyn.inverse_dynamics(q + s * way[0], qd + s * way[1], qdd) / (2 * step) * np.sign(s) for s in (step, -step)
    ]
    close(d.dtau_dq @ way[0] + d.dtau_dqd @ way[1], sum(change), 1e-6)
    f = dyn.forward_dynamics_derivatives(q, qd, tau)
    close(M @ f.Minv, np.eye(1000), 1e-6)
    close(M @ f.dqdd_dqd, -d.dtau_dqd, 1e-6)
    close(M @ dyn.forward_dynamics(q, qd, tau), M @ qdd, 1e-9)
    assert time.process_time() - start < 180  # no route that grows with the square or worse was tried
