"""Edited robots are the robots one would have built."""

from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.robot import Frame, Joint, Link, Robot
from support.trees import (
    SEEDS,
    carried,
    dynamics,
    error,
    ideal,
    matrix,
    moving,
    states,
    tensor,
    tree,
    with_motors_on,
)

pytestmark = pytest.mark.parametrize("seed", SEEDS)


def lumped(link, mass, com, I_c, T=None):
    """The link with a further body, placed at T in its frame."""
    T = np.eye(4) if T is None else T
    bodies = [(link.mass, np.array(link.com), tensor(link.inertia))]
    bodies.append((mass, T[:3, :3] @ com + T[:3, 3], T[:3, :3] @ I_c @ T[:3, :3].T))
    total = sum(m for m, _, _ in bodies)
    centre = sum(m * c for m, c, _ in bodies) / total
    I = sum(I + m * ((c - centre) @ (c - centre) * np.eye(3) - np.outer(c - centre, c - centre)) for m, c, I in bodies)
    return Link(link.name, total, centre, (I + I.T) / 2.0)


def test_payload_is_a_lumped_body(seed):
    """with_payload = the body added to its link by hand."""
    robot = tree(seed)
    frame = robot.frame("tool")
    body = (1.7, np.array([0.1, -0.05, 0.2]), tensor((0.03, 0.002, -0.001, 0.04, 0.003, 0.05)))
    by_hand = robot.replace(lumped(robot.link(frame.link), *body, matrix(frame.origin)))
    state = states(robot)
    tau = dynamics(by_hand).inverse_dynamics(*state)
    assert error(lw.compile(robot.with_payload(*body, at="tool")).inverse_dynamics(*state), tau) < 1e-12
    assert error(dynamics(robot).inverse_dynamics(*state), tau) > 1e-6


def test_locked_joint_is_one_that_does_not_move(seed):
    """Locking joints at q leaves the others' torques as they are with those joints at rest."""
    robot = tree(seed)
    q, qd, qdd = (x[0] for x in states(robot))
    chosen = robot.names[:: 2 if seed % 2 else 3]
    for name in chosen:
        slot = robot.slots[name]
        qd[slot.v : slot.v + slot.nv] = qdd[slot.v : slot.v + slot.nv] = 0.0
    locked = robot.lock(chosen, at=q)
    assert locked.names == tuple(n for n in robot.names if n not in chosen)
    q_left = np.concatenate([q[robot.slots[n].q :][: robot.slots[n].nq] for n in locked.names])
    left = [robot.slots[n].v + k for n in locked.names for k in range(robot.slots[n].nv)]
    tau = dynamics(robot).inverse_dynamics(q, qd, qdd)[left]
    assert error(lw.compile(locked).inverse_dynamics(q_left, qd[left], qdd[left]), tau) < 1e-12
    M = dynamics(robot).mass_matrix(q)[np.ix_(left, left)]
    assert error(lw.compile(locked).mass_matrix(q_left), M) < 1e-12


def test_attached_parts_are_the_whole(seed):
    """A robot cut at a welded joint and attached again is itself, whatever the order of its joints."""
    whole = tree(seed, fixed=0.8, motors=0.0, mimic=0.0)
    mounts = [j for j in whole.joints if j.is_fixed and len(carried(whole, j.child)) > 2]
    mount = mounts[len(mounts) // 2]
    beyond = carried(whole, mount.child)
    upper = Robot(
        [k for k in whole.links if k.name not in beyond],
        [j for j in whole.joints if j.child not in beyond],
        [Frame("flange", mount.parent, mount.origin)],
    )
    lower = Robot(
        [k for k in whole.links if k.name in beyond], [j for j in whole.joints if j.parent in beyond], name="lower"
    )
    again = upper.attach(lower, at="flange")
    order = lw.permutation(whole, again.names)
    q, qd, qdd = states(whole)
    tau = lw.compile(again).inverse_dynamics(q[:, order.q], qd[:, order.v], qdd[:, order.v])
    assert error(tau[:, order.v_back], lw.compile(whole).inverse_dynamics(q, qd, qdd)) < 1e-12


def test_attached_robot_is_carried_by_the_tool(seed):
    """It feels the tool's motion as that of its base; the carrier feels the wrench through the mount."""
    carrier, other = tree(seed), tree(seed + 100, floating=False)
    whole = carrier.attach(other, at="tool", prefix="b_")
    own = [k for k, n in enumerate(whole.names) if n.startswith("b_")]
    assert [whole.names[k].removeprefix("b_") for k in own] == list(other.names)
    q, qd, qdd = states(whole)
    dyn = lw.compile(whole)
    tau = dyn.inverse_dynamics(q, qd, qdd)

    def split(x, width):
        slots = [whole.slots[n] for n in whole.names]
        places = [(s.q, s.nq) if width == "q" else (s.v, s.nv) for s in slots]
        parts = [[a + i for k, (a, n) in enumerate(places) if (k in own) == b for i in range(n)] for b in (False, True)]
        return x[:, parts[0]], x[:, parts[1]]

    (q_a, q_b), (qd_a, qd_b), (qdd_a, qdd_b) = split(q, "q"), split(qd, "v"), split(qdd, "v")
    here = dynamics(carrier)
    motion = (
        here.velocity(q_a, qd_a, "tool", axes="local"),
        here.acceleration(q_a, qd_a, qdd_a, "tool", axes="local"),
    )
    felt = np.array(whole.gravity) @ here.pose(q_a, "tool")[:, :3, :3]
    theirs = lw.compile(other, lw.inverse_dynamics, base_motion=True, gravity="input")
    assert error(theirs(q_b, qd_b, qdd_b, *motion, felt), split(tau, "v")[1]) < 1e-12
    wrench = dyn.wrench_at("b_" + other.name + "_mount")(q, qd, qdd)
    loaded = lw.compile(carrier, lw.inverse_dynamics, external="tool")
    assert error(loaded(q_a, qd_a, qdd_a, -wrench[:, None, :]), split(tau, "v")[0]) < 1e-12


def test_mimic_is_a_coupling(seed):
    """tau = G^T tau_free and M = G^T M_free G of the robot whose joints all move by themselves."""
    robot = tree(seed, mimic=0.5)
    free = robot.replace(joints=[replace(j, mimic=None) for j in robot.joints])
    q, qd, qdd = states(robot)
    G, E, offset = np.zeros((free.nv, robot.nv)), np.zeros((free.nq, robot.nq)), np.zeros(free.nq)
    for joint, slot, ratio, constant in moving(robot):
        own = free.slots[joint.name]
        G[own.v : own.v + own.nv, slot.v : slot.v + slot.nv] = ratio * np.eye(own.nv)
        E[own.q : own.q + own.nq, slot.q : slot.q + slot.nq] = ratio * np.eye(own.nq)
        offset[own.q : own.q + own.nq] = constant
    state = q @ E.T + offset, qd @ G.T, qdd @ G.T
    dyn, full = dynamics(robot), lw.compile(free)
    assert error(dyn.inverse_dynamics(q, qd, qdd), full.inverse_dynamics(*state) @ G) < 1e-12
    assert error(dyn.mass_matrix(q), G.T @ full.mass_matrix(state[0]) @ G) < 1e-12
    assert error(dyn.jacobian(q, "tool"), full.jacobian(state[0], "tool") @ G) < 1e-12


def test_without_friction_is_the_ideal_robot(seed):
    """without_friction() = the same robot drawn without friction."""
    assert tree(seed, springs=0.0).without_friction() == ideal(seed)


def test_motor_is_a_welded_body_and_a_spin(seed):
    """A motor whose rotor has no inertia is a body welded to the link that carries it."""
    robot = tree(seed, motors=1.0)
    bodies, joints = [], []
    for j in robot.joints:
        motor = j.drive.motor if j.drive else None
        if motor is None:
            joints.append(j)
            continue
        on = motor.link if motor.link is not None else j.parent
        bodies.append((on, Link(f"{j.name}_motor", motor.mass, motor.com, motor.inertia)))
        joints.append(replace(j, drive=replace(j.drive, motor=replace(motor, rotor=0.0))))
    still = robot.replace(joints=joints)
    bare = robot.replace(joints=[replace(j, drive=j.drive and replace(j.drive, motor=None)) for j in joints])
    welds = [Joint(f"{b.name}_mount", on, b.name, "fixed") for on, b in bodies]
    welded = bare.add(*(b for _, b in bodies), *welds)
    state = states(robot)
    assert error(lw.compile(still).inverse_dynamics(*state), lw.compile(welded).inverse_dynamics(*state)) < 1e-12


def test_motor_on_the_base_about_any_axis_is_an_armature(seed):
    """A rotor on a link that stands still adds gear^2 I, as an armature does."""
    robot = with_motors_on(tree(seed, motors=1.0, armature=0.0, floating=False), set())
    on_base, as_armature = [], []
    for j in robot.joints:
        if not (j.drive and j.drive.motor):
            on_base.append(j)
            as_armature.append(j)
            continue
        motor = replace(j.drive.motor, link="base")
        on_base.append(replace(j, drive=replace(j.drive, motor=motor)))
        armature = motor.rotor * j.drive.gear**2
        as_armature.append(replace(j, armature=armature, drive=replace(j.drive, motor=None)))
    state = states(robot)
    one, other = (lw.compile(robot.replace(joints=joints)) for joints in (on_base, as_armature))
    assert error(one.inverse_dynamics(*state), other.inverse_dynamics(*state)) < 1e-12
    assert error(one.mass_matrix(state[0]), other.mass_matrix(state[0])) < 1e-12
