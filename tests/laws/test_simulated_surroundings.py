"""Simulations on a base that moves, and under wrenches, on every machine: the same laws as anywhere else."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwise as lw
from linkwise.jet import part
from linkwise.motion.base_motion import BaseMotion
from linkwise.robot.edit import floating
from linkwise.scalar import cos, sin, sqrt
from support.every_machine import MIXTURES, TABLE, sort

TIGHT = {"rtol": 1e-11, "atol": 1e-12, "progress": False}
MACHINES = tuple(n for n in TABLE if n not in ("moving base", "elastic, moving base"))
PUSH = (3.0, -2.0, 4.0, 0.2, 0.1, -0.3)
SPAN = 0.15  # s, before machines with loops fall through singular positions


def swaying(t):
    """A base that moves and turns every way."""
    return lw.Pose.of((0.2 * sin(2.0 * t), 0.3 * t * t, 0.05 * cos(3.0 * t)), rpy=(0.3 * sin(t), t, 0.4 * cos(2.0 * t)))


def ideal(name):
    """A machine without dry friction, whose smoothed law a simulation has alone."""
    joints = [replace(j, friction=replace(j.friction, coulomb=0.0)) for j in sort(name).robot.joints]
    return sort(name).robot.replace(joints=joints)


def as_motion(pose):
    """The same as positions, velocities and accelerations of a floating joint."""
    base = BaseMotion(pose)

    def motion(t):
        X, v = base.pose(t), base.world(t, (0.0, 0.0, 0.0), 1).base_velocity
        turn = Rotation.from_matrix(np.array(X.R, dtype=float)).as_quat()
        return [*X.p, *turn], [part(x) for x in v], [part(x, 1) for x in v]

    return motion


@pytest.mark.parametrize("name", [*MACHINES, *MIXTURES[:2]])
def test_accelerations_and_energy_on_a_moving_base(name):
    robot = ideal(name)
    result = lw.simulate(robot, None, None, SPAN, base_motion=swaying, **TIGHT)
    assert result.energy.drift < 1e-8
    assert (name == "floating") == (abs(result.energy.drives[-1]) < 1e-9)  # it hangs on nothing
    forward = lw.compile(robot, lw.forward_dynamics, base_motion=True, gravity="input")
    qdd = forward(result.q, result.qd, result.tau, *BaseMotion(swaying).inputs(result.t, robot.gravity))
    np.testing.assert_allclose(result.qdd, qdd, atol=1e-6 * np.abs(qdd).max())


@pytest.mark.parametrize("name", ["arm", "elastic", "five-bar", "ankle, moving base"])
def test_a_moving_base_is_a_floating_one_driven_along_the_same_motion(name):
    robot = ideal(name)
    root = robot.root.name
    robot = robot.replace(lw.Link(root, 3.0, (0.1, -0.2, 0.3), (0.2, 0.3, 0.4)))
    laws = {sort(name).pushed: lw.simulation.Drag((1.0, 2.0, 3.0), linear=(5.0, 5.0, 5.0), flow=(1.0, 0.0, 2.0))}
    ground = lw.simulation.GroundContact(stiffness=200.0, height=5.0)  # all is within it, and how deep tells
    around = {"forces": {**laws, root: ground}, "external": {sort(name).pushed: PUSH}}
    found = lw.simulate(robot, None, None, SPAN, base_motion=swaying, **around, **TIGHT)
    free = floating(robot)
    driven = {free.names[0]: as_motion(swaying)}
    theirs = lw.simulate(free, robot_positions(robot), None, SPAN, driven=driven, **around, **TIGHT)
    np.testing.assert_allclose(found.q, theirs.q[:, 7:], atol=1e-8)
    for part_ in ("kinetic", "potential", "control", "drives", "environment", "friction"):
        mine, other = (getattr(x.energy, part_) for x in (found, theirs))
        np.testing.assert_allclose(mine, other, atol=1e-7 * max(1.0, np.abs(other).max()), err_msg=part_)


def robot_positions(robot):
    """The positions at which it starts by itself, by name."""
    q, slots = robot.q(), robot.slots
    return {n: q[s.q : s.q + s.nq] if s.nq > 1 else float(q[s.q]) for n, s in slots.items()}


@pytest.mark.parametrize("name", [*MACHINES, *MIXTURES[:2]])
def test_a_wrench_is_a_thrust(name):
    robot, pushed = ideal(name), sort(name).pushed
    by_law = {pushed: lw.simulation.Thrust(PUSH[:3], PUSH[3:])}
    wrench = lw.Wrench(lw.Vec3(*PUSH[:3]), lw.Vec3(*PUSH[3:]))
    theirs = lw.simulate(robot, None, None, SPAN, forces=by_law, **TIGHT)
    for load in (PUSH, wrench, lambda t, q, qd: wrench):
        found = lw.simulate(robot, None, None, SPAN, external={pushed: load}, **TIGHT)
        np.testing.assert_allclose(found.q, theirs.q, atol=1e-9)
        np.testing.assert_allclose(found.energy.environment, theirs.energy.environment, atol=1e-7)


def test_a_lift_that_falls_leaves_a_pendulum_without_weight():
    links = [lw.Link("cabin"), lw.Link("bob", 1.0, (0.0, 0.0, -0.5))]
    robot = lw.Robot(links, [lw.Joint("hinge", "cabin", "bob", axis=(0, 1, 0))])
    result = lw.simulate(robot, [0.3], [1.0], 1.0, base_motion=lambda t: lw.Pose.of((0.0, 0.0, -4.905 * t * t)))
    np.testing.assert_allclose(result.q[:, 0], 0.3 + result.t, atol=1e-8)
    np.testing.assert_allclose(result.energy.drives[-1], result.energy.total[-1] - result.energy.total[0], atol=1e-8)


@pytest.mark.parametrize("given", [3.0, lambda t: t, lambda t: lw.Pose.of((sqrt(t - 0.5), 0.0, 0.0))])
def test_motions_that_are_none(given):
    with pytest.raises(lw.LinkwiseError, match="base_motion: expected"):
        lw.simulate(lw.load("puma560"), None, None, [0.0, 0.5, 1.0], base_motion=given, progress=False)


@pytest.mark.parametrize("suffix", [".npz", ".csv"])
def test_files_keep_what_a_moving_base_did(suffix, tmp_path):
    result = lw.simulate(ideal("arm"), None, None, SPAN, base_motion=swaying, external={"link6": PUSH}, dense=True)
    result.save(tmp_path / f"run{suffix}")
    if suffix == ".npz":
        again = lw.simulation.Simulation.load(tmp_path / "run.npz")
        assert np.array_equal(again.q, result.q)
        assert np.array_equal(again.energy.drives, result.energy.drives)
    np.testing.assert_allclose(result.state(result.t)[0], result.q, atol=1e-7)
