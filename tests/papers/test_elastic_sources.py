"""Elastic joints: numbers of independent computations for the arm of Hua et al. and for Khalil's tree."""

from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.algorithms.coriolis import reference_forces
from linkwise.robot.tree import Tree
from support.elastic import hua_arm
from support.sources import case, in_order, tree
from support.trees import error

LIMIT = 1e-11


def hua():
    c = case("000_arm3_table1")
    return c, hua_arm(), [*c["q"], *c["theta"]], [*c["qd"], *c["thetad"]]


def test_algorithm_1_gives_motor_torques_and_loads():
    c, robot, q, qd = hua()
    dyn = lw.compile(robot)
    assert error(dyn.motor_torques(q, qd, c["acc"]), c["reneal_tau"]) < LIMIT
    wrench = dyn.joint_wrenches(q, qd, c["acc"]).wrench
    axes = [robot.joint(n).axis for n in robot.names]
    assert error([w[3:] @ list(a) for w, a in zip(wrench, axes, strict=True)], c["reneal_load"]) < LIMIT


def test_algorithm_2_gives_a_and_zeta():
    """zeta of the source leaves the spring of an elastic joint to the right-hand side."""
    c, robot, q, qd = hua()
    dyn = lw.compile(robot)
    assert error(dyn.mass_matrix(q), c["A"]) < LIMIT
    spring = np.array([0.0, 0.0, 100.0 * (c["theta"][0] - c["q"][2]), 0.0])
    assert error(dyn.bias_forces(q, qd) + spring, c["zeta"]) < LIMIT
    blocks = dyn.elastic_blocks(q, qd)
    A = np.array(c["A"])
    for found, expected in ((blocks.M, A[:3, :3]), (blocks.S, A[:3, 3:]), (blocks.B, A[3:, 3:])):
        assert np.abs(found - expected).max() < LIMIT


@pytest.mark.parametrize("loaded", [False, True])
def test_forward_dynamics_of_the_arm(loaded):
    c, robot, q, qd = hua()
    load = [[*c["f_e_on_effector_frameN1"], *c["tau_e_on_effector_frameN1"]]]
    options, extra = ({"external": ("tool",)}, (load,)) if loaded else ({}, ())
    given, expected = (q, qd, robot.tau(c["tau_m"]), *extra), c["acc_with_load" if loaded else "acc"]
    assert error(lw.compile(robot, lw.forward_dynamics, **options)(*given), expected) < LIMIT
    found = lw.compile(robot, lw.algorithms.forward_by_columns, **options)(*given)
    assert error(found.qdd, expected) < LIMIT
    if not loaded:  # the source's zeta has the springs of motors, but not those of joints
        spring = np.array([0.0, 0.0, 100.0 * (c["theta"][0] - c["q"][2]), 0.0])
        assert error(found.zeta + spring, c["zeta"]) < LIMIT


def test_the_controllers_recursion():
    c, robot, q, qd = hua()
    s = c["slotine"]
    given = [*s["qdr"], *s["thetadr"]], [*s["qddr"], *s["thetaddr"]]
    found = reference_forces(Tree.of(robot), q, qd, *given, felt=lw.Vec3(0.0, 0.0, 9.81))
    assert error(found, s["value"]) < LIMIT
    assert error(lw.compile(robot).coriolis_matrix(q, qd), s["C"]) < LIMIT


def sprung_tree(c):
    """The tree with springs that rest where the case has no stretch."""
    robot, soft = tree(c["robot"]), []
    for name in robot.names:
        k = int(name.removeprefix("joint")) - 1
        if c["elastic"][k]:
            soft.append(replace(robot.joint(name), spring=lw.Spring(c["K"][k], rest=c["q"][k] - c["Delta_q"][k])))
    return robot.replace(*soft)


def test_elastic_inverse_in_three_passes():
    c = case("003_elastic_inverse")
    robot = sprung_tree(c)
    q, qd, given, qdd, tau, soft = (
        np.array(in_order(robot, c[key])) for key in ("q", "qd", "qdd_rigid_given", "qdd", "Gamma", "elastic")
    )
    found = lw.compile(robot, lw.algorithms.elastic_inverse)(q, qd, given)
    assert error(found.qdd, qdd) < LIMIT
    assert error(found.tau, np.where(soft, 0.0, tau)) < LIMIT

    rigid = [n for n, s in zip(robot.names, soft, strict=True) if not s]
    for route in ("articulated", "inertia"):
        mixed = lw.compile(robot, lw.hybrid_dynamics, driven=rigid, route=route)(q, qd, np.where(soft, 0.0, given))
        assert error(mixed.qdd, qdd) < LIMIT
        assert error(mixed.tau, np.where(soft, 0.0, tau)) < LIMIT


@pytest.mark.parametrize("seed", range(6))
def test_three_passes_are_a_case_of_the_hybrid_recursion(seed):
    robot = lw.random_tree(seed, 7, springs=0.5, armature=0.5, friction=0.4)
    soft = [n for n in robot.names if robot.joint(n).spring]
    rng = np.random.default_rng(seed)
    q, qd, qdd = rng.normal(size=(3, 9, robot.nv))
    loads, base = rng.normal(size=(1, 6)), rng.normal(size=(2, 6))
    options = {"external": ("tool",), "base_motion": True}
    found = lw.compile(robot, lw.algorithms.elastic_inverse, **options)(q, qd, qdd, loads, *base)
    rigid = [n for n in robot.names if n not in soft]
    given = np.where([n in soft for n in robot.names], 0.0, qdd)
    mixed = lw.compile(robot, lw.hybrid_dynamics, driven=rigid, **options)(q, qd, given, loads, *base)
    assert error(found.qdd, mixed.qdd) < 1e-11
    assert error(found.tau, mixed.tau) < 1e-11
    tau = lw.compile(robot, lw.inverse_dynamics, **options)(q, qd, found.qdd, loads, *base)
    assert error(found.tau, tau) < 1e-11


def test_elastic_joints_by_name():
    robot = lw.random_tree(1, 4)
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, robot.nv))
    found = lw.compile(robot, lw.algorithms.elastic_inverse, elastic=("joint2",))(q, qd, qdd)
    assert found.tau[1] == 0.0
    assert np.array_equal(found.qdd[[0, 2, 3]], qdd[[0, 2, 3]])
    with pytest.raises(lw.UnknownNameError, match="'joint9'"):
        lw.compile(robot, lw.algorithms.elastic_inverse, elastic=("joint9",))
