"""Rates of torques and joint wrenches, and jerks."""

from itertools import pairwise

import numpy as np
import pytest

import linkwise as lw
from linkwise import algorithms
from linkwise.graph.derivative import along
from linkwise.graph.program import Port, trace
from linkwise.robot.align import aligned
from linkwise.robot.regroup import regrouped
from linkwise.robot.tree import Tree
from linkwise.scalar import less, sqrt, tanh, where
from support.backends import definition
from support.rates import time_derivative
from support.trees import SEEDS, STEP, dynamics, error, ideal, q_dot, rate_along, states, tree

every = pytest.mark.parametrize("seed", SEEDS)
some = pytest.mark.parametrize("seed", [0, 1, 2, 5, 7])  # each kind of base and joint
ROUTES = ("recursion", "series")
LOADED = ("tool", "frame3")
EXACT = 1e-11


def motion(robot, seed, orders=4, rows=3):
    """q, qd, qdd, qddd, ... at random, by rows."""
    q, qd, qdd = states(robot, rows, seed)
    rng = np.random.default_rng(seed + 100)
    return [q, qd, qdd, *rng.uniform(-2.0, 2.0, (orders - 3, rows, robot.nv))]


def stepped(robot, given):
    """The numbers of a motion a complex step later: each moves at the rate that the next one gives."""
    q, *others = given
    first = q + STEP * 1j * q_dot(robot, q, others[0])
    return [first.tolist(), *((x + STEP * 1j * y).tolist() for x, y in pairwise(others))]


def slope(robot, function, q, qd, qdd, qddd, h=1e-3):
    """d/dt of function(q, qd, qdd) by central differences of sixth order, along the tangent of the motion."""
    speeds = np.array([q_dot(robot, *x) for x in zip(q, qd, strict=True)])
    moved = {k: [x + k * h * y for x, y in ((q, speeds), (qd, qdd), (qdd, qddd))] for k in (-3, -2, -1, 1, 2, 3)}
    value = {k: np.asarray(function(*state)) for k, state in moved.items()}
    odd = [value[k] - value[-k] for k in (1, 2, 3)]
    return (45.0 * odd[0] - 9.0 * odd[1] + odd[2]) / (60.0 * h)


def imaginary(x):
    return np.imag(np.array(x, complex)) / STEP


@every
@pytest.mark.parametrize("route", ROUTES)
def test_rates_are_derivatives_along_the_motion(seed, route):
    """tau_dot, wrench_dot = complex step of tau and wrench, every feature on, with wrenches that change."""
    robot = tree(seed)
    given = motion(robot, seed)
    f, f_dot = np.random.default_rng(seed).normal(size=(2, 3, 2, 6)) * 20.0
    options = {"external": LOADED, "route": route}
    forces = lw.compile(robot, lw.force_rates, **options)(*given, f, f_dot)
    found = lw.compile(robot, lw.joint_wrench_rates, **options)(*given, f, f_dot)
    assert forces._fields == ("tau", "tau_dot")
    for row in range(3):
        external = {name: (f + STEP * 1j * f_dot)[row, k].tolist() for k, name in enumerate(LOADED)}
        tau, wrench = lw.joint_wrenches.plain(robot, *stepped(robot, [x[row] for x in given]), external=external)
        for ours in (forces, found):
            assert error(ours.tau[row], np.real(tau)) < EXACT
            assert error(ours.tau_dot[row], imaginary(tau)) < EXACT
        assert error(found.wrench[row].reshape(-1), np.real(wrench)) < EXACT
        assert error(found.wrench_dot[row].reshape(-1), imaginary(wrench)) < EXACT


@some
def test_both_routes_are_the_derivative_of_the_graph(seed):
    """tau_dot = the total time derivative of the traced inverse dynamics."""
    robot = tree(seed)
    given = motion(robot, seed)
    bodies = regrouped(aligned(Tree.of(robot)))
    names = ("q", "qd", "qdd", "qddd")
    ports = [Port(n, (robot.nq if n == "q" else robot.nv,)) for n in names]

    def rates(q, qd, qdd, qddd):
        world = lw.algorithms.World(bodies.gravity)
        (tau,) = lw.inverse_dynamics.function(bodies, q, qd, qdd, world=world)
        (speeds,) = algorithms.q_dot.function(bodies, q, qd)
        return (along(tau, [*q, *qd, *qdd], [*speeds, *qdd, *qddd]),)

    by_graph = definition(trace("rates", rates, ports, [Port("tau_dot", (robot.nv,))]))(*given)
    for route in ROUTES:
        assert error(lw.compile(robot, lw.force_rates, route=route)(*given).tau_dot, by_graph) < EXACT


@some
@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize("route", ROUTES)
def test_higher_rates_are_derivatives_of_lower_ones(seed, order, route):
    """The highest rate = complex step of the one below."""
    robot = tree(seed)
    given = motion(robot, seed, orders=order + 3, rows=1)
    f = np.random.default_rng(seed).normal(size=(order + 1, 1, 1, 6)) * 20.0
    kernel = lw.compile(robot, lw.force_rates, external="tool", order=order, route=route)
    assert list(kernel.outputs) == ["tau", "tau_dot", "tau_ddot", "tau_dddot"][: order + 1]
    found = kernel(*given, *f)
    load = [x + STEP * 1j * y for x, y in pairwise(f)]
    external = {"tool": np.concatenate([x.reshape(-1) for x in load]).tolist()}
    state = stepped(robot, [x[0] for x in given])
    below = lw.force_rates.plain(robot, *state, external=external, order=order - 1, route=route)
    for k in range(order):
        assert error(found[k][0], np.real(below[k])) < EXACT
    assert error(found[order][0], imaginary(below[order - 1])) < EXACT


@some
def test_rates_of_power(seed):
    """Without losses d/dt (T + V) = qd . tau, and so d2/dt2 (T + V) = qdd . tau + qd . tau_dot."""
    robot = ideal(seed)
    q, qd, qdd, qddd = motion(robot, seed)
    tau, tau_dot = dynamics(robot).force_rates(q, qd, qdd, qddd)
    second = np.sum(qdd * tau + qd * tau_dot, axis=1)

    def energy(*state):
        return np.add(
            lw.algorithms.kinetic_energy.plain(robot, *state), lw.algorithms.potential_energy.plain(robot, state[0])
        )

    def power(*state):
        return [float(rate_along(robot, energy, *x)[0]) for x in zip(*state, strict=True)]

    assert error(second, slope(robot, power, q, qd, qdd, qddd)) < 1e-8


@every
def test_a_moving_base_is_a_floating_joint(seed):
    """Joint torques of a robot whose base moves, with its jerk given = those on a floating joint that moves so."""
    robot = tree(seed, floating=False, kinds=("revolute", "prismatic"), joints=4)
    root = robot.root
    flying = robot.add(lw.Link("world"), lw.Joint("carrier", "world", root.name, "floating"))
    q, qd, qdd, qddd = motion(robot, seed)
    rng = np.random.default_rng(seed)
    v, w, a, alpha, j, jerk = rng.normal(size=(6, 3, 3))
    kernel = lw.compile(robot, lw.force_rates, base_motion=True, gravity="input")
    assert list(kernel.inputs)[4:] == ["base_velocity", "base_acceleration", "base_jerk", "gravity"]
    x = np.concatenate([rng.normal(size=(3, 3)), _unit(rng.normal(size=(3, 4)))], axis=1)
    on = states(flying, 3)[0]
    slot = flying.slots["carrier"]
    on[:, slot.q : slot.q + 7] = x
    R = lw.compile(flying).pose(on, root.name)[:, :3, :3]
    felt = np.array(robot.gravity) @ R
    base = [np.concatenate(pair, axis=1) for pair in ((v, w), (a, alpha), (j, jerk))]
    tau, tau_dot = kernel(q, qd, qdd, qddd, *base, felt)

    # rates of components: those of vectors less omega x the vector
    v_dot, a_dot = a - np.cross(w, v), j - np.cross(w, a)
    v_ddot = a_dot - np.cross(alpha, v) - np.cross(w, v_dot)
    carrier = (np.concatenate([v, w], 1), np.concatenate([v_dot, alpha], 1))
    carrier += (np.concatenate([v_ddot, jerk - np.cross(w, alpha)], 1),)
    rates = []
    for own, rest in zip(carrier, (qd, qdd, qddd), strict=True):
        full = np.zeros((3, flying.nv))
        full[:, slot.v : slot.v + 6] = own
        for name, here in robot.slots.items():
            full[:, flying.slots[name].v] = rest[:, here.v]
        rates.append(full)
    for name, here in robot.slots.items():
        on[:, flying.slots[name].q] = q[:, here.q]
    expected = lw.compile(flying).force_rates(on, *rates)
    places = [flying.slots[name].v for name in robot.slots]
    assert error(tau, expected.tau[:, places]) < EXACT
    assert error(tau_dot, expected.tau_dot[:, places]) < EXACT


def _unit(x):
    return x / np.linalg.norm(x, axis=1, keepdims=True)


@some
def test_laws_of_the_environment_and_parameters_have_their_rates(seed):
    """tau_dot with laws on frames and joints, and numbers of the model as inputs = that of the graph's tau."""
    robot = tree(seed)
    q, qd, qdd, qddd = motion(robot, seed)
    mass = np.full((3, 1), 1.7)

    def law(pose, velocity):
        depth = 0.1 - pose.p.z
        push = where(less(pose.p.z, 0.1), depth * depth * 50.0, 0.0)
        return lw.Wrench(velocity.linear * -3.0 + lw.Vec3(0.0, 0.0, push), velocity.angular * tanh(velocity.angular.x))

    single = next(j.name for j in robot.joints if j.kind not in ("fixed", "floating"))
    options = {
        "forces": {"tool": law, "frame3": [law, law]},
        "joint_forces": {single: lambda x, v: -x * x * x - v * sqrt(1.0 + v * v)},
        "parameters": ("link2.mass",),
    }
    plain = lw.compile(robot, lw.inverse_dynamics, **options)
    for route in ROUTES:
        found = lw.compile(robot, lw.force_rates, route=route, **options)(q, qd, qdd, qddd, mass)
        by_steps = slope(robot, lambda *state: plain(*state, mass), q, qd, qdd, qddd)
        assert error(found.tau_dot, by_steps) < 1e-8


@some
def test_jerks_are_rates_of_accelerations(seed):
    """Jerk of a frame and of all links = complex step of the acceleration in world axes."""
    robot = tree(seed)
    given = motion(robot, seed)
    dyn = dynamics(robot)
    frames, links = dyn.jerk(*given, "frame2"), dyn.link_jerks(*given)
    local = dyn.jerk(*given, "frame2", axes="local")
    R = dyn.pose(given[0], "frame2")[:, :3, :3]
    turned = np.concatenate([np.einsum("bij,bj->bi", R, x) for x in (local[:, :3], local[:, 3:])], axis=1)
    assert error(turned, frames) < EXACT
    for row in range(3):
        state = stepped(robot, [x[row] for x in given])
        assert error(frames[row], imaginary(lw.algorithms.acceleration.plain(robot, *state, frame="frame2"))) < EXACT
        for k, link in enumerate(robot.moving_links):
            expected = imaginary(lw.algorithms.acceleration.plain(robot, *state, frame=link))
            assert np.abs(links.j[row, k] - expected).max() < EXACT * np.abs(links.j).max()


@some
def test_jerks_of_mass_centres_are_rates_of_the_force(seed):
    """m j_com of all links = the rate of what holds up the robot, gravity and friction left out."""
    robot = tree(seed, motors=0.0)
    given = motion(robot, seed)
    found = dynamics(robot).link_jerks(*given)
    total = np.einsum("k,bki->bi", _lumped_masses(robot), found.j_com)

    def force(*state):
        return [
            rate_along(robot, lambda *x: lw.algorithms.momentum.plain(robot, *x)[:3], *x)
            for x in zip(*state, strict=True)
        ]

    assert error(total, slope(robot, force, *given)) < 1e-8


def _lumped_masses(robot):
    """The masses of moving links with what is welded to them."""
    carrier, mass = {robot.root.name: None}, dict.fromkeys(robot.moving_links, 0.0)
    for j in robot.joints:
        carrier[j.child] = carrier[j.parent] if j.is_fixed else j.child
    for link in robot.links:
        if carrier[link.name]:
            mass[carrier[link.name]] += link.mass
    return np.array([mass[name] for name in robot.moving_links])


@some
def test_time_derivative_of_any_function(seed):
    """The helper on numbers = the complex step."""
    robot = tree(seed)
    q, qd = (x[0] for x in motion(robot, seed)[:2])
    qdd = motion(robot, seed)[2][0]
    values, rates = time_derivative(
        lambda *state: ([lw.algorithms.kinetic_energy.plain(robot, *state)[0]],),
        [q.tolist(), qd.tolist()],
        [q_dot(robot, q, qd).tolist(), qdd.tolist()],
    )
    assert error(values[0], lw.algorithms.kinetic_energy.plain(robot, q.tolist(), qd.tolist())) < EXACT
    assert (
        error(rates[0], rate_along(robot, lambda *s: lw.algorithms.kinetic_energy.plain(robot, *s), q, qd, qdd)) < EXACT
    )
