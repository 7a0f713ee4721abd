"""The arithmetic limit of one core: independent fused multiply-adds on vectors of four doubles."""

from __future__ import annotations

import ctypes
import time

from linkwise.backend import llvm

CHAINS = 12  # enough to hide the latency of every known core
TURNS = 200_000


def peak_flops() -> float:
    """The most floating-point operations a second that this core reaches; a fused pair counts two."""
    binding = llvm.binding()
    t = "<4 x double>"
    phis = "\n".join(f"%x{k} = phi {t} [splat (double {k + 1}.0), %entry], [%y{k}, %loop]" for k in range(CHAINS))
    half, one = "splat (double 0.5)", "splat (double 1.0)"
    body = "\n".join(f"%y{k} = call {t} @llvm.fma.v4f64({t} %x{k}, {t} {half}, {t} {one})" for k in range(CHAINS))
    sums = "\n".join(f"%s{k} = fadd {t} {'%y0' if k == 1 else f'%s{k - 1}'}, %y{k}" for k in range(1, CHAINS))
    text = f"""
declare {t} @llvm.fma.v4f64({t}, {t}, {t})
define double @peak(i64 %n) {{
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
    engine = binding.create_mcjit_compiler(binding.parse_assembly(text), llvm.machine(2))
    engine.finalize_object()
    function = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64)(engine.get_function_address("peak"))
    best = float("inf")
    for _ in range(60):
        start = time.perf_counter()
        function(TURNS)
        best = min(best, time.perf_counter() - start)
    return TURNS * CHAINS * 4 * 2 / best
