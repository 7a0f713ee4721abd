"""Sampled controllers: held between their samples, with delay and state, against theory and MuJoCo."""

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.signal import cont2discrete

import linkwise as lw
from linkwise.control import sampled

PERIOD = 0.02


def cart() -> lw.Robot:
    """A mass of 2 kg between a spring of 30 N/m and a damper of 1 N s/m: linear, so that its samples are known."""
    joint = lw.Joint("slide", "base", "cart", "prismatic", axis=(1, 0, 0), spring=lw.Spring(30.0, 1.0))
    return lw.Robot([lw.Link("base"), lw.Link("cart", 2.0)], [joint], name="cart")


A, B = np.array([[0.0, 1.0], [-15.0, -0.5]]), np.array([[0.0], [0.5]])
K = np.array([[8.0, 3.0]])
ACCURATE = {"rtol": 1e-12, "atol": 1e-14}


def law(t, q, qd):
    return -K @ [*q, *qd]


def discrete(steps, delay=0.0):
    """Samples of the plant under u_k = -K x_k, applied after a delay of less than a period."""
    Ad, Bd, *_ = cont2discrete((A, B, np.eye(2), np.zeros((2, 1))), PERIOD, method="zoh")
    late = expm(np.block([[A, B], [np.zeros((1, 3))]]) * (PERIOD - delay))[:2, 2:]  # of the input at the end
    x, before, found = np.array([0.3, 0.0]), np.zeros(1), []
    for _ in range(steps + 1):
        found.append(x)
        u = -K @ x
        x, before = Ad @ x + (Bd - late) @ before + late @ u, u
    return np.array(found)


@pytest.mark.parametrize("delay", [0.0, 0.007, PERIOD])
def test_samples_are_those_of_discrete_theory(delay: float) -> None:
    steps = 100
    result = lw.simulate(
        cart(), [0.3], None, np.arange(steps + 1) * PERIOD, control=sampled(law, PERIOD, delay=delay), **ACCURATE
    )
    wanted = discrete(steps, delay)
    assert np.abs(np.hstack([result.q, result.qd]) - wanted).max() < 1e-10
    assert np.allclose(result.commands.tau[:, 0], -(wanted[:-1] @ K.T)[:, 0], atol=1e-10)
    assert np.allclose(result.commands.applied - result.commands.t, delay, atol=1e-15)


def test_the_law_is_called_once_a_period_at_exact_times() -> None:
    calls = []

    def counted(t, q, qd):
        calls.append(t)
        return law(t, q, qd)

    result = lw.simulate(cart(), [0.3], None, 1.0, control=sampled(counted, 1e-3), events=lambda t, q, qd: q[0])
    assert len(calls) == 1000
    assert np.allclose(calls, np.arange(1000) * 1e-3, atol=1e-15)
    held = np.searchsorted(calls, result.t, "right") - 1
    assert np.array_equal(result.tau[:, 0], result.commands.tau[held, 0])  # rows at a sample have its new torque
    assert len(result.events["lambda"].t) > 0


def test_state_is_passed_along_and_every_simulation_begins_anew() -> None:
    robot = cart()

    def integrating(t, q, qd, total):
        total = total + PERIOD * (0.1 - q)  # of an array: a new one
        return 20.0 * total - 2.0 * qd, total

    control = sampled(integrating, PERIOD, state=np.zeros(1))
    first, again = (lw.simulate(robot, None, None, 20.0, control=control) for _ in range(2))
    assert first.q[-1, 0] == pytest.approx(0.1, abs=1e-4)  # no error stays: the law integrates
    assert np.array_equal(first.q, again.q)
    assert control.state == 0.0
    assert len(first.commands.state) == len(first.commands.t)
    assert 20.0 * first.commands.state[-1][0] == pytest.approx(3.0, abs=1e-2)  # what the spring takes


def test_states_that_are_changed_in_place_begin_anew_too() -> None:
    def changing(t, q, qd, memory):
        memory.append(t)
        return [0.1 * len(memory)], memory

    control = sampled(changing, PERIOD, state=[])
    first, again = (lw.simulate(cart(), None, None, 0.5, control=control) for _ in range(2))
    assert np.array_equal(first.commands.tau, again.commands.tau)
    assert control.state == []
    assert [len(s) for s in first.commands.state] == list(range(1, 26))


def test_objects_keep_their_state_and_are_reset() -> None:
    class Counter:
        def reset(self):
            self.count = 0

        def __call__(self, t, q, qd):
            self.count += 1
            return [float(self.count)]

    control = sampled(Counter(), 0.1)
    for _ in range(2):
        result = lw.simulate(cart(), None, None, 1.0, control=control)
        assert result.commands.tau[:, 0].tolist() == list(range(1, 11))


def test_torques_before_the_first_command_and_long_delays() -> None:
    control = sampled(lambda t, q, qd: [t], 0.1, delay=0.25, before=[-1.0])
    result = lw.simulate(cart(), None, None, np.linspace(0.0, 1.0, 21), control=control)
    wanted = [-1.0 if t < 0.25 - 1e-9 else 0.1 * np.floor((t - 0.25) / 0.1 + 1e-9) for t in result.t]
    assert np.allclose(result.tau[:, 0], wanted)


def test_jitter_is_the_same_every_time_and_late_by_no_more() -> None:
    control = sampled(law, PERIOD, jitter=0.005, seed=3)
    first, again = (lw.simulate(cart(), [0.3], None, 1.0, control=control) for _ in range(2))
    late = first.commands.t - PERIOD * np.arange(len(first.commands.t))
    assert np.array_equal(first.q, again.q)
    assert late.min() >= 0.0
    assert 0.003 < late.max() < 0.005


def test_slow_samples_make_a_stable_law_unstable_as_theory_says() -> None:
    stiff = np.array([[400.0, 20.0]])

    def size(period):
        Ad, Bd, *_ = cont2discrete((A, B, np.eye(2), np.zeros((2, 1))), period)
        return np.abs(np.linalg.eigvals(Ad - Bd @ stiff)).max()

    ends = {}
    for period in (0.02, 0.2):
        result = lw.simulate(cart(), [0.01], None, 2.0, control=sampled(lambda t, q, qd: -stiff @ [*q, *qd], period))
        ends[period] = np.abs(result.q[-1, 0])
    assert size(0.02) < 1.0 < size(0.2)
    assert ends[0.02] < 0.005 < 0.02 < ends[0.2]


def test_stiff_solvers_and_limits_go_with_it() -> None:
    robot = lw.load("arm7")
    goal = robot.q() + 0.4
    compiled = lw.compile(robot, lw.control.computed_torque, kp=400.0, kd=40.0)
    zeros = np.zeros(7)
    control = sampled(lambda t, q, qd: compiled(q, qd, goal, zeros, zeros), 2e-3, delay=1e-3)
    runs = [
        lw.simulate(robot, None, None, 0.4, control=control, limits="saturate", method=m, rtol=1e-9)
        for m in ("DOP853", "LSODA")
    ]
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-6
    assert np.abs(runs[0].q[-1] - goal).max() < 0.05
    assert any(x.kind == "effort" and x.held for x in runs[0].limits_met)


def test_mujoco_agrees_where_control_is_held_for_some_of_its_steps() -> None:
    mujoco = pytest.importorskip("mujoco")
    xml = """<mujoco><option timestep="1e-4" integrator="RK4"/><worldbody><body><joint name="a" axis="0 1 0"/>
      <inertial pos="0 0 -0.3" mass="1" diaginertia="0.01 0.02 0.01"/>
      <body pos="0 0 -0.5"><joint name="b" axis="0 1 0"/>
      <inertial pos="0 0 -0.2" mass="0.7" diaginertia="0.01 0.01 0.01"/></body></body></worldbody>
      <actuator><motor joint="a"/><motor joint="b"/></actuator></mujoco>"""
    model = mujoco.MjModel.from_xml_string(xml)
    data, goal = mujoco.MjData(model), np.array([0.8, -0.5])

    def pd(t, q, qd):
        return 30.0 * (goal - q) - 2.0 * qd

    states = []
    for _ in range(100):
        data.ctrl[:] = pd(data.time, data.qpos, data.qvel)
        for _ in range(50):
            mujoco.mj_step(model, data)
        states.append([*data.qpos, *data.qvel])
    robot = lw.load(xml)
    result = lw.simulate(robot, None, None, np.arange(101) * 5e-3, control=sampled(pd, 5e-3), rtol=1e-10)
    assert np.abs(np.hstack([result.q, result.qd])[1:] - states).max() < 1e-7


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"law": 3, "period": 0.1}, "expected a function"),
        ({"law": law, "period": 0.0}, "sampled period"),
        ({"law": law, "period": 0.1, "delay": -1.0}, "sampled delay"),
        ({"law": law, "period": 0.1, "jitter": 0.1}, "less than the period"),
    ],
)
def test_bad_settings_are_refused(options, words) -> None:
    with pytest.raises(lw.InputError, match=words):
        sampled(**options)


def test_bad_torques_are_named_with_their_time() -> None:
    with pytest.raises(lw.InputError, match=r"sampled control at t = 0 s: expected 1 numbers, got \[1, 2\]"):
        lw.simulate(cart(), None, None, 1.0, control=sampled(lambda t, q, qd: [1, 2], 0.1))
    with pytest.raises(lw.SimulationError, match=r"at t = 0.5 s: expected finite numbers"):
        lw.simulate(cart(), None, None, 1.0, control=sampled(lambda t, q, qd: [np.nan if t > 0.45 else 0.0], 0.1))
    with pytest.raises(lw.InputError, match="torques and the new state"):
        lw.simulate(cart(), None, None, 1.0, control=sampled(lambda t, q, qd, s: 1.0, 0.1, state=0))


def test_files_keep_commands(tmp_path) -> None:
    result = lw.simulate(cart(), [0.3], None, 0.1, control=sampled(law, PERIOD))
    result.save(tmp_path / "run.npz")
    again = lw.simulation.Simulation.load(tmp_path / "run.npz")
    assert np.array_equal(again.commands.tau, result.commands.tau)
    assert np.array_equal(again.commands.t, result.commands.t)
