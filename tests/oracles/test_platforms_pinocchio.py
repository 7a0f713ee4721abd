"""Platforms on legs against Lagrange multipliers on Pinocchio's model, held together by constraints.

Of Linkwise the constrained formulation uses the joint positions of the legs alone, whose closure it checks.
"""

from typing import NamedTuple

import numpy as np
import pinocchio as pin
import pytest

import linkwise as lw
from linkwise.mechanism.machine import machine_of
from support.machines import Machine, machine
from support.trees import error

SINGULAR = 1e5  # accelerations of legs beyond which one is all but stretched, and round-off decides
PLATFORM = {
    "floating": pin.JointModelFreeFlyer,
    "translation": pin.JointModelTranslation,
    "planar": pin.JointModelPlanar,
}


def plain(m):
    """The machine without what Pinocchio does not know: friction, springs and motors on links."""
    joints = [
        lw.Joint(j.name, j.parent, j.child, j.kind, j.origin, j.axis, armature=j.armature) for j in m.robot.joints
    ]
    return Machine(m.robot.replace(joints=joints), m.home)


class Held(NamedTuple):
    """A tree of Pinocchio's, and the frames that are to coincide, leg's and platform's."""

    model: pin.Model
    pairs: list[tuple[int, int]]
    active: list[int]  # places in v

    @classmethod
    def of(cls, robot):
        model = pin.Model()
        model.gravity.linear = np.array(robot.gravity)
        armature, at = [], {robot.root.name: (0, pin.SE3.Identity())}
        for j in robot.joints:
            parent, X = at[j.parent]
            X = X * se3(j.origin)
            if j.is_fixed:
                at[j.child] = parent, X
                continue
            kinds = {"prismatic": pin.JointModelPrismaticUnaligned, "revolute": pin.JointModelRevoluteUnaligned}
            kind = kinds[j.kind](np.array(j.axis)) if j.kind in kinds else PLATFORM[j.kind]()
            place = model.addJoint(parent, kind, X, j.name)
            model.appendBodyToJoint(place, body(robot.link(j.child)), pin.SE3.Identity())
            armature += [j.armature] * j.nv
            at[j.child] = place, pin.SE3.Identity()
        pairs = []
        for loop in robot.loops:
            ends = [(*at[link], se3(X)) for link, X in ((loop.b, loop.origin_b), (loop.a, loop.origin_a))]
            frames = [
                pin.Frame(f"{loop.name} {k}", i, 0, Y * X, pin.FrameType.OP_FRAME) for k, (i, Y, X) in enumerate(ends)
            ]
            pairs.append(tuple(model.addFrame(f) for f in frames))
        model.armature = np.array(armature)
        return cls(model, pairs, [model.joints[model.getJointId(n)].idx_v for n in robot.drives])


def se3(X):
    return pin.SE3(np.array(X.R), np.array(X.p))


def body(link):
    xx, xy, xz, yy, yz, zz = link.inertia
    return pin.Inertia(link.mass, np.array(link.com), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))


def state(robot, q, qd):
    """q and v of Pinocchio's tree, with all joints: its planar joint has a cosine and a sine, and its own axes."""
    whole, rates = lw.compile(robot).positions(q).q, np.array(machine_of(robot).at(list(q)).rates(list(qd)))
    if is_planar(robot):
        R = turn(q[2])
        return np.array([*q[:2], np.cos(q[2]), np.sin(q[2]), *whole[3:]]), np.array([*(R.T @ qd[:2]), *rates[2:]])
    return whole, rates


def is_planar(robot):
    return robot.joint("platform").kind == "planar"


def turn(angle):
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def accelerations(robot, q, qd, qdd):
    """Those of all joints, the platform's first."""
    return np.array(machine_of(robot).at(list(q)).led(list(qd), list(qdd))[1])


def accelerated(robot, held, q, v, forces):
    """Accelerations of all joints and the error of closure, by Lagrange multipliers."""
    model, data = held.model, held.model.createData()
    rows = 2 if is_planar(robot) else 3
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


def of_platform(robot, q, qd, qdd):
    """The acceleration of the platform, as Linkwise has it, from the rates of Pinocchio's components."""
    if is_planar(robot):
        return np.array([*(turn(q[2]) @ qdd[:2] + qd[2] * np.array([-qd[1], qd[0]])), qdd[2]])
    return qdd[: robot.nv]


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
    taken = 0
    for q, qd, qdd in zip(*m.states(10, seed=3), strict=True):
        if np.abs(accelerations(robot, q, qd, qdd)).max() > SINGULAR:
            continue
        taken += 1
        tau = m.dyn.inverse_dynamics(q, qd, qdd)
        found, open_ = accelerated(robot, held, *state(robot, q, qd), tau)
        assert open_ < 1e-13
        assert error(of_platform(robot, q, qd, found), qdd) < 1e-9
        assert error(found[robot.nv :], accelerations(robot, q, qd, qdd)[robot.nv :]) < 1e-9
    assert taken >= 9


@pytest.mark.parametrize("name", ["Gough-Stewart", "Delta", "6-RUS"])
def test_inverse_dynamics_with_lagrange_multipliers(name, monkeypatch):
    """Forces of actuators and constraints that balance Pinocchio's joint forces: relative 1e-8."""
    monkeypatch.setenv("LINKWISE_BACKEND", "numpy")
    m = plain(machine(name))
    robot, held = m.robot, Held.of(m.robot)
    model, data = held.model, held.model.createData()
    S = np.zeros((model.nv, len(held.active)))
    S[held.active, range(len(held.active))] = 1.0
    for q, qd, qdd in zip(*m.states(10, seed=4), strict=True):
        tau, cut = m.dyn.joint_wrenches(q, qd, qdd).tau, m.dyn.joint_wrenches(q, qd, qdd).cut
        needed = pin.rnea(model, data, *state(robot, q, qd), accelerations(robot, q, qd, qdd))
        pin.computeJointJacobians(model, data, state(robot, q, qd)[0])
        pin.updateFramePlacements(model, data)
        axes = pin.LOCAL_WORLD_ALIGNED
        J = np.vstack([
            (pin.getFrameJacobian(model, data, b, axes) - pin.getFrameJacobian(model, data, at, axes))[:3]
            for b, at in held.pairs
        ])  # fmt: skip
        found = np.linalg.solve(np.hstack([S, J.T]), needed)
        assert error(tau, found[: robot.nu]) < 1e-8
        # what the platform exerts on a leg, in its axes
        on_legs = [data.oMf[at].rotation @ c[:3] for (_, at), c in zip(held.pairs, cut, strict=True)]
        assert error(on_legs, found[robot.nu :].reshape(-1, 3)) < 1e-8


def test_gough_stewart_with_pinocchios_constraint_dynamics():
    """The same by Pinocchio's own algorithm for constrained forward dynamics."""
    m = plain(machine("Gough-Stewart"))
    robot, held = m.robot, Held.of(m.robot)
    model, data = held.model, held.model.createData()
    contacts = []
    for one, other in held.pairs:
        ends = [(model.frames[f].parentJoint, model.frames[f].placement) for f in (one, other)]
        contacts.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, *ends[0], *ends[1]))
    datas = [c.createData() for c in contacts]
    pin.initConstraintDynamics(model, data, contacts, datas)
    for q, qd, qdd in zip(*m.states(5, seed=5), strict=True):
        tau = np.zeros(model.nv)
        tau[held.active] = m.dyn.inverse_dynamics(q, qd, qdd)
        settings = pin.ProximalSettings(1e-14, 1e-12, 50)
        found = pin.constraintDynamics(model, data, *state(robot, q, qd), tau, contacts, datas, settings)
        assert error(of_platform(robot, q, qd, found), qdd) < 1e-8
