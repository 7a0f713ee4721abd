"""The bare function of a kernel: called by ctypes, cffi, numba and C, from many threads, as long as it is held."""

import ctypes
import gc
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import linkwise as lw
from linkwise.backend import native
from linkwise.backend.address import Address
from linkwise.errors import InputError
from linkwise.graph.program import Port, trace
from support.arms import arm, states, still
from support.backends import shared_object
from support.every_machine import sort
from support.processes import run

pytestmark = pytest.mark.skipif(native.backend() != "llvm", reason="no native code")


def parts(result):
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ["arm", "floating", "elastic", "moving base", "five-bar", "ankle, moving base"])
def test_one_row_and_many_to_the_last_bit(name, dtype):
    """Trees, elastic drives, loops in closed form and by Newton's method."""
    machine = sort(name)
    dyn = machine.dynamics(dtype=dtype)
    for kernel in (dyn.inverse_dynamics, dyn.joint_wrenches):
        inputs = [np.ascontiguousarray(x, dtype) for x in (*machine.states(7), *machine.surroundings(7))]
        expected = parts(kernel(*inputs))
        made = [np.zeros_like(x) for x in expected]
        one, many = kernel.address(), kernel.address(rows=True)
        many.function(7, *(x.ctypes for x in (*inputs, *made)))
        for a, b in zip(made, expected, strict=True):
            np.testing.assert_array_equal(a, b)
        for k in range(7):
            row = [np.full_like(x[k], 7.0) for x in expected]
            one.function(*(x[k].ctypes for x in inputs), *(x.ctypes for x in row))
            for a, b in zip(row, expected, strict=True):
                np.testing.assert_array_equal(a, b[k])


def test_what_it_says_of_itself():
    k = lw.compile(arm(2), lw.inverse_dynamics, dtype="float32")
    one, many = k.address(), k.address(rows=True)
    assert one.signature == "void inverse_dynamics(const float *q, const float *qd, const float *qdd, float *tau)"
    assert one.type == "void (*)(const float *, const float *, const float *, float *)"
    assert many.signature.startswith("void inverse_dynamics(int64_t rows, const float *q, ")
    assert many.type.startswith("void (*)(int64_t, const float *, ")
    assert repr(one) == f"<Address {int(one):#x}: {one.signature}>"


def test_scalars_and_matrices_and_an_output_in_place():
    k = lw.compile(arm(3), lw.algorithms.kinetic_energy)
    q, qd, _ = states(k.robot)
    energy = np.zeros(1)
    k.address().function(q.ctypes, qd.ctypes, energy.ctypes)
    assert energy[0] == k(q, qd)
    torques = lw.compile(arm(3), lw.inverse_dynamics)
    x = states(k.robot)
    expected = torques(*x)
    torques.address().function(*(a.ctypes for a in x), x[1].ctypes)
    np.testing.assert_array_equal(x[1], expected)


def test_the_code_stays_as_long_as_its_address_or_function(monkeypatch):
    monkeypatch.setattr(native, "_functions", {})
    monkeypatch.setattr(native, "IDLE", 4)
    monkeypatch.setattr(native, "_sweep_at", 4)

    def kernel(slope):
        program = trace("line", lambda x: ([x[0] * slope + x[1]],), [Port("x", (2,))], [Port("y", (1,))])
        return Address.of(program, "", False)

    held = [kernel(100.0), kernel(101.0).function]
    for k in range(30):
        kernel(float(k))
    gc.collect()
    assert len(native._functions) < 15
    x, y = np.array([2.0, 1.0]), np.zeros(1)
    for function, slope in ((held[0].function, 100.0), (held[1], 101.0)):
        function(x.ctypes, y.ctypes)
        assert y[0] == 2.0 * slope + 1.0


def test_many_threads_at_once():
    k = lw.compile(arm(6), lw.inverse_dynamics)
    function = k.address().function
    rng = np.random.default_rng(0)
    x = [rng.normal(size=(400, 6)) for _ in range(3)]
    tau = np.zeros((400, 6))

    def work(i):
        for _ in range(20):
            function(*(a[i].ctypes for a in x), tau[i].ctypes)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(400)))
    np.testing.assert_array_equal(tau, k(*x))


def test_refusals():
    with pytest.raises(InputError, match="address of inverse_dynamics: expected a function in native code, got q with"):
        lw.compile(still(1), lw.inverse_dynamics).address()
    with pytest.raises(InputError, match="Send the kernel"):
        pickle.dumps(lw.compile(arm(1), lw.mass_matrix).address())
    with pytest.raises(InputError, match="expected a smaller robot"):
        lw.compile(arm(130), lw.inverse_dynamics_derivatives).address()


def test_without_native_code(monkeypatch):
    monkeypatch.setenv("LINKWISE_BACKEND", "numpy")
    with pytest.raises(InputError, match="got the back end 'numpy', which has none"):
        lw.compile(arm(1), lw.mass_matrix).address()


SHORT = """
import resource
import ctypes, numpy as np
from linkwise.backend.address import Address
from linkwise.graph.program import Port, trace

n = 5000
program = trace("long", lambda x: ([2.0 * a for a in x],), [Port("x", (n,))], [Port("y", (n,))])
function = Address.of(program, "", True).function
x, y = np.ones((2, n)), np.zeros((2, n))
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_size_t], [ctypes.c_void_p]
pages = int(open("/proc/self/statm").read().split()[0])
before = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 2**20, before[1]))
taken = []
for size in (2**18, 2**16):
    while piece := libc.malloc(size):
        taken.append(piece)
function(2, x.ctypes, y.ctypes)
resource.setrlimit(resource.RLIMIT_AS, before)
for piece in taken:
    libc.free(piece)
print(np.isnan(y).all())
function(2, x.ctypes, y.ctypes)
print((y == 2.0).all())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits and /proc as Linux has them")
def test_where_memory_ends_the_outputs_are_nan():
    assert run(SHORT, MALLOC_ARENA_MAX="1") == "True\nTrue\n"


# ---- callers


CALLER = """
#include <stdint.h>
typedef void torques(const double *q, const double *qd, const double *qdd, double *tau);
void sweep(torques *f, int64_t n, const double *q, const double *qd, const double *qdd, double *tau);
void sweep(torques *f, int64_t n, const double *q, const double *qd, const double *qdd, double *tau) {
    for (int64_t k = 0; k < n; ++k) {
        f(q + 6 * k, qd + 6 * k, qdd + 6 * k, tau + 6 * k);
    }
}
"""


@pytest.fixture(scope="module")
def puma():
    k = lw.compile(lw.load("puma560"), lw.inverse_dynamics)
    x = [np.random.default_rng(2).normal(size=(50, 6)) for _ in range(3)]
    return k, k.address(), x, k(*x)


def test_from_c(puma, tmp_path):
    _, address, x, expected = puma
    tau = np.zeros((50, 6))
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*x, tau)]
    shared_object(tmp_path, CALLER).sweep(ctypes.c_void_p(address), ctypes.c_int64(50), *pointers)
    np.testing.assert_array_equal(tau, expected)


def test_from_cffi(puma):
    cffi = pytest.importorskip("cffi", reason="cffi is not installed")
    _, address, x, expected = puma
    ffi = cffi.FFI()
    function, tau = ffi.cast(address.type, int(address)), np.zeros(6)
    for k in range(50):
        function(*(ffi.from_buffer("double[]", a[k]) for a in x), ffi.from_buffer("double[]", tau))
        np.testing.assert_array_equal(tau, expected[k])


def test_from_numba(puma):
    numba = pytest.importorskip("numba", reason="numba is not installed")
    _, address, x, expected = puma
    f = address.function

    @numba.njit
    def sweep(q, qd, qdd, tau):
        for k in range(len(q)):
            f(q[k].ctypes, qd[k].ctypes, qdd[k].ctypes, tau[k].ctypes)

    tau = np.zeros((50, 6))
    sweep(*x, tau)
    np.testing.assert_array_equal(tau, expected)


def test_from_cpp(puma, tmp_path):
    """A function pointer in C++, as Eigen's data() would be passed."""
    _, address, x, expected = puma
    text = 'extern "C" void call(void (*f)(const double *, const double *, const double *, double *), double *x) {\n'
    (tmp_path / "call.cpp").write_text(f"{text}    f(x, x + 6, x + 12, x + 18);\n}}\n")
    command = ["g++", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", "call.so", "call.cpp"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == 0
    numbers = np.concatenate([x[0][0], x[1][0], x[2][0], np.zeros(6)])
    ctypes.CDLL(str(tmp_path / "call.so")).call(ctypes.c_void_p(address), ctypes.c_void_p(numbers.ctypes.data))
    np.testing.assert_array_equal(numbers[18:], expected[0])
