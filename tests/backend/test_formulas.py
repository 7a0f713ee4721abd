"""Programs as formulas: every operation means what its definition says, and equal formulas come out equal."""

import math

import numpy as np
import pytest
import sympy as sp

from linkwise import scalar
from linkwise.backend.formulas import formulas
from linkwise.backend.terms import Atoms, TooManyTermsError
from linkwise.graph.op import OPS
from linkwise.graph.program import Port, trace
from support.backends import definition, every_op

X = sp.symbols("x y z")
POINTS = np.array([(0.7, -1.3, 2.1), (-0.4, 0.9, -0.2), (1.9, 1.9, 0.0), (0.3, 2.5, -1.0)])


@pytest.mark.parametrize("expand", [True, False])
def test_every_operation(expand):
    program = every_op()
    found = formulas(program, [X], expand=expand)
    for op, (formula, expected) in zip(OPS, zip(found, definition(program)(POINTS), strict=True), strict=True):
        for point, value in zip(POINTS, expected, strict=True):
            number = formula[0].subs(dict(zip(X, point, strict=True)))
            if math.isfinite(value):
                assert abs(float(number) - value) < 1e-14 * max(1.0, abs(value)), op


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x, y, z: scalar.cos(x) * scalar.cos(y) - scalar.sin(x) * scalar.sin(y), sp.cos(X[0] + X[1])),
        (lambda x, y, z: scalar.sin(x) * scalar.cos(y) - scalar.cos(x) * scalar.sin(y), sp.sin(X[0] - X[1])),
        (lambda x, y, z: z * scalar.sin(x) * scalar.sin(x) + z * scalar.cos(x) * scalar.cos(x), X[2]),
        (lambda x, y, z: z - z * scalar.cos(x) * scalar.cos(x), X[2] * sp.sin(X[0]) ** 2),
        (lambda x, y, z: (x + y) * (x - y) + y * y, X[0] ** 2),
        (lambda x, y, z: x * math.sqrt(0.5) * (y * math.sqrt(0.5)), X[0] * X[1] / 2),
        (lambda x, y, z: x * math.cos(math.pi / 6), sp.sqrt(3) * X[0] / 2),
        (lambda x, y, z: scalar.sin(x + math.pi / 2), sp.cos(X[0])),
        (lambda x, y, z: (0.1 * 0.1) * x + (0.1 + 0.2) * y, 0.01 * X[0] + 0.3 * X[1]),
        (lambda x, y, z: (x * y) / y, X[0]),
        (lambda x, y, z: 1.0 / (x + y) + 1.0 / (x - y), 2 * X[0] / (X[0] ** 2 - X[1] ** 2)),
    ],
)
def test_formulas_are_short(function, expected):
    program = trace("f", lambda x: [[function(*x)]], [Port("x", (3,))], [Port("y", ())])
    ((found,),) = formulas(program, [X])
    assert found == expected


def test_many_terms_stay_as_they_are_computed():
    def power(x):
        y = x[0] + x[1] + x[2]
        for _ in range(6):
            y = y * y
        return [[y]]

    program = trace("f", power, [Port("x", (3,))], [Port("y", ())])
    assert str(formulas(program, [X])[0][0]) == "(x + y + z)**64"
    atoms = Atoms(3)
    y = atoms.of(X[0]) + atoms.of(X[1])
    with pytest.raises(TooManyTermsError):
        _ = y * y * y


def test_algorithms_take_symbols_of_sympy():
    import linkwise as lw

    q, qd, qdd = (sp.symbols(f"{name}1:3") for name in ("q", "qd", "qdd"))
    robot = lw.load("rr")
    tau = lw.inverse_dynamics.plain(robot, q, qd, qdd)
    numbers = np.random.default_rng(0).normal(size=6)
    found = sp.lambdify((*q, *qd, *qdd), tau)(*numbers)
    assert np.allclose(found, lw.compile(robot).inverse_dynamics(numbers[:2], numbers[2:4], numbers[4:]), rtol=1e-14)
    M = sp.Matrix(2, 2, lw.mass_matrix.plain(robot, q))
    assert float(M.subs(q[1], 0.3)[0, 0]) == pytest.approx(lw.mass_matrix.plain(robot, [0.0, 0.3])[0], rel=1e-15)
    with pytest.raises(AttributeError, match="'object' object has no attribute 'cos'"):
        scalar.cos(object())
