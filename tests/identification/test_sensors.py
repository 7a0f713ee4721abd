"""Wrenches through force sensors as measurements, by MuJoCo's force and torque sensors."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import mujoco
import numpy as np
import pytest

import linkwise as lw
from linkwise.identification.measurements import measured
from linkwise.identification.structure import Structure
from linkwise.motion import Log
from linkwise.motion.smoothing import Smoothed
from support.experiments import distances, inside, motion, noisy, repeated, times, truth

OFFSET = np.array([3.0, -2.0, 1.0, 0.2, -0.1, 0.05])
SIZES = np.array([0.05, 0.05, 0.05, 0.004, 0.004, 0.004])  # of the noise, N and N m
NUMBERS = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")


def arm(mass: float = 1.2, com: tuple[float, float, float] = (0.01, -0.02, 0.06)) -> lw.Robot:
    """An arm without friction and rotors, with a gripper behind a sensor."""
    bare = lw.load("arm7").without_friction()
    bare = bare.replace(*(replace(j, armature=0.0, drive=None) for j in bare.joints))
    return bare.with_payload(mass, com, (0.004, 0.003, 0.002), at="tool", name="gripper")


TRUE, GUESS = arm(), arm(0.7, (0.0, 0.0, 0.05))


@cache
def experiment() -> tuple[tuple[np.ndarray, ...], np.ndarray, np.ndarray]:
    """A motion, torques and wrenches through the sensor, as MuJoCo has them."""
    with TemporaryDirectory() as folder:
        lw.save(TRUE, Path(folder) / "arm.urdf")
        text = (Path(folder) / "arm.urdf").read_text()
    spec = mujoco.MjSpec.from_string(
        text.replace("</robot>", '<mujoco><compiler fusestatic="false"/></mujoco></robot>')
    )
    spec.body("gripper").add_site(name="sensor")
    for kind in (mujoco.mjtSensor.mjSENS_FORCE, mujoco.mjtSensor.mjSENS_TORQUE):
        spec.add_sensor(type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE, objname="sensor")
    model = spec.compile()
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    data, states = mujoco.MjData(model), motion(TRUE, 1.0)
    tau, wrench = [], []
    for q, qd, qdd in zip(*states, strict=True):
        data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, qdd
        mujoco.mj_inverse(model, data)
        tau.append(data.qfrc_inverse.copy())
        wrench.append(data.sensordata.copy())
    return tuple(states), np.array(tau), np.array(wrench)


def log(seed: int = 0) -> Log:
    """With noise and offsets."""
    (q, _, _), tau, wrench = experiment()
    q, tau, wrench = (repeated(x, 2) for x in (q, tau, wrench + OFFSET))
    measured_tau = noisy(tau, 0.01 * tau.std(axis=0), seed + 1)
    wrenches = {"gripper": noisy(wrench, SIZES, seed + 2)}
    return Log(GUESS, times(len(q)), noisy(q, 1e-5, seed), tau=measured_tau, wrenches=wrenches)


OFFSETS = {f"gripper.{c}.offset": x for c, x in zip(("fx", "fy", "fz", "mx", "my", "mz"), OFFSET, strict=True)}


def test_rows_are_the_wrenches_of_mujoco() -> None:
    states, tau, wrench = experiment()
    structure = Structure(TRUE, sensors=("gripper",))
    clean = Log(TRUE, times(len(tau)), states[0], tau=tau, wrenches={"gripper": wrench})
    values = measured(structure, clean).values
    state = structure.state(Smoothed(clean, *states, np.ones(7), np.zeros(7), np.zeros((3, 7))))
    rows = structure.columns(state) @ structure.prior
    assert structure.outputs[-6:] == tuple(name.removesuffix(".offset") for name in OFFSETS)
    # MuJoCo keeps principal axes of tensors as quaternions, to about 1e-11
    np.testing.assert_allclose(rows, values, atol=1e-9 * np.abs(values).max())


@pytest.fixture(scope="module")
def fit() -> lw.identification.Fit:
    return lw.identify(GUESS, log(), sensors="gripper")


def test_what_lies_beyond_is_found_with_intervals(fit: lw.identification.Fit) -> None:
    assert np.abs(distances(fit, TRUE, OFFSETS)).max() < 4.5
    assert inside(fit, TRUE, OFFSETS) > 0.85
    assert {f"gripper.{n}" for n in NUMBERS} <= set(fit.base.names)
    assert not fit.undetermined
    gripper = fit.robot.link("gripper")
    assert gripper.mass == pytest.approx(1.2, rel=2e-3)
    assert list(gripper.com) == pytest.approx([0.01, -0.02, 0.06], abs=1e-4)
    assert [j.kind for j in fit.robot.joints if j.child == "gripper"] == ["fixed"]
    assert fit.robot.parameter_names == TRUE.parameter_names


def test_predictions_and_errors_have_the_sensor(fit: lw.identification.Fit) -> None:
    assert fit.drives[-6:] == ("gripper.fx", "gripper.fy", "gripper.fz", "gripper.mx", "gripper.my", "gripper.mz")
    other = log(10)
    assert fit.predict(other).shape == (len(other), 13)
    assert fit.error(other).mean < 0.03  # of which 1 % of the torques and 0.05 N are noise
    assert any(w.drive == "gripper.mz" for w in fit.whiteness)


def test_a_sensor_alone_tells_a_load_without_any_torque() -> None:
    alone = replace(log(), tau=None)
    load = lw.identify(GUESS, alone, sensors=["gripper"], payload="gripper")
    assert load.payload.mass.lower < 0.5 < load.payload.mass.upper
    assert load.payload.mass.value == pytest.approx(0.5, rel=5e-3)
    assert not load.undetermined  # friction of drives that were not measured is not asked for
    assert "not measured: joint1, joint2, joint3, joint4, joint5, joint6, joint7" in load.notes


def test_it_comes_from_a_file(tmp_path: Path) -> None:
    log().save(tmp_path / "log.csv")
    found = lw.identify(GUESS, tmp_path / "log.csv", sensors="gripper", physical=False)
    assert found.base["gripper.m"].value == pytest.approx(1.2, rel=2e-3)


def test_a_sensor_under_the_base_tells_the_arm_without_torques() -> None:
    arm = lw.load("puma560").without_friction()
    standing = lw.Robot([lw.Link("stand")], name="standing").attach(arm, "stand")
    states = motion(standing, 1.0)
    wrench = repeated(lw.compile(standing).wrench_at("base")(*states), 3)
    q, sensed = noisy(repeated(states[0], 3), 1e-5, 0), noisy(wrench, 0.005 * wrench.std(axis=0), 1)
    log = Log(standing, times(len(q)), q, wrenches={"base": sensed})
    found = lw.identify(standing, log, sensors="base", physical=False)
    assert np.abs(distances(found, standing)).max() < 4.5
    assert inside(found, standing) > 0.85
    assert not any(name.endswith(("viscous", "coulomb")) for name in found.base.names)  # no wrench of the base tells it


def test_units_turn_a_sensor_of_the_other_sign() -> None:
    own = log()
    table = {name: -x if name.startswith("wrench.") else x for name, x in own.columns().items()}
    for units in ({"wrench": -1.0}, {"wrench.gripper": -1.0}, {"wrench.gripper": [-1.0] * 6}):
        read = lw.read_log(table, GUESS, units=units)
        np.testing.assert_allclose(read.wrenches["gripper"], own.wrenches["gripper"])


def test_without_noise_all_is_found() -> None:
    (q, _, _), tau, wrench = experiment()
    clean = Log(
        GUESS, times(3 * len(q)), repeated(q, 3), tau=repeated(tau, 3), wrenches={"gripper": repeated(wrench, 3)}
    )
    found = lw.identify(GUESS, clean, sensors="gripper", physical=False, delays=False)
    right = truth(found, TRUE)
    # MuJoCo's principal axes of tensors, 1e-11, times the condition of the equations
    np.testing.assert_allclose(found.base.values, right, atol=1e-8)


def test_sensors_that_cannot_be_are_refused_in_words() -> None:
    with pytest.raises(lw.InputError, match=r"sensor 'link3': expected a link that a fixed joint carries.*gripper"):
        lw.identify(GUESS, log(), sensors="link3")
    with pytest.raises(lw.InputError, match=r"expected each sensor once, got it twice"):
        lw.identify(GUESS, log(), sensors=["gripper", "gripper_mount"])
    with pytest.raises(lw.InputError, match=r"expected columns wrench.gripper.fx to wrench.gripper.mz"):
        lw.identify(GUESS, replace(log(), wrenches={}), sensors="gripper")
