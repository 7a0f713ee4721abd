"""What rollouts are called with: model numbers, wrenches and gravity, which states are kept, inputs that stay."""

from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.simulation import rollout as module


def start(robot, rows, seed=0, steps=12):
    rng = np.random.default_rng(seed)
    q, qd, u = (rng.normal(size=(rows, *s)) for s in ((robot.nq,), (robot.nv,), (steps, robot.nv)))
    for slot in robot.slots.values():
        if slot.quaternion is not None:
            q[:, slot.quaternion] /= np.linalg.norm(q[:, slot.quaternion], axis=1, keepdims=True)
    return q, qd, u


@pytest.mark.parametrize("method", ["euler", "rk4", "implicit"])
def test_numbers_of_the_robot_are_those_of_another_robot(method):
    """A mass, a viscous friction and a place as inputs of each row, against robots that have these numbers."""
    robot = lw.random_tree(2, 4, friction=0.3)
    link, joint = robot.links[-1].name, robot.names[1]
    paths = (f"{link}.mass", f"{joint}.viscous", f"{joint}.xyz")
    rollout = lw.compile_rollout(robot, method=method, parameters=paths)
    q, qd, u = start(robot, 3)
    values = rollout.parameters * [[1.0, 1.0, 1.0, 1.0, 1.0], [2.0, 3.0, 1.0, 1.0, 1.0], [0.5, 0.1, 1.5, 0.2, 1.0]]
    found = rollout(q, qd, u, 1e-3, values)
    assert list(rollout.inputs) == ["q", "qd", "u", "dt", "parameters"]
    for k, x in enumerate(values):
        links = [replace(one, mass=x[0]) if one.name == link else one for one in robot.links]
        origin = lw.Pose(robot.joint(joint).origin.R, lw.Vec3(*x[2:]))
        changed = replace(
            robot.joint(joint), friction=replace(robot.joint(joint).friction, viscous=x[1]), origin=origin
        )
        joints = [changed if j.name == joint else j for j in robot.joints]
        other = lw.compile_rollout(robot.replace(links=links, joints=joints), method=method)
        np.testing.assert_allclose(found.q[k], other(q[k], qd[k], u[k], 1e-3).q, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("floating", [False, True])
def test_wrenches_of_each_step_and_gravity(floating):
    """Against forward dynamics with the same wrenches and gravity, step by step."""
    robot = lw.random_tree(3, 3, floating=floating)
    names = ("tool", robot.links[-2].name)
    rollout = lw.compile_rollout(robot, method="euler", external=names, gravity="input")
    dyn = lw.compile(robot, external=names, gravity="input")
    q, qd, u = start(robot, 5)
    rng = np.random.default_rng(1)
    f, g = rng.normal(size=(5, 12, 2, 6)), rng.normal(size=(5, 3))
    found = rollout(q, qd, u, 1e-3, gravity=g, f_ext=f)
    for k in range(12):
        qd = qd + 1e-3 * dyn.forward_dynamics(q, qd, u[:, k], f[:, k], g)
        q = q + 1e-3 * dyn.q_dot(q, qd, *([] if "gravity" not in dyn.q_dot.inputs else [g]))
        np.testing.assert_allclose(found.qd[:, k], qd, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(found.q[:, -1], q, rtol=1e-5, atol=1e-5)  # quaternions are not normalised here
    # one wrench for all steps
    once = rollout(*start(robot, 5), 1e-3, f[:, :1], g)
    each = rollout(*start(robot, 5), 1e-3, np.repeat(f[:, :1], 12, axis=1), g)
    np.testing.assert_array_equal(once.q, each.q)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("backend", ["llvm", "numpy"])
@pytest.mark.parametrize("short", [False, True])
def test_states_that_are_kept(threads, backend, short, monkeypatch):
    """The same states, whichever are kept, and in however many parts they were computed."""
    monkeypatch.setenv("LINKWISE_BACKEND", backend)
    robot = lw.random_tree(1, 3)
    rows = 600 if threads > 1 else 5
    q, qd, u = start(robot, rows)
    rollout = lw.compile_rollout(robot, threads=threads)
    full = rollout(q, qd, u, 1e-3)
    if short:  # two or three steps at a time
        monkeypatch.setattr(module.Rollout, "_most", lambda self, rows: next(lengths))
    lengths = iter([2, 3] * 100)
    for every in (1, 2, 3, 4, 6, 12):
        some = rollout(q, qd, u, 1e-3, every=every)
        assert some.steps == 12
        np.testing.assert_array_equal(some.q, full.q[:, every - 1 :: every])
        np.testing.assert_array_equal(some.qd, full.qd[:, every - 1 :: every])
    out = np.empty((rows, robot.nq)), np.empty((rows, robot.nv))
    end = rollout(q, qd, u, 1e-3, keep="end", out=out)
    assert end.q is out[0]
    np.testing.assert_array_equal(end.q, full.q[:, -1])
    np.testing.assert_array_equal(end.qd, full.qd[:, -1])


def test_an_interruption_before_the_end():
    robot = lw.random_tree(0, 3)
    q, qd, u = start(robot, 4, steps=300)
    rollout = lw.compile_rollout(robot)
    full = rollout(q, qd, u, 1e-4)
    rollout._most = lambda rows: 70

    def stop(done, total):
        if done >= 140:
            raise KeyboardInterrupt

    end = rollout(q, qd, u, 1e-4, keep="end", progress=stop)
    assert end.steps == 140
    np.testing.assert_array_equal(end.q, full.q[:, 139])
    some = rollout(q, qd, u, 1e-4, every=100, progress=stop)
    assert some.steps == 170
    np.testing.assert_array_equal(some.q, full.q[:, 99:100])


def test_inputs_that_stay():
    robot = lw.random_tree(1, 3)
    q, qd, u = start(robot, 4)
    rollout = lw.compile_rollout(robot)
    each = rollout(q, qd, np.repeat(u[:, :1], 9, axis=1), 1e-3)
    np.testing.assert_array_equal(rollout(q, qd, u[:, :1], 1e-3, steps=9).q, each.q)
    np.testing.assert_array_equal(rollout(q[0], qd[0], u[0, 0], 1e-3, steps=9).q, each.q[0])
    free = rollout(q, qd, None, 1e-3, steps=9)
    np.testing.assert_array_equal(free.q, rollout(q, qd, np.zeros((9, 3)), 1e-3).q)
    whole = rollout(q.round().astype(int), qd, np.ones((1, 3), int), 1e-3, steps=9)
    np.testing.assert_array_equal(whole.q, rollout(q.round(), qd, np.ones((9, 3)), 1e-3).q)
    stay = rollout(q, qd, None, 1e-3, steps=0, keep="end")
    np.testing.assert_array_equal(stay.q, q)
    assert stay.steps == 0


def test_one_row_of_each_step_takes_no_memory():
    """A thousand million steps' worth of u is one row of it."""
    robot = lw.random_tree(1, 3)
    rollout = lw.compile_rollout(robot)
    rollout._most = lambda rows: 1

    def stop(done, total):
        raise KeyboardInterrupt

    found = rollout(np.zeros(3), np.zeros(3), np.zeros((1, 3)), 1e-3, steps=10**9, keep="end", progress=stop)
    assert found.steps == 1


@pytest.mark.parametrize(
    ("inputs", "options", "message"),
    [
        ((), {"steps": -1}, r"rollout steps: expected a whole number of at least 0, or None, got -1"),
        ((), {"steps": 7}, r"expected one number of steps, or inputs with 1 for all of them, got u 4, steps 7"),
        ((), {"keep": "last"}, r"rollout keep: expected 'all' or 'end', got 'last'"),
        ((), {"every": 0}, r"rollout every: expected a whole number of at least 1, got 0"),
        ((), {"every": 3}, r"rollout every: expected a divisor of the 4 steps, got 3"),
        ((), {"every": 2, "keep": "end"}, r"rollout every: expected 1 beside keep='end', got 2"),
        ((), {"out": np.zeros(3)}, r"rollout out: expected two writable float64 arrays of shapes \(2, 4, 3\)"),
        ((1.0,), {}, r"expected the inputs q, qd, u, dt, got q, qd, u, dt, one more than 4"),
        ((), {"f_ext": np.zeros(6)}, r"expected the inputs q, qd, u, dt, got q, qd, u, dt, f_ext"),
    ],
)
def test_mistaken_calls(inputs, options, message):
    rollout = lw.compile_rollout(lw.random_tree(0, 3))
    with pytest.raises(lw.InputError, match=message):
        rollout(np.zeros((2, 3)), np.zeros(3), np.zeros((4, 3)), 1e-3, *inputs, **options)


def test_arrays_that_do_not_fit():
    rollout = lw.compile_rollout(lw.random_tree(0, 3))
    q, u = np.zeros(3), np.zeros((4, 3))
    for given, message in (
        ((np.zeros((2, 3)), np.zeros((5, 3)), u, 1e-3), r"leading axes do not broadcast: q \(2,\), qd \(5,\)"),
        ((np.ma.array(q, mask=[1, 0, 0]), q, u, 1e-3), r"expected arrays without masks, got a masked q"),
        ((q, q, u * 1j, 1e-3), r"expected u of shape \(\.\.\., steps, 3\) and real numbers, got complex128"),
        ((q, [[1], [2, 3]], u, 1e-3), r"expected qd of shape \(\.\.\., 3\), got rows of different lengths"),
        ((q, q, None, 1e-3), r"expected u of shape"),
    ):
        with pytest.raises(lw.InputError, match=message):
            rollout(*given)
    with pytest.raises(lw.InputError, match=r"expected the inputs q, qd, u, dt, f_ext, got q, qd, u, dt"):
        lw.compile_rollout(lw.random_tree(0, 3), external="tool")(q, q, u, 1e-3)


def test_float32():
    """States and `out=` have the numbers of the rollout; the linearization has float64."""
    robot = lw.random_tree(1, 3)
    q, qd, u = start(robot, 5)
    exact = lw.compile_rollout(robot)(q, qd, u, 1e-3, every=4)
    rollout = lw.compile_rollout(robot, dtype="float32", torque_limits=100.0)
    found = rollout(q, qd, u, 1e-3, every=4)
    assert found.q.dtype == rollout.step(q, qd, u[:, 0], 1e-3).q_new.dtype == np.float32
    np.testing.assert_allclose(found.q, exact.q, rtol=1e-4, atol=1e-5)
    end = rollout(q, qd, u[:, :1], 1e-3, steps=12, keep="end", out=(found.q[:, 0].copy(), found.qd[:, 0].copy()))
    assert end.q.dtype == np.float32
    assert rollout.linearization(q, qd, u[:, 0], 1e-3).A.dtype == np.float64
    with pytest.raises(lw.InputError, match=r"rollout out: expected two writable float32 arrays"):
        rollout(q, qd, u, 1e-3, keep="end", out=(np.empty((5, 3)), np.empty((5, 3))))
