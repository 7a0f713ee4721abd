"""Wheels that roll without slip: what leads, what they exert, what is refused, and files."""

from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.mechanism.assemble import Assembler
from linkwise.mechanism.structure import structure_of
from support.backends import in_c
from support.wheeled import LENGTH, RADIUS, TRACK, ackermann, car, closed_positions, disc, drive_in_space, lifted

MACHINES = {
    "differential drive": lambda: lw.load("differential_drive"),
    "drive in space": drive_in_space,
    "car": car,
    "car, parallel wheels": lambda: car(curve=False),
    "disc": disc,
}
every = pytest.mark.parametrize("name", MACHINES)


def state(name, rows=3):
    robot, rng = MACHINES[name](), np.random.default_rng(1)
    return robot, closed_positions(robot, rng, rows), *rng.normal(size=(2, rows, robot.nv))


def test_velocities_lead_where_all_positions_are_chosen():
    robot = lw.load("differential_drive")
    assert (robot.nq, robot.nv, robot.nu) == (9, 4, 4)
    assert robot.speeds == robot.drives == ("left", "right", "shoulder", "elbow")
    assert robot.coordinates == ("planar_joint", "left", "right", "swivel", "caster", "shoulder", "elbow")
    found = structure_of(robot)
    assert found.mobility == 4
    assert found.passive == ("planar_joint", "swivel", "caster")
    assert "right_tyre: across" in found.dependent
    assert [len(block.passive) for block in found.part.blocks] == [3, 1, 1]


def test_wheels_move_the_base_as_they_should():
    robot = lw.load("differential_drive")
    q, dyn = robot.q({"planar_joint": (1.0, 2.0, 0.5), "swivel": 0.0}), lw.compile(robot)
    x, y, turn, *_, swivel, caster, _, _ = dyn.q_dot(q, robot.v({"left": 3.0, "right": 5.0}))
    forward = 0.1 * 4.0
    assert np.allclose([x, y, turn], [forward * np.cos(0.5), forward * np.sin(0.5), 0.1 * 2.0 / 0.4])
    assert np.isclose(caster, forward / 0.05)
    assert np.isclose(swivel, -turn * 0.25 / 0.05)


def test_a_car_turns_about_one_centre():
    robot = car()
    steer = 0.4
    q, dyn = robot.q({"steer": steer, "plane": (0.0, 0.0, 0.0)}), lw.compile(robot)
    found = dyn.tree_motion(q, robot.v({"rl": 2.0}), np.zeros(robot.nv))
    rate = dict(zip(robot.opened().slots, np.split(found.qd_tree, [3, 4, 5, 6, 7, 8]), strict=True))
    turn = rate["plane"][2]
    assert np.isclose(turn, 2.0 * RADIUS / (LENGTH / np.tan(steer)))
    assert np.isclose(rate["rr"], (2.0 * RADIUS + turn * TRACK) / RADIUS)
    assert np.isclose(rate["fl"], turn * LENGTH / np.sin(steer) / RADIUS)
    assert np.isclose(rate["fr"], turn * LENGTH / np.sin(ackermann(steer)) / RADIUS, rtol=1e-6)


@every
def test_nothing_slips(name):
    """Also with an acceleration: the points that touch the ground have one towards the centre alone."""
    robot, q, qd, qdd = state(name)
    dyn, assembler = lw.compile(robot), Assembler(robot)
    found = dyn.tree_motion(q, qd, qdd)
    h = 1e-5
    for k in range(len(q)):
        J = assembler.jacobian_si(found.q_tree[k])
        assert np.abs(J @ found.qd_tree[k]).max() < 1e-12
        tree = lw.compile(robot.opened())
        ends = [tree.integrate(found.q_tree[k], s * h * found.qd_tree[k], 1.0) for s in (1.0, -1.0)]
        J_dot = (assembler.jacobian_si(ends[0]) - assembler.jacobian_si(ends[1])) / (2.0 * h)
        assert np.abs(J @ found.qdd_tree[k] + J_dot @ found.qd_tree[k]).max() < 1e-7


def test_wheels_carry_the_weight():
    """At rest the normal forces are the weight, about its centre, and all of a base in the plane is carried by it."""
    robot = drive_in_space()
    dyn, rest = lw.compile(robot), np.zeros(robot.nv)
    q = robot.q({**lifted(0.3, 0.2, 0.7), "shoulder": 0.4, "elbow": 0.2, "swivel": 0.3})
    found = dyn.joint_wrenches(q, rest, rest)
    mass, normal = sum(link.mass for link in robot.links), found.cut[:, 2]
    assert np.isclose(normal.sum(), 9.81 * mass)
    assert (normal > 0.0).all()
    assert np.abs(found.cut[:, [0, 1, 3, 4, 5]]).max() < 1e-12
    moment = sum(
        f * np.array(lw.compile(robot).pose(q, w)[:2, 3])
        for f, w in zip(normal, ("left_wheel", "right_wheel", "caster_wheel"), strict=True)
    )
    assert np.allclose(moment / normal.sum(), dyn.centre_of_mass(q)[:2])
    assert np.abs(found.wrench[0]).max() < 1e-9  # nothing through the floating joint


@every
def test_the_ground_moves_the_whole(name):
    """The rate of momentum is what the ground exerts, gravity, and what goes through the first joint."""
    robot, q, qd, qdd = state(name, 1)
    dyn, q, qd, qdd = lw.compile(robot), q[0], qd[0], qdd[0]
    found, h = dyn.joint_wrenches(q, qd, qdd), 1e-5
    tree, motion = lw.compile(robot.opened()), dyn.tree_motion(q, qd, qdd)

    def momentum(s):
        there = tree.integrate(motion.q_tree, s * motion.qd_tree + 0.5 * s * s * motion.qdd_tree, 1.0)
        return tree.momentum(there, motion.qd_tree + s * motion.qdd_tree)[:3]

    change = (momentum(h) - momentum(-h)) / (2.0 * h)
    forces = np.zeros(3)
    for cut, loop in zip(found.cut, robot.loops, strict=True):
        # the wheel's axis in the world, however it spins
        axis = dyn.pose(q, loop.b)[:3, :3] @ np.array(loop.origin_b.R.column(2))
        along = np.cross(axis, [0.0, 0.0, 1.0])
        along /= np.linalg.norm(along)
        forces += np.column_stack([along, np.cross([0.0, 0.0, 1.0], along), [0.0, 0.0, 1.0]]) @ cut[:3]
    mass = sum(link.mass for link in robot.links)
    keep = slice(0, 3) if name in ("drive in space", "disc") else slice(0, 2)  # a plane carries the rest
    assert np.allclose(
        (forces - [0.0, 0.0, 9.81 * mass])[keep], change[keep], atol=1e-6 * max(1.0, np.abs(forces).max())
    )


def test_forces_that_are_not_determined_are_shared():
    robot = lw.load("differential_drive")
    q, qd, qdd = robot.q(), robot.v({"left": 2.0, "right": 4.0}), robot.v()
    left, right, _ = lw.compile(robot).joint_wrenches(q, qd, qdd).cut
    assert np.isclose(left[1], right[1])
    assert abs(left[1]) > 0.01


def test_more_drives_than_needed_share_their_torque():
    robot = car(curve=False)
    loops = [replace(loop, active=("rr",)) if loop.name == "tyre_rr" else loop for loop in robot.loops]
    both = robot.replace(loops=loops, leads=("rl", "steer"))
    q, qd, qdd = both.q(), both.v(), both.v({"rl": 1.0})
    one, two = (lw.compile(r).inverse_dynamics(q, qd, qdd) for r in (robot, both))
    assert dict(zip(both.drives, two, strict=True))["rl"] == pytest.approx(one[0] / 2.0)


REFUSED = ("linearization", "inverse_dynamics_derivatives", "forward_dynamics_derivatives", "difference", "integrate",
           "force_rates", "joint_wrench_rates", "inverse_dynamics_hessian", "kinematics_derivatives")  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_functions_that_vary_positions_are_refused(name):
    with pytest.raises(lw.InputError, match=rf"^{name}: .*'differential_drive' on wheels that do not slip"):
        getattr(lw.compile(lw.load("differential_drive")), name)


def test_derivatives_by_velocities_are_known():
    robot = lw.load("differential_drive")
    kernel = lw.compile(robot, lw.derivative(lw.inverse_dynamics, "qdd"))
    q = robot.q({"shoulder": 0.3, "elbow": 0.5})
    assert np.allclose(kernel(q, robot.v(), robot.v()), lw.compile(robot).mass_matrix(q))


def test_other_packages_refuse_wheels():
    robot = lw.load("differential_drive")
    for what, call in {
        "plan": lambda: lw.plan(robot, robot.q(), robot.q(), 1.0),
        "retime": lambda: lw.retime(robot, [robot.q(), robot.q()]),
        "inverse_kinematics": lambda: lw.inverse_kinematics(robot, "tool", np.eye(4)),
        "compile_rollout": lambda: lw.compile_rollout(robot),
        "base_parameters": lambda: lw.base_parameters(robot),
        "workspace": lambda: lw.compile(robot).workspace(robot.q()),
    }.items():
        with pytest.raises(lw.InputError, match=rf"^{what}: .*on wheels that do not slip"):
            call()


def test_models_that_cannot_be():
    robot = lw.load("differential_drive")
    with pytest.raises(lw.ModelError, match="radius above zero"):
        lw.Loop("w", "ground", "left_wheel", "rolling")
    with pytest.raises(lw.ModelError, match="no radius, which is for wheels"):
        lw.Loop("w", "ground", "left_wheel", "revolute", radius=0.1)
    with pytest.raises(lw.ModelError, match="wheels alone or loops that close alone"):
        robot.add(lw.Loop("rod", "fork", "upper_arm", "spherical"))
    with pytest.raises(lw.ModelError, match=r"'planar_joint', .* would not be determined|active joints"):
        structure_of(robot.replace(loops=robot.loops[:1]))
    with pytest.raises(lw.ModelError, match="no configuration was found"):
        structure_of(robot.replace(replace(robot.loops[0], radius=0.2)))
    with pytest.raises(lw.InputError, match="'planar_joint' follows other joints"):
        robot.v({"planar_joint": (0.0, 0.0, 0.0)})


@every
def test_files_keep_wheels(name, tmp_path):
    robot = MACHINES[name]()
    lw.save(robot, tmp_path / "robot.toml")
    again = lw.load(tmp_path / "robot.toml")
    assert [loop.radius for loop in again.loops] == [loop.radius for loop in robot.loops]
    q, qd, qdd = robot.q(), np.ones(robot.nv), np.ones(robot.nv)
    expected = lw.compile(robot).inverse_dynamics(q, qd, qdd)
    assert np.allclose(lw.compile(again).inverse_dynamics(q, qd, qdd), expected, rtol=1e-12)


def test_c_source_computes_the_same(tmp_path):
    robot, q, qd, qdd = state("differential drive")
    kernel = lw.compile(robot).inverse_dynamics
    assert np.allclose(in_c(tmp_path, kernel.program)(q, qd, qdd), kernel(q, qd, qdd), atol=1e-13)
