"""What generated code may assume of the machine, and how constants are written for it."""

from __future__ import annotations

import struct
from typing import NamedTuple


class Target(NamedTuple):
    """Doubles in a vector, fused multiply-add, and the x86 family."""

    lanes: int
    fma: bool
    x86: bool


def literal(value: float) -> str:
    """A number, to the last bit."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def splat(value: float) -> str:
    """A constant in every lane."""
    return f"splat (double {literal(value)})"
