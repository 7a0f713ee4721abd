"""A constant torque of friction adds to what drives give, moves the robot, and is neither gravity nor damping."""

import json
from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from support.command import linkwise
from support.trees import SEEDS, error, states

pytestmark = pytest.mark.parametrize("seed", SEEDS)
CHANCES = {"friction": 0.7, "motors": 0.5, "elastic": 0.4, "armature": 0.5, "mimic": 0.3}


def robots(seed):
    """A robot, the same with constant torques on both sides of gears, and what they add at each coordinate."""
    rng = np.random.default_rng(seed)
    plain = lw.random_tree(seed, 6, floating=seed % 2 == 0, **CHANCES)
    joints, added = [], np.zeros(plain.nv)
    for j in plain.joints:
        if not j.freedom.is_single:
            joints.append(j)
            continue
        own, motor = rng.uniform(-2.0, 2.0, 2)
        ratio, at = (j.mimic.ratio, j.mimic.joint) if j.mimic else (1.0, j.name)
        added[plain.slots[at].v] += own * ratio
        drive = j.drive and replace(j.drive, friction=replace(j.drive.friction, offset=motor))
        if drive and drive.is_elastic:
            added[plain.slots[j.motor_name].v] += motor * drive.gear
        elif drive:
            added[plain.slots[at].v] += motor * drive.gear * ratio
        joints.append(replace(j, friction=replace(j.friction, offset=own), drive=drive))
    return plain, plain.replace(joints=joints), added


def test_inverse_and_forward_dynamics(seed):
    plain, offset, added = robots(seed)
    q, qd, qdd = states(plain)
    one, other = lw.compile(plain), lw.compile(offset)
    tau = one.inverse_dynamics(q, qd, qdd)
    assert error(other.inverse_dynamics(q, qd, qdd), tau + added) < 1e-12
    assert error(other.forward_dynamics(q, qd, tau + added), one.forward_dynamics(q, qd, tau)) < 1e-9
    assert error(other.bias_forces(q, qd), one.bias_forces(q, qd) + added) < 1e-12
    rest = 0.0 * qd
    assert error(other.inverse_dynamics(q, rest, rest), one.inverse_dynamics(q, rest, rest) + added) < 1e-12


def test_gravity_derivatives_and_parameters_do_not_see_it(seed):
    plain, offset, _ = robots(seed)
    q, qd, qdd = states(plain)
    one, other = lw.compile(plain), lw.compile(offset)
    assert np.array_equal(other.gravity_forces(q), one.gravity_forces(q))
    assert np.array_equal(other.mass_matrix(q), one.mass_matrix(q))
    assert np.array_equal(offset.parameters(), plain.parameters())
    assert np.array_equal(other.regressor(q, qd, qdd), one.regressor(q, qd, qdd))
    for x, y in zip(
        other.inverse_dynamics_derivatives(q, qd, qdd), one.inverse_dynamics_derivatives(q, qd, qdd), strict=True
    ):
        assert error(x, y) < 1e-12
    back = offset.without_friction()
    assert back == plain.without_friction()
    assert all(j.friction.offset == 0.0 for j in back.joints)


def test_only_robots_with_one_pay_for_it(seed):
    plain, offset, added = robots(seed)
    before = replace_offsets(offset)
    counts = [lw.compile(r).inverse_dynamics.count() for r in (plain, before, offset)]
    assert counts[0] == counts[1]
    singles = sum(1 + bool(j.drive) for j in plain.joints if j.freedom.is_single)
    assert counts[2]["add"] - counts[0]["add"] <= singles
    assert np.any(added)


def replace_offsets(robot):
    """The robot with all offsets set back to zero."""
    joints = []
    for j in robot.joints:
        drive = j.drive and replace(j.drive, friction=replace(j.drive.friction, offset=0.0))
        joints.append(replace(j, friction=replace(j.friction, offset=0.0), drive=drive))
    return robot.replace(joints=joints)


def test_it_moves_a_robot_and_its_power_is_counted(seed):
    """A pendulum without gravity goes as if pushed by the offset; energy is balanced; the implicit step agrees."""
    law = ("coulomb", "tanh", "stribeck")[seed % 3]
    friction = lw.Friction(0.2, 0.0, law, offset=-0.7)
    robot = lw.Robot(
        [lw.Link("base"), lw.Link("arm", 1.0, (0.5, 0.0, 0.0), (0.01, 0.01, 0.02))],
        [lw.Joint("pin", "base", "arm", friction=friction)], gravity=(0.0, 0.0, 0.0),
    )  # fmt: skip
    t = np.linspace(0.0, 1.0, 101)
    motion = lw.simulate(robot, None, None, t)
    I = 0.02 + 0.25
    exact = 0.7 / 0.2 * (t - I / 0.2 * (1.0 - np.exp(-0.2 * t / I)))
    np.testing.assert_allclose(motion.q[:, 0], exact, atol=1e-6)
    work = np.trapezoid((0.2 * motion.qd[:, 0] - 0.7) * motion.qd[:, 0], t)
    assert motion.energy.friction[-1] == pytest.approx(work, rel=1e-4)
    rollout = lw.compile_rollout(robot, method="implicit")
    end = rollout(robot.q(), robot.v(), np.zeros((1000, 1)), 1e-3)
    assert np.asarray(end[0]).ravel()[-1] == pytest.approx(exact[-1], abs=2e-3)


def test_files_keep_it(seed, tmp_path):
    _, offset, _ = robots(seed)
    lw.save(offset, tmp_path / "arm.toml")
    assert lw.load(tmp_path / "arm.toml") == offset
    lost = lw.save(offset, tmp_path / "arm.urdf")
    assert any("constant torque (the offset of its friction)" in line for line in lost)
    name = next(j.name for j in offset.joints if j.freedom.is_single)
    shown = json.loads(linkwise("info", tmp_path / "arm.toml", "--json").output)["joint_table"]
    assert next(j for j in shown if j["name"] == name)["friction"]["offset"] == offset.joint(name).friction.offset
    side = '[[joint]]\nname = "{}"\n[joint.friction]\noffset = -0.25\n'
    name = next(j.name for j in offset.joints if j.freedom.is_single and not j.is_elastic)
    (tmp_path / "side.toml").write_text(side.format(name))
    patched = lw.load(tmp_path / "arm.urdf", side=tmp_path / "side.toml")
    assert patched.joint(name).friction.offset == -0.25
