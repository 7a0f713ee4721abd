"""Memory of large outputs: handed out again when arrays are gone, never while they are used, and up to a limit."""

import ctypes
import gc
import os
import pickle
import random
import sys
import threading
import warnings

import numpy as np
import pytest

import linkwise as lw
from linkwise.backend import library, native
from linkwise.backend import memory as allocator
from linkwise.kernel import memory
from support.arms import arm, states
from support.processes import run

pytestmark = pytest.mark.skipif(native.backend() != "llvm", reason="of native code")
ROWS = 3000  # outputs of 216 kB


@pytest.fixture
def kernel():
    k = lw.compile(arm(3), lw.mass_matrix)
    k(states(arm(3), 2)[0]), k(states(arm(3), 2)[0])
    before = memory.limit()
    memory.release()
    yield k
    memory.limit(before)
    memory.release()


def address(array):
    return array.__array_interface__["data"][0]


@pytest.fixture
def q():
    return states(arm(3), ROWS)[0]


def test_an_array_takes_the_memory_of_one_that_is_gone(kernel, q):
    M = kernel(q)
    where, expected = address(M), M.copy()
    assert M.flags.owndata
    assert M.base is None
    assert where % 64 == 0
    assert memory.held() == 0
    del M
    assert memory.held() >= expected.nbytes
    again = kernel(q)
    assert address(again) == where
    assert memory.held() == 0
    np.testing.assert_array_equal(again, expected)


def test_arrays_in_use_have_memory_of_their_own(kernel, q):
    found = [kernel(q + k) for k in range(5)]
    assert len({address(M) for M in found}) == 5
    for k, M in enumerate(found):
        np.testing.assert_array_equal(M, kernel(q + k))


def test_a_view_keeps_the_memory(kernel, q):
    M = kernel(q)
    view, expected = M[5:9, 1], M[5:9, 1].copy()
    del M
    assert memory.held() == 0
    others = [kernel(q + 1.0) for _ in range(3)]
    np.testing.assert_array_equal(view, expected)
    del others


def test_other_sizes_find_what_is_just_large_enough(kernel, q):
    M = kernel(q)
    where = address(M)
    del M
    assert address(kernel(q[: ROWS - 50])) == where
    assert address(kernel(q[: ROWS // 2])) != where


def test_small_outputs_are_not_kept(kernel, q):
    M = kernel(q[:4])
    del M
    assert memory.held() == 0


def test_resized_pickled_and_copied(kernel, q):
    M = kernel(q)
    expected = M.copy()
    for twin in (pickle.loads(pickle.dumps(M)), np.array(M), np.resize(M, M.shape)):
        np.testing.assert_array_equal(twin, expected)
    M.resize((2 * ROWS, 3, 3), refcheck=False)
    np.testing.assert_array_equal(M[:ROWS], expected)
    assert not M[ROWS:].any()
    M.resize((7, 3, 3), refcheck=False)
    np.testing.assert_array_equal(M, expected[:7])
    M.resize((ROWS, 3, 3), refcheck=False)
    np.testing.assert_array_equal(M[:7], expected[:7])


def test_no_more_than_the_limit_is_kept(kernel, q):
    size = kernel(q).nbytes
    memory.limit(3 * size)
    found = [kernel(q) for _ in range(10)]
    del found
    assert 2 * size <= memory.held() <= 3 * size
    assert memory.limit() == 3 * size
    assert memory.limit(size // 2) == size // 2
    assert memory.held() == 0
    M = kernel(q)
    del M
    assert memory.held() == 0
    assert memory.limit(0) == 0
    np.testing.assert_array_equal(kernel(q)[:3], kernel(q[:3]))


def test_no_more_pieces_than_there_are_slots(kernel, q):
    found = [kernel(q[: 2000 + k]) for k in range(allocator.SLOTS + 40)]
    sizes = [M.nbytes for M in found]
    del found
    assert memory.held() <= (max(sizes) + 8192) * allocator.SLOTS
    assert allocator._state.count == allocator.SLOTS


def test_what_is_kept_is_given_back_on_request(kernel, q):
    M = kernel(q)
    del M
    held = memory.held()
    assert memory.release() == held > 0
    assert memory.held() == memory.release() == 0


@pytest.mark.parametrize("size", [-1, 1.5, "much", True, 2**63])
def test_limits_that_are_none(size):
    with pytest.raises(lw.InputError, match="limit: expected a whole number of bytes"):
        memory.limit(size)


def test_several_outputs_and_threads_of_a_kernel(q):
    robot = arm(3)
    x = states(robot, ROWS)
    for threads in (1, 2):
        k = lw.compile(robot, lw.inverse_dynamics_derivatives, threads=threads)
        expected = [np.array(y) for y in k(*x)]
        k(*x)
        memory.release()
        places = {address(y) for y in k(*x)}
        for _ in range(3):
            found = k(*x)
            assert {address(y) for y in found} == places
            for y, e in zip(found, expected, strict=True):
                np.testing.assert_array_equal(y, e)
            del found, y


def test_among_threads_of_the_user(kernel, q):
    expected, wrong = [kernel(q + k).copy() for k in range(4)], []

    def work(seed):
        rng, kept = random.Random(seed), []
        for _ in range(150):
            k = rng.randrange(4)
            kept.append((k, kernel(q + k)))
            if rng.random() < 0.5:
                k, M = kept.pop(rng.randrange(len(kept)))
                if not np.array_equal(M, expected[k]):
                    wrong.append(k)
            del kept[: max(0, len(kept) - 6)]

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
    assert memory.held() <= memory.limit()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_and_its_parent_each_have_their_own(kernel, q):
    kept, gone = kernel(q), kernel(q + 1.0)
    expected = kept.copy()
    del gone
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking a process with threads
        pid = os.fork()
    if pid == 0:
        code = 1
        try:
            mine = [kernel(q + 2.0) for _ in range(3)]
            good = np.array_equal(kept, expected) and np.array_equal(mine[0], mine[2])
            code = 0 if good and memory.release() >= 0 and memory.held() == 0 else 2
        finally:
            os._exit(code)
    others = [kernel(q + 3.0) for _ in range(3)]
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    np.testing.assert_array_equal(kept, expected)
    np.testing.assert_array_equal(others[0], others[1])


def test_memory_that_cannot_be_had(kernel, q):
    with pytest.raises(MemoryError):
        kernel(np.broadcast_to(q[0], (2**40, 3)))
    assert kernel(q).shape == (ROWS, 3, 3)


END = """
import sys
import numpy as np
from support.arms import arm, states
import linkwise as lw

k = lw.compile(arm(3), lw.mass_matrix)
q = states(arm(3), 3000)[0]
k(q)

class Late:
    def __del__(self):
        self.M = k(q)

late = Late()
late.itself, late.M = late, k(q)
np.kept_to_the_end = sys.kept_to_the_end = [k(q), late, k(q)[5:]]
print("done")
"""


def test_arrays_that_live_to_the_very_end():
    assert run(END) == "done\n"


LONG = """
import numpy as np
from support.arms import arm, states
import linkwise as lw
from linkwise.kernel import memory

def pages():
    return int(open("/proc/self/statm").read().split()[1])

k = lw.compile(arm(3), lw.mass_matrix)
q = states(arm(3), 4000)[0]
rng = np.random.default_rng(0)
memory.limit(2**22)
for n in rng.integers(1, 4000, 3000).tolist():
    k(q[:n])
before = pages()
for n in rng.integers(1, 4000, 20_000).tolist():
    k(q[:n])
print((pages() - before) * 4096 < 2**22, memory.held() <= 2**22)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="of Linux")
def test_many_calls_do_not_grow():
    assert run(LONG) == "True True\n"


# ---- the allocator itself


@pytest.fixture(params=["memory_linux", "memory_other"])
def functions(request):
    if request.param == "memory_linux" and not sys.platform.startswith("linux"):
        pytest.skip("of Linux")
    names = [*allocator.FUNCTIONS, "memory_release"]
    p, n = ctypes.c_void_p, ctypes.c_size_t
    kinds = [(p, p, n), (p, p, n, n), (p, p, p, n), (None, p, p, n), (ctypes.c_int64, p, n)]
    code = library.load(["memory", request.param], allocator.constants(4096), {}, names)
    return [ctypes.PYFUNCTYPE(*kind)(at) for kind, at in zip(kinds, code, strict=True)]


def test_pieces_of_all_sizes(functions):
    new, zeros, resize, free, release = functions
    state = allocator.State(limit=2**24)
    me, rng, used = ctypes.addressof(state), random.Random(0), {}

    def fill(at, size, mark):
        used[at] = size, mark
        ctypes.memset(at, mark, size)

    def check(at, most=2**40):
        size, mark = used.pop(at)
        for k in {0, min(size, most) // 2, min(size, most) - 1}:
            assert k < 0 or ctypes.string_at(at + k, 1)[0] == mark

    for turn in range(4000):
        size, mark = int(2 ** rng.uniform(0, 23)), turn % 255 + 1
        action = rng.choice(["new", "zeros", "resize", "free", "free"]) if used else "new"
        if action == "new":
            at = new(me, size)
        elif action == "zeros":
            at = zeros(me, size, 1)
            assert ctypes.string_at(at, size).count(0) == size
        else:
            old = rng.choice([*used])
            if action == "free":
                check(old)
                free(me, old, 0)
                continue
            before, _ = used[old]
            first = used[old][1]
            check(old)
            at = resize(me, old, size)
            assert ctypes.string_at(at, 1)[0] == first
            assert ctypes.string_at(at + min(before, size) - 1, 1)[0] == first
        assert at % 64 == 0
        assert all(at + size <= a or a + s <= at for a, (s, _) in used.items())
        fill(at, size, mark)
        assert 0 <= state.held <= state.limit
        assert 0 <= state.count <= allocator.SLOTS
        if len(used) > 40:
            at = rng.choice([*used])
            check(at)
            free(me, at, 0)
    for at in [*used]:
        check(at)
        free(me, at, 0)
    assert release(me, 0) == 0
    assert state.held == state.count == state.lock == 0
    gc.collect()


def test_sizes_without_sense(functions):
    new, zeros, resize, free, _ = functions
    state = allocator.State(limit=2**24)
    me = ctypes.addressof(state)
    assert new(me, 2**63) is None
    assert new(me, 2**60) is None
    assert zeros(me, 2**40, 2**40) is None
    at = resize(me, None, 100)
    assert resize(me, at, 2**60) is None  # and the piece is as it was
    free(me, at, 0)
    free(me, None, 0)


def test_nobody_waits_for_the_lock(functions):
    """A child may find it closed for ever."""
    new, _, _, free, release = functions
    state = allocator.State(limit=2**24, lock=1)
    me = ctypes.addressof(state)
    at = new(me, 10_000)
    ctypes.memset(at, 1, 10_000)
    free(me, at, 0)
    assert release(me, 0) == 1
    assert state.held == 0
