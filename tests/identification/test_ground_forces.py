"""A floating robot on force plates: its six rows that nothing drives tell masses without any torque, by Pinocchio."""

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
from support.experiments import distances, inside, motion, noisy, repeated, times, truth, waves


def leg(side: str, y: float) -> str:
    return f"""
<joint name="{side}_hip" type="continuous"><parent link="trunk"/><child link="{side}_thigh"/>
  <origin xyz="0 {y} 0"/><axis xyz="1 0 0"/></joint>
<link name="{side}_thigh"><inertial><origin xyz="0.01 0.02 -0.2"/><mass value="3"/>
  <inertia ixx="0.05" iyy="0.06" izz="0.02" ixy="0.001" ixz="0.002" iyz="0.003"/></inertial></link>
<joint name="{side}_knee" type="continuous"><parent link="{side}_thigh"/><child link="{side}_shin"/>
  <origin xyz="0 0 -0.4"/><axis xyz="0 1 0"/></joint>
<link name="{side}_shin"><inertial><origin xyz="0 0.01 -0.2"/><mass value="2"/>
  <inertia ixx="0.03" iyy="0.035" izz="0.01" ixy="0" ixz="0.001" iyz="0"/></inertial></link>
<joint name="{side}_sole" type="fixed"><parent link="{side}_shin"/><child link="{side}_foot"/>
  <origin xyz="0 0 -0.4"/></joint><link name="{side}_foot"/>"""


URDF = f"""<robot name="walker"><link name="trunk"><inertial><origin xyz="0.02 0.01 0.05"/><mass value="12"/>
<inertia ixx="0.3" iyy="0.4" izz="0.25" ixy="0.01" ixz="0.02" iyz="-0.01"/></inertial></link>
{leg("left", 0.1)}{leg("right", -0.1)}</robot>"""
FEET = ("left_foot", "right_foot")


@cache
def walker(factor: float = 1.0) -> lw.Robot:
    """The robot, perhaps heavier than it is."""
    with TemporaryDirectory() as folder:
        (Path(folder) / "walker.urdf").write_text(URDF)
        robot = lw.load(Path(folder) / "walker.urdf", base="floating")
    return robot.with_parameters(factor * robot.parameters())


@cache
def experiment() -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Positions, torques, and wrenches on both feet that cause this motion while nothing drives the trunk."""
    robot = walker()
    width = np.array([*[0.3] * 3, *[0.8] * 3, *[1.0] * 4])
    states = motion(robot, width)
    model = pin.buildModelFromXML(URDF, pin.JointModelFreeFlyer())
    # an endless joint is a cosine and a sine there
    data, feet = model.createData(), [model.getFrameId(name) for name in FEET]
    left = waves(6, 5) * [40.0, 40.0, 40.0, 3.0, 3.0, 3.0] + [0.0, 0.0, 80.0, 0.0, 0.0, 0.0]
    right, tau = np.empty_like(left), np.empty((len(left), 10))
    for k, (q, qd, qdd) in enumerate(zip(*states, strict=True)):
        turns = np.stack([np.cos(q[7:]), np.sin(q[7:])], axis=1).ravel()
        whole = np.concatenate([q[:7], turns])
        force = pin.rnea(model, data, whole, qd, qdd)
        pin.computeJointJacobians(model, data, whole)
        pin.updateFramePlacements(model, data)
        J = [pin.getFrameJacobian(model, data, foot, pin.LOCAL) for foot in feet]
        force = force - J[0].T @ left[k]
        right[k] = np.linalg.solve(J[1][:, :6].T, force[:6])
        tau[k] = force - J[1].T @ right[k]
    return states[0], tau, dict(zip(FEET, (left, right), strict=True))


def log(late: int = 0, noise: float = 1.0, periods: int = 3) -> Log:
    """Without torques; plates may be late by some rows."""
    q, _, pushes = experiment()
    q = repeated(q, periods)
    wrenches = {}
    for k, (foot, w) in enumerate(pushes.items()):
        wrenches[foot] = noisy(repeated(np.roll(w, late, axis=0), periods), noise * 0.005 * w.std(axis=0), k + 1)
    return Log(walker(1.2), times(len(q)), noisy(q, noise * 2e-5, 0), wrenches=wrenches)


@pytest.fixture(scope="module")
def fit() -> Fit:
    return lw.identify(walker(1.2), log())


def test_plates_and_positions_tell_masses(fit: Fit) -> None:
    assert fit.training.drives == tuple(f"root_joint.{c}" for c in ("fx", "fy", "fz", "mx", "my", "mz"))
    assert np.abs(distances(fit, walker())).max() < 4.5
    assert inside(fit, walker()) > 0.85
    assert sum(link.mass for link in fit.robot.links) == pytest.approx(22.0, rel=1e-3)
    assert not fit.undetermined
    assert "not measured: left_hip, left_knee, right_hip, right_knee" in fit.notes


def test_without_noise_all_groups_are_found() -> None:
    found = lw.identify(walker(1.2), log(noise=0.0), physical=False)
    right = truth(found, walker())
    # what spectra leave of the exact rates: 1e-9 of the torques
    np.testing.assert_allclose(found.base.values, right, atol=1e-8 * np.abs(right).max())
    assert found.delay["root_joint.fx"].value == pytest.approx(0.0, abs=1e-8)


def test_plates_that_are_late_are_brought_forward() -> None:
    found = lw.identify(walker(1.2), log(late=2), physical=False)
    assert found.delay["root_joint.fz"].value == pytest.approx(0.008, abs=5e-4)
    assert np.abs(distances(found, walker())).max() < 4.5


def test_delays_by_drive_leave_plates_alone() -> None:
    found = lw.identify(walker(1.2), log(), delays="drive", physical=False)
    assert not found.delay.determined.any()
    assert np.abs(distances(found, walker())).max() < 4.5


def test_torques_of_joints_are_further_rows() -> None:
    tau = repeated(experiment()[1], 3)
    tau[:, :6] = np.nan
    both = lw.identify(walker(1.2), replace(log(), tau=noisy(tau, 0.1, 9)), physical=False)
    assert len(both.training.drives) == 10
    assert np.abs(distances(both, walker())).max() < 4.5
    assert abs(both.base["left_knee.viscous"].value) < 0.05


def test_plates_measure_in_the_world() -> None:
    own = log(noise=0.0)
    at, world = np.array([0.3, -0.2, 0.1]), replace(own, wrenches={})
    for foot, wrench in own.wrenches.items():
        T = lw.compile(own.robot).pose(own.q, foot)
        force, moment = (np.einsum("tij,tj->ti", T[:, :3, :3], x) for x in (wrench[:, :3], wrench[:, 3:]))
        about = moment + np.cross(T[:, :3, 3] - at, force)
        world = world.with_plate(foot, np.concatenate([force, about], axis=1), at)
    for foot, wrench in own.wrenches.items():
        np.testing.assert_allclose(world.wrenches[foot], wrench, atol=1e-12 * np.abs(wrench).max())
    with pytest.raises(lw.InputError, match="with_plate: expected a wrench"):
        own.with_plate("left_foot", np.zeros(6))


def test_it_comes_from_a_file(tmp_path: Path) -> None:
    log().save(tmp_path / "walk.csv")
    found = lw.identify(walker(1.2), tmp_path / "walk.csv", physical=False)
    assert found.base.values[0] == pytest.approx(22.0, rel=1e-3)
