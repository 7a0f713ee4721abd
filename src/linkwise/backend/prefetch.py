"""Assembly for outputs that are larger than the cache: their stores need not wait for memory.

Each tile is stored at once, after it was computed: every line would be read first, and waited for. Instead a share of
a tile's lines is fetched before each chunk. Where the arrays are larger than any cache, so that nobody could find them
there later, and tiles are stored in whole lines, these are written past it, and nothing is read.
"""

from __future__ import annotations

from collections.abc import Sequence

from linkwise.backend.layout import Layout
from linkwise.backend.target import Target
from linkwise.graph.program import Port

FAR = 1 << 20  # bytes of outputs from which they are expected beyond the cache
FARTHEST = 1 << 24  # bytes of outputs that caches do not keep, or only in the place of all else
LINE = 64  # bytes that are fetched at once
MOST = 96  # lines that memory answers about while a chunk is computed: more would hold up what follows

CALL = "call void @fetch(ptr %ahead)"


def fetch(count: int) -> str:
    """The function `fetch`: the next lines of each of `count` outputs, by a table of addresses and numbers of lines."""
    return f"""declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
define internal void @fetch(ptr %ahead) noinline nounwind {{
entry:
br label %port
port:
%j = phi i64 [0, %entry], [%j1, %next]
%entry_at = getelementptr {{ptr, i64}}, ptr %ahead, i64 %j
%first = load ptr, ptr %entry_at
%lines_at = getelementptr {{ptr, i64}}, ptr %ahead, i64 %j, i32 1
%lines = load i64, ptr %lines_at
%bytes = mul i64 %lines, {LINE}
%end = getelementptr i8, ptr %first, i64 %bytes
store ptr %end, ptr %entry_at
br label %test
test:
%at = phi ptr [%first, %port], [%at1, %line]
%more = icmp ult ptr %at, %end
br i1 %more, label %line, label %next
line:
call void @llvm.prefetch.p0(ptr %at, i32 0, i32 2, i32 1)
%at1 = getelementptr i8, ptr %at, i64 {LINE}
br label %test
next:
%j1 = add i64 %j, 1
%done = icmp uge i64 %j1, {count}
br i1 %done, label %exit, label %port
exit:
ret void
}}"""


def passes(port: Port, layout: Layout, target: Target) -> bool:
    """Whether an output can be written past the cache: it is stored in vectors of whole lines, many of them zeros."""
    return bool(layout.runs) and target.x86 and target.bytes == LINE and target.real.bytes * port.size % LINE == 0


def past(outputs: Sequence[tuple[int, Port]], layouts: Sequence[Layout], target: Target) -> tuple[str, str, str]:
    """Declarations, code that finds for each output whether it is written past the cache, and what ends such writes."""
    row = target.real.bytes * sum(port.size for _, port in outputs)
    found, some = [], "false"
    for (j, port), layout in zip(outputs, layouts, strict=True):
        if not passes(port, layout, target):
            continue
        found.append(f"""%start{j} = ptrtoint ptr %p{j} to i64
%places{j} = or i64 %start{j}, %s{j}
%edge{j} = and i64 %places{j}, {LINE - 1}
%at_lines{j} = icmp eq i64 %edge{j}, 0
%past{j} = and i1 %at_lines{j}, %farthest
%some{j} = or i1 {some}, %past{j}""")
        some = f"%some{j}"
    if not found:
        return "", "", ""
    ended = f"""br i1 {some}, label %fence, label %fenced
fence:
call void @llvm.x86.sse.sfence()
br label %fenced
fenced:"""
    test = f"%farthest = icmp ugt i64 %all, {FARTHEST // max(1, row)}"
    return "declare void @llvm.x86.sse.sfence()", "\n".join([test, *found]), ended


# how many rows the arrays have, of which this may be a part
ALL = """%shared = icmp ne ptr %data, null
%shared_rows = getelementptr i64, ptr %data, i64 1
%all_at = select i1 %shared, ptr %shared_rows, ptr %dims
%all = load i64, ptr %all_at"""


def lines(outputs: Sequence[tuple[int, Port]], layouts: Sequence[Layout], target: Target, shares: int) -> str:
    """Code that makes the table %ahead: how many lines of each output a share has; none where arrays are small.

    Where the rows of an output are not contiguous, or are written past the cache, it is not fetched.
    """
    size = target.real.bytes
    row = size * sum(port.size for _, port in outputs)
    code = [
        f"%ahead = alloca {{ptr, i64}}, i64 {len(outputs)}",
        f"%large = icmp ugt i64 %all, {FAR // max(1, row)}",
    ]
    for k, ((j, port), layout) in enumerate(zip(outputs, layouts, strict=True)):
        share = min(-(-target.bytes * port.size // (LINE * shares)), MOST // len(outputs))
        wanted = f"select i1 %past{j}, i1 false, i1 %large" if passes(port, layout, target) else "and i1 %large, true"
        code.append(f"""%dense{j} = icmp eq i64 %s{j}, {size * port.size}
%wanted{j} = {wanted}
%fetched{j} = and i1 %dense{j}, %wanted{j}
%share{j} = select i1 %fetched{j}, i64 {share}, i64 0
%share_at{j} = getelementptr {{ptr, i64}}, ptr %ahead, i64 {k}, i32 1
store i64 %share{j}, ptr %share_at{j}""")
    return "\n".join(code)


def begin(outputs: Sequence[tuple[int, Port]]) -> str:
    """Code that points the table to the rows of a tile."""
    return "\n".join(
        f"%ahead{j} = getelementptr {{ptr, i64}}, ptr %ahead, i64 {k}\nstore ptr %q{j}, ptr %ahead{j}"
        for k, (j, _) in enumerate(outputs)
    )
