"""Assembly of a program's bare functions: `rows(n, inputs, outputs)` and `row(inputs, outputs)`, for whoever calls C.

Both call the loop that NumPy calls, so their numbers are the kernel's to the last bit. The rows of an array follow each
other without gaps. Where the loop takes its buffers from the heap and gets none, the outputs are NaN: nobody is there
to whom an error could be raised.
"""

from __future__ import annotations

from math import prod

from linkwise.backend.target import Target
from linkwise.graph.program import Port, Program


def entries(program: Program, target: Target, hungry: bool) -> str:
    """The two functions of a program without steps; a hungry one has buffers on the heap."""
    if program.repeated:
        return ""
    ports = (*program.arguments, *program.outputs)
    steps = _steps(ports, target.real.bytes)
    given = ", ".join(f"ptr %p{j}" for j in range(len(ports)))
    stores = [f"%a{j} = getelementptr ptr, ptr %args, i64 {j}\nstore ptr %p{j}, ptr %a{j}" for j in range(len(ports))]
    told = "%told" if hungry else "null"
    return "\n".join(
        [
            f"@row_steps = internal constant [{len(steps)} x i64] [{', '.join(f'i64 {s}' for s in steps)}]",
            f"define void @rows(i64 %n, {given}) nounwind {{\nentry:",
            f"%args = alloca ptr, i64 {len(ports)}\n%dims = alloca i64\nstore i64 %n, ptr %dims",
            *stores,
            _TOLD if hungry else "",
            f"call void @loop(ptr %args, ptr %dims, ptr @row_steps, ptr {told}) noinline",
            _ASKED if hungry else "br label %done",
            _missing(program, target) if hungry else "",
            "done:\nret void\n}",
            f"define void @row({given}) nounwind {{\ncall void @rows(i64 1, {given})\nret void\n}}",
        ]
    )


# what the loop is told: that memory is not missing yet, and how many rows there are in all
_TOLD = """%told = alloca i64, i64 2
store i64 0, ptr %told
%all = getelementptr i64, ptr %told, i64 1
store i64 %n, ptr %all"""
_ASKED = """%short = load i64, ptr %told
%fine = icmp eq i64 %short, 0
br i1 %fine, label %done, label %missing
missing:"""


def _missing(program: Program, target: Target) -> str:
    """NaN in all rows of all outputs, one output after the other."""
    real, lines, before = target.real.name, [], "missing"
    for j, port in enumerate(program.outputs, start=len(program.arguments)):
        lines.append(f"""%count{j} = mul i64 %n, {port.size}
br label %fill{j}
fill{j}:
%k{j} = phi i64 [0, %{before}], [%next{j}, %put{j}]
%more{j} = icmp slt i64 %k{j}, %count{j}
br i1 %more{j}, label %put{j}, label %filled{j}
put{j}:
%at{j} = getelementptr {real}, ptr %p{j}, i64 %k{j}
store {real} {target.literal(float("nan"))}, ptr %at{j}
%next{j} = add i64 %k{j}, 1
br label %fill{j}
filled{j}:""")
        before = f"filled{j}"
    return "\n".join([*lines, "br label %done"])


def _steps(ports: tuple[Port, ...], size: int) -> list[int]:
    """Bytes from row to row of each port, then along each axis of each port."""
    inner = [size * prod(p.shape[k + 1 :]) for p in ports for k in range(len(p.shape))]
    return [*(size * p.size for p in ports), *inner]
