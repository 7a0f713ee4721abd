"""How links move, and derivatives of it: recursion = graph = differences in fifty digits; rates of Jacobians."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.algorithms.algorithm import World
from linkwise.robot.tree import Tree
from linkwise.spatial import Motion
from linkwise.vector import Vec3
from support.digits import along_itself, along_tangents, big, slopes
from support.rates import time_derivative
from support.trees import dynamics, error, q_dot, states, tree

SLOW = [pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 5)]
some = pytest.mark.parametrize("seed", [0, 1, 7, *SLOW])  # each kind of base and joint
EXACT = 1e-11
ROUTES = ("recursion", "graph")


@pytest.fixture(autouse=True)
def back_end(monkeypatch):
    """The interpreter: that native code computes the same is tested for kernels in general."""
    monkeypatch.setenv("LINKWISE_BACKEND", "numpy")


@some
def test_links_move_as_frames_do(seed):
    robot = tree(seed)
    q, qd, qdd = states(robot, 3, seed)
    dyn = dynamics(robot)
    found = dyn.link_motions(q, qd, qdd)
    for k, link in enumerate(robot.moving_links):
        assert np.abs(found.p[:, k] - dyn.pose(q, link)[:, :3, 3]).max() < EXACT
        assert np.abs(found.v[:, k] - dyn.velocity(q, qd, link)).max() < EXACT * np.abs(found.v).max()
        assert np.abs(found.a[:, k] - dyn.acceleration(q, qd, qdd, link)).max() < EXACT * np.abs(found.a).max()


@some
def test_their_momenta_are_those_of_the_robot(seed):
    """sum m v_com and sum p_com x m v_com + L = the momentum of all moving bodies."""
    robot = tree(seed)
    q, qd, qdd = states(robot, 3, seed)
    found = dynamics(robot).link_motions(q, qd, qdd)
    mass = np.array([b.inertia.m for b in Tree.of(robot).bodies[1:]])
    linear = mass[:, None] * found.v_com
    total = np.concatenate([linear, np.cross(found.p_com, linear) + found.L], axis=-1).sum(axis=1)
    assert error(total, dynamics(robot).momentum(q, qd)) < EXACT


@some
def test_derivatives(seed):
    """All outputs, both routes, with a moving base = differences in fifty digits along random directions."""
    robot, rng = tree(seed, elastic=0.3), np.random.default_rng(seed)
    state = [x[0] for x in states(robot, 1, seed)]
    base = rng.normal(size=(2, 6))
    D = rng.normal(size=(robot.nv, 2))
    laid_out = Tree.of(robot)
    world = World(Vec3(0, 0, -9.81), *(Motion(Vec3(*x[:3]), Vec3(*x[3:])) for x in base.tolist()))

    def function(*given):
        return [x for flat in lw.algorithms.link_motions.function(laid_out, *given, world=world) for x in flat]

    given = [big(x) for x in state]
    moves = [along_tangents(laid_out, given[0]), *(along_itself(x) for x in given[1:])]
    expected = {
        x: slopes(function, given, i, move, D)
        for i, (x, move) in enumerate(zip(("q", "qd", "qdd"), moves, strict=True))
    }
    widths = {name: len(robot.moving_links) * shape[1] for name, shape in lw.algorithms.link_motions.outputs.items()}
    starts = dict(zip(widths, np.cumsum([0, *widths.values()]), strict=False))
    for route in ROUTES:
        found = lw.compile(robot, lw.algorithms.kinematics_derivatives, base_motion=True, route=route)(*state, *base)
        for name, ours in found._asdict().items():
            of, by = name.removeprefix("d").split("_d")
            rows = expected[by][starts[of] : starts[of] + widths[of]]
            assert error((ours @ D).reshape(rows.shape), rows) < EXACT, name


def test_what_is_left_out_is_zero():
    """The outputs hold every derivative that is not zero everywhere."""
    assert list(lw.algorithms.kinematics_derivatives.outputs) == [
        "dp_dq", "dv_dq", "dv_dqd", "da_dq", "da_dqd", "da_dqdd",
        "dp_com_dq", "dv_com_dq", "dv_com_dqd", "da_com_dq", "da_com_dqd", "da_com_dqdd", "dL_dq", "dL_dqd",
    ]  # fmt: skip


@some
def test_jacobians_are_among_them(seed):
    robot = tree(seed)
    state = states(robot, 2, seed)
    dyn = dynamics(robot)
    found = dyn.kinematics_derivatives(*state)
    for k, link in enumerate(robot.moving_links):
        J = dyn.jacobian(state[0], link)
        assert np.abs(found.dv_dqd[:, k] - J).max() < EXACT
        assert np.abs(found.da_dqdd[:, k] - J).max() < EXACT
        assert np.abs(found.dp_dq[:, k] - J[:, :3]).max() < EXACT
        assert np.abs(found.da_dqd[:, k] - found.dv_dq[:, k] - dyn.jacobian_dot(*state[:2], link)).max() < 1e-10


@some
@pytest.mark.parametrize("axes", ["world", "local"])
@pytest.mark.parametrize("frame", ["tool", "frame2"])
def test_rates_of_jacobians(seed, axes, frame):
    """J_dot = the Jacobian run on scalars with rates, and a = J qdd + J_dot qd."""
    robot = tree(seed)
    q, qd, qdd = states(robot, 3, seed)
    dyn = dynamics(robot)
    found, J = dyn.jacobian_dot(q, qd, frame, axes=axes), dyn.jacobian(q, frame, axes=axes)
    bodies = Tree.of(robot)
    for row in range(3):
        rates = time_derivative(
            lambda x: lw.jacobian.function(bodies, x, frame=frame, axes=axes),
            [q[row].tolist()],
            [q_dot(robot, q[row], qd[row]).tolist()],
        )[1][0]
        assert np.abs(found[row].reshape(-1) - rates).max() < EXACT * max(1.0, np.abs(rates).max())
    a = np.einsum("bij,bj->bi", J, qdd) + np.einsum("bij,bj->bi", found, qd)
    if axes == "local":
        v = dyn.velocity(q, qd, frame, axes="local")
        a += np.concatenate([np.cross(v[:, 3:], v[:, :3]), np.zeros((3, 3))], axis=1)
    expected = dyn.acceleration(q, qd, qdd, frame, axes=axes)
    assert np.abs(a - expected).max() < EXACT * max(1.0, np.abs(expected).max())


def test_mistakes_are_answered():
    dyn = lw.compile(tree(0))
    q, qd, _ = states(tree(0), 1)
    with pytest.raises(lw.UnknownNameError, match="frame or link 'nothing'"):
        dyn.jacobian_dot(q, qd, "nothing")
    with pytest.raises(lw.InputError, match="axes: expected 'world' or 'local'"):
        dyn.jacobian_dot(q, qd, "tool", axes="body")
