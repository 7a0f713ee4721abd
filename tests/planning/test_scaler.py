"""A reference that is too fast is slowed just enough; one that is not is left alone."""

from functools import cache

import numpy as np
import pytest

import linkwise as lw
from support.trees import dynamics

POINTS = np.array(
    [
        [0.27, -0.46, 0.49, -0.97, 0.63, 0.83],
        [0.21, 0.46, 0.63, 0.87, 0.63, -0.99],
        [0.71, -0.93, 0.82, -0.65, 0.73, 0.09],
        [-0.4, 0.25, 0.35, 0.45, 0.94, 0.56],
    ]
)
DT = 1e-3


@cache
def limits() -> tuple[np.ndarray, np.ndarray]:
    """Effort and effort rate of the Stanford arm, for which none are published: half again what holds it, and more."""
    held = np.abs(dynamics(lw.load("stanford")).gravity_forces(POINTS)).max(axis=0)
    effort = 1.5 * held + np.array([20.0, 30.0, 20.0, 1.0, 1.0, 0.1])
    return effort, 20.0 * effort


@cache
def best() -> lw.planning.Retimed:
    """The fastest motion along the path."""
    effort, rate = limits()
    return lw.retime(lw.load("stanford"), POINTS, effort=effort, effort_rate=rate)


def reference(duration: float):
    """The path from rest to rest, with its time derivatives."""
    path = lw.planning.Path.through(POINTS, lw.load("stanford")).eased()

    def at(s: np.ndarray) -> np.ndarray:
        d = path.derivatives(np.clip(s / duration, 0.0, 1.0)) * (duration ** -np.arange(4.0))[:, None, None]
        d[1:, s > duration] = 0.0
        return d

    return at


def scaler(**options) -> lw.planning.Scaler:
    effort, rate = limits()
    return lw.scaler(lw.load("stanford"), **{"effort": effort, "effort_rate": rate, "dt": DT, **options})


@pytest.mark.parametrize(("hurry", "spacing"), [(1.0, 0.005), (2.0, 0.0025)])
def test_a_reference_that_is_too_fast_keeps_limits_at_every_sample(hurry, spacing):
    """Told in the best time or less, the path takes a little longer than the best time."""
    duration = best().duration / hurry
    effort, rate = limits()
    run = scaler(spacing=spacing).run(reference(duration), duration)
    tau = dynamics(lw.load("stanford")).inverse_dynamics(run.q, run.qd, run.qdd)
    plain = reference(duration)(np.linspace(0.0, duration, 500))
    asked = np.abs(dynamics(lw.load("stanford")).inverse_dynamics(*plain[:3])) / effort
    print(f"asked {asked.max():.2f} of effort; {run.t[-1]:.3f} s, best {best().duration:.3f} s")
    assert asked.max() > 1.3
    assert run.kept.all()
    assert np.abs(tau - run.tau).max() < 1e-9
    assert (np.abs(tau) <= effort).all()
    assert (np.abs(run.tau_dot) <= rate).all()
    assert (np.abs(np.diff(tau, axis=0)) <= rate * DT).all()
    assert best().duration < run.t[-1] < 1.25 * best().duration
    assert run.speed.min() > 0.0


def test_the_samples_are_one_motion():
    """Positions, velocities and accelerations belong together."""
    duration = best().duration / 1.2
    run = scaler().run(reference(duration), duration)
    assert np.abs(np.gradient(run.q, run.t, axis=0) - run.qd)[1:-1].max() < 1e-3 * np.abs(run.qd).max()
    assert np.abs(np.gradient(run.qd, run.t, axis=0) - run.qdd)[1:-1].max() < 3e-2 * np.abs(run.qdd).max()


def test_a_slow_reference_is_left_alone():
    duration = 2.5 * best().duration
    run = scaler(dt=4e-3).run(reference(duration), duration)
    assert run.kept.all()
    assert np.abs(run.speed - 1.0).max() < 1e-12
    assert np.abs(run.place - run.t).max() < 1e-9


def test_friction_is_counted():
    """With the friction of the arm, torques that are said are those of inverse dynamics."""
    robot = lw.load("arm7")
    q = np.random.default_rng(0).uniform(-1.2, 1.2, (4, 7))
    path = lw.planning.Path.through(q, robot).eased()
    effort = 0.35 * np.array([robot.joint(n).limits.effort for n in robot.names])
    run = lw.scaler(robot, effort=effort, effort_rate=20.0 * effort, dt=2e-3).run(path.derivatives, 1.0)
    tau = dynamics(robot).inverse_dynamics(run.q, run.qd, run.qdd)
    assert np.abs(tau - run.tau)[run.speed > 0.0].max() < 1e-9
    assert (np.abs(tau) <= 1.01 * effort).all()  # Coulomb friction may jump between points that are seen ahead
    assert run.kept.mean() > 0.99
    assert (np.abs(run.qd) <= [robot.joint(n).limits.velocity for n in robot.names]).all()


def test_a_gap_in_the_reference_does_not_spread():
    """NaN for a sample is answered by braking as planned; the scaler itself stays well."""
    duration = best().duration
    at, one = reference(duration), scaler()
    for k in range(300):
        d = at(one.places)
        now = one.step(*(d * np.nan if k in (100, 101) else d))
        assert np.isfinite([one.place, one.speed, one.acceleration]).all()
        assert now.kept == (k not in (100, 101))
    fresh = scaler()
    assert not fresh.step(*(at(fresh.places) * np.nan)).kept


def test_nothing_is_remembered_after_reset():
    duration = best().duration
    one, at = scaler(), reference(duration)
    first = one.run(at, 0.5)
    one.reset()
    assert np.array_equal(one.run(at, 0.5).tau, first.tau)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"effort": np.inf, "effort_rate": np.inf}, "expected a limit, got none"),
        ({"preview": 2}, "of at least 4"),
        ({"dt": -1.0}, "above 0"),
        ({"spacing": "wide"}, "above 0"),
        ({"effort": {"joint9": 3.0}}, "Valid names"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(lw.LinkwiseError, match=message):
        scaler(**options)


def test_steps_want_the_reference_ahead_too():
    one = scaler()
    with pytest.raises(lw.InputError, match="at 42 points"):
        one.step(*np.zeros((4, 6)))
    with pytest.raises(lw.InputError, match="beyond the scaler's place"):
        one.run(reference(1.0), -1.0)
