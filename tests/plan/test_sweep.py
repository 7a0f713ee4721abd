"""Families of plans, one after the other and in processes, stopped and resumed."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest

import linkwise as lw
from linkwise.plan.examples import time_and_effort

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
    assert len(list(tmp_path.glob("*.npz"))) == 2
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


def test_threads_and_processes_agree(tmp_path):
    alone = lw.sweep(time_and_effort, WEIGHTS)
    with ThreadPoolExecutor(2) as pool:
        threads = lw.sweep(time_and_effort, WEIGHTS, executor=pool)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        processes = lw.sweep(time_and_effort, WEIGHTS, executor=pool, folder=tmp_path)
    for plans in (threads, processes):
        for one, other in zip(alone, plans, strict=True):
            assert one.objective == pytest.approx(other.objective, abs=1e-6)
    with ThreadPoolExecutor(1) as pool, pytest.raises(RuntimeError, match="stopped here"):
        lw.sweep(fails, WEIGHTS, executor=pool)


def test_mistakes():
    with pytest.raises(lw.InputError, match="expected values"):
        lw.sweep(time_and_effort, [])
    with pytest.raises(lw.InputError, match="expected a function"):
        lw.sweep("time", [1.0])
    with pytest.raises(lw.InputError, match="expected a Plan"):
        lw.sweep(lambda value, guess: value, [1.0])
