"""Timings of paths of every machine: limits by the machine's own compiled dynamics, rates by differences."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.motion.environment import Environment
from support.every_machine import TABLE
from support.led_machines import Case, case, push, waves

OVER = 1.0 + 2e-3
QUICK = ("coupled", "five-bar", "five-bar, elastic", "elastic, moving base, small")
MORE = ("3-RRR", "hexapod, elastic", "arm + Delta")
FREE = {"floating"}  # of the table: no drive holds its base


def points_of(made: Case, rows: int = 7) -> np.ndarray:
    """Places near each other, the first one that of `robot.q()`."""
    links = made.robot.rigid()
    rng, dyn = np.random.default_rng(3), lw.compile(links)
    steps = np.cumsum(rng.uniform(-0.4, 0.4, (rows - 1, links.nv)), axis=0)
    steps *= made.width / np.abs(steps).max()
    return np.array([links.q(), *(dyn.integrate(links.q(), s, 1.0) for s in steps)])


def limits_of(made: Case, rates: bool) -> dict[str, float]:
    links = made.robot.rigid()
    still = np.zeros(links.nv)
    held = lw.compile(links).inverse_dynamics(points_of(made), still, still)
    top = 2.0 * float(np.abs(held).max()) + 8.0
    return {"effort": top, "effort_rate": 30.0 * top} if rates else {"effort": top}


def around(made: Case) -> dict:
    return {"base_motion": waves if made.base_motion else None, "external": {made.pushed: push}}


def exact(made: Case, motion, t):
    """The drives' torques by the compiled inverse dynamics of the machine, motors behind springs among it."""
    robot = made.robot
    outside = Environment.of(robot, **around(made))
    dyn = lw.compile(robot, **outside.options)
    given = list(motion[:3])
    if any(j.is_elastic for j in robot.joints):
        feed = lw.compile(robot, lw.algorithms.elastic_feedforward, **outside.options)
        motors = feed(*motion[:5], *outside.inputs(t, robot.gravity, 2))[:3]
        given = [np.concatenate(pair, axis=-1) for pair in zip(given, motors, strict=True)]
    tau = dyn.inverse_dynamics(*given, *outside.inputs(t, robot.gravity))
    beside = np.delete(tau, robot.motors, axis=1)
    assert np.abs(beside).max(initial=0.0) <= 1e-9 * np.abs(tau).max()
    return tau[:, robot.motors]


def sampled(made: Case, timed: lw.planning.Retimed, t):
    """Torques at times, from the motion and two derivatives more by differences of accelerations where needed."""
    motion = list(timed(t))
    if any(j.is_elastic for j in made.robot.joints):
        h = 2e-4 * timed.duration
        a = [timed(t + k * h)[2] for k in (-2, -1, 0, 1, 2)]
        motion.append((a[0] - 8.0 * a[1] + 8.0 * a[3] - a[4]) / (12.0 * h))
        motion.append((-a[0] + 16.0 * a[1] - 30.0 * a[2] + 16.0 * a[3] - a[4]) / (12.0 * h * h))
    return exact(made, motion, t)


@pytest.mark.parametrize("rates", [False, True])
@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(n, marks=pytest.mark.slow) for n in (*TABLE, *MORE))])
def test_limits_hold_by_the_machines_own_dynamics(name, rates):
    made = case(name)
    limits = limits_of(made, rates)
    if name in FREE:
        with pytest.raises(lw.InputError, match="which nothing drives: it moves as the rest makes it move"):
            lw.retime(made.robot, points_of(made), **limits, **around(made))
        return
    timed = lw.retime(made.robot, points_of(made), **limits, **around(made), intervals=100, dt=2e-3)
    print(name, rates, timed, timed.facts, timed.notes)
    # between the ends of intervals, where the law's highest derivative jumps
    law, top = timed.law, limits["effort"]
    t = law.t[:-1] + 0.37 * np.diff(law.t)
    inner = t[5:-5] if any(j.is_elastic for j in made.robot.joints) else t
    tau = sampled(made, timed, inner)
    own = timed.model.along(timed.path, law, law(inner)[0])
    soft = 1e-3 if len(inner) < len(t) else 1e-9
    np.testing.assert_allclose(own.tau, tau, atol=soft * top)
    assert np.abs(tau).max() <= top * (OVER + soft)
    assert all(use.share <= OVER for use in timed.uses.values())
    assert max(use.share for use in timed.uses.values()) > 0.97
    # velocities are those of the positions
    dyn, h = lw.compile(made.robot.rigid()), 1e-6 * timed.duration
    _, qd, _ = timed(t)
    moved = dyn.difference(timed(t - h)[0], timed(t + h)[0]) / (2.0 * h)
    np.testing.assert_allclose(qd, moved, atol=1e-5 * max(1.0, np.abs(moved).max()))
    if rates:
        h = 1e-3 * np.diff(law.t).min()
        tau = [timed.model.along(timed.path, law, law(t + k * h)[0]) for k in (-1, 1)]
        slope = (tau[1].tau - tau[0].tau) / (2.0 * h)
        own = timed.model.along(timed.path, law, law(t)[0])
        np.testing.assert_allclose(own.tau_dot, slope, atol=1e-5 * limits["effort_rate"])
        assert np.abs(own.tau_dot).max() <= limits["effort_rate"] * OVER
    else:
        assert timed.tau_dot is None
