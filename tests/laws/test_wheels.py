"""Laws of machines on wheels, against Lagrange's equations with multipliers, and along simulated motions."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.mechanism.assemble import Assembler
from support.wheeled import car, closed_positions, disc, drive_in_space, lifted

G = 9.81
RADIUS, HALF = 0.1, 0.2  # of the wheels, and half the distance between them, m


def small_drive():
    """The bundled drive without its caster: two wheels in a plane, and an arm that turns and lifts."""
    robot = lw.load("differential_drive")
    left_out = {"fork", "caster_wheel"}
    return lw.Robot(
        [link for link in robot.links if link.name not in left_out],
        [j for j in robot.joints if j.child not in left_out],
        robot.frames,
        robot.loops[:2],
    )


def lagrangian(robot):
    """M (7, 7) and h (7) of x, y, heading, left, right, shoulder, elbow, from energies written by hand."""
    sp = pytest.importorskip("sympy")
    q, qd = sp.symbols("q:7"), sp.symbols("v:7")
    x, y, heading, left, right, shoulder, elbow = q
    links = {link.name: link for link in robot.links}
    T, V = 0, 0

    def add(name, origin, R, omega):
        """A link at an origin, turned by R, with its angular velocity in its own axes."""
        nonlocal T, V
        link = links[name]
        p = origin + R * sp.Matrix(link.com)
        v = p.jacobian(sp.Matrix(q)) * sp.Matrix(qd)
        tensor = link.inertia
        I = sp.diag(tensor[0], tensor[3], tensor[5])
        T += (link.mass * v.dot(v) + (omega.T * I * omega)[0]) / 2
        V += link.mass * G * p[2]

    def about_z(a):
        return sp.Matrix([[sp.cos(a), -sp.sin(a), 0], [sp.sin(a), sp.cos(a), 0], [0, 0, 1]])

    def about_y(a):
        return sp.Matrix([[sp.cos(a), 0, sp.sin(a)], [0, 1, 0], [-sp.sin(a), 0, sp.cos(a)]])

    up, base = sp.Matrix([0, 0, qd[2]]), about_z(heading)
    centre = sp.Matrix([x, y, RADIUS])
    add("base", centre, base, up)
    for name, side, angle, rate in (("left_wheel", HALF, left, qd[3]), ("right_wheel", -HALF, right, qd[4])):
        add(name, centre + base * sp.Matrix([0, side, 0]), base * about_y(angle), about_y(angle).T * up + _y(sp, rate))
    turned = base * about_z(shoulder)
    mount = centre + base * sp.Matrix([0.08, 0, 0.1])
    swing = sp.Matrix([0, 0, qd[2] + qd[5]])
    add("shoulder_link", mount, turned, swing)
    lift = about_y(elbow)
    add("upper_arm", mount + sp.Matrix([0, 0, 0.2]), turned * lift, lift.T * swing + _y(sp, qd[6]))
    for k, armature in ((3, 0.002), (4, 0.002), (5, 0.01), (6, 0.01)):
        T += armature * qd[k] ** 2 / 2

    slope = sp.Matrix([T]).jacobian(sp.Matrix(qd))
    M = slope.jacobian(sp.Matrix(qd))
    h = (slope.jacobian(sp.Matrix(q)) * sp.Matrix(qd)).T - sp.Matrix([T - V]).jacobian(sp.Matrix(q))
    return sp.lambdify((q, qd), M), sp.lambdify((q, qd), h)


def _y(sp, rate):
    return sp.Matrix([0, rate, 0])


def rolling(q, qd):
    """A and A_dot of A qd = 0: what each wheel slips along, and both of them across."""
    c, s = np.cos(q[2]), np.sin(q[2])
    A = np.array([
        [c, s, -HALF, -RADIUS, 0.0, 0.0, 0.0],
        [c, s, HALF, 0.0, -RADIUS, 0.0, 0.0],
        [-s, c, 0.0, 0.0, 0.0, 0.0, 0.0],
    ])  # fmt: skip
    A_dot = np.zeros_like(A)
    A_dot[:2, :2], A_dot[2, :2] = [-s * qd[2], c * qd[2]], [-c * qd[2], -s * qd[2]]
    return A, A_dot


def test_lagrange_with_multipliers():
    """M qdd + h = B tau + A^T lambda with A qdd + A_dot qd = 0: accelerations, torques and forces of the wheels."""
    robot, rng = small_drive(), np.random.default_rng(4)
    M_of, h_of = lagrangian(robot)
    dyn = lw.compile(robot)
    for _ in range(5):
        q, u, tau = rng.normal(size=7), rng.normal(size=4), rng.normal(size=4)
        turn = (u[1] - u[0]) * RADIUS / (2.0 * HALF)
        ahead = (u[1] + u[0]) * RADIUS / 2.0
        qd = np.array([ahead * np.cos(q[2]), ahead * np.sin(q[2]), turn, *u])
        A, A_dot = rolling(q, qd)
        M, h = np.array(M_of(q, qd), float), np.array(h_of(q, qd), float).reshape(-1)
        K = np.block([[M, -A.T], [A, np.zeros((3, 3))]])
        found = np.linalg.solve(K, np.concatenate([np.concatenate([[0.0] * 3, tau]) - h, -A_dot @ qd]))
        qdd, force = found[:7], found[7:]
        assert np.abs(dyn.forward_dynamics(q, u, tau) - qdd[3:]).max() < 1e-10
        assert np.abs(dyn.inverse_dynamics(q, u, qdd[3:]) - tau).max() < 1e-10
        motion = dyn.tree_motion(q, u, qdd[3:])
        assert np.abs(motion.qd_tree - qd).max() < 1e-10
        assert np.abs(motion.qdd_tree - qdd).max() < 1e-10
        cut = dyn.joint_wrenches(q, u, qdd[3:]).cut
        assert np.abs(cut[:, 0] - force[:2]).max() < 1e-10
        assert np.abs(cut[:, 1] - force[2] / 2.0).max() < 1e-10


def test_a_base_in_space_moves_as_one_in_the_plane():
    plane, space = lw.load("differential_drive"), drive_in_space()
    rng = np.random.default_rng(2)
    q, qd, qdd = rng.uniform(-1.0, 1.0, 9), *rng.normal(size=(2, 4))
    there = np.concatenate([lifted(*q[:3])["free"], q[3:]])
    flat, free = lw.compile(plane), lw.compile(space)
    assert np.abs(flat.inverse_dynamics(q, qd, qdd) - free.inverse_dynamics(there, qd, qdd)).max() < 1e-11
    assert np.abs(flat.mass_matrix(q) - free.mass_matrix(there)).max() < 1e-12
    a, b = flat.joint_wrenches(q, qd, qdd), free.joint_wrenches(there, qd, qdd)
    assert np.abs(a.cut[:, :2] - b.cut[:, :2]).max() < 1e-10
    assert np.abs(a.wrench[1:3, [1]] - b.wrench[1:3, [1]]).max() < 1e-10


def test_a_coin_rolls_round():
    """A disc that leans steadily: the spin it needs, from Euler's equations about the point of contact."""
    robot = disc(mass := 2.0, r := 0.25)
    lean, turn = 0.3, 1.7
    A, C = mass * r * r / 4.0, mass * r * r / 2.0
    # with p the spin about the axis in space: (C + m r^2) p turn cos + A turn^2 sin cos = m g r sin, leaning inwards
    p = (mass * G * r * np.sin(lean) - A * turn**2 * np.sin(lean) * np.cos(lean)) / (
        (C + mass * r * r) * turn * np.cos(lean)
    )
    dyn = lw.compile(robot)
    q = robot.q({"lean": lean, "centre": (0.0, 0.0, r * np.cos(lean))})
    signs = [dyn.forward_dynamics(q, robot.v({"yaw": s * turn, "spin": p - s * turn * np.sin(lean)}), np.zeros(3))
             for s in (1.0, -1.0)]  # fmt: skip
    assert min(np.abs(a).max() for a in signs) < 1e-10


@pytest.mark.parametrize(
    "make", [lambda: lw.load("differential_drive"), drive_in_space, lambda: car(curve=False), disc]
)
def test_simulations_keep_energy_and_do_not_slip(make):
    robot = make()
    rng = np.random.default_rng(3)
    q, qd = closed_positions(robot, rng)[0], rng.normal(size=robot.nv)
    result = lw.simulate(robot, q, qd, 1.0, rtol=1e-11, atol=1e-12)
    total = result.energy.kinetic + result.energy.potential
    assert np.ptp(total) < 1e-8 * max(1.0, np.abs(total).max())
    assembler = Assembler(robot)
    slip = max(np.abs(assembler.jacobian_si(a) @ b).max() for a, b in zip(result.tree.q, result.tree.qd, strict=True))
    assert slip < 1e-10
    assert max(np.abs(assembler.gap(a)).max() for a in result.tree.q) < 1e-10
    assert result.q.shape[1:] == (robot.nq,)
    assert result.qd.shape[1:] == (robot.nv,)
    assert np.abs(result.qd[0] - qd).max() < 1e-9
    dyn = lw.compile(robot)
    found = dyn.forward_dynamics(result.q, result.qd, np.zeros((len(result.q), robot.nu)))
    assert np.abs(found - result.qdd).max() < 1e-6 * max(1.0, np.abs(found).max())


def test_drives_do_the_work():
    robot = lw.load("differential_drive")
    result = lw.simulate(robot, None, None, 1.0, control={"left": 0.4, "right": 0.6, "elbow": -3.0}, rtol=1e-10)
    assert result.energy.drift < 1e-7
    assert result.q[-1, 0] > 0.01
    assert result["planar_joint"].q.shape == (101, 3)
