"""Where memory ends, a call says so; the process lives, and the next call is right."""

import sys

import pytest

from support.processes import run

pytest.importorskip("resource", reason="limits of memory are POSIX")

# a kernel whose buffers are on the heap, in a process that has used up what it may have but for small pieces
FULL = """
import ctypes, resource
import numpy as np
from linkwise.backend import native
from linkwise.graph.program import Port, trace

n = 2000
program = trace("long", lambda x: ([2.0 * a for a in x],), [Port("x", (n,))], [Port("y", (n,))])
function = native.function(program, threads=THREADS)
x, out = np.ones((1200, n)), np.empty((1200, n))
CALLED
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_size_t], [ctypes.c_void_p]
pages = int(open("/proc/self/statm").read().split()[0])
before = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 2**20, before[1]))
taken = []
for size in (2**18, 2**16):
    while piece := libc.malloc(size):
        taken.append(piece)
try:
    function(x, out=out)
    found = "nothing"
except BaseException as error:
    found = type(error).__name__
resource.setrlimit(resource.RLIMIT_AS, before)
for piece in taken:
    libc.free(piece)
print(found)
np.testing.assert_array_equal(function(x, out=out), 2.0 * x)
np.testing.assert_array_equal(function(x), 2.0 * x)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits and /proc as Linux has them")
@pytest.mark.parametrize(
    ("threads", "called"), [(1, ""), (1, "function(x, out=out)"), (2, "function(x, out=out)")]
)  # threads need stacks, which must be there before memory ends
def test_buffers_that_cannot_be_had(threads, called):
    assert run(FULL.replace("THREADS", str(threads)).replace("CALLED", called), MALLOC_ARENA_MAX="1") == "MemoryError\n"
