"""Assembly that moves rows of arrays into vectors of lanes and back, by transposing tiles."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from linkwise.backend import prefetch
from linkwise.backend.layout import Layout
from linkwise.backend.target import Target
from linkwise.graph.program import Port, Program

FEW = 4  # numbers of a row that are moved at once where it has fewer than a vector


def transfers(program: Program, target: Target, layouts: Sequence[Layout]) -> str:
    """Functions `load_port<j>` and `store_port<j>` for every port, and the ones that they share.

    A port function takes the buffer, the first row, the step from row to row, the steps within a row, and how many
    rows there are; it goes through a row in one sweep where the row is contiguous, else line by line.
    """
    texts = [_load_tile(target, block) for block in sorted({_block(p, target) for p in program.arguments})]
    texts += [_store_tile(target, block) for block in sorted({_block(p, target) for p in program.outputs})]
    if any(layout.runs for layout in layouts):
        texts += [_store_runs(target), _scatter(target)]
    if any(prefetch.passes(p, x, target) for p, x in zip(program.outputs, layouts, strict=True)):
        texts.append(_store_runs(target, past=True))
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
    """A store that writes zeros without reading them, where rows are contiguous and a tile is full.

    One that can go past the cache is told whether to.
    """
    rank = len(port.shape)
    whole, test = _whole(port, target)
    runs, last = len(layout.runs), port.size - target.lanes
    step = f"""%to = getelementptr i32, ptr @places{j}, i64 %bk
call void @scatter(ptr %buffer, ptr %to, ptr %at, i64 %rs, i64 %c{rank - 1}, i64 {port.shape[-1]}, i64 %rows)"""
    passes = prefetch.passes(port, layout, target)
    given = f"(ptr %buffer, ptr %a, i64 %rs, ptr @runs{j}, i64 {runs}, i64 {last})"
    choice = f"""br i1 %past, label %stream, label %keep
stream:
call void @stream_runs{given}
ret void
keep:"""
    return f"""{_head(f"store_port{j}", rank, ", i1 %past" if passes else "")}
{whole}
br i1 {test}, label %whole, label %lines
whole:
%full = icmp eq i64 %rows, {target.lanes}
br i1 %full, label %tile, label %few
tile:
{choice if passes else ""}
call void @store_runs{given}
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


def _head(name: str, rank: int, more: str = "") -> str:
    strides = [f"%cp{d} = getelementptr i64, ptr %cs, i64 {d}\n%c{d} = load i64, ptr %cp{d}" for d in range(rank)]
    given = f"ptr %buffer, ptr %a, i64 %rs, ptr %cs, i64 %rows{more}"
    first = f"define internal void @{name}({given}) alwaysinline nounwind {{"
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


SIGNATURE = "(ptr noalias %buffer, ptr %a, i64 %rs, i64 %cs, i64 %n, i64 %rows) noinline nounwind {\nentry:"


def _load_tile(target: Target, block: int) -> str:
    """Rows to lanes: number k of each row into vector k. Rows beyond the last repeat it."""
    lanes, t, real, size = target.lanes, target.vector, target.real.name, target.real.bytes
    part = f"<{block} x {real}>"
    rows = "\n".join(
        f"""%in{r} = icmp ult i64 {r}, %last
%row{r} = select i1 %in{r}, i64 {r}, i64 %last
%off{r} = mul i64 %row{r}, %rs
%a{r} = getelementptr i8, ptr %a, i64 %off{r}"""
        for r in range(lanes)
    )
    loads = "\n".join(
        f"%p{r} = getelementptr {real}, ptr %a{r}, i64 %k\n%x{r} = load {part}, ptr %p{r}, align {size}"
        for r in range(lanes)
    )
    joined, names = _joined([f"%x{r}" for r in range(lanes)], target, block)
    turned, names = _transpose(names, target)
    stores = "\n".join(
        f"%b{r} = getelementptr {t}, ptr %b, i64 {r}\nstore {t} {name}, ptr %b{r}, align {target.bytes}"
        for r, name in enumerate(names)
    )
    gather = "\n".join(
        f"""%q{r} = getelementptr i8, ptr %a{r}, i64 %so
%d{r} = load {real}, ptr %q{r}, align {size}
%v{r} = insertelement {t} {f"%v{r - 1}" if r else "poison"}, {real} %d{r}, i32 {r}"""
        for r in range(lanes)
    )
    return f"""
define internal void @load_tile{block}{SIGNATURE}
%last = sub i64 %rows, 1
{rows}
%contiguous = icmp eq i64 %cs, {size}
%wide = icmp uge i64 %n, {block}
%fast = and i1 %contiguous, %wide
br i1 %fast, label %blocks, label %single
blocks:
%k = phi i64 [0, %entry], [%k3, %blocks]
{loads}{joined}
{turned}
%b = getelementptr {t}, ptr %buffer, i64 %k
{stores}
{_advance(block)}
br i1 %done, label %exit, label %blocks
single:
%s = phi i64 [0, %entry], [%s2, %single]
%so = mul i64 %s, %cs
{gather}
%sb = getelementptr {t}, ptr %buffer, i64 %s
store {t} %v{lanes - 1}, ptr %sb, align {target.bytes}
%s2 = add i64 %s, 1
%sd = icmp uge i64 %s2, %n
br i1 %sd, label %exit, label %single
exit:
ret void
}}"""


def _store_tile(target: Target, block: int) -> str:
    """Lanes to rows; rows beyond the last are not written."""
    lanes, t, real, size = target.lanes, target.vector, target.real.name, target.real.bytes
    part = f"<{block} x {real}>"
    rows = _row_starts(lanes)
    loads = "\n".join(
        f"%b{r} = getelementptr {t}, ptr %b, i64 {r}\n%x{r} = load {t}, ptr %b{r}, align {target.bytes}"
        for r in range(block)
    )
    turned, names = _transpose([f"%x{r}" for r in range(block)], target)
    parted, names = _parted(names, target)
    stores = "\n".join(
        f"%p{r} = getelementptr {real}, ptr %a{r}, i64 %k\nstore {part} {name}, ptr %p{r}, align {size}"
        for r, name in enumerate(names)
    )
    return f"""
define internal void @store_tile{block}{SIGNATURE}
%full = icmp eq i64 %rows, {lanes}
{rows}
%contiguous = icmp eq i64 %cs, {size}
%wide = icmp uge i64 %n, {block}
%f1 = and i1 %contiguous, %wide
%fast = and i1 %f1, %full
br i1 %fast, label %blocks, label %row
blocks:
%k = phi i64 [0, %entry], [%k3, %blocks]
%b = getelementptr {t}, ptr %buffer, i64 %k
{loads}
{turned}{parted}
{stores}
{_advance(block)}
br i1 %done, label %exit, label %blocks
{_by_numbers(f"%sb = getelementptr {t}, ptr %buffer, i64 %s", target)}
}}"""


def _store_runs(target: Target, past: bool = False) -> str:
    """Lanes to rows of a full tile: runs of zero blocks, written as such, between runs of blocks from the buffer.

    Those that go past the cache begin at lines of it.
    """
    lanes, t, real = target.lanes, target.vector, target.real.name
    name, manner = (
        ("stream_runs", f"{prefetch.LINE}, !nontemporal !{{i32 1}}") if past else ("store_runs", f"{target.real.bytes}")
    )
    rows = _row_starts(lanes)
    zeros = "\n".join(
        f"%z{r} = getelementptr {real}, ptr %a{r}, i64 %zc\nstore {t} zeroinitializer, ptr %z{r}, align {manner}"
        for r in range(lanes)
    )
    loads = "\n".join(
        f"%y{r} = getelementptr {t}, ptr %b, i64 {r}\n%x{r} = load {t}, ptr %y{r}, align {target.bytes}"
        for r in range(lanes)
    )
    turned, names = _transpose([f"%x{r}" for r in range(lanes)], target)
    stores = "\n".join(
        f"%p{r} = getelementptr {real}, ptr %a{r}, i64 %dc\nstore {t} {value}, ptr %p{r}, align {manner}"
        for r, value in enumerate(names)
    )

    def column(name: str, number: str) -> str:  # the last block may overlap the one before it
        return f"""%{name}k = mul i64 {number}, {lanes}
%{name}o = icmp ugt i64 %{name}k, %top
%{name}c = select i1 %{name}o, i64 %top, i64 %{name}k"""

    return f"""
define internal void @{name}(ptr noalias %buffer, ptr %a, i64 %rs, ptr %runs, i64 %n, i64 %top) noinline nounwind {{
entry:
{rows}
%first = getelementptr {t}, ptr %buffer, i64 1
br label %run
run:
%i = phi i64 [0, %entry], [%i1, %next]
%at = phi i64 [0, %entry], [%de, %next]
%from = phi ptr [%first, %entry], [%left, %next]
%rp = getelementptr i64, ptr %runs, i64 %i
%ze = load i64, ptr %rp
%dp = getelementptr i64, ptr %rp, i64 1
%de = load i64, ptr %dp
%some = icmp ult i64 %at, %ze
br i1 %some, label %zero, label %between
zero:
%zb = phi i64 [%at, %run], [%zb1, %zero]
{column("z", "%zb")}
{zeros}
%zb1 = add i64 %zb, 1
%zmore = icmp ult i64 %zb1, %ze
br i1 %zmore, label %zero, label %between
between:
%any = icmp ult i64 %ze, %de
br i1 %any, label %dense, label %next
dense:
%db = phi i64 [%ze, %between], [%db1, %dense]
%b = phi ptr [%from, %between], [%b1, %dense]
{column("d", "%db")}
{loads}
{turned}
{stores}
%b1 = getelementptr {t}, ptr %b, i64 {lanes}
%db1 = add i64 %db, 1
%dmore = icmp ult i64 %db1, %de
br i1 %dmore, label %dense, label %next
next:
%left = phi ptr [%from, %between], [%b1, %dense]
%i1 = add i64 %i, 2
%last = mul i64 %n, 2
%over = icmp uge i64 %i1, %last
br i1 %over, label %exit, label %run
exit:
ret void
}}"""


def _scatter(target: Target) -> str:
    """Lanes to rows, number by number, each from the vector that a table names."""
    place = f"""%pp = getelementptr i32, ptr %places, i64 %s
%p = load i32, ptr %pp
%sb = getelementptr {target.vector}, ptr %buffer, i32 %p"""
    return f"""
define internal void @scatter(ptr noalias %buffer, ptr %places, ptr %a, i64 %rs, i64 %cs, i64 %n, i64 %rows) noinline \
nounwind {{
entry:
br label %row
{_by_numbers(place, target)}
}}"""


def _by_numbers(place: str, target: Target) -> str:
    """Lanes to rows, number by number: `place` finds the vector %sb of number %s, in which row %r has its lane."""
    real, size = target.real.name, target.real.bytes
    return f"""row:
%r = phi i64 [0, %entry], [%r2, %rowend]
%ro = mul i64 %r, %rs
%ra = getelementptr i8, ptr %a, i64 %ro
br label %single
single:
%s = phi i64 [0, %row], [%s2, %single]
%so = mul i64 %s, %cs
%q = getelementptr i8, ptr %ra, i64 %so
{place}
%sl = getelementptr {real}, ptr %sb, i64 %r
%d = load {real}, ptr %sl, align {size}
store {real} %d, ptr %q, align {size}
%s2 = add i64 %s, 1
%sd = icmp uge i64 %s2, %n
br i1 %sd, label %rowend, label %single
rowend:
%r2 = add i64 %r, 1
%rd = icmp uge i64 %r2, %rows
br i1 %rd, label %exit, label %row
exit:
ret void"""


def _row_starts(lanes: int) -> str:
    """Where the rows of a full tile begin, %a0, %a1, ..."""
    return "\n".join(f"%off{r} = mul i64 {r}, %rs\n%a{r} = getelementptr i8, ptr %a, i64 %off{r}" for r in range(lanes))


def _advance(block: int) -> str:
    """The next block of columns; the last one may overlap the one before it."""
    return f"""%k2 = add i64 %k, {block}
%top = sub i64 %n, {block}
%over = icmp ugt i64 %k2, %top
%k3 = select i1 %over, i64 %top, i64 %k2
%done = icmp uge i64 %k2, %n"""


def _joined(rows: list[str], target: Target, block: int) -> tuple[str, list[str]]:
    """Blocks of single rows joined to vectors: of four, those of rows 0, 4, 8, ..., of rows 1, 5, 9, ..., and so on."""
    width, lines = block, [""]
    while width < target.lanes:
        t, joined = f"<{width} x {target.real.name}>", []
        for start in range(0, len(rows), 2 * block):
            for k in range(start, start + block):
                lines.append(f"%j{width}_{k} = {_shuffle(t, rows[k], rows[k + block], range(2 * width))}")
                joined.append(f"%j{width}_{k}")
        rows, width = joined, 2 * width
    return "\n".join(lines), rows


def _parted(vectors: list[str], target: Target) -> tuple[str, list[str]]:
    """Vectors of blocks of several rows, parted into these rows again."""
    block, lines, rows = len(vectors), [""], []
    if block == target.lanes:
        return "", vectors
    for r in range(target.lanes):
        first = r - r % block
        lines.append(f"%w{r} = {_shuffle(target.vector, vectors[r % block], 'poison', range(first, first + block))}")
        rows.append(f"%w{r}")
    return "\n".join(lines), rows


def _transpose(rows: list[str], target: Target) -> tuple[str, list[str]]:
    """Square transpositions side by side, by halves: after the step of width w, blocks of w by w have moved."""
    lanes, t, width, lines = target.lanes, target.vector, 1, []
    while width < len(rows):
        turned = list(rows)
        for i in range(len(rows)):
            if i & width:
                continue
            j = i | width
            for out, shift in ((i, 0), (j, width)):
                picks = [(k & ~width) + shift + (lanes if k & width else 0) for k in range(lanes)]
                turned[out] = f"%tr{width}_{out}"
                lines.append(f"{turned[out]} = {_shuffle(t, rows[i], rows[j], picks)}")
        rows, width = turned, 2 * width
    return "\n".join(lines), rows


def _shuffle(t: str, a: str, b: str, picks: Sequence[int]) -> str:
    mask = ", ".join(f"i32 {p}" for p in picks)
    return f"shufflevector {t} {a}, {t} {b}, <{len(picks)} x i32> <{mask}>"
