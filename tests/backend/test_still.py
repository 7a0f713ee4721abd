"""A robot without degrees of freedom has every function, with empty shapes."""

import numpy as np
import pytest

import linkwise as lw
from support.arms import still

SHAPES = {
    "inverse_dynamics": [(0,)],
    "joint_wrenches": [(0,), (0, 6)],
    "mass_matrix": [(0, 0)],
    "coriolis_matrix": [(0, 0)],
    "bias_forces": [(0,)],
    "gravity_forces": [(0,)],
    "kinetic_energy": [()],
    "potential_energy": [()],
    "momentum": [(6,)],
    "regressor": [(0, 0)],
    "poses": [(0, 4, 4)],
}
BATCHES = [(), (1,), (5,), (0,), (2, 3), (700,)]


@pytest.fixture(scope="module", params=[1, 2])
def robot(request):
    return still(request.param)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("member", SHAPES)
def test_kernels(robot, member, threads):
    k = getattr(lw.compile(robot, threads=threads), member)
    for batch in BATCHES:
        result = k(*[np.zeros((*batch, 0))] * len(k.inputs))
        found = result if isinstance(result, tuple) else (result,)
        assert [np.shape(x) for x in found] == [(*batch, *s) for s in SHAPES[member]]
        assert all(np.all(x == 0.0) for x in found if member != "momentum")


@pytest.mark.parametrize("batch", BATCHES, ids=str)
def test_frames(robot, batch):
    dyn = lw.compile(robot)
    q = np.zeros((*batch, 0))
    name = robot.links[-1].name
    np.testing.assert_array_equal(dyn.pose(q, name), np.broadcast_to(np.eye(4), (*batch, 4, 4)))
    assert dyn.jacobian(q, name).shape == (*batch, 6, 0)
    np.testing.assert_array_equal(dyn.velocity(q, q, name), np.zeros((*batch, 6)))
    np.testing.assert_array_equal(dyn.acceleration(q, q, q, name), np.zeros((*batch, 6)))


def test_wrench_through_a_weld():
    wrench = lw.compile(still(2)).wrench_at("weld1")(*[np.zeros((4, 0))] * 3)
    np.testing.assert_allclose(wrench, [[0.0, 0.0, 2 * 9.81, 0.0, -0.2 * 9.81, 0.0]] * 4, rtol=1e-15)


def test_gravity_as_input_still_has_a_width(robot):
    k = lw.compile(robot, lw.algorithms.potential_energy, gravity="input")
    assert k(np.zeros((5, 0)), np.zeros(3)).shape == (5,)


def test_empty_lists_are_vectors_of_length_zero(robot):
    assert lw.compile(robot).inverse_dynamics([], [], []).shape == (0,)


def test_wrong_width_is_refused(robot):
    with pytest.raises(lw.InputError, match=r"expected q of shape \(..., 0\), got \(1,\)"):
        lw.compile(robot).mass_matrix([1.0])


def test_text_forms(robot):
    k = lw.compile(robot, lw.inverse_dynamics)
    assert k.count() == {}
    assert "operations: none" in k.listing()
    assert "(void)tau" in k.c_source()
