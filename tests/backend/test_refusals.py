"""What kernels and `compile` refuse: always a LinkwiseError that names the argument and says what was expected."""

import re
from decimal import Decimal

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import InputError, LinkwiseError
from support.arms import arm, states

ROBOT = arm(3)


@pytest.fixture(scope="module", params=["native", "threads", "numpy", "native float32", "numpy float32"])
def kernel(request):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LINKWISE_BACKEND", "numpy" if "numpy" in request.param else "llvm")
        dtype = "float32" if "float32" in request.param else "float64"
        k = lw.compile(ROBOT, lw.inverse_dynamics, threads=2 if request.param == "threads" else 1, dtype=dtype)
        k(*states(ROBOT))
    return k


SHAPES = {
    "too narrow": (np.zeros((600, 2)), "(600, 2)"),
    "too wide": (np.zeros(4), "(4,)"),
    "one wide": (np.zeros((600, 1)), "(600, 1)"),
    "a number": (1.0, "()"),
    "empty": ([], "(0,)"),
    "turned": (np.zeros((3, 600)), "(3, 600)"),
}


@pytest.mark.parametrize("case", SHAPES)
@pytest.mark.parametrize("argument", [0, 1, 2])
def test_wrong_shapes_are_answered_with_both(kernel, case, argument):
    given, shape = SHAPES[case]
    x = states(ROBOT, 600)
    name = ("q", "qd", "qdd")[argument]
    x[argument] = given
    message = f"inverse_dynamics: expected {name} of shape (..., 3), got {shape}."
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        kernel(*x)


TYPES = {
    "None": (None, "object"),
    "complex": (np.zeros((600, 3), complex), "complex128"),
    "complex list": ([1j, 0, 0], "complex128"),
    "objects": (np.array([1, None, 2], object), "object"),
    "numbers as objects": (np.array([1.0, 2.0, 3.0], object), "object"),
    "decimals": ([Decimal(1)] * 3, "object"),
    "large integers": ([10**30, 1, 2], "object"),
    "a dict": ({}, "object"),
    "a set": ({1, 2, 3}, "object"),
    "a generator": ((k for k in range(3)), "object"),
    "a string": ("abc", "<U3"),
    "strings": (["1", "2", "3"], "<U1"),
    "bytes": (b"abc", "|S3"),
    "times": (np.zeros(3, "M8[s]"), "datetime64[s]"),
    "durations": (np.zeros(3, "m8[s]"), "timedelta64[s]"),
    "records": (np.zeros(3, [("a", float)]), "[('a', '<f8')]"),
}


@pytest.mark.parametrize("case", TYPES)
def test_what_is_no_array_of_real_numbers_is_refused(kernel, case):
    given, kind = TYPES[case]
    q, _, qdd = states(ROBOT, 600)
    message = f"inverse_dynamics: expected qd of shape (..., 3) and real numbers, got {kind}."
    with pytest.raises(InputError, match=f"^{re.escape(message)}"):
        kernel(q, given, qdd)


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize == 8, reason="longdouble is float64 here")
def test_longdouble_is_refused_where_others_are_not_shortened(kernel):
    if kernel.dtype == np.float32:
        assert np.isfinite(kernel(np.zeros(3, np.longdouble), np.zeros(3), np.zeros(3))).all()
        return
    with pytest.raises(InputError, match=r"expected q of shape .* got float128\. Convert it to float64"):
        kernel(np.zeros(3, np.longdouble), np.zeros(3), np.zeros(3))


def test_ragged_lists(kernel):
    with pytest.raises(InputError, match=r"expected qdd of shape \(..., 3\), got rows of different lengths"):
        kernel(np.zeros(3), np.zeros(3), [[1.0, 2.0, 3.0], [1.0, 2.0]])


@pytest.mark.parametrize("rows", [3, 600])
def test_batches_that_do_not_broadcast(kernel, rows):
    with pytest.raises(InputError, match=rf"leading axes do not broadcast: q \({rows},\), qd \(2,\), qdd \(\)"):
        kernel(np.zeros((rows, 3)), np.zeros((2, 3)), np.zeros(3))


def read_only(shape):
    out = np.zeros(shape)
    out.setflags(write=False)
    return out


OUTS = {
    "fewer rows": np.zeros((500, 3)),
    "more rows": np.zeros((700, 3)),
    "one row": np.zeros((1, 3)),
    "no batch": np.zeros(3),
    "narrow": np.zeros((600, 2)),
    "whole numbers": np.zeros((600, 3), int),
    "bool": np.zeros((600, 3), bool),
    "times": np.zeros((600, 3), "M8[s]"),
    "read-only": read_only((600, 3)),
    "a list": [[0.0] * 3] * 600,
    "a string": "here",
    "two arrays": (np.zeros((600, 3)), np.zeros((600, 3))),
    "no array": (),
}


@pytest.mark.parametrize("case", OUTS)
def test_out_that_does_not_fit(kernel, case):
    with pytest.raises(
        InputError, match=r"inverse_dynamics: out must be writable float(64|32) array\(s\) of shape \(600, 3\)"
    ):
        kernel(*states(ROBOT, 600), out=OUTS[case])


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_wrong_number_of_arguments_names_the_kernel(kernel, count):
    with pytest.raises(TypeError, match=r"^inverse_dynamics\(\) (missing|takes)"):
        kernel(*[np.zeros(3)] * count)


def test_unknown_argument_names_the_kernel(kernel):
    with pytest.raises(TypeError, match=r"^inverse_dynamics\(\) got an unexpected keyword argument 'speed'"):
        kernel(*[np.zeros(3)] * 3, speed=1)


def test_bad_calls_leave_the_kernel_working(kernel):
    x = states(ROBOT, 5)
    before = kernel(*x)
    with pytest.raises(InputError):
        kernel(None, None, None)
    np.testing.assert_array_equal(kernel(*x), before)


def test_a_bad_first_call_is_explained_too():
    k = lw.compile(arm(3, mass=1.7), lw.inverse_dynamics)
    with pytest.raises(InputError, match="expected q of shape"):
        k(np.zeros(2), np.zeros(3), np.zeros(3))
    assert k(*[np.zeros(3)] * 3).shape == (3,)


# ---- options of compile

OPTIONS = {
    "not a robot": (("arm.urdf",), {}, "expected a Robot"),
    "not an algorithm": ((ROBOT, "inverse_dynamics"), {}, "expected an algorithm such as"),
    "a function": ((ROBOT, len), {}, "expected an algorithm such as"),
    "unknown option": ((ROBOT,), {"speed": 2}, "unknown option of compile 'speed'.*'threads'"),
    "near miss": ((ROBOT,), {"extrenal": ("tool",)}, "Did you mean 'external'"),
    "unknown static option": ((ROBOT, lw.pose), {"frame": "tool", "axis": "local"}, "unknown option of pose 'axis'"),
    "frame missing": ((ROBOT, lw.pose), {}, "pose: expected frame=..., got nothing"),
    "frame unknown": ((ROBOT, lw.pose), {"frame": "hand"}, "unknown frame or link 'hand'.*'tool'"),
    "frame no name": ((ROBOT, lw.pose), {"frame": ["tool"]}, "unknown frame or link"),
    "axes unknown": ((ROBOT, lw.jacobian), {"frame": "tool", "axes": "body"}, "axes: expected 'world' or 'local'"),
    "external unknown": ((ROBOT,), {"external": ("hand",)}, "unknown frame or link 'hand'"),
    "external twice": ((ROBOT,), {"external": ("tool", "tool")}, "external: expected each name once"),
    "external number": ((ROBOT,), {"external": 3}, "external: expected a tuple of names"),
    "external numbers": ((ROBOT,), {"external": (3,)}, "external: expected names"),
    "external not used": ((ROBOT, lw.mass_matrix), {"external": "tool"}, "unknown option of mass_matrix 'external'"),
    "base motion number": ((ROBOT,), {"base_motion": 1}, "base_motion: expected True or False"),
    "base motion not used": ((ROBOT, lw.pose), {"frame": "tool", "base_motion": True}, "option of pose 'base_motion'"),
    "parameters unknown": ((ROBOT,), {"parameters": ("link1.colour",)}, "colour"),
    "parameters unknown item": ((ROBOT,), {"parameters": ("hand.mass",)}, "hand"),
    "parameters without quantity": ((ROBOT,), {"parameters": ("link1",)}, "link1"),
    "parameters twice": ((ROBOT,), {"parameters": ("link1.mass", "link1.mass")}, "parameters: expected each name once"),
    "parameters number": ((ROBOT,), {"parameters": 3}, "parameters: expected a tuple of names"),
    "gravity word": ((ROBOT,), {"gravity": "none"}, "gravity: expected a vector of three, 'input' or None"),
    "gravity number": ((ROBOT,), {"gravity": 9.81}, "gravity: expected 3 numbers"),
    "gravity short": ((ROBOT,), {"gravity": (0.0, -9.81)}, "gravity: expected 3 numbers"),
    "gravity nan": ((ROBOT,), {"gravity": (0.0, 0.0, np.nan)}, "gravity.*finite"),
    "gravity not used": ((ROBOT, lw.mass_matrix), {"gravity": "input"}, "unknown option of mass_matrix 'gravity'"),
    "threads zero": ((ROBOT,), {"threads": 0}, "threads: expected a whole number of at least 1"),
    "threads negative": ((ROBOT,), {"threads": -2}, "threads: expected a whole number of at least 1"),
    "threads half": ((ROBOT,), {"threads": 1.5}, "threads: expected a whole number"),
    "threads word": ((ROBOT,), {"threads": "all"}, "threads: expected a whole number"),
    "threads true": ((ROBOT,), {"threads": True}, "threads: expected a whole number"),
}


@pytest.mark.parametrize("case", OPTIONS)
def test_bad_options_of_compile(case):
    arguments, options, message = OPTIONS[case]
    with pytest.raises(LinkwiseError, match=message):
        lw.compile(*arguments, **options)


def test_unknown_frames_of_dynamics():
    dyn = lw.compile(ROBOT)
    for call in (lambda: dyn.pose(np.zeros(3), "hand"), lambda: dyn.jacobian(np.zeros(3), ["tool"]),
                 lambda: dyn.wrench_at("hand"), lambda: dyn.jacobian(np.zeros(3), "tool", axes="body")):  # fmt: skip
        with pytest.raises(LinkwiseError):
            call()


def test_a_back_end_that_does_not_exist(monkeypatch):
    monkeypatch.setenv("LINKWISE_BACKEND", "fortran")
    k = lw.compile(arm(2), lw.inverse_dynamics)
    with pytest.raises(InputError, match=r"LINKWISE_BACKEND: expected one of .* got 'fortran'"):
        k(*[np.zeros(2)] * 3)


@pytest.mark.parametrize("name", ["class", "two words", "1st"])
def test_names_of_outputs_are_identifiers(name):
    @lw.algorithm(inputs="q", outputs={name: ("nq",)})
    def same(tree, q):
        return (q,)

    with pytest.raises(LinkwiseError, match="must be Python identifiers"):
        lw.compile(ROBOT, same)


@pytest.mark.parametrize("name", ["ufunc", "result", "explain", "call", "make"])
def test_an_algorithm_may_have_any_name(name):
    def same(tree, q):
        return (q,)

    same.__name__ = name
    k = lw.compile(ROBOT, lw.algorithm(inputs="q", outputs={"q": ("nq",)})(same))
    assert k([1.0, 2.0, 3.0]).tolist() == [1.0, 2.0, 3.0]
