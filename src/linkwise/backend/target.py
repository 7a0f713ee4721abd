"""What generated code may assume of the machine and of its numbers, and how constants are written for it."""

from __future__ import annotations

import ctypes
import struct
from typing import NamedTuple


class Real(NamedTuple):
    """A kind of floating-point numbers: NumPy's name, LLVM's, its short form, whole numbers of the same size, bytes."""

    dtype: str
    name: str
    suffix: str
    integer: str
    bytes: int


REALS = {
    "float64": Real("float64", "double", "f64", "i64", 8),
    "float32": Real("float32", "float", "f32", "i32", 4),
}


class Target(NamedTuple):
    """Numbers in a vector, fused multiply-add, the x86 family, and the kind of numbers."""

    lanes: int
    fma: bool
    x86: bool
    real: Real = REALS["float64"]

    @classmethod
    def of(cls, triple: str, features: str, dtype: str) -> Target:
        """What a processor offers: vectors of AVX-512, of AVX, or of 16 bytes as SSE and ARM's NEON have them."""
        family, has, real = triple.partition("-")[0], set(features.split(",")), REALS[dtype]
        width = 64 if "+avx512f" in has else 32 if "+avx" in has else 16
        fma = family in ("aarch64", "arm64") or "+fma" in has
        return cls(width // real.bytes, fma, family in ("x86_64", "i386", "i686"), real)

    @property
    def vector(self) -> str:
        """The type of a vector."""
        return f"<{self.lanes} x {self.real.name}>"

    @property
    def bytes(self) -> int:
        """The size of a vector, and what its address is a multiple of."""
        return self.lanes * self.real.bytes

    def literal(self, value: float) -> str:
        """A number, to the last bit: LLVM writes those of every kind with the bits of a double."""
        if self.real.name == "float":
            value = ctypes.c_float(value).value
        return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"

    def splat(self, value: float) -> str:
        """A constant in every lane."""
        return f"splat ({self.real.name} {self.literal(value)})"
