"""Several kernels in one function: their numbers, what they have in common once, names, loops, refusals."""

import pickle

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import InputError
from support.arms import arm
from support.every_machine import sort


def test_numbers_names_and_what_is_shared():
    dyn = lw.compile(lw.load("puma560"))
    both = dyn.inverse_dynamics.together(dyn.mass_matrix, dyn.gravity_forces)
    assert list(both.inputs) == ["q", "qd", "qdd"]
    assert list(both.outputs) == ["tau", "M", "g"]
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3, 9, 6))
    found = both(*x)
    np.testing.assert_allclose(found.tau, dyn.inverse_dynamics(*x), rtol=1e-12)
    np.testing.assert_allclose(found.M, dyn.mass_matrix(x[0]), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.g, dyn.gravity_forces(x[0]), rtol=1e-12, atol=1e-12)
    parts = [k.count() for k in both.kernels]
    assert both.count()["sincos"] == max(p["sincos"] for p in parts)
    assert both.count().total() < sum(p.total() for p in parts)


def test_names_that_two_have_or_an_input_has():
    dyn = lw.compile(arm(3))
    both = dyn.inverse_dynamics.together(dyn.forward_dynamics)
    assert list(both.inputs) == ["q", "qd", "qdd", "tau"]
    assert list(both.outputs) == ["inverse_dynamics_tau", "forward_dynamics_qdd"]
    same = dyn.mass_matrix.together(dyn.mass_matrix)
    assert list(same.outputs) == ["M"]
    poses = [lw.compile(arm(3), lw.pose, frame=f) for f in ("link1", "link2")]
    assert list(poses[0].together(poses[1]).outputs) == ["pose_T", "pose_T_"]


@pytest.mark.parametrize("name", ["five-bar", "ankle, moving base", "hexapod"])
def test_loops_are_closed_once(name):
    machine = sort(name)
    dyn = machine.dynamics()
    both = dyn.inverse_dynamics.together(dyn.mass_matrix)
    x = [*machine.states(), *machine.surroundings()]
    found = both(*x)
    np.testing.assert_allclose(found.tau, dyn.inverse_dynamics(*x), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.M, dyn.mass_matrix(x[0]), rtol=1e-9, atol=1e-9)
    assert bool(both.program.before) == bool(dyn.inverse_dynamics.program.before)


def test_pickle_source_and_repr():
    dyn = lw.compile(arm(2))
    both = dyn.bias_forces.together(dyn.mass_matrix)
    again = pickle.loads(pickle.dumps(both))
    x = np.ones((2, 2))
    np.testing.assert_array_equal(again(*x).M, both(*x).M)
    assert "void together(const double *q, const double *qd, double *h, double *M)" in both.c_source()
    assert "bias_forces of the robot 'arm' and mass_matrix of the robot 'arm'" in repr(both)
    assert both.packed(*x).shape == (5,)


def test_refusals():
    dyn = lw.compile(arm(2))
    with pytest.raises(InputError, match="together: expected kernels"):
        dyn.mass_matrix.together(lw.mass_matrix)
    with pytest.raises(InputError, match=r"one shape of the input q in all of them, got \(2,\) and \(3,\)"):
        dyn.mass_matrix.together(lw.compile(arm(3), lw.mass_matrix))
    with pytest.raises(InputError, match="column by column"):
        lw.compile(arm(130), lw.inverse_dynamics_derivatives).together(dyn.mass_matrix)
