"""Logs of real robots, where they are at hand: a Panda on an exciting motion, and a TX40 at 5 kHz."""

import numpy as np
import pytest
import yaml

import linkwise as lw
from linkwise.motion import low_pass, read_log, smooth
from support.examples import ROBOTS
from support.measurements import DATA, needs_data

pytestmark = pytest.mark.slow


def rms(x):
    return np.sqrt(np.mean(x**2, axis=0))


@needs_data
def test_panda():
    """A logger that polled a clock of 1 kHz: states repeat and are missing, which the measured velocities tell."""
    robot = lw.load(str(ROBOTS / "panda_description" / "urdf" / "panda.urdf"))
    robot = robot.lock([name for name in robot.names if "finger" in name])
    files = {"t": "time", "q": "positions", "qd": "velocity", "tau": "torques"}
    log = read_log({key: DATA / "panda" / f"exciting_traj_{name}.txt" for key, name in files.items()}, robot)
    assert log.rate == pytest.approx(1000.0, rel=1e-3)
    assert any("a state that had been recorded already" in note for note in log.notes)
    assert 0.003 < log.delays["qd"] < 0.008
    found = smooth(log)
    assert np.all(found.noise < 1e-5)  # as the stamps say it is 50 to 200 times as much
    assert np.all(found.sd[2] < 0.01 * rms(found.qdd))
    measured = low_pass(log.qd, log.rate, 5.0, log.runs)[np.searchsorted(log.t, found.log.t)]
    mine = low_pass(found.qd, log.rate, 5.0, found.log.runs)
    inner = slice(1000, -1000)
    assert np.all(rms((measured - mine)[inner]) < 0.005 * rms(mine[inner]))


@needs_data
def test_tx40():
    """Positions of motors and currents without times; ratios and the coupled wrist are a matrix."""
    robot = lw.load(str(DATA / "tx40" / "tx40_mdh_modified.urdf"))
    given = yaml.safe_load((DATA / "tx40" / "TX40_config.yaml").read_text())["identification"]
    ratios, ts = np.array(given["robot_params"][0]["reduction_ratio"]), given["processing_params"][0]["ts"]
    joints = np.diag(1.0 / ratios)
    joints[5, 4] = -1.0 / ratios[5]
    files = {"q": DATA / "tx40" / "pos_read_data.csv", "current": DATA / "tx40" / "curr_data.csv"}
    log = read_log(files, robot, rate=1.0 / ts, units={"q": joints}, gains=np.abs(ratios))
    raw = np.genfromtxt(files["q"], delimiter=",", skip_header=1)
    np.testing.assert_allclose(log.q, raw @ joints.T, rtol=1e-12, atol=1e-12)
    assert log.rate == pytest.approx(5000.0)
    found = smooth(log)
    assert np.all((found.cutoff > 10.0) & (found.cutoff < 300.0))
    assert np.all(found.noise < 2e-4)
    assert np.all(found.sd[2] < 0.3 * rms(found.qdd))
