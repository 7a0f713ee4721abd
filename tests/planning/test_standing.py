"""Whole motions on feet: a humanoid squats, a quadruped trots, a person lifts a box. Minutes each."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import linkwise as lw
from examples.standing import STILL, lift, solo, squat, talos, trot
from linkwise.planning import Plan
from support.pinocchio_bridge import example, model, to_pin_q, to_pin_v

pytestmark = pytest.mark.slow


def kept(plan: Plan, friction: float) -> None:
    """Momentum to 1e-8, the cone of friction and the sole on a fine grid, feet that stay."""
    assert plan.converged, plan.words
    t = np.linspace(0.0, plan.duration, 1001)
    dyn = lw.compile(plan.robot)
    for stance in plan.chart.stances:
        stands = stance.stands(t / plan.duration)
        f = plan.contact_force(stance.name, t)[:, 3:]
        n = np.array(stance.normal)
        up = f @ n
        assert up.min() > -1e-3 * stance.weight
        across = np.linalg.norm(f - up[:, None] * n, axis=1)
        assert (across <= friction * up + 1e-3 * stance.weight).all()
        T = dyn.pose(plan.q(t), stance.frame)[stands]
        middle = np.array(stance.middle)
        at = (T[:, :3, :3] @ middle + T[:, :3, 3]) - (stance.reference(t[stands] / plan.duration)[:, 9:] + middle)
        assert np.abs(at).max() < 1e-3
        if stance.is_sole:
            p = plan.contact_force(stance.name, t)[stands, :3]
            own = np.einsum("nji,nj->ni", T[:, :3, :3], p - T[:, :3, 3]) - middle
            x, y = (own @ np.array(stance.axes))[:, :2].T
            corners = np.array(stance.corners)
            edges = np.roll(corners, -1, axis=0) - corners
            inside = edges[:, 0] * (y[:, None] - corners[:, 1]) - edges[:, 1] * (x[:, None] - corners[:, 0])
            assert (inside / np.linalg.norm(edges, axis=1) > -2e-3).all()


def test_talos_squats() -> None:
    robot, start = talos()
    plan = squat(robot, start)
    kept(plan, 0.6)
    theirs = model(example("talos_reduced.urdf"), floating=True, locked=STILL)
    data, t = theirs.createData(), np.linspace(0.0, plan.duration, 41)
    motion = to_pin_q(robot, theirs, plan.q(t)), *(to_pin_v(robot, theirs, x) for x in (plan.qd(t), plan.qdd(t)))
    for k, state in enumerate(zip(*motion, strict=True)):
        rate = pin.computeCentroidalMomentumTimeVariation(theirs, data, *state).vector
        total = np.array([0.0, 0.0, -9.81 * pin.computeTotalMass(theirs), 0.0, 0.0, 0.0])
        pin.framesForwardKinematics(theirs, data, state[0])
        for name in plan.contacts:
            place = data.oMf[theirs.getFrameId(name)]
            at_world = place.act(pin.Force(plan.contact_wrench(name, t[k])))
            total += pin.SE3(np.eye(3), data.com[0]).actInv(at_world).vector
        np.testing.assert_allclose(rate, total, atol=1e-8)


def test_solo_trots() -> None:
    plan = trot(*solo())
    kept(plan, 0.7)
    left = plan.base_wrench(plan.times())
    assert np.abs(left[:, :3]).max() < 1e-8  # about the line between two feet splines leave a little
    assert np.abs(left[:, 3:]).max() < 0.02 * 0.2 * plan.chart.stances[0].weight


def test_a_person_lifts_a_box(tmp_path: Path) -> None:
    plan = lift()
    kept(plan, 0.7)
    assert np.abs(plan.base_wrench(plan.times())).max() < 1e-8
    assert plan.view(tmp_path / "lift.html").stat().st_size > 10_000
