"""Contacts in plans: the law of momentum, Pinocchio, derivatives, friction and pressure, phases, files, words."""

from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import linkwise as lw
from examples.standing import FEET, kept, solo
from linkwise.errors import InputError, UnknownNameError
from linkwise.motion.environment import Environment
from linkwise.planning import Plan
from linkwise.planning.carrier import Carrier
from linkwise.planning.guess import first_motion
from linkwise.planning.problem import Problem
from linkwise.planning.problem_file import read_problem
from linkwise.planning.setup import problem_of
from linkwise.view.motion import Motion
from support.feet import anyhow, hopper
from support.pinocchio_bridge import example, from_pin_tau, model, to_pin_q, to_pin_v
from support.trees import tree

SOLE = (0.24, 0.14)


def momentum_error(plan: Plan, t: np.ndarray) -> np.ndarray:
    """The rate of momentum less weight and the forces of contacts, relative to the largest of these (n, 6)."""
    robot, h = plan.robot, 1e-4
    dyn = lw.compile(robot)

    def momentum(at: np.ndarray) -> np.ndarray:
        return dyn.centroidal_momentum(plan.q(at), plan.qd(at))

    rate = (8.0 * (momentum(t + h) - momentum(t - h)) - (momentum(t + 2 * h) - momentum(t - 2 * h))) / (12.0 * h)
    c, mass = dyn.centre_of_mass(plan.q(t)), sum(link.mass for link in robot.links if link is not robot.root)
    total = np.zeros((len(t), 6))
    total[:, :3] = mass * np.array(robot.gravity)
    for name in plan.contacts:
        T, six = dyn.pose(plan.q(t), name.partition("#")[0]), plan.contact_wrench(name, t)
        force, moment = (np.einsum("nij,nj->ni", T[:, :3, :3], x) for x in (six[:, :3], six[:, 3:]))
        total += np.hstack([force, moment + np.cross(T[:, :3, 3] - c, force)])
    return (rate - total) / np.abs(rate).max()


@pytest.mark.parametrize("seed", [1, 5, 9])
def test_momentum_of_random_trees(seed: int) -> None:
    """Whatever the motion, and whatever the splines of the wrenches are, the contacts hold exactly what they must."""
    robot = tree(seed, friction=0.0, springs=0.0, mimic=0.0, armature=0.0, motors=0.0)
    frames = [f.name for f in robot.frames][:3]
    # normals anywhere: a plan that nobody made need not push
    contacts = [lw.limit.contact(frames[0], sole=SOLE), lw.limit.contact(frames[1], during=[(0.0, 0.4), (0.6, 1.0)])]
    contacts += [lw.limit.contact(frames[2], sole=SOLE, normal=(1.0, 0.2, 0.0), during=(0.3, 1.0))]
    plan = anyhow(robot, robot.q(), contacts, seed, 20)
    t = np.linspace(0.01, plan.duration - 0.01, 40)
    # four differences of momentum over 1e-4 s lose four digits of sixteen, and the fifth derivative adds little
    assert np.abs(momentum_error(plan, t)).max() < 1e-8
    largest = max(np.abs(plan.contact_wrench(name, t)).max() for name in plan.contacts)
    assert np.abs(plan.base_wrench(t)).max() < 1e-10 * largest


def test_torques_of_pinocchio() -> None:
    """Torques and momentum as Pinocchio has them with the same forces on the feet, and a load beside them."""
    robot, q = solo()
    theirs = model(example("solo12.urdf"), floating=True)
    data = theirs.createData()
    plan = anyhow(robot, q, [lw.limit.contact(f) for f in FEET])
    pushed_base = Environment.of(robot, None, {"base_link": (1.0, -2.0, 3.0, 0.1, 0.2, -0.3)})
    carrier = Carrier.of(pushed_base, plan.chart, plan.curve)
    plan = replace(plan, carrier=carrier)
    t = np.linspace(0.0, plan.duration, 7)
    motion = to_pin_q(robot, theirs, plan.q(t)), *(to_pin_v(robot, theirs, x) for x in (plan.qd(t), plan.qdd(t)))
    six = {f: plan.contact_wrench(f, t) for f in FEET} | {"base_link": carrier.inputs(t, 0)[0][:, 0]}
    for k, state in enumerate(zip(*motion, strict=True)):
        pushed = [pin.Force.Zero() for _ in range(theirs.njoints)]
        for name, wrench in six.items():
            frame = theirs.frames[theirs.getFrameId(name)]
            pushed[frame.parentJoint] += frame.placement.act(pin.Force(wrench[k]))
        tau = from_pin_tau(robot, theirs, pin.rnea(theirs, data, *state, pushed))
        assert np.abs(tau[:6]).max() < 1e-10 * np.abs(tau).max()
        np.testing.assert_allclose(tau[6:], plan.tau(t[k]), rtol=1e-9, atol=1e-10 * np.abs(tau).max())
        rate = pin.computeCentroidalMomentumTimeVariation(theirs, data, *state)
        pin.framesForwardKinematics(theirs, data, state[0])
        total = pin.Force(np.array([0.0, 0.0, -9.81 * pin.computeTotalMass(theirs), 0.0, 0.0, 0.0]))
        about = pin.SE3(np.eye(3), data.com[0])
        for name, wrench in six.items():
            place = data.oMf[theirs.getFrameId(name)]
            total += about.actInv(place.act(pin.Force(wrench[k])))
        np.testing.assert_allclose(rate.vector, total.vector, atol=1e-10 * np.abs(total.vector).max())


def test_rates_of_torques() -> None:
    """tau_dot is the derivative of tau, with the rates of the wrenches that contacts hold."""
    robot, q = hopper()
    plan = anyhow(robot, q, [lw.limit.contact("sole", sole=SOLE, during=[(0.0, 0.4), (0.5, 1.0)])], count=24)
    t, h = np.linspace(0.02, 0.3, 9), 1e-5
    rate = (plan.tau(t + h) - plan.tau(t - h)) / (2.0 * h)
    np.testing.assert_allclose(plan.tau_dot(t), rate, atol=1e-6 * np.abs(rate).max())


def one_leg(**options: object) -> list[object]:
    _, q = hopper()
    body = q[:3] + np.array([0.03, 0.02, -0.08])
    stands = lw.limit.contact("sole", sole=SOLE, friction=0.6, **options)  # type: ignore[arg-type]
    return [lw.limit.joints("effort", "velocity"), stands, lw.limit.via(1.0, frame="body", position=body)]


COST = 1e-3 * lw.cost.effort() + 1e-3 * lw.cost.jerk()


def test_derivatives() -> None:
    """First and second derivatives of the program by differences, at a motion that is not yet one."""
    robot, q = hopper()
    problem = problem_of(robot, q, lw.planning.State(), COST, one_leg(), 0.8, 10, None, 2)
    variables = problem.variables(0.8)
    program = problem.program(variables, problem.grid)
    rng = np.random.default_rng(0)
    x = variables.of(first_motion(problem, None)) + 0.01 * rng.normal(size=program.n)
    d, y, h = rng.normal(size=program.n), rng.normal(size=program.m), 1e-6

    def slopes(x: np.ndarray) -> np.ndarray:
        J = np.zeros((program.m, program.n))
        np.add.at(J, (program.jac_rows, program.jac_columns), program.jacobian(x))
        return J

    change = (program.g(x + h * d) - program.g(x - h * d)) / (2.0 * h)
    np.testing.assert_allclose(slopes(x) @ d, change, atol=1e-6 * np.abs(change).max())
    H = np.zeros((program.n, program.n))
    H[program.hess_rows, program.hess_columns] = program.hessian(x, 1.0, y)
    H = H + np.tril(H, -1).T - problem.objective.damping * np.eye(program.n)
    bend = [program.gradient(x + s * h * d) + slopes(x + s * h * d).T @ y for s in (1.0, -1.0)]
    change = (bend[0] - bend[1]) / (2.0 * h)
    np.testing.assert_allclose(H @ d, change, atol=1e-6 * np.abs(change).max())


@pytest.fixture(scope="module")
def crouch() -> Plan:
    robot, q = hopper()
    return lw.plan(robot, q, lw.planning.State(), COST, one_leg(), duration=0.8, control_points=10, solver="ipopt")


def test_a_leg_crouches(crouch: Plan) -> None:
    """It converges; the foot stays; friction, pressure and momentum hold on a fine grid."""
    assert crouch.converged, crouch.summary
    t, robot = np.linspace(0.0, 0.8, 801), crouch.robot
    T = lw.compile(robot).pose(crouch.q(t), "sole")
    assert np.abs(T[:, :3, 3] - T[0, :3, 3]).max() < 6e-4
    f = crouch.contact_wrench("sole", t)
    assert (f[:, 2] > 0.0).all()
    assert (np.hypot(f[:, 0], f[:, 1]) <= 0.6 * f[:, 2] + 2e-3 * f[:, 2].max()).all()
    centre = crouch.contact_force("sole", t)[:, :3] - T[:, :3, 3]
    assert (np.abs(centre[:, :2]) <= np.array(SOLE) / 2.0 + 1e-3).all()
    assert np.abs(crouch.base_wrench(t)).max() < 1e-8
    assert np.abs(momentum_error(crouch, t[5:-5])).max() < 1e-8
    assert np.abs(crouch.tau(t)).max() < 300.0


def test_solvers_agree(crouch: Plan) -> None:
    robot, q = hopper()
    other = lw.plan(robot, q, lw.planning.State(), COST, one_leg(), duration=0.8, control_points=10, solver="uno")
    assert other.converged, other.summary
    assert other.objective == pytest.approx(crouch.objective, rel=1e-4)


def test_files_and_columns(crouch: Plan, tmp_path: object) -> None:
    """A plan comes back from its file with its contacts; tables have their wrenches."""
    path = f"{tmp_path}/crouch.npz"
    crouch.save(path)
    again = Plan.load(path)
    t = np.linspace(0.0, 0.8, 11)
    assert again.contacts == ("sole",)
    np.testing.assert_array_equal(again.contact_wrench("sole", t), crouch.contact_wrench("sole", t))
    np.testing.assert_array_equal(again.tau(t), crouch.tau(t))
    columns = crouch.columns(0.1)
    np.testing.assert_array_equal(columns["contact.sole.fz"], crouch.contact_wrench("sole", columns["t"])[:, 2])
    forces = Motion.of(crouch.robot, crouch).forces["contact sole"]
    np.testing.assert_array_equal(forces, crouch.contact_force("sole", crouch.times()))
    with pytest.raises(UnknownNameError, match="sole"):
        crouch.contact_wrench("heel", 0.0)


def test_phases_begin_and_end_without_force() -> None:
    """Outside of its phases a contact exerts nothing, and wrenches are continuous where a phase begins."""
    robot, q = solo()
    two = [lw.limit.contact(f, during=[(0.0, 0.4), (0.6, 1.0)] if k % 2 else None) for k, f in enumerate(FEET)]
    plan = anyhow(robot, q, two, count=30)
    t = np.linspace(0.4, 0.6, 11) * plan.duration
    assert np.abs(plan.contact_wrench("FR_FOOT", t)).max() < 1e-12 * plan.chart.stances[0].weight
    assert np.abs(plan.contact_wrench("FR_FOOT", t - 0.1)).max() > 0.0
    assert np.abs(plan.contact_wrench("FL_FOOT", t)).max() > 0.0


def steps(rise: float = 0.0) -> Problem:
    """A quadruped that makes a step with each diagonal pair of feet."""
    robot, q = solo()
    dyn, feet = lw.compile(robot), []
    for names, lifted, landed in ((("FL_FOOT", "HR_FOOT"), 0.15, 0.45), (("FR_FOOT", "HL_FOOT"), 0.55, 0.85)):
        for name in names:
            there = dyn.pose(q, name)[:3, 3] + np.array([0.08, 0.0, rise])
            feet.append(lw.limit.contact(name, during=[(0.0, lifted), (landed, 1.0)], at=[None, there], lift=0.03))
    return problem_of(robot, q, lw.planning.State(), COST, feet, 1.2, 36, None, 3)


def test_while_feet_take_over_every_wrench_has_an_owner() -> None:
    """Every control point of wrenches belongs to a contact: pairs of feet can pass the weight on as splines."""
    problem = steps()
    free = [np.isnan(s.fixed(problem.basis)[:, 0]) for s in problem.chart.stances]
    assert np.any(free, axis=0).all()
    assert problem.basis.count == 36


def test_first_forces_are_of_the_order_of_the_weight() -> None:
    """What two points on a line cannot hold is left, and not held by forces without measure of feet that just land."""
    problem = steps()
    numbers = first_motion(problem, None).points[:, problem.chart.moving :]
    assert np.abs(numbers).max() < 5.0  # weights; most carry one, and a few are needed to speed up


def test_a_lifted_foot_may_leave_and_land_without_speed() -> None:
    """A foot that was at rest, and will be, keeps what lift= asks for on its way to a higher place, or a lower one."""
    for rise in (0.15, -0.15):
        problem = steps(rise)
        stance = problem.chart.stances[0]
        a, b = stance.phases[0][1], stance.phases[1][0]
        x = np.linspace(0.0, 1.0, 201)
        rows = next(r for r in problem.rows if r.label == "contact lift" and r.names[0].startswith(stance.name))
        bound = rows.limits(a + x * (b - a))[0][1:-1, 0] + stance.reference(a + x * (b - a))[1:-1, 11]
        # velocity, acceleration and jerk vanish at both ends; a hump beside it
        way = x**4 * (35.0 - 84.0 * x + 70.0 * x**2 - 20.0 * x**3)
        height = stance.places[0].p.z + rise * way + 0.16 * (4.0 * x * (1.0 - x)) ** 4
        assert (height[1:-1] > bound).all()


def test_words(tmp_path: object) -> None:
    robot, q = hopper()
    free = lw.planning.State()

    def planned(*constraints: object, machine: lw.Robot = robot, start: object = q, **options: object) -> None:
        lw.plan(machine, start, free, lw.cost.jerk(), constraints, duration=1.0, **options)  # type: ignore[arg-type]

    with pytest.raises(UnknownNameError, match="heel"):
        planned(lw.limit.contact("heel"))
    with pytest.raises(InputError, match="normal: expected a direction"):
        lw.limit.contact("sole", normal=(0.0, 0.0, 0.0))
    with pytest.raises(InputError, match="floating"):
        planned(lw.limit.contact("link2"), machine=lw.load("rr"), start=[0.0, 0.0])
    with pytest.raises(InputError, match="control_points"):
        planned(lw.limit.contact("sole", during=(0.0, 0.1)), control_points=10)
    with pytest.raises(InputError, match="expected 13 or more, since phases"):
        planned(lw.limit.contact("sole", during=[(0.05 * k, 0.05 * k + 0.02) for k in range(1, 5)]), control_points=10)
    with pytest.raises(InputError, match="knots"):
        planned(lw.limit.contact("sole", during=(0.0, 0.5)), control_points=16, knots="free")
    with pytest.raises(InputError, match="start is free"):
        planned(lw.limit.contact("sole"), start=None)
    with pytest.raises(InputError, match="stands still"):
        planned(lw.limit.contact("sole"), base_motion=lambda t: lw.Pose.of((0.0, 0.0, 0.1 * t)))
    with pytest.raises(InputError, match="where its frame is at the start"):
        planned(lw.limit.contact("sole", sole=SOLE, at=(0.0, 0.0, 0.1)))
    with pytest.raises(InputError, match=r"turned by 0\.5 rad"):
        planned(lw.limit.contact("sole", sole=SOLE, at=lw.Pose.of((0.0, 0.0, 0.0), rpy=(0.5, 0.0, 0.0))))
    with pytest.raises(InputError, match="where its frame is at the goal"):
        lw.plan(robot, q, q + np.eye(len(q))[0] * 0.1, lw.cost.jerk(), [lw.limit.contact("sole")], duration=1.0)
    with pytest.raises(InputError, match="one place at a time"):
        planned(lw.limit.contact("sole"), lw.limit.contact("sole", at=(0.1, 0.0, 0.0), during=(0.4, 1.0)))
    with pytest.raises(InputError, match="push upwards"):
        planned(lw.limit.contact("sole", sole=SOLE, normal=(0.0, 0.0, -1.0)))
    with pytest.raises(InputError, match="link that moves"):
        planned(lw.limit.contact("world"))
    for bad in (
        {"sole": (0.2,)}, {"sole": "wide"}, {"friction": -1.0}, {"during": (0.5, 0.2)}, {"during": [(0.0, 2.0)]},
        {"normal": (0.0, 1.0)}, {"at": [None, None, None], "during": (0.0, 1.0)}, {"during": "always"},
        {"torsion": 0.0}, {"lift": -0.1}, {"slip": 0.0},
    ):  # fmt: skip
        with pytest.raises(InputError):
            lw.limit.contact("sole", **bad)  # type: ignore[arg-type]
    path = f"{tmp_path}/stand.toml"
    with open(path, "w") as file:
        file.write('[[contact]]\nframe = "sole"\nsole = [0.2, 0.1]\nduring = [0.0, 0.5]\nat = [0, 0, 0]\n')
    (stands,) = read_problem(path)["subject_to"]
    assert (stands.frame, stands.phases) == ("sole", ((0.0, 0.5),))


# ---- beside obstacles


def beside_a_lamp(x: float = 0.24) -> tuple[Any, ...]:
    """The leg crouches and comes forwards, while a lamp hangs before its body: robot, start, goal, costs, limits."""
    robot, start = hopper()
    robot = robot.add(lw.Shape("body", "box", (0.3, 0.3, 0.4), lw.Pose.of((0.0, 0.0, 0.25)), "collision"))
    lamp = lw.Shape("lamp", "sphere", (0.06,), lw.Pose.of((start[0] + x, start[1], start[2] + 0.15)))
    there = lw.limit.via(1.0, frame="body", position=start[:3] + np.array([0.06, 0.02, -0.08]))
    own = lw.limit.joints("effort", "velocity")
    limits = [own, lw.limit.contact("sole", sole=SOLE), lw.limit.clearance([lamp], 0.01), there]
    return robot, start, lw.planning.State(), lw.cost.effort() + lw.cost.jerk(), limits


def test_a_leg_crouches_beside_an_obstacle() -> None:
    plan = lw.plan(*beside_a_lamp(), duration=0.8, control_points=10, progress=False)
    assert plan.converged, plan.summary
    assert plan.clearance.distance >= 0.01  # proven between instants too
    found = kept(plan)
    assert found.slip < 5e-4
    assert min(found.cone, found.pull, found.edge) > 0.0
    assert found.momentum < 1e-12
    upright = plan.q(plan.duration)[3:7] @ (0.0, 0.0, 0.0, 1.0)
    assert abs(upright) < 1.0 - 1e-4  # it leans, or turns: upright the body would hit the lamp


def test_a_robot_that_stands_in_an_obstacle_is_refused() -> None:
    with pytest.raises(InputError, match=r"start: 'body' and 'lamp' overlap by 0\.06 m\. Choose another start"):
        lw.plan(*beside_a_lamp(x=0.15), duration=0.8, control_points=10)


def test_the_first_motion_of_a_robot_that_stands_is_clear() -> None:
    robot, start, *rest = beside_a_lamp()
    problem = problem_of(robot, start, *rest, 0.8, 10, None, 3)
    for guess in (None, [start, start]):
        first = first_motion(problem, guess)
        # rows that are short give way to smoothness, by less than the millimetre that a plan keeps beyond the margin
        assert problem.near[0].along(first, problem.grid).min() > 0.01
