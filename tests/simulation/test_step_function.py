"""One step of a rollout as a function of its own, and as C source; its linearization as a kernel."""

import pickle

import numpy as np
import pytest

import linkwise as lw
from support.arms import arm
from support.backends import call_c, shared_object
from support.trees import error, states, tree

HOW = {
    "euler": {"method": "euler"},
    "rk4": {"method": "rk4"},
    "implicit": {"method": "implicit", "torque_limits": 3.0},
    "inputs": {"method": "euler", "external": "tool", "gravity": "input"},
    "control": {"method": "euler", "control": lambda q, qd, u, dyn: dyn.gravity_forces(q) + np.tanh(u) - qd},
}


def inputs(rollout, rows, seed=0):
    robot, rng = rollout.robot, np.random.default_rng(seed)
    q, qd, u = states(robot, rows, seed)
    more = [rng.normal(size=(rows, *shape)) for shape in list(rollout.inputs.values())[4:]]
    return [q, qd, u, rng.uniform(1e-3, 1e-2, rows), *more]


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("how", HOW)
def test_one_step_is_the_first_of_a_rollout(how, seed):
    rollout = lw.compile_rollout(tree(seed, friction=0.3), **HOW[how])
    given = inputs(rollout, 7)
    found = rollout.step(*given)
    each = [x[:, None] if name in ("u", "f_ext") else x for name, x in zip(rollout.inputs, given, strict=True)]
    first = rollout(*each)
    np.testing.assert_array_equal(found.q_new, first.q[:, 0])
    np.testing.assert_array_equal(found.qd_new, first.qd[:, 0])


@pytest.mark.parametrize("how", HOW)
def test_c_source_makes_the_same_step(how, tmp_path):
    rollout = lw.compile_rollout(tree(1, friction=0.3), **HOW[how])
    library = shared_object(tmp_path, rollout.c_source("one_step"), rollout.c_header("one_step"))
    given = inputs(rollout, 4)
    expected = rollout.step(*given)
    results = [np.empty_like(x) for x in expected]
    for k in range(4):
        call_c(library.one_step, [x[k] for x in given], [r[k] for r in results], results, (k,))
    for ours, theirs in zip(results, expected, strict=True):
        assert error(ours, theirs) < 1e-12
    assert f"step by {rollout.method} of the robot" in rollout.c_source()


def test_what_a_step_function_has():
    rollout = lw.compile_rollout(arm(3), method="euler")
    q, qd, u = np.random.default_rng(0).normal(size=(3, 5, 3))
    for function, shapes in ((rollout.step, [(3,), (3,)]), (rollout.linearization, [(6, 6), (6, 3)])):
        assert list(function.inputs) == ["q", "qd", "u", "dt"]
        assert list(function.outputs.values()) == shapes
        assert function.count()["mul"] > 100
        out = tuple(np.empty((5, *s)) for s in shapes)
        found = function(q, qd, u, 1e-3, out=out)
        assert found[0] is out[0]
        again = pickle.loads(pickle.dumps(function))
        np.testing.assert_array_equal(again(q, qd, u, dt=1e-3)[1], found[1])
        assert "by euler of the robot 'arm'" in repr(function)
        with pytest.raises(lw.InputError, match=r"dt: expected a length of at least 0 s, got -0\.1"):
            function(q, qd, u, -0.1)
        with pytest.raises(lw.InputError, match=r"expected qd of shape \(\.\.\., 3\), got \(2,\)"):
            function(q, qd[0, :2], u, 0.1)
    assert rollout.step is rollout.step
    assert rollout.step.count() == rollout.program.count()


@pytest.mark.parametrize("method", ["euler", "rk4"])
def test_the_linearization_of_torques_that_are_numbers(method):
    """A control that leaves joints alone or turns signs, with forces beside it."""
    robot = arm(3).without_friction()

    def wind(pose, velocity):
        return lw.Wrench(pose.R.T @ lw.Vec3(3.0 * pose.p.z, 0.0, 0.0) + velocity.linear * -2.0)

    def control(q, qd, u):
        return [0.0, -(u[0] - q[1]), -q[2]]

    rollout = lw.compile_rollout(robot, method=method, control=control, inputs=1, forces={"tool": wind})
    q, qd = np.random.default_rng(0).normal(size=(2, 3))
    A, B = rollout.linearization(q, qd, [0.4], 0.01)
    h = 1e-5
    x = np.concatenate([q, qd, [0.4]]) + h * np.eye(7) * np.array([1, -1])[:, None, None]
    ends = np.concatenate(rollout.step(x[..., :3], x[..., 3:6], x[..., 6:], 0.01), axis=-1)
    slopes = (ends[0] - ends[1]).T / (2 * h)
    assert error(np.concatenate([A, B], axis=1), slopes) < 1e-8
