"""Reactions through joints."""

from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.robot import Frame, Robot
from linkwise.vector import Vec3
from support.trees import (
    SEEDS,
    carried,
    dynamics,
    error,
    grounded,
    masses,
    moving,
    rate_along,
    seen_from,
    states,
    tree,
)

pytestmark = pytest.mark.parametrize("seed", SEEDS)


def test_joint_wrench_along_the_axis_is_the_torque(seed):
    """tau = the row's part along the joint + armature, friction and spring, mimic joints added to their leaders."""
    robot = tree(seed, motors=0.0)
    q, qd, qdd = states(robot)
    tau, wrench = dynamics(robot).joint_wrenches(q, qd, qdd)
    rows = dict(zip(robot.moving_links, wrench.swapaxes(0, 1), strict=True))
    found = np.zeros_like(tau)
    for joint, slot, ratio, offset in moving(robot):
        row = rows[joint.child]
        if joint.kind == "floating":
            found[:, slot.v : slot.v + 6] += row @ anchored(joint)
            continue
        x, v, a = ratio * q[:, slot.q] + offset, ratio * qd[:, slot.v], ratio * qdd[:, slot.v]
        along = row[:, :3] if joint.kind == "prismatic" else row[:, 3:]
        force = along @ np.array(joint.axis) + joint.armature * a
        force += [joint.friction.torque(float(s)) for s in v]
        if joint.spring:
            force += joint.spring.torque(x, v)
        found[:, slot.v] += ratio * force
    assert error(found, tau) < 1e-12
    assert error(tau, dynamics(robot).inverse_dynamics(q, qd, qdd)) < 1e-12


def anchored(joint):
    """Takes a row at the joint's anchor to the link's origin, where a floating joint's forces act."""
    T = np.eye(4)
    T[:3, 3] = joint.anchor
    return np.stack([seen_from(T, unit) for unit in np.eye(6)])


def test_net_wrench_on_the_base_is_the_rate_of_momentum(seed):
    """What the ground exerts + gravity + external wrenches = d/dt momentum."""
    robot = tree(seed)
    names = ("tool", "frame2")
    q, qd, qdd = states(robot, 3)
    f_ext = np.random.default_rng(3).normal(size=(3, 2, 6)) * 10.0
    still = grounded(robot)
    dyn = lw.compile(robot, external=names)
    wrench, poses = dyn.joint_wrenches(q, qd, qdd, f_ext).wrench, dyn.poses(q)
    joints = [j for j in robot.joints if not j.is_fixed]
    for k in range(len(q)):
        net = np.zeros(6)
        for row, joint, T in zip(wrench[k], joints, poses[k], strict=True):
            if joint.parent in still:
                at = T.copy()
                at[:3, 3] += T[:3, :3] @ joint.anchor
                net += seen_from(at, row)
        for link, mass, com, _ in masses(robot):
            T = np.reshape(lw.pose.plain(robot, q[k].tolist(), frame=link), (4, 4))
            weight = mass * np.array(robot.gravity)
            net += np.concatenate([weight, np.cross(T[:3, :3] @ com + T[:3, 3], weight)])
        for name, f in zip(names, f_ext[k], strict=True):
            if robot.frame(name).link not in still:
                net += seen_from(dyn.pose(q[k], name), f)
        rate = rate_along(robot, lambda q, qd: lw.algorithms.momentum.plain(robot, q, qd), q[k], qd[k], qdd[k])
        assert error(net, rate) < 1e-11


def sensor(robot):
    """The welded joint, not on the ground, that carries most."""
    welds = [j for j in robot.joints if j.is_fixed and j.parent not in grounded(robot)]
    return max(welds, key=lambda j: len(carried(robot, j.child)))


def test_wrench_at_a_weld_is_the_force_of_a_floating_joint_held_still(seed):
    """wrench_at = the six forces of a floating joint in the weld's place, at rest."""
    robot = tree(seed, fixed=0.8)
    weld = replace(sensor(robot), anchor=Vec3(0.1, 0.2, 0.3))  # which a weld has no use for
    robot = robot.replace(weld)
    loose = robot.replace(replace(weld, kind="floating"))
    q, qd, qdd = states(robot)
    slot = loose.slots[weld.name]
    still = np.tile([0.0, 0, 0, 0, 0, 0, 1], (len(q), 1))
    inserted = (
        np.hstack([q[:, : slot.q], still, q[:, slot.q :]]),
        np.hstack([qd[:, : slot.v], 0.0 * still[:, :6], qd[:, slot.v :]]),
        np.hstack([qdd[:, : slot.v], 0.0 * still[:, :6], qdd[:, slot.v :]]),
    )
    tau = lw.compile(loose).inverse_dynamics(*inserted)
    dyn = dynamics(robot)
    assert error(dyn.wrench_at(weld.name)(q, qd, qdd), tau[:, slot.v : slot.v + 6]) < 1e-12
    assert error(dyn.wrench_at(weld.child)(q, qd, qdd), tau[:, slot.v : slot.v + 6]) < 1e-12
    assert error(dyn.inverse_dynamics(q, qd, qdd), np.delete(tau, np.s_[slot.v : slot.v + 6], axis=1)) < 1e-12


def test_wrench_at_a_weld_holds_the_cut_robot(seed):
    """A robot cut at the weld, with minus the wrench on the stump, has the torques of the whole."""
    whole = tree(seed, fixed=0.8, mimic=0.0, motors=0.0)
    weld = sensor(whole)
    near = {k.name for k in whole.links} - carried(whole, weld.child)
    stump = Robot(
        [k for k in whole.links if k.name in near],
        [j for j in whole.joints if j.child in near],
        [Frame("stump", weld.parent, weld.origin)],
    )
    q, qd, qdd = states(whole)
    dyn = dynamics(whole)
    slots = [whole.slots[name] for name in stump.names]
    left_q = [s.q + k for s in slots for k in range(s.nq)]
    left = [s.v + k for s in slots for k in range(s.nv)]
    wrench = dyn.wrench_at(weld.name)(q, qd, qdd)
    kernel = lw.compile(stump, lw.inverse_dynamics, external="stump")
    tau = kernel(q[:, left_q], qd[:, left], qdd[:, left], -wrench[:, None, :])
    assert error(tau, dyn.inverse_dynamics(q, qd, qdd)[:, left]) < 1e-12
