"""Generated C under AddressSanitizer and UndefinedBehaviorSanitizer: nothing outside its arrays, nothing undefined.

Every array is a block of its own on the heap, of exactly its size, so that the first double outside it is noticed.
"""

import shutil
import subprocess

import numpy as np
import pytest

import linkwise as lw
from support.arms import arm, still

COMPILER = shutil.which("gcc") or shutil.which("clang")
FLAGS = (
    "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-g", "-O1", "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
)  # fmt: skip
DRIVER = """
#include <stdio.h>
#include <stdlib.h>
#include "kernel.h"

int main(void) {
    const size_t sizes[] = {SIZES};
    const size_t inputs = INPUTS, ports = sizeof sizes / sizeof *sizes;
    for (;;) {
        double *x[PORTS];
        for (size_t p = 0; p < ports; ++p) {
            x[p] = malloc(sizes[p] * sizeof(double));
            if (x[p] == NULL && sizes[p] > 0) return 2;
        }
        size_t more = 1;
        for (size_t p = 0; p < inputs; ++p)
            if (fread(x[p], sizeof(double), sizes[p], stdin) != sizes[p]) more = 0;
        if (more) {
            kernel(ARGUMENTS);
            for (size_t p = inputs; p < ports; ++p)
                if (fwrite(x[p], sizeof(double), sizes[p], stdout) != sizes[p]) return 3;
        }
        for (size_t p = 0; p < ports; ++p) free(x[p]);
        if (!more) return 0;
    }
}
"""
EXTREME = (0.0, -0.0, 5e-324, -1e-300, 1e-8, 1e8, 1e15, -1e22, 1e154, 1e308, np.inf, -np.inf, np.nan)
ROBOTS = {
    "rr": lambda: lw.load("rr"),
    "puma560": lambda: lw.load("puma560"),
    "every feature": lambda: lw.random_tree(
        3, 5, mimic=0.2, armature=0.4, motors=0.4, friction=0.6, springs=0.4, frames=3
    ),
    "floating": lambda: lw.random_tree(5, 4, floating=True, friction=0.5),
    "floating joints": lambda: lw.random_tree(7, 2, kinds=("revolute", "floating")),
    "a long chain": lambda: arm(40, mass=0.1),  # whose native code repeats a piece
}
ALGORITHMS = {
    "inverse_dynamics": (lw.inverse_dynamics, {}),
    "forward_dynamics": (lw.forward_dynamics, {}),
    "derivatives": (lw.inverse_dynamics_derivatives, {}),
    "forward derivatives": (lw.forward_dynamics_derivatives, {}),
    "wrenches": (lw.joint_wrenches, {"base_motion": True, "gravity": "input"}),
    "integrate": (lw.algorithms.integrate, {}),
    "regressor": (lw.regressor, {}),
}
LARGE = ("derivatives", "forward derivatives", "regressor")  # of a long chain: minutes of gcc
CASES = [(r, a) for r in ROBOTS for a in ALGORITHMS if r != "a long chain" or a not in LARGE]

pytestmark = [pytest.mark.slow, pytest.mark.skipif(COMPILER is None, reason="no C compiler")]


def program(folder, kernel):
    """The kernel's C with a driver that takes rows of inputs from stdin and writes rows of outputs to stdout."""
    shapes = [*kernel.inputs.values(), *kernel.outputs.values()]
    values = {
        "SIZES": ", ".join(str(int(np.prod(s))) for s in shapes),
        "INPUTS": str(len(kernel.inputs)),
        "PORTS": str(len(shapes)),
        "ARGUMENTS": ", ".join(f"x[{k}]" for k in range(len(shapes))),
    }
    text = DRIVER
    for word, value in values.items():
        text = text.replace(word, value)
    for name, content in {
        "kernel.c": kernel.c_source("kernel"),
        "kernel.h": kernel.c_header("kernel"),
        "main.c": text,
    }.items():
        (folder / name).write_text(content, encoding="utf-8")
    command = [COMPILER, *FLAGS, "kernel.c", "main.c", "-o", "run", "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if "cannot find" in done.stderr and ("asan" in done.stderr or "ubsan" in done.stderr):
        pytest.skip("the compiler's sanitizers are not installed")
    assert done.returncode == 0, done.stderr
    return folder / "run"


def outputs(binary, kernel, rows):
    """What the program gives for rows (count, width) of inputs."""
    done = subprocess.run([binary], input=rows.tobytes(), capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stderr == b""
    return np.frombuffer(done.stdout).reshape(len(rows), -1)


def expected(kernel, rows):
    """The kernel's own numbers, row by row one after the other."""
    sizes = [int(np.prod(s)) for s in kernel.inputs.values()]
    pieces = np.split(rows, np.cumsum(sizes)[:-1], axis=1)
    found = kernel(*(p.reshape(-1, *s) for p, s in zip(pieces, kernel.inputs.values(), strict=True)))
    every = found if len(kernel.outputs) > 1 else (found,)
    return np.concatenate([np.reshape(r, (len(rows), -1)) for r in every], axis=1)


@pytest.mark.parametrize(("robot", "algorithm"), CASES)
def test_generated_c_is_sound(tmp_path, robot, algorithm):
    chosen, options = ALGORITHMS[algorithm]
    kernel = lw.compile(ROBOTS[robot](), chosen, **options)
    binary = program(tmp_path, kernel)
    width = sum(int(np.prod(s)) for s in kernel.inputs.values())
    rng = np.random.default_rng(0)
    rows = rng.uniform(-2.0, 2.0, (50, width))
    found, theirs = outputs(binary, kernel, rows), expected(kernel, rows)
    size = np.abs(theirs).max(axis=1, keepdims=True)
    assert np.abs(found - theirs).max() <= 1e-7 * size.max()
    assert (np.abs(found - theirs) <= 1e-6 * size).all()
    extreme = np.where(rng.random((100, width)) < 0.3, rng.choice(EXTREME, (100, width)), rng.normal(size=(100, width)))
    with np.errstate(all="ignore"):
        theirs = expected(kernel, extreme)
    assert outputs(binary, kernel, extreme).shape == theirs.shape  # none stops, whatever comes


@pytest.mark.parametrize("algorithm", [lw.inverse_dynamics, lw.algorithms.potential_energy])
def test_a_robot_that_cannot_move(tmp_path, algorithm):
    kernel = lw.compile(still(2), algorithm)
    program(tmp_path, kernel)


def test_the_sanitizers_notice_what_is_outside(tmp_path):
    """A kernel told of arrays that are too short ends by the sanitizer's hand: the test can fail."""
    kernel = lw.compile(arm(2), lw.inverse_dynamics)
    binary = program(tmp_path, kernel)
    source = (tmp_path / "main.c").read_text().replace("{2, 2, 2, 2}", "{2, 2, 1, 2}")
    (tmp_path / "main.c").write_text(source)
    subprocess.run([COMPILER, *FLAGS, "kernel.c", "main.c", "-o", "run", "-lm"], cwd=tmp_path, check=True)
    done = subprocess.run([binary], input=np.zeros(6).tobytes(), capture_output=True)
    assert done.returncode != 0
    assert b"heap-buffer-overflow" in done.stderr
