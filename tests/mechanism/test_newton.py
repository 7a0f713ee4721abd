"""Newton's method inside kernels: it finds what closed forms have, row by row, and keeps the assembly mode."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.platforms import delta, gough_stewart, three_rrr

MACHINES = {
    "hexapod": (lambda: gough_stewart(), 0.2),
    "Delta": (lambda: delta(), 0.1),
    "3-RRR": (lambda: three_rrr(gravity=(0.0, -9.81, 0.0)), 0.15),
    "five-bar": (lambda: lw.load("fivebar"), 0.4),
    "four-bar": (lambda: lw.load("fourbar"), 0.4),
    "palletiser": (lambda: lw.load("palletiser"), 0.3),
}
every = pytest.mark.parametrize("name", MACHINES)


def states(name, count=40):
    make, width = MACHINES[name]
    robot, rng = make(), np.random.default_rng(5)
    q = lw.compile(robot).integrate(robot.q(), width * rng.uniform(-1.0, 1.0, (count, robot.nv)), 1.0)
    return robot, q, *rng.uniform(-1.0, 1.0, (2, count, robot.nv))


@every
def test_closed_forms_are_as_newtons_method_has_them(name):
    robot, *motion = states(name)
    form, newton = lw.compile(robot), lw.compile(robot, closure="newton")
    assert form.inverse_dynamics.program.before is None
    assert newton.inverse_dynamics.program.before is not None
    a, b = (dyn.inverse_dynamics(*motion) for dyn in (form, newton))
    assert np.isfinite(a).all()
    assert np.abs(a - b).max() <= 1e-12 * max(1.0, np.abs(a).max())
    derivatives = (dyn.inverse_dynamics_derivatives(*motion) for dyn in (form, newton))
    for x, y in zip(*derivatives, strict=True):
        assert np.abs(x - y).max() <= 1e-10 * max(1.0, np.abs(x).max())
    assert np.abs(form.positions(motion[0]).q - newton.positions(motion[0]).q).max() < 1e-12


@every
def test_a_row_does_not_depend_on_its_batch(name):
    robot, *motion = states(name, 19)
    kernel = lw.compile(robot, closure="newton").inverse_dynamics
    whole = kernel(*motion)
    for row in (0, 7, 18):
        np.testing.assert_array_equal(kernel(*(x[row] for x in motion)), whole[row])
    np.testing.assert_array_equal(kernel(*(x[::-1] for x in motion)), whole[::-1])


def test_rows_out_of_reach_are_not_numbers():
    robot = lw.load("fivebar")
    far = np.array([[0.0, 0.0], [-2.0, 0.5], [0.1, 0.1], [np.nan, 0.0]])
    for closure in ("auto", "newton"):
        dyn = lw.compile(robot, closure=closure)
        found = dyn.positions(far)
        assert found.converged.tolist() == [True, False, True, False], closure
        assert np.isnan(dyn.inverse_dynamics(far, far * 0.0, far * 0.0)[[1, 3]]).all()
        assert np.isnan(found.q[1]).all()


def test_plain_python_closes_loops_too():
    robot = lw.load("ankle")
    rng = np.random.default_rng(1)
    q, qd, qdd = rng.uniform(-0.2, 0.2, (3, robot.nv))
    plain = getattr(lw.inverse_dynamics, "plain", lw.inverse_dynamics)(robot, q.tolist(), qd.tolist(), qdd.tolist())
    np.testing.assert_allclose(plain, lw.compile(robot).inverse_dynamics(q, qd, qdd), atol=1e-12)


def test_the_mode_is_that_of_the_reference():
    robot = lw.load("fivebar")
    dyn = lw.compile(robot)
    here = dyn.positions(robot.q())
    names = robot.opened().names
    mirrored = dict(zip(names, here.q, strict=True))
    for name in names:
        if name not in robot.coordinates:
            mirrored[name] = mirrored[name] + 2.5
    there = dyn.positions(robot.q(), guess=mirrored)
    assert there.converged
    again = lw.compile(robot.replace(reference=dict(zip(names, there.q, strict=True))))
    np.testing.assert_allclose(again.positions(robot.q()).q, there.q, atol=1e-12)


@pytest.mark.parametrize("name", ["hexapod", "Delta", "3-RRR", "five-bar"])
def test_positions_from_those_of_the_drives(name):
    robot, q, *_ = states(name, 8)
    dyn, slots = lw.compile(robot), robot.opened().slots
    whole = dyn.positions(q)
    drives = whole.q[:, [slots[n].q for n in robot.drives]]
    back = dyn.positions(drives=drives)
    assert back.converged.all()
    turned = np.abs(back.q - whole.q)
    turned = np.minimum(turned, np.abs(back.q + whole.q)) if name == "hexapod" else turned  # signs of quaternions
    assert turned.max() < 1e-9
    rates = dyn.drive_jacobian(q)
    assert rates.shape == (8, robot.nu, robot.nv)


def test_a_workspace_has_limits_of_joints_that_follow():
    robot = gough_stewart(stroke=(0.7, 0.9))
    found = lw.compile(robot).workspace(np.array([[0, 0, z, 0, 0, 0, 1.0] for z in (0.75, 0.9, 5.0)]))
    assert found.reached.tolist() == [True, True, True]
    assert found.within.tolist() == [True, False, False]
    assert found.excess[2].max() > 3.0


def test_redundant_drives_share_a_force():
    robot = lw.load("fivebar")
    first = robot.coordinates[0]
    loops = [
        lw.Loop(**{**{f: getattr(c, f) for f in c.__dataclass_fields__}, "active": robot.opened().names})
        for c in robot.loops
    ]
    robot = robot.replace(loops=loops, leads=robot.coordinates)
    dyn = lw.compile(robot)
    assert (robot.nv, robot.nu) == (2, 4)
    assert first in robot.drives
    q, force = robot.q() + 0.1, np.array([3.0, -2.0])
    even, odd = dyn.share(q, force), dyn.share(q, force, np.array([1.0, 5.0, 1.0, 9.0]))
    J = dyn.drive_jacobian(q)
    for tau in (even, odd):
        np.testing.assert_allclose(J.T @ tau, force, atol=1e-12)
    assert even @ even < odd @ odd
    np.testing.assert_allclose(even, np.linalg.pinv(J.T) @ force, atol=1e-12)


def test_a_guess_of_a_call_chooses_the_mode():
    robot = lw.load("fivebar")
    dyn, q = lw.compile(robot), robot.q() + 0.1
    names = robot.opened().names
    other = {n: x + 2.5 * (n not in robot.coordinates) for n, x in zip(names, dyn.positions(q).q, strict=True)}
    there = dyn.positions(q, guess=other)
    assert there.converged
    zero = np.zeros(2)
    flipped = lw.compile(robot.replace(reference=dict(zip(robot.opened().names, there.q, strict=True))))
    found = dyn.inverse_dynamics(q, zero, zero, guess=there.q)
    np.testing.assert_allclose(found, flipped.inverse_dynamics(q, zero, zero), atol=1e-12)
    assert np.abs(found - dyn.inverse_dynamics(q, zero, zero)).max() > 1e-3
    out = np.empty(2)
    dyn.inverse_dynamics(q, zero, zero, guess=there.q, out=out)
    np.testing.assert_array_equal(out, found)
