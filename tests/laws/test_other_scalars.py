"""Algorithms on scalars of other libraries: SymPy, CasADi, many digits and intervals of mpmath."""

from dataclasses import replace

import casadi
import mpmath
import numpy as np
import pytest
import sympy

import linkwise as lw
from linkwise import scalar
from support.every_machine import sort

ROBOTS = {
    "arm": lambda: lw.load("puma560"),
    "floating": lambda: lw.load("puma560", base="floating"),
    "five-bar": lambda: lw.load("fivebar"),
    "smooth friction": lambda: rubbed("tanh"),
    "stribeck": lambda: rubbed("stribeck"),
    "elastic": lambda: sort("elastic").robot,
}


def rubbed(law):
    robot = lw.load("scara")
    return robot.replace(*(replace(j, friction=lw.Friction(2.0, 0.5, law=law)) for j in robot.joints if j.nv))


def state(robot, seed=1):
    rng = np.random.default_rng(seed)
    q = np.asarray(lw.compile(robot).integrate(robot.q(), 0.2 * rng.uniform(-1.0, 1.0, robot.nv), 1.0))
    return [q, *rng.uniform(-1.0, 1.0, (2, robot.nv))]


@pytest.mark.parametrize("name", ROBOTS)
def test_casadi(name):
    """Expressions of CasADi, evaluated by it."""
    robot = ROBOTS[name]()
    x = state(robot)
    for kernel in (lw.compile(robot).inverse_dynamics, lw.compile(robot).mass_matrix):
        given = x[: len(kernel.inputs)]
        symbols = [casadi.SX.sym(n, len(v)) for n, v in zip(kernel.inputs, given, strict=True)]
        result = casadi.vertcat(*kernel.algorithm.plain(robot, *symbols))
        found = casadi.Function("f", symbols, [result])(*given).full()[:, 0]
        expected = kernel(*given).ravel()
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("name", ROBOTS)
def test_many_digits(name):
    """The same with 50 digits: what doubles lose is less than 1e-12 of the largest."""
    robot = ROBOTS[name]()
    x = state(robot)
    with mpmath.workdps(50):
        given = [[mpmath.mpf(float(v)) for v in row] for row in x]
        found = lw.inverse_dynamics.plain(robot, *given)
        assert all(isinstance(v, mpmath.mpf) for v in found)
    expected = lw.compile(robot).inverse_dynamics(*x)
    np.testing.assert_allclose([float(v) for v in found], expected, rtol=0.0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("name", ["arm", "floating", "smooth friction", "stribeck", "elastic"])
def test_intervals_hold_what_they_must(name):
    """Torques for all states of a box: those of every state in it lie within, and a box of no size is a point."""
    robot = ROBOTS[name]()
    x, width = state(robot), 1e-3
    iv = mpmath.iv
    boxes = [[iv.mpf([float(v) - width, float(v) + width]) for v in row] for row in x]
    found = lw.inverse_dynamics.plain(robot, *boxes)
    low, high = ([float(getattr(v, end)) for v in found] for end in ("a", "b"))
    rng = np.random.default_rng(2)
    inside = [v + width * rng.uniform(-1.0, 1.0, (200, len(v))) for v in x]
    tau = lw.compile(robot).inverse_dynamics(*inside)
    assert (tau >= low).all()
    assert (tau <= high).all()
    point = lw.inverse_dynamics.plain(robot, *([iv.mpf(float(v)) for v in row] for row in x))
    exact = lw.compile(robot).inverse_dynamics(*x)
    np.testing.assert_allclose([float(v.mid) for v in point], exact, rtol=0.0, atol=1e-10 * np.abs(exact).max())


def test_signs_of_intervals_that_hold_zero():
    """Coulomb friction about rest may be anything between both directions."""
    robot = rubbed("coulomb")
    q, _, _ = state(robot)
    iv = mpmath.iv
    rest = [iv.mpf([-1e-6, 1e-6])] * robot.nv
    found = lw.inverse_dynamics.plain(robot, [iv.mpf(float(v)) for v in q], rest, [iv.mpf(0)] * robot.nv)
    held = lw.compile(robot).gravity_forces(q)
    friction = [j.friction.coulomb for j in robot.joints if j.nv]
    for f, g, c in zip(found, held, friction, strict=True):
        assert float(f.a) <= g - c + 1e-9
        assert float(f.b) >= g + c - 1e-9


def test_sympy_with_choices():
    robot = rubbed("coulomb")
    symbols = [sympy.symbols(f"{name}1:{robot.nv + 1}") for name in ("q", "v", "a")]
    x = state(robot)
    tau = lw.inverse_dynamics.plain(robot, *symbols)
    numbers = {s: float(v) for group, row in zip(symbols, x, strict=True) for s, v in zip(group, row, strict=True)}
    found = [float(sympy.sympify(t).subs(numbers)) for t in tau]
    np.testing.assert_allclose(found, lw.compile(robot).inverse_dynamics(*x), rtol=1e-12)


def test_elementary_functions():
    """Each function of `scalar`, on each kind, where it is defined."""
    iv, SX = mpmath.iv, casadi.SX
    a, b = 0.7, -1.3

    def value(x):
        return float(x.mid) if hasattr(x, "delta") else float(x)

    for name in ("sin", "cos", "exp", "tanh", "sign"):
        truth = getattr(scalar, name)(a)
        for x in (mpmath.mpf(a), iv.mpf(a), SX(a), sympy.Float(a)):
            assert value(getattr(scalar, name)(x)) == pytest.approx(truth, rel=1e-14)
    for x in (mpmath.mpf(a), iv.mpf(a), SX(a), sympy.Float(a)):
        assert value(scalar.sqrt(x)) == pytest.approx(np.sqrt(a), rel=1e-14)
        assert value(scalar.minimum(x, b)) == value(scalar.minimum(b, x)) == b
        assert value(scalar.maximum(x, b)) == value(scalar.maximum(b, x)) == pytest.approx(a)
        assert value(scalar.less(x, b)) == 0.0
        assert value(scalar.less(b, x)) == 1.0
        assert value(scalar.where(x, 2.0, 3.0)) == 2.0
        assert value(scalar.atan2(x, b)) == pytest.approx(np.arctan2(a, b), rel=1e-14)
        assert value(scalar.atan2(b, x)) == pytest.approx(np.arctan2(b, a), rel=1e-14)
    both = scalar.where(iv.mpf([0, 1]), 2.0, 3.0)
    assert (float(both.a), float(both.b)) == (2.0, 3.0)
    some = scalar.less(iv.mpf([0, 2]), 1.0)
    assert (float(some.a), float(some.b)) == (0.0, 1.0)
