"""Coupled joints and mimic joints that are not in proportion: poses as functions of a coordinate."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import linkwise as lw
from linkwise.errors import ModelError
from linkwise.jet import Jet
from linkwise.robot.joint import Course, Curve

X, Y = (-2.0, -1.2, -0.4, 0.3, 1.0), (0.012, 0.021, 0.004, -0.008, 0.003)
HAND = [lw.Link("base"), lw.Link("a", 1.0, (0.1, 0, 0), (0.01,) * 3), lw.Link("b", 0.7, (0.1, 0.2, 0), (0.02,) * 3)]
KNEE = Course(x=Curve(x=X, y=Y), y=Curve((0.0, 0.02, -0.03)), turn_z=Curve((0.0, 1.0)))


def leg(course=KNEE, **options):
    links = [
        lw.Link("base"),
        lw.Link("thigh", 2.0, (0.1, -0.2, 0.0), (0.01, 0.02, 0.03)),
        lw.Link("shank", 1.5, (0.05, -0.2, 0.01), (0.02, 0.01, 0.02)),
    ]
    knee = lw.Joint(
        "knee", "thigh", "shank", "coupled", lw.Pose.of((0.0, -0.4, 0.0), (0.1, 0.0, 0.2)), (0.0, 0.6, 0.8),
        (0.01, 0.02, 0.0), course=course, **options,
    )  # fmt: skip
    return lw.Robot(links, [lw.Joint("hip", "base", "thigh"), knee], gravity=(0.0, -9.81, 1.0))


@pytest.mark.parametrize("order", [0, 1, 2])
def test_a_spline_is_natural_and_goes_on_straight(order):
    curve, theirs = Curve(x=X, y=Y), CubicSpline(X, Y, bc_type="natural")
    for x in np.linspace(-2.0, 1.0, 40):
        assert curve.value(float(x), order) == pytest.approx(float(theirs(x, order)), abs=1e-13)
    beyond = [Y[0] - float(theirs(X[0], 1)), float(theirs(X[0], 1)), 0.0]
    assert curve.value(-3.0, order) == pytest.approx(beyond[order], abs=1e-13)


def test_derivatives_of_curves_are_those_of_series():
    for curve in (Curve((0.1, -0.3, 0.2, 0.5)), Curve(x=X, y=Y)):
        found = curve.value(Jet([0.2, 1.0, 0.0])).c
        np.testing.assert_allclose(found, [curve(0.2), curve.value(0.2, 1), 0.5 * curve.value(0.2, 2)], atol=1e-14)


def test_one_coordinate_moves_the_link_along_its_course():
    robot = leg()
    dyn = lw.compile(robot)
    assert robot.coordinates == robot.drives == ("hip", "knee")
    assert robot.moving_links == ("thigh", "shank")
    q = np.array([0.3, -0.7])
    found = np.linalg.inv(dyn.pose(q, "thigh")) @ dyn.pose(q, "shank")
    np.testing.assert_allclose(found, np.array(robot.joint("knee").pose([-0.7]).matrix()), atol=1e-14)
    whole = dict(zip(robot.opened().coordinates, dyn.positions(q).q, strict=True))
    assert whole["knee.x"] == pytest.approx(Curve(x=X, y=Y)(-0.7))


def test_laws_of_mechanics_hold():
    robot = leg(spring=lw.Spring(3.0, 0.0, 0.2))
    dyn = lw.compile(robot)
    q, qd, qdd = np.random.default_rng(0).uniform(-0.9, 0.9, (3, 6, 2))
    tau = dyn.inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(dyn.forward_dynamics(q, qd, tau), qdd, atol=1e-11)
    h = 1e-4

    def energy(h):
        there, speed = q + h * qd + 0.5 * h * h * qdd, qd + h * qdd
        return dyn.kinetic_energy(there, speed) + dyn.potential_energy(there)

    np.testing.assert_allclose((energy(h) - energy(-h)) / (2.0 * h), (tau * qd).sum(axis=1), atol=2e-7)
    slopes = [(dyn.inverse_dynamics(q + h * e, qd, qdd) - dyn.inverse_dynamics(q - h * e, qd, qdd)) for e in np.eye(2)]
    found = dyn.inverse_dynamics_derivatives(q, qd, qdd)
    np.testing.assert_allclose(found.dtau_dq, np.stack(slopes, -1) / (2.0 * h), atol=1e-5)
    bare = leg()
    plain = lw.compile(bare)
    Y_ = plain.regressor(q, qd, qdd)
    np.testing.assert_allclose(Y_ @ bare.parameters(), plain.inverse_dynamics(q, qd, qdd), atol=1e-12)


def test_a_screw_is_a_course():
    screw = lw.Joint("knee", "thigh", "shank", "screw", axis=(0.0, 0.0, 1.0), pitch=0.05)
    course = lw.Joint(
        "knee", "thigh", "shank", "coupled", course=Course(z=Curve((0.0, 0.05)), turn_z=Curve((0.0, 1.0)))
    )
    state = np.random.default_rng(1).uniform(-1.0, 1.0, (3, 2))
    taus = [lw.compile(leg().replace(j)).inverse_dynamics(*state) for j in (screw, course)]
    np.testing.assert_allclose(taus[0], taus[1], atol=1e-12)


def test_a_curve_in_proportion_is_a_plain_mimic():
    def hand(mimic):
        return lw.Robot(HAND, [lw.Joint("a", "base", "a"), lw.Joint("b", "a", "b", axis=(0, 1, 0), mimic=mimic)])

    state = np.random.default_rng(2).uniform(-1.0, 1.0, (3, 1))
    plain, curved = (
        lw.compile(hand(m)) for m in (lw.Mimic("a", 0.5, 0.1), lw.Mimic("a", 2.0, 0.1, Curve((0.0, 0.25))))
    )
    for name in ("inverse_dynamics", "forward_dynamics"):
        np.testing.assert_allclose(getattr(plain, name)(*state), getattr(curved, name)(*state), atol=1e-13)
    bent = lw.compile(hand(lw.Mimic("a", curve=Curve((0.1, 0.0, 0.4)))))
    tau = bent.inverse_dynamics(*state)
    np.testing.assert_allclose(bent.forward_dynamics(*state[:2], tau), state[2], atol=1e-12)


def test_numbers_of_a_curved_mimic_may_be_inputs():
    def hand(ratio):
        mimic = lw.Mimic("a", ratio, 0.0, Curve((0.0, 0.5, 0.3)))
        return lw.Robot(HAND, [lw.Joint("a", "base", "a"), lw.Joint("b", "a", "b", axis=(0, 1, 0), mimic=mimic)])

    state = np.random.default_rng(3).uniform(-1.0, 1.0, (3, 1))
    kernel = lw.compile(hand(1.0), parameters=("b.ratio",)).inverse_dynamics
    np.testing.assert_allclose(kernel(*state, [1.7]), lw.compile(hand(1.7)).inverse_dynamics(*state), atol=1e-12)


def test_files_have_courses_and_curves(tmp_path):
    robot = leg()
    lw.save(robot, tmp_path / "leg.toml")
    assert lw.load(tmp_path / "leg.toml") == robot


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Curve(), "either coefficients, or points"),
        (lambda: Curve((1.0,), x=(0.0, 1.0), y=(0.0, 1.0)), "either coefficients, or points"),
        (lambda: Curve(x=(0.0, 1.0), y=(0.0,)), "as many x as y"),
        (lambda: Curve(x=(0.0, 0.0), y=(0.0, 1.0)), "rising"),
        (lambda: Curve((float("nan"),)), "finite"),
        (lambda: Course(), "at least one curve"),
        (lambda: Course(x=3.0), "expected a Curve"),
        (lambda: lw.Joint("a", "b", "c", "coupled"), "expected one for a coupled joint"),
        (lambda: lw.Joint("a", "b", "c", course=KNEE), "expected one for a coupled joint"),
        (lambda: leg(friction=lw.Friction(1.0)), "cannot have friction"),
        (lambda: lw.Mimic("a", curve=3.0), "expected a Curve"),
    ],
)
def test_refusals(make, message):
    with pytest.raises(ModelError, match=message):
        make()


def test_a_pose_is_reached_along_the_course():
    """The joints that follow are on their curves where the frame is where it should be."""
    robot = leg()
    dyn, q = lw.compile(robot), np.random.default_rng(1).uniform(-0.8, 0.8, (5, 2))
    reached = lw.inverse_kinematics(robot, "shank", dyn.pose(q, "shank"))
    assert reached.converged.all()
    assert reached.q.shape == (5, 2)
    np.testing.assert_allclose(dyn.pose(reached.q, "shank"), dyn.pose(q, "shank"), atol=1e-7)


def test_plans_keep_limits_of_torques():
    robot, limits = leg(), [lw.limit.joints(effort=80.0, effort_rate=2000.0)]
    plan = lw.plan(robot, [0.0, 0.0], [0.7, -0.7], lw.cost.time(), limits, progress=False)
    t = np.linspace(0.0, plan.duration, 201)
    tau = lw.compile(robot).inverse_dynamics(plan.q(t), plan.qd(t), plan.qdd(t))
    assert plan.converged
    assert np.abs(tau).max() < 80.2
    assert np.abs(plan.tau_dot(t)).max() < 2005.0
    np.testing.assert_allclose(plan.tau(t), tau, atol=1e-10)
