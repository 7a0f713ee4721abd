"""Limits in simulations: noted, enforced, or the end of the motion."""

from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.simulation.forces import JointStop


def pendulum(drive: lw.Drive | None = None, kind: str = "revolute", gravity: float = 0.0, **limits: float) -> lw.Robot:
    """One link of inertia 0.5 kg m^2 about its joint, or of 0.5 kg along it."""
    arm = lw.Link("arm", 0.5, inertia=(0.5, 0.5, 0.5))
    joint = lw.Joint("joint", "base", "arm", kind, drive=drive, limits=lw.Limits(**limits))
    return lw.Robot([lw.Link("base"), arm], [joint], gravity=(0.0, 0.0, -gravity), name="one")


def met(result: lw.simulation.Simulation) -> dict[tuple[str, str], lw.simulation.LimitMet]:
    return {(x.joint, x.kind): x for x in result.limits_met}


def test_limits_are_noted_with_exact_times_of_crossing() -> None:
    robot = pendulum(upper=1.0, lower=-1.0, velocity=2.0, acceleration=5.0, effort=1.0)
    result = lw.simulate(robot, None, None, 2.0, control=[2.0])  # qdd = 4, q = 2 t^2, qd = 4 t
    found = met(result)
    assert set(found) == {("joint", "position"), ("joint", "velocity"), ("joint", "effort")}
    assert found["joint", "position"].t == pytest.approx(np.sqrt(0.5), abs=1e-8)
    assert found["joint", "velocity"].t == pytest.approx(0.5 * 1.001, abs=1e-8)  # beyond by a thousandth, as in plans
    assert found["joint", "effort"].t == 0.0
    assert found["joint", "position"].worst == pytest.approx(8.0, rel=1e-7)
    assert found["joint", "position"].worst_t == 2.0
    assert found["joint", "effort"][2:6] == (1.0, 0.0, 2.0, 0.0)
    assert result.notes == tuple(map(str, result.limits_met))
    assert "the velocity limit 2 rad/s of 'joint' is exceeded from t = 0.5005 s on, at worst 8 rad/s" in result.notes[1]
    assert lw.simulate(robot, None, None, 2.0, control=[2.0], limits=None).limits_met == ()


def test_two_rows_suffice_to_note_what_happens_between_them() -> None:
    robot = pendulum(kind="prismatic", upper=0.4)
    result = lw.simulate(robot, None, [1.0], [0.0, 2.0], control=lambda t, q, qd: [-0.5])  # up to 0.5 m, then back
    assert result["joint"].q[-1] == pytest.approx(0.0, abs=1e-8)
    (found,) = result.limits_met
    assert found.t == pytest.approx(1.0 - np.sqrt(0.2), abs=1e-7)
    assert found.worst == pytest.approx(0.5, abs=5e-3)
    assert "0.4 m of 'joint'" in str(found)


def test_the_first_limit_ends_a_motion() -> None:
    robot = pendulum(upper=1.0, effort=3.0, velocity=10.0)
    result = lw.simulate(robot, None, None, 2.0, control=[2.0], limits="stop")
    assert result.status == "stopped by the position limit of 'joint', 1 rad"
    assert result.t[-1] == pytest.approx(np.sqrt(0.5), abs=1e-8)
    assert result.q[-1, 0] == pytest.approx(1.0, abs=1e-8)
    assert [x.kind for x in result.limits_met] == ["position"]
    at_once = lw.simulate(robot, None, None, 2.0, control=[4.0], limits="stop")
    assert at_once.status == "stopped by the effort limit of 'joint', 3 N m"
    assert len(at_once) == 1


def test_an_event_before_the_limit_ends_a_motion_first() -> None:
    def half(t: float, q: np.ndarray, qd: np.ndarray) -> float:
        return float(q[0] - 0.5)

    half.terminal = True  # type: ignore[attr-defined]
    result = lw.simulate(pendulum(upper=0.51), None, None, 2.0, control=[2.0], events=half, limits="stop", max_step=2.0)
    assert result.status == "stopped by event 'half'"


def test_drives_give_what_they_can() -> None:
    robot = pendulum(effort=1.0)
    result = lw.simulate(robot, None, None, 1.0, control=[500.0], limits="saturate")
    assert result["joint"].q[-1] == pytest.approx(1.0, rel=1e-8)  # 2 rad/s^2 for 1 s
    assert np.all(result.tau == 1.0)
    (found,) = result.limits_met
    assert found.held
    assert found.worst == 500.0
    assert str(found).startswith("the effort limit 1 N m of 'joint' is met at t = 0 s: the drive gives no more, asked")


def test_speed_settles_where_a_torque_speed_curve_ends() -> None:
    drive = lw.Drive(gear=10.0, curve=((0.0, 0.2), (50.0, 0.0)))  # 2 N m at rest, none at 5 rad/s, at the joint
    result = lw.simulate(pendulum(drive), None, None, 3.0, control=[10.0], limits="saturate")
    speed = 5.0 * (1.0 - np.exp(-result.t * 2.0 / 5.0 / 0.5))
    assert np.allclose(result["joint"].qd, speed, atol=1e-7)
    assert [x.kind for x in result.limits_met] == ["torque_speed"]
    exceeded = lw.simulate(pendulum(drive), None, None, 2.0, control=[1.0])
    (found,) = exceeded.limits_met  # 1 N m is a thousandth beyond 2 - 0.4 v after v / 2 seconds
    assert found.t == pytest.approx(0.5 * (2.0 - 1.0 / 1.001) / 0.4, abs=1e-8)
    assert not found.held


def test_power_bounds_what_drives_and_not_what_brakes() -> None:
    drive = lw.Drive(power=4.0)
    robot = pendulum(drive)
    result = lw.simulate(robot, None, [1.0], 4.0, control=[8.0], limits="saturate", atol=1e-12)
    moving = result["joint"].qd
    assert np.allclose(result.tau[:, 0], np.minimum(8.0, 4.0 / moving), rtol=1e-12)
    assert np.allclose(0.25 * (moving**2 - 1.0), 4.0 * result.t, atol=1e-6)  # 4 W raise the kinetic energy
    braked = lw.simulate(robot, None, [3.0], 0.1, control=[-8.0], limits="saturate")
    assert np.all(braked.tau == -8.0)
    assert braked.limits_met == ()


@pytest.mark.parametrize("speed", [0.0, 5.0])
def test_stops_hold_joints(speed: float) -> None:
    robot = pendulum(upper=1.0, lower=-0.5, effort=10.0)
    result = lw.simulate(robot, None, [speed], 3.0, control=[10.0], limits="saturate")
    q = result["joint"].q
    assert q.max() < 1.0 + 1e-2  # at once
    assert abs(q[-1] - 1.0) < 1.2e-3
    assert abs(result["joint"].qd[-1]) < 1e-3
    assert met(result)["joint", "position"].held
    assert result.energy.drift < 1e-6
    back = lw.simulate(robot, [0.9], [5.0], 0.5, limits="saturate")
    assert abs(back["joint"].qd[-1]) < 0.1  # hardly a rebound


def test_stops_of_ones_own_stay() -> None:
    robot = pendulum(upper=1.0, effort=10.0)
    own = {"joint": JointStop(upper=0.5, stiffness=1e5)}
    result = lw.simulate(robot, None, None, 3.0, control=[1.0], joint_forces=own, limits="saturate")
    assert result["joint"].q.max() < 0.51


def test_starts_beyond_a_stop_and_unknown_words_are_refused() -> None:
    with pytest.raises(lw.InputError, match=r"'joint' at 1.5, which has -0.5 to 1"):
        lw.simulate(pendulum(upper=1.0, lower=-0.5), [1.5], None, 1.0, limits="saturate")
    with pytest.raises(lw.UnknownNameError, match=r"'clip'.*'note', 'saturate', 'stop'"):
        lw.simulate(pendulum(), None, None, 1.0, limits="clip")


def test_driven_joints_are_noted_and_not_held() -> None:
    robot = pendulum(upper=1.0, effort=1.0)
    motion = {"joint": lambda t: (2.0 * t * t, 4.0 * t, 4.0)}
    result = lw.simulate(robot, None, None, 1.0, driven=motion, limits="saturate")
    assert np.allclose(result.tau, 2.0)
    assert {(x.kind, x.held) for x in result.limits_met} == {("position", False), ("effort", False)}


def test_motors_behind_springs_have_limits_of_speed_and_torque() -> None:
    drive = lw.Drive(lw.Motor(rotor=1e-3), gear=10.0, stiffness=100.0, damping=1.0)
    robot = pendulum(drive, velocity=2.0, effort=1.0)
    result = lw.simulate(robot, None, None, 2.0, control={"joint.motor": 5.0})
    found = met(result)
    assert {("joint", "velocity"), ("joint.motor", "velocity"), ("joint", "effort")} == set(found)
    assert found["joint.motor", "velocity"].t < found["joint", "velocity"].t
    held = lw.simulate(robot, None, None, 2.0, control={"joint.motor": 5.0}, limits="saturate")
    assert np.abs(held["joint.motor"].tau).max() == 1.0


def test_loops_and_floating_bases_have_limits_too() -> None:
    robot = lw.load("fivebar")
    tree = robot.opened()
    followers = [n for n in tree.coordinates if n not in robot.names]
    slow = [replace(j, limits=lw.Limits(velocity=1e-3)) if j.name in followers else j for j in robot.joints]
    tight = robot.replace(joints=slow)
    result = lw.simulate(tight, None, None, 0.2, control=dict.fromkeys(robot.drives, 0.3))
    assert {x.joint for x in result.limits_met if x.kind == "velocity"} >= set(followers)


def test_files_keep_what_was_met(tmp_path) -> None:
    result = lw.simulate(pendulum(upper=1.0), None, None, 2.0, control=[2.0])
    result.save(tmp_path / "run.npz")
    assert lw.simulation.Simulation.load(tmp_path / "run.npz").limits_met == result.limits_met


def test_rollouts_say_which_limits_their_states_exceed() -> None:
    robot = pendulum(upper=1.0, velocity=2.0)
    still, pushed = np.zeros((3, 1)), np.array([[[0.1]], [[2.0]], [[-2.0]]])
    rolled = lw.compile_rollout(robot)(still, still, pushed, 0.01, steps=200)
    found = {x.kind: x for x in rolled.limits_met}
    assert found["position"].worst == pytest.approx(8.0)
    assert found["position"].t == pytest.approx(0.71)
    assert abs(found["velocity"].worst) == pytest.approx(8.0)
    assert found["velocity"].t == pytest.approx(0.51)
