"""Code for other processors: what is compiled for them, and ARM's own run in an emulator."""

import re
import shutil
import subprocess
from unittest.mock import patch

import numpy as np
import pytest

import linkwise as lw
from linkwise.backend import c, ir, llvm
from linkwise.backend.target import Target
from linkwise.graph.program import Port, trace
from support.arms import arm, states
from support.backends import definition, every_op, native

# triple, processor, features, then for both kinds of numbers the lanes, and the registers that code must use
PROCESSORS = {
    "a PC of 2003": ("x86_64-linux-gnu", "x86-64", "+sse2", (2, 4), r"\bmulp[ds]\b.*%xmm"),
    "a PC with AVX2": ("x86_64-linux-gnu", "x86-64-v3", "+avx,+avx2,+fma", (4, 8), r"%ymm"),
    "a PC with AVX-512": ("x86_64-linux-gnu", "skylake-avx512", "+avx,+avx2,+fma,+avx512f", (8, 16), r"%zmm"),
    "a newer one": ("x86_64-linux-gnu", "sapphirerapids", "+avx,+avx2,+fma,+avx512f", (8, 16), r"%zmm"),
    "ARM": ("aarch64-linux-gnu", "generic", "+neon", (2, 4), r"\bfmla\tv\d+\.(2d|4s)"),
    "a server with ARM": ("aarch64-linux-gnu", "neoverse-v1", "+neon,+sve", (2, 4), r"\bfml[as]\tv\d+\.(2d|4s)"),
    "a Mac": ("arm64-apple-darwin", "apple-m1", "+neon", (2, 4), r"\bfmla\.(2d|4s)"),
    "a Mac with Intel": ("x86_64-apple-darwin", "x86-64-v3", "+avx,+avx2,+fma", (4, 8), r"%ymm"),
    "Windows": ("x86_64-pc-windows-msvc", "x86-64-v3", "+avx,+avx2,+fma", (4, 8), r"%ymm"),
    "an older Windows": ("x86_64-pc-windows-msvc", "x86-64", "+sse2", (2, 4), r"\bmulp[ds]\b.*%xmm"),
    "Windows on ARM": ("aarch64-pc-windows-msvc", "generic", "+neon", (2, 4), r"\bfmla\tv\d+\.(2d|4s)"),
}
KINDS = ("float64", "float32")
ARM = PROCESSORS["ARM"][:3]


@pytest.fixture(scope="module", autouse=True)
def targets():
    llvm.binding().initialize_all_targets()
    llvm.binding().initialize_all_asmprinters()


def products(dtype):
    """Many sums of products, in vectors of every kind of numbers."""

    def run(x):
        total = x[0]
        for k in range(12):
            total = total * x[k % 7] + x[(3 * k) % 7].sin()
        return ([total, total * x[1]],)

    return trace("products", run, [Port("x", (7,))], [Port("y", (2,))], dtype=dtype)


@pytest.mark.parametrize("processor", PROCESSORS)
@pytest.mark.parametrize("dtype", KINDS)
def test_code_uses_the_vectors_of_the_processor(processor, dtype):
    triple, cpu, features, lanes, registers = PROCESSORS[processor]
    target = Target.of(triple, features, dtype)
    assert target.lanes == lanes[KINDS.index(dtype)]
    binding = llvm.binding()
    machine = binding.Target.from_triple(triple).create_target_machine(cpu=cpu, features=features, opt=1)
    text = ir.modules(products(dtype), target, 500, 5)[1]
    assert re.search(registers, machine.emit_assembly(binding.parse_assembly(text)))


@pytest.mark.parametrize("processor", PROCESSORS)
def test_code_asks_for_nothing_that_the_system_lacks(processor):
    """Object files need the symbols that are given to LLVM alone, and none of them has tables to unwind the stack.

    A system puts a letter before names, or none; LLVM takes it away again.
    """
    triple, cpu, features, *_ = PROCESSORS[processor]
    binding = llvm.binding()
    options = {"opt": 1, "reloc": "pic", "codemodel": "small", "jit": True}
    machine = binding.Target.from_triple(triple).create_target_machine(cpu=cpu, features=features, **options)
    wide = trace("wide", lambda x: ([a * a for a in x],), [Port("x", (1100,))], [Port("y", (1100,))])  # on the heap
    prefix = "_" if "apple" in triple else ""
    defined, called, sections = set(), set(), set()
    for program in (every_op(), every_op("float32"), wide):
        for text in ir.modules(program, Target.of(triple, features, program.dtype), 400, 2):
            code = machine.emit_assembly(binding.parse_assembly(text))
            defined |= set(re.findall(r"^\"?(\w+)\"?:", code, flags=re.MULTILINE))
            called |= set(re.findall(r"^\t(?:callq|jmp|bl|b)\t([A-Za-z_]\w*)(?:@PLT)?$", code, flags=re.MULTILINE))
            data = machine.emit_object(binding.parse_assembly(text))
            sections |= {(s.name() or b"").decode() for s in binding.ObjectFileRef.from_data(data).sections()}
    foreign = {name.removeprefix(prefix) for name in called - defined}
    system = {"__chkstk"} if "windows" in triple else set()
    assert foreign <= {*llvm.PYTHON, *llvm.C, *system}, foreign
    assert {"malloc", "PyErr_NoMemory"} <= foreign
    assert not sections & {".pdata", ".xdata", ".eh_frame", "__eh_frame", "__compact_unwind"}


def test_this_machine_is_one_of_them():
    target = llvm.target()
    assert target.lanes in (2, 4, 8)
    assert llvm.target("float32").lanes == 2 * target.lanes


# ---- ARM, emulated

DRIVER = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
typedef REAL real;
CODE
int main(void) {
    const intptr_t rows = ROWS;
    char *args[] = {POINTERS};
    for (int p = 0; p < INPUTS; ++p)
        if (fread(args[p], sizeof(real), rows * sizes[p], stdin) != (size_t)(rows * sizes[p])) return 2;
    CALL
    for (int p = INPUTS; p < PORTS; ++p)
        if (fwrite(args[p], sizeof(real), rows * sizes[p], stdout) != (size_t)(rows * sizes[p])) return 3;
    return 0;
}
"""
NATIVE = """
int PyGILState_Ensure(void) { return 0; }
void *PyErr_NoMemory(void) { exit(4); }
void PyGILState_Release(int held) { (void)held; }
void loop(char **args, const intptr_t *dimensions, const intptr_t *steps, void *data);
"""


def emulated(folder, program, inputs, by_gcc=False):
    """What a program gives on an emulated ARM processor, by our own code or by C source and gcc."""
    compiler, emulator = shutil.which("aarch64-linux-gnu-gcc"), shutil.which("qemu-aarch64")
    if not compiler or not emulator:
        pytest.skip("needs the Debian packages gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user")
    ports, rows = [*program.arguments, *program.outputs], len(inputs[0])
    size = np.dtype(program.dtype).itemsize
    strides = [size * p.size for p in ports] + [size * int(np.prod(p.shape[d + 1 :])) for p in ports
                                                for d in range(len(p.shape))]  # fmt: skip
    sizes = f"static const intptr_t sizes[] = {{{', '.join(str(p.size) for p in ports)}}};\n"
    if by_gcc:
        files, code = [], c.source(program, "kernel", program.name)
        pointers = ", ".join(f"(real *)args[{k}] + row * sizes[{k}]" for k in range(len(ports)))
        call = f"for (intptr_t row = 0; row < rows; ++row) kernel({pointers});"
    else:
        with patch.object(llvm, "host", lambda: ARM), patch.object(llvm, "target", lambda d: Target.of(*ARM[::2], d)):
            objects = llvm.compile_objects(program)
        files, code = [f"part{k}.o" for k in range(len(objects))], NATIVE
        for name, data in zip(files, objects, strict=True):
            (folder / name).write_bytes(data)
        call = (f"const intptr_t dimensions[] = {{rows}}, steps[] = {{{', '.join(map(str, strides))}}};"
                "loop(args, dimensions, steps, 0);")  # fmt: skip
    text = DRIVER
    for word, value in {
        "REAL": "float" if program.dtype == "float32" else "double",
        "CODE": sizes + code,
        "ROWS": str(rows),
        "POINTERS": ", ".join(f"malloc({rows * p.size} * sizeof(real))" for p in ports),
        "INPUTS": str(len(program.arguments)),
        "PORTS": str(len(ports)),
        "CALL": call,
    }.items():
        text = re.sub(rf"\b{word}\b", lambda _, value=value: value, text)
    (folder / "driver.c").write_text(text)
    done = subprocess.run(
        [compiler, "-std=c99", "-O2", "-ffp-contract=off", "-static", "-o", "driver", "driver.c", *files, "-lm"],
        cwd=folder, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    given = b"".join(np.ascontiguousarray(x, program.dtype).tobytes() for x in inputs)
    done = subprocess.run([emulator, str(folder / "driver")], input=given, capture_output=True)
    assert done.returncode == 0, done.stderr
    whole, found = np.frombuffer(done.stdout, program.dtype), []
    for port in program.outputs:
        found.append(whole[: rows * port.size].reshape(rows, *port.shape))
        whole = whole[rows * port.size :]
    assert not whole.size
    return found


KERNELS = {
    "wrenches": (lambda: arm(3), lw.joint_wrenches),
    "derivatives": (lambda: lw.load("arm7"), lw.inverse_dynamics_derivatives),
    "Newton's method": (lambda: lw.load("ankle"), lw.inverse_dynamics),
}


@pytest.mark.slow
@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("by_gcc", [False, True], ids=["own code", "C source"])
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_on_arm(name, dtype, by_gcc, tmp_path):
    robot, algorithm = KERNELS[name][0](), KERNELS[name][1]
    k = lw.compile(robot, algorithm, dtype=dtype)
    _, qd, qdd = states(robot, 11)
    x = [robot.q() + 0.1 * qd[:, : robot.nq], qd, qdd]
    truth = k(*x) if isinstance(k(*x), tuple) else (k(*x),)
    for found, expected in zip(emulated(tmp_path, k.program, x, by_gcc), truth, strict=True):
        near = 1e-11 if dtype == "float64" else 1e-5
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=near * np.abs(expected).max())


@pytest.mark.slow
@pytest.mark.parametrize("dtype", KINDS)
def test_operations_on_arm(dtype, tmp_path):
    """Every one as on this machine, on special numbers too."""
    special = [0.0, -0.0, 1.0, -1.0, 0.3, 1e-45, -1e-30, 12345.678, 88.5, -1e30, np.inf, -np.inf, np.nan]
    rows = np.array([(a, b, 1.5) for a in special for b in special], dtype)
    program = every_op(dtype)
    emulation = emulated(tmp_path, program, [rows])
    for found, expected in zip(emulation, native(program)(rows), strict=True):
        np.testing.assert_allclose(found, expected, rtol=4.0 * np.finfo(dtype).eps, atol=0.0)
    if dtype == "float64":
        for found, expected in zip(emulation, definition(program)(rows), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-15, atol=0.0)


@pytest.mark.slow
def test_a_long_batch_on_arm_with_buffers_on_the_heap(tmp_path):
    wide = trace("wide", lambda x: ([a * b + 1.0 for a, b in zip(x, x[::-1], strict=True)],), [Port("x", (2100,))],
                 [Port("y", (2100,))])  # fmt: skip
    x = np.random.default_rng(0).integers(-9, 9, (9, 2100)).astype(float)
    np.testing.assert_array_equal(emulated(tmp_path, wide, [x])[0], x * x[:, ::-1] + 1.0)
