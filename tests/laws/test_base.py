"""A base that floats, is welded, is moved, or is turned."""

from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.robot import Joint, Link, Robot
from linkwise.rotation import from_quaternion
from support.trees import SEEDS, carried, dynamics, error, grounded, matrix, rotation, states, tree, with_motors_on

pytestmark = pytest.mark.parametrize("seed", SEEDS)
KINDS = ("revolute", "prismatic", "continuous")


def floating(seed):
    """A robot whose base floats and carries all motors and frames."""
    robot = tree(seed, floating=True, kinds=KINDS, joints=4)
    robot = robot.replace(frames=[f for f in robot.frames if f.link != "base"])
    return with_motors_on(robot, carried(robot, "body"))


def standing(robot):
    """The same robot with its body as the root."""
    links = [k for k in robot.links if k.name != "base"]
    return Robot(links, [j for j in robot.joints if j.name != "root"], robot.frames, name="standing")


def test_welded_floating_base_is_a_fixed_base(seed):
    """Locking the floating joint gives the robot on a fixed base, turned and placed there."""
    robot = floating(seed)
    q, qd, qdd = states(robot)
    welded = robot.lock("root", at=q[0])
    root = robot.joint("root")
    X = root.origin @ lw.Pose.of_quaternion(q[0, :3].tolist(), q[0, 3:7].tolist())
    by_hand = robot.replace(Joint("root", "base", "body", "fixed", X))
    tau = lw.compile(by_hand).inverse_dynamics(q[:, 7:], qd[:, 6:], qdd[:, 6:])
    assert error(lw.compile(welded).inverse_dynamics(q[:, 7:], qd[:, 6:], qdd[:, 6:]), tau) < 1e-13
    still = np.zeros_like(qd[:, :6])
    at = np.broadcast_to(q[0, :7], (len(q), 7))
    free = dynamics(robot).inverse_dynamics(
        np.hstack([at, q[:, 7:]]), np.hstack([still, qd[:, 6:]]), np.hstack([still, qdd[:, 6:]])
    )
    assert error(free[:, 6:], tau) < 1e-12


def base_motion(robot, q, qd, qdd):
    """Velocity, classical acceleration and gravity of a floating base, in its axes."""
    v, omega = qd[:, :3], qd[:, 3:6]
    a = np.hstack([qdd[:, :3] + np.cross(omega, v), qdd[:, 3:6]])
    R = matrix(robot.joint("root").origin)[:3, :3] @ [rotation(x) for x in q[:, 3:7]]
    return qd[:, :6], a, np.array(robot.gravity) @ R


def test_moved_base_is_a_floating_base(seed):
    """Joint torques with a prescribed base motion = those of the floating robot that moves so."""
    robot = floating(seed)
    q, qd, qdd = states(robot)
    motion = base_motion(robot, q, qd, qdd)
    moved = lw.compile(standing(robot), base_motion=True, gravity="input")
    own = q[:, 7:], qd[:, 6:], qdd[:, 6:]
    dyn = dynamics(robot)
    tau, wrench = dyn.joint_wrenches(q, qd, qdd)
    assert error(moved.inverse_dynamics(*own, *motion), tau[:, 6:]) < 1e-12
    assert error(moved.joint_wrenches(*own, *motion).wrench, wrench[:, 1:]) < 1e-12
    Y = moved.regressor(*own, *motion)
    assert error(Y, dyn.regressor(q, qd, qdd)[:, 6:][..., columns(robot)]) < 1e-12


def columns(robot):
    """Places of the parameters that do not belong to the floating body."""
    return [k for k, n in enumerate(robot.parameter_names) if n.split(".")[0] not in ("body", "root")]


def test_bias_of_a_moved_base_holds_its_acceleration(seed):
    """tau = M qdd + h with a moving base too."""
    robot = standing(floating(seed))
    q, qd, qdd = states(robot)
    motion = np.random.default_rng(5).normal(size=(2, len(q), 6))
    dyn = lw.compile(robot, base_motion=True)
    tau = np.einsum("bij,bj->bi", dynamics(robot).mass_matrix(q), qdd) + dyn.bias_forces(q, qd, *motion)
    assert error(dyn.inverse_dynamics(q, qd, qdd, *motion), tau) < 1e-12


def test_frame_motion_of_a_moved_base(seed):
    """Velocity and acceleration of frames with a prescribed base motion."""
    robot = floating(seed)
    q, qd, qdd = states(robot)
    v, a, _ = base_motion(robot, q, qd, qdd)
    moved, dyn = lw.compile(standing(robot), base_motion=True), dynamics(robot)
    own = q[:, 7:], qd[:, 6:], qdd[:, 6:]
    assert error(
        moved.velocity(*own[:2], "tool", v, a, axes="local"), dyn.velocity(q, qd, "tool", axes="local")
    ) < 1e-12  # fmt: skip
    assert error(
        moved.acceleration(*own, "tool", v, a, axes="local"), dyn.acceleration(q, qd, qdd, "tool", axes="local")
    ) < 1e-12  # fmt: skip


def test_energy_of_a_moved_base(seed):
    """Kinetic energy with a prescribed base motion = that of the floating robot, but for the base's own."""
    robot = floating(seed)
    base = grounded(standing(robot))
    joints = [j if mount(j) not in base else replace(j, drive=None) for j in robot.joints]
    light = robot.replace(*(Link(name) for name in base)).replace(joints=joints)
    q, qd, qdd = states(light)
    v, a, _ = base_motion(light, q, qd, qdd)
    moved = lw.compile(standing(light), lw.algorithms.kinetic_energy, base_motion=True)
    assert error(moved(q[:, 7:], qd[:, 6:], v, a), dynamics(light).kinetic_energy(q, qd)) < 1e-12


def mount(joint):
    """The link that carries a joint's motor."""
    motor = joint.drive.motor if joint.drive else None
    return motor and (motor.link if motor.link is not None else joint.parent)


def test_gravity_as_input_is_a_turned_base(seed):
    """Gravity R^T g = a base turned by R."""
    robot = tree(seed)
    state = states(robot)
    X = lw.Pose(from_quaternion(*np.random.default_rng(seed).normal(size=4).tolist()))
    ground = Link("ground")
    turned = robot.add(ground, Joint("turn", "ground", robot.root.name, "fixed", X))
    felt = np.array(robot.gravity) @ matrix(X)[:3, :3]
    tau = lw.compile(turned).inverse_dynamics(*state)
    assert error(lw.compile(robot, lw.inverse_dynamics, gravity="input")(*state, felt), tau) < 1e-12
    assert error(lw.compile(robot, lw.inverse_dynamics, gravity=felt)(*state), tau) < 1e-12
    assert error(lw.compile(robot.replace(gravity=felt)).inverse_dynamics(*state), tau) < 1e-12


def test_quaternions_of_any_length_mean_their_rotation(seed):
    """Scaling a quaternion changes nothing."""
    robot = floating(seed)
    q, qd, qdd = states(robot)
    scaled = q.copy()
    scaled[:, 3:7] *= np.linspace(-3.0, 3.0, len(q) + 1)[:-1, None] + 0.1
    dyn = dynamics(robot)
    assert error(dyn.inverse_dynamics(scaled, qd, qdd), dyn.inverse_dynamics(q, qd, qdd)) < 1e-12
    assert error(dyn.poses(scaled), dyn.poses(q)) < 1e-12
