"""Rollouts of every machine: steps tend to the accurate simulation, energy stays, rows are on their own."""

from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.robot.joint import Course, Curve
from linkwise.scalar import cos, sin
from support.every_machine import MIXTURES, TABLE, Sort, sort

SPAN = 0.1  # s
QUICK = ("moving base", "five-bar", "ankle, moving base", "Delta", "coupled")
SLOW = tuple(n for n in (*TABLE, *MIXTURES) if n not in QUICK)
machines = pytest.mark.parametrize("name", [*QUICK, *(pytest.param(n, marks=pytest.mark.slow) for n in SLOW)])


def swaying(t):
    """A base that moves and turns every way."""
    return lw.Pose.of((0.2 * sin(2.0 * t), 0.3 * t * t, 0.05 * cos(3.0 * t)), rpy=(0.3 * sin(t), t, 0.4 * cos(2.0 * t)))


def machine(name):
    """One of the sorts, or a leg whose knee rolls and slides."""
    if name != "coupled":
        return sort(name)
    links = [
        lw.Link("base"),
        lw.Link("thigh", 2.0, (0.1, -0.2, 0.0), (0.01, 0.02, 0.03)),
        lw.Link("shank", 1.5, (0.05, -0.2, 0.01), (0.02, 0.01, 0.02)),
    ]
    slides = Course(x=Curve((0.0, 0.02, 0.01)), y=Curve((0.0, 0.02, -0.03)), turn_z=Curve((0.0, 1.0)))
    knee = lw.Joint("knee", "thigh", "shank", "coupled", lw.Pose.of((0.0, -0.4, 0.0)), course=slides)
    return Sort(lw.Robot(links, [lw.Joint("hip", "base", "thigh"), knee], gravity=(0.0, -9.81, 1.0)), "shank")


def smooth(name):
    """A machine without dry friction, which a simulation smooths."""
    robot = machine(name).robot
    return robot.replace(joints=[replace(j, friction=replace(j.friction, coulomb=0.0)) for j in robot.joints])


def start(robot):
    """Positions, and some velocities."""
    return robot.q(), np.random.default_rng(1).uniform(-0.3, 0.3, robot.nv)


def around(name):
    """What moves the base, where it moves."""
    return {"base_motion": swaying} if machine(name).base_motion else {}


def errors(name, method, counts):
    """How far velocities at the end are off those of the simulation, by rising numbers of steps."""
    robot = smooth(name)
    tight = {"rtol": 1e-11, "atol": 1e-12, "method": "DOP853", "progress": False}
    exact = lw.simulate(robot, *start(robot), [0.0, SPAN], **around(name), **tight)
    rollout = lw.compile_rollout(robot, method=method, **around(name))
    ends = [rollout(*start(robot), None, SPAN / n, steps=n, keep="end") for n in counts]
    return [np.abs(end.qd - exact.qd[-1]).max() / np.abs(exact.qd).max() for end in ends]


@machines
def test_steps_of_first_order_tend_to_the_simulation(name):
    coarse, fine = errors(name, "euler", (200, 400))
    assert fine < 5e-3
    assert np.log2(coarse / fine) == pytest.approx(1.0, abs=0.2)


@pytest.mark.parametrize("name", ["ankle, moving base", *(pytest.param(n, marks=pytest.mark.slow) for n in
                                                         (*QUICK[:2], *QUICK[3:], *SLOW))])  # fmt: skip
def test_steps_of_fourth_order_tend_to_the_simulation(name):
    coarse, fine = errors(name, "rk4", (200, 400) if "elastic" in name else (20, 40))
    assert fine < 1e-6
    assert coarse < 1e-10 or np.log2(coarse / fine) == pytest.approx(4.0, abs=0.4)


@machines
def test_energy_stays_where_nothing_drives(name):
    robot = machine(name).robot.without_friction()
    dyn, (q, qd) = lw.compile(robot), start(robot)
    found = lw.compile_rollout(robot)(q, qd, None, 5e-4, steps=200)
    kinetic, potential = dyn.kinetic_energy(found.q, found.qd), dyn.potential_energy(found.q)
    total = kinetic + potential - dyn.kinetic_energy(q, qd) - dyn.potential_energy(q)
    assert np.abs(total).max() < 1e-6 * max(kinetic.max(), np.ptp(potential))


@machines
def test_a_row_does_not_depend_on_the_others(name):
    robot, (q, qd) = smooth(name), machine(name).states(11, 1)
    rollout = lw.compile_rollout(robot, method="euler", **around(name))
    u = np.random.default_rng(0).normal(size=(11, 12, robot.nu))
    together = rollout(q, qd, u, 1e-3)
    u[4] = np.nan
    spoilt = rollout(q, qd, u, 1e-3)
    assert np.isfinite(together.q).all()
    assert np.isnan(spoilt.qd[4]).all()
    np.testing.assert_array_equal(np.delete(spoilt.q, 4, 0), np.delete(together.q, 4, 0))
    for k in (0, 10):
        np.testing.assert_array_equal(rollout(q[k], qd[k], u[k], 1e-3).q, together.q[k])


@pytest.mark.parametrize("name", ["five-bar", "ankle, moving base", pytest.param("hexapod", marks=pytest.mark.slow)])
@pytest.mark.parametrize("method", ["rk4", "implicit"])
def test_surroundings_are_those_of_the_simulation(name, method, monkeypatch):
    monkeypatch.setenv("LINKWISE_BACKEND", "numpy")
    robot, pushed = smooth(name), machine(name).pushed
    drag = lw.simulation.Drag((1.0, 2.0, 3.0), linear=(5.0, 5.0, 5.0), flow=(1.0, 0.0, 2.0))
    laws = {pushed: drag, robot.root.name: lw.simulation.GroundContact(stiffness=200.0, height=5.0)}
    push, tau, most = np.array([[3.0, -2.0, 4.0, 0.2, 0.1, -0.3]]), np.linspace(-1.0, 1.5, robot.nu), 0.7
    exact = lw.simulate(
        robot, *start(robot), [0.0, 0.02], base_motion=swaying, forces=laws, external={pushed: push[0]},
        control=np.clip(tau, -most, most), rtol=1e-11, atol=1e-12, method="DOP853", progress=False,
    )  # fmt: skip
    rollout = lw.compile_rollout(
        robot, method=method, base_motion=swaying, forces=laws, external=pushed, torque_limits=most, gravity="input"
    )
    end = rollout(*start(robot), tau, 1e-3, push, robot.gravity, steps=20, keep="end")
    assert np.abs(end.qd - exact.qd[-1]).max() < (1e-6 if method == "rk4" else 3e-2) * np.abs(exact.qd).max()
