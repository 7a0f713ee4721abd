"""Timings of paths: what the best must obey, and numbers that are known."""

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.interpolate import Akima1DInterpolator, CubicSpline, UnivariateSpline, make_interp_spline
from scipy.optimize import fsolve

import linkwise as lw
from linkwise.motion import read
from linkwise.planning.chain_rule import in_time
from linkwise.planning.time_law import TimeLaw
from support.trees import dynamics, error


@cache
def arm(friction: bool = True) -> lw.Robot:
    robot = lw.load("arm7")
    return robot if friction else robot.without_friction()


def points(seed: int, rows: int = 5) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1.4, 1.4, (rows, 7))


def effort_of(robot: lw.Robot) -> np.ndarray:
    return np.array([robot.joint(n).limits.effort for n in robot.names])


@cache
def timed(seed: int, friction: bool, rate: float, share: float = 0.3) -> lw.planning.Retimed:
    """A path of random points, with a part of the arm's effort and no limits of velocity."""
    robot = arm(friction)
    effort = share * effort_of(robot)
    return lw.retime(robot, points(seed), velocity=np.inf, effort=effort, effort_rate=rate * effort)


# ---- known motions


def slide(**limits: float) -> lw.Robot:
    """A mass of 2 kg on a horizontal rail."""
    return lw.Robot(
        [lw.Link("rail"), lw.Link("cart", mass=2.0)],
        [lw.Joint("slide", "rail", "cart", "prismatic", axis=(1, 0, 0), limits=lw.Limits(**limits))],
    )


def test_bang_bang_of_a_mass():
    """From rest to rest over 1 m with 8 N on 2 kg: 2 sqrt(L m / f)."""
    found = lw.retime(slide(effort=8.0), [[0.0], [1.0]])
    assert abs(found.duration - 1.0) < 1e-9
    assert np.allclose(np.abs(found.tau[1:-2]), 8.0)


def test_a_trapezoid_of_speed():
    """With at most 1 m/s besides: L/v + v m / f."""
    found = lw.retime(slide(effort=8.0, velocity=1.0), [[0.0], [1.0]])
    assert abs(found.duration - 1.25) < 1e-4


def test_an_s_curve():
    """Bounded rate alone, 16 N/s: the jerk is 8 m/s^3, and T = (32 L / j)^(1/3)."""
    best = (32.0 / 8.0) ** (1.0 / 3.0)
    coarse, fine = (lw.retime(slide(effort_rate=16.0), [[0.0], [1.0]], intervals=n) for n in (200, 400))
    assert 0.0 < fine.duration - best < 1e-3
    assert 0.0 < fine.duration - best < 0.55 * (coarse.duration - best)
    same = lw.retime(slide(jerk=8.0), [[0.0], [1.0]], intervals=400)
    assert abs(same.duration - fine.duration) < 1e-5


def test_viscous_friction_is_exact():
    """A mass against viscous and Coulomb friction under a bounded force, against SciPy's integrator."""
    robot = slide(effort=8.0)
    (joint,) = robot.joints
    robot = robot.replace(replace(joint, friction=lw.Friction(viscous=3.0, coulomb=1.0)))
    accurate = {"rtol": 1e-11, "atol": 1e-12, "dense_output": True}
    ahead = solve_ivp(lambda t, x: [x[1], (7.0 - 3.0 * x[1]) / 2.0], (0.0, 3.0), [0.0, 0.0], **accurate).sol
    back = solve_ivp(lambda t, x: [-x[1], (9.0 + 3.0 * x[1]) / 2.0], (0.0, 1.0), [1.0, 0.0], **accurate).sol
    best = fsolve(lambda t: ahead(t[0]) - back(t[1]), [0.6, 0.3]).sum()
    coarse, fine = (lw.retime(robot, [[0.0], [1.0]], intervals=n).duration for n in (800, 1600))
    assert 0.0 < fine - best < 3e-4
    assert fine - best < 0.55 * (coarse - best)


def test_friction_that_sets_the_pace():
    """Where viscous friction takes all of the force, the speed is f / b, with short starts and ends."""
    robot = slide(effort=8.0)
    (joint,) = robot.joints
    robot = robot.replace(replace(joint, friction=lw.Friction(viscous=40.0)))
    found = lw.retime(robot, [[0.0], [10.0]])
    assert abs(found.duration / (10.0 * 40.0 / 8.0) - 1.0) < 0.01
    assert found.uses["effort"].share < 1.001
    smooth = lw.retime(robot, [[0.0], [10.0]], effort_rate=80.0)
    assert smooth.facts["converged"]
    assert abs(smooth.duration / (10.0 * 40.0 / 8.0) - 1.0) < 0.01


# ---- laws


@pytest.mark.parametrize("friction", [False, True])
@pytest.mark.parametrize("rate", [np.inf, 8.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_limits_are_kept_and_one_is_active_almost_everywhere(seed, rate, friction):
    """On independent samples of the motion; without bounded rates some torque is at its limit at all times."""
    found = timed(seed, friction, rate)
    robot = arm(friction)
    t = np.linspace(0.0, found.duration, 4001)[1:-1]
    q, qd, qdd = found(t)
    share = np.abs(dynamics(robot).inverse_dynamics(q, qd, qdd)) / found.limits.effort
    assert share.max() < 1.0015
    assert found.uses["effort"].share < 1.0011
    active = share.max(axis=1) > 0.98
    if np.isinf(rate):
        assert active.mean() > 0.95
        return
    assert found.uses["effort_rate"].share < 1.0011
    rates = np.abs(found.tau_dot) / found.limits.effort_rate
    largest = np.maximum(np.abs(found.tau) / found.limits.effort, rates)[1:-2].max(axis=1)
    assert (largest > 0.85).mean() > 0.97  # at one end of each interval a limit is met, and nearly within it
    assert np.isfinite(found.tau_dot).all()


def test_the_motion_is_the_path():
    """Positions lie on the path, and velocities and accelerations are their derivatives."""
    for rate in (np.inf, 8.0):
        found = timed(0, True, rate)
        path = lw.planning.Path.through(points(0), arm())
        assert error(path(found.s), found.q) < 1e-12
        assert np.array_equal(found.q[0], points(0)[0])
        assert error(found.q[-1], points(0)[-1]) < 1e-12
        h = 1e-6
        t = np.linspace(0.1, found.duration - 0.1, 57)
        (q0, v0, _), (q1, v1, _), (_, v, a) = found(t - h), found(t + h), found(t)
        assert error((q1 - q0) / (2 * h), v) < 1e-7
        smooth = np.abs((v1 - v0) / (2 * h) - a).max(axis=1) / np.abs(a).max()
        assert np.sort(smooth)[-4 if np.isinf(rate) else -1] < 1e-4  # but where an acceleration jumps


def test_rates_of_torques_are_those_of_the_samples():
    found = timed(1, False, 8.0)
    difference = np.gradient(found.tau, found.t, axis=0)[2:-3]
    assert np.quantile(np.abs(difference - found.tau_dot[2:-3]).max(axis=1), 0.9) < 0.02 * np.abs(found.tau_dot).max()


def test_more_rate_is_never_slower_and_no_limit_is_fastest():
    rates = [2.0, 8.0, 40.0, np.inf]
    times = [timed(0, False, r).duration for r in rates]
    assert all(a > b for a, b in pairwise(times))
    loose = timed(0, False, 1e5).duration
    assert abs(loose / times[-1] - 1.0) < 3e-3


def test_times_of_iterates_fall():
    history = np.array(timed(0, False, 8.0).history)
    assert (np.diff(history) < 1e-3 * history[-1]).all()
    assert history[0] > 2.0 * history[-1]


@pytest.mark.parametrize("rate", [np.inf, 8.0])
def test_slower_is_never_violated(rate):
    """The same path at any slower pace keeps all limits: torques lie between those of the motion and of rest."""
    found = timed(0, False, rate)
    for factor in (1.2, 2.0, 10.0):
        t = np.linspace(0.0, found.duration, 1001)
        q, qd, qdd = found(t)
        tau = dynamics(arm(False)).inverse_dynamics(q, qd / factor, qdd / factor**2)
        assert (np.abs(tau) <= 1.0015 * found.limits.effort).all()


@pytest.mark.parametrize("rate", [np.inf, 8.0])
def test_scales(rate):
    """Without gravity, masses and torques scale together, and time by the square (cube) root of limits."""
    robot = arm(False).replace(gravity=(0.0, 0.0, 0.0))
    heavy = robot.replace(
        *(replace(k, mass=3.0 * k.mass, inertia=tuple(3.0 * x for x in k.inertia)) for k in robot.links),
        *(replace(j, armature=3.0 * j.armature) for j in robot.joints),
    )
    effort = 0.2 * effort_of(robot)
    given = {"velocity": np.inf, "intervals": 60}
    a = lw.retime(robot, points(2), effort=effort, effort_rate=rate * effort, **given)
    b = lw.retime(heavy, points(2), effort=3.0 * effort, effort_rate=3.0 * rate * effort, **given)
    c = lw.retime(robot, points(2), effort=4.0 * effort, effort_rate=8.0 * rate * effort, **given)
    assert abs(b.duration / a.duration - 1.0) < 1e-5
    assert abs(c.duration / a.duration - 0.5) < 1e-5


def test_the_parameter_has_no_meaning():
    """A path told faster or from another start is the same path."""
    q = points(3, 4)
    one = CubicSpline([0.0, 0.3, 0.7, 1.0], q, bc_type="natural")
    other = CubicSpline([5.0, 5.6, 6.4, 7.0], q, bc_type="natural")
    for rate in (None, 800.0):
        a, b = (lw.retime(arm(), x, effort_rate=rate, intervals=60) for x in (one, other))
        assert abs(a.duration / b.duration - 1.0) < 1e-6


def test_there_and_back_take_the_same_time():
    robot = arm(False).replace(gravity=(0.0, 0.0, 0.0))
    a, b = (lw.retime(robot, q, intervals=400) for q in (points(4), points(4)[::-1]))
    assert abs(a.duration / b.duration - 1.0) < 2e-3


@pytest.mark.parametrize("degree", [2, 3, 4])
def test_a_law_is_its_own_integral(degree):
    """The closed forms of pieces of each kind, and sums of higher degree, against quadrature."""
    x = np.array([0.0, 0.5, 1.0, 1.4])
    y = np.array([[0.3, 1.3, 1.55], [2.0, 0.5, -1.0], [0.0, -0.7, 2.0], *[[0.0] * 3] * (degree - 2)])
    y[3:, :] = 0.3
    law = TimeLaw(x, y)
    for k in range(3):
        span = quad(lambda h, k=k: np.polyval(y[::-1, k], h) ** -0.5, 0.0, x[k + 1] - x[k], epsabs=1e-13)
        assert abs(law.t[k + 1] - law.t[k] - span[0]) < (1e-12 if degree == 2 else 1e-9)
    t = np.linspace(1e-4, law.duration - 1e-4, 41)
    h = 1e-5
    (x0, *before), (x1, *after), (_, *now) = (
        [place, *in_time(np.sqrt(z[0]), z[1:3])] for place, z in map(law, (t - h, t + h, t))
    )
    (v0, a0, _), (v1, a1, _), (v, a, j) = before, after, now
    assert error(law.times(law(t)[0]), t) < 1e-12
    assert error((x1 - x0) / (2 * h), v) < 1e-8
    away = np.abs(t[:, None] - law.t).min(axis=1) > 2 * h
    assert error(((v1 - v0) / (2 * h))[away], a[away]) < 1e-8
    assert error(((a1 - a0) / (2 * h))[away], j[away]) < 1e-7
    assert abs(law.slowed(2.0).duration - 2.0 * law.duration) < 1e-12


# ---- what a user meets


def test_files_and_columns(tmp_path):
    found = timed(0, True, 8.0)
    found.save(tmp_path / "fast.csv")
    motion = read(tmp_path / "fast.csv", arm())
    assert np.allclose(motion.q, found.q)
    assert np.allclose(motion.qdd, found.qdd)
    assert np.array_equal(found["tau.joint2"], found.tau[:, 1])
    with pytest.raises(lw.UnknownNameError, match=r"Did you mean 'tau\.joint2'"):
        found["tau.joint22"]
    found.plot(tmp_path / "fast.png")
    assert (tmp_path / "fast.png").stat().st_size > 10_000
    assert "effort_rate 100" in repr(found)
    assert not found.qd[-1].any()
    assert len(found) == len(found.t)


def test_points_by_name_and_a_path_beyond_limits():
    found = lw.retime(arm(), [{"joint1": 0.0}, {"joint1": 1.0, "joint2": 0.3}], intervals=50)
    assert found.q[-1, 0] == 1.0
    assert not found.notes
    for path, where in (([0.0, 2.5], "the end"), ([2.5, 0.0], "the start"), ([0.0, 2.5, 0.0], "s = ")):
        with pytest.raises(lw.InputError, match=f"at {where}.* leads joint 'joint2' to .*out of its limits -2.094 to"):
            lw.retime(arm(), [{"joint2": q} for q in path], effort=400.0, intervals=50)


def test_a_path_whose_curvature_jumps_is_told_of():
    curve = Akima1DInterpolator(np.linspace(0.0, 1.0, 5), points(5))
    assert not lw.retime(arm(), curve, intervals=100).notes
    rough = lw.retime(arm(), curve, effort_rate=900.0, intervals=100)
    assert "torques jump where the path's curvature does, at s = 0.25" in rough.notes[0]
    assert rough.uses["effort_rate"].share < 1.0011


@pytest.mark.parametrize(
    ("path", "limits", "message"),
    [
        ([[0.0] * 7], {}, "at least two points"),
        ([[0.0] * 6, [1.0] * 6], {}, "\\(rows, 7\\), got the shape \\(2, 6\\)"),
        ([[0.0] * 7, [0.0] * 7], {}, "points 0 and 1 alike"),
        ([[0.0] * 7, [np.nan] * 7], {}, "NaN"),
        ("fast.csv", {}, "expected points of 7 joint positions"),
        ([{"joint1": 0.0}, {"joint9": 1.0}], {}, "Valid names: 'joint1'"),
        (make_interp_spline([0.0, 1.0, 2.0], [[0.0] * 7, [1.0] * 7, [0.0] * 7], k=1), {}, "corners, got one at s = 1"),
        (UnivariateSpline([0.0, 1.0, 2.0, 3.0], [0.0] * 4), {}, "a spline with knots"),
        (CubicSpline([0.0, 1.0], [[0.0], [1.0]]), {}, "expected 7 joint positions in each point, got 1"),
        ([[0.0] * 7, [1.0] * 7], {"effort": -1.0}, "above 0, got -1 for 'joint1'"),
        ([[0.0] * 7, [1.0] * 7], {"effort": {"joint9": 1.0}}, "Did you mean"),
        ([[0.0] * 7, [1.0] * 7], {"velocity": "fast"}, "a number, 7 numbers or a mapping"),
        ([[0.0] * 7, [1.0] * 7], {"velocity": np.inf, "effort": np.inf}, "nothing bounds the speed"),
        ([[0.0] * 7, [1.0] * 7], {"effort": 1.0}, "'joint2' needs .* against gravity, springs and loads alone"),
        ([[0.0] * 7, [1.0] * 7], {"effort": 1.0, "effort_rate": 9.0}, "moving slowly, the joint 'joint2' needs"),
        ([[0.0] * 7, [1.0] * 7], {"intervals": 2}, "of at least 4"),
        ([[0.0] * 7, [1.0] * 7], {"dt": 0.0}, "above 0"),
    ],
)
def test_refusals(path, limits, message):
    with pytest.raises(lw.LinkwiseError, match=message):
        lw.retime(arm(), path, **limits)


def test_robots_that_have_no_such_paths():
    with pytest.raises(lw.InputError, match="floating joint"):
        lw.retime(lw.random_tree(1, floating=True, joints=2), [[0.0], [1.0]])
    soft = arm().replace(replace(arm().joint("joint2"), armature=0.1, drive=lw.Drive(stiffness=1e4)))
    with pytest.raises(lw.InputError, match=r"robot\.rigid\(\)"):
        lw.scaler(soft)
    with pytest.raises(lw.InputError, match="without jumps of derivative 3, on which springs of drives would tear"):
        lw.retime(soft, CubicSpline([0.0, 1.0, 2.0, 3.0, 4.0], points(0, 5)))
    short = lw.planning.Path(lambda s: np.zeros((4, len(s), 7)), 0.0, 1.0, width=7)
    with pytest.raises(lw.InputError, match="expected 4 derivatives of positions"):
        lw.retime(soft, short, effort=100.0)
