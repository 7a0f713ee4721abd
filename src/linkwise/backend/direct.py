"""A shorter way into a kernel than its ufunc, for arrays that need nothing of it: of floats, with equal batches.

NumPy's ufuncs cast, broadcast and buffer; to find out that there is nothing to do takes them longer than a row of most
kernels. Native code here looks at the arguments first, makes the outputs (large ones of memory that is kept, see
`memory`) and calls the kernel's loop; whatever else is asked goes on to the ufunc, with the same result.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from linkwise.backend import gufunc, library, memory
from linkwise.graph.program import Program

PORTS, AXES = 24, 96  # arguments and results, and axes of all of them, for which there is room
ROOM = 64  # axes that an array may have
ALONE = 500  # numbers in and out from which on other threads may run meanwhile, as with ufuncs

HEAD = object.__basicsize__  # then come the fields of an array, as NumPy's headers have them
TYPE = HEAD - 8
DATA, AXIS_COUNT, SHAPE, STRIDES, DTYPE, FLAGS = HEAD, HEAD + 8, HEAD + 16, HEAD + 24, HEAD + 40, HEAD + 48
C_CONTIGUOUS, ALIGNED, WRITEABLE = 0x0001, 0x0100, 0x0400
TARGET = C_CONTIGUOUS | WRITEABLE  # what an array to fill has to be
KIND = HEAD + 8  # of a dtype: eight bytes with its letters, the order of its bytes, and its number
KIND_MASK = ~(0xFF << 24)  # without the one that is no longer used
FLOATS = [np.dtype(kind) for kind in gufunc.TYPES]

NUMPY = {"PyArray_New": 93, "PyArray_Return": 76, "PyDataMem_SetHandler": memory.SET_HANDLER}  # entries of its table
ARRAY_TYPE = 2  # the entry of the class
PYTHON = (
    "PyEval_RestoreThread", "PyEval_SaveThread", "PyErr_Occurred", "PyLong_AsVoidPtr", "PyObject_Vectorcall",
    "PyTuple_GetItem", "PyTuple_New", "PyTuple_SetItem", "PyTuple_Size", "Py_DecRef", "Py_IncRef",
)  # fmt: skip
FAST_CALL = 0x0080 | 0x0002  # METH_FASTCALL, METH_KEYWORDS

# what is known of a kernel, in words of 64 bits: these, then for each port its rank and its axes, -1 for the steps
LOOP, DATA_OF, UFUNC, INPUTS, OUTPUTS, NUMBERS, RESULTS, ARRAY, FLOAT, NUMBER, SIZE, HANDLER, OUT, FIRST_PORT = range(
    14
)


# what the code has to be told; the rest of the names in it are those above
SIZES = {"WIDTHS": 1 + AXES, "STEPS": PORTS + AXES, "DEEPEST": ROOM + AXES, "LARGE": memory.LARGE}


class _Method(ctypes.Structure):
    """Python's `PyMethodDef`."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("code", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


@cache
def _method() -> _Method:
    """What Python calls for every kernel."""
    table = gufunc.table("_ARRAY_API")
    if not _as_expected(table):
        raise RuntimeError("arrays are not laid out as NumPy's headers say")
    symbols = {name: table[entry] for name, entry in NUMPY.items()} | library.python(*PYTHON)
    constants = {k: v for k, v in globals().items() if k.isupper() and isinstance(v, int)} | SIZES
    (address,) = library.load(["direct_arrays", "direct"], constants, symbols, ["call"])
    method = _Method(b"kernel", address, FAST_CALL, None)
    library.keep(method)
    return method


def _as_expected(table: Any) -> bool:
    """Whether this is the Python and the NumPy that the code is written for."""
    if sys.implementation.name != "cpython" or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return False
    trial = np.zeros((2, 3, 5))[:, ::2]
    places = {DATA: trial.ctypes.data, DTYPE: id(np.dtype(np.float64)), TYPE: id(np.ndarray)}
    found = all(ctypes.c_int64.from_address(id(trial) + at).value == value for at, value in places.items())
    pointers = [ctypes.c_int64.from_address(id(trial) + at).value for at in (SHAPE, STRIDES)]
    axes = [(ctypes.c_int64 * 3).from_address(p) for p in pointers]
    flags = ctypes.c_int32.from_address(id(trial) + FLAGS).value
    return (
        found
        and table[ARRAY_TYPE] == id(np.ndarray)
        and ctypes.c_int32.from_address(id(trial) + AXIS_COUNT).value == 3
        and [tuple(x) for x in axes] == [trial.shape, trial.strides]
        and flags & (C_CONTIGUOUS | ALIGNED) == ALIGNED
        and all(_kind(d) == int.from_bytes(f"f{d.char}=\0{chr(d.num)}\0\0\0".encode(), "little") for d in FLOATS)
    )


def _kind(dtype: np.dtype[Any]) -> int:
    return ctypes.c_int64.from_address(id(dtype) + KIND).value & KIND_MASK


def function(program: Program, ufunc: Callable[..., Any], loop: int, data: int) -> Callable[..., Any]:
    """The ufunc whose loop is at an address, with these data, and a shorter way before it; or as it is."""
    ports = (*program.arguments, *program.outputs)
    axes = sum(p.rank for p in ports)
    if len(ports) > PORTS or axes > AXES:
        return ufunc
    try:
        method, handler = _method(), memory.handler()
    except Warning:  # of the cache, where warnings are errors
        raise
    except Exception:  # any failure of a foreign library means: leave it to NumPy
        return ufunc
    words = [0] * FIRST_PORT
    words[LOOP], words[DATA_OF], words[UFUNC] = loop, data, id(ufunc)
    words[HANDLER], words[OUT] = id(handler), id(sys.intern("out"))
    words[INPUTS], words[OUTPUTS] = len(program.arguments), len(program.outputs)
    dtype = np.dtype(program.dtype)
    words[NUMBERS], words[RESULTS] = sum(p.size for p in ports), dtype.itemsize * sum(p.size for p in program.outputs)
    words[ARRAY], words[FLOAT], words[NUMBER], words[SIZE] = id(np.ndarray), _kind(dtype), dtype.num, dtype.itemsize
    for port in ports:
        words += [port.rank, *([-1] if port.steps else []), *port.shape]
    about = (ctypes.c_int64 * len(words))(*words)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    return make(ctypes.addressof(method), (ctypes.addressof(about), about, ufunc, handler), None)
