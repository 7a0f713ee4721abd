"""Inverse and forward models of linkages: published numbers, redundant drives, springs, options."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.mechanism.structure import structure_of
from linkwise.robot import Drive, Loop, Spring
from linkwise.spatial import Pose, Wrench
from support.linkages import (
    applied,
    by_multipliers,
    compiled,
    example,
    golden_four_bar,
    openness,
    redundant_four_bar,
    states,
)
from support.sources import case
from support.trees import error


def test_golden_four_bar():
    """Case 003, which a Lagrangian in one coordinate gave."""
    c = case("003_fourbar")
    robot = golden_four_bar()
    robot = robot.replace(reference=dict(zip(robot.opened().names, c["q"], strict=True)))
    dyn = compiled(robot)
    x, v, a = ([c[key][0]] for key in ("q", "qd", "qdd"))
    assert dyn.positions(x).converged
    found = dyn.tree_motion(x, v, a)
    for ours, key in ((found.q_tree, "q"), (found.qd_tree, "qd"), (found.qdd_tree, "qdd")):
        assert error(ours, c[key]) < 1e-10
    assert error(dyn.inverse_dynamics(x, v, a), c["Gamma_c"]) < 1e-10
    assert error(dyn.tree_jacobian(x), c["G"]) < 1e-10
    assert error(dyn.mass_matrix(x), c["A_c"]) < 1e-10
    assert error(dyn.bias_forces(x, v), c["H_c"]) < 1e-10
    assert error(dyn.forward_dynamics(x, v, c["Gamma_c"]), a) < 1e-10


# ---- redundant drives


def test_redundant_torques_are_shared():
    """Any split that the other drives make up for; the least one is the projection of all."""
    robot = redundant_four_bar()
    dyn, single = compiled(robot), compiled(lw.load("fourbar"))
    assert structure_of(robot).redundant == ("rocker",)
    assert (robot.coordinates, robot.drives) == (("crank",), ("crank", "rocker"))
    q, qd, qdd = states("fourbar", 20)
    both, one = (d.inverse_dynamics(q, qd, qdd) for d in (dyn, single))
    G = dyn.drive_jacobian(q)[..., 0]
    assert error((G * both).sum(axis=1), one[:, 0]) < 1e-12
    least = G * (one / (G * G).sum(axis=1, keepdims=True))
    assert error(both, least) < 1e-12
    assert error(dyn.forward_dynamics(q, qd, both), qdd) < 1e-9


def test_weights_move_torque_to_the_stronger_drive():
    dyn = compiled(redundant_four_bar())
    q, _, _ = states("fourbar", 5)
    force, G = np.ones((5, 1)), dyn.drive_jacobian(q)[..., 0]
    for weights in ([1.0, 1.0], [1.0, 1e6], [3.0, 0.2]):
        tau = dyn.share(q, force, weights)
        assert error((G * tau).sum(axis=1), force[:, 0]) < 1e-10
        exact = G / np.array(weights)
        assert error(tau, exact / (G * exact).sum(axis=1, keepdims=True)) < 1e-10
    with pytest.raises(lw.InputError, match="above zero"):
        dyn.share(q, force, [1.0, 0.0])


def test_wrenches_beside_redundant_torques():
    """Multipliers and torques together move the tree as asked."""
    robot = redundant_four_bar()
    dyn = compiled(robot)
    q, qd, qdd = states("fourbar", 10)
    held, motion = dyn.joint_wrenches(q, qd, qdd), dyn.tree_motion(q, qd, qdd)
    found = by_multipliers(robot)(motion.q_tree, motion.qd_tree, applied(robot, held.tau))
    assert error(found.qdd, motion.qdd_tree) < 1e-9
    assert error(found.wrench, held.cut) < 1e-9


# ---- springs


def test_a_spring_at_a_passive_joint_adds_its_torque():
    """By the principle of virtual work: G^T of the spring's torque."""
    plain = lw.load("fivebar")
    sprung = plain.replace(replace(plain.joint("left_elbow"), spring=Spring(4.0, 0.3, 0.2)))
    q, qd, qdd = states("fivebar", 20)
    without, with_ = compiled(plain), compiled(sprung)
    k = plain.opened().slots["left_elbow"].v
    motion = without.tree_motion(q, qd, qdd)
    torque = 4.0 * (motion.q_tree[:, k] - 0.2) + 0.3 * motion.qd_tree[:, k]
    more = without.tree_jacobian(q)[:, k, :] * torque[:, None]
    assert error(with_.inverse_dynamics(q, qd, qdd), without.inverse_dynamics(q, qd, qdd) + more) < 1e-11


def compliant():
    """A five-bar linkage with one motor: a spring at the other base joint, which leads too, closes the count."""
    robot = lw.load("fivebar")
    (loop,) = robot.loops
    spring = replace(robot.joint("right_motor"), spring=Spring(20.0))
    return robot.replace(replace(loop, active=("left_motor",)), spring, leads=("left_motor", "right_motor"))


def free_motion(rows=20):
    """States in which only its spring moves the joint without a motor, and the motor's torques."""
    dyn = compiled(compliant())
    q, qd, _ = states("fivebar", rows)
    torque = np.random.default_rng(0).uniform(-3.0, 3.0, (rows, 1))
    return q, qd, dyn.forward_dynamics(q, qd, np.hstack([torque, 0.0 * torque])), torque


def test_a_free_elastic_joint_moves_as_its_spring_lets_it():
    """In a free motion the residual of the joint without a motor is zero; with a motor there it has no torque."""
    robot = compliant()
    assert structure_of(robot).free == ("right_motor",)
    assert structure_of(robot).active == ("left_motor",)
    assert robot.coordinates == ("left_motor", "right_motor")
    q, qd, qdd, torque = free_motion()
    tau = compiled(robot).inverse_dynamics(q, qd, qdd)
    assert error(tau[:, :1], torque) < 1e-9
    assert np.abs(tau[:, 1]).max() < 1e-9 * np.abs(tau).max()
    driven = compiled(robot.replace(lw.load("fivebar").loops[0]))
    assert error(driven.inverse_dynamics(q, qd, qdd), tau) < 1e-12


def test_a_joint_on_a_spring_leads_only_if_it_is_named():
    with pytest.raises(lw.ModelError, match=r"got 1 \('left_motor'\).*or in leads=\(...\) where nothing drives them"):
        structure_of(compliant().replace(leads=()))


def test_wrenches_beside_a_free_joint():
    """What its joint carries along the axis is its spring's torque."""
    robot = compliant()
    q, qd, qdd, _ = free_motion()
    found = compiled(robot).joint_wrenches(q, qd, qdd)
    joint = robot.joint("right_motor")
    six = found.wrench[:, robot.moving_links.index(joint.child)]
    carried = six[:, 3:] @ np.array(joint.axis) + joint.armature * qdd[:, 1]
    assert error(carried, -20.0 * q[:, 1]) < 1e-9


def test_rates_beside_a_free_joint():
    """They are those of any motion that is given, of residuals too."""
    dyn = compiled(compliant().without_friction())
    q, qd, qdd, _ = (x[:5] for x in free_motion())
    qddd, h = np.random.default_rng(3).uniform(-3.0, 3.0, q.shape), 1e-4

    def torque(t):
        there = q + qd * t + qdd * t**2 / 2.0 + qddd * t**3 / 6.0
        return dyn.inverse_dynamics(there, qd + qdd * t + qddd * t**2 / 2.0, qdd + qddd * t)

    slope = (8.0 * (torque(h) - torque(-h)) - (torque(2 * h) - torque(-2 * h))) / (12.0 * h)
    assert error(dyn.force_rates(q, qd, qdd, qddd).tau_dot, slope) < 1e-7


def test_a_stiffer_spring_moves_less():
    """At rest under gravity the spring's deflection is its load over its stiffness, where it balances gravity."""
    robot, still = compliant(), [0.0, 0.0]
    load = compiled(lw.load("fivebar")).inverse_dynamics([0.2, 0.0], still, still)[1]
    for stiffness in (1e4, 1e6):
        stiff = robot.replace(replace(robot.joint("right_motor"), spring=Spring(stiffness)))
        tau = compiled(stiff).inverse_dynamics([0.2, load / -stiffness], still, still)
        assert abs(tau[1]) < 20.0 * load**2 / stiffness


def test_an_elastic_drive_in_a_loop():
    """Its motor is the active coordinate, the joint behind the spring leads without a drive: its residual is zero."""
    robot = lw.load("fivebar")
    drive = Drive(stiffness=300.0, damping=0.2)
    robot = robot.replace(replace(robot.joint("left_motor"), drive=drive))
    dyn, structure = compiled(robot), structure_of(robot)
    assert structure.free == ("left_motor",)
    assert set(structure.active) == {"right_motor", "left_motor.motor"}
    assert structure.mobility == robot.nv == 3
    rng = np.random.default_rng(2)
    q = rng.uniform(-0.3, 0.3, (10, 3))
    qd, torque = rng.uniform(-1.0, 1.0, (10, 3)), rng.uniform(-1.0, 1.0, (10, 2))
    tau = robot.tau(torque)
    qdd = dyn.forward_dynamics(q, qd, tau)
    assert np.isfinite(qdd).all()
    assert np.abs(dyn.inverse_dynamics(q, qd, qdd) - tau).max() < 1e-9 * np.abs(qdd).max()


# ---- options and manners


def test_external_wrenches_and_gravity():
    """A force at the tool is felt by the motors as J^T of the closed chain."""
    robot = lw.load("fivebar")
    kernel = lw.compile(robot, external=("tool",), gravity="input").inverse_dynamics
    q, qd, qdd = states("fivebar", 10)
    force = np.random.default_rng(1).normal(size=(10, 1, 6))
    g = np.array([0.0, 0.0, -9.81])
    assert list(kernel.inputs) == ["q", "qd", "qdd", "f_ext", "gravity"]
    less = kernel(q, qd, qdd, 0.0 * force, g) - kernel(q, qd, qdd, force, g)
    dyn = compiled(robot)
    tree_q, G = dyn.positions(q).q, dyn.tree_jacobian(q)
    J = compiled(robot.opened()).jacobian(tree_q, "tool", axes="local") @ G
    assert error(dyn.jacobian(q, "tool", axes="local"), J) < 1e-12
    assert error(less, np.einsum("nij,ni->nj", J, force[:, 0])) < 1e-10
    assert error(kernel(q, qd, qdd, 0.0 * force, g), example("fivebar").inverse_dynamics(q, qd, qdd)) < 1e-12
    with pytest.raises(TypeError, match="f_ext"):
        kernel([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])


def test_laws_of_the_environment_act():
    """A damper at the tool takes away its power."""
    robot = lw.load("fivebar").without_friction()
    damped = lw.compile(robot, forces={"tool": lambda pose, v: Wrench(v.linear * -3.0)})
    q, qd, qdd = states("fivebar", 10)
    more = damped.inverse_dynamics(q, qd, qdd) - example("fivebar").inverse_dynamics(q, qd, qdd)
    v = example("fivebar").velocity(q, qd, "tool")[:, :3]
    assert error((more * qd).sum(axis=1), 3.0 * (v * v).sum(axis=1)) < 1e-10


@pytest.mark.slow
def test_a_floating_platform_on_six_legs():
    """Gough and Stewart's as a tree with a floating platform: eighteen equations, led by six slides."""
    robot = stewart()
    assert structure_of(robot).mobility == 6
    assert robot.coordinates == tuple(f"slide{k}" for k in range(6))
    dyn = lw.compile(robot)
    rng = np.random.default_rng(0)
    q = rng.uniform(-0.05, 0.05, (20, 6))
    found = dyn.positions(q)
    assert found.converged.all()
    assert openness(robot, found.q) < 1e-12
    v, a = rng.uniform(-0.3, 0.3, (2, 20, 6))
    motion = dyn.tree_motion(q, v, a)
    forces = applied(robot, dyn.inverse_dynamics(q, v, a))
    assert error(by_multipliers(robot)(found.q, motion.qd_tree, forces).qdd, motion.qdd_tree) < 1e-8
    # led by its platform instead, the same forces
    led = robot.replace(leads=("platform",))
    places = led.opened().slots["platform"]
    at = slice(places.v, places.v + 6)
    tau = lw.compile(led).inverse_dynamics(found.q[:, :7], motion.qd_tree[:, at], motion.qdd_tree[:, at])
    assert led.drives == robot.drives
    assert error(tau, dyn.inverse_dynamics(q, v, a)) < 1e-8


def stewart():
    """A platform of 20 kg on six legs of two links each, at rest 0.7 m high."""
    links = [lw.Link("ground"), lw.Link("platform", 20.0, (0.0, 0.0, 0.02), (0.8, 0.8, 1.5))]
    joints = [lw.Joint("platform", "ground", "platform", "floating", Pose.of((0.0, 0.0, 0.7)))]
    loops = []
    for k in range(6):
        low = 2.0 * np.pi / 3.0 * ((k + 1) // 2) + (0.2 if k % 2 else -0.2)
        high = 2.0 * np.pi / 3.0 * (k // 2) + (0.4 if k % 2 else -0.4) + np.pi / 3.0
        foot = np.array([0.6 * np.cos(low), 0.6 * np.sin(low), 0.0])
        head = np.array([0.35 * np.cos(high), 0.35 * np.sin(high), 0.0])
        d = head - foot + np.array([0.0, 0.0, 0.7])
        length = np.linalg.norm(d)
        z = d / length
        pitch, roll = np.arctan2(z[0], z[2]), -np.arcsin(z[1])
        links += [
            lw.Link(f"cross{k}", 0.1, (0.0, 0.0, 0.0), (1e-4, 1e-4, 1e-4)),
            lw.Link(f"cylinder{k}", 3.0, (0.0, 0.0, 0.2), (0.04, 0.04, 0.002)),
            lw.Link(f"piston{k}", 1.5, (0.0, 0.0, -0.15), (0.015, 0.015, 0.0005)),
        ]
        joints += [
            lw.Joint(f"yaw{k}", "ground", f"cross{k}", "revolute", Pose.of(foot, (0.0, pitch, 0.0)), (0.0, 1.0, 0.0)),
            lw.Joint(
                f"tilt{k}", f"cross{k}", f"cylinder{k}", "revolute", Pose.of(rpy=(roll, 0.0, 0.0)), (1.0, 0.0, 0.0)
            ),
            lw.Joint(f"slide{k}", f"cylinder{k}", f"piston{k}", "prismatic", Pose.of((0.0, 0.0, length))),
        ]
        loops.append(Loop(f"ball{k}", f"piston{k}", "platform", "spherical", Pose(), Pose.of(head), (f"slide{k}",)))
    return lw.Robot(links, joints, loops=loops, leads=[f"slide{k}" for k in range(6)], name="stewart")


def test_pickles():
    dyn = example("fivebar")
    again = pickle.loads(pickle.dumps(dyn))
    assert again.robot == dyn.robot
    kernel = pickle.loads(pickle.dumps(dyn.inverse_dynamics))
    q, qd, qdd = states("fivebar", 3)
    assert np.array_equal(kernel(q, qd, qdd), dyn.inverse_dynamics(q, qd, qdd))
    assert "inverse_dynamics of the robot 'fivebar'" in repr(kernel)
    assert "double" in kernel.c_source()


def test_base_parameters_are_those_that_active_torques_identify():
    """The tree of the five-bar has one more: the loop ties what its links weigh to what the drives feel."""
    robot = lw.load("fivebar")
    assert (len(lw.base_parameters(robot)), len(lw.base_parameters(robot.opened()))) == (21, 22)
