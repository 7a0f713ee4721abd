"""Measured robots: a Panda's torques are predicted, a TX40's friction and rotors are those that were published."""

import sysconfig
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import linkwise as lw
from linkwise.motion import Log

DATA = Path(__file__).parents[3] / "shared" / "data"
ROBOTS = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/share/example-robot-data/robots"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (DATA / "panda").exists(), reason="the measurements are not in ../shared/data"),
]


def test_held_out_torques_of_a_panda() -> None:
    robot = lw.load(ROBOTS / "panda_description/urdf/panda.urdf")
    arm = robot.lock([name for name in robot.names if "finger" in name])
    files = {"t": "time", "q": "positions", "qd": "velocity", "tau": "torques"}
    log = lw.read_log({k: DATA / "panda" / f"exciting_traj_{name}.txt" for k, name in files.items()}, arm)
    fit = lw.identify(arm, log.part(0, 2 / 3))
    held_out = fit.error(log.part(2 / 3, 1))
    assert held_out.mean < 0.08  # 0.117 by the model published with the log: see benchmarks/identification.py
    urdf = replace(fit, parameters=replace(fit.parameters, values=fit.structure.prior)).error(log.part(2 / 3, 1))
    assert held_out.mean < 0.3 * urdf.mean
    assert set(fit.structure.presliding) >= {f"panda_joint{k}" for k in (1, 2, 3, 4, 5, 7)}
    assert lw.identify(arm, log.part(0, 2 / 3), physical=False).error(log.part(2 / 3, 1)).mean < 0.08


PUBLISHED = {  # viscous, Coulomb, rotor by joint; those of the coupled motor last
    "joint_1": (8.05, 7.14, None), "joint_2": (5.53, 8.26, None), "joint_3": (1.97, 6.34, 0.0988),
    "joint_4": (1.11, 2.48, 0.0313), "joint_5": (1.86, 3.03, 0.0468), "joint_6": (0.65, 0.282, 0.0105),
    "joint_5+joint_6": (0.616, 1.95, 0.00964),
}  # fmt: skip


def tx40() -> Log:
    robot = lw.load(DATA / "tx40" / "tx40_mdh_modified.urdf")
    gears = np.diag([32.0, 32.0, 45.0, -48.0, 45.0, 32.0])
    gears[5, 4] = gears[5, 5]
    motors, currents = (
        np.loadtxt(DATA / "tx40" / f"{name}.csv", delimiter=",", skiprows=1) for name in ("pos_read_data", "curr_data")
    )
    q = motors @ np.linalg.inv(gears).T + [0.0, -np.pi / 2, np.pi / 2, 0.0, 0.0, 0.0]
    return Log(robot, np.arange(len(q)) / 5000.0, q, tau=currents @ gears)


@pytest.mark.parametrize("options", [{"friction": "viscous coulomb", "estimator": "weighted"}, {}])
def test_friction_and_rotors_of_a_tx40_with_its_coupled_wrist(options: dict[str, str]) -> None:
    log = tx40()
    fit = lw.identify(log.robot, log, coupled=[("joint_5", "joint_6")], physical=False, **options)
    base = {x.name: x.value for x in fit.base}
    for name, values in PUBLISHED.items():
        for what, published in zip(("viscous", "coulomb", "rotor"), values, strict=True):
            if published is None:  # grouped with inertias of links
                continue
            # published with the coupled motor's
            shared = base[f"joint_5+joint_6.{what}"] if name in ("joint_5", "joint_6") and what != "coulomb" else 0.0
            assert base[f"{name}.{what}"] + shared == pytest.approx(published, rel=0.10), (name, what)
