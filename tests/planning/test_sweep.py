"""Families of plans, one after the other and in processes, stopped and resumed."""

import functools
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import linkwise as lw
from linkwise.planning.function_source import content, described
from linkwise.planning.solvers.monitor import Monitor
from papers.two_link_plans import time_and_effort

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
    asked, faults = [], [0.005]

    def watched(u, guess):
        if u in faults:
            faults.remove(u)
            raise RuntimeError("stopped here")
        asked.append(u)
        return time_and_effort(u, guess)

    with pytest.raises(RuntimeError, match="stopped here"):
        lw.sweep(watched, WEIGHTS, folder=tmp_path)
    assert len(list(tmp_path.glob("[0-9]*.npz"))) == 2
    assert asked == [0.0, 0.001]
    plans = lw.sweep(watched, WEIGHTS, folder=tmp_path)
    assert asked == [0.0, 0.001, 0.005, 0.01]
    assert len(plans) == 4
    (tmp_path / sorted(p.name for p in tmp_path.iterdir())[0]).write_bytes(b"half of a file")
    lw.sweep(watched, WEIGHTS, folder=tmp_path)
    assert asked == [0.0, 0.001, 0.005, 0.01, 0.0]


def test_ctrl_c_ends_a_sweep(tmp_path, monkeypatch):
    """Although it makes a plan return its best motion so far, which is not kept as if it were finished."""
    asked = []

    def interrupted(u, guess):
        asked.append(u)
        if asked == [0.0, 0.001]:
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
    assert len(lw.sweep(interrupted, WEIGHTS[:2], folder=tmp_path)) == 2
    assert asked == [0.0, 0.001, 0.001]


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
    dead = pytest.raises(lw.LinkwiseError, match="ended abruptly")
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool, dead:
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
        "import sys, linkwise as lw\nfrom papers.two_link_plans import time_and_effort\n"
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
    left = {p.name: p.stat().st_mtime_ns for p in tmp_path.glob("[0-9]*.npz")}
    assert left
    assert len(lw.sweep(time_and_effort, WEIGHTS, folder=tmp_path)) == 4
    after = {p.name: p.stat().st_mtime_ns for p in tmp_path.glob("[0-9]*.npz")}
    assert len(after) == 4
    assert left.items() <= after.items()  # none of them was solved again


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


# ---- folders of other functions

ARM = lw.load("pr")
DONE = {}  # plans by weight, so that functions which ask for them take no time


def kept(u, guess):
    """A plan that is the same for all functions below."""
    if u not in DONE:
        DONE[u] = time_and_effort(u, None)  # functions below hand over anything as a guess
    return DONE[u]


def made(body, **names):
    """A function of the text `body`, as a user's file has it."""
    import linecache

    text, file = f"def solve(u, guess):\n    {body}\n", f"<made {len(linecache.cache)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = {"kept": kept, "__name__": "made", **names}
    exec(compile(text, file, "exec"), space)
    return space["solve"]


def test_plans_of_another_function_are_refused(tmp_path):
    def other(u, guess):
        return kept(u, guess)

    lw.sweep(kept, [0.01], folder=tmp_path)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(
        lw.InputError, match=r"plans of another: function was kept, now .*other.*Take another folder.*sweep\.json"
    ):
        lw.sweep(other, [0.01], folder=tmp_path)
    assert sorted(tmp_path.iterdir()) == before
    (tmp_path / "sweep.json").unlink()  # as folders were before there was such a file
    assert lw.sweep(other, [0.01], folder=tmp_path)[0].duration == pytest.approx(DONE[0.01].duration)
    assert (tmp_path / "sweep.json").exists()
    with pytest.raises(lw.InputError, match="function was"):
        lw.sweep(kept, [0.01], folder=tmp_path)


@pytest.mark.parametrize(
    ("one", "other", "message"),
    [
        (made("return kept(u, guess)"), made("return kept(u, None)"), "source of solve has changed"),
        (made("return kept(u, a)", a=1), made("return kept(u, a)", a=2), "variable a was 1, now 2"),
        (made("return kept(u, a)", a=[1.0, 2.0]), made("return kept(u, a)", a=[1.0, 3.0]), "variable a was list"),
        (
            made("return kept(u, arm)", arm=ARM),
            made("return kept(u, arm)", arm=ARM.replace(gravity=(0, 0, -1))),
            "variable arm was robot 'pr'",
        ),
        (
            made("return kept(u, arm)", arm=lw.delta()),
            made("return kept(u, arm)", arm=lw.delta(armature=1.0)),
            "variable arm was robot",
        ),
        (
            made("return kept(u, dyn)", dyn=lw.compile(ARM)),
            made("return kept(u, dyn)", dyn=lw.compile(ARM.replace(gravity=(0, 0, -1)))),
            "variable dyn was Dynamics of robot 'pr'|variable dyn has changed",
        ),
        (functools.partial(time_and_effort, solver="scipy"), time_and_effort, "argument solver is gone"),
        (time_and_effort, functools.partial(time_and_effort, control_points=12), "argument control_points is new"),
        (
            made("return kept(u, guess) if helper() else None", helper=lambda: 1),
            made("return kept(u, guess) if helper() else None"),
            "variable helper is gone|source of <lambda> is gone",
        ),
    ],
)
def test_what_is_noticed(tmp_path, one, other, message):
    if "helper" in message:
        one.__globals__["helper"].__module__ = "made"
    lw.sweep(one, [0.01], folder=tmp_path)
    with pytest.raises(lw.InputError, match=message):
        lw.sweep(other, [0.01], folder=tmp_path)


def test_what_is_the_same(tmp_path):
    """Comments, layout, what a function changes itself, and values in another order of a mapping's making."""
    lw.sweep(made("log.append(u); return kept(u, guess)", log=[]), [0.01], folder=tmp_path)
    again = made("log.append(u)  # a remark\n    return kept(u,  guess)", log=[3])
    assert len(lw.sweep(again, [0.01], folder=tmp_path)) == 1
    array, same = np.linspace(0.0, 1.0, 50), np.linspace(0.0, 1.0, 50)
    lw.sweep(made("return kept(u, a)", a=array), [0.01], folder=tmp_path / "b")
    assert len(lw.sweep(made("return kept(u, a)", a=same), [0.01], folder=tmp_path / "b")) == 1


def test_a_folder_without_plans_is_free(tmp_path):
    with pytest.raises(lw.InputError, match="expected a Plan"):
        lw.sweep(lambda u, guess: u, [0.01], folder=tmp_path)
    assert len(lw.sweep(kept, [0.01], folder=tmp_path)) == 1


def test_kinds_of_functions(tmp_path):
    """Objects, methods, built-in functions and functions without a source are all known by something."""

    class Study:
        weight = 2.0

        def __call__(self, u, guess):
            return u

        def solve(self, u, guess):
            return u

    space = {}
    exec("def unknown(u, guess): return (lambda: 3.5)()", space)
    assert "3.5" in described(content(space["unknown"]))
    assert content(Study())["function"].endswith("Study.__call__")
    assert content(Study().solve)["function"].endswith("Study.solve")
    assert content(max) == {"function": "max"}
    assert "u + 1" in content(lambda u, guess: u + 1)["source of <lambda>"]
    assert described({"a": (1, {2}, Path("x"), lw.Limits(0.0, 1.0))}).startswith("dict('a': tuple(1, set(2), 'x', Lim")


# ---- what processes cannot be sent


def test_functions_that_processes_do_not_know():
    with (
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool,
        pytest.raises(lw.InputError, match=r"sweep solve: expected what can be sent to other processes, got <function"),
    ):
        lw.sweep(lambda u, guess: time_and_effort(u, guess), [0.01], executor=pool)
    with (
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool,
        pytest.raises(lw.InputError, match=r"sweep values: expected .* Write lambdas"),
    ):
        lw.sweep(time_and_effort, [lambda: 1], executor=pool)


def returns_a_lambda(u, guess):
    return lambda: u


def test_results_that_processes_cannot_send():
    with (
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool,
        pytest.raises(lw.InputError, match="sweep: expected results that can be sent between processes"),
    ):
        lw.sweep(returns_a_lambda, [0.01], executor=pool)


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
