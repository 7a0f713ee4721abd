"""Derivatives of how links move against Pinocchio's, and a linear step against MuJoCo's differences."""

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import linkwise as lw
from support import mujoco_bridge
from support.pinocchio_bridge import coupling, example, model, random_states, to_pin_q, to_pin_v
from support.trees import error

WORLD = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
CASES = [("panda.urdf", "fixed"), ("ur5_robot.urdf", "fixed"), ("solo12.urdf", "floating")]


@pytest.fixture(autouse=True)
def back_end(monkeypatch):
    """The interpreter: nothing is compiled for so few states."""
    monkeypatch.setenv("LINKWISE_BACKEND", "numpy")


@pytest.mark.parametrize(("file", "base"), CASES)
def test_links_and_centres(file, base):
    """Points by `getPointClassicAccelerationDerivatives`, angular rows by `getJointAccelerationDerivatives`."""
    robot = lw.load(example(file), base=base).without_friction()
    theirs = model(example(file), floating=base == "floating")
    q, qd, qdd = random_states(robot, 1)
    found = lw.compile(robot).kinematics_derivatives(q, qd, qdd)
    where = lw.compile(robot).link_motions(q, qd, qdd)
    T = lw.compile(robot).poses(q)[0]
    data, G = theirs.createData(), coupling(robot, theirs)
    state = [x[0] for x in (to_pin_q(robot, theirs, q), to_pin_v(robot, theirs, qd), to_pin_v(robot, theirs, qdd))]
    pin.computeForwardKinematicsDerivatives(theirs, data, *state)
    joints = {j.child: j.name for j in robot.joints if not j.is_fixed}
    for k, link in enumerate(robot.moving_links):
        joint = theirs.getJointId(joints[link])
        centre = T[k, :3, :3].T @ (where.p_com[0, k] - where.p[0, k])
        for point, suffix in ((np.zeros(3), ""), (centre, "_com")):
            X = pin.SE3(np.eye(3), point)
            v_q, a_q, a_v, a_a = pin.getPointClassicAccelerationDerivatives(theirs, data, joint, X, WORLD)
            pairs = (("dv", "dq", v_q), ("dv", "dqd", a_a), ("da", "dq", a_q), ("da", "dqd", a_v), ("da", "dqdd", a_a))
            for of, by, expected in pairs:
                ours = getattr(found, f"{of}{suffix}_{by}")[0, k]
                size = max(1.0, np.abs(expected).max())
                assert np.abs(ours[:3] - expected @ G).max() < 1e-10 * size, (link, of, suffix, by)
        parts = pin.getJointAccelerationDerivatives(theirs, data, joint, WORLD)
        for name, expected in zip(("dv_dq", "da_dq", "da_dqd", "da_dqdd"), parts, strict=True):
            ours = getattr(found, name)[0, k, 3:]
            assert np.abs(ours - (expected @ G)[3:]).max() < 1e-10 * max(1.0, np.abs(expected).max()), (link, name)


@pytest.mark.parametrize(("file", "base"), CASES)
def test_rates_of_jacobians(file, base):
    """`getJointJacobianTimeVariation` in world axes at the joint's origin."""
    robot = lw.load(example(file), base=base).without_friction()
    theirs = model(example(file), floating=base == "floating")
    q, qd, _ = random_states(robot, 1)
    data, G = theirs.createData(), coupling(robot, theirs)
    pin.computeJointJacobiansTimeVariation(theirs, data, to_pin_q(robot, theirs, q)[0], to_pin_v(robot, theirs, qd)[0])
    link = robot.moving_links[-1]
    (joint,) = [j.name for j in robot.joints if j.child == link]
    expected = pin.getJointJacobianTimeVariation(theirs, data, theirs.getJointId(joint), WORLD) @ G
    assert error(lw.compile(robot).jacobian_dot(q, qd, link)[0], expected) < 1e-10


@pytest.mark.parametrize("file", ["panda.urdf", "ur5_robot.urdf"])
def test_a_step_of_euler_against_mujoco(file):
    """A of one step by `mjd_transitionFD`, centred differences."""
    path, dt = example(file), 1e-3
    robot = lw.load(path).without_friction()
    robot = robot.lock([n for n in robot.names if "finger" in n])
    made = mujoco_bridge.model(robot, path)
    made.opt.integrator, made.opt.timestep = mujoco.mjtIntegrator.mjINT_EULER, dt
    made.dof_armature[:] = 0.0
    order = lw.permutation(robot, [mujoco.mj_id2name(made, mujoco.mjtObj.mjOBJ_JOINT, k) for k in range(made.njnt)])
    q, qd, _ = (x[0] for x in random_states(robot, 1))
    data, n = mujoco.MjData(made), robot.nv
    data.qpos[:], data.qvel[:] = q[order.v], qd[order.v]
    A = np.empty((2 * n, 2 * n))
    mujoco.mjd_transitionFD(made, data, 1e-6, True, A, None, None, None)
    back = np.concatenate([order.v_back, n + order.v_back])
    found = lw.compile_rollout(robot, method="euler").linearization(q, qd, np.zeros(n), dt)
    assert error(found.A - np.eye(2 * n), A[np.ix_(back, back)] - np.eye(2 * n)) < 1e-6
