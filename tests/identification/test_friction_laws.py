"""Every law of friction, coupled motors and gears: the truth is found on simulated data."""

from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.motion import Log
from support.experiments import distances, motion, noisy, repeated, times

PUMA = lw.load("puma560")
JOINTS = [replace(j, friction=lw.Friction(0.3 + 0.1 * k, 0.5 + 0.05 * k), armature=0.05 + 0.01 * k)
          for k, j in enumerate(PUMA.joints)]  # fmt: skip
TRUE = PUMA.replace(*JOINTS)
STATES = [repeated(x, 3) for x in motion(TRUE, 1.5)]
TAU = lw.compile(TRUE).inverse_dynamics(*STATES)
BARE = TRUE.without_friction().replace(*(replace(j, armature=0.0, friction=lw.Friction()) for j in TRUE.joints))
CARRIED = lw.compile(BARE).inverse_dynamics(*STATES)
TIMES = times(len(TAU))
WARM = 30.0 + 20.0 * (1.0 - np.exp(-TIMES / 8.0))


def log(more: np.ndarray, noise: float = 1.0, **channels: np.ndarray) -> Log:
    tau = noisy(TAU + more, noise * 0.01 * TAU.std(axis=0), 1)
    return Log(TRUE, TIMES, noisy(STATES[0], noise * 1e-5, 0), tau=tau, others=channels)


def by_joint(law: str, value: float) -> dict[str, float]:
    return {f"joint{k}.{law}": value for k in range(1, 7)}


SPEED, WAY = STATES[1], np.sign(STATES[1])
LAWS = {
    "asymmetric": (0.1 * np.abs(SPEED), by_joint("asymmetric", 0.1)),
    "root": (0.2 * WAY * np.sqrt(np.abs(SPEED)), by_joint("root", 0.2)),
    "load": (0.05 * WAY * np.abs(CARRIED), by_joint("load", 0.05)),
    "temperature": (
        WARM[:, None] * (-0.004 * SPEED - 0.003 * WAY),
        by_joint("viscous_by_temperature", -0.004) | by_joint("coulomb_by_temperature", -0.003),
    ),
}


@pytest.mark.parametrize("law", LAWS)
def test_a_law_is_found(law: str) -> None:
    more, extra = LAWS[law]
    channels = {f"temperature.joint{k}": WARM for k in range(1, 7)} if law == "temperature" else {}
    measured = log(more, **channels)
    fit = lw.identify(TRUE, measured, friction=f"viscous coulomb presliding {law}", physical=False)
    assert np.abs(distances(fit, TRUE, extra)).max() < 5.0
    sure = [fit.base[name] for name in extra if name in fit.base.names and fit.base[name].determined]
    assert len(sure) > len(extra) / 2
    assert np.mean([x.lower < extra[x.name] < x.upper for x in sure]) > 0.7
    assert fit.error(measured).mean < 0.05
    assert any(f"fit.robot lacks {law}" in note for note in fit.notes)


def test_load_does_not_explain_torques_by_themselves() -> None:
    none = lw.identify(TRUE, log(0.0 * TAU), friction="viscous coulomb load", physical=False)
    for k in range(1, 4):
        assert abs(none.base[f"joint{k}.load"].value) < 0.01


def test_the_speed_of_stribecks_friction_is_found_between_candidates() -> None:
    more = 0.4 * WAY * np.exp(-((SPEED / 0.1) ** 2))
    fit = lw.identify(TRUE, log(more), friction="viscous coulomb stribeck", physical=False)
    assert list(fit.structure.stribeck.values()) == pytest.approx([0.1] * 6, rel=0.06)
    assert [fit.base[f"joint{k}.stribeck"].value for k in range(1, 7)] == pytest.approx([0.4] * 6, rel=0.1)


def test_groups_do_not_depend_on_that_speed() -> None:
    robot = lw.load("arm7")
    fit = lw.identify(
        robot, lw.identification.simulated_log(robot, 15.0), friction="viscous coulomb stribeck", physical=False
    )
    assert "joint1.stribeck" in fit.base.names


def test_a_coupled_wrist_is_found() -> None:
    speed, more = SPEED[:, 4] + SPEED[:, 5], np.zeros_like(TAU)
    more[:, 4] = more[:, 5] = 0.03 * (STATES[2][:, 4] + STATES[2][:, 5]) + 0.4 * speed + 0.3 * np.sign(speed)
    extra = {"joint5+joint6.rotor": 0.03, "joint5+joint6.viscous": 0.4, "joint5+joint6.coulomb": 0.3}
    fit = lw.identify(TRUE, log(more), coupled=[("joint5", "joint6")], physical=False)
    assert np.abs(distances(fit, TRUE, extra)).max() < 5.0
    for name, value in extra.items():
        assert fit.base[name].lower < value < fit.base[name].upper


GEARS = (-60.0, 100.0, -50.0, 76.0, 71.0, 76.0)


def geared(factor: float) -> lw.Robot:
    """Motors that spin on the links before their joints, with friction on both sides of the gear."""
    joints = []
    for k, (j, gear) in enumerate(zip(PUMA.joints, GEARS, strict=True)):
        motor = lw.Motor(link=j.parent, rotor=factor * (2e-4 + 3e-5 * k), mass=0.5)
        drive = lw.Drive(motor=motor, gear=gear, friction=lw.Friction(1e-4 * factor, 5e-3 * factor))
        joints.append(replace(j, armature=0.0, friction=lw.Friction(0.1, 0.2), drive=drive))
    return PUMA.replace(*joints)


def test_gears_with_motors_and_a_log_of_the_motors_side() -> None:
    true, guess = geared(1.0), geared(2.0)
    tau = noisy(lw.compile(true).inverse_dynamics(*STATES), 0.0, 0)
    tau = noisy(tau, 0.01 * tau.std(axis=0), 1)
    q = noisy(STATES[0], 1e-5, 2)
    table = {"t": TIMES} | {f"turn{k}": q[:, k] * gear for k, gear in enumerate(GEARS)}
    table |= {f"torque{k}": tau[:, k] / gear for k, gear in enumerate(GEARS)}
    units = {"q": [1.0 / gear for gear in GEARS], "tau": list(GEARS)}
    read = lw.read_log(table, guess, columns={"turn*": "q", "torque*": "tau"}, units=units)
    fit = lw.identify(guess, read)
    assert np.abs(distances(fit, true)).max() < 5.0
    rotors = [fit.robot.joint(f"joint{k}").drive.motor.rotor for k in range(3, 7)]
    assert rotors == pytest.approx([2e-4 + 3e-5 * k for k in range(2, 6)], rel=0.01)


def test_a_joint_that_never_moves_is_named() -> None:
    still = [x.copy() for x in STATES]
    still[0][:, 5], still[1][:, 5], still[2][:, 5] = 0.2, 0.0, 0.0
    tau = noisy(lw.compile(TRUE).inverse_dynamics(*still), 0.01, 1)
    fit = lw.identify(PUMA, Log(PUMA, TIMES, still[0], tau=tau), physical=False, friction="viscous coulomb")
    assert {"joint6.viscous", "joint6.coulomb"} <= set(fit.undetermined)
    for k, joint in enumerate(JOINTS[:5]):
        assert fit.base[f"joint{k + 1}.viscous"].value == pytest.approx(joint.friction.viscous, abs=0.01)
