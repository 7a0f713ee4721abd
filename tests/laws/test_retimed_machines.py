"""Timings of paths of every machine: limits by the machine's own compiled dynamics, rates by differences."""

import pickle

import numpy as np
import pytest

import linkwise as lw
from linkwise.motion.environment import Environment
from linkwise.planning.chain_rule import composed, in_time
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
    """Torques at times by the machine's own dynamics, from the path and the law alone."""
    x, z = timed.law(t)
    order = timed.model.order
    speeds = [s[:, None] for s in in_time(np.sqrt(z[0]), list(z[1:order]))]
    motion = timed.model.chart.motion(composed(list(timed.path.derivatives(x, order)), speeds))
    np.testing.assert_allclose(motion[2], timed(t)[2], atol=1e-9 * np.abs(motion[2]).max())
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
    # between the ends of intervals, where the law's highest derivative jumps
    law, top = timed.law, limits["effort"]
    t = law.t[:-1] + 0.37 * np.diff(law.t)
    tau = sampled(made, timed, t)
    own = timed.model.along(timed.path, law, law(t)[0])
    np.testing.assert_allclose(own.tau, tau, atol=1e-8 * top)
    assert np.abs(tau).max() <= top * OVER
    assert all(use.share <= OVER for use in timed.uses.values())
    assert max(use.share for use in timed.uses.values()) > 0.97
    # velocities are those of the positions
    dyn, h = lw.compile(made.robot.rigid()), 1e-6 * timed.duration
    _, qd, _ = timed(t)
    moved = dyn.difference(timed(t - h)[0], timed(t + h)[0]) / (2.0 * h)
    np.testing.assert_allclose(qd, moved, atol=1e-5 * max(1.0, np.abs(moved).max()))
    if rates:
        h = 0.01 * np.diff(law.t)
        near, far = (sampled(made, timed, t + k * h) - sampled(made, timed, t - k * h) for k in (1, 2))
        slope = (8.0 * near - far) / (12.0 * h[:, None])
        np.testing.assert_allclose(own.tau_dot, slope, atol=1e-6 * limits["effort_rate"])
        assert np.abs(own.tau_dot).max() <= limits["effort_rate"] * OVER
    else:
        assert timed.tau_dot is None


@pytest.mark.parametrize("name", ["coupled", "five-bar, elastic"])
def test_results_are_written_and_sent(name, tmp_path):
    """Columns of what leads and of the drives, in files and between processes."""
    made = case(name)
    timed = lw.retime(made.robot, points_of(made), **limits_of(made, True), intervals=40, dt=5e-3)
    links = made.robot.rigid()
    assert timed.positions().shape == (len(timed), links.opened().nq)
    assert [n for n in timed.columns() if n.startswith("tau.")] == [f"tau.{n}" for n in links.drives]
    for end in ("csv", "npz"):
        timed.save(tmp_path / f"timed.{end}")
        np.testing.assert_allclose(lw.motion.read(tmp_path / f"timed.{end}", links).q, timed.q, atol=1e-12)
    again = pickle.loads(pickle.dumps(timed))
    np.testing.assert_array_equal(again(0.1)[0], timed(0.1)[0])
