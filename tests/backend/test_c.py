"""Generated C: strict C99, a header for C++ too, and the kernel's numbers."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import InputError
from linkwise.graph.program import Port, trace
from support.arms import arm, states, still
from support.backends import shared_object

KERNELS = {
    "inverse_dynamics": (lw.inverse_dynamics, {}),
    "mass_matrix": (lw.mass_matrix, {}),
    "joint_wrenches": (lw.joint_wrenches, {"external": ("tool",), "gravity": "input"}),
    "kinetic_energy": (lw.algorithms.kinetic_energy, {"base_motion": True}),
    "regressor": (lw.regressor, {}),
    "jacobian": (lw.jacobian, {"frame": "tool"}),
    "with parameters": (lw.inverse_dynamics, {"parameters": ("link2.mass", "joint1.coulomb")}),
}


def pointers(arrays):
    return [ctypes.c_void_p(a.ctypes.data) for a in arrays]


@pytest.mark.parametrize("case", KERNELS)
def test_c_gives_the_kernels_numbers(case, tmp_path):
    algorithm, options = KERNELS[case]
    k = lw.compile(arm(3), algorithm, **options)
    function = getattr(shared_object(tmp_path, k.c_source(), k.c_header()), k.program.name)
    rng = np.random.default_rng(0)
    for _ in range(5):
        x = [rng.uniform(-2.0, 2.0, s) for s in k.inputs.values()]
        made = [np.full(s, np.nan) for s in k.outputs.values()]
        function(*pointers([*x, *made]))
        result = k(*x)
        for found, expected in zip(made, result if isinstance(result, tuple) else (result,), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13 * np.abs(expected).max())


def test_the_functions_name_can_be_chosen(tmp_path):
    k = lw.compile(arm(2), lw.algorithms.gravity_forces)
    source, header = k.c_source("hold_still"), k.c_header(name="hold_still")
    assert "#ifndef HOLD_STILL_H" in header
    library = shared_object(tmp_path, source, header)
    q, g = np.array([0.3, -0.4]), np.zeros(2)
    library.hold_still(*pointers([q, g]))
    np.testing.assert_allclose(g, k(q), rtol=1e-13)


@pytest.mark.parametrize("name", ["", "1st", "two words", "a-b", "int", "sin", "class", "f(", "été", 3, "x\n"])
def test_names_that_c_does_not_allow(name):
    k = lw.compile(arm(2), lw.algorithms.gravity_forces)
    for write in (k.c_source, k.c_header):
        with pytest.raises(InputError, match="c_source name: expected"):
            write(name)


@pytest.mark.parametrize("argument", [0, 1, 2])
def test_outputs_may_be_inputs(argument, tmp_path):
    k = lw.compile(arm(3), lw.inverse_dynamics)
    function = shared_object(tmp_path, k.c_source(), k.c_header()).inverse_dynamics
    x = states(k.robot)
    expected = k(*x)
    function(*pointers([*x, x[argument]]))
    np.testing.assert_allclose(x[argument], expected, rtol=1e-13)


def compiled(tmp_path, program):
    from linkwise.backend import c

    return getattr(shared_object(tmp_path, c.source(program, None, "t"), c.header(program, None, "t")), program.name)


def test_results_that_are_inputs_may_change_places(tmp_path):
    program = trace("turn", lambda x: ([x[2], x[0], x[1], 4.0, x[0]],), [Port("x", (3,))], [Port("y", (5,))])
    x = np.array([1.0, 2.0, 3.0, 0.0, 0.0])
    compiled(tmp_path, program)(*pointers([x, x]))
    assert x.tolist() == [3.0, 1.0, 2.0, 4.0, 1.0]


def test_numbers_of_every_size(tmp_path):
    values = [0.1, -0.1, 1e300, -5e-324, 1e16, 2.0**70, float("inf"), -float("inf"), float("nan"), -3.0]
    program = trace(
        "numbers",
        lambda x: ([v + x[0] for v in values], list(values), [x[0] - (2.0 - x[1]), -(x[0] * -0.5)]),
        [Port("x", (2,))],
        [Port("a", (10,)), Port("b", (10,)), Port("c", (2,))],
    )
    a, b, c = np.zeros(10), np.zeros(10), np.zeros(2)
    compiled(tmp_path, program)(*pointers([np.array([1.0, 4.0]), a, b, c]))
    np.testing.assert_array_equal(a, np.array(values) + 1.0)
    np.testing.assert_array_equal(b, values)
    assert c.tolist() == [3.0, 0.5]


def test_names_that_c_has_itself(tmp_path):
    """Ports and values called like C's words, functions of <math.h>, our own values, or each other."""

    def function(exp, t1, y0):
        part = exp[0].exp() * t1[0]
        part.named("double")
        other = part + y0[0]
        other.named("j1")
        return [part.sin() + other.cos(), part], [other * other]

    program = trace(
        "words", function, [Port("exp", (1,)), Port("t1", ()), Port("y0", (1,))], [Port("exp", (2,)), Port("sin", (1,))]
    )
    x = [np.array([0.3]), np.array([1.7]), np.array([-0.2])]
    a, b = np.zeros(2), np.zeros(1)
    compiled(tmp_path, program)(*pointers([*x, a, b]))
    part = np.exp(0.3) * 1.7
    np.testing.assert_allclose(a, [np.sin(part) + np.cos(part - 0.2), part], rtol=1e-15)
    np.testing.assert_allclose(b, [(part - 0.2) ** 2], rtol=1e-15)


@pytest.mark.parametrize("links", [1, 2])
@pytest.mark.parametrize("algorithm", [lw.inverse_dynamics, lw.algorithms.potential_energy, lw.algorithms.momentum])
def test_a_robot_that_cannot_move(algorithm, links, tmp_path):
    k = lw.compile(still(links), algorithm)
    shared_object(tmp_path, k.c_source(), k.c_header())


@pytest.mark.parametrize(
    "name", ["a */ b", "a /* b", "two\nlines", "back\\", "what??/", "Ärmchen", '"quoted"', "%s {0}"]
)
def test_a_robots_name_cannot_break_the_comment(name, tmp_path):
    k = lw.compile(arm(1, name=name), lw.algorithms.gravity_forces)
    shared_object(tmp_path, k.c_source(), k.c_header())


@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")
def test_the_header_is_cpp_too(tmp_path):
    k = lw.compile(arm(2), lw.inverse_dynamics)
    (tmp_path / "k.h").write_text(k.c_header())
    (tmp_path / "k.c").write_text(k.c_source())
    (tmp_path / "main.cpp").write_text(
        '#include "k.h"\n#include "k.h"\n#include <cstdio>\nint main() { double q[2] = {0.1, 0.2}, tau[2];'
        ' inverse_dynamics(q, q, q, tau); std::printf("%.17g %.17g", tau[0], tau[1]); }\n'
    )
    for command in (
        ["gcc", "-std=c99", "-c", "k.c"],
        ["g++", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "main.cpp", "k.o", "-o", "main", "-lm"],
    ):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    out = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True).stdout
    np.testing.assert_allclose([float(x) for x in out.split()], k([0.1, 0.2], [0.1, 0.2], [0.1, 0.2]), rtol=1e-13)


def test_the_comment_says_what_the_function_is():
    text = lw.compile(arm(3), lw.jacobian, frame="tool").c_source()
    assert "jacobian of the robot 'arm', generated by Linkwise." in text
    assert "q: input, 3 numbers, row after row" in text
    assert "J: output, 6 by 3 numbers, row after row" in text
    assert "Operations: " in text
