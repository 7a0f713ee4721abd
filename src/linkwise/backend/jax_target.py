"""Compiled programs as targets of XLA's foreign functions: a few lines of LLVM's language before a kernel's loop.

The call frame is that of `xla/ffi/api/c_api.h`, which JAX brings along. The sizes of its structures are compared in
every call, and the whole is tried once before it is used.
"""

from __future__ import annotations

import ctypes
import re
from functools import cache
from itertools import accumulate
from pathlib import Path

import numpy as np

from linkwise.backend import library, llvm, native
from linkwise.errors import LinkwiseError
from linkwise.files import required
from linkwise.graph.program import Port, Program, trace

OLDEST, NEWEST = (0, 1), (0, 3)  # versions of XLA's interface for which this is written; later ones take the newest
# offsets of fields, in bytes, and the sizes that structures say they have
EXTENSION, API, ARGUMENTS, RESULTS = 8, 16, 40, 80  # of a call frame
LIST, LIST_SIZE = 32, 40  # of a list of buffers: where they are
DATA, RANK, AXES, BUFFER_SIZE = 24, 32, 40, 48  # of a buffer
METADATA, MAJOR, MINOR, TRAITS = 24, 24, 28, 32  # of the question for what this is written
CREATE_ERROR = 48  # of the table of XLA's functions
INTERNAL, EXHAUSTED = 13, 8  # codes of errors


@cache
def check() -> None:
    """Refuse a JAX whose foreign functions are not those for which this is written."""
    jax = required("jax", "jax")
    other = "Use kernel.jax(lower='callback'), or lower='xla'"
    if not native._works() or native.backend() == "numpy":
        raise LinkwiseError(f"jax: expected native code, which this machine does not make. {other}.")
    if not hasattr(jax, "ffi"):
        raise LinkwiseError(
            f"jax: expected JAX 0.5 or later, which calls compiled functions, got {jax.__version__}. {other}."
        )
    found = _version()
    if found[0] != OLDEST[0] or found < OLDEST:
        raise LinkwiseError(
            f"jax: expected XLA's foreign functions {OLDEST[0]}.{OLDEST[1]} or a later {OLDEST[0]}.x, JAX"
            f" {jax.__version__} has {found[0]}.{found[1]}. {other}."
        )
    kind = np.dtype(np.float32)  # which JAX has always
    ports = [Port(name, (1,)) for name in "xyz"]
    program = trace("jax_trial", lambda x, y: ([x[0] + 2.0 * y[0]],), ports[:2], ports[2:], dtype=kind.name)
    try:
        shape = jax.ShapeDtypeStruct((3, 1), kind)
        z = jax.ffi.ffi_call(name(program), shape)(np.ones((3, 1), kind), np.ones((1,), kind))
        good = bool((np.asarray(z) == 3.0).all())
    except Exception as error:
        raise LinkwiseError(
            f"jax: a trial call of compiled code failed in JAX {jax.__version__}: {error}. {other}."
        ) from error
    if not good:
        raise LinkwiseError(
            f"jax: a trial call of compiled code gave a wrong answer in JAX {jax.__version__}. {other}."
        )


def _version() -> tuple[int, int]:
    """The version of XLA's interface that the header in JAX defines; the newest known one where there is none."""
    header = Path(required("jax", "jax").ffi.include_dir(), "xla", "ffi", "api", "c_api.h")
    try:
        text = header.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return NEWEST
    parts = [re.search(rf"#define XLA_FFI_API_{part} (\d+)", text) for part in ("MAJOR", "MINOR")]
    return (int(parts[0][1]), int(parts[1][1])) if parts[0] and parts[1] else NEWEST


def name(program: Program) -> str:
    """The name under which XLA knows a program, which is compiled and registered if it is not yet."""
    return _registered(f"linkwise_{program.name}_{program.digest[:32]}", _Known(program))


class _Known:
    """A program that counts as equal to all others: its name says which one it is."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Known)

    def __hash__(self) -> int:
        return 0


@cache
def _registered(target: str, known: _Known) -> str:
    jax = required("jax", "jax")
    loaded = native.loaded(known.program)
    objects = llvm.compile_text(_code(known.program, loaded.loop))
    engine, (address,) = llvm.load_named(objects, {}, ["call"])
    library.keep((engine, loaded))
    jax.ffi.register_ffi_target(target, jax.ffi.pycapsule(ctypes.CFUNCTYPE(None)(address)), platform="cpu")
    return target


def _code(program: Program, loop: int) -> str:
    """The function that XLA calls, in LLVM's language."""
    ports = [*program.arguments, *program.outputs]
    count, itemsize = len(ports), np.dtype(program.dtype).itemsize
    inner = [s * itemsize for p in ports for s in _strides(p.shape)]
    lines = [_HEAD, _field("list0", "ptr", "frame", ARGUMENTS + LIST), _field("list1", "ptr", "frame", RESULTS + LIST)]
    for j, port in enumerate(ports):
        side, k = (0, j) if j < len(program.arguments) else (1, j - len(program.arguments))
        lines += [
            f"%at{j} = getelementptr ptr, ptr %list{side}, i64 {k}\n%buffer{j} = load ptr, ptr %at{j}",
            _field(f"size{j}", "i64", f"buffer{j}", 0),
            f"%fits{j} = icmp uge i64 %size{j}, {BUFFER_SIZE}",
            f"br i1 %fits{j}, label %port{j}, label %strange\nport{j}:",
            _field(f"data{j}", "ptr", f"buffer{j}", DATA),
            _field(f"rank{j}", "i64", f"buffer{j}", RANK),
            f"%many{j} = icmp sgt i64 %rank{j}, {len(port.shape)}",
            f"%step{j} = select i1 %many{j}, i64 {port.size * itemsize}, i64 0",
            _put("ptr", f"%data{j}", "ports", j),
            _put("i64", f"%step{j}", "steps", j),
        ]
    lines += [_put("i64", str(s), "steps", count + k) for k, s in enumerate(inner)]
    lines += [
        f"%lead = sub i64 %rank{len(program.arguments)}, {len(program.outputs[0].shape)}",
        _field("axes", "ptr", f"buffer{len(program.arguments)}", AXES),
        f"br label %rows_loop\n{_ROWS.format(last=count - 1)}",
        f"call void inttoptr (i64 {loop} to ptr)(ptr %ports, ptr %dims, ptr %steps, ptr %told)",
        _TAIL.format(internal=INTERNAL, exhausted=EXHAUSTED),
    ]
    major, minor = min(_version(), NEWEST)
    words = {"PORTS": count, "STEPS": count + len(inner) + 1, "MAJOR": major, "MINOR": minor}
    text = "\n".join(lines)
    for key, value in words.items():
        text = text.replace(f"${key}", str(value))
    return text


def _strides(shape: tuple[int, ...]) -> list[int]:
    """Numbers from one entry to the next along each axis, row after row."""
    return [*accumulate(reversed(shape[1:]), lambda a, b: a * b, initial=1)][::-1] if shape else []


def _field(name: str, kind: str, of: str, offset: int) -> str:
    return f"%{name}_at = getelementptr i8, ptr %{of}, i64 {offset}\n%{name} = load {kind}, ptr %{name}_at"


def _put(kind: str, value: str, array: str, k: int) -> str:
    return f"%{array}_{k} = getelementptr i64, ptr %{array}, i64 {k}\nstore {kind} {value}, ptr %{array}_{k}"


def _text(name: str, words: str) -> str:
    return f'@{name} = internal constant [{len(words) + 1} x i8] c"{words}\\00"'


_HEAD = f"""{_text("odd", "the call frame of XLA is not laid out as Linkwise expects it")}
{_text("full", "no memory for the buffers of a kernel")}
define internal ptr @failed(ptr %frame, ptr %message, i32 %code) {{
%error = alloca [4 x i64]
store i64 28, ptr %error
%next = getelementptr i64, ptr %error, i64 1
store ptr null, ptr %next
%text = getelementptr i64, ptr %error, i64 2
store ptr %message, ptr %text
%number = getelementptr i64, ptr %error, i64 3
store i32 %code, ptr %number
{_field("api", "ptr", "frame", API)}
{_field("make", "ptr", "api", CREATE_ERROR)}
%made = call ptr %make(ptr %error)
ret ptr %made
}}
define ptr @call(ptr %frame) {{
entry:
%ports = alloca ptr, i64 $PORTS
%steps = alloca i64, i64 $STEPS
%dims = alloca i64
%told = alloca [2 x i64]
store [2 x i64] zeroinitializer, ptr %told
{_field("extension", "ptr", "frame", EXTENSION)}
%asked = icmp ne ptr %extension, null
br i1 %asked, label %answer, label %run
answer:
{_field("metadata", "ptr", "extension", METADATA)}
%major = getelementptr i8, ptr %metadata, i64 {MAJOR}
store i32 $MAJOR, ptr %major
%minor = getelementptr i8, ptr %metadata, i64 {MINOR}
store i32 $MINOR, ptr %minor
%traits = getelementptr i8, ptr %metadata, i64 {TRAITS}
store i32 0, ptr %traits
ret ptr null
strange:
%odd_error = call ptr @failed(ptr %frame, ptr @odd, i32 {INTERNAL})
ret ptr %odd_error
run:
{_field("arguments_size", "i64", "frame", ARGUMENTS)}
{_field("results_size", "i64", "frame", RESULTS)}
%good_arguments = icmp uge i64 %arguments_size, {LIST_SIZE}
%good_results = icmp uge i64 %results_size, {LIST_SIZE}
%good = and i1 %good_arguments, %good_results
br i1 %good, label %lists, label %strange
lists:"""
_ROWS = """rows_loop:
%k = phi i64 [0, %port{last}], [%k1, %rows_more]
%rows = phi i64 [1, %port{last}], [%rows1, %rows_more]
%left = icmp slt i64 %k, %lead
br i1 %left, label %rows_more, label %rows_known
rows_more:
%axis_at = getelementptr i64, ptr %axes, i64 %k
%axis = load i64, ptr %axis_at
%rows1 = mul i64 %rows, %axis
%k1 = add i64 %k, 1
br label %rows_loop
rows_known:
store i64 %rows, ptr %dims
%all = getelementptr i64, ptr %told, i64 1
store i64 %rows, ptr %all"""
_TAIL = """%missing = load i64, ptr %told
%enough = icmp eq i64 %missing, 0
br i1 %enough, label %done, label %no_memory
no_memory:
%full_error = call ptr @failed(ptr %frame, ptr @full, i32 {exhausted})
ret ptr %full_error
done:
ret ptr null
}}"""
