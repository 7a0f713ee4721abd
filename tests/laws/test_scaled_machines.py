"""A reference of any machine with rigid drives, slowed sample by sample: limits by the machine's own dynamics."""

import pickle

import numpy as np
import pytest

import linkwise as lw
from support.every_machine import TABLE, sort
from support.led_machines import Case, case, push

FREE, ELASTIC = {"floating"}, {n for n in TABLE if "elastic" in n}
HELD = [n for n in (*TABLE, "3-RRR", "arm + Delta") if n not in FREE | ELASTIC]
QUICK = {"coupled", "five-bar", "hexapod"}
LOAD = [2.0, -1.0, 3.0, 0.1, 0.0, 0.2]


def best_of(made: Case) -> tuple[lw.planning.Retimed, dict]:
    """The fastest motion through a few places, under a constant load."""
    robot, rng = made.robot, np.random.default_rng(4)
    dyn, steps = lw.compile(robot), np.cumsum(rng.uniform(-1.0, 1.0, (3, robot.nv)), axis=0)
    steps *= made.width / np.abs(steps).max()
    points = np.array([robot.q(), *(dyn.integrate(robot.q(), s, 1.0) for s in steps)])
    still = np.zeros(robot.nv)
    top = 2.0 * float(np.abs(dyn.inverse_dynamics(points, still, still)).max()) + 8.0
    limits = {"effort": top, "effort_rate": 10.0 * top, "external": {made.pushed: LOAD}}
    return lw.retime(robot, points, **limits), limits


@pytest.mark.parametrize(
    "name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in ["coupled", *HELD]]
)
def test_limits_are_kept_at_every_sample(name):
    made = case(name)
    best, limits = best_of(made)
    assert best.facts["method"] == "interior point"
    assert not any("local" in note for note in best.notes)
    duration = 0.8 * best.duration

    def reference(s):
        rows = best.model.leads(best.path, np.clip(s / duration, 0.0, 1.0))
        return [x * (duration**-k if k else 1.0) * ((s <= duration)[:, None] if k else 1.0) for k, x in enumerate(rows)]

    scaler = lw.scaler(made.robot, **limits, spacing=duration / 200.0, dt=duration / 500.0)
    run = scaler.run(reference, duration)
    dyn = lw.compile(made.robot, external=(made.pushed,))
    tau = dyn.inverse_dynamics(run.q, run.qd, run.qdd, [LOAD])
    np.testing.assert_allclose(run.tau, tau, atol=1e-9 * limits["effort"])
    assert run.kept[:-2].all()
    assert np.abs(tau).max() <= limits["effort"]
    assert np.abs(run.tau_dot[:-2]).max() <= limits["effort_rate"]
    assert best.duration < run.t[-1] < 1.5 * best.duration
    assert pickle.loads(pickle.dumps(scaler)).preview == scaler.preview


def test_what_it_cannot_foresee_is_refused():
    with pytest.raises(lw.InputError, match="which nothing drives"):
        lw.scaler(sort("floating").robot, effort=1.0)
    with pytest.raises(lw.InputError, match="depends on the fourth derivative"):
        lw.scaler(sort("five-bar, elastic").robot, effort=1.0)
    with pytest.raises(lw.InputError, match="expected wrenches that are constant"):
        lw.scaler(lw.load("rr"), effort=1.0, external={"link2": push})
