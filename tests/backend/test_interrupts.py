"""Ctrl-C at any instant of a compile: the process lives, and the next call is right."""

import os
import signal
import subprocess
import time

import numpy as np
import pytest

from linkwise.backend import cache, foreign_thread
from support.processes import finish, start

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="timers that send signals are POSIX")

# SIGALRM comes after a number of microseconds and is answered as SIGINT is
INTERRUPTED = """
import gc, random, signal, sys, time
import numpy as np
from support.arms import arm, states
import linkwise as lw
from linkwise.backend import arrays, llvm, native

signal.signal(signal.SIGALRM, signal.default_int_handler)
random.seed(SEED)
assert native.backend() == "llvm"
x = states(arm(2), 5)
hits, k, longest = 0, 0, {}
while hits < COUNT:
    k, parts = k + 1, ((60, 1), (500, 5), (500, 5))[k % 3]  # many, or two
    llvm.CHUNK, llvm.CHUNKS_IN_MODULE = parts
    robot, begin, kernel = arm(2, mass=1.0 + SEED + k / 8192), time.perf_counter(), None
    try:
        if parts in longest:  # the first tells how long it takes
            signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-6, longest[parts]))
        kernel = lw.compile(robot, lw.inverse_dynamics_derivatives)
        kernel(*x)
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        longest.setdefault(parts, time.perf_counter() - begin)
    except KeyboardInterrupt:
        hits += 1
    if kernel is None:
        kernel = lw.compile(robot, lw.inverse_dynamics_derivatives)
    for found, expected in zip(kernel(*x), arrays.function(kernel.program)(*x), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    assert gc.isenabled()
    assert native.backend() == "llvm"
print(hits)
"""


def interrupted(seed, count, seconds, cache="off"):
    code = INTERRUPTED.replace("SEED", str(seed)).replace("COUNT", str(count))
    assert int(finish(start(code, LINKWISE_CACHE=cache), seconds)) == count


def test_the_next_call_is_right_after_an_interrupt_at_any_instant():
    interrupted(0, 40, 300.0)


def test_interrupts_leave_no_half_written_entries(tmp_path):
    folder = tmp_path / "cache"
    interrupted(11, 20, 300.0, str(folder))
    names = [p.stem for p in folder.glob("*.bin")]
    assert len(names) > 20
    assert all(cache._unpack(name, (folder / f"{name}.bin").read_bytes()) for name in names)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 11))
def test_the_next_call_is_right_after_a_thousand_interrupts(seed):
    interrupted(seed, 100, 900.0)


@pytest.mark.slow
def test_many_interrupts_leave_no_half_written_entries(tmp_path):
    interrupted(12, 200, 900.0, str(tmp_path / "cache"))


# in a process that has loaded nothing yet, so that LLVM itself is loaded when the signal comes
FIRST = """
import signal
import numpy as np
from support.arms import arm, states
import linkwise as lw

signal.signal(signal.SIGALRM, signal.default_int_handler)
kernel = lw.compile(arm(3), lw.inverse_dynamics)
x = states(arm(3), 5)
try:
    signal.setitimer(signal.ITIMER_REAL, AFTER)
    kernel(*x)
    signal.setitimer(signal.ITIMER_REAL, 0.0)
except KeyboardInterrupt:
    pass
from linkwise.backend import arrays, native
np.testing.assert_allclose(kernel(*x), arrays.function(kernel.program)(*x), rtol=1e-9)
assert native.backend() == "llvm"
print("done")
"""


@pytest.mark.parametrize("after", [0.002, 0.02, 0.06])
def test_a_first_call_that_is_interrupted(after):
    assert finish(start(FIRST.replace("AFTER", str(after)), LINKWISE_CACHE="off")) == "done\n"


@pytest.mark.slow
def test_many_first_calls_that_are_interrupted():
    for k in range(60):
        assert finish(start(FIRST.replace("AFTER", str(1e-3 * (1 + 3 * k))), LINKWISE_CACHE="off")) == "done\n"


ENDED = """
import sys
import linkwise as lw
from support.arms import arm
kernel = lw.compile(arm(6), lw.forward_dynamics_derivatives)
print("compiling", flush=True)
kernel(*(3 * [[0.1] * 6]))
print("compiled", flush=True)
"""


@pytest.mark.parametrize("after", [0.05, 0.2])
def test_a_process_that_is_interrupted_ends_by_that_interrupt(after):
    """Not by a crash of LLVM while the interpreter ends."""
    process = start(ENDED, LINKWISE_CACHE="off")
    assert process.stdout.readline() == "compiling\n"
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    try:
        printed, error = process.communicate(timeout=60.0)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    assert process.returncode in (1, -signal.SIGINT, 0), error
    # a signal that comes when the interpreter itself is ending, its work done, ends it without a word
    assert "compiled" in printed or error.rstrip().endswith("KeyboardInterrupt")


def test_whoever_waits_is_interrupted_and_no_further_step_begins():
    begun = []

    def step():
        begun.append(len(begun))
        time.sleep(0.3)

    def stop(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt):
            foreign_thread.side_by_side([step] * 50)
    finally:
        signal.signal(signal.SIGALRM, before)
    time.sleep(0.7)
    assert len(begun) <= len(foreign_thread.lanes)
    assert foreign_thread.apart(lambda: 1) == 1


def test_steps_give_their_results_in_order_and_their_errors():
    assert foreign_thread.side_by_side([lambda k=k: k for k in range(20)]) == list(range(20))
    with pytest.raises(ZeroDivisionError):
        foreign_thread.side_by_side([lambda: 1, lambda: 1 / 0, lambda: 2])
    assert foreign_thread.apart(lambda: foreign_thread.apart(lambda: os.getpid())) == os.getpid()  # a step of a step


def test_work_is_done_where_no_thread_is_to_be_had(monkeypatch):
    def none(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(foreign_thread._thread, "start_new_thread", none)
    np.testing.assert_array_equal(foreign_thread.side_by_side([lambda k=k: k for k in range(5)]), range(5))


SMALL = """
import threading
threading.stack_size(64 * 1024)
from support.arms import arm, states
import linkwise as lw
print(lw.compile(arm(5), lw.forward_dynamics_derivatives)(*states(arm(5), 2))[0].shape, threading.stack_size())
"""


def test_stacks_that_the_user_has_chosen_for_threads():
    assert finish(start(SMALL, LINKWISE_CACHE="off")) == "(2, 5, 5) 65536\n"


AT_EXIT = """
import atexit
atexit.register(lambda: print(late(states(arm(3), 5)[0]).shape))  # what is registered first comes last
from support.arms import arm, states
import linkwise as lw
late = lw.compile(arm(3), lw.algorithms.gravity_forces)
lw.compile(arm(3), lw.inverse_dynamics)(*states(arm(3), 5))
"""


def test_a_kernel_that_is_first_called_while_the_interpreter_ends():
    assert finish(start(AT_EXIT, LINKWISE_CACHE="off")) == "(5, 3)\n"
