"""A fork at any instant of a compile in another thread: the child compiles, and answers."""

import gc
import os
import signal
import sys
import threading
import warnings

import pytest

import linkwise as lw
from linkwise.backend import foreign_thread
from linkwise.graph import program as graph_program
from linkwise.locks import ForkSafeLock
from support.arms import arm
from support.processes import finish, start

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")

# a thread compiles one kernel after the other, tracing included; children compile another, at first by the same methods
FORKED = """
import gc, os, random, signal, sys, threading, time, warnings
import numpy as np
from support.arms import arm, states
import linkwise as lw

warnings.simplefilter("ignore", DeprecationWarning)  # of forking a process with threads
random.seed(SEED)
x = states(arm(3), 5)
expected = lw.compile(arm(3)).inverse_dynamics(*x) if SEED % 2 else None  # else LLVM is not even loaded
ended, made = False, 0

def work():
    global made
    while not ended:
        kernels = lw.compile(arm(5, mass=1.0 + made / 64))
        kernels.forward_dynamics_derivatives(*states(arm(5), 3))
        kernels.inverse_dynamics(*states(arm(5), 3))
        made += 1

thread = threading.Thread(target=work)
thread.start()
hung = wrong = 0
for k in range(COUNT):
    time.sleep(random.uniform(0.0, 0.15))
    pid = os.fork()
    if pid == 0:
        signal.alarm(30)  # ends a child that hangs
        try:
            q, qd, qdd = x
            kernels = lw.compile(arm(3, mass=1.0 + k / 512))
            tau = kernels.inverse_dynamics(q, qd, qdd)
            back = kernels.forward_dynamics(q, qd, tau)
            derivatives = kernels.forward_dynamics_derivatives(q, qd, tau)
            good = gc.isenabled() and np.allclose(back, qdd, rtol=1e-7, atol=1e-7)
            if expected is not None and k == 0:
                good = good and np.array_equal(tau, expected)
            os._exit(0 if good else 1)
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
        os._exit(2)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    hung += code == -signal.SIGALRM
    wrong += code not in (0, -signal.SIGALRM)
ended = True
thread.join()
print(hung, wrong)
"""


def forked(seed, count, seconds):
    return finish(start(FORKED.replace("SEED", str(seed)).replace("COUNT", str(count)), LINKWISE_CACHE="off"), seconds)


@pytest.mark.parametrize(("seed", "count"), [(0, 3), (1, 8)])
def test_children_forked_while_a_thread_compiles(seed, count):
    assert forked(seed, count, 600.0) == "0 0\n"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
def test_two_hundred_children_forked_while_a_thread_compiles(seed):
    assert forked(seed, 20, 900.0) == "0 0\n"


POOL = """
import multiprocessing, threading, warnings
import numpy as np
from support.arms import arm, states
import linkwise as lw

warnings.simplefilter("ignore", DeprecationWarning)

def torque(mass):
    return lw.compile(arm(3, mass=mass)).inverse_dynamics(*states(arm(3), 2))

if __name__ == "__main__":
    thread = threading.Thread(target=lambda: lw.compile(arm(6)).forward_dynamics_derivatives(*states(arm(6), 3)))
    thread.start()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map_async(torque, [1.0, 2.0, 3.0, 4.0]).get(60)
    thread.join()
    for mass, tau in zip([1.0, 2.0, 3.0, 4.0], found, strict=True):
        np.testing.assert_array_equal(tau, torque(mass))
    print("done")
"""


def test_a_pool_of_processes_that_is_started_while_a_thread_compiles():
    assert finish(start(POOL, LINKWISE_CACHE="off"), 120.0) == "done\n"


def child(action):
    """What a forked child's exit code is: 0 where the action is true."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking a process with threads
        pid = os.fork()
    if pid == 0:
        code = 2
        signal.alarm(30)
        try:
            code = 0 if action() else 1
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def traced_while(action):
    """What an action gives while another thread traces."""
    inside, go_on = threading.Event(), threading.Event()

    def algorithm(x):
        inside.set()
        assert go_on.wait(60)
        return ([x[0] + 1.0],)

    port = graph_program.Port
    thread = threading.Thread(
        target=graph_program.trace, args=("slow", algorithm, [port("x", (1,))], [port("y", (1,))])
    )
    thread.start()
    try:
        assert inside.wait(60)
        return action()
    finally:
        go_on.set()
        thread.join()


def test_the_garbage_collector_works_in_a_child_that_was_forked_while_a_thread_traced():
    assert gc.isenabled()
    assert traced_while(lambda: child(gc.isenabled)) == 0
    assert gc.isenabled()


def trace_one():
    port = graph_program.Port
    return graph_program.trace("one", lambda x: ([x[0] + 1.0],), [port("x", (1,))], [port("y", (1,))])


def test_the_garbage_collector_works_after_traces_that_overlap():
    """The second begins while the first has switched it off, and ends after it."""
    order = []

    def inner(x):
        order.append(gc.isenabled())
        trace_one()  # nested
        order.append(gc.isenabled())
        return ([x[0]],)

    port = graph_program.Port
    graph_program.trace("outer", inner, [port("x", (1,))], [port("y", (1,))])
    assert order == [False, False]
    assert gc.isenabled()
    for _ in range(20):
        threads = [threading.Thread(target=lambda: [trace_one() for _ in range(50)]) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert gc.isenabled()


def test_a_collector_that_the_user_switched_off_stays_off():
    gc.disable()
    try:
        trace_one()
        assert not gc.isenabled()
        assert traced_while(lambda: child(lambda: not gc.isenabled())) == 0
    finally:
        gc.enable()


def test_a_lock_held_by_another_thread_is_open_in_a_child():
    lock, held, go_on = ForkSafeLock(), threading.Event(), threading.Event()

    def hold():
        with lock:
            held.set()
            go_on.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(60)
    assert child(lambda: lock.acquire(timeout=5.0)) == 0
    assert not lock.acquire(blocking=False)
    go_on.set()
    thread.join()


TORN = """
import os, signal, sys, threading, time, warnings
from linkwise.backend import foreign_thread

warnings.simplefilter("ignore", DeprecationWarning)
sys.unraisablehook = lambda _: None  # Python tells of the interrupt, and goes on to fork
begun = threading.Event()
thread = threading.Thread(target=foreign_thread.apart, args=(lambda: (begun.set(), time.sleep(1.5)),))
thread.start()
begun.wait()
signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, 0.2)
pid = os.fork()
if pid == 0:
    try:
        foreign_thread.apart(lambda: 1)
    except Exception as error:
        print(f"{type(error).__name__}: {error}", flush=True)
    os._exit(0)
os.waitpid(pid, 0)
thread.join()
print(foreign_thread.apart(lambda: "and the parent works"))
"""


def test_a_child_whose_fork_could_not_wait_says_at_once_what_to_do():
    """Ctrl-C while a fork waits for LLVM."""
    child, parent = finish(start(TORN)).splitlines()
    assert child.startswith("LinkwiseError: ")
    assert child.endswith("Start it again, or start processes by multiprocessing's method 'spawn'.")
    assert parent == "and the parent works"


def test_a_fork_waits_for_the_step_under_way_and_for_no_second_one():
    log, begun = [], threading.Event()

    def step():
        begun.set()
        log.append("begins")
        threading.Event().wait(0.3)
        log.append("ends")

    thread = threading.Thread(target=foreign_thread.side_by_side, args=([step] * (4 * len(foreign_thread.lanes)),))
    thread.start()
    begun.wait(60)
    few = len(foreign_thread.lanes)
    assert child(lambda: log.count("begins") == log.count("ends") <= few and foreign_thread.apart(lambda: True)) == 0
    thread.join()
    assert log.count("ends") == 4 * len(foreign_thread.lanes)


def test_kernels_of_a_robot_are_made_in_a_child_although_a_thread_was_making_them():
    """A `cached_property` must not stay locked in the child."""
    first, second = lw.compile(arm(4)), lw.compile(arm(3))
    inside, go_on = threading.Event(), threading.Event()

    def wait(*_):
        inside.set()
        go_on.wait(60)

    def make():
        sys.setprofile(
            lambda frame, event, _: wait() if frame.f_code.co_name == "trace_kernel" and event == "call" else None
        )
        try:
            _ = first.inverse_dynamics
        finally:
            sys.setprofile(None)

    thread = threading.Thread(target=make)
    thread.start()
    assert inside.wait(60)

    try:
        assert child(lambda: second.inverse_dynamics is not None) == 0
    finally:
        go_on.set()
        thread.join()
