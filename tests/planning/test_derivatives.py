"""First and second derivatives of every word, against complex steps through the definition in plain Python."""

import dataclasses

import numpy as np
import pytest

import linkwise as lw
from linkwise.motion.environment import Environment
from linkwise.planning.curve import Basis
from linkwise.planning.ends import State
from linkwise.planning.problem import Problem
from linkwise.planning.term_and_constraint import Sum
from linkwise.scalar import sin
from support.arms import arm
from support.programs import close, dense, differences, hessian, set_up


def robot() -> lw.Robot:
    made = arm(3)
    curve = ((0.0, 12.0), (3.0, 10.0), (6.0, 2.0))
    smooth = lw.Friction(viscous=0.1, coulomb=0.3, law="tanh", width=0.5)
    joints = [
        lw.Joint(
            j.name, j.parent, j.child, j.kind, j.origin, j.axis, friction=smooth, armature=0.02,
            limits=lw.Limits(-3.0, 3.0, 2.0, 5.0, 40.0, 30.0, 200.0),
            drive=lw.Drive(curve=curve, gear=2.0, power=50.0) if j.name == "joint2" else None,
        )
        for j in made.joints
    ]  # fmt: skip
    return made.replace(*joints)


TERMS = {
    "time": lw.cost.time(),
    "effort": lw.cost.effort(weights={"joint1": 0.5, "joint3": 2.0}),
    "effort_rate": lw.cost.effort_rate(),
    "power": lw.cost.power(),
    "energy": lw.cost.energy(loss=0.05, regeneration=0.3),
    "jerk": lw.cost.jerk(joints=["joint2"]),
    "force": lw.cost.reaction("joint2"),
    "moment": lw.cost.reaction("joint1", of="mz"),
    "line": lw.cost.tool_path("tool", line=[(0.1, 0.2, 0.3), (0.4, 0.1, 0.9)]),
    "path": lw.cost.tool_path("tool", path=lambda s: (0.2, 0.1 + 0.1 * s, 0.5)),
    "own": lw.cost.function(lambda p: sin(p.q[0]) * p.tau[1] + p.s * p.qd[2] * p.qd[2]),
    "own square": lw.cost.function(lambda p: p.pose("tool").p.x - 0.3, squared=True),
    "sum": lw.cost.time() + 0.01 * lw.cost.effort() + 2.0 * lw.cost.energy(),
}

CONSTRAINTS = {
    **{kind: lw.limit.joints(kind) for kind in ("velocity", "acceleration", "jerk", "effort", "effort_rate", "power")},
    "force": lw.limit.reaction("joint2", force=40.0, moment=10.0, fz=(-10.0, 30.0), mx=3.0),
    "via frame": lw.limit.via(0.4, frame="tool", position=(0.2, 0.1, 0.4)),
    "via pose": lw.limit.via(0.6, frame="tool", pose=np.eye(4), tolerance=0.1),
    "via": lw.limit.via(0.3, q={"joint2": 0.2}),
    "line": lw.limit.tool_path("tool", line=[(0.1, 0.2, 0.3), (0.4, 0.1, 0.9)], tolerance=0.01),
    "path": lw.limit.tool_path("tool", path=np.eye(3), tolerance=0.01),
    "sphere": lw.limit.clearance("tool", 0.05, sphere=((0.3, 0.2, 0.1), 0.1), offset=(0.0, 0.1, 0.0)),
    "half-space": lw.limit.clearance("tool", 0.05, half_space=((0.0, 1.0, 1.0), -0.2)),
    "itself": lw.limit.clearance("tool", 0.05, other=("link1", 0.1)),
    "passive": lw.limit.passive("joint2"),
    "cyclic": lw.limit.cyclic(),
    "mirrored": lw.limit.mirrored({"joint1": "joint3"}, {"joint2": -1.0}),
    "own": lw.limit.function(lambda p: p.tau[0] * p.qd[1], upper=3.0),
    "own at": lw.limit.function(lambda p: p.velocity("tool").linear.x, lower=0.1, at=0.5),
}


def problem(minimize=None, constraint=None, duration=None, start=None, model=None, around=None) -> Problem:
    words = Sum.of(minimize if minimize is not None else lw.cost.time())
    start = start or State([0.1, 0.2, -0.3])
    given = (constraint,) if constraint is not None else ()
    return Problem(
        model or robot(), start, State([0.5, -0.4, 0.6]), words, given, Basis.uniform(4, 7), duration, points=1,
        environment=around or Environment(),
    )  # fmt: skip


@pytest.mark.parametrize("name", TERMS)
def test_objectives(name):
    made = problem(minimize=TERMS[name])
    program, defined, x = set_up(made)
    close(program.f(x), defined.f(x), 1e-12)
    defined.check_slopes(program.gradient(x), defined.f, x)
    close(hessian(program, x, 0.7, np.zeros(program.m)), 0.7 * differences(program.gradient, x))


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_constraints(name):
    made = problem(constraint=CONSTRAINTS[name])
    program, defined, x = set_up(made)
    close(program.g(x), defined.g(x), 1e-12)
    defined.check_slopes(dense(program, x), defined.g, x)
    weights = np.random.default_rng(3).normal(size=program.m)
    close(hessian(program, x, 0.0, weights), differences(lambda at: weights @ dense(program, at), x))


def test_ends_that_move():
    """Speeds at a start, with a free duration, are rows; with a fixed one they fix control points."""
    start = State([0.1, 0.2, -0.3], qd=[0.5, 0.0, -0.2], qdd=0.0)
    program, defined, x = set_up(problem(constraint=lw.limit.joints("effort"), start=start))
    defined.check_slopes(dense(program, x), defined.g, x)
    fixed = problem(duration=2.0, start=start)
    curve = fixed.variables(2.0).curve(np.zeros(len(fixed.variables(2.0).free)))
    np.testing.assert_allclose(curve(0.0, 1), [0.5, 0.0, -0.2], atol=1e-13)
    np.testing.assert_allclose(curve(0.0, 2), 0.0, atol=1e-12)


def test_the_gauss_newton_hessian_is_that_of_squares():
    """With a fixed duration the products of residuals' slopes alone count, and they are never indefinite."""
    made = problem(minimize=lw.cost.effort(), constraint=lw.limit.joints("effort"), duration=1.5)
    program, _, x = set_up(made)
    H = hessian(program, x, 1.0, np.ones(program.m))
    assert np.linalg.eigvalsh(H).min() >= -1e-9 * np.abs(H).max()
    (o,) = made.objective.integrals
    samples = o.samples
    J = samples.first(*program.variables.split(x))
    total = np.zeros((len(program.variables.lower),) * 2)
    for i in range(len(samples.s)):
        for r in range(samples.kernel.count):
            g = np.zeros(len(total))
            mine = samples.kernel.entries[:, 0] == r
            np.add.at(g, samples.columns[i][mine].ravel(), J.by_points[i][mine].ravel())
            total += 2.0 * 1.5 * o.rule[i] * o.weights[r] * np.outer(g, g)
    free = program.variables.free
    close(H, total[np.ix_(free, free)], 1e-11)


def test_elastic_drives():
    """Torques of motors and stretches of springs, which depend on four derivatives of the joints."""
    soft = {j.name: dataclasses.replace(j, drive=lw.Drive(gear=2.0, stiffness=800.0)) for j in robot().joints}
    made = problem(lw.cost.effort(), lw.limit.joints("effort", deflection=0.05), model=robot().replace(*soft.values()))
    program, defined, x = set_up(made)
    assert made.orders == 5
    close(program.g(x), defined.g(x), 1e-12)
    defined.check_slopes(dense(program, x), defined.g, x)
    defined.check_slopes(program.gradient(x), defined.f, x)
    weights = np.random.default_rng(3).normal(size=program.m)
    close(hessian(program, x, 0.0, weights), differences(lambda at: weights @ dense(program, at), x))
    none = np.zeros(program.m)
    close(hessian(program, x, 1.0, none), differences(program.gradient, x))


@pytest.mark.parametrize("soft", [False, True], ids=["rigid", "elastic"])
def test_surroundings_that_change_in_time(soft):
    """A base that moves and a load that changes, with a free duration: rows depend on the time s T as well."""
    model = robot()
    if soft:
        joints = [dataclasses.replace(j, drive=lw.Drive(gear=2.0, stiffness=800.0)) for j in model.joints]
        model = model.replace(*joints)
    around = Environment.of(
        model,
        lambda t: lw.Pose.of((0.2 * sin(2.0 * t), 0.1 * t, 0.0), rpy=(0.3 * sin(t), 0.1 * t * t, 0.4 * t)),
        {"tool": lambda t: (3.0 * sin(t), 1.0, t, 0.1 * t, 0.2, 0.0), "link1": (1.0, 0.0, -2.0, 0.0, 0.1, 0.0)},
    )
    asked = lw.limit.joints("effort", effort_rate=50.0)
    made = problem(lw.cost.effort() + lw.cost.reaction("joint2"), asked, model=model, around=around)
    program, defined, x = set_up(made)
    assert made.orders == (6 if soft else 4)
    close(program.g(x), defined.g(x), 1e-12)
    defined.check_slopes(dense(program, x), defined.g, x)
    defined.check_slopes(program.gradient(x), defined.f, x)
    weights = np.random.default_rng(3).normal(size=program.m)
    close(hessian(program, x, 0.0, weights), differences(lambda at: weights @ dense(program, at), x), 3e-8)
    close(hessian(program, x, 1.0, np.zeros(program.m)), differences(program.gradient, x), 3e-8)
    seen = lw.limit.via(0.4, frame="tool", position=(0.2, 0.1, 0.4))
    program, defined, x = set_up(problem(constraint=seen, model=model, around=around))
    defined.check_slopes(dense(program, x), defined.g, x)
