"""Robots that nothing holds: steps on the manifold, the centre of mass, momentum about it, inertia at a frame."""

import numpy as np
import pytest

import linkwise as lw
from linkwise import algorithms as alg
from linkwise.backend import python
from linkwise.graph.derivative import jacobian
from linkwise.graph.program import Port, trace
from linkwise.robot import Joint, Link, Robot
from linkwise.robot.tree import Tree
from support import trees
from support.trees import SEEDS, carried, dynamics, error, masses, rate_along, states, tree, with_motors_on

RESISTANCE = {"friction": 0.5, "springs": 0.4}
seeds = pytest.mark.parametrize("seed", SEEDS)


def free(seed, **options):
    """A robot of seven joints on a floating base that carries all motors."""
    features = {"kinds": ("revolute", "prismatic", "continuous"), "armature": 0.3, "motors": 0.4, **RESISTANCE}
    robot = lw.random_tree(seed, 7, floating=True, **{**features, **options})
    return with_motors_on(robot, carried(robot, "body"))


def same_configuration(robot, a, b):
    """The distance of two configurations, quaternions up to their sign."""
    b = np.array(b)
    for slot in robot.slots.values():
        if slot.nq == 7:
            k = slice(slot.q + 3, slot.q + 7)
            b[..., k] *= np.sign((a[..., k] * b[..., k]).sum(axis=-1, keepdims=True))
    return error(a, b)


# ---- steps


@seeds
def test_a_step_over_the_difference_arrives(seed):
    """integrate(q0, difference(q0, q1), 1) = q1, whatever the signs of the quaternions; no floating joint turns more
    than half a turn."""
    robot = tree(seed)
    q0, q1 = states(robot)[0], states(robot, seed=1)[0]
    v = dynamics(robot).difference(q0, q1)
    assert same_configuration(robot, dynamics(robot).integrate(q0, v, 1.0), q1) < 1e-14
    for slot in robot.slots.values():
        if slot.nq == 7:
            assert np.linalg.norm(v[:, slot.v + 3 : slot.v + 6], axis=1).max() <= np.pi
            q1[:, slot.q + 3 : slot.q + 7] *= -3.0
    assert error(dynamics(robot).difference(q0, q1), v) < 1e-14


@seeds
@pytest.mark.parametrize("dt", [1e-9, 1e-4, 0.1, 0.7])
def test_the_difference_over_a_step_is_the_velocity(seed, dt):
    """difference(q, integrate(q, qd, dt)) = qd dt, up to round-off of q itself."""
    robot = tree(seed)
    q, qd, _ = states(robot)
    ahead = dynamics(robot).integrate(q, qd, dt)
    assert np.abs(dynamics(robot).difference(q, ahead) - qd * dt).max() < 3e-15
    assert error(dynamics(robot).difference(ahead, q), -dynamics(robot).difference(q, ahead)) < max(1e-14, 1e-15 / dt)


@seeds
def test_two_steps_are_one(seed):
    """Steps with one velocity add up, also over many turns, and signs of quaternions follow."""
    robot = tree(seed)
    q, qd, _ = states(robot)
    times = np.random.default_rng(seed).uniform(-9.0, 9.0, (2, len(q)))
    steps = dynamics(robot).integrate(dynamics(robot).integrate(q, qd, times[0]), qd, times[1])
    assert error(steps, dynamics(robot).integrate(q, qd, times.sum(axis=0))) < 1e-13


@seeds
@pytest.mark.parametrize("time", [0.0, 1e-6, 0.2, 1.7])
def test_the_rate_of_a_step_is_q_dot(seed, time):
    """d/dt integrate(q, qd, t) = q_dot there, and q_dot is what the other laws use."""
    robot = tree(seed)
    q, qd, _ = (x[0] for x in states(robot))
    ahead = np.array(alg.integrate.plain(robot, q.tolist(), qd.tolist(), time + trees.STEP * 1j), complex)
    expected = trees.q_dot(robot, ahead.real, qd)
    assert error(ahead.imag / trees.STEP, expected) < 1e-13
    assert error(dynamics(robot).q_dot(ahead.real, qd), expected) < 1e-14


def floating_body():
    return Robot([Link("world"), Link("body", 1.0)], [Joint("root", "world", "body", "floating")])


def slopes(algorithm, robot, wrt, *point):
    """Derivatives of a traced algorithm with respect to one of its inputs, by the graph."""
    laid_out = Tree.of(robot)
    shapes = [len(x) for x in point]

    def derived(*inputs):
        (out,) = algorithm.function(laid_out, *inputs)
        return ([x for row in jacobian(out, inputs[wrt], "forward") for x in row],)

    (rows,) = algorithm.outputs.values()
    size = {"nq": robot.nq, "nv": robot.nv}[rows[0]]
    ports = [Port(f"x{k}", (n,)) for k, n in enumerate(shapes)]
    program = trace("slopes", derived, ports, [Port("y", (size, shapes[wrt]))])
    (flat,) = python.evaluate(program, *point)
    return np.reshape(flat, (size, shapes[wrt]))


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-3, 0.4999, 0.5001, 3.0])
def test_traced_steps_have_derivatives_everywhere(angle):
    """No NaN at rest, and series and closed forms meet: against a complex step, which sees one side only."""
    robot, rng = floating_body(), np.random.default_rng(3)
    q = robot.q({"root": [0.3, -0.2, 0.5, *rng.normal(size=4)]}).tolist()
    omega = rng.normal(size=3)
    v = [*rng.normal(size=3), *(angle * omega / np.linalg.norm(omega))]
    found = slopes(alg.integrate, robot, 1, q, v, [1.0])
    steps = [
        alg.integrate.plain(robot, q, [x + trees.STEP * 1j * (i == k) for i, x in enumerate(v)], 1.0) for k in range(6)
    ]
    assert error(found, np.imag(np.array(steps, complex)).T / trees.STEP) < 1e-13
    # log after exp is the identity, also in its slope
    ahead = alg.integrate.plain(robot, q, v, 1.0)
    assert error(slopes(alg.difference, robot, 1, q, ahead) @ found, np.eye(6)) < 1e-13


def test_a_bad_row_stays_alone():
    """A NaN, or a quaternion of zeros, is answered with NaN in its row."""
    robot = floating_body()
    q, qd, _ = states(robot)
    spoiled = q.copy()
    spoiled[2, 3:] = 0.0
    spoiled[4, 5] = np.nan
    good = [k for k in range(len(q)) if k not in (2, 4)]
    for found, expected in (
        (dynamics(robot).integrate(spoiled, qd, 0.1), dynamics(robot).integrate(q, qd, 0.1)),
        (dynamics(robot).difference(spoiled, q[::-1]), dynamics(robot).difference(q, q[::-1])),
    ):
        assert np.array_equal(found[good], expected[good])
        assert np.isnan(found[[2, 4]]).any(axis=1).all()


def test_steps_broadcast_and_refuse_by_name():
    robot = tree(1)
    q, qd, _ = states(robot, 5)
    times = np.array([[0.0], [0.1], [0.2]])
    many = dynamics(robot).integrate(q, qd, times)
    assert many.shape == (3, 5, robot.nq)
    assert np.array_equal(many[1], dynamics(robot).integrate(q, qd, 0.1))
    out = np.empty_like(q)
    assert dynamics(robot).integrate(q, qd, 0.1, out=out) is out
    assert lw.compile(robot, lw.algorithms.integrate).inputs == {"q": (robot.nq,), "qd": (robot.nv,), "dt": ()}
    with pytest.raises(lw.InputError, match=r"integrate: expected qd of shape"):
        dynamics(robot).integrate(q, qd[:, 1:], 0.1)


# ---- accelerations


@seeds
def test_classical_acceleration_is_that_of_the_body(seed):
    """Of the floating joint: the classical acceleration of its link, in its axes; of the others nothing changes."""
    robot = free(seed)
    q, qd, qdd = states(robot)
    a = dynamics(robot).classical_acceleration(qd, qdd)
    assert error(a[:, :6], dynamics(robot).acceleration(q, qd, qdd, "body", axes="local")) < 1e-14
    assert np.array_equal(a[:, 6:], qdd[:, 6:])
    assert error(dynamics(robot).component_acceleration(qd, a), qdd) < 1e-15


# ---- the robot as one body


@seeds
def test_centre_of_mass(seed):
    """The mean of the places of all that moves, weighted by mass; its rate is J qd."""
    robot = tree(seed)
    dyn, (q, qd, _) = dynamics(robot), states(robot, 4)
    total = sum(m for _, m, _, _ in masses(robot))
    moments = [m * (dyn.pose(q, link)[..., :3, :] @ [*c, 1.0]) for link, m, c, _ in masses(robot)]
    assert error(dyn.centre_of_mass(q), sum(moments) / total) < 1e-14
    rates = [
        rate_along(robot, lambda q: lw.algorithms.centre_of_mass.plain(robot, q), *x) for x in zip(q, qd, strict=True)
    ]
    assert error(np.einsum("bij,bj->bi", dyn.com_jacobian(q), qd), rates) < 1e-13


@seeds
def test_centroidal_matrix(seed):
    """A qd is the momentum, moved from the world's origin to the centre of mass; its upper half is m J."""
    robot = tree(seed)
    dyn, (q, qd, _) = dynamics(robot), states(robot)
    h = dyn.momentum(q, qd)
    h[:, 3:] -= np.cross(dyn.centre_of_mass(q), h[:, :3])
    A = dyn.centroidal_matrix(q)
    assert error(dyn.centroidal_momentum(q, qd), h) < 1e-14
    assert error(np.einsum("bij,bj->bi", A, qd), h) < 1e-13
    total = sum(m for _, m, _, _ in masses(robot))
    assert error(A[:, :3], total * dyn.com_jacobian(q)) < 1e-14


@seeds
def test_momentum_changes_by_what_acts_from_outside(seed):
    """d/dt of the centroidal momentum = weight, an external wrench and the forces on the floating joint."""
    robot = free(seed)
    q, qd, tau = states(robot, 3)
    push = np.random.default_rng(seed).normal(size=(3, 1, 6)) * 5.0
    qdd = lw.compile(robot, lw.forward_dynamics, external=("tool",))(q, qd, tau, push)
    dyn = dynamics(robot)
    weight = sum(m for _, m, _, _ in masses(robot)) * np.array(robot.gravity)
    for k in range(3):
        com = dyn.centre_of_mass(q[k])
        expected = np.array([*weight, 0.0, 0.0, 0.0])
        for frame, wrench in (("tool", push[k, 0]), ("body", tau[k, :6])):
            T = dyn.pose(q[k], frame)
            T[:3, 3] -= com
            expected += trees.seen_from(T, wrench)
        rate = rate_along(
            robot, lambda q, qd: lw.algorithms.centroidal_momentum.plain(robot, q, qd), q[k], qd[k], qdd[k]
        )
        assert error(rate, expected) < 1e-11


def stepped(dyn, q, qd, tau, dt):
    """One step of fourth order by `integrate` alone: the commutator-free method of Celledoni, Marthinsen and Owren."""
    v1, a1 = qd, dyn.forward_dynamics(q, qd, tau)
    q2, v2 = dyn.integrate(q, v1, dt / 2), qd + a1 * (dt / 2)
    a2 = dyn.forward_dynamics(q2, v2, tau)
    q3, v3 = dyn.integrate(q, v2, dt / 2), qd + a2 * (dt / 2)
    a3 = dyn.forward_dynamics(q3, v3, tau)
    q4, v4 = dyn.integrate(q2, v3 - v1 / 2, dt), qd + a3 * dt
    a4 = dyn.forward_dynamics(q4, v4, tau)
    middle = 2 * (v2 + v3)
    half = dyn.integrate(q, (3 * v1 + middle - v4) / 12, dt)
    return dyn.integrate(half, (3 * v4 + middle - v1) / 12, dt), qd + (a1 + 2 * (a2 + a3) + a4) * (dt / 6)


def drift(robot, steps, dt):
    """How much the momentum about the world's origin changes under internal forces, relative to itself."""
    dyn = dynamics(robot)
    q, qd, tau = states(robot, 4)
    tau[:, :6] = 0.0
    before = dyn.momentum(q, qd)
    for _ in range(steps):
        q, qd = stepped(dyn, q, qd, tau, dt)
    return error(dyn.momentum(q, qd), before)


@pytest.mark.parametrize("seed", range(0, 12, 3))
def test_momentum_is_kept_without_outside_forces(seed):
    """Internal torques, springs and motors leave it; what a step loses is of its fifth order."""
    robot = free(seed, friction=0.0).replace(gravity=(0.0, 0.0, 0.0))
    assert drift(robot, 100, 1e-4) < 1e-12
    assert drift(robot, 10, 4e-3) / drift(robot, 20, 2e-3) > 12.0


def test_massless_robots_have_no_centre():
    robot = Robot([Link("base", 1.0), Link("ghost")], [Joint("hinge", "base", "ghost")])
    for algorithm in (
        lw.algorithms.centre_of_mass,
        lw.algorithms.com_jacobian,
        lw.algorithms.centroidal_momentum,
        lw.algorithms.centroidal_matrix,
    ):
        with pytest.raises(lw.LinkwiseError, match="no mass"):
            lw.compile(robot, algorithm)


# ---- inertia at a frame


@seeds
@pytest.mark.parametrize("floating", [True, False])
def test_operational_inertia_answers_a_push_at_rest(seed, floating):
    """A wrench f at a frame of a robot at rest accelerates it by a with f = Lambda a, world axes."""
    robot = lw.random_tree(seed, 7, floating=floating, branching=0.0, mimic=0.1, armature=0.4, motors=0.4)
    robot = robot.replace(gravity=(0.0, 0.0, 0.0))
    q, _, _ = states(robot)
    dyn, rest = dynamics(robot), np.zeros((len(q), robot.nv))
    J = dyn.jacobian(q, "tool")
    if robot.nv < 6:
        with pytest.raises(lw.LinkwiseError, match=r"'tool'.*at least six"):
            dyn.operational_inertia(q, "tool")
        return
    if np.linalg.matrix_rank(J[0]) < 6:
        assert np.isnan(dyn.operational_inertia(q, "tool")).all()
        return
    f = np.random.default_rng(seed).normal(size=(len(q), 6))
    R = dyn.pose(q, "tool")[:, :3, :3].swapaxes(1, 2)
    local = np.concatenate([np.einsum("bij,bj->bi", R, x) for x in (f[:, :3], f[:, 3:])], axis=1)
    qdd = lw.compile(robot, lw.forward_dynamics, external=("tool",))(q, rest, rest, local[:, None])
    a = dyn.acceleration(q, rest, qdd, "tool")
    Lambda = dyn.operational_inertia(q, "tool")
    assert np.array_equal(Lambda, Lambda.swapaxes(1, 2))
    exact = np.linalg.inv(J @ np.linalg.inv(dyn.mass_matrix(q)) @ J.swapaxes(1, 2))
    assert error(Lambda, exact) < 1e-9
    for k in range(len(q)):
        size = np.abs(Lambda[k]) @ np.abs(a[k])
        assert (np.abs(Lambda[k] @ a[k] - f[k]) < 1e-12 * size.max()).all()


def elbow(count=6):
    """A chain of joints that stands stretched, and singular, at zero."""
    axes = [(0, 0, 1), (0, 1, 0), (0, 1, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0)][:count]
    links = [Link("link0"), *(Link(f"link{k + 1}", 1.0, (0.1, 0.05, 0.0), (0.1, 0.2, 0.3)) for k in range(count))]
    joints = [
        Joint(f"joint{k + 1}", f"link{k}", f"link{k + 1}", origin=(0.3, 0, 0), axis=axis) for k, axis in enumerate(axes)
    ]
    return Robot(links, joints)


def test_operational_inertia_of_a_stuck_frame_is_nan():
    """All of the row, where J loses rank; the rows beside it do not feel it."""
    robot = elbow()
    q = np.random.default_rng(0).uniform(0.5, 1.0, (5, 6))
    q[2] = 0.0
    q[3, 4] = 0.0
    found = lw.compile(robot).operational_inertia(q, "link6")
    assert np.isnan(found[[2, 3]]).all()
    assert np.isfinite(found[[0, 1, 4]]).all()
    assert np.array_equal(found[0], lw.compile(robot).operational_inertia(q[0], "link6"))
    with pytest.raises(lw.LinkwiseError, match="cannot move in all six directions"):
        lw.algorithms.operational_inertia.plain(robot, q[3].tolist(), frame="link6")


def test_operational_inertia_needs_six_coordinates():
    with pytest.raises(lw.LinkwiseError, match=r"'link3'.*at least six coordinates.*got 3"):
        lw.compile(elbow()).operational_inertia(np.zeros(6), "link3")
