"""Springs of elastic drives from positions of joints and motors and torques of motors, links by Pinocchio."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pinocchio as pin
import pytest

import linkwise as lw
from linkwise.identification.fit import Fit
from linkwise.motion import Log
from support.experiments import RATE, ROWS, distances, inside, motion, noisy, rate, repeated, times, truth

STIFFNESS, DAMPING = np.array([4000.0, 9000.0, 3000.0]), np.array([12.0, 15.0, 8.0])
ROTOR, VISCOUS, COULOMB, JOINT = 0.4, 1.5, 0.6, 0.3  # of motors seen through their gears, and friction of joints
GEAR = 60.0
RIGID = lw.load("puma560").lock(["joint4", "joint5", "joint6"]).without_friction()
RIGID = RIGID.replace(*(replace(j, armature=0.0, drive=None) for j in RIGID.joints))


def soft(stiffness: np.ndarray = STIFFNESS, damping: np.ndarray = DAMPING, coulomb: float = COULOMB) -> lw.Robot:
    """The arm with motors behind springs."""
    motor = lw.Friction(VISCOUS / GEAR**2, coulomb / GEAR)
    drives = [
        lw.Drive(gear=GEAR, stiffness=k, damping=d, friction=motor) for k, d in zip(stiffness, damping, strict=True)
    ]
    joints = [RIGID.joint(name) for name in RIGID.names]
    own = {"armature": ROTOR, "friction": lw.Friction(JOINT)}
    return RIGID.replace(*(replace(j, drive=drive, **own) for j, drive in zip(joints, drives, strict=True)))


TRUE, GUESS = soft(), soft(1.4 * STIFFNESS, 0.5 * DAMPING)
SPRINGS = {
    f"joint{k + 1}.drive_{w}": float(x[k])
    for w, x in (("stiffness", STIFFNESS), ("damping", DAMPING))
    for k in range(3)
}


@cache
def experiment(coulomb: float = COULOMB) -> tuple[np.ndarray, np.ndarray]:
    """Positions of joints and motors, and torques of the motors, along one period."""
    q, qd, qdd = motion(RIGID, 1.0)
    with TemporaryDirectory() as folder:
        lw.save(RIGID, Path(folder) / "arm.urdf")
        model = pin.buildModelFromUrdf(str(Path(folder) / "arm.urdf"))
    data = model.createData()
    carried = np.array([pin.rnea(model, data, *x) for x in zip(q, qd, qdd, strict=True)]) + JOINT * qd
    # K s + D s_dot = what the link takes, for a periodic stretch s
    omega = 2j * np.pi * np.fft.rfftfreq(ROWS, 1.0 / RATE)[:, None]
    stretch = np.fft.irfft(np.fft.rfft(carried, axis=0) / (STIFFNESS + DAMPING * omega), n=ROWS, axis=0)
    theta = q + stretch
    speed = rate(theta)
    tau = ROTOR * rate(speed) + VISCOUS * speed + coulomb * np.sign(speed) + carried
    return np.concatenate([q, theta], axis=1), tau


def log(noise: float = 1.0, name: str = "motors", coulomb: float = COULOMB) -> Log:
    """Torques in the places of the motors, or under the names of the joints."""
    q, tau = (repeated(x, 3) for x in experiment(coulomb))
    measured, none = noisy(tau, noise * 0.01 * tau.std(axis=0), 1), np.full(tau.shape, np.nan)
    both = np.concatenate([none, measured] if name == "motors" else [measured, none], axis=1)
    return Log(GUESS, times(len(q)), noisy(q, noise * 5e-6, 0), tau=both)


@pytest.fixture(scope="module")
def fit() -> Fit:
    return lw.identify(GUESS, log(), friction="viscous coulomb")


def test_stiffness_and_damping_are_found_with_intervals(fit: Fit) -> None:
    assert np.abs(distances(fit, TRUE, SPRINGS)).max() < 4.5
    assert inside(fit, TRUE, SPRINGS) > 0.85
    for k in range(3):
        found = fit.base[f"joint{k + 1}.drive_stiffness"]
        assert found.lower < STIFFNESS[k] < found.upper
        assert found.value == pytest.approx(STIFFNESS[k], rel=5e-3)
        drive = fit.robot.joint(f"joint{k + 1}").drive
        assert drive.stiffness == pytest.approx(STIFFNESS[k], rel=5e-3)
        assert drive.damping == pytest.approx(DAMPING[k], rel=0.3)
        assert drive.friction.coulomb * GEAR == pytest.approx(COULOMB, rel=0.05)


def test_errors_are_those_of_the_motors_torque(fit: Fit) -> None:
    assert fit.training.mean < 0.01
    assert fit.error(log()).mean < 0.03  # of which 1 % is noise; reversals fall between samples


def test_without_noise_springs_are_found() -> None:
    smooth = log(noise=0.0, coulomb=0.0)  # a jump would fall between samples
    found = lw.identify(GUESS, smooth, friction="viscous coulomb", physical=False, delays=False)
    right = truth(found, soft(coulomb=0.0), SPRINGS)
    # round-off of accelerations, 1e-12 of positions times the square of their highest frequency, times the condition
    np.testing.assert_allclose(found.base.values, right, rtol=1e-8, atol=1e-8)


def test_springs_may_be_known() -> None:
    held = lw.identify(TRUE, replace(log(), robot=TRUE), friction="viscous coulomb", springs=False, physical=False)
    assert not any("drive_stiffness" in name for name in held.base.names)
    assert np.abs(distances(held, TRUE)).max() < 4.5
    some = lw.identify(GUESS, log(), friction="viscous coulomb", hold=["joint1.drive_stiffness"], physical=False)
    assert "joint1.drive_stiffness" not in some.base.names
    assert "joint2.drive_stiffness" in some.base.names


def test_the_stiffness_of_a_spring_along_a_joint_is_found() -> None:
    def sprung(stiffness: float) -> lw.Robot:
        spring = lw.Spring(stiffness, damping=0.5, rest=0.2)
        return RIGID.replace(replace(RIGID.joint("joint2"), spring=spring))

    states = motion(RIGID, 1.0)
    tau = repeated(lw.compile(sprung(80.0)).inverse_dynamics(*states), 3)
    q = noisy(repeated(states[0], 3), 1e-5, 0)
    measured = Log(sprung(50.0), times(len(q)), q, tau=noisy(tau, 0.01 * tau.std(axis=0), 1))
    found = lw.identify(sprung(50.0), measured)
    assert found.base["joint2.stiffness"].lower < 80.0 < found.base["joint2.stiffness"].upper
    assert found.robot.joint("joint2").spring.stiffness == pytest.approx(80.0, rel=0.01)
    assert found.robot.joint("joint2").spring.damping == 0.5


def test_a_log_without_motors_asks_for_the_rigid_robot() -> None:
    measured = log()
    joints = {f"q.joint{k + 1}": measured.q[:, k] for k in range(3)}
    torques = {f"tau.joint{k + 1}": measured.tau[:, 3 + k] for k in range(3)}
    read = lw.read_log({"t": measured.t, **joints, **torques}, GUESS)
    with pytest.raises(lw.InputError, match=r"without positions of motors behind springs. Give robot.rigid()"):
        lw.identify(GUESS, read)
    assert lw.identify(GUESS.rigid(), read, physical=False).training.mean < 0.02


def test_torques_under_the_names_of_joints_are_those_of_motors(fit: Fit) -> None:
    other = lw.identify(GUESS, log(name="joints"), friction="viscous coulomb")
    np.testing.assert_allclose(other.base.values, fit.base.values)
    assert any("were taken for those of its motor" in note for note in other.notes)
