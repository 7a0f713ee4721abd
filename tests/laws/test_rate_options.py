"""Options of the algorithms with rates, and what they refuse."""

import numpy as np
import pytest

import linkwise as lw
from support.arms import arm


@pytest.mark.parametrize("order", [0, -1, 5, 1.0, True, "2", None])
def test_orders_that_are_not_known(order):
    with pytest.raises(lw.InputError, match="order: expected how many rates, a whole number from 1 to 4"):
        lw.compile(arm(), lw.force_rates, order=order)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_a_base_that_moves_has_as_many_rates(order):
    kernel = lw.compile(arm(), lw.force_rates, order=order, base_motion=True)
    names = ["base_velocity", "base_acceleration", "base_jerk", "base_snap", "base_crackle", "base_pop"]
    assert list(kernel.inputs)[order + 3 :] == names[: order + 2]


def test_inputs_grow_with_the_order():
    kernel = lw.compile(arm(), lw.joint_wrench_rates, order=2, external=("tool", "link1"))
    assert list(kernel.inputs) == ["q", "qd", "qdd", "qddd", "qdddd", "f_ext", "f_ext_dot", "f_ext_ddot"]
    assert kernel.inputs["f_ext_ddot"] == (2, 6)
    assert kernel.outputs == {
        "tau": (3,), "wrench": (3, 6), "tau_dot": (3,), "wrench_dot": (3, 6), "tau_ddot": (3,), "wrench_ddot": (3, 6),
    }  # fmt: skip


def test_a_missing_jerk_is_named():
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        lw.compile(arm()).force_rates(*np.zeros((3, 3)))
    with pytest.raises(lw.InputError, match=r"expected 4 inputs \(q, qd, qdd, qddd\), got 3"):
        lw.force_rates.plain(arm(), *np.zeros((3, 3)).tolist())


def test_unknown_routes_are_answered_with_the_known_ones():
    with pytest.raises(lw.InputError, match=r"expected one of \('recursion', 'series'\), got 'fast'"):
        lw.compile(arm(), lw.force_rates, route="fast")


def test_the_cheaper_route_is_compiled():
    counts = [lw.compile(arm(), lw.force_rates, route=r).count() for r in ("recursion", "series")]
    best = min(c["mul"] + c["add"] for c in counts)
    chosen = lw.compile(arm(), lw.force_rates).count()
    assert chosen["mul"] + chosen["add"] == best


def test_rates_of_friction():
    """Viscous exactly, Coulomb none, a smooth law by its slope; a spring by its speed; armature by the jerk."""
    joint = {"parent": "base", "child": "wheel", "armature": 0.4, "spring": lw.Spring(7.0, 0.3)}
    state = np.array([[0.2], [0.5], [-0.3], [1.1]])
    for law in ("coulomb", "tanh"):
        friction = lw.Friction(viscous=2.0, coulomb=5.0, law=law, width=0.6)
        robot = lw.Robot([lw.Link("base"), lw.Link("wheel")], [lw.Joint("axle", friction=friction, **joint)])
        _, rate = lw.compile(robot).force_rates(*state)
        slope = 5.0 / 0.6 / np.cosh(0.5 / 0.6) ** 2 if law == "tanh" else 0.0
        assert rate[0] == pytest.approx(0.4 * 1.1 + (2.0 + 0.3 + slope) * -0.3 + 7.0 * 0.5)


def test_at_rest_a_joint_with_coulomb_friction_has_a_rate():
    """sign(0) = 0, and no NaN."""
    rest = np.zeros((4, 3))
    assert np.isfinite(lw.compile(arm()).force_rates(*rest).tau_dot).all()
