"""NumPy generalised ufuncs made of machine code, without a C compiler.

`PyUFunc_FromFuncAndDataAndSignature` is entry 31 of the function table behind NumPy's capsule `_UFUNC_API`; it is
called through ctypes. Broadcasting, casting, `out=` and the release of the interpreter lock are then NumPy's own.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from linkwise.graph.program import Port

FROM_FUNC_AND_DATA_AND_SIGNATURE = 31
TYPES = {"float64": 12, "float32": 11}  # NPY_DOUBLE, NPY_FLOAT
NO_IDENTITY = -1

_kept: dict[int, Any] = {}  # by the address of their data or code: NumPy keeps pointers into these


def signature(inputs: Sequence[Port], outputs: Sequence[Port]) -> str:
    """The ufunc signature with fixed widths, such as "(7),(7)->(7,7)", and "steps" where they are repeated."""

    def side(ports: Sequence[Port]) -> str:
        return ",".join(f"({','.join(p.axes)})" for p in ports)

    return f"{side(inputs)}->{side(outputs)}"


def make(
    address: int,
    name: str,
    doc: str,
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    dtype: str = "float64",
    known: Any = None,
) -> np.ufunc:
    """A gufunc whose inner loop is the code at `address`, which is told what is `known`, an array."""
    count = len(inputs) + len(outputs)
    functions = (ctypes.c_void_p * 1)(address)
    data = (ctypes.c_void_p * 1)(known and ctypes.addressof(known))
    types = (ctypes.c_char * count).from_buffer_copy(bytes([TYPES[dtype]] * count))
    texts = [name.encode(), doc.encode(), signature(inputs, outputs).encode()]
    _kept[data[0] or address] = known, functions, data, types, texts
    return _factory()(
        ctypes.cast(functions, ctypes.c_void_p), ctypes.cast(data, ctypes.c_void_p), types, 1,
        len(inputs), len(outputs), NO_IDENTITY, texts[0], texts[1], 0, texts[2],
    )  # fmt: skip


def casting(ufunc: np.ufunc, dtype: str) -> Callable[..., Any]:
    """A gufunc that takes real numbers of every kind, those with more digits too; NumPy casts them."""
    return partial(ufunc, dtype=np.dtype(dtype))


def forget(addresses: Iterable[int]) -> None:
    """Let go of what the ufuncs of some code pointed to; they are gone."""
    for address in addresses:
        del _kept[address]


def watched(ufunc: Callable[..., Any]) -> Callable[..., Any]:
    """A gufunc whose loop may set a `MemoryError`: NumPy does not look for it, Python then finds it."""

    def call(*inputs: Any, **kwargs: Any) -> Any:
        try:
            return ufunc(*inputs, **kwargs)
        except SystemError as error:
            if isinstance(error.__cause__, MemoryError):
                raise MemoryError("no memory for the buffers of a kernel") from None
            raise

    return call


def table(capsule: str) -> Any:
    """The addresses of NumPy's own functions: `_ARRAY_API` or `_UFUNC_API`, in the order of its headers."""
    from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.cast(pointer(getattr(_multiarray_umath, capsule), None), ctypes.POINTER(ctypes.c_void_p))


@cache
def _factory() -> Any:
    return ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_int, ctypes.c_int,
        ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p,
    )(table("_UFUNC_API")[FROM_FUNC_AND_DATA_AND_SIGNATURE])  # fmt: skip
