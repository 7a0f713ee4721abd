"""The experiment on torque rates: its counts stay below the published ones."""

import linkwise as lw
from papers import torque_rates


def test_operations_of_general_chains():
    """Fewer than published, and a straight line from three joints on."""
    (a, b), (c, d) = torque_rates.fitted(lw.force_rates)
    for n in (3, 6):
        assert torque_rates.operations(lw.force_rates, n) == (a * n + b, c * n + d)
    assert (a, b) <= (165, -193)
    assert (c, d) <= (147, -170)
    (mul, add) = torque_rates.PUBLISHED["Guarino Lo Bianco, modified DH"]
    assert a < mul[0]
    assert c < add[0]


def test_newton_euler_takes_fewer_operations_than_lagrange():
    for n in (2, 6):
        ours = torque_rates.operations(lw.inverse_dynamics, n, load=False)
        theirs = torque_rates.operations(lw.algorithms.recursive_lagrangian, n, load=False)
        assert all(2 * x < y for x, y in zip(ours, theirs, strict=True))
