"""Rows shared among threads: every row once, the same to the last bit, whatever else goes on in the process."""

import ctypes
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import linkwise as lw
from linkwise.backend import library, native, threads
from linkwise.errors import InputError
from linkwise.graph.program import Port, trace
from support.arms import arm, states
from support.processes import finish, run, start

pytestmark = pytest.mark.skipif(native.backend() != "llvm", reason="of native code")
linux = pytest.mark.skipif(sys.platform != "linux", reason="/proc as Linux has it")
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
rng = np.random.default_rng(0)


@pytest.mark.parametrize("count", [2, 3, "auto"])
@pytest.mark.parametrize("rows", [(), (1,), (511,), (512,), (40_001,), (3, 900), (900, 3), (0,)])
def test_threads_change_nothing(count, rows, monkeypatch):
    monkeypatch.setattr(threads, "OPERATIONS", 100_000)
    robot = arm(3, mass=1.0625)
    x = [rng.normal(size=(*rows, 3)) for _ in range(3)]
    k, one = (lw.compile(robot, lw.inverse_dynamics, threads=n) for n in (count, 1))
    expected = one(*x)
    for _ in range(2):
        np.testing.assert_array_equal(k(*x), expected)
        np.testing.assert_array_equal(k(*x, out=np.empty(expected.shape)), expected)
        np.testing.assert_array_equal(k(np.asfortranarray(x[0]), *x[1:]), expected)
        np.testing.assert_array_equal(k(x[0].tolist() or x[0], *x[1:]), expected)


def test_what_broadcasts_and_overlaps():
    robot = arm(3)
    k, one = (lw.compile(robot, lw.inverse_dynamics, threads=n) for n in (2, 1))
    q, qd = rng.normal(size=(900, 1, 3)), rng.normal(size=(3, 3))
    for given in ((q, qd, qd[0]), (q[:, 0], qd[0], q[:, 0]), (qd[0], q[:1], np.repeat(q, 2, axis=1))):
        expected = one(*given)
        np.testing.assert_array_equal(k(*given), expected)
    x = states(robot, 3000)
    expected = one(*x)
    for target in (x[0], x[1][::-1]):  # rows that others still read
        given = [a.copy() for a in x]
        out = given[0] if target is x[0] else given[1][::-1]
        np.testing.assert_array_equal(k(*given, out=out), expected)


def test_threads_of_a_rollout():
    robot = arm(2)
    q, qd = rng.normal(size=(2, 700, 2))
    u = rng.normal(size=(700, 20, 2))
    expected = lw.compile_rollout(robot)(q, qd, u, 1e-3)
    for count in (2, "auto"):
        found = lw.compile_rollout(robot, threads=count)(q, qd, u, 1e-3)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("count", [0, -1, 2.0, "many", None, True])
def test_threads_that_are_none(count):
    with pytest.raises(InputError, match="threads: expected a whole number of at least 1, or 'auto'"):
        lw.compile(arm(3), threads=count)


# ---- how rows are shared: a loop of Python in the place of a kernel's

LOOP = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)


def shared_out(rows, count, operations=1, lanes=8, code=None):
    """The pieces that a batch is cut into, and the threads that took them."""
    ports = [Port("x", (1,), steps=False)]
    program = trace("pieces", lambda x: ([sum(x[0] for _ in range(operations + 1))],), ports, [Port("y", (1,))])
    x, pieces, both = np.arange(rows, dtype=float), [], threading.Event()

    @LOOP
    def loop(args, widths, strides, told):
        first = ctypes.c_int64.from_address(args).value
        pieces.append(((first - x.ctypes.data) // 8, ctypes.c_int64.from_address(widths).value, threading.get_ident()))
        if len({who for _, _, who in pieces}) > 1:
            both.set()
        elif told:
            both.wait(20.0)  # for the other thread

    loop_at, known = threads.shared(program, ctypes.cast(loop, ctypes.c_void_p).value, count)
    known[threads.LANES] = lanes
    args = (ctypes.c_void_p * 2)(x.ctypes.data, x.ctypes.data)
    widths, strides = (ctypes.c_int64 * 2)(rows, 1), (ctypes.c_int64 * 4)(8, 8, 8, 8)
    LOOP(code or loop_at)(*map(ctypes.addressof, (args, widths, strides, known)))
    return sorted(pieces)


@pytest.mark.parametrize("rows", [512, 513, 5000, 100_001])
@pytest.mark.parametrize("lanes", [2, 16])
def test_every_row_is_done_once(rows, lanes):
    pieces = shared_out(rows, 2, lanes=lanes)
    starts = np.cumsum([0, *(n for _, n, _ in pieces)])
    assert [at for at, _, _ in pieces] == starts[:-1].tolist()
    assert starts[-1] == rows
    assert all(n % lanes == 0 for _, n, _ in pieces[:-1])
    assert len({who for _, _, who in pieces}) == 2


@pytest.mark.parametrize("rows", [1, 2, 511])
def test_small_batches_are_not_shared(rows):
    assert [(at, n) for at, n, _ in shared_out(rows, 2)] == [(0, rows)]


def test_auto_splits_only_what_is_worth_it(monkeypatch):
    monkeypatch.setattr(threads, "OPERATIONS", 10_000)
    program = trace("one", lambda x: ([x[0] * x[0]],), [Port("x", (1,))], [Port("y", (1,))])
    _, known = threads.shared(program, 0, "auto")
    least = known[threads.SHARE]
    assert least == 10_001
    assert known[threads.THREADS] == 0  # as many as are free
    x = rng.normal(size=(2 * least - 1, 1))
    assert [(at, n) for at, n, _ in shared_out(len(x), "auto", operations=0)] == [(0, len(x))]


@linux
def test_others_that_run(tmp_path):
    others = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_char_p, ctypes.c_int64)(threads._load("others")[0])
    said = tmp_path / "loadavg"
    for running, awake, expected in ((1, 0, 0), (3, 2, 0), (4, 0, 3), (8, 1, 6), (123, 0, 122), (2, 5, 0)):
        said.write_text(f"0.1 0.2 0.3 {running}/400 77\n")
        assert others(str(said).encode(), awake) == expected
    for text in ("", "0.1 0.2", "0.1 0.2 0.3 many/400 77", "0.1 0.2 0.3 ", "x" * 100):
        said.write_text(text)
        assert others(str(said).encode(), 0) == 0
    assert others(str(tmp_path / "missing").encode(), 0) == 0


# how many threads take no signals: those that rows are shared among
DEAF = """
def deaf():
    found = 0
    for task in os.listdir("/proc/self/task") if os.path.isdir("/proc/self/task") else ():
        try:
            with open(f"/proc/self/task/{task}/status") as file:
                blocked = next(line for line in file if line.startswith("SigBlk")).split()[1]
        except OSError:  # it has ended
            continue
        found += bin(int(blocked, 16)).count("1") > 50
    return found
"""

BUSY = """
import os
import numpy as np
import linkwise as lw
from linkwise.backend import threads
from support.arms import arm, states

os.cpu_count = lambda: CORES
threads.OPERATIONS = 10_000
if CORES > 1:
    os.sched_setaffinity(0, ALLOWED)
k = lw.compile(arm(3), lw.inverse_dynamics, threads="auto")
for _ in range(20):
    k(*states(arm(3), 50_000))
print(deaf())
"""


@linux
def test_cores_that_this_process_may_not_use():
    one = min(os.sched_getaffinity(0))
    every = os.sched_getaffinity(0)
    for cores, allowed, expected in ((1, {one}, 0), (10_000, {one}, 0), (10_000, every, len(every) - 1)):
        code = BUSY.replace("CORES", str(cores)).replace("ALLOWED", repr(set(allowed)))
        assert int(run(DEAF + code)) == expected


def test_rounding_is_the_callers():
    libm = ctypes.CDLL(None)
    if not hasattr(libm, "fesetround"):
        pytest.skip("no way to round otherwise")
    k, one = (lw.compile(arm(3), lw.inverse_dynamics, threads=n) for n in (2, 1))
    x = states(arm(3), 4000)
    before, usual = libm.fegetround(), one(*x)
    upward = {"x86_64": 0x800, "AMD64": 0x800, "aarch64": 0x400000, "arm64": 0x400000}[os.uname().machine]
    try:
        assert libm.fesetround(upward) == 0
        expected, found = one(*x), k(*x)
    finally:
        libm.fesetround(before)
    np.testing.assert_array_equal(found, expected)
    assert not np.array_equal(found, usual)
    np.testing.assert_array_equal(k(*x), usual)


# ---- among other threads, forks and signals, and at the end


def test_several_callers_at_once():
    robot = arm(3)
    k, one = (lw.compile(robot, lw.inverse_dynamics, threads=n) for n in (2, 1))
    x = [states(robot, 5000, seed=i) for i in range(8)]
    expected = [one(*a) for a in x]
    begin = threading.Barrier(8)

    def work(i):
        begin.wait()
        return all(np.array_equal(k(*x[i]), expected[i]) for _ in range(50))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


BEGIN = f"""{DEAF}
import gc, os, random, signal, sys, threading, time, warnings
import numpy as np
from support.arms import arm, states
import linkwise as lw

warnings.simplefilter("ignore", DeprecationWarning)  # of forking a process with threads
robot = arm(3)
x = states(robot, 60_000)
kernel = lw.compile(robot, lw.inverse_dynamics, threads=2)
expected = lw.compile(robot, lw.inverse_dynamics)(*x)
assert np.array_equal(kernel(*x), expected)
"""

FORKED = """
ended = False
def work():
    while not ended:
        assert np.array_equal(kernel(*x), expected)
workers = [threading.Thread(target=work) for _ in range(2)]
for w in workers:
    w.start()
random.seed(0)
for k in range(40):
    time.sleep(random.uniform(0.0, 0.003))
    pid = os.fork()
    if pid == 0:
        signal.alarm(30)  # ends a child that hangs
        good = all(np.array_equal(kernel(*x), expected) for _ in range(3))
        inner = os.fork()
        if inner == 0:
            os._exit(0 if np.array_equal(kernel(*x), expected) else 1)
        good = good and os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1]) == 0
        os._exit(0 if good and deaf() == (sys.platform == "linux") else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, k
ended = True
for w in workers:
    w.join()
print("done")
"""


@forks
def test_forks_at_any_instant_of_calls():
    """A child has no threads of its parent: it begins its own."""
    assert run(BEGIN + FORKED) == "done\n"


INTERRUPTED = """
signal.signal(signal.SIGALRM, signal.default_int_handler)
random.seed(0)
hits = 0
while hits < 100:
    try:
        signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-6, 2e-3))
        for _ in range(20):
            found = kernel(*x)
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    except KeyboardInterrupt:
        hits += 1
    assert np.array_equal(kernel(*x), expected)
print("done")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="timers that send signals are POSIX")
def test_interrupts_at_any_instant_of_calls():
    assert run(BEGIN + INTERRUPTED) == "done\n"


IDLE = """
time.sleep(0.05)
before = time.process_time()
time.sleep(0.5)
print(deaf(), time.process_time() - before < 0.05)
"""


@linux
def test_threads_sleep_when_there_is_nothing_to_do_and_take_no_signals():
    assert run(BEGIN + IDLE) == "1 True\n"


LEFT = """
def work():
    while True:
        kernel(*x)
for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.05)
print("done")
"""


def test_the_end_of_a_process_in_the_middle_of_calls():
    for _ in range(3):
        assert finish(start(BEGIN + LEFT)) == "done\n"


ALONE = """
import resource
resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
os.setuid(65534)
for _ in range(3):
    assert np.array_equal(kernel(*x), expected)
print(deaf())
"""


@linux
@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="another user cannot be taken on")
def test_where_no_thread_is_to_be_had():
    code = BEGIN.replace("assert np.array_equal(kernel(*x), expected)\n", "lw.compile(robot)\n")
    code = code.replace("threads=2)", "threads=2)\nkernel(*states(robot, 3)), kernel(*states(robot, 3))")
    assert run(code + ALONE) == "0\n"


# ---- Windows: its functions, as this system would do them


@linux
def test_the_code_for_windows():
    """Its locks and beds are zeros at first, as those of Linux may be; other arguments are the same or too many."""
    same = {
        "AcquireSRWLockExclusive": "pthread_mutex_lock", "ReleaseSRWLockExclusive": "pthread_mutex_unlock",
        "SleepConditionVariableSRW": "pthread_cond_wait", "WakeConditionVariable": "pthread_cond_signal",
        "SwitchToThread": "sched_yield", "GetCurrentProcessId": "getpid",
    }  # fmt: skip
    begun = []
    libc = ctypes.CDLL(None)

    @ctypes.CFUNCTYPE(ctypes.c_void_p, *[ctypes.c_void_p] * 6)
    def create(_, stack, work, pool, flags, number):
        begun.append(ctypes.c_uint64())
        libc.pthread_create(ctypes.byref(begun[-1]), None, ctypes.c_void_p(work), ctypes.c_void_p(pool))
        return 1

    close = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(lambda _: 1)
    library.keep((create, close))  # the thread never ends
    symbols = {k: library.python(v)[v] for k, v in same.items()} | library.python(
        *threads.PYTHON, "fegetenv", "fesetenv"
    )
    symbols |= {n: ctypes.cast(f, ctypes.c_void_p).value for n, f in (("CreateThread", create), ("CloseHandle", close))}
    constants = {k: v for k, v in vars(threads).items() if k.isupper() and isinstance(v, int)} | {"CORES": 2}
    (code,) = library.load(["threads", "threads_windows", "cores_other"], constants, symbols, ["shared"])
    for _ in range(20):
        pieces = shared_out(5000, 2, code=code)
        assert sum(n for _, n, _ in pieces) == 5000
        assert len({who for _, _, who in pieces}) == 2
    assert len(begun) == 1
