"""What one core can do at most: fused multiply-adds in registers, bytes written past the caches, sines and cosines."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable

import numpy as np

from linkwise.backend import llvm
from linkwise.backend.native import function
from linkwise.graph.program import Port, trace

CHAINS = 12  # enough to hide the latency of every known core
TURNS = 200_000
LANES = 4  # doubles in a vector of these measurements
WRITTEN = 1 << 26  # bytes, beyond every cache
ANGLES = 32


def peak_flops() -> float:
    """The most floating-point operations a second that this core reaches; a fused pair counts two."""
    t = f"<{LANES} x double>"
    phis = "\n".join(f"%x{k} = phi {t} [splat (double {k + 1}.0), %entry], [%y{k}, %loop]" for k in range(CHAINS))
    half, one = "splat (double 0.5)", "splat (double 1.0)"
    body = "\n".join(f"%y{k} = call {t} @llvm.fma.v4f64({t} %x{k}, {t} {half}, {t} {one})" for k in range(CHAINS))
    sums = "\n".join(f"%s{k} = fadd {t} {'%y0' if k == 1 else f'%s{k - 1}'}, %y{k}" for k in range(1, CHAINS))
    text = f"""
declare {t} @llvm.fma.v4f64({t}, {t}, {t})
define double @measured(i64 %n) {{
entry:
br label %loop
loop:
%i = phi i64 [0, %entry], [%next, %loop]
{phis}
{body}
%next = add i64 %i, 1
%more = icmp slt i64 %next, %n
br i1 %more, label %loop, label %exit
exit:
{sums}
%r = extractelement {t} %s{CHAINS - 1}, i32 0
ret double %r
}}"""
    measured = _compiled(text, ctypes.c_double, ctypes.c_int64)
    return TURNS * CHAINS * LANES * 2 / _best(lambda: measured(TURNS), 60)


def peak_bytes() -> float:
    """The most bytes a second that this core writes to memory: whole lines, by stores that leave the caches alone.

    Not zeros, which some memory takes three times as fast.
    """
    t = f"<{LANES} x double>"
    stores = "\n".join(
        f"%q{k} = getelementptr {t}, ptr %p, i64 {k}\n"
        f"store {t} splat (double 1.5), ptr %q{k}, align 32, !nontemporal !0"
        for k in range(4)
    )
    text = f"""
define void @measured(ptr %a, i64 %n) {{
entry:
br label %loop
loop:
%i = phi i64 [0, %entry], [%next, %loop]
%p = getelementptr i8, ptr %a, i64 %i
{stores}
%next = add i64 %i, {4 * LANES * 8}
%more = icmp slt i64 %next, %n
br i1 %more, label %loop, label %exit
exit:
ret void
}}
!0 = !{{i32 1}}"""
    measured = _compiled(text, None, ctypes.c_void_p, ctypes.c_int64)
    memory = np.ones(WRITTEN // 8 + 8)
    start = (memory.ctypes.data + 63) // 64 * 64
    return WRITTEN / _best(lambda: measured(start, WRITTEN), 40)


def sincos_seconds() -> float:
    """Seconds that one sine and cosine of one row take, in vectors as kernels have them."""

    def total(x: list) -> list[list]:
        return [[sum(f for a in x for f in (a.sin(), a.cos()))]]

    program = trace("sines", total, [Port("x", (ANGLES,))], [Port("y", (1,))])
    call, rows = function(program, ""), 64
    x, out = np.random.default_rng(0).uniform(-2, 2, (rows, ANGLES)), np.empty((rows, 1))

    def many() -> None:
        for _ in range(50):
            call(x, out=out)

    return _best(many, 60) / (50 * rows * ANGLES)


def _best(call: Callable[[], object], times: int) -> float:
    """Seconds of the quickest of so many calls."""
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def _compiled(text: str, *types: object) -> Callable[..., object]:
    """The function `measured` of a module; the first type is what it returns."""
    binding = llvm.binding()
    engine = binding.create_mcjit_compiler(binding.parse_assembly(text), llvm.machine(2))
    engine.finalize_object()
    call = ctypes.CFUNCTYPE(*types)(engine.get_function_address("measured"))
    call.engine = engine  # the code lives as long as its engine
    return call
