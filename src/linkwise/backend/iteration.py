"""Assembly of the loop that runs before a program: turn after turn, for a tile of rows, until all of them are done.

The buffer of inputs has the carried values at its end, where the body reads them, beside the program's own inputs; what
a turn gives lies in a buffer of its own. Rows that are done keep their values while others of the tile go on, so that a
row's result never depends on the batch around it.
"""

from __future__ import annotations

from math import nan

from linkwise.backend.operations import Writer
from linkwise.backend.target import Target
from linkwise.graph.iteration import Before
from linkwise.graph.program import Program

PREFIX = "turn_"  # of the names of what belongs to the body


def offsets(program: Program) -> dict[str, int]:
    """Where each input begins in the buffer of inputs."""
    found, total = {}, 0
    for port in program.inputs:
        found[port.name] = total
        total += port.size
    return found


def width(program: Program) -> int:
    """How many vectors the buffer of inputs has, with the carried values."""
    carried = sum(p.size for p in program.before.carried) if program.before else 0
    return sum(p.size for p in program.inputs) + carried


def turn_width(before: Before) -> int:
    """How many vectors one turn gives."""
    return sum(p.size for p in before.body.outputs)


def places(program: Program, before: Before) -> dict[int, int]:
    """Where the body's inputs lie in the buffer of inputs, by node index."""
    at, found = offsets(program), {}
    following = sum(p.size for p in program.inputs)
    for k, (port, leaves) in enumerate(zip(before.body.inputs, before.body.leaves, strict=True)):
        start = following if k < len(before.start) else at[port.name]
        following += port.size if k < len(before.start) else 0
        found.update({n.index: start + i for i, n in enumerate(leaves)})
    return found


def results(before: Before) -> dict[int, list[int]]:
    """Where the body writes its results, by node index."""
    found: dict[int, list[int]] = {}
    for k, n in enumerate(n for group in before.body.results for n in group):
        found.setdefault(n.index, []).append(k)
    return found


def turns(program: Program, before: Before, target: Target) -> str:
    """The function `turns`, which fills the places of the inputs that the loop gives."""
    lanes = target.lanes
    at, first = offsets(program), sum(p.size for p in program.inputs)
    w = Writer(target)
    _begin(w, before, at, first)
    w.lines.append(f"""br label %again
again:
%turn = phi i64 [0, %entry], [%next, %again]
%going = phi {w.bits} [splat (i1 true), %entry], [%left, %again]
call void @{PREFIX}all_chunks(ptr %in, ptr %out, ptr %scratch, ptr null)""")
    values = _results(w, before, places(program, before))
    for k, value in enumerate(values[:-1]):  # all are read by now: a result may be another carried value
        kept = w.load("%in", first + k)
        w.store(w.put(f"select {w.bits} %going, {w.type} {value}, {w.type} {kept}"), "%in", first + k)
    w.lines.append(f"""%wanted = fcmp one {w.type} {values[-1]}, zeroinitializer
%left = and {w.bits} %going, %wanted
%rows = bitcast {w.bits} %left to i{lanes}
%some = icmp ne i{lanes} %rows, 0
%next = add i64 %turn, 1
%allowed = icmp ult i64 %next, {before.most}
%more = and i1 %some, %allowed
br i1 %more, label %again, label %finish
finish:""")
    starts = _carried_offsets(before)
    for k, name in before.gives:
        for i in range(before.carried[k].size):
            found = w.load("%in", first + starts[k] + i)
            known = w.put(f"select {w.bits} %left, {w.type} {w.splat(nan)}, {w.type} {found}")
            w.store(known, "%in", at[name] + i)
    lines = "\n".join(w.lines)
    head = "define internal void @turns(ptr noalias %in, ptr noalias %out, ptr noalias %scratch) nounwind"
    return f"{head} {{\nentry:\n{lines}\nret void\n}}"


def _begin(w: Writer, before: Before, at: dict[str, int], first: int) -> None:
    """The carried values before the first turn."""
    place = first
    for port, start in zip(before.carried, before.start, strict=True):
        for i in range(port.size):
            value = w.load("%in", at[start] + i) if isinstance(start, str) else w.splat(float(start[i]))
            w.store(value, "%in", place)
            place += 1


def _results(w: Writer, before: Before, at: dict[int, int]) -> list[str]:
    """The values that a turn gives: numbers, inputs of the body, or what its functions have written."""
    found = []
    for k, n in enumerate(n for group in before.body.results for n in group):
        if n.op == "const":
            found.append(w.splat(n.value))
        else:
            found.append(w.load("%in", at[n.index]) if n.op == "input" else w.load("%out", k))
    return found


def _carried_offsets(before: Before) -> list[int]:
    """Where each carried port begins among all of them."""
    found = [0]
    for port in before.carried:
        found.append(found[-1] + port.size)
    return found
