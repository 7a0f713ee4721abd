"""Parallel robots against Lagrange multipliers on Pinocchio's model of platform and legs, held together by constraints.

Of Linkwise the constrained formulation uses the joint positions of the legs alone, whose closure it checks.
"""

from typing import NamedTuple

import numpy as np
import pinocchio as pin
import pytest

import linkwise as lw
from support.machines import Machine, machine, pose_of
from support.trees import error

PLATFORM = {
    "spatial": pin.JointModelFreeFlyer,
    "translation": pin.JointModelTranslation,
    "planar": pin.JointModelPlanar,
}


def plain(m):
    """The machine without what Pinocchio does not know: friction, springs and motors on links."""
    legs = []
    for leg in m.robot.legs:
        joints = [
            lw.Joint(j.name, j.parent, j.child, j.kind, j.origin, j.axis, armature=j.armature) for j in leg.robot.joints
        ]
        legs.append(
            lw.parallel.Leg(
                leg.name, leg.robot.replace(joints=joints), leg.tip, leg.at, leg.actuated, leg.base, leg.home
            )
        )
    return Machine(m.robot.replace(legs=legs), m.home)


class Held(NamedTuple):
    """A tree of Pinocchio's, and the frames that are to coincide, leg's and platform's."""

    model: pin.Model
    pairs: list[tuple[int, int]]
    active: list[int]  # places in v

    @classmethod
    def of(cls, robot):
        model = pin.Model()
        model.gravity.linear = np.array(robot.gravity)
        platform = model.addJoint(0, PLATFORM[robot.mobility](), pin.SE3.Identity(), "platform")
        model.appendBodyToJoint(platform, body(robot.platform), pin.SE3.Identity())
        pairs, active, armature = [], [], [0.0] * model.nv
        for leg in robot.legs:
            parent, X = 0, se3(leg.base)
            for j in leg.robot.joints:
                kind = pin.JointModelPrismaticUnaligned if j.kind == "prismatic" else pin.JointModelRevoluteUnaligned
                if j.name in leg.actuated:
                    active.append(model.nv)
                parent = model.addJoint(parent, kind(np.array(j.axis)), X * se3(j.origin), f"{leg.name}.{j.name}")
                model.appendBodyToJoint(parent, body(leg.robot.link(j.child)), pin.SE3.Identity())
                armature.append(j.armature)
                X = pin.SE3.Identity()
            tip = se3(leg.robot.frame(leg.tip).origin)
            at = pin.SE3(np.eye(3), np.array(leg.at))
            frames = ((f"{leg.name}.tip", parent, tip), (f"{leg.name}.at", platform, at))
            pairs.append(tuple(model.addFrame(pin.Frame(n, i, 0, F, pin.FrameType.OP_FRAME)) for n, i, F in frames))
        model.armature = np.array(armature)
        return cls(model, pairs, active)


def se3(X):
    return pin.SE3(np.array(X.R), np.array(X.p))


def body(link):
    xx, xy, xz, yy, yz, zz = link.inertia
    return pin.Inertia(link.mass, np.array(link.com), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))


def state(robot, pose, v, legs_q, legs_qd):
    """q and v of the tree."""
    R, _ = pose_of(pose, robot.mobility)
    if robot.mobility == "planar":
        back = R[:2, :2].T
        q, rate = [*pose[:2], np.cos(pose[2]), np.sin(pose[2])], [*(back @ v[:2]), v[2]]
    elif robot.mobility == "spatial":
        q, rate = pose, [*(R.T @ v[:3]), *(R.T @ v[3:])]
    else:
        q, rate = pose, v
    return np.array([*q, *legs_q]), np.array([*rate, *legs_qd])


def accelerated(robot, held, q, v, forces):
    """Platform's acceleration (classical, world axes) and the error of closure, by Lagrange multipliers."""
    model, data = held.model, held.model.createData()
    rows = 2 if robot.mobility == "planar" else 3
    M = pin.crba(model, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    h = pin.nonLinearEffects(model, data, q, v)
    pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    J, drift, open_ = [], [], 0.0
    axes = pin.LOCAL_WORLD_ALIGNED
    for a, b in held.pairs:
        J.append((pin.getFrameJacobian(model, data, a, axes) - pin.getFrameJacobian(model, data, b, axes))[:rows])
        ends = [pin.getFrameClassicalAcceleration(model, data, f, axes).linear for f in (a, b)]
        drift.append((ends[0] - ends[1])[:rows])
        open_ = max(open_, np.abs((data.oMf[a].translation - data.oMf[b].translation)[:rows]).max())
    J, drift = np.vstack(J), np.concatenate(drift)
    assert np.abs(J @ v).max() < 1e-12 * max(1.0, np.abs(v).max())
    tau = np.zeros(model.nv)
    tau[held.active] = forces
    n, m = model.nv, len(drift)
    KKT = np.block([[M, -J.T], [J, np.zeros((m, m))]])
    qdd = np.linalg.solve(KKT, np.concatenate([tau - h, -drift]))[:n]
    return qdd, open_


def of_platform(robot, pose, v, qdd):
    """The classical acceleration of the platform from the rates of Pinocchio's components."""
    R, _ = pose_of(pose, robot.mobility)
    if robot.mobility == "spatial":
        return np.concatenate([R @ qdd[:3] + np.cross(v[3:], v[:3]), R @ qdd[3:6]])
    if robot.mobility == "planar":
        turned = R[:2, :2] @ qdd[:2] + v[2] * np.array([-v[1], v[0]])
        return np.array([*turned, qdd[2]])
    return qdd[:3]


@pytest.mark.parametrize(
    "name",
    [
        "Gough-Stewart", "Delta", "3-RRR upright", "6-UPS", "6-RUS", "6-PUS", "6-URS", "3-RUS, translation", "3-RRR",
        "3-RPR", "3-PRR", "8-UPS",
    ],
)  # fmt: skip
def test_dynamics_with_lagrange_multipliers(name, monkeypatch):
    """The forces of inverse dynamics give the platform its acceleration, and the legs theirs."""
    monkeypatch.setenv("LINKWISE_BACKEND", "numpy")
    m = plain(machine(name))
    robot, held = m.robot, Held.of(m.robot)
    pose, v, a = m.states(10, seed=3)
    forces, motion, q = m.par.inverse_dynamics(pose, v, a), m.par.leg_motion(pose, v, a), m.par.inverse_kinematics(pose)
    for k in range(len(pose)):
        state_q, state_v = state(robot, pose[k], v[k], q[k], motion.qd[k])
        qdd, open_ = accelerated(robot, held, state_q, state_v, forces[k])
        assert open_ < 1e-13
        assert error(of_platform(robot, pose[k], v[k], qdd), a[k]) < 1e-9
        assert error(qdd[robot.nv :], motion.qdd[k]) < 1e-9


@pytest.mark.parametrize("name", ["Gough-Stewart", "Delta", "6-RUS"])
def test_inverse_dynamics_with_lagrange_multipliers(name, monkeypatch):
    """Forces of actuators and constraints that balance Pinocchio's joint forces: relative 1e-8."""
    monkeypatch.setenv("LINKWISE_BACKEND", "numpy")
    m = plain(machine(name))
    robot, held = m.robot, Held.of(m.robot)
    pose, v, a = m.states(10, seed=4)
    forces, motion, q = m.par.inverse_dynamics(pose, v, a), m.par.leg_motion(pose, v, a), m.par.inverse_kinematics(pose)
    pushed = m.par.leg_forces(pose, v, a)
    model, data = held.model, held.model.createData()
    S = np.zeros((model.nv, len(held.active)))
    S[held.active, range(len(held.active))] = 1.0
    for k in range(len(pose)):
        state_q, state_v = state(robot, pose[k], v[k], q[k], motion.qd[k])
        R, _ = pose_of(pose[k], robot.mobility)
        own = [*(R.T @ (a[k][:3] - np.cross(v[k][3:], v[k][:3]))), *(R.T @ a[k][3:])] if robot.nv == 6 else a[k]
        needed = pin.rnea(model, data, state_q, state_v, np.array([*own, *motion.qdd[k]]))
        pin.computeJointJacobians(model, data, state_q)
        pin.updateFramePlacements(model, data)
        axes = pin.LOCAL_WORLD_ALIGNED
        J = np.vstack([
            (pin.getFrameJacobian(model, data, b, axes) - pin.getFrameJacobian(model, data, at, axes))[:3]
            for b, at in held.pairs
        ])  # fmt: skip
        found = np.linalg.solve(np.hstack([S, J.T]), needed)
        assert error(forces[k], found[: robot.na]) < 1e-8
        assert error(pushed[k], -found[robot.na :].reshape(-1, 3)) < 1e-8


def test_gough_stewart_with_pinocchios_constraint_dynamics():
    """The same by Pinocchio's own algorithm for constrained forward dynamics."""
    m = plain(machine("Gough-Stewart"))
    robot, held = m.robot, Held.of(m.robot)
    pose, v, a = m.states(5, seed=5)
    forces, motion, q = m.par.inverse_dynamics(pose, v, a), m.par.leg_motion(pose, v, a), m.par.inverse_kinematics(pose)
    model, data = held.model, held.model.createData()
    contacts = []
    for one, other in held.pairs:
        ends = [(model.frames[f].parentJoint, model.frames[f].placement) for f in (one, other)]
        contacts.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, *ends[0], *ends[1]))
    datas = [c.createData() for c in contacts]
    pin.initConstraintDynamics(model, data, contacts, datas)
    for k in range(len(pose)):
        state_q, state_v = state(robot, pose[k], v[k], q[k], motion.qd[k])
        tau = np.zeros(model.nv)
        tau[held.active] = forces[k]
        settings = pin.ProximalSettings(1e-14, 1e-12, 50)
        qdd = pin.constraintDynamics(model, data, state_q, state_v, tau, contacts, datas, settings)
        assert error(of_platform(robot, pose[k], v[k], qdd), a[k]) < 1e-8
