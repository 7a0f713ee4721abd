"""Assembly that moves rows of each port between its array and the buffer, whole or line by line."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from linkwise.backend.layout import Layout
from linkwise.backend.target import Target
from linkwise.backend.tile import load_tile, scatter, store_runs, store_tile
from linkwise.graph.program import Port, Program

FEW = 4  # numbers of a row that are moved at once where it has fewer than a vector


def transfers(program: Program, target: Target, layouts: Sequence[Layout]) -> str:
    """Functions `load_port<j>` and `store_port<j>` for every port, and the ones that they share.

    A port function takes the buffer, the first row, the step from row to row, the steps within a row, and how many
    rows there are; it goes through a row in one sweep where the row is contiguous, else line by line.
    """
    texts = [load_tile(target, block) for block in sorted({_block(p, target) for p in program.arguments})]
    texts += [store_tile(target, block) for block in sorted({_block(p, target) for p in program.outputs})]
    if any(layout.runs for layout in layouts):
        texts += [store_runs(target), scatter(target)]
    for j, port in enumerate(program.arguments):
        texts.append(_port(f"load_port{j}", "load", port, target))
    for j, (port, layout) in enumerate(zip(program.outputs, layouts, strict=True), start=len(program.arguments)):
        sparse = bool(layout.runs)
        texts += [_tables(j, layout)] if sparse else []
        texts.append(
            _sparse_port(j, port, layout, target) if sparse else _port(f"store_port{j}", "store", port, target)
        )
    return "\n".join(texts)


def _block(port: Port, target: Target) -> int:
    """How many numbers of each row are transposed at once: as many as there are rows, fewer where it has fewer."""
    return FEW if FEW <= port.size < target.lanes else target.lanes


def _port(name: str, verb: str, port: Port, target: Target) -> str:
    rank, width = len(port.shape), port.size
    worker = f"{verb}_tile{_block(port, target)}"
    if rank < 2:
        step = "%c0" if rank else f"{target.real.bytes}"
        return f"""{_head(name, rank)}
call void @{worker}(ptr %buffer, ptr %a, i64 %rs, i64 {step}, i64 {width}, i64 %rows)
ret void
}}"""
    whole, test = _whole(port, target)
    step = f"""%to = getelementptr {target.vector}, ptr %buffer, i64 %bk
call void @{worker}(ptr %to, ptr %at, i64 %rs, i64 %c{rank - 1}, i64 {port.shape[-1]}, i64 %rows)"""
    return f"""{_head(name, rank)}
{whole}
br i1 {test}, label %whole, label %lines
whole:
call void @{worker}(ptr %buffer, ptr %a, i64 %rs, i64 {target.real.bytes}, i64 {width}, i64 %rows)
ret void
{_lines(port, step)}
}}"""


def _sparse_port(j: int, port: Port, layout: Layout, target: Target) -> str:
    """A store that writes zeros without reading them, where rows are contiguous and a tile is full."""
    rank = len(port.shape)
    whole, test = _whole(port, target)
    runs, last = len(layout.runs), port.size - target.lanes
    step = f"""%to = getelementptr i32, ptr @places{j}, i64 %bk
call void @scatter(ptr %buffer, ptr %to, ptr %at, i64 %rs, i64 %c{rank - 1}, i64 {port.shape[-1]}, i64 %rows)"""
    return f"""{_head(f"store_port{j}", rank)}
{whole}
br i1 {test}, label %whole, label %lines
whole:
%full = icmp eq i64 %rows, {target.lanes}
br i1 %full, label %tile, label %few
tile:
call void @store_runs(ptr %buffer, ptr %a, i64 %rs, ptr @runs{j}, i64 {runs}, i64 {last})
ret void
few:
call void @scatter(ptr %buffer, ptr @places{j}, ptr %a, i64 %rs, i64 {target.real.bytes}, i64 {port.size}, i64 %rows)
ret void
{_lines(port, step)}
}}"""


def _tables(j: int, layout: Layout) -> str:
    """The constants of a port with zeros left out."""
    places = ", ".join(f"i32 {p[-1]}" for p in layout.places)
    runs = ", ".join(f"i64 {end}" for run in layout.runs for end in run)
    return f"""@places{j} = internal constant [{len(layout.places)} x i32] [{places}]
@runs{j} = internal constant [{2 * len(layout.runs)} x i64] [{runs}]"""


def _head(name: str, rank: int) -> str:
    strides = [f"%cp{d} = getelementptr i64, ptr %cs, i64 {d}\n%c{d} = load i64, ptr %cp{d}" for d in range(rank)]
    first = f"define internal void @{name}(ptr %buffer, ptr %a, i64 %rs, ptr %cs, i64 %rows) alwaysinline nounwind {{"
    return "\n".join(["", first, "entry:", *strides])


def _whole(port: Port, target: Target) -> tuple[str, str]:
    """Code that finds whether a row is contiguous, and the name of the answer."""
    lines, test = [], "true"
    for d in range(len(port.shape)):
        lines.append(
            f"%e{d} = icmp eq i64 %c{d}, {target.real.bytes * prod(port.shape[d + 1 :])}\n%f{d} = and i1 {test}, %e{d}"
        )
        test = f"%f{d}"
    return "\n".join(lines), test


def _lines(port: Port, step: str) -> str:
    """The loop over lines of a row: `step` knows where line %l begins (%at) and how many numbers precede it (%bk)."""
    indices, offset, rest = [], "0", "%l"
    for d in range(len(port.shape) - 2, -1, -1):  # the line's index along each axis but the last
        indices.append(f"""%k{d} = urem i64 {rest}, {port.shape[d]}
%r{d} = udiv i64 {rest}, {port.shape[d]}
%m{d} = mul i64 %k{d}, %c{d}
%o{d} = add i64 {offset}, %m{d}""")
        offset, rest = f"%o{d}", f"%r{d}"
    return "\n".join(
        [
            "lines:\n%l = phi i64 [0, %entry], [%l1, %lines]",
            *indices,
            f"""%at = getelementptr i8, ptr %a, i64 {offset}
%bk = mul i64 %l, {port.shape[-1]}
{step}
%l1 = add i64 %l, 1
%done = icmp uge i64 %l1, {prod(port.shape[:-1])}
br i1 %done, label %exit, label %lines
exit:
ret void""",
        ]
    )
