"""Rates on a base that moves along a given pose: derivatives in time, and a floating joint that moves so."""

import numpy as np
import pytest

import linkwise as lw
from support.base_motion import HIGHEST, BasePose, waves
from support.trees import error, tree

ALGORITHMS = (lw.force_rates, lw.joint_wrench_rates)
SEEDS = range(4)


def robot_on_a_base(seed):
    return tree(seed, floating=False, kinds=("revolute", "prismatic"), joints=4)


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda a: a.name)
@pytest.mark.parametrize("seed", SEEDS)
def test_higher_rates_are_slopes_in_time(seed, algorithm):
    """The rates of order 2 to 4 = differences in time of those below, along the motion of base and joints."""
    robot, base = robot_on_a_base(seed), BasePose(seed)
    move, h = waves(robot.nv, seed + 9), 2e-3
    orders = (1, 2, HIGHEST)
    kernels = {n: lw.compile(robot, algorithm, order=n, base_motion=True, gravity="input") for n in orders}

    def at(t, order):
        return kernels[order](*move(t, range(order + 3)), *base.inputs(t, order, robot.gravity))

    def slope(order, name):
        step = {k: getattr(at(0.6 + k * h, order), name) for k in (-3, -2, -1, 1, 2, 3)}
        odd = [step[k] - step[-k] for k in (1, 2, 3)]
        return (45.0 * odd[0] - 9.0 * odd[1] + odd[2]) / (60.0 * h)

    highest = at(0.6, HIGHEST)
    for name in ("tau", "wrench")[: 1 + (algorithm is lw.joint_wrench_rates)]:
        assert error(getattr(at(0.6, 2), f"{name}_ddot"), slope(1, f"{name}_dot")) < 1e-9
        assert error(getattr(highest, f"{name}_dddot"), slope(2, f"{name}_ddot")) < 1e-9
        assert error(getattr(highest, f"{name}_ddddot"), slope(HIGHEST, f"{name}_dddot")) < 1e-8


@pytest.mark.parametrize("route", ["recursion", "series"])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_moving_base_is_a_floating_joint_in_all_rates(seed, route):
    """Torques, wrenches and rates of a robot whose base moves = those on a floating joint that moves so."""
    robot, base = robot_on_a_base(seed), BasePose(seed)
    flying = robot.add(lw.Link("world"), lw.Joint("carrier", "world", robot.root.name, "floating"))
    own = waves(robot.nv, seed + 9)(0.6, range(HIGHEST + 3))
    R, rates = base.components(0.6)
    slot = flying.slots["carrier"]
    q, motion = np.zeros(flying.nq), np.zeros((HIGHEST + 2, flying.nv))
    q[slot.q : slot.q + 7] = [0.1, 0.2, 0.3, *quaternion(R)]
    motion[:, slot.v : slot.v + 6] = rates
    for name, here in robot.slots.items():
        there = flying.slots[name]
        q[there.q], motion[:, there.v] = own[0, here.q], own[1:, here.v]
    places = [flying.slots[name].v for name in robot.slots]
    rows = [flying.moving_links.index(name) for name in robot.moving_links]
    for order in (2, HIGHEST):
        options = {"order": order, "route": route}
        given = *own[: order + 3], *base.inputs(0.6, order, robot.gravity)
        wrenches = lw.compile(robot, lw.joint_wrench_rates, base_motion=True, gravity="input", **options)(*given)
        forces = lw.compile(robot, lw.force_rates, base_motion=True, gravity="input", **options)(*given)
        expected = lw.compile(flying, lw.joint_wrench_rates, **options)(q, *motion[: order + 2])
        for name in expected._fields:
            place = places if name.startswith("tau") else rows
            assert error(getattr(wrenches, name), getattr(expected, name)[place]) < 1e-11, name
            if name.startswith("tau"):
                assert error(getattr(forces, name), getattr(expected, name)[place]) < 1e-11, name


def quaternion(R):
    """x, y, z, w of a rotation that turns by less than half a turn."""
    w = np.sqrt(1.0 + np.trace(R)) / 2.0
    return [(R[2, 1] - R[1, 2]) / (4 * w), (R[0, 2] - R[2, 0]) / (4 * w), (R[1, 0] - R[0, 1]) / (4 * w), w]
