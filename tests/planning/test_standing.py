"""Whole motions on feet: a humanoid squats, a quadruped shifts and trots, a person lifts, pushes, sits, climbs."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import linkwise as lw
from examples.standing import (
    EDGE,
    FEET,
    RISE,
    STILL,
    body,
    climb,
    foot,
    kept,
    lift,
    moved,
    push,
    shift,
    sit,
    solo,
    squat,
    talos,
    trot,
)
from linkwise.planning import Plan
from linkwise.walking import Person
from support.pinocchio_bridge import example, from_pin_tau, model, to_pin_q, to_pin_v

pytestmark = pytest.mark.slow
ALONG_Y = (np.pi / 2.0, 0.0, 0.0)


def judged(plan: Plan, momentum: float = 1e-8) -> None:
    """Friction and soles on a fine grid, feet that stay, and momentum."""
    assert plan.converged, plan.summary
    found = kept(plan)
    assert found.cone > -1e-3  # the tip of the cone is rounded by 1e-4 of the weight, and limits hold to 1e-3
    assert found.pull > -1e-3
    assert found.edge > -2e-3
    assert found.slip < 1e-3
    assert found.momentum < momentum


def test_talos_squats() -> None:
    """Pinocchio has the same momentum and torques, with the same forces on its soles."""
    robot, start = talos()
    plan = squat(robot, start)
    judged(plan)
    theirs = model(example("talos_reduced.urdf"), floating=True, locked=STILL)
    data, t = theirs.createData(), np.linspace(0.0, plan.duration, 41)
    motion = to_pin_q(robot, theirs, plan.q(t)), *(to_pin_v(robot, theirs, x) for x in (plan.qd(t), plan.qdd(t)))
    weight = 9.81 * pin.computeTotalMass(theirs)
    for k, state in enumerate(zip(*motion, strict=True)):
        rate = pin.computeCentroidalMomentumTimeVariation(theirs, data, *state).vector
        total = np.array([0.0, 0.0, -weight, 0.0, 0.0, 0.0])
        pin.framesForwardKinematics(theirs, data, state[0])
        pushed = [pin.Force.Zero() for _ in range(theirs.njoints)]
        for name in plan.contacts:
            wrench, number = pin.Force(plan.contact_wrench(name, t[k])), theirs.getFrameId(name)
            total += pin.SE3(np.eye(3), data.com[0]).actInv(data.oMf[number].act(wrench)).vector
            pushed[theirs.frames[number].parentJoint] += theirs.frames[number].placement.act(wrench)
        np.testing.assert_allclose(rate, total, atol=1e-8)
        tau = from_pin_tau(robot, theirs, pin.rnea(theirs, data, *state, pushed))
        np.testing.assert_allclose(tau[:6], 0.0, atol=1e-8 * weight)
        np.testing.assert_allclose(tau[6:], plan.tau(t[k]), atol=1e-8 * weight)


def test_solo_shifts() -> None:
    judged(shift(*solo()))


def test_solo_trots() -> None:
    plan = trot(*solo())
    judged(plan, momentum=0.01)
    left = plan.base_wrench(plan.times())
    assert np.abs(left[:, :3]).max() < 1e-8  # about the line between two feet splines leave a little
    assert np.abs(left[:, 3:]).max() < 0.02 * 0.2 * plan.chart.stances[0].weight


def test_a_person_lifts_a_box(tmp_path: Path) -> None:
    plan = lift()
    judged(plan)
    assert plan.view(tmp_path / "lift.html").stat().st_size > 10_000


def test_a_person_pushes_a_wall() -> None:
    plan = push()
    judged(plan)
    assert plan.contact_force("hand_r", plan.duration)[3] < -99.9  # N, on the hand, away from the wall


def test_a_person_sits_down() -> None:
    """The seat takes its force from nothing, smoothly, and has 400 N in the end; before it nothing touches the seat."""
    plan = sit()
    judged(plan)
    t = np.linspace(0.0, plan.duration, 1001)
    force = plan.contact_wrench("pelvis", t)[:, 1]
    assert np.abs(force[t <= 0.6 * plan.duration]).max() < 1e-9
    assert force[-1] > 399.0
    height = lw.compile(plan.robot).pose(plan.q(t), "pelvis")[:, 1, 3]
    assert height[-1] == pytest.approx(0.54, abs=1e-6)
    assert height.min() > 0.54 - 1e-3


def test_a_person_climbs_a_step() -> None:
    """Soles stay above the ground and the step: neither toes nor heels nor what is between touch its edge."""
    plan = climb()
    judged(plan)
    t = np.linspace(0.0, plan.duration, 2001)
    for side in ("r", "l"):
        T = lw.compile(plan.robot).pose(plan.q(t), f"foot_{side}")
        heel, toe = (T[:, :2, :3] @ (x, -0.075, 0.0) + T[:, :2, 3] for x in (-0.05, 0.2))
        for share in np.linspace(0.0, 1.0, 101):
            x, y = ((1.0 - share) * heel + share * toe).T
            assert (y > np.where(x > EDGE, RISE, 0.0) - 1e-3).all()  # soles slip by half a millimetre at most
        over = (heel[:, 0] < EDGE) & (toe[:, 0] > EDGE)
        share = (EDGE - heel[over, 0]) / (toe - heel)[over, 0]
        assert (heel[over, 1] + share * (toe - heel)[over, 1] > RISE + 2e-3).all()
        assert T[-1, 1, 3] == pytest.approx(RISE + 0.075, abs=1e-6)


def test_a_person_ducks_under_a_beam() -> None:
    """Head and chest go around a beam that the head would touch on a straight way."""
    robot = body(Person()).add(
        lw.Shape("chest", "capsule", (0.11, 0.3), lw.Pose.of((0.0, -0.05, 0.0), ALONG_Y), "collision"),
        lw.Shape("head", "sphere", (0.1,), lw.Pose.of((0.01, 0.11, 0.0)), "collision"),
    )
    beam = lw.Shape("beam", "capsule", (0.05, 1.0), lw.Pose.of((0.25, 1.45, 0.0)))
    there = lw.limit.via(1.0, frame="head", position=(0.3, 1.15, 0.0), tolerance=0.05)
    limits = [foot("r"), foot("l"), there, lw.limit.clearance([beam], 0.02, self_collision=False)]
    plan = moved(robot, robot.q(), limits, 2.0, 14)
    judged(plan)
    assert plan.clearance.distance >= 0.02


def test_solo_steps_over_a_bar() -> None:
    """Each front foot is lifted over a bar between its places, and the shanks keep clear of it too."""
    robot, start = solo()
    robot = lw.Robot(robot.links, robot.joints, frames=robot.frames, gravity=robot.gravity, name="solo")
    for leg in ("FL", "FR", "HL", "HR"):
        shank = lw.Shape(f"{leg}_LOWER_LEG", "capsule", (0.01, 0.12), lw.Pose.of((0.0, 0.0, -0.08)), "collision")
        robot = robot.add(shank, lw.Shape(f"{leg}_FOOT", "sphere", (0.015,), role="collision"))
    x, _, z = lw.compile(robot).pose(start, "FL_FOOT")[:3, 3]
    bar = lw.Shape("bar", "capsule", (0.008, 0.8), lw.Pose.of((x + 0.032, 0.0, z + 0.004), ALONG_Y))
    plan = trot(robot, start, 0.08, 0.05, lw.limit.clearance([bar], 0.004, self_collision=False))
    judged(plan, momentum=0.01)
    assert plan.clearance.distance >= 0.004


def test_two_point_feet_cannot_keep_a_quadruped_from_falling() -> None:
    """What tips over about the line between two points is left on the base, and the plan does not call that done."""
    robot, start = solo()
    limits = [lw.limit.joints(velocity=20.0, effort=3.0), *(lw.limit.contact(name) for name in FEET[:2])]
    cost = lw.cost.effort() + 1e-4 * lw.cost.jerk()
    plan = lw.plan(robot, start, lw.planning.State(), cost, limits, duration=0.6, control_points=10, progress=False)
    assert plan.status == "gave up"
    assert "a third contact" in plan.summary
