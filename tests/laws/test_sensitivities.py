"""Derivatives of torques, joint wrenches and accelerations: recursion = graph = differences in fifty digits."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import linkwise as lw
from linkwise.algorithms.algorithm import World, external_on_bodies, wrench_of
from linkwise.algorithms.environment import with_joint_laws
from linkwise.formats.registry import list_robots
from linkwise.kernel.robot_tracing import cost
from linkwise.mechanism import linear
from linkwise.robot.tree import Tree
from linkwise.scalar import less, sqrt, tanh, where
from linkwise.spatial import Motion
from linkwise.vector import Vec3
from support.digits import along_itself, along_tangents, big, slopes
from support.trees import SEEDS, error, hat, states, tree

FEW = (0, 1, 7)
SLOW = [pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 5)]
every = pytest.mark.parametrize("seed", [pytest.param(s, marks=[pytest.mark.slow] * (s not in FEW)) for s in SEEDS])
some = pytest.mark.parametrize("seed", [*FEW, *SLOW])  # each kind of base and joint
ROUTES = ("recursion", "graph")
LOADED = ("tool", "frame3")
EXACT = 1e-11


@pytest.fixture(autouse=True)
def back_end(monkeypatch):
    """The interpreter: that native code computes the same is tested for kernels in general."""
    monkeypatch.setenv("LINKWISE_BACKEND", "numpy")


@cache
def robot_of(seed):
    """Every feature: floating joints, mimicry, rotors on any link, elastic drives, all laws of friction, springs."""
    return tree(seed, elastic=0.3)


def stop(x, v):
    """A law along a joint that is not smooth in form, but is in its numbers."""
    return where(less(x, 0.1), (0.1 - x) * 7.0, 0.0) - x * x * x - v * sqrt(1.0 + v * v)


class Case:
    """A robot at a state, with wrenches, base motion and gravity at random, for kernels and for fifty digits."""

    def __init__(self, seed):
        self.robot, rng = robot_of(seed), np.random.default_rng(seed)
        self.state = [x[0] for x in states(self.robot, 1, seed)]
        f_ext = rng.normal(size=(2, 6)) * 20.0
        self.directions = rng.normal(size=(self.robot.nv, 2))
        self.surroundings = [f_ext, *rng.normal(size=(2, 6)), rng.normal(size=3) * 9.0]
        single = next(j.name for j in self.robot.joints if j.kind not in ("fixed", "floating"))
        laws = {single: stop}
        self.options = {"external": LOADED, "base_motion": True, "gravity": "input", "joint_forces": laws}
        self.tree = with_joint_laws(Tree.of(self.robot), {single: (stop,)})
        wrenches = {name: wrench_of([f.tolist()]) for name, f in zip(LOADED, f_ext, strict=True)}
        v, a = (Motion(Vec3(*x[:3]), Vec3(*x[3:])) for x in np.asarray(self.surroundings[1:3]).tolist())
        gravity = Vec3(*self.surroundings[3].tolist())
        self.world = World(gravity, v, a, external_on_bodies(self.tree, wrenches))

    def kernel(self, algorithm, **static):
        return lw.compile(self.robot, algorithm, **self.options, **static)

    def expected(self, algorithm, state, D, **static):
        """Derivatives of all outputs of an algorithm, flat, by each of its three inputs, along the columns of D."""

        def function(*given):
            return [x for flat in algorithm.function(self.tree, *given, world=self.world, **static) for x in flat]

        given = [big(x) for x in state]
        moves = [along_tangents(self.tree, given[0]), *(along_itself(x) for x in given[1:])]
        return [slopes(function, given, i, move, D) for i, move in enumerate(moves)]


@every
def test_torques_and_wrenches(seed):
    """dtau and dwrench by q, qd, qdd: both routes = differences, with wrenches, base motion and laws of joints."""
    case = Case(seed)
    nv, D = case.robot.nv, case.directions
    expected = case.expected(lw.joint_wrenches, case.state, D)
    for route in ROUTES:
        torques = case.kernel(lw.inverse_dynamics_derivatives, route=route)(*case.state, *case.surroundings)
        found = case.kernel(lw.algorithms.joint_wrench_derivatives, route=route)(*case.state, *case.surroundings)
        assert torques._fields == found._fields[:3] == ("dtau_dq", "dtau_dqd", "M")
        assert found._fields[3:] == ("dwrench_dq", "dwrench_dqd", "dwrench_dqdd")
        for alone, tau, wrench, by_steps in zip(torques, found[:3], found[3:], expected, strict=True):
            assert error(alone @ D, by_steps[:nv]) < EXACT
            assert error(tau @ D, by_steps[:nv]) < EXACT
            assert error((wrench @ D).reshape(-1, D.shape[1]), by_steps[nv:]) < EXACT


@every
def test_accelerations(seed):
    """dqdd by q, qd, tau: both routes = differences of forward dynamics."""
    case = Case(seed)
    D = case.directions
    state = [*case.state[:2], np.random.default_rng(seed).normal(size=case.robot.nv) * 10.0]
    expected = case.expected(lw.forward_dynamics, state, D, route="inertia")
    for route in ROUTES:
        found = case.kernel(lw.forward_dynamics_derivatives, route=route)(*state, *case.surroundings)
        assert found._fields == ("dqdd_dq", "dqdd_dqd", "Minv")
        for ours, by_steps in zip(found, expected, strict=True):
            assert error(ours @ D, by_steps) < EXACT


@some
def test_forward_is_the_inverse_of_inverse(seed):
    """M dqdd_dq = -dtau_dq at the accelerations that tau causes, and M Minv = 1."""
    robot = robot_of(seed)
    dyn = lw.compile(robot)
    q, qd, tau = states(robot, 5, seed)
    qdd = dyn.forward_dynamics(q, qd, tau)
    inverse, forward = dyn.inverse_dynamics_derivatives(q, qd, qdd), dyn.forward_dynamics_derivatives(q, qd, tau)
    assert error(inverse.M, dyn.mass_matrix(q)) < EXACT
    assert error(inverse.M @ forward.dqdd_dq, -inverse.dtau_dq) < EXACT
    assert error(inverse.M @ forward.dqdd_dqd, -inverse.dtau_dqd) < EXACT
    assert np.abs(inverse.M @ forward.Minv - np.eye(robot.nv)).max() < EXACT


@pytest.mark.parametrize("seed", [0, 1, *SLOW])
def test_uniform_accelerations_of_a_free_robot(seed):
    """Turned in uniform gravity or moved faster, a free robot accelerates as one: no joint feels it; = the graph's."""
    kinds = ("revolute", "prismatic", "floating") if seed % 2 else ("revolute", "prismatic")
    robot = lw.random_tree(seed, 4, floating=True, kinds=kinds, motors=0.3, elastic=0.3)
    by_recursion, by_graph = (lw.compile(robot, lw.forward_dynamics_derivatives, route=r) for r in ROUTES)
    q, qd, tau = states(robot, 3, seed)
    found = by_recursion(q, qd, tau)
    for ours, expected in zip(found, by_graph(q, qd, tau), strict=True):
        assert error(ours, expected) < EXACT
    places = by_recursion.packed.places
    for name, columns in (("dqdd_dq", range(6)), ("dqdd_dqd", range(3))):
        rows = [i for i, j in zip(*places[name].entries, strict=True) if j in columns]
        assert max(rows, default=0) < 3
    np.testing.assert_allclose(found.dqdd_dqd[:, :3, :3], [-hat(w) for w in qd[:, 3:6]], atol=1e-14)


def test_the_inverse_of_a_tree_has_its_zeros():
    """W D^-1 W^T of a sparse matrix: the inverse, applied and whole; a tree's zeros stay zeros of W."""
    rng = np.random.default_rng(0)
    parents = [-1, 0, 0, 1, 1, 2, 5, 5]
    L = np.eye(8)
    for k, parent in enumerate(parents):
        while parent >= 0:
            L[k, parent], parent = rng.normal(), parents[parent]
    M = L.T @ np.diag(rng.uniform(0.5, 2.0, 8)) @ L
    inverse = linear.Inverse(linear.factorise(M.tolist(), lambda k: AssertionError(k)))
    b = rng.normal(size=8)
    np.testing.assert_allclose(inverse.times(b.tolist()), np.linalg.solve(M, b), rtol=1e-10)
    np.testing.assert_allclose(inverse.matrix(), np.linalg.inv(M), rtol=1e-9, atol=1e-10)
    assert [len(row) for row in inverse._rows] == [np.count_nonzero(row) for row in L]


@some
def test_the_wrench_along_a_joint_is_its_torque(seed):
    """Without what joints take themselves, dtau = what dwrench has along the joint's axis."""
    robot = tree(seed, mimic=0.0, armature=0.0, motors=0.0, friction=0.0, springs=0.0)
    found = lw.compile(robot).joint_wrench_derivatives(*states(robot, 4, seed))
    for row, joint in enumerate(j for j in robot.joints if not j.is_fixed):
        slot = robot.slots[joint.name]
        if joint.kind == "floating":  # whose torque is about the body's origin
            units = np.block([[np.eye(3), np.zeros((3, 3))], [hat(joint.anchor), np.eye(3)]])
        else:
            unit = np.zeros(6)
            (unit[:3] if joint.kind == "prismatic" else unit[3:])[:] = joint.axis
            units = unit[None]
        at = slice(slot.v, slot.v + slot.nv)
        for whole, wrench in zip(found[:3], found[3:], strict=True):
            along = np.einsum("ki,bin->bkn", units, wrench[:, row])
            assert np.abs(along - whole[:, at]).max() < EXACT * np.abs(wrench).max()


DERIVATIVES = (lw.inverse_dynamics_derivatives, lw.algorithms.joint_wrench_derivatives, lw.forward_dynamics_derivatives)


@every
def test_the_cheapest_route_is_taken(seed):
    """Where `compile` takes the recursion without counting the graph's way, it has no more operations."""
    _check_route(robot_of(seed))


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n == "walker" else n for n in list_robots()]
)
def test_the_cheapest_route_of_bundled_robots(name):
    _check_route(lw.load(name).opened())


@pytest.mark.slow
def test_the_cheapest_route_of_long_chains_and_bushes():
    for branching in (0.0, 0.9):
        _check_route(lw.random_tree(1, 10, branching=branching, fixed=0.0))


def _check_route(robot):
    for algorithm in DERIVATIVES:
        taken = cost(lw.compile(robot, algorithm).count())
        assert taken == min(cost(lw.compile(robot, algorithm, route=r).count()) for r in ROUTES), algorithm.name


# ---- laws of the environment


def wind(pose, velocity):
    """A push that depends on where a frame is and how it moves."""
    depth = 0.1 - pose.p.z
    push = where(less(pose.p.z, 0.1), depth * depth * 50.0, 0.0)
    return lw.Wrench(velocity.linear * -3.0 + lw.Vec3(0.0, 0.0, push), velocity.angular * tanh(velocity.angular.x))


@some
def test_laws_of_frames_are_differentiated_by_the_graph(seed):
    """The route is taken by itself, and its derivatives are those of the kernel with the laws."""
    robot = robot_of(seed)
    q, qd, qdd = (x[0] for x in states(robot, 1, seed))
    laws = {"forces": {"tool": wind, "frame2": [wind, wind]}}
    found = lw.compile(robot, lw.inverse_dynamics_derivatives, **laws)(q, qd, qdd)
    tau = lw.compile(robot, lw.inverse_dynamics, **laws)
    for ours, by_steps in zip(found, _differences(robot, tau, q, qd, qdd), strict=True):
        assert error(ours, by_steps) < 1e-7
    forward = lw.compile(robot, lw.forward_dynamics_derivatives, **laws)(q, qd, tau(q, qd, qdd))
    assert error(found.M @ forward.dqdd_dq, -found.dtau_dq) < EXACT
    assert error(found.M @ forward.dqdd_dqd, -found.dtau_dqd) < EXACT
    with pytest.raises(lw.LinkwiseError, match="route='graph'"):
        lw.compile(robot, lw.inverse_dynamics_derivatives, route="recursion", **laws)


def _differences(robot, function, q, qd, qdd, h=1e-4):
    """Central differences of fourth order by q along tangent vectors, qd and qdd, in the last axis."""
    unit, integrate = np.eye(robot.nv), lw.compile(robot).integrate
    moves = [
        lambda s: (integrate(q, unit, s), qd, qdd),
        lambda s: (q, qd + s * unit, qdd),
        lambda s: (q, qd, qdd + s * unit),
    ]
    for move in moves:
        value = {k: np.asarray(function(*move(k * h))) for k in (-2, -1, 1, 2)}
        slope = (8.0 * (value[1] - value[-1]) - (value[2] - value[-2])) / (12.0 * h)
        yield np.moveaxis(slope, 0, -1)


# ---- second derivatives


@some
def test_hessians_are_derivatives_of_gradients(seed):
    """H is symmetric, H direction = Hv, and = differences of the gradient where joints have one degree of freedom."""
    robot = robot_of(seed)
    dyn, rng = lw.compile(robot), np.random.default_rng(seed)
    q, qd, qdd = (x[0] for x in states(robot, 1, seed))
    weights, direction = rng.normal(size=robot.nv), rng.normal(size=3 * robot.nv)
    H = dyn.inverse_dynamics_hessian(q, qd, qdd, weights)
    assert error(H, H.T) < 1e-13
    assert error(dyn.inverse_dynamics_hessian_vector(q, qd, qdd, weights, direction), H @ direction) < EXACT

    def gradient(*state):
        return np.concatenate([np.einsum("i,...ij->...j", weights, x) for x in derivatives(*state)], axis=-1)

    derivatives = dyn.inverse_dynamics_derivatives
    rows = np.concatenate(list(_differences(robot, gradient, q, qd, qdd, 1e-3)), axis=-1)
    # gradients in axes that turn with the step: their differences are symmetric but for half the bracket of two axes
    assert error(0.5 * (rows + rows.T), H) < 1e-8


@some
def test_hessian_along_a_path(seed):
    """s^T H s = the second derivative of weights . tau along the path that a constant tangent vector makes."""
    robot = robot_of(seed)
    rng = np.random.default_rng(seed)
    q, qd, qdd = (x[0] for x in states(robot, 1, seed))
    weights, s = rng.normal(size=robot.nv), rng.normal(size=(3, robot.nv))
    dyn = lw.compile(robot)
    h = 2e-3

    def value(k):
        return dyn.inverse_dynamics(dyn.integrate(q, s[0], k * h), qd + k * h * s[1], qdd + k * h * s[2]) @ weights

    y = {k: value(k) for k in range(-3, 4)}
    even = [y[k] + y[-k] - 2.0 * y[0] for k in (1, 2, 3)]
    second = (270.0 * even[0] - 27.0 * even[1] + 2.0 * even[2]) / (180.0 * h * h)
    H = dyn.inverse_dynamics_hessian(q, qd, qdd, weights)
    flat = s.reshape(-1)
    assert abs(flat @ H @ flat - second) < 1e-6 * np.abs(H).max()


def test_refused_without_a_graph():
    robot = robot_of(0)
    q, qd, qdd = (x[0].tolist() for x in states(robot, 1))
    with pytest.raises(lw.InputError, match=r"inverse_dynamics_hessian is taken by the graph .* lw\.compile"):
        lw.algorithms.inverse_dynamics_hessian.plain(robot, q, qd, qdd, [1.0] * robot.nv)
    with pytest.raises(lw.InputError, match=r"route: expected one of \('recursion', 'graph'\), got 'both'"):
        lw.compile(robot, lw.inverse_dynamics_derivatives, route="both")


# ---- coordinates without meaning for each other


def test_a_robot_without_friction_differs_only_in_its_own_entries():
    """Friction is a joint's own affair: it changes the diagonal of dtau_dqd alone."""
    robot = tree(0, mimic=0.0, springs=0.0, elastic=0.0)
    given = states(robot, 3)
    with_it, without = (lw.compile(r).inverse_dynamics_derivatives(*given) for r in (robot, replace_friction(robot)))
    assert error(with_it.dtau_dq, without.dtau_dq) < EXACT
    change = with_it.dtau_dqd - without.dtau_dqd
    assert (np.einsum("bii->bi", change) >= -1e-9).all()
    off = change * (1.0 - np.eye(robot.nv))
    assert np.abs(off).max() < EXACT * np.abs(with_it.dtau_dqd).max()


def replace_friction(robot):
    new = [replace(j, friction=lw.Friction(), drive=_smooth(j.drive)) for j in robot.joints]
    return robot.replace(*new)


def _smooth(drive):
    return drive and replace(drive, friction=lw.Friction())
