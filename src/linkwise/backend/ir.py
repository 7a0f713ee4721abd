"""LLVM assembly for a program: straight-line functions over SIMD lanes, and the loop that NumPy calls.

Rows of a batch are taken `lanes` at a time. A tile of them is transposed into a buffer of vectors, one for each input
number; the functions `chunk0`, `chunk1`, ... read and write such vectors only; a second transposition stores the
results. A short last tile repeats its last row, so that a row's result never depends on the batch around it. Long
programs are cut into chunks, because LLVM's time grows faster than a function's length; values that one chunk needs
of another pass through a scratch buffer whose places are used again once free. A loop that runs before the program has
functions like these of its own, whose names begin with `turn_`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count, pairwise
from typing import Any

import numpy as np

from linkwise.backend import iteration, layout, loop, port_transfers, prefetch, repeats
from linkwise.backend.operations import Writer, header, operation
from linkwise.backend.repeats import Chunk
from linkwise.backend.target import Target
from linkwise.graph.node import Node
from linkwise.graph.program import Program

THIN = 3 / 8  # of the largest size of a chunk: from there on it may end, where few values are alive


def modules(program: Program, target: Target, chunk_size: int, chunks_in_module: int) -> list[str]:
    """The assembly of a program: first the module with the loop, then those with the chunks it calls."""
    places = {n.index: k for k, n in enumerate(n for group in program.leaves for n in group)}
    layouts = layout.layouts(program, target.lanes)
    results: dict[int, list[int]] = {}
    for n, vectors in zip((n for group in program.results for n in group), loop.places(layouts), strict=True):
        results.setdefault(n.index, []).extend(vectors)
    between = "" if program.repeated else prefetch.CALL
    texts, all_calls, scratch = _functions(program, target, chunk_size, places, results, between=between)
    shares = 0 if program.repeated else all_calls.count(between)
    turns_text = ""
    if program.before:
        at = iteration.places(program, program.before)
        turn_texts, turn_calls, turn_scratch = _functions(
            program.before.body, target, chunk_size, at, iteration.results(program.before), prefix=iteration.PREFIX
        )
        texts, scratch = [*texts, *turn_texts], max(scratch, turn_scratch)
        turns_text = f"{turn_calls}\n{iteration.turns(program, program.before, target)}\n"
    copies = [(places[k], to) for k, vectors in results.items() if k in places for to in vectors]
    head = header(target)
    main = "\n".join(
        [
            head,
            turns_text + all_calls,
            _copies(copies, target),
            port_transfers.transfers(program, target, layouts),
            prefetch.fetch(len(program.outputs)) if shares else "",
            loop.loop(program, target, layouts, scratch, shares),
        ]
    )
    packs = [texts[k : k + chunks_in_module] for k in range(0, len(texts), chunks_in_module)]
    return [main, *("\n".join([head, *pack]) for pack in packs)]


Places = dict[int, int]
Results = dict[int, list[int]]


def _functions(
    program: Program,
    target: Target,
    chunk_size: int,
    places: Places,
    results: Results,
    *,
    prefix: str = "",
    between: str = "",
) -> tuple[list[str], str, int]:
    """The functions of a program's chunks, `all_chunks`, which calls them, and how many scratch places they need.

    `between` is done before each chunk, where they are called one by one.
    """
    pieces = repeats.pieces(program.schedule)
    if pieces:
        chunks, scratch = with_scratch(pieces)
        texts, all_calls = _by_forms(chunks, target, places, results, prefix)
    else:
        chunks, scratch = split(program, chunk_size)
        texts, all_calls = _one_by_one(chunks, target, places, results, prefix, between)
    return texts, all_calls, scratch


def split(program: Program, size: int) -> tuple[list[Chunk], int]:
    """The schedule in pieces of at most so many operations, cut where few values are alive, with scratch places."""
    schedule = program.schedule
    ends = cuts(schedule, size)
    return with_scratch([schedule[a:b] for a, b in pairwise((0, *ends))])


def cuts(schedule: Sequence[Node], size: int) -> list[int]:
    """Where pieces of a schedule end: each where the fewest values cross, at THIN of its size or beyond."""
    count = len(schedule)
    last = {a.index: k for k, n in enumerate(schedule) for a in n.args}
    changes = np.zeros(count + 1, np.int64)
    for k, n in enumerate(schedule):
        if (end := last.get(n.index)) is not None:
            changes[k + 1] += 1
            changes[end + 1] -= 1
    alive = np.cumsum(changes)
    least, ends, at = max(1, int(THIN * size)), [], 0
    while count - at > size:
        far = max(at + least, min(at + size, count - least))
        at = far - int(np.argmin(alive[at + least : far + 1][::-1]))  # of equal places the last
        ends.append(at)
    return [*ends, count] if count else []


def with_scratch(pieces: Sequence[Sequence[Node]]) -> tuple[list[Chunk], int]:
    """Pieces of a schedule with scratch places for what crosses them, and how many places are needed."""
    home = {n.index: c for c, piece in enumerate(pieces) for n in piece}
    last: dict[int, int] = {}
    for c, piece in enumerate(pieces):
        for n in piece:
            for a in n.args:
                if a.args and home[a.index] != c:
                    last[a.index] = c
    free: list[int] = []
    place: dict[int, int] = {}
    total, chunks = 0, []
    expiring: dict[int, list[int]] = {}
    for c, piece in enumerate(pieces):
        loads = {a.index: place[a.index] for n in piece for a in n.args if a.args and home[a.index] != c}
        stores = {}
        for n in piece:
            if n.index in last:
                if not free:
                    free.append(total)
                    total += 1
                stores[n.index] = place[n.index] = free.pop()
                expiring.setdefault(last[n.index], []).append(place[n.index])
        chunks.append(Chunk(piece, loads, stores))
        free.extend(expiring.pop(c, ()))
    return chunks, total


def _one_by_one(
    chunks: Sequence[Chunk], target: Target, places: Places, results: Results, prefix: str, between: str
) -> tuple[list[str], str]:
    """A function for each chunk, and `all_chunks`, which calls them."""
    names = [f"{prefix}chunk{k}" for k in range(len(chunks))]
    texts = [_chunk(c, name, target, places, results) for name, c in zip(names, chunks, strict=True)]
    declared = [f"declare void @{name}(ptr, ptr, ptr)" for name in names]
    calls = [f"{between}\ncall void @{name}(ptr %in, ptr %out, ptr %scratch)" for name in names]
    return texts, "\n".join([*declared, _all(prefix), *calls, "ret void\n}"])


def _all(prefix: str) -> str:
    """The head of `all_chunks`."""
    arguments = "ptr %in, ptr %out, ptr %scratch, ptr %ahead"
    return f"define internal void @{prefix}all_chunks({arguments}) alwaysinline nounwind {{\nentry:"


def _by_forms(
    chunks: Sequence[Chunk], target: Target, places: Places, results: Results, prefix: str
) -> tuple[list[str], str]:
    """A function for each form of chunk, and `all_chunks`, which goes through tables of calls, places and constants."""
    numbers: dict[repeats.Form, int] = {}
    order: list[tuple[int, int, int]] = []
    table: list[int] = []
    constants: list[float] = []
    for c in chunks:
        form, where, values = repeats.form(c, places, results)
        order.append((numbers.setdefault(form, len(numbers)), len(table), len(constants)))
        table += where
        constants += values
    declared = [f"declare void @{prefix}form{k}(ptr, ptr, ptr, ptr, ptr)" for k in range(len(numbers))]
    count = len(order)

    def array(name: str, kind: str, items: Sequence[str]) -> str:
        content = ", ".join(f"{kind} {x}" for x in items) or f"{kind} zeroinitializer"
        return f"@{prefix}{name} = internal constant [{max(1, len(items))} x {kind}] [{content}]"

    tables = [
        array("form", "ptr", [f"@{prefix}form{k}" for k, _, _ in order]),
        array("table_at", "i32", [str(k) for _, k, _ in order]),
        array("number_at", "i32", [str(k) for _, _, k in order]),
        array("table", "i32", [str(k) for k in table]),
        array("number", target.real.name, [target.literal(x) for x in constants]),
    ]
    picks = [
        f"%{name}_p = getelementptr {kind}, ptr @{prefix}{name}, i64 %k\n%{name} = load {kind}, ptr %{name}_p"
        for name, kind in (("form", "ptr"), ("table_at", "i32"), ("number_at", "i32"))
    ]
    body = f"""br label %next
next:
%k = phi i64 [0, %entry], [%k1, %next]
{chr(10).join(picks)}
%table = getelementptr i32, ptr @{prefix}table, i32 %table_at
%number = getelementptr {target.real.name}, ptr @{prefix}number, i32 %number_at
call void %form(ptr %in, ptr %out, ptr %scratch, ptr %table, ptr %number)
%k1 = add i64 %k, 1
%done = icmp uge i64 %k1, {count}
br i1 %done, label %exit, label %next
exit:
ret void
}}"""
    texts = [_form(form, f"{prefix}form{k}", target) for form, k in numbers.items()]
    return texts, "\n".join([*declared, *tables, _all(prefix), body])


def _copies(pairs: Sequence[tuple[int, int]], target: Target) -> str:
    """The function `copies`, for results that are inputs themselves."""
    w = Writer(target)
    for source, to in pairs:
        w.store(w.load("%in", source), "%out", to)
    lines = "\n".join([*w.lines, "ret void\n}"])
    return f"define internal void @copies(ptr %in, ptr %out) alwaysinline nounwind {{\n{lines}"


def _chunk(chunk: Chunk, name: str, target: Target, places: Places, results: Results) -> str:
    """The function of one chunk."""
    w = Writer(target)
    values: dict[int, str] = {}
    angles: dict[Any, tuple[str, str]] = {}

    def value(n: Node) -> str:
        if n.op == "const":
            return target.splat(n.value)
        found = values.get(n.index)
        if found is None:
            found = w.load("%in", places[n.index]) if n.op == "input" else w.load("%scratch", chunk.loads[n.index])
            values[n.index] = found
        return found

    for n in chunk.nodes:
        out = values[n.index] = operation(w, n.op, [value(a) for a in n.args], angles, n.args[0].index)
        if n.index in chunk.stores:
            w.store(out, "%scratch", chunk.stores[n.index])
        for k in results.get(n.index, ()):
            w.store(out, "%out", k)
    return _function(name, "", w)


def _form(form: repeats.Form, name: str, target: Target) -> str:
    """The function of all chunks of one form, which takes places and constants from tables."""
    w = Writer(target)
    values: list[str] = []
    outside: dict[int, str] = {}
    angles: dict[Any, tuple[str, str]] = {}
    entry, constant = count(), count()

    def place(base: str) -> str:
        at = w.put(f"getelementptr inbounds i32, ptr %table, i64 {next(entry)}")
        return w.put(f"getelementptr inbounds {w.type}, ptr {base}, i32 {w.put(f'load i32, ptr {at}')}")

    def value(argument: Any) -> str:
        if isinstance(argument, int):
            return values[argument]
        kind, k = argument
        if kind == "const":
            at = w.put(f"getelementptr inbounds {w.real}, ptr %number, i64 {next(constant)}")
            one = w.put(f"insertelement {w.type} poison, {w.real} {w.put(f'load {w.real}, ptr {at}')}, i32 0")
            return w.put(f"shufflevector {w.type} {one}, {w.type} poison, <{target.lanes} x i32> zeroinitializer")
        if k not in outside:
            at = place("%in" if kind == "input" else "%scratch")
            outside[k] = w.put(f"load {w.type}, ptr {at}, align {target.bytes}")
        return outside[k]

    for op, arguments, kept, results in form.operations:
        out = operation(w, op, [value(a) for a in arguments], angles, arguments[0])
        values.append(out)
        for base in ["%scratch"] * kept + ["%out"] * results:
            at = place(base)
            w.lines.append(f"store {w.type} {out}, ptr {at}, align {target.bytes}")
    return _function(name, ", ptr noalias readonly %table, ptr noalias readonly %number", w)


def _function(name: str, tables: str, w: Writer) -> str:
    lines = "\n".join(w.lines)
    return (
        f"define hidden void @{name}(ptr noalias %in, ptr noalias %out, ptr noalias %scratch{tables}) noinline nounwind"
        f" {{\n{lines}\nret void\n}}"
    )
