"""Arguments that nobody means to give: refused in words, wherever they would end."""

import re
import warnings

import numpy as np
import pytest

import linkwise as lw
from support.arms import arm
from support.command import error
from support.mjcf import BODY, body, mjcf


@pytest.fixture(scope="module")
def kernel():
    return lw.compile(arm(2), lw.inverse_dynamics)


@pytest.mark.parametrize("kind", ["U3", "S8", "O", "i8", "?"])
@pytest.mark.parametrize("rows", [1, 600])
@pytest.mark.parametrize("threads", [1, 2])
def test_numbers_are_not_written_as_texts_or_objects(kind, rows, threads):
    kernel = lw.compile(arm(2), lw.inverse_dynamics, threads=threads)
    out = np.zeros((rows, 2), kind)
    with pytest.raises(lw.InputError, match=r"out must be writable float64 array\(s\).* holds no real numbers"):
        kernel(*[np.zeros((rows, 2))] * 3, out=out)


def test_outputs_of_other_real_and_complex_numbers_are_filled(kernel):
    x = [np.full(2, 0.3)] * 3
    for kind in ("f4", "f8", "c16", ">f8"):
        out = np.zeros(2, kind)
        kernel(*x, out=(out,))
        np.testing.assert_allclose(out, kernel(*x), rtol=1e-6)


def test_masks_that_do_not_fit_the_result():
    """A floating base has one coordinate more than speeds."""
    kernel = lw.compile(lw.random_tree(0, 2, floating=True), lw.inverse_dynamics)
    x = [np.ma.masked_array(np.full(n, 0.3)) for (n,) in kernel.inputs.values()]
    with pytest.raises(lw.InputError, match=r"expected arrays without masks, got a masked q, qd, qdd\. .* q\.filled"):
        kernel(*x)


@pytest.mark.parametrize("joints", [-5, 2.5, "a", None, True])
def test_numbers_of_joints(joints):
    with pytest.raises(lw.InputError, match="random_tree joints: expected a whole number of at least 0"):
        lw.random_tree(0, joints)


@pytest.mark.parametrize("given", [{"max_steps": 10**400}, {"time_limit": 10**400}])
def test_budgets_without_measure_are_no_budgets(given):
    assert lw.simulate(lw.load("rr"), [0.1, 0.2], None, 0.01, **given).status == "finished"


@pytest.mark.parametrize("given", [{"t": 10**400}, {"t": 1.0, "rtol": 10**400}, {"t": [0.0, 10**400]}])
def test_numbers_of_hundreds_of_digits_in_simulations(given):
    with pytest.raises(lw.InputError, match="expected"):
        lw.simulate(lw.load("rr"), [0.1, 0.2], None, **given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"intervals": 2**70}, "retime intervals: expected a whole number below 2**31, got 1.18e+21."),
        ({"dt": 1e-300}, "retime dt: expected at most 100,000,000 rows, got"),
        ({"dt": 5e-324}, "retime dt: expected at most 100,000,000 rows, got inf"),
    ],
)
def test_timings_with_too_many_rows(given, words):
    with pytest.raises(lw.InputError, match=re.escape(words)):
        lw.retime(lw.load("rr"), [[0.0, 0.0], [1.0, 1.0]], velocity=1.0, **given)


def test_rollouts_that_do_not_fit_into_memory():
    """Refused at the first steps, not when memory is used up."""
    rollout = lw.compile_rollout(lw.load("rr"))
    for steps in (10**14, 2**58):
        with pytest.raises((MemoryError, lw.InputError)):
            rollout([0.1, 0.2], [0.0, 0.0], np.broadcast_to(np.zeros(2), (steps, 2)), 0.01)


def test_a_coupling_of_mjcf_that_is_out_of_range_is_named():
    joints = [body("a", BODY, '<joint name="i"/>'), body("b", BODY, '<joint name="k"/>')]
    coupling = '<equality><joint name="gear" joint1="k" joint2="i" polycoef="1e60 2 0 0 0"/></equality>'
    with pytest.raises(lw.ModelError, match=r":12: equality 'gear' mimic offset: expected a number of magnitude"):
        lw.load(mjcf(*joints, tail=[coupling]).encode())


def test_a_link_to_itself_is_read_by_no_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop.toml").symlink_to("loop.toml")
    assert "'loop.toml'" in error("convert", "rr", "out.toml", "--side", "loop.toml")


def test_what_is_no_robot_is_refused_in_words():
    platform = lw.Link("platform")
    with pytest.raises(lw.InputError, match="attach: expected a Robot, got Link"):
        lw.load("rr").attach(platform, at="link2")
    with pytest.raises(lw.InputError, match="retime: expected a Robot, got Link"):
        lw.retime(platform, [[0.0] * 7, [0.1] * 7])


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of CasADi, about its own ways with NumPy
def test_expressions_of_other_libraries_are_told_of_by_name():
    """A kernel has no use for them; it used to speak of rows of different lengths."""
    import casadi
    import mpmath
    import sympy

    kernel, (a, b) = lw.compile(lw.load("rr")).inverse_dynamics, sympy.symbols("q1 q2")
    x = casadi.SX.sym("q", 2)
    for q in (x, [x[0], x[1]], casadi.MX.sym("q", 2), casadi.DM([1.0, 2.0]), sympy.Matrix([a, b]), [a, b], [[1.0, b]]):
        door = r"run the algorithm on it, inverse_dynamics\.plain\(robot, .*\), or call kernel\.(casadi|symbolic)\(\)"
        with pytest.raises(lw.InputError, match=rf"expected q of shape .* of (casadi|sympy)\. A kernel .*: {door}"):
            kernel(q, [0.0, 0.0], [0.0, 0.0])
    with pytest.raises(lw.InputError, match=r"got a mpf of mpmath\. .*: run .* inverse_dynamics\.plain\("):
        kernel([mpmath.mpf(1), 2.0], [0.0, 0.0], [0.0, 0.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(lw.InputError, match="got a SX of casadi"):
            kernel(x, [0.0, 0.0], [0.0, 0.0])


def test_tracers_are_shown_their_door():
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    kernel, zero = lw.compile(lw.load("rr")).inverse_dynamics, np.zeros(2)
    for function in (lambda q: kernel(q, zero, zero), lambda q: kernel([q[0], 0.0], zero, zero)):
        with pytest.raises(lw.InputError, match=r"Tracer of jax\. A kernel takes .*: call kernel\.jax\(\)"):
            jax.jit(function)(np.ones(2, np.float32))
    with pytest.raises(lw.InputError, match=r"expected q of shape \(\.\.\., 2\), got \(3,\)"):
        kernel(jax.numpy.zeros(3), zero, zero)


class Tensor:
    """What PyTorch's tensors do where they cannot be arrays."""

    def __init__(self, device, requires_grad):
        self.device, self.requires_grad = device, requires_grad

    def __array__(self, *args, **kwargs):
        raise (TypeError if self.device != "cpu" else RuntimeError)("can't")


Tensor.__module__ = "torch"


def test_tensors_are_shown_their_door():
    kernel, zero = lw.compile(lw.load("rr")).inverse_dynamics, np.zeros(2)
    with pytest.raises(lw.InputError, match=r"got a Tensor of torch on the device cuda:0\. .*: call kernel\.torch\(\)"):
        kernel(Tensor("cuda:0", False), zero, zero)
    with pytest.raises(lw.InputError, match=r"a Tensor of torch that requires a gradient\. .*: call kernel\.torch\(\)"):
        kernel(zero, Tensor("cpu", True), zero)


def test_errors_of_others_pass_through():
    class Odd:
        def __array__(self, *args, **kwargs):
            raise RuntimeError("mine")

    kernel, zero = lw.compile(lw.load("rr")).inverse_dynamics, np.zeros(2)
    with pytest.raises(RuntimeError, match="mine"):
        kernel(Odd(), zero, zero)
