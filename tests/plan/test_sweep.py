"""Families of plans, one after the other and in processes, stopped and resumed."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

import linkwise as lw
from linkwise.plan.examples import time_and_effort
from linkwise.plan.solvers.monitor import Monitor

WEIGHTS = [0.0, 0.001, 0.005, 0.01]


def fails(u, guess):
    if u == 0.005:
        raise RuntimeError("stopped here")
    return time_and_effort(u, guess)


def test_warm_starts_one_after_the_other():
    plans = lw.sweep(time_and_effort, WEIGHTS)
    assert [round(p.duration, 3) for p in plans] == pytest.approx([0.519, 0.522, 0.566, 0.646], abs=1.5e-3)
    efforts = [sum(v for k, v in p.terms.items() if k != "time") for p in plans]
    assert efforts == sorted(efforts, reverse=True)  # a front: what one term loses, the other gains


def test_resumed_after_a_failure(tmp_path):
    with pytest.raises(RuntimeError, match="stopped here"):
        lw.sweep(fails, WEIGHTS, folder=tmp_path)
    assert len(list(tmp_path.glob("[0-9]*.npz"))) == 2
    asked = []

    def watched(u, guess):
        asked.append(u)
        return time_and_effort(u, guess)

    plans = lw.sweep(watched, WEIGHTS, folder=tmp_path)
    assert asked == [0.005, 0.01]
    assert len(plans) == 4
    (tmp_path / sorted(p.name for p in tmp_path.iterdir())[0]).write_bytes(b"half of a file")
    lw.sweep(watched, WEIGHTS, folder=tmp_path)
    assert asked == [0.005, 0.01, 0.0]


def test_ctrl_c_ends_a_sweep(tmp_path, monkeypatch):
    """Although it makes a plan return its best motion so far, which is not kept as if it were finished."""
    asked = []

    def interrupted(u, guess):
        asked.append(u)
        if u == 0.001:
            patch.setattr(Monitor, "gradient", pressed)
        return time_and_effort(u, guess)

    gradient = Monitor.gradient

    def pressed(self, x):
        signal.raise_signal(signal.SIGINT)
        return gradient(self, x)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        lw.sweep(interrupted, WEIGHTS, folder=tmp_path)
    assert asked == [0.0, 0.001]
    assert len(list(tmp_path.glob("[0-9]*.npz"))) == 1
    assert len(lw.sweep(time_and_effort, WEIGHTS[:2], folder=tmp_path)) == 2


def test_threads_and_processes_agree(tmp_path):
    alone = lw.sweep(time_and_effort, WEIGHTS[1:])
    with ThreadPoolExecutor(2) as pool:
        threads = lw.sweep(time_and_effort, WEIGHTS[1:], executor=pool)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        processes = lw.sweep(time_and_effort, WEIGHTS[1:], executor=pool, folder=tmp_path)
    for plans in (threads, processes):
        for one, other in zip(alone, plans, strict=True):
            assert one.objective == pytest.approx(other.objective, abs=1e-6)
    with ThreadPoolExecutor(1) as pool, pytest.raises(RuntimeError, match="stopped here"):
        lw.sweep(fails, WEIGHTS, executor=pool)


def kills_itself_once(u, guess):
    """A worker that dies in the middle of a plan, as one that is out of memory does."""
    mark = Path(os.environ["LINKWISE_TEST_MARK"])
    if u == 0.01 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return time_and_effort(u, guess)


def test_resumed_after_a_kill(tmp_path, monkeypatch):
    """What the other processes finished is there when the sweep is called again."""
    monkeypatch.setenv("LINKWISE_TEST_MARK", str(tmp_path / "mark"))
    values, folder = [0.001, 0.005, 0.01], tmp_path / "plans"
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool, pytest.raises(BrokenExecutor):
        lw.sweep(kills_itself_once, values, executor=pool, folder=folder)
    before = {p.name: p.stat().st_mtime_ns for p in folder.glob("[0-9]*.npz")}
    assert 1 <= len(before) < 3
    plans = lw.sweep(kills_itself_once, values, folder=folder)
    assert [round(p.duration, 3) for p in plans] == pytest.approx([0.522, 0.566, 0.646], abs=1.5e-3)
    after = {p.name: p.stat().st_mtime_ns for p in folder.glob("[0-9]*.npz")}
    assert len(after) == 3
    assert before.items() <= after.items()  # finished ones were not solved again


def test_the_sweep_itself_killed(tmp_path):
    """A process that sweeps, killed from outside: the next one goes on from what it left."""
    code = (
        "import sys, linkwise as lw\nfrom linkwise.plan.examples import time_and_effort\n"
        "lw.sweep(time_and_effort, [0.0, 0.001, 0.005, 0.01], folder=sys.argv[1])"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)])
    try:
        deadline = time.monotonic() + 60.0
        while not list(tmp_path.glob("[0-9]*.npz")) and time.monotonic() < deadline:
            time.sleep(0.002)
    finally:
        process.kill()
        process.wait()
    left = sorted(p.name for p in tmp_path.glob("[0-9]*.npz"))
    assert left
    asked = []

    def watched(u, guess):
        asked.append(u)
        return time_and_effort(u, guess)

    assert len(lw.sweep(watched, WEIGHTS, folder=tmp_path)) == 4
    assert len(asked) == 4 - len(left)


@pytest.mark.slow  # a cluster takes seconds to come up
def test_a_cluster_of_dask(tmp_path, monkeypatch):
    """Through the executor of a local cluster of processes, one of which is killed on the way."""
    import distributed

    monkeypatch.setenv("LINKWISE_TEST_MARK", str(tmp_path / "mark"))
    alone = lw.sweep(time_and_effort, WEIGHTS)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, local_directory=str(tmp_path)
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        plans = lw.sweep(kills_itself_once, WEIGHTS, executor=client.get_executor(), folder=tmp_path / "plans")
    assert (tmp_path / "mark").exists()
    for one, other in zip(alone, plans, strict=True):
        assert other.duration == pytest.approx(one.duration, abs=1e-4)
    assert len(list((tmp_path / "plans").glob("*.npz"))) == 4


def test_mistakes():
    with pytest.raises(lw.InputError, match="expected values"):
        lw.sweep(time_and_effort, [])
    with pytest.raises(lw.InputError, match="expected values, got 3"):
        lw.sweep(time_and_effort, 3)
    with pytest.raises(lw.InputError, match=r"concurrent\.futures\.Executor"):
        lw.sweep(time_and_effort, [1.0], executor=4)
    with pytest.raises(lw.InputError, match="expected a function"):
        lw.sweep("time", [1.0])
    with pytest.raises(lw.InputError, match="expected a Plan"):
        lw.sweep(lambda value, guess: value, [1.0])
