"""One table of samples: the same columns in every form of file, in frames and in mappings."""

import numpy as np
import pandas
import pytest

import linkwise as lw
from linkwise.motion import columns_of, read
from linkwise.motion.torques import torques_along
from linkwise.table import SUFFIXES, Sampled, write
from linkwise.table import read as read_table

T = np.linspace(0.0, 1.0, 9)
RR = lw.load("rr")
COLUMNS = {"t": T, "q.joint1": np.sin(T), "q.joint2": T**2, "note": np.full(9, np.nan)}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_columns_come_back(tmp_path, suffix):
    wrench = {f"wrench.link2.{c}": k * T for k, c in enumerate(("fx", "fy", "fz", "mx", "my", "mz"))}
    write(tmp_path / f"a{suffix}", COLUMNS | wrench, {"origin": "here"})
    found = read_table(tmp_path / f"a{suffix}")
    assert list(found.columns) == list(COLUMNS | wrench)
    for name, column in (COLUMNS | wrench).items():
        np.testing.assert_array_equal(found.columns[name], column)
    assert dict(found.facts) == ({} if suffix == ".csv" else {"origin": "here"})
    motion = read(tmp_path / f"a{suffix}", RR, ignore_extra=True)
    np.testing.assert_array_equal(motion.q[:, 1], T**2)


def test_frames_and_mappings_are_tables():
    frame = pandas.DataFrame(COLUMNS)
    for source in (frame, frame.set_index("t"), COLUMNS):
        motion = read(source, RR, ignore_extra=True)
        np.testing.assert_array_equal(motion.t, T)
        np.testing.assert_array_equal(motion.q[:, 0], np.sin(T))
    with pytest.raises(lw.InputError, match="data frame: unknown column 'note'"):
        read(frame, RR)
    with pytest.raises(lw.InputError, match=r"data frame, q\[0\]: column 'q.joint1': expected a number"):
        read(frame.assign(**{"q.joint1": "x", "note": 0.0}), RR, ignore_extra=True)
    twice = pandas.DataFrame(np.zeros((9, 3)), columns=["t", "q.joint1", "q.joint1"])
    with pytest.raises(lw.InputError, match=r"expected each column once, got 'q.joint1' twice"):
        read(twice, RR)
    with pytest.raises(lw.InputError, match="as many rows each, got t 9, q 3"):
        read({"t": T, "q.joint1": T[:3], "q.joint2": T[:3]}, RR)
    for wrong in (3, None, ["t"]):
        with pytest.raises(lw.InputError, match="expected a file name"):
            read(wrong, RR)


@pytest.mark.parametrize("text", ["t", "x" * 9, 3.0])
def test_columns_that_are_no_columns(text):
    with pytest.raises(lw.InputError):
        read({"t": T, "q.joint1": text, "q.joint2": T}, RR)


def results():
    """Something of each kind of result."""
    run = lw.simulate(RR, [0.1, 0.2], None, 0.05)
    limits = [lw.limit.joints(velocity=2.0, acceleration=9.0)]
    plan = lw.plan(RR, [0.0, -2.0], [0.3, -1.8], subject_to=limits, control_points=8, solver="uno", progress=False)
    retimed = lw.retime(RR, [[0.0, 0.0], [0.5, 0.4], [1.0, 0.5]], velocity=1.0, acceleration=5.0)
    return [run, plan, retimed, torques_along(RR, read(run.columns(), RR))]


def test_every_result_is_a_table(tmp_path):
    for k, result in enumerate(results()):
        assert isinstance(result, Sampled)
        columns = result.columns()
        frame = result.to_dataframe()
        assert list(frame) == [n for n in columns if n != "t"]
        np.testing.assert_array_equal(result["tau.joint2"], columns["tau.joint2"])
        with pytest.raises(lw.UnknownNameError, match=r"unknown column 'tau\.elbow'"):
            result["tau.elbow"]
        for suffix in SUFFIXES:
            result.save(tmp_path / f"{k}{suffix}")
            if isinstance(result, lw.planning.Plan) and suffix == ".npz":
                continue  # has the curve itself
            motion = read(tmp_path / f"{k}{suffix}", RR)
            np.testing.assert_array_equal(motion.q[:, 1], columns["q.joint2"])
        motion = read(frame, RR)
        np.testing.assert_array_equal(motion.qdd[:, 0], columns["qdd.joint1"])
        assert set(columns_of(RR, motion)) <= set(columns)


def test_archives_of_the_last_release_are_read(tmp_path):
    """Arrays with `names` instead of `columns`, and results beside the motion."""
    run = lw.simulate(RR, [0.1, 0.2], None, 0.05)
    run.save(tmp_path / "new.npz")
    with np.load(tmp_path / "new.npz") as archive:
        arrays = {key: archive[key] for key in archive if key != "columns"}
    np.savez(tmp_path / "old.npz", names=list(RR.names), links=["link1"], **arrays)
    np.testing.assert_array_equal(read(tmp_path / "old.npz", RR).q, run.q)
    np.testing.assert_array_equal(lw.simulation.Simulation.load(tmp_path / "old.npz").tau, run.tau)


def test_archives_that_contradict_themselves(tmp_path):
    for columns, message in (
        (["t", "q.joint1"], r"array 'q': expected the shape \(rows, 1\), got \(9, 2\)"),
        (["t", "q.joint1", "q.joint1"], "each column once, got 'q.joint1' twice"),
        (["t", "q.joint1", "q.joint2", "qd.joint1"], "expected an array 'qd', of which columns are listed"),
    ):
        np.savez(tmp_path / "a.npz", t=T, q=np.zeros((9, 2)), columns=columns)
        with pytest.raises(lw.InputError, match=message):
            read(tmp_path / "a.npz", RR)
