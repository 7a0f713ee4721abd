"""The sweep of designs of the examples: numbers of robots built one by one, and a killed worker loses nothing."""

import importlib
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import linkwise as lw
from support.processes import PATH

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture(scope="module")
def sweep():
    before = list(sys.path)
    sys.path.insert(0, str(EXAMPLES))
    try:
        yield importlib.import_module("sweep")
    finally:
        sys.path[:] = before


def robot_of(sweep, design):
    """The arm of a design, built as a robot of its own."""
    upper, fore, R1, R2, *gears = design
    arm, edits = lw.load(EXAMPLES / "arm.urdf"), []
    for name, length, radius in (("upper_arm", upper, R1), ("forearm", fore, R2)):
        mass = sweep.DENSITY * 2 * np.pi * radius * sweep.WALL * length
        across = mass * (length**2 / 12 + radius**2 / 2)
        edits.append(lw.Link(name, mass, (length / 2, 0, 0), (mass * radius**2, across, across)))
    for name, gear in zip(("turn", "shoulder", "elbow"), gears, strict=True):
        joint = replace(arm.joint(name), armature=sweep.ROTOR * gear**2)
        edits.append(replace(joint, origin=lw.Pose.of((upper, 0, 0))) if name == "elbow" else joint)
    sensor = arm.joint("sensor")
    edits.append(replace(sensor, origin=lw.Pose(sensor.origin.R, lw.Vec3(fore, 0.0, 0.0))))
    return arm.replace(*edits)


def test_designs_are_robots(sweep):
    """The function with inputs gives the torques of the robot, and the tool is where it is asked to be."""
    x = np.random.default_rng(1).normal(size=(3, 20, 3))
    for design in sweep.designs(4):
        dyn = lw.compile(robot_of(sweep, design))
        expected = dyn.inverse_dynamics(*x)
        found = sweep.torques()(*x, sweep.numbers(design))
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12 * np.abs(expected).max())
        points = sweep.LINES.reshape(-1, 3)
        q = sweep.positions(points, *design[:2])
        reached = np.isfinite(q).all(axis=1)
        np.testing.assert_allclose(dyn.pose(q, "tool")[reached, :3, 3], points[reached], atol=1e-12)


def test_what_is_judged_can_be_done(sweep, monkeypatch):
    """By Linkwise's own timing of the same line, which is never slower than a polynomial of time."""
    design = sweep.designs(3)[2]
    row, robot = sweep.judged(design), robot_of(sweep, design)
    assert row["cycle"] > 0
    line = sweep.LINES[0]
    q = sweep.positions(line[0] + np.linspace(0, 1, 41)[:, None] * (line[1] - line[0]), *design[:2])
    joints = [
        replace(robot.joint(name), limits=lw.Limits(velocity=sweep.SPEED / n, effort=sweep.TORQUE * n))
        for name, n in zip(("turn", "shoulder", "elbow"), design[4:], strict=True)
    ]
    monkeypatch.setattr(sweep, "LINES", sweep.LINES[:1])
    took = sweep.judged(design)["cycle"]
    timed = lw.retime(robot.replace(*joints), q)
    assert 0.5 * took < timed.duration < took


def test_the_best_are_beaten_by_none(sweep):
    table = pd.DataFrame({"mass": [3.0, 1.0, 2.0, 2.0, 4.0], "cycle": [1.0, 5.0, 6.0, 3.0, np.nan]})
    assert sweep.best(table).to_numpy().tolist() == [[1.0, 5.0], [2.0, 3.0], [3.0, 1.0]]


RUN = """
import os, signal, sys, threading, time
sys.path.insert(0, sys.argv[1])
import sweep
from distributed import Client, LocalCluster

def main():
    folder, kill = sys.argv[2], "kill" in sys.argv
    with LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None,
                      local_directory=folder + "-dask") as cluster, Client(cluster) as client:
        def strike():  # once some parts are there, one of the two is ended without a word
            while not any(n.startswith("part") for n in os.listdir(folder)):
                time.sleep(0.01)
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
            print("killed after", sum(n.startswith("part") for n in os.listdir(folder)))
        os.makedirs(folder, exist_ok=True)
        if kill:
            client.run(sweep.torques)
            threading.Thread(target=strike).start()
        print(len(sweep.sweep(client, folder, 480, 16)))

if __name__ == "__main__":
    main()
"""


def run(folder, *arguments):
    script = folder / "run.py"
    script.write_text(RUN)
    command = [sys.executable, str(script), str(EXAMPLES), str(folder / "out"), *arguments]
    environment = {**os.environ, "PYTHONPATH": PATH + os.pathsep + str(EXAMPLES)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="a signal that ends a process at once is of POSIX")
def test_a_killed_worker_loses_nothing(sweep, tmp_path):
    pytest.importorskip("distributed")
    said = run(tmp_path, "kill")
    assert said.endswith("480\n")
    assert int(re.search(r"killed after (\d+)", said)[1]) < 30
    parts = sorted((tmp_path / "out").glob("part-*.parquet"))
    assert len(parts) == 30
    table = pd.concat(map(pd.read_parquet, parts), ignore_index=True)
    pd.testing.assert_frame_equal(table, pd.DataFrame([sweep.judged(d) for d in sweep.designs(480)]))
    pd.testing.assert_frame_equal(table, pd.read_parquet(tmp_path / "out"))  # as a whole, as users read it
    # what is there is not computed again
    times = {p.name: p.stat().st_mtime_ns for p in parts}
    parts[3].unlink()
    assert "29 of them done before" in run(tmp_path)
    again = {p.name: p.stat().st_mtime_ns for p in (tmp_path / "out").glob("part-*.parquet")}
    assert [name for name in times if times[name] != again[name]] == [parts[3].name]
    pd.testing.assert_frame_equal(table, pd.concat(map(pd.read_parquet, parts), ignore_index=True))


def test_a_folder_of_other_designs_is_refused(sweep, tmp_path):
    sweep.claim(tmp_path, {"designs": 10})
    sweep.claim(tmp_path, {"designs": 10})
    with pytest.raises(SystemExit, match="other designs"):
        sweep.claim(tmp_path, {"designs": 20})


def test_a_part_is_whole(sweep, tmp_path, monkeypatch):
    assert sweep.part(str(tmp_path), 7, sweep.designs(3)) == "part-00007.parquet"
    assert [p.name for p in tmp_path.iterdir()] == ["part-00007.parquet"]
    monkeypatch.setattr(os, "replace", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        sweep.part(str(tmp_path), 8, sweep.designs(3))
    assert [p.name for p in tmp_path.glob("part-*")] == ["part-00007.parquet"]


@pytest.mark.parametrize("option", ["--designs", "--workers", "--size"])
def test_nothing_is_refused(sweep, monkeypatch, capsys, option):
    """No workers would be waited for without end."""
    monkeypatch.setattr(sys, "argv", ["sweep.py", "out", option, "0"])
    with pytest.raises(SystemExit):
        sweep.main()
    assert f"{option}: expected at least 1, got 0" in capsys.readouterr().err
