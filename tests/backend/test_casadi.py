"""Kernels as functions of CasADi: expressions and compiled code, with derivatives and in solvers."""

import casadi as ca
import numpy as np
import pytest

import linkwise as lw
from linkwise.backend import casadi_external
from linkwise.errors import InputError
from support.arms import arm, states, two_link
from support.every_machine import sort

STRAIGHT = ("arm", "floating", "moving base", "elastic", "five-bar", "five-bar, elastic", "hexapod", "3-RRR")
OPTIONS = [
    (lw.mass_matrix, {}),
    (lw.forward_dynamics, {}),
    (lw.joint_wrenches, {"external": ("link3",), "gravity": "input"}),
    (lw.inverse_dynamics_derivatives, {}),
    (lw.jacobian, {"frame": "link3"}),
    (lw.inverse_dynamics, {"parameters": ("link2.mass", "joint1.coulomb")}),
]


def flat(x, port):
    """An array as CasADi has it: all axes but the last are rows."""
    return np.asarray(x, float).reshape(-1, port[-1] if len(port) > 1 else 1)


def agree(kernel, function, inputs, part=1e-12):
    ports = kernel.inputs.values()
    found = function.call([ca.DM(flat(x, p)) for x, p in zip(inputs, ports, strict=True)])
    expected = kernel(*inputs)
    for a, b, p in zip(
        found, expected if isinstance(expected, tuple) else (expected,), kernel.outputs.values(), strict=True
    ):
        b = flat(b, p)
        np.testing.assert_allclose(np.array(ca.densify(a)), b, rtol=0.0, atol=part * max(1.0, np.abs(b).max()))


@pytest.mark.parametrize("name", STRAIGHT)
def test_machines_as_expressions(name):
    machine = sort(name)
    kernel = machine.dynamics().inverse_dynamics
    agree(kernel, kernel.casadi(), [x[0] for x in (*machine.states(1), *machine.surroundings(1))])


@pytest.mark.parametrize(("algorithm", "options"), OPTIONS)
@pytest.mark.parametrize("compiled", [False, True])
def test_algorithms_and_options(algorithm, options, compiled):
    kernel = lw.compile(arm(3), algorithm, **options)
    rng = np.random.default_rng(0)
    inputs = [rng.normal(size=shape) for shape in kernel.inputs.values()]
    function = kernel.casadi(compiled=compiled)
    assert [function.name_in(k) for k in range(function.n_in())] == list(kernel.inputs)
    assert [function.name_out(k) for k in range(function.n_out())] == list(kernel.outputs)
    agree(kernel, function, inputs)


def test_zeros_of_the_structure_are_none():
    """Two arms on one base do not feel each other."""
    links = [lw.Link("base"), *(lw.Link(n, 1.0, (0.1, 0, 0), (0.01, 0.02, 0.03)) for n in "ab")]
    joints = [lw.Joint("left", "base", "a"), lw.Joint("right", "base", "b", axis=(0, 1, 0))]
    kernel = lw.compile(lw.Robot(links, joints, name="two"), lw.mass_matrix)
    for compiled in (False, True):
        assert kernel.casadi(compiled=compiled).sparsity_out(0).nnz() == 2


@pytest.mark.parametrize("name", ["arm", "floating", "five-bar", "ankle, moving base"])
def test_derivatives_of_compiled_code(name):
    """Jacobian, directional and weighted derivatives, against expressions or, with Newton's method, differences."""
    machine = sort(name)
    kernel = machine.dynamics().inverse_dynamics
    function = kernel.casadi("torques", compiled=True)
    x = [x[0] for x in (*machine.states(1), *machine.surroundings(1))]
    agree(kernel, function, x, 1e-14)
    jacobian = function.jacobian()
    blocks = jacobian.call([*x, np.zeros(function.numel_out(0))])
    symbols = [ca.MX.sym(f"x{k}", v.size) for k, v in enumerate(x)]
    y = function.call([*symbols])[0]
    seeds = [ca.DM(np.random.default_rng(k).normal(size=v.size)) for k, v in enumerate(x)]
    weight = ca.DM(np.random.default_rng(9).normal(size=y.shape[0]))
    ahead = ca.Function("ahead", symbols, [sum(ca.jtimes(y, s, d) for s, d in zip(symbols, seeds, strict=True))])
    back = ca.Function("back", symbols, [ca.jtimes(y, s, weight, True) for s in symbols])
    expected = sum(np.array(ca.densify(J)) @ np.array(d) for J, d in zip(blocks, seeds, strict=True))
    np.testing.assert_allclose(np.array(ahead.call(x)[0]), expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())
    for J, g in zip(blocks, back.call(x), strict=True):
        wanted = np.array(ca.densify(J)).T @ np.array(weight)
        np.testing.assert_allclose(np.array(g), wanted, rtol=1e-10, atol=1e-10 * max(1.0, np.abs(wanted).max()))
    h, d = 1e-5, [np.array(s).ravel() for s in seeds]
    ends = [kernel(*(v + s * h * e for v, e in zip(x, d, strict=True))) for s in (-1, 1)]
    np.testing.assert_allclose(
        (ends[1] - ends[0]) / (2 * h), expected.ravel(), rtol=1e-5, atol=1e-5 * np.abs(expected).max()
    )


def test_exact_hessians_of_compiled_code():
    kernel = lw.compile(two_link(), lw.inverse_dynamics)
    x = [x[0] for x in states(two_link(), 1)]
    found = []
    for function in (kernel.casadi(), kernel.casadi("other", compiled=True, second=True)):
        q = ca.MX.sym("q", 2)
        value = ca.sumsqr(function(q, x[1], x[2]))
        found.append(np.array(ca.Function("H", [q], [ca.hessian(value, q)[0]])(x[0])))
    np.testing.assert_allclose(*found, rtol=1e-10)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_posture_of_least_torque(compiled):
    """In Opti, solved by Ipopt: hang down."""
    robot = two_link()
    f = lw.compile(robot, lw.inverse_dynamics).casadi(compiled=compiled, second=compiled)
    opti = ca.Opti()
    q = opti.variable(2)
    opti.minimize(ca.sumsqr(f(q, [0, 0], [0, 0])))
    opti.set_initial(q, [-1.0, 0.3])
    opti.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes"})
    best = opti.solve().value(q)
    assert np.abs(lw.compile(robot, lw.inverse_dynamics)(best, [0, 0], [0, 0])).max() < 1e-3


def test_c_code_by_casadi(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kernel = lw.compile(arm(2), lw.inverse_dynamics)
    generated = kernel.casadi("torques").generate("torques.c")
    casadi_external._compile(tmp_path / generated, tmp_path / "torques.so")
    agree(kernel, ca.external("torques", str(tmp_path / "torques.so")), [x[0] for x in states(arm(2), 1)])


def test_refusals(monkeypatch):
    kernel = sort("ankle, moving base").dynamics().inverse_dynamics
    with pytest.raises(InputError, match=r"Newton's method.*compiled=True"):
        kernel.casadi()
    with pytest.raises(InputError, match="float64"):
        lw.compile(arm(2), lw.inverse_dynamics, dtype="float32").casadi(compiled=True)
    for name in ("a b", "int", "jac", "a__b", "1st", 3):
        with pytest.raises(InputError, match="casadi: expected a name of letters"):
            lw.compile(arm(2), lw.inverse_dynamics).casadi(name)
    monkeypatch.setattr(casadi_external, "COMPILERS", ("no-such-compiler",))
    with pytest.raises(InputError, match="C compiler"):
        lw.compile(arm(2), lw.inverse_dynamics).casadi(compiled=True)
