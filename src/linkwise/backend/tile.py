"""Assembly that moves a tile, as many rows as a vector has lanes, into vectors of lanes and back, by transposing it."""

from __future__ import annotations

from linkwise.backend.prefetch import LINE
from linkwise.backend.shuffle import joined, parted, transposed
from linkwise.backend.target import Target

SIGNATURE = "(ptr noalias %buffer, ptr %a, i64 %rs, i64 %cs, i64 %n, i64 %rows) noinline nounwind {\nentry:"


def load_tile(target: Target, block: int) -> str:
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
    merged, names = joined([f"%x{r}" for r in range(lanes)], target, block)
    turned, names = transposed(names, target)
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
{loads}{merged}
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


def store_tile(target: Target, block: int) -> str:
    """Lanes to rows; rows beyond the last are not written."""
    lanes, t, real, size = target.lanes, target.vector, target.real.name, target.real.bytes
    part = f"<{block} x {real}>"
    rows = _row_starts(lanes)
    loads = "\n".join(
        f"%b{r} = getelementptr {t}, ptr %b, i64 {r}\n%x{r} = load {t}, ptr %b{r}, align {target.bytes}"
        for r in range(block)
    )
    turned, names = transposed([f"%x{r}" for r in range(block)], target)
    split, names = parted(names, target)
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
{turned}{split}
{stores}
{_advance(block)}
br i1 %done, label %exit, label %blocks
{_by_numbers(f"%sb = getelementptr {t}, ptr %buffer, i64 %s", target)}
}}"""


def store_runs(target: Target, past: bool = False) -> str:
    """Lanes to rows of a full tile: runs of zero blocks, written as such, between runs of blocks from the buffer.

    Those that go past the cache begin at lines of it.
    """
    lanes, t, real = target.lanes, target.vector, target.real.name
    name, manner = "store_runs", f"{target.real.bytes}"
    if past:
        name, manner = "stream_runs", f"{LINE}, !nontemporal !{{i32 1}}"
    rows = _row_starts(lanes)
    zeros = "\n".join(
        f"%z{r} = getelementptr {real}, ptr %a{r}, i64 %zc\nstore {t} zeroinitializer, ptr %z{r}, align {manner}"
        for r in range(lanes)
    )
    loads = "\n".join(
        f"%y{r} = getelementptr {t}, ptr %b, i64 {r}\n%x{r} = load {t}, ptr %y{r}, align {target.bytes}"
        for r in range(lanes)
    )
    turned, names = transposed([f"%x{r}" for r in range(lanes)], target)
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


def scatter(target: Target) -> str:
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
