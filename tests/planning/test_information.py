"""Information as a cost: exact derivatives, independence of units, and plans that tell more."""

from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.planning.curve import Curve
from linkwise.planning.information import information, places_about, scaled
from linkwise.planning.setup import problem_of
from support.every_machine import sort


def program(robot, start, term, duration=2.0, free=False, goal=None):
    """The program of a plan, and some point of it."""
    minimize = term + lw.cost.time() if free else term
    problem = problem_of(
        robot, start, goal if goal is not None else start, minimize, (), None if free else duration, 12, None, 2
    )
    variables = problem.variables(duration)
    found = problem.program(variables, problem.grid)
    still = np.tile(problem.ends.fixed[0], (problem.basis.count, 1))
    points = still + 0.1 * np.random.default_rng(0).normal(size=still.shape)
    return found, variables.of(Curve(problem.basis, points, duration))


def slopes(function, x, step=1e-6):
    units = step * np.eye(len(x))
    return np.array([function(x + e) - function(x - e) for e in units]) / (2.0 * step)


CASES = [
    ("arm", "D", None, False),
    ("arm", "A", "link3", False),
    ("arm", "condition", "payload", False),
    ("arm", "D", "friction", True),
    ("elastic", "D", "payload", False),
    ("five-bar", "D", None, True),
    ("hexapod", "D", ("platform",), False),
]


@pytest.mark.parametrize(("name", "criterion", "about", "free"), CASES)
def test_derivatives_are_exact(name, criterion, about, free):
    robot = sort(name).robot
    found, x = program(robot, robot.rigid().q(), information(criterion, about), free=free)
    slope = found.gradient(x)
    assert np.isfinite(found.f(x))
    assert np.allclose(slope, slopes(found.f, x), atol=2e-6 * max(np.abs(slope).max(), 1.0))
    H = np.zeros((found.n, found.n))
    H[found.hess_rows, found.hess_columns] = found.hessian(x, 1.0, np.zeros(found.m))
    least, *_, most = np.linalg.eigvalsh(H + np.tril(H, -1).T)
    assert least > -1e-9 * most


def test_second_derivatives_of_the_criterion_are_those_along_the_motion_but_for_how_the_regressor_bends():
    """Where torques are linear in the motion, as of a mass on a slide, nothing bends and they are exact."""
    slide = lw.Joint("slide", "base", "cart", "prismatic", axis=(1, 0, 0), limits=lw.Limits(effort=10.0))
    robot = lw.Robot([lw.Link("base"), lw.Link("cart", 2.0)], [slide], gravity=(0, 0, 0), name="cart")
    found, x = program(robot, [0.0], information("D", ("cart", "slide.viscous")))
    told = found.objective.wholes[0][1]
    P, T = found.variables.split(x)
    count = P.size + 1
    into = np.zeros((count, count))
    told.add_curvature(P, T, 1.0, into)
    I, G = told.at(P, T), -np.linalg.inv(told.at(P, T) + 1e-4 * np.eye(told.count))

    def gradient(p):
        whole = np.zeros(count)
        told.add_gradient(p.reshape(P.shape), T, 1.0, whole)
        return whole[:-1]

    exact = slopes(gradient, P.ravel(), 1e-5)
    bend = np.zeros_like(exact)  # <G, I''>: the part that is left out, here 2 T sum rule dY^T G dY
    dY = np.einsum("izc,zp->ipc", told.samples.changes(P, T)[:, :, :], np.eye(told.samples.changes(P, T).shape[1]))
    B = told.samples._matrix.reshape(len(told.rule), -1, P.shape[0]) * T ** -told.samples.orders[:, None]
    by_points = np.einsum("izc,izk->ikc", dY, B)
    bend += 2.0 * T * np.einsum("i,ikc,cd,ild->kl", told.rule, by_points, G, by_points)
    assert I.shape == (2, 2)
    assert np.allclose(exact, into[:-1, :-1] + bend, atol=1e-5 * np.abs(exact).max())


def test_the_information_does_not_depend_on_units():
    """The same arm in other units of mass: torques and their limits a thousand times as large."""
    arm, k = lw.load("rr"), 1000.0
    heavy = arm.replace(
        links=[lw.Link(x.name, k * x.mass, x.com, [k * i for i in x.inertia]) if x.mass else x for x in arm.links],
        joints=[replace(j, limits=replace(j.limits, effort=k * j.limits.effort)) for j in arm.joints],
    )
    values = []
    for robot in (arm, heavy):
        found, x = program(robot, [0.0, -1.0], information("condition"))
        values.append(found.f(x))
    assert values[0] == pytest.approx(values[1], rel=1e-9)


def test_what_is_asked_about_are_columns():
    robot = lw.load("puma560")
    names = np.array(robot.parameter_names)
    assert set(names[list(places_about(robot, "payload"))]) == {n for n in names if n.startswith("link6.")}
    friction = {n.rsplit(".", 1)[1] for n in names[list(places_about(robot, "friction"))]}
    assert friction == {"viscous", "coulomb"}
    both = places_about(robot, ("joint2.viscous", "link3"))
    assert names[both[0]] == "joint2.viscous"
    assert len(both) == 11
    assert set(places_about(robot, "inertia")) | set(places_about(robot, "friction")) == set(range(len(names)))
    assert len(scaled(robot, "payload").base) == 10


def test_a_plan_that_asks_for_information_tells_more_and_keeps_its_limits():
    robot = lw.load("rr")
    given = {"start": [0.0, -2.0], "goal": [1.0, -1.0], "duration": 2.0, "progress": False, "control_points": 14}
    plain = lw.plan(robot, minimize=lw.cost.effort(), **given)
    told = lw.plan(robot, minimize=lw.cost.information() + 1e-4 * lw.cost.effort(), iterations=60, **given)
    assert told.terms["information"] < -20.0
    assert told.largest_violation.violation <= 1e-3
    found, _ = program(robot, [0.0, -2.0], information(), goal=[1.0, -1.0])
    whole = found.objective.wholes[0][1]
    less = whole.value(plain.curve.with_basis(found.variables.basis).points, 2.0)
    assert told.terms["information"] < less - 3.0


def test_what_cannot_be_is_said():
    robot = lw.load("rr")
    with pytest.raises(lw.UnknownNameError, match="criterion"):
        lw.cost.information("E")
    with pytest.raises(lw.InputError, match="about"):
        lw.cost.information(about=3)
    with pytest.raises(lw.UnknownNameError, match="elbow"):
        program(robot, [0.0, 0.0], lw.cost.information(about="elbow"))
    with pytest.raises(lw.InputError, match="noise"):
        program(robot, [0.0, 0.0], lw.cost.information(noise=-1.0))
    with pytest.raises(lw.InputError, match="a longer motion tells more"):
        lw.plan(robot, [0.0, -2.0], [1.0, -1.0], lw.cost.information())
    with pytest.raises(lw.InputError, match="last link"):
        places_about(lw.load("walker"), "payload")
