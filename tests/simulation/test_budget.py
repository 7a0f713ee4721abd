"""Stiff, unstable and endless simulations: each is answered, or stopped in words within its budget."""

import re
import signal
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.simulation.diagnosis import modes
from linkwise.simulation.solver import METHODS
from support.elastic import hua_arm

ARM = lw.load("arm7")
FREE = ARM.without_friction()
BENT = np.full(7, 0.3)


def with_joints(robot, **changes):
    return robot.replace(joints=[replace(j, **changes) for j in robot.joints])


def viscous(c):
    return with_joints(ARM, friction=lw.Friction(viscous=c))


def ball(mass=1.0, **inertia):
    """A ball that falls; it carries its frame."""
    return lw.Robot(
        [lw.Link("ground"), lw.Link("ball", mass, (0, 0, 0), (1e-3 * mass,) * 3)],
        [lw.Joint("z", "ground", "ball", "prismatic", axis=(0, 0, 1), **inertia)],
    )


def pendulum(link=1.0):
    return lw.Robot(
        [lw.Link("base"), lw.Link("arm", link, (0, 0, -0.5), (0.1 * link,) * 3)],
        [lw.Joint("x", "base", "arm", axis=(0, 1, 0))],
    )


def sampled(t, q, qd):
    """A controller of 1 kHz whose gain is too high for its rate: every sample overshoots."""
    k = np.floor(t * 1000.0)
    return -40.0 * qd * (1.0 if k % 2 else 1.5) + 1e3 * np.sin(1e9 * k)


def nothing(t, q, qd):
    return np.full(len(qd), np.nan if t > 0.1 else 0.0)


def bursts(t, q, qd):
    return q**2 * 1e3 + np.abs(q) * 10.0


def accumulating(t, q, qd):
    return np.sin(1.0 / max(1e-300, abs(1.0 - t)))


class HardStop:
    """A wall as a penalty without damping."""

    def __call__(self, q, qd):
        from linkwise.scalar import less, where

        return where(less(q, 0.0), -1e10 * q, 0.0 * q)


# what is simulated, for how long, how, and what is said if it is stopped
TABLE = {
    "viscous friction 1e3": (viscous(1e3), BENT, 2.0, {}, None),
    "viscous friction 1e5": (viscous(1e5), BENT, 2.0, {}, None),
    "viscous friction 1e8": (viscous(1e8), BENT, 2.0, {}, None),
    "viscous friction by an explicit solver": (
        viscous(1e3),
        BENT,
        20.0,
        {"method": "RK45"},
        r"Stiff: qd\.joint\d .* by the friction \(viscous 1000",
    ),
    "stiff damped springs": (with_joints(ARM, spring=lw.Spring(1e8, 1e5)), BENT, 2.0, {}, None),
    "stiff springs without damping": (
        with_joints(FREE, spring=lw.Spring(1e9)),
        BENT,
        5.0,
        {},
        r"swings at .* by its spring",
    ),
    "stiff contact": (ball(), [0.5], 5.0, {"forces": {"ball": lw.simulation.GroundContact(1e9, 100.0)}}, None),
    "contact without damping": (
        ball(),
        [0.1],
        5.0,
        {"forces": {"ball": lw.simulation.GroundContact(1e12, 1e-9)}},
        "Stiff|swings|Steps are|jump|long",
    ),
    "a penalty stop": (pendulum(), [1.0], 5.0, {"joint_forces": {"x": HardStop()}}, "swings|Stiff|Steps are"),
    "huge damping by control": (ARM, BENT, 5.0, {"control": lambda t, q, qd: -1e6 * qd}, None),
    "huge gains": (ARM, BENT, 5.0, {"control": lambda t, q, qd: -1e9 * q - 1e5 * qd}, None),
    "huge gains without damping": (
        FREE,
        BENT,
        5.0,
        {"control": lambda t, q, qd: -1e9 * q},
        "swings at .* by control or wrenches",
    ),
    "unstable feedback": (ARM, BENT, 10.0, {"control": lambda t, q, qd: 50.0 * qd}, "Unstable: qd.joint. has grown"),
    "sampled feedback": (ARM, BENT, 10.0, {"control": sampled}, "jump|Chattering|change with time"),
    "a control of NaN": (ARM, BENT, 1.0, {"control": nothing}, r"control at t = 0\.1.* s: expected finite numbers"),
    "switching control": (
        FREE,
        BENT,
        5.0,
        {"control": lambda t, q, qd: -100.0 * np.sign(qd)},
        "Chattering: qd.joint. changed its sign",
    ),
    "dry friction as a jump": (
        with_joints(ARM, friction=lw.Friction(coulomb=30.0)),
        BENT,
        5.0,
        {"smooth_friction": False},
        "Chattering|Stiff|jump",
    ),
    "stick and slip": (
        with_joints(ARM, friction=lw.Friction(coulomb=5.0, static=10.0, law="stribeck", width=1e-4, stribeck=1e-2)),
        BENT,
        5.0,
        {},
        None,
    ),
    "next to no mass": (
        pendulum(1e-9),
        [1.0],
        5.0,
        {"control": lambda t, q, qd: [1e-3]},
        "Unstable|run away|swings|long",
    ),
    "a light link with friction": (
        pendulum(1e-9).replace(joints=[replace(pendulum().joints[0], friction=lw.Friction(viscous=1.0))]),
        [1.0],
        5.0,
        {},
        None,
    ),
    "a burst in finite time": (ball(), [1.0], 50.0, {"control": bursts}, r"run away|Unstable|finite"),
    "a very long horizon": (FREE, BENT, 1e7, {}, "nothing is wrong with the motion, it is long|follow each swing"),
    "events that accumulate": (
        FREE,
        BENT,
        2.0,
        {"events": {"often": accumulating}},
        "its zeros accumulate|long|Steps are",
    ),
    "events without end": (
        FREE,
        BENT,
        1e6,
        {"events": {"often": lambda t, q, qd: np.sin(1e7 * t)}},
        "'often' happened .* accumulate",
    ),
    "fast forcing": (
        ARM,
        BENT,
        10.0,
        {"control": lambda t, q, qd: np.full(7, 10.0 * np.sin(1e6 * t))},
        "Accelerations change with time",
    ),
    "loops near a singular place": (
        lw.load("fourbar"),
        None,
        100.0,
        {"control": lambda t, q, qd: [50.0, 0.0, 0.0]},
        "Unstable|long|Stiff|swings|Steps",
    ),
    "elastic drives of 1e9": (hua_arm(stiffness=1e9), None, 2.0, {}, "swings at .* by the spring of its drive"),
}
QUICK = (
    "viscous friction 1e5",
    "huge damping by control",
    "a control of NaN",
    "stiff contact",
    "a burst in finite time",
)
LIMIT = 4.0


def simulated(how_long, *given, **how):
    """What comes of a simulation: a result or an error, and the seconds that it took."""
    begin = time.perf_counter()
    try:
        found = lw.simulate(*given, time_limit=how_long, progress=False, **how)
    except lw.SimulationError as error:
        found = error
    return found, time.perf_counter() - begin


@pytest.mark.parametrize("case", [pytest.param(c, marks=() if c in QUICK else pytest.mark.slow) for c in TABLE])
def test_answered_or_stopped_in_words(case):
    robot, q0, end, how, words = TABLE[case]
    found, seconds = simulated(LIMIT, robot, q0, None, end, **how)
    assert seconds < LIMIT + 30.0  # compiling, on a busy machine
    if isinstance(found, lw.simulation.Simulation):
        print(f"{case}: {found.facts['method']}, {found.facts['steps']} steps, {seconds:.1f} s")
        assert found.t[-1] == end
        assert np.isfinite(found.q).all()
        return
    print(f"{case}: {found.result.status} after {seconds:.1f} s: {found}")
    assert found.result.status in ("failed", "out of time", "out of steps")
    assert np.isfinite(found.result.q).all()
    assert words is not None
    assert re.search(words, str(found)), found


# ---- what is left of a simulation that is stopped


def test_the_motion_up_to_there_is_that_of_the_whole():
    times = np.linspace(0.0, 1.0, 51)
    whole = lw.simulate(FREE, BENT, None, times)
    with pytest.raises(lw.SimulationError, match=r"after 20 steps of DOP853 .* used up its max_steps=20") as caught:
        lw.simulate(FREE, BENT, None, times, max_steps=20, dense=True)
    part = caught.value.result
    assert part.status == "out of steps"
    assert 2 < len(part) < 51
    assert part.facts["steps"] == 20
    np.testing.assert_array_equal(part.q[:-1], whole.q[: len(part) - 1])
    np.testing.assert_allclose(part.state(part.t[-1])[0], part.q[-1], rtol=1e-12)


def test_a_budget_that_is_enough_changes_nothing():
    one, other = (lw.simulate(FREE, BENT, None, 0.2, **how) for how in ({}, {"time_limit": 60.0, "max_steps": 1000}))
    np.testing.assert_array_equal(one.q, other.q)


@pytest.mark.parametrize("method", METHODS)
def test_a_slow_control_is_stopped_within_a_step(method):
    def slow(t, q, qd):
        time.sleep(0.02)
        return np.zeros(7)

    found, _ = simulated(0.1, FREE, BENT, None, 10.0, control=slow, method=method)
    assert found.result.status == "out of time"
    assert "used up its time_limit of 0.1 s" in str(found)


def test_robots_of_all_kinds_have_budgets():
    fourbar, elastic = lw.load("fourbar"), hua_arm()
    for robot in (fourbar, elastic):
        with pytest.raises(lw.SimulationError, match="used up its max_steps=5") as caught:
            lw.simulate(robot, None, None, 1.0, max_steps=5)
        assert caught.value.result.status == "out of steps"
    with pytest.raises(lw.SimulationError, match="used up its max_steps=3") as caught:
        lw.simulate(lw.delta(), [0.0, 0.0, -0.5], None, 0.2, max_steps=3)
    assert caught.value.result.status == "out of steps"
    assert len(caught.value.result) > 1


def test_a_platform_that_proves_stiff():
    """Held by a damper as stiff as a wall, it goes on by an implicit solver, and says so."""

    def damped(t, q, qd):
        return [*(-1e6 * qd), 0.0, 0.0, 0.0]

    found = lw.simulate(lw.delta(), [0.0, 0.0, -0.5], None, 1.0, external={"platform": damped}, time_limit=30.0)
    assert found.facts["method"] == "DOP853, then LSODA"
    assert "continued by LSODA" in found.notes[-1]


def test_a_solver_that_changes_on_the_way_leaves_one_motion():
    """Rows and states between them are those of an implicit solver from the start."""
    how = {"control": lambda t, q, qd: -2e4 * qd, "rtol": 1e-9}
    auto, radau = (lw.simulate(FREE, BENT, None, 1.0, dense=True, method=m, **how) for m in ("auto", "Radau"))
    assert auto.facts["method"] == "DOP853, then LSODA"
    at = np.linspace(0.0, 1.0, 301)
    np.testing.assert_allclose(auto.state(at)[0], radau.state(at)[0], atol=1e-6)
    assert auto.energy.drift < 1e-5


@pytest.mark.parametrize(
    "wrong",
    [{"time_limit": 0.0}, {"time_limit": -1}, {"time_limit": float("nan")}, {"time_limit": "3"}, {"time_limit": True},
     {"max_steps": 0}, {"max_steps": 2.5}, {"max_steps": True}, {"max_steps": "many"}],
)  # fmt: skip
def test_budgets_that_are_none(wrong):
    (name,) = wrong
    with pytest.raises(lw.InputError, match=f"{name}: expected .* above 0, or None, got"):
        lw.simulate(FREE, BENT, None, 1.0, **wrong)


# ---- Ctrl-C


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no signals to threads here")
@pytest.mark.parametrize("method", METHODS)
def test_ctrl_c_ends_at_once_and_the_next_simulation_is_right(method):
    expected = lw.simulate(FREE, BENT, None, 0.1, method=method)
    main = threading.main_thread().ident
    press = threading.Timer(0.3, lambda: signal.pthread_kill(main, signal.SIGINT))
    press.start()
    begin = time.perf_counter()
    found = lw.simulate(FREE, BENT, None, 1e6, method=method, progress=False)
    assert found.status == "interrupted"
    assert time.perf_counter() - begin < 20.0
    press.join()
    again = lw.simulate(FREE, BENT, None, 0.1, method=method)
    np.testing.assert_array_equal(again.q, expected.q)
    assert again.status == "finished"


def test_functions_that_fail_beside_the_motion_do_not_hide_why_it_stopped():
    """A control may raise what it likes at states that the simulation never had."""

    class Fails:
        labels, first_speed, environment, asking = ["q.a", "qd.a"], 1, "", True

        def __call__(self, t, y):
            if y[1]:
                raise KeyError("beside the motion")
            return np.zeros(2)

    fails = Fails()
    assert modes(fails, 0.0, np.zeros(2)) == []
    assert not fails.asking


@pytest.mark.filterwarnings("ignore:lsoda")  # of SciPy's, which depend on its version
def test_lsoda_within_lsoda_is_refused_in_words():
    def nested(t, q, qd):
        lw.simulate(FREE, q, qd, 0.01, method="LSODA")
        return np.zeros(7)

    with pytest.raises(lw.SimulationError, match="within a control"):
        lw.simulate(FREE, BENT, None, 0.05, method="LSODA", control=nested)
    again = lw.simulate(FREE, BENT, None, 0.05, method="LSODA")
    assert again.status == "finished"


def test_a_motion_that_an_explicit_solver_masters_is_left_to_it():
    """Smoothed dry friction is stiff where joints stick, but not so that the errors of an implicit solver pay."""
    found = lw.simulate(ARM, BENT, None, 5.0)
    assert found.facts["method"] == "DOP853"
    assert found.energy.drift < 1e-11
