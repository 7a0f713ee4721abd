"""The loop over rows that NumPy calls, and within it the loop over steps of a repeated program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

from linkwise.backend import entry, iteration, prefetch
from linkwise.backend.layout import Layout
from linkwise.backend.target import Target
from linkwise.graph.program import Port, Program

STACK = 32 * 1024  # bytes of buffers beyond which they come from the heap
PAGE = 4096  # where buffers begin: elsewhere their time varies by a sixth with where the stack happens to be


def loop(program: Program, target: Target, layouts: Sequence[Layout], scratch: int, shares: int) -> str:
    """The inner loop of a NumPy generalised ufunc: `loop(args, dimensions, steps, data)`.

    Where rows are shared among threads, the data are two words: whether one found no memory, and all rows.
    The outputs of a tile are fetched in so many shares while it is computed.
    """
    lanes = target.lanes
    widths = {"in": iteration.width(program), "out": sum(layout.size for layout in layouts), "scratch": scratch}
    if program.before:
        widths["turn"] = iteration.turn_width(program.before)
    declared, buffers, release, refused = _buffers(target, widths)
    flags_declared, flags_cleared = _clear_flags(target)
    tables, filled = _constants(program, layouts, target)
    outputs = _outputs(program)
    past_declared, past, past_ended = prefetch.past(outputs, layouts, target)
    lines = [
        declared,
        flags_declared,
        past_declared,
        tables,
        """define void @loop(ptr %args, ptr %dims, ptr %steps, ptr %data) nounwind {
entry:
%rows = load i64, ptr %dims""",
        _step_count(program) if program.repeated else "",
        buffers,
        _ports(program),
        prefetch.ALL if past or shares else "",
        past,
        prefetch.lines(outputs, layouts, target, shares) if shares else "",
        filled or "br label %start",
        f"""start:
br label %loop
loop:
%i = phi i64 [0, %start], [%next, %done]
%more = icmp slt i64 %i, %rows
br i1 %more, label %body, label %exit
body:
%next = add i64 %i, {lanes}
%left = sub i64 %rows, %i
%short = icmp slt i64 %left, {lanes}
%n = select i1 %short, i64 %left, i64 {lanes}""",
        _body(program, target, layouts, shares),
        "br label %done\ndone:\nbr label %loop\nexit:",
        past_ended,
        release,
        flags_cleared,
        "ret void",
        refused,
        "}",
        entry.entries(program, target, bool(refused)),
    ]
    return "\n".join(line for line in lines if line)


def _ports(program: Program) -> str:
    """Pointer, step from row to row, and steps within a row, of every port."""
    lines, stride = [], len(program.arguments) + len(program.outputs)
    for j, port in enumerate([*program.arguments, *program.outputs]):
        lines.append(f"""%pp{j} = getelementptr ptr, ptr %args, i64 {j}
%p{j} = load ptr, ptr %pp{j}
%sp{j} = getelementptr i64, ptr %steps, i64 {j}
%s{j} = load i64, ptr %sp{j}
%c{j} = getelementptr i64, ptr %steps, i64 {stride + port.steps}""")
        if port.steps:
            lines.append(f"%tp{j} = getelementptr i64, ptr %steps, i64 {stride}\n%ts{j} = load i64, ptr %tp{j}")
        stride += port.rank
    return "\n".join(lines)


def places(layouts: Sequence[Layout]) -> list[list[int]]:
    """For every number of the outputs, one after the other, the vectors of the buffer that hold it."""
    found, offset = [], 0
    for layout in layouts:
        found += [[offset + p for p in group] for group in layout.places]
        offset += layout.size
    return found


def _constants(program: Program, layouts: Sequence[Layout], target: Target) -> tuple[str, str]:
    """Tables of what never changes in the output buffer, and the code that writes it there before the first tile."""
    results = [n for group in program.results for n in group]
    values = {p: n.value for n, group in zip(results, places(layouts), strict=True) if n.op == "const" for p in group}
    if not values:
        return "", ""
    count, t, real = len(values), target.vector, target.real.name
    numbers = ", ".join(f"{real} {target.literal(x)}" for x in values.values())
    tables = f"""@constant_at = internal constant [{count} x i32] [{", ".join(f"i32 {p}" for p in values)}]
@constant = internal constant [{count} x {real}] [{numbers}]"""
    return (
        tables,
        f"""br label %fill
fill:
%kf = phi i64 [0, %ready], [%kf1, %fill]
%kp = getelementptr i32, ptr @constant_at, i64 %kf
%ka = load i32, ptr %kp
%kx = getelementptr {real}, ptr @constant, i64 %kf
%kd = load {real}, ptr %kx
%kv = insertelement {t} poison, {real} %kd, i32 0
%ks = shufflevector {t} %kv, {t} poison, <{target.lanes} x i32> zeroinitializer
%kb = getelementptr {t}, ptr %out, i32 %ka
store {t} %ks, ptr %kb, align {target.bytes}
%kf1 = add i64 %kf, 1
%kdone = icmp uge i64 %kf1, {count}
br i1 %kdone, label %start, label %fill""",
    )


def _body(program: Program, target: Target, layouts: Sequence[Layout], shares: int) -> str:
    """What happens to one tile of rows: inputs in, the chunks (again for each step), outputs out."""
    t = target.vector
    inputs = list(enumerate(program.arguments))
    outputs = _outputs(program)
    table = "%ahead" if shares else "null"
    calls = f"""call void @copies(ptr %in, ptr %out)
call void @all_chunks(ptr %in, ptr %out, ptr %scratch, ptr {table})"""
    if program.before:
        calls = f"call void @turns(ptr %in, ptr %turn, ptr %scratch)\n{calls}"
    tile = [
        f"%o{j} = mul i64 %i, %s{j}\n%q{j} = getelementptr i8, ptr %p{j}, i64 %o{j}" for j, _ in [*inputs, *outputs]
    ]
    at = iteration.offsets(program)
    starts = [
        _starts(inputs, "in", [at[p.name] for p in program.arguments], t),
        _starts(outputs, "out", [0, *accumulate(layout.size for layout in layouts)][:-1], t),
    ]
    if not program.repeated:
        begin = prefetch.begin(outputs) if shares else ""
        past = {
            j: f", i1 %past{j}" for (j, p), x in zip(outputs, layouts, strict=True) if prefetch.passes(p, x, target)
        }
        return "\n".join([*tile, *starts, _moves("load", inputs), begin, calls, _moves("store", outputs, past=past)])
    once = [[x for x in side if not x[1].steps] for side in (inputs, outputs)]
    each = [[x for x in side if x[1].steps] for side in (inputs, outputs)]
    thinned = any(p.thinned for p in program.outputs)
    at_step = [
        f"%u{j} = mul i64 %{'row' if p.thinned else 'step'}, %ts{j}\n%q{j}t = getelementptr i8, ptr %q{j}, i64 %u{j}"
        for j, p in (*each[0], *each[1])
    ]
    return "\n".join(
        [
            *tile,
            *starts,
            _moves("load", once[0]),
            f"""br label %steps_loop
steps_loop:
%step = phi i64 [0, %body], [%step_next, %step_end]
{_ROWS if thinned else ""}
%step_more = icmp slt i64 %step, %count
br i1 %step_more, label %step_body, label %after
step_body:""",
            *at_step,
            _moves("load", each[0], "t"),
            calls,
            _moves("store", [x for x in each[1] if not x[1].thinned], "t"),
            f"{_KEEP[0]}\n{_moves('store', [x for x in each[1] if x[1].thinned], 't')}\n{_KEEP[1]}" if thinned else "",
            _carries(program, t),
            "br label %step_end\nstep_end:\n%step_next = add i64 %step, 1\nbr label %steps_loop\nafter:",
            _moves("store", once[1]),
        ]
    )


def _outputs(program: Program) -> list[tuple[int, Port]]:
    """The output ports with their numbers among all ports."""
    return list(enumerate(program.outputs, start=len(program.arguments)))


# rows of thinned outputs: the one to be filled next, and how many steps were made since the last
_ROWS = """%row = phi i64 [0, %body], [%row_next, %step_end]
%made = phi i64 [0, %body], [%made_next, %step_end]"""
_KEEP = (
    """%made_now = add i64 %made, 1
%complete = icmp eq i64 %made_now, %every
%room = icmp slt i64 %row, %kept
%keep = and i1 %complete, %room
br i1 %keep, label %store_kept, label %stored
store_kept:""",
    """br label %stored
stored:
%made_next = select i1 %complete, i64 0, i64 %made_now
%added = zext i1 %complete to i64
%row_next = add i64 %row, %added""",
)


def _starts(ports: list[tuple[int, Port]], buffer: str, offsets: list[int], t: str) -> str:
    """Where each port begins in its buffer."""
    pairs = zip(ports, offsets, strict=True)
    return "\n".join(f"%b{j} = getelementptr {t}, ptr %{buffer}, i64 {offset}" for (j, _), offset in pairs)


def _moves(verb: str, ports: list[tuple[int, Port]], at: str = "", past: Mapping[int, str] = {}) -> str:
    return "\n".join(
        f"call void @{verb}_port{j}(ptr %b{j}, ptr %q{j}{at}, i64 %s{j}, ptr %c{j}, i64 %n{past.get(j, '')})"
        for j, _ in ports
    )


def _carries(program: Program, t: str) -> str:
    """Outputs copied to the inputs of the next step."""
    starts = [[0], [0]]
    for offsets, ports in zip(starts, (program.inputs, program.outputs), strict=True):
        for port in ports:
            offsets.append(offsets[-1] + port.size)
    lines = []
    for source, target in program.carries:
        for k in range(program.outputs[source].size):
            a, b = starts[1][source] + k, starts[0][target] + k
            lines.append(f"""%from{b} = getelementptr {t}, ptr %out, i64 {a}
%value{b} = load {t}, ptr %from{b}
%to{b} = getelementptr {t}, ptr %in, i64 {b}""")
    lines += [
        f"store {t} %value{starts[0][target] + k}, ptr %to{starts[0][target] + k}"
        for source, target in program.carries
        for k in range(program.outputs[source].size)
    ]
    return "\n".join(lines)


def _step_count(program: Program) -> str:
    """How many steps there are: NumPy hands over the widths in the order in which the signature first names them."""
    seen: list[str] = []
    for port in (*program.arguments, *program.outputs):
        for name in port.axes:
            if name not in seen:
                seen.append(name)

    def load(value: str, axis: str) -> str:
        at = 1 + seen.index(axis)
        return f"%{value}_at = getelementptr i64, ptr %dims, i64 {at}\n%{value} = load i64, ptr %{value}_at"

    if "kept" not in seen:
        return load("count", "steps")
    return f"""{load("count", "steps")}
{load("kept", "kept")}
%none_kept = icmp slt i64 %kept, 1
%some_kept = select i1 %none_kept, i64 1, i64 %kept
%every = sdiv i64 %count, %some_kept"""


def _buffers(target: Target, widths: dict[str, int]) -> tuple[str, str, str, str]:
    """Declarations, set-up, release and refusal of the buffers of vectors: on the stack, or on the heap if large.

    Where the heap has no more, it is noted in the data, if there are any; else Python's `MemoryError` is set, which
    whoever called the ufunc finds.
    """
    t = target.vector
    total = target.bytes * sum(widths.values())
    if total <= STACK:
        stack = [f"%{b} = alloca {t}, i64 {max(1, n)}, align {PAGE}" for b, n in widths.items()]
        return "", "\n".join([*stack, "br label %ready\nready:"]), "", ""
    lines, offset = (
        [
            f"%raw = call ptr @malloc(i64 {total + 64})",
            "%missing = icmp eq ptr %raw, null",
            "br i1 %missing, label %refused, label %ready\nready:",
            "%whole = ptrtoint ptr %raw to i64",
            "%beyond = add i64 %whole, 63",
            "%aligned = and i64 %beyond, -64",
            "%heap = inttoptr i64 %aligned to ptr",
        ],
        0,
    )
    for buffer, width in widths.items():
        lines.append(f"%{buffer} = getelementptr {t}, ptr %heap, i64 {offset}")
        offset += width
    declared = """declare ptr @malloc(i64)
declare void @free(ptr)
declare i32 @PyGILState_Ensure()
declare ptr @PyErr_NoMemory()
declare void @PyGILState_Release(i32)"""
    refused = """refused:
%alone = icmp eq ptr %data, null
br i1 %alone, label %raise, label %tell
tell:
store atomic i64 1, ptr %data monotonic, align 8
ret void
raise:
%held = call i32 @PyGILState_Ensure()
%none = call ptr @PyErr_NoMemory()
call void @PyGILState_Release(i32 %held)
ret void"""
    return declared, "\n".join(lines), "call void @free(ptr %raw)", refused


def _clear_flags(target: Target) -> tuple[str, str]:
    """Declarations, and what forgets the floating-point flags that infinities and repeated rows raise."""
    if not target.x86:
        return "declare i32 @feclearexcept(i32)", "%cleared = call i32 @feclearexcept(i32 31)"
    return (
        "declare void @llvm.x86.sse.stmxcsr(ptr)\ndeclare void @llvm.x86.sse.ldmxcsr(ptr)",
        """%mxcsr = alloca i32, align 4
call void @llvm.x86.sse.stmxcsr(ptr %mxcsr)
%old = load i32, ptr %mxcsr
%clear = and i32 %old, -64
store i32 %clear, ptr %mxcsr
call void @llvm.x86.sse.ldmxcsr(ptr %mxcsr)""",
    )
