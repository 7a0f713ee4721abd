"""The bare function of a program: an address for numba, ctypes, cffi, C and C++."""

from __future__ import annotations

import ctypes
from typing import Any

from linkwise.backend import native
from linkwise.backend.c import KINDS, RESERVED, C
from linkwise.errors import InputError
from linkwise.graph.program import Program
from linkwise.graph.show import free


class Address(int):
    """The address of a C function, a whole number, which keeps the function's code loaded as long as it is held.

    The function takes pointers to the inputs, then to the outputs, of which each has its numbers row after row; a
    scalar is one number. Pointers need the alignment of their numbers only. An output may be one of the inputs. It
    needs neither Python nor its lock, has no state, so that any number of threads may call it at once, and takes up to
    60 kB of the caller's stack. The code goes when neither this object, nor its `function`, nor the kernel is there any
    more: hold one of them as long as somebody may call.

    Attributes:
        signature: the function in C, such as `void mass_matrix(const double *q, double *M)`.
        type: the type of a pointer to it, such as `void (*)(const double *, double *)`, for cffi.
    """

    signature: str
    type: str
    _held: Any
    _types: list[Any]

    @classmethod
    def of(cls, program: Program, doc: str, rows: bool) -> Address:
        """The address of a program's function of one row, or of so many rows as its first argument says."""
        address, held = native.entry(program, doc, "rows" if rows else "row")
        found = cls(address)
        real, (inputs, outputs) = KINDS[program.dtype].type, C(program, "f").arguments
        pointers = [f"const {real} *"] * len(inputs) + [f"{real} *"] * len(outputs)
        count = {"int64_t ": free("rows", [*inputs, *outputs])} if rows else {}
        named = zip([*count, *pointers], [*count.values(), *inputs, *outputs], strict=True)
        found.signature = f"void {free(program.name, RESERVED)}({', '.join(t + name for t, name in named)})"
        found.type = f"void (*)({', '.join(t.strip() for t in (*count, *pointers))})"
        found._held = held
        found._types = [*([ctypes.c_int64] if rows else []), *[ctypes.c_void_p] * len(pointers)]
        return found

    @property
    def function(self) -> Any:
        """The function by ctypes, which takes `array.ctypes` of each array, also inside of numba's `@njit`."""
        found = ctypes.CFUNCTYPE(None, *self._types)(int(self))
        found.address = self  # type: ignore[attr-defined]
        return found

    def __repr__(self) -> str:
        return f"<Address {int(self):#x}: {self.signature}>"

    def __reduce__(self) -> Any:
        raise InputError("address: expected to stay in its process, got another. Send the kernel, and ask it there.")
