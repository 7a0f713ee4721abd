"""Matrices computed column by column, as for very large robots, are those of one program."""

import pickle

import numpy as np
import pytest

import linkwise as lw
from linkwise.algorithms.algorithm import Cheapest
from linkwise.kernel import columns
from linkwise.kernel.kernel import Kernel
from linkwise.kernel.options import Options

ALGORITHMS = {
    "M": lw.mass_matrix,
    "inverse": lw.inverse_dynamics_derivatives,
    "wrenches": lw.algorithms.joint_wrench_derivatives,
    "forward": lw.forward_dynamics_derivatives,
    "kinematics": lw.algorithms.kinematics_derivatives,
    "asked": lw.derivative(lw.forward_dynamics, "tau", "qd"),
}
ROBOTS = {
    "arm": {},
    "tree": {"branching": 0.6, "friction": 0.5, "armature": 0.5, "springs": 0.3},
    "floating": {"floating": True, "motors": 0.4},
    "elastic": {"elastic": 0.5, "motors": 0.5},
    "mimic": {"mimic": 0.4},
}


def pull(pose, velocity):
    """A spring to the world's origin and a damper."""
    force = pose.R.T @ (pose.p * -3.0) + velocity.linear * -0.5
    return lw.Wrench(force, velocity.angular * -0.1)


OPTIONS = {
    "plain": {},
    "external": {"external": ("tool",)},
    "moving base": {"base_motion": True, "gravity": "input"},
    "parameters": {"parameters": ("link2.mass",), "gravity": "input", "external": ("tool",)},
    "laws": {"forces": {"tool": pull}},
}


def both(robot, algorithm, options):
    made = Options.checked(robot, **options)
    whole = Kernel.of(robot, algorithm, made, {})
    kind = columns.ForwardColumns if algorithm is lw.forward_dynamics_derivatives else columns.Columns
    return whole, kind.of(robot, algorithm, made, {})


def draw(kernel, *batch):
    rng = np.random.default_rng(1)
    return [rng.normal(size=(*batch, *shape)) + (name == "parameters") * 3 for name, shape in kernel.inputs.items()]


def fields(value):
    return value if isinstance(value, tuple) else (value,)


CASES = [*((robot, "plain") for robot in ROBOTS), *(("floating", options) for options in OPTIONS if options != "plain")]


@pytest.mark.parametrize(("robot", "options"), CASES)
def test_columns_are_those_of_the_whole(robot, options):
    robot = lw.random_tree(4, 4, **ROBOTS[robot])
    for algorithm in ALGORITHMS.values():
        whole, by_columns = both(robot, algorithm, OPTIONS[options])
        assert by_columns.inputs == whole.inputs
        assert by_columns.outputs == whole.outputs
        x = draw(whole, 2)
        expected, got = fields(whole(*x)), fields(by_columns(*x))
        for a, b in zip(expected, got, strict=True):
            np.testing.assert_allclose(b, a, rtol=0, atol=1e-11 * max(1.0, np.abs(a).max()), err_msg=algorithm.name)


def test_manners_of_a_kernel():
    robot = lw.random_tree(4, 5)
    _, k = both(robot, lw.inverse_dynamics_derivatives, {})
    q, qd, qdd = draw(k, 3)
    d = k(q, qd[:1], qdd[0])
    assert d.M.shape == (3, 5, 5)
    out = tuple(np.full((3, 5, 5), np.nan) for _ in range(3))
    given = k(q, qd[:1], qdd[0], out=out)
    assert all(a is b for a, b in zip(given, out, strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(d, out, strict=True))
    again = pickle.loads(pickle.dumps(k))
    assert all(np.array_equal(a, b) for a, b in zip(d, again(q, qd[:1], qdd[0]), strict=True))
    assert k.count()["mul"] > 0
    with pytest.raises(lw.InputError, match=r"expected q of shape \(\.\.\., 5\), got \(4,\)"):
        k(q[0, :4], qd[0], qdd[0])
    with pytest.raises(lw.InputError, match="column by column"):
        k.c_source()


@pytest.fixture
def snake():
    return lw.random_tree(0, 400, branching=0.0, fixed=0.0, kinds=("revolute",))


@pytest.mark.parametrize(
    ("algorithm", "advice"),
    [
        (lw.regressor, "parameters="),
        (lw.algorithms.linearization, "forward_dynamics_derivatives"),
        (lw.algorithms.coriolis_matrix, "bias_forces"),
        (lw.algorithms.inverse_dynamics_hessian, "hessian_vector"),
    ],
)
def test_what_is_too_large_is_refused_before_it_is_traced(snake, algorithm, advice, monkeypatch):
    monkeypatch.setattr("linkwise.kernel.robot_tracing.trace", lambda *_: pytest.fail("traced"))
    with pytest.raises(lw.InputError, match=f"400 degrees of freedom.*{advice}"):
        lw.compile(snake, algorithm)


def test_a_long_chain_takes_the_recursion(snake):
    """Of the two routes of forward dynamics the dense one is not even tried."""
    from linkwise.kernel.robot_tracing import settled

    route = lw.forward_dynamics.static["route"]
    chosen = settled(snake, {"route": route})["route"]
    assert (chosen[0], chosen.ranked) == ("articulated", 0.0)
    assert isinstance(settled(lw.random_tree(0, 12), {"route": route})["route"], Cheapest)


def test_a_program_that_outgrows_its_limit_is_stopped(monkeypatch):
    monkeypatch.setattr("linkwise.graph.program.MOST", 2000)
    with pytest.raises(lw.LinkwiseError, match="at most 2,000 expressions"):
        lw.compile(lw.random_tree(0, 30), lw.joint_wrenches)
    monkeypatch.undo()
    assert lw.compile(lw.random_tree(0, 30), lw.joint_wrenches).count()["mul"] > 0
