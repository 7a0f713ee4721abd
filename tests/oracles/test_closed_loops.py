"""Closed chains against Pinocchio's constrained dynamics, on the same trees with the same points held together."""

import numpy as np
import pinocchio as pin
import pytest

import linkwise as lw
from linkwise.mechanism.machine import machine_of
from linkwise.mechanism.structure import structure_of
from support.linkages import EXAMPLES, applied, chain_of_four_bars, example, states
from support.pinocchio_bridge import model, to_pin_q, to_pin_v
from support.trees import error

ROWS = 20
SETTINGS = pin.ProximalSettings(1e-14, 1e-10, 200)


def theirs(robot, tmp_path):
    """Pinocchio's model of the tree, and its constraints: the points of revolute and spherical cuts."""
    path = tmp_path / "tree.urdf"
    lw.save(robot.replace(loops=()), path)
    made = model(path)
    for joint in robot.joints:
        made.armature[made.joints[made.getJointId(joint.name)].idx_v] = joint.armature
    constraints = []
    for loop in robot.loops:
        ends = []
        for link, origin in ((loop.a, loop.origin_a), (loop.b, loop.origin_b)):
            frame = made.frames[made.getFrameId(link, pin.FrameType.BODY)]
            ends += [frame.parentJoint, frame.placement * pin.SE3(np.array(origin.R), np.array(origin.p))]
        constraints.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, made, *ends, pin.ReferenceFrame.LOCAL))
    return made, constraints


def begun(robot, folder):
    """Their model, constraints, and the data of both."""
    made, constraints = theirs(robot, folder)
    data, cuts = made.createData(), [c.createData() for c in constraints]
    pin.initConstraintDynamics(made, data, constraints, cuts)
    return made, constraints, data, cuts


@pytest.mark.parametrize("name", EXAMPLES)
def test_accelerations(name, tmp_path):
    """In random closed states under random torques; planar loops have equations out of the plane, which repeat."""
    dyn = example(name)
    robot = dyn.robot.opened()
    made, constraints, data, cuts = begun(dyn.robot, tmp_path)
    lead, speed, _ = states(name, ROWS, seed=11)
    tau = np.random.default_rng(3).uniform(-3.0, 3.0, (ROWS, dyn.robot.nu))
    q, qd, qdd = dyn.tree_motion(lead, speed, dyn.forward_dynamics(lead, speed, tau))
    full = applied(dyn.robot, tau)
    answers = []
    for state in zip(*(f(robot, made, x) for f, x in ((to_pin_q, q), (to_pin_v, qd), (to_pin_v, full))), strict=True):
        answers.append(pin.constraintDynamics(made, data, *state, constraints, cuts, SETTINGS).copy())
    assert error(to_pin_v(robot, made, qdd), np.array(answers)) < 1e-6
    # the states are closed in their model too
    pin.forwardKinematics(made, data, to_pin_q(robot, made, q[0]))
    for c in constraints:
        a, b = (data.oMi[j] * X for j, X in ((c.joint1_id, c.joint1_placement), (c.joint2_id, c.joint2_placement)))
        assert np.abs(a.translation - b.translation).max() < 1e-11


@pytest.mark.parametrize("cut", ["pin", "pivot"])
@pytest.mark.parametrize("count", [1, 4, 10])
def test_accelerations_of_chains(count, cut, tmp_path):
    """Four-bars in a row, turned out of one plane: our recursion over units against their constrained dynamics."""
    robot = chain_of_four_bars(count, 0.6, cut)
    tree, machine = robot.opened(), machine_of(robot)
    made, constraints, data, cuts = begun(robot, tmp_path)
    forward = lw.compile(robot, lw.forward_dynamics, route="articulated")
    rng = np.random.default_rng(count)
    for _ in range(ROWS):
        q = robot.q() + rng.uniform(-0.3, 0.3, robot.nq)
        qd, tau = rng.uniform(-2.0, 2.0, (2, robot.nv))
        at = machine.at(q.tolist())
        rates, qdd = at.led(qd.tolist(), forward(q, qd, tau).tolist())
        motion = lw.compile(robot).positions(q).q, np.array(rates), np.array(at.applied(tau.tolist()))
        state = [f(tree, made, x) for f, x in zip((to_pin_q, to_pin_v, to_pin_v), motion, strict=True)]
        answer = pin.constraintDynamics(made, data, *state, constraints, cuts, SETTINGS)
        assert error(to_pin_v(tree, made, np.array(qdd)), answer) < 1e-6


@pytest.mark.parametrize("name", EXAMPLES)
def test_wrenches_through_joints(name, tmp_path):
    """Their constraint forces, put on their tree as external ones, give what each of its joints carries.

    Forces across the plane of a planar loop, which rigid bodies do not tell, are left out.
    """
    dyn = example(name)
    robot, loops, dependent = dyn.robot.opened(), dyn.robot.loops, structure_of(dyn.robot).dependent
    made, constraints, data, cuts = begun(dyn.robot, tmp_path)
    lead = states(name, ROWS, seed=12)
    q, qd, qdd = dyn.tree_motion(*lead)
    tau, wrench, cut = dyn.joint_wrenches(*lead)
    full = applied(dyn.robot, tau)
    known = [[f"{loop.name}: {x}" not in dependent for x in "xyz"] for loop in loops]
    moving = [j.name for j in robot.joints if not j.is_fixed]
    ids = [made.getJointId(n) for n in moving]
    vectors = ((to_pin_q, q), (to_pin_v, qd), (to_pin_v, full), (to_pin_v, qdd))
    for k, (x, v, force, a) in enumerate(zip(*(f(robot, made, y) for f, y in vectors), strict=True)):
        pin.constraintDynamics(made, data, x, v, force, constraints, cuts, SETTINGS)
        loads = pin.StdVec_Force([pin.Force.Zero() for _ in range(made.njoints)])
        forces = np.array([held.contact_force.linear for held in cuts]) * known  # of b on a, in the axes of frame a
        assert error(cut[k, :, :3], -forces) < 1e-6
        for c, linear in zip(constraints, forces, strict=True):
            on_1 = c.joint1_placement.act(pin.Force(linear, np.zeros(3)))
            loads[c.joint1_id] += on_1
            loads[c.joint2_id] -= (data.oMi[c.joint2_id].inverse() * data.oMi[c.joint1_id]).act(on_1)
        pin.rnea(made, data, x, v, a, loads)
        carried = np.array([data.f[i].vector for i in ids])
        assert error(wrench[k], carried) < 1e-6
