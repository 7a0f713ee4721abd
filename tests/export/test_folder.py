"""Exported folders compile without a warning, by themselves, and give the kernel's numbers."""

import ctypes
import re
from dataclasses import replace

import mpmath
import numpy as np
import pytest

import linkwise as lw
from linkwise.backend import c, own_math, rust
from linkwise.errors import InputError, UnknownNameError
from linkwise.graph.op import OPS
from support.arms import arm, still
from support.backends import definition, every_op, ulps
from support.every_machine import sort
from support.exported import FLAGS, done, tool, worst, worst_in_c

CLOSE = 1e-13  # of the largest number of an output: some hundred roundings


@pytest.fixture(scope="module")
def dyn():
    return lw.compile(arm(3))


# ---- mathematics without a library


SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.3, -2.75, -1e-9, 1234.5, -30.0, 60.0, 1e20, np.inf, -np.inf, np.nan]
OWN = {op: getattr(mpmath, op) for op in own_math.USED}


@pytest.fixture(scope="module", params=["float64", "float32"])
def operations(request, tmp_path_factory):
    """All operations with functions of their own, in C and, where it is found, in Rust; rows and what is expected."""
    dtype, folder = request.param, tmp_path_factory.mktemp("own")
    program = every_op(dtype)
    written = c.C(program, "f", own=True)
    (folder / "own.c").write_text(f"{c.own_functions(OPS, dtype)}\n{written.signature()};\n{c.definition(written)}")
    done(tool("gcc", "gcc"), *FLAGS, "-O2", "-shared", "-fPIC", "-o", "own.so", "own.c", "-lm", cwd=folder)
    function = ctypes.CDLL(str(folder / "own.so")).f
    rng = np.random.default_rng(3)
    near = rng.uniform(-4.0, 4.0, (300, 3))
    wide = np.clip(rng.normal(size=(300, 3)) * 10.0 ** rng.integers(-6, 4, (300, 3)), -9e3, 9e3)
    pairs = np.array([(a, b, 1.5) for a in SPECIAL for b in SPECIAL])
    rows = np.concatenate([near, wide, pairs]).astype(dtype)
    found = np.zeros((len(rows), len(OPS)), dtype)
    for x, y in zip(rows, found, strict=True):
        outputs = [y[k:] for k in range(len(OPS))]
        function(*(ctypes.c_void_p(a.ctypes.data) for a in (x, *outputs)))
    return dtype, rows, {op: found[:, k] for k, op in enumerate(OPS)}


def test_functions_of_its_own_to_two_units_in_the_last_place(operations):
    """Against numbers of many digits; next to zeros of sine and cosine to a unit of numbers near a thousandth."""
    dtype, rows, found = operations
    kind = np.dtype(dtype).type
    with mpmath.workprec(200):
        for op, exact in OWN.items():
            for x, y in zip(rows[:600], found[op], strict=False):
                if op == "exp" and abs(x[0]) > 80.0:
                    continue
                truth = exact(*(mpmath.mpf(float(v)) for v in x[: OPS[op].arity]))
                unit = float(np.spacing(kind(max(abs(truth), 1e-3 if op in ("sin", "cos") else 0.0))))
                assert abs(mpmath.mpf(float(y)) - truth) <= 2.2 * unit, f"{op}{tuple(x)}"


def test_special_numbers_are_those_of_the_definition(operations):
    """Infinities, NaN and both zeros; sine and cosine end earlier than the kernel's, as is said."""
    dtype, rows, found = operations
    with np.errstate(all="ignore"):
        expected = dict(zip(OPS, definition(every_op())(rows.astype(float)), strict=True))
        for op, y in found.items():
            truth = expected[op].astype(dtype)
            if op in ("sin", "cos"):
                truth[np.abs(rows[:, 0]) > own_math.FARTHEST[dtype]] = np.nan
                off = np.abs(y - truth)
                assert ((off <= 4.0 * np.finfo(dtype).eps) | (np.isnan(y) & np.isnan(truth))).all()
            else:
                assert ulps(y, truth).max() <= (3.0 if op in OWN else 0.0), op


def test_quarter_turns_are_exact_up_to_the_farthest_angle():
    """n pi/2 less its parts, whose products with n have no rounding."""
    with mpmath.workprec(300):
        for dtype, parts in own_math.HALF_PI.items():
            digits = np.finfo(dtype).nmant + 1
            most = int(own_math.FARTHEST[dtype] * 2 / np.pi) + 1
            for part in parts[:-1]:
                mantissa, _ = mpmath.frexp(mpmath.mpf(part))
                bits = next(k for k in range(1, 60) if mantissa * 2**k == int(mantissa * 2**k))
                assert bits + most.bit_length() <= digits
            off = abs(sum(map(mpmath.mpf, parts)) - mpmath.pi / 2) * most
            assert off < 2.0**-digits / 16


# ---- folders


def test_c(dyn, tmp_path):
    kernels = (dyn.inverse_dynamics, dyn.mass_matrix, dyn.inverse_dynamics_derivatives)
    files = kernels[0].export(tmp_path, *kernels[1:], to="c")
    assert set(files) == {
        "README.md", "Makefile", "arm.h", "arm_math.h", "arm_inverse_dynamics.c", "arm_mass_matrix.c",
        "arm_inverse_dynamics_derivatives.c", "arm_together.c", "test_arm.c", "control_loop.c",
    }  # fmt: skip
    tool("make", "make")
    flags = f"CFLAGS={' '.join(FLAGS)} -O2"
    assert worst(done("make", flags, "test", cwd=tmp_path)) < CLOSE
    assert "microseconds a period" in done("make", flags, "run", cwd=tmp_path)
    stack = done("make", flags, "stack", cwd=tmp_path)
    said = dict(zip(("inverse_dynamics", "mass_matrix"), _stacks(files["README.md"].read_text()), strict=False))
    for name, most in said.items():
        used = int(re.search(rf"arm_{name}\t(\d+)", stack)[1])
        assert 0 < used <= most


def _stacks(text):
    return [int(x.replace(",", "")) for x in re.findall(r"at most ([\d,]+) bytes", text)]


def test_c_needs_no_library_and_is_cpp_too(dyn, tmp_path):
    """Without -lm there is nothing to find; the header is read by C++."""
    dyn.inverse_dynamics.export(tmp_path, dyn.forward_dynamics, to="c", name="a")
    sources = ["a_inverse_dynamics.c", "a_forward_dynamics.c", "a_together.c"]
    done(tool("gcc", "gcc"), *FLAGS, "-O2", "-c", *sources, cwd=tmp_path)
    for source in sources:
        undefined = done("nm", "-u", source.replace(".c", ".o"), cwd=tmp_path)
        assert not undefined.replace("_GLOBAL_OFFSET_TABLE_", "").replace("U", "").strip()
    (tmp_path / "main.cpp").write_text('#include "a.h"\n#include "a.h"\nint main() { return 0; }\n')
    done(tool("g++", "g++"), "-Wall", "-Wextra", "-Wpedantic", "-Werror", "main.cpp", cwd=tmp_path)


def test_cmake(dyn, tmp_path):
    """The target is built, tested, installed, and found by another project."""
    cmake = tool("cmake", "cmake")
    dyn.inverse_dynamics.export(tmp_path / "lib", dyn.mass_matrix, to="cmake")
    build = ["--build", "build"]
    done(cmake, "-S", "lib", "-B", "build", f"-DCMAKE_C_FLAGS={' '.join(FLAGS[3:])}", cwd=tmp_path)
    done(cmake, *build, cwd=tmp_path)
    assert "100% tests passed" in done("ctest", "--test-dir", "build", cwd=tmp_path)
    assert worst(done("build/test_arm", cwd=tmp_path)) < CLOSE
    done(cmake, "--install", "build", "--prefix", tmp_path / "there", cwd=tmp_path)
    user = tmp_path / "user"
    user.mkdir()
    (user / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.15)\nproject(user C)\nfind_package(arm REQUIRED)\n"
        "add_executable(user main.c)\ntarget_link_libraries(user arm::arm)\n"
    )
    (user / "main.c").write_text(
        "#include <arm.h>\n"
        "int main(void) { double q[3] = {0}, M[9]; arm_mass_matrix(q, M); return M[0] > 0 ? 0 : 1; }\n"
    )
    done(cmake, "-S", "user", "-B", "used", f"-DCMAKE_PREFIX_PATH={tmp_path / 'there'}", cwd=tmp_path)
    done(cmake, "--build", "used", cwd=tmp_path)
    done("used/user", cwd=tmp_path)


ARDUINO = """
struct Printed { void begin(long) {} template <class T> void print(T) {} template <class T> void println(T) {} };
static Printed Serial;
unsigned long micros();
"""


def test_arduino(dyn, tmp_path):
    """The library in float32 on a computer; the sketch is read by C++ with stand-ins for the Arduino's functions."""
    kernel = lw.compile(arm(3), lw.control.computed_torque, kp=100.0, kd=20.0, dtype="float32")
    files = kernel.export(tmp_path, to="arduino")
    assert {"library.properties", "src/arm.h", "examples/arm_loop/arm_loop.ino", "extras/test_arm.c"} <= set(files)
    sources = ["src/arm_computed_torque.c", "extras/test_arm.c"]
    done(tool("gcc", "gcc"), *FLAGS, "-Wdouble-promotion", "-O2", "-Isrc", *sources, "-o", "test", "-lm", cwd=tmp_path)
    assert worst(done("./test", cwd=tmp_path)) < 1e-5
    sketch = files["examples/arm_loop/arm_loop.ino"].read_text()
    (tmp_path / "sketch.cpp").write_text(ARDUINO + sketch)
    done(tool("g++", "g++"), "-Wall", "-Wextra", "-Werror", "-Isrc", "-c", "sketch.cpp", cwd=tmp_path)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_rust(dtype, tmp_path):
    """No warning, no dependency, no standard library where no square root is needed; loops of Newton's method too."""
    rustc = tool("rustc", "rustc")
    ankle = sort("ankle, moving base").dynamics(dtype=dtype)
    friction = [lw.Friction(1.0, 0.2, law=law) for law in ("coulomb", "tanh", "stribeck")]
    rubbed = arm(3).replace(*(replace(j, friction=f) for j, f in zip(arm(3).joints, friction, strict=False)))
    tree = lw.compile(rubbed, dtype=dtype)
    for name, kernels, core in (
        ("tree", [tree.inverse_dynamics, tree.mass_matrix], True),
        ("ankle", [ankle.inverse_dynamics, ankle.mass_matrix], False),
    ):
        folder = tmp_path / name
        kernels[0].export(folder, *kernels[1:], to="rust", name=name)
        text = (folder / "src/lib.rs").read_text()
        assert ("#![no_std]" in text) == core
        edition = ["--edition", "2021", "-O", "-D", "warnings"]
        done(rustc, *edition, "--crate-type", "rlib", "--crate-name", name, "src/lib.rs", cwd=folder)
        linked = ["--extern", f"{name}=lib{name}.rlib"]
        done(rustc, *edition, "--test", *linked, "tests/numbers.rs", "-o", "test", cwd=folder)
        found = worst(done("./test", "--nocapture", "--test-threads=1", cwd=folder))
        assert found < (CLOSE if dtype == "float64" else 1e-5)
        done(rustc, *edition, *linked, "examples/control_loop.rs", "-o", "loop", cwd=folder)
        assert "microseconds a period" in done("./loop", cwd=folder)


def test_rust_of_one_kernel_with_the_standard_library(tmp_path):
    """Every operation, by the functions of Rust itself."""
    rustc = tool("rustc", "rustc")
    program = every_op()
    (tmp_path / "k.rs").write_text(rust.source(program, None, "all operations"))
    rows = np.random.default_rng(0).uniform(-2.0, 2.0, (20, 3))
    made = "\n".join(f"let mut y{k} = [0.0; 1];" for k in range(len(OPS)))
    given = ", ".join(f"&mut y{k}" for k in range(len(OPS)))
    shown = " ".join(f'print!("{{:e}} ", y{k}[0]);' for k in range(len(OPS)))
    calls = "\n".join(f"every_op(&[{', '.join(map(repr, map(float, r)))}], {given}); {shown}" for r in rows)
    (tmp_path / "main.rs").write_text(f"mod k;\nuse k::every_op;\nfn main() {{\n{made}\n{calls}\n}}\n")
    done(rustc, "--edition", "2021", "-D", "warnings", "main.rs", "-o", "main", cwd=tmp_path)
    found = np.array([float(x) for x in done("./main", cwd=tmp_path).split()]).reshape(20, -1)
    for k, y in enumerate(definition(program)(rows)):
        assert ulps(found[:, k], y).max() <= 4.0


def test_javascript(dyn, tmp_path):
    node = tool("node", "nodejs")
    for folder, kernel in (("tree", dyn.inverse_dynamics), ("loop", lw.compile(lw.load("ankle"), lw.forward_dynamics))):
        kernel.export(tmp_path / folder, to="javascript")
        text = done(node, "test.js", cwd=tmp_path / folder)
        assert text.endswith("good\n")
        assert worst(text) < CLOSE


# ---- what is said, and what is refused


def test_the_readme_says_what_goes_in_and_what_it_costs(tmp_path):
    k = lw.compile(lw.load("scara"), lw.inverse_dynamics)
    text = k.export(tmp_path, to="cmake")["README.md"].read_text()
    assert "| input | `qd` | 4 | shoulder (rad/s), elbow (rad/s), stroke (m/s), turn (rad/s) |" in text
    assert "| output | `tau` | 4 | shoulder (N m), elbow (N m), stroke (N), turn (N m) |" in text
    assert "- operations: " in text
    assert "- stack: about " in text
    assert "no recursion, no goto" in text
    assert "There is no branch and no loop" in text
    newton = lw.compile(lw.load("ankle"), lw.inverse_dynamics).export(tmp_path / "a")["README.md"].read_text()
    assert "closed by Newton's method, the only loop: at most" in newton


@pytest.mark.parametrize(
    "name", ["a */ b", "two\nlines", "back\\", "what??/", "Ärmchen", '"q"', "1st", "int", "%s {0}", "<b>|`", "time"]
)
def test_a_robots_name_breaks_nothing(name, tmp_path):
    k = lw.compile(arm(1, name=name), lw.algorithms.gravity_forces)
    for to in ("c", "rust", "javascript", "arduino"):
        files = k.export(tmp_path / to, to=to)
        assert all("generated by Linkwise" in p.read_text() for p in files.values())
    assert worst_in_c(tmp_path / "c") < CLOSE


def test_refusals(dyn, tmp_path):
    with pytest.raises(UnknownNameError, match="target of export"):
        dyn.mass_matrix.export(tmp_path, to="fortran")
    with pytest.raises(InputError, match="export name: expected a name of letters"):
        dyn.mass_matrix.export(tmp_path, name="a b")
    with pytest.raises(InputError, match="no header of C and no target of make has, got 'math'"):
        dyn.mass_matrix.export(tmp_path, name="math")
    with pytest.raises(InputError, match=r"expected kernels, such as dyn\.mass_matrix"):
        dyn.mass_matrix.export(tmp_path, lw.mass_matrix)
    with pytest.raises(InputError, match="all in the same numbers, got float32 and float64"):
        dyn.mass_matrix.export(tmp_path, lw.compile(arm(3), lw.inverse_dynamics, dtype="float32"))
    with pytest.raises(InputError, match="expected inputs and outputs with numbers"):
        lw.compile(still(1), lw.inverse_dynamics).export(tmp_path)
    with pytest.raises(InputError, match="computed column by column"):
        lw.compile(arm(130), lw.inverse_dynamics_derivatives).export(tmp_path)
    assert not list(tmp_path.iterdir())


def test_files_of_others_stay(dyn, tmp_path):
    dyn.mass_matrix.export(tmp_path)
    dyn.mass_matrix.export(tmp_path)
    (tmp_path / "README.md").write_text("mine")
    with pytest.raises(InputError, match=r"README\.md': expected a file generated by Linkwise, or none"):
        dyn.mass_matrix.export(tmp_path)
    assert (tmp_path / "README.md").read_text() == "mine"
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file"):
        dyn.mass_matrix.export(tmp_path / "file")


def test_a_step_of_a_rollout_and_packed_outputs(tmp_path):
    """Whatever is compiled can be exported: a simulator in C."""
    rollout = lw.compile_rollout(arm(2))
    rollout.step.export(tmp_path / "step")
    assert worst_in_c(tmp_path / "step") < CLOSE
    lw.compile(arm(3), lw.inverse_dynamics_derivatives).packed.export(tmp_path / "packed")
    assert worst_in_c(tmp_path / "packed") < CLOSE
