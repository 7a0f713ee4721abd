"""Programs on each back end, and in each form of native code, as functions of arrays."""

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from linkwise.backend import c, gufunc, javascript, llvm, python
from linkwise.backend.target import REALS, Target
from linkwise.graph.op import OPS
from linkwise.graph.program import Port, Program, trace

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O2", "-ffp-contract=off")


def every_op(dtype: str = "float64") -> Program:
    """One output for each operation, in the order of OPS, of three inputs."""

    def raw(x: list[Any]) -> list[list[Any]]:
        return [[x[0].graph.apply(op.name, *x[: op.arity])] for op in OPS.values()]

    return trace("every_op", raw, [Port("x", (3,))], [Port(f"y_{op}", ()) for op in OPS], dtype=dtype)


def native(
    program: Program, lanes: int = 4, fma: bool = True, chunk: int = 500, in_module: int = 16
) -> Callable[..., Any]:
    """The program in native code of a chosen form, not from a cache; LLVM splits vectors that are too wide."""
    here = llvm.target()
    if fma and not here.fma:
        pytest.skip("this machine has no fused multiply-add")
    target = Target(lanes, fma, here.x86, REALS[program.dtype])
    with (
        patch.object(llvm, "target", lambda dtype: target),
        patch.object(llvm, "CHUNK", chunk),
        patch.object(llvm, "CHUNKS_IN_MODULE", in_module),
    ):
        objects = llvm.compile_objects(program)
    address = llvm.load_objects(objects)
    return gufunc.make(address, program.name, "", program.arguments, program.outputs, program.dtype)


def definition(program: Program) -> Callable[..., Any]:
    """The program by `backend.python`, row by row; batch axes of all inputs must be equal."""

    def call(*inputs: Any) -> Any:
        arrays = [np.asarray(x, float) for x in inputs]
        batch = arrays[0].shape[: arrays[0].ndim - len(program.arguments[0].shape)]
        results = [np.empty((*batch, *p.shape)) for p in program.outputs]
        for row in np.ndindex(batch):
            flat = [a[row].reshape(-1).tolist() for a in arrays]
            for result, values in zip(results, python.evaluate(program, *flat), strict=True):
                result[row] = np.reshape(values, result.shape[len(batch) :])
        return results[0] if len(results) == 1 else tuple(results)

    return call


def shared_object(folder: Path, source: str, header: str | None = None) -> ctypes.CDLL:
    """C compiled strictly, and loaded; the source includes the header if there is one."""
    if shutil.which("gcc") is None:
        pytest.skip("no gcc")
    if header is not None:
        (folder / "kernel.h").write_text(header)
        source = '#include "kernel.h"\n' + source
    (folder / "kernel.c").write_text(source)
    command = ["gcc", *STRICT, "-shared", "-fPIC", "-o", "kernel.so", "kernel.c", "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(folder / "kernel.so"))


def in_c(folder: Path, program: Program) -> Callable[..., Any]:
    """The program in C, row by row."""
    library = shared_object(folder, c.source(program, None, program.name), c.header(program, None, program.name))
    function = getattr(library, program.name)

    def call(*inputs: Any) -> Any:
        arrays = [np.asarray(x, program.dtype) for x in inputs]
        batch = arrays[0].shape[: arrays[0].ndim - len(program.arguments[0].shape)]
        results = [np.empty((*batch, *p.shape), program.dtype) for p in program.outputs]
        for row in np.ndindex(batch):
            call_c(function, [a[row] for a in arrays], [r[row] for r in results], results, row)
        return results[0] if len(results) == 1 else tuple(results)

    return call


def call_c(function: Any, inputs: list[Any], outputs: list[Any], results: list[Any], row: tuple[int, ...]) -> None:
    """One call of a C kernel; the outputs are copied into row `row` of the results."""
    given = [np.array(x, ndmin=1) for x in inputs]
    made = [np.full(np.shape(o) or 1, np.nan, np.asarray(o).dtype) for o in outputs]
    function(*[ctypes.c_void_p(a.ctypes.data) for a in (*given, *made)])
    for result, o in zip(results, made, strict=True):
        result[row] = o.reshape(result[row].shape)


def in_javascript(page: Any, program: Program) -> Callable[..., Any]:
    """The program in JavaScript, row by row, in a page of a browser."""
    function = javascript.source(program, None, program.name)
    run = f"""([rows, sizes]) => {{
        {function}
        return rows.map(row => {{
            const outputs = sizes.map(size => new Array(size).fill(NaN));
            {program.name}(...row, ...outputs);
            return outputs;
        }});
    }}"""

    def call(*inputs: Any) -> Any:
        arrays = [np.asarray(x, float) for x in inputs]
        batch = arrays[0].shape[: arrays[0].ndim - len(program.arguments[0].shape)]
        rows = [[a[row].reshape(-1).tolist() for a in arrays] for row in np.ndindex(batch)]
        made = page.evaluate(run, [rows, [p.size for p in program.outputs]])
        results = [
            np.array([row[k] for row in made], program.dtype).reshape(*batch, *p.shape)
            for k, p in enumerate(program.outputs)
        ]
        return results[0] if len(results) == 1 else tuple(results)

    return call


def ulps(a: Any, b: Any) -> np.ndarray:
    """|a - b| in units of the last place of b; 0 where both are NaN or equal."""
    a, b = np.asarray(a), np.asarray(b)
    equal = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(all="ignore"):
        distance = np.abs(a - b) / np.spacing(np.abs(b))
    return np.where(equal, 0.0, np.where(np.isfinite(distance), distance, np.inf))
