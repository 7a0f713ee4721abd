"""Packed kernels: the values of the dense ones without structural zeros, each once, and the way back."""

import pickle
from functools import cached_property

import numpy as np
import pytest
import scipy.sparse

import linkwise as lw
from linkwise.kernel.packed import Packed
from support.backends import in_c
from support.every_machine import MIXTURES, SORTS, sort

MEMBERS = [
    name for name, x in vars(lw.Dynamics).items() if isinstance(x, cached_property) and name != "_clearance"
]  # which has kernels, but is none
HEAVY = {*MIXTURES, "hexapod + arm", "hexapod"}  # large matrices, traced when there is time
LARGE = {  # of a machine with many joints in loops
    "inverse_dynamics_hessian", "inverse_dynamics_hessian_vector", "linearization", "joint_wrench_derivatives",
    "kinematics_derivatives", "regressor", "link_jerks", "joint_wrench_rates",
}  # fmt: skip
every = pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in HEAVY else n for n in SORTS])


def fields(found):
    return found if isinstance(found, tuple) else (found,)


def given(kernel, machine, rows=3):
    """Rows of every input, at positions that the machine's loops allow."""
    rng = np.random.default_rng(3)
    q = machine.states(rows)[0]
    widths = {"q": q, "q0": q, "q1": q}
    return [widths.get(n, rng.uniform(0.5, 1.5, (rows, *shape))) for n, shape in kernel.inputs.items()]


def check(kernel, inputs):
    """Unpacked values are what the dense kernel gives, and there is nothing in them that is not needed."""
    packed = kernel.packed
    values, dense = packed(*inputs), kernel(*inputs)
    assert packed.outputs == {"values": values.shape[1:]}
    assert packed.count() == kernel.count()
    found = packed.unpack(values)
    assert type(found) is type(dense)
    assert set(packed.places) == set(kernel.outputs)
    for name, a, b in zip(kernel.outputs, fields(found), fields(dense), strict=True):
        np.testing.assert_array_equal(a, b, err_msg=name)
        at = packed.places[name]
        assert all(len(x) == len(at.values) for x in at.entries)
        assert len({*zip(*at.entries, strict=True)}) == len(at.values) or not at.entries
    used = np.concatenate([at.values for at in packed.places.values()])
    assert sorted({*used.tolist()}) == list(range(values.shape[-1]))


@every
def test_all_algorithms_of_every_machine(name, monkeypatch):
    monkeypatch.setenv("LINKWISE_BACKEND", "numpy")
    machine = sort(name)
    dyn, tried = machine.dynamics(), 0
    for member in MEMBERS:
        if member in LARGE and machine.robot.loops and machine.robot.opened().nv > 4:
            continue
        try:
            kernel = getattr(dyn, member)
        except lw.LinkwiseError:  # what this machine does not have
            continue
        check(kernel, given(kernel, machine))
        tried += 1
    assert tried > 25


@pytest.mark.parametrize("name", ["arm", "floating", "elastic", "five-bar", "Delta"])
def test_native_code(name):
    machine = sort(name)
    dyn = machine.dynamics(threads=2)
    for kernel in (dyn.inverse_dynamics_derivatives, dyn.linearization, dyn.kinetic_energy, dyn.poses):
        inputs = given(kernel, machine, 70)
        check(kernel, inputs)
        packed = kernel.packed
        out = np.full((70, *packed.outputs["values"]), np.nan)
        assert packed(*inputs, out=out) is out
        np.testing.assert_array_equal(out, packed(*inputs))
        one = packed(*(x[0] for x in inputs))
        np.testing.assert_allclose(one, out[0], rtol=1e-13, atol=1e-13)
        for a, b in zip(fields(packed.unpack(one)), fields(kernel(*(x[0] for x in inputs))), strict=True):
            assert a.shape == b.shape
            np.testing.assert_array_equal(a, b)


def test_legs_do_not_feel_each_other():
    robot = lw.random_tree(3, 12, branching=0.8)
    dyn = lw.compile(robot)
    packed = dyn.inverse_dynamics_derivatives.packed
    at, n = packed.places["M"], robot.nv
    assert len(at.values) < n * n
    lower = at.entries[0] >= at.entries[1]
    assert len({*at.values.tolist()}) == lower.sum()  # both triangles are the same values
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, n))
    values = packed(q, qd, qdd)
    M = scipy.sparse.coo_array((values[at.values], at.entries), shape=(n, n))
    np.testing.assert_allclose(M.toarray(), dyn.mass_matrix(q), rtol=1e-12, atol=1e-12)


def test_numbers_of_half_the_length():
    dyn = lw.compile(lw.load("puma560"), dtype="float32")
    packed = dyn.inverse_dynamics_derivatives.packed
    inputs = np.random.default_rng(4).normal(size=(3, 20, 6)).astype(np.float32)
    values = packed(*inputs)
    assert values.dtype == packed.dtype == np.float32
    for a, b in zip(packed.unpack(values), dyn.inverse_dynamics_derivatives(*inputs), strict=True):
        assert a.dtype == np.float32
        np.testing.assert_array_equal(a, b)


def test_options_and_algorithms_of_ones_own():
    robot = lw.load("puma560")
    rng = np.random.default_rng(1)
    options = {"external": (robot.moving_links[-1],), "parameters": (f"{robot.moving_links[-1]}.mass",)}
    kernel = lw.compile(robot, lw.derivative(lw.inverse_dynamics, "f_ext", "parameters"), gravity="input", **options)
    check(kernel, [rng.normal(size=(5, *shape)) for shape in kernel.inputs.values()])


def test_nothing_left():
    robot = lw.load("rr").replace(gravity=(0.0, 0.0, 0.0))
    dyn = lw.compile(robot)
    for kernel in (dyn.gravity_forces, dyn.potential_energy):
        check(kernel, [np.ones((2, robot.nq))])
        assert kernel.packed(np.ones((2, robot.nq))).shape == (2, 0)


def test_a_guess_chooses_the_assembly_mode():
    machine = sort("five-bar")
    dyn = machine.dynamics(closure="newton")
    q, qd, qdd = machine.states()
    guess = dyn.positions(q[0]).q
    kernel = dyn.inverse_dynamics_derivatives
    found = kernel.packed.unpack(kernel.packed(q, qd, qdd, guess=guess))
    for a, b in zip(found, kernel(q, qd, qdd, guess=guess), strict=True):
        np.testing.assert_array_equal(a, b)


def test_text_and_pickle(tmp_path):
    dyn = lw.compile(lw.load("rr"))
    packed = dyn.inverse_dynamics_derivatives.packed
    assert packed is dyn.inverse_dynamics_derivatives.packed
    assert repr(packed) == (
        "<Kernel inverse_dynamics_derivatives of the robot 'rr', packed: q(2,), qd(2,), qdd(2,) -> values(8,)>"
    )
    assert "values" in packed.listing()
    inputs = np.random.default_rng(2).normal(size=(3, 2))
    again = pickle.loads(pickle.dumps(packed))
    assert isinstance(again, Packed)
    np.testing.assert_array_equal(again(*inputs), packed(*inputs))
    np.testing.assert_allclose(in_c(tmp_path, packed.program)(*inputs), packed(*inputs), rtol=1e-13, atol=1e-13)
    with pytest.raises(ValueError, match="read-only"):
        packed.places["M"].values[0] = 7


WRONG = [
    np.ones(9),
    np.ones((3, 1)),
    np.ones(8, dtype=int),
    [["a"] * 8],
    1.0,
    [[1.0], [1.0, 2.0]],
    np.ma.masked_less(np.ones(8), 2),
]


@pytest.mark.parametrize("wrong", WRONG)
def test_what_cannot_be_unpacked(wrong):
    packed = lw.compile(lw.load("rr")).inverse_dynamics_derivatives.packed
    with pytest.raises(lw.InputError, match=r"unpack: expected values of shape \(\.\.\., 8\)"):
        packed.unpack(wrong)


def test_very_large_robots_are_refused():
    kernel = lw.compile(lw.random_tree(0, 300), lw.inverse_dynamics_derivatives)
    with pytest.raises(lw.InputError, match=r"packed outputs .* column by column"):
        _ = kernel.packed
