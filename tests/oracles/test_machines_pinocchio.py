"""Machines with loops against Lagrange multipliers on Pinocchio's tree: its inertia, bias forces, Jacobians and drift.

Of Linkwise this takes the positions of joints that follow alone, whose closure it checks.
"""

from typing import NamedTuple

import numpy as np
import pinocchio as pin
import pytest
from scipy.interpolate import CubicSpline

import linkwise as lw
from linkwise.robot import Course, Curve
from support.every_machine import MIXTURES, TABLE, sort

NAMES = [n for n in (*TABLE, *MIXTURES) if sort(n).robot.loops and "elastic" not in n]
WHOLE = {"floating": pin.JointModelFreeFlyer, "translation": pin.JointModelTranslation}


class Tree(NamedTuple):
    """Pinocchio's model of an opened robot, and for each cut its two frames and its kind."""

    model: pin.Model
    cuts: list[tuple[int, int, str]]

    @classmethod
    def of(cls, robot):
        model = pin.Model()
        model.gravity.linear = np.array(robot.gravity)
        opened, at, armature = robot.opened(), {robot.root.name: (0, pin.SE3.Identity())}, []
        for j in opened.joints:
            parent, X = at[j.parent]
            X = X * se3(j.origin)
            if j.is_fixed:
                at[j.child] = (parent, X)
                model.appendBodyToJoint(parent, body(opened.link(j.child)), X)
                continue
            if j.kind == "planar":
                for k, kind in enumerate((pin.JointModelPX(), pin.JointModelPY(), pin.JointModelRZ())):
                    parent, X = model.addJoint(parent, kind, X, f"{j.name}{k}"), pin.SE3.Identity()
                back = pin.SE3.Identity()
            else:
                back = pin.SE3(np.eye(3), -np.array([*j.anchor]))
                X = X * back.inverse()
                single = {"prismatic": pin.JointModelPrismaticUnaligned}.get(j.kind, pin.JointModelRevoluteUnaligned)
                kind = WHOLE[j.kind]() if j.kind in WHOLE else single(np.array([*j.axis]))
                parent = model.addJoint(parent, kind, X, j.name)
            armature += [j.armature] * j.freedom.nv
            at[j.child] = (parent, back)
            model.appendBodyToJoint(parent, body(opened.link(j.child)), back)
        model.armature = np.array(armature)
        cuts = []
        for loop in robot.loops:
            ends = []
            for link, origin in ((loop.a, loop.origin_a), (loop.b, loop.origin_b)):
                i, X = at[link]
                frame = pin.Frame(f"{loop.name}.{link}", i, 0, X * se3(origin), pin.FrameType.OP_FRAME)
                ends.append(model.addFrame(frame))
            cuts.append((*ends, loop.kind))
        return cls(model, cuts)

    def held(self, data, q, v):
        """The Jacobian of what cuts hold, its drift, and the gap: points, and axes of hinges, in world axes."""
        pin.computeJointJacobians(self.model, data, q)
        pin.forwardKinematics(self.model, data, q, v, np.zeros(self.model.nv))
        pin.updateFramePlacements(self.model, data)
        rows, drift, gap = [], [], []
        axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        for a, b, kind in self.cuts:
            J = [pin.getFrameJacobian(self.model, data, f, axes) for f in (a, b)]
            acc = [pin.getFrameClassicalAcceleration(self.model, data, f, axes).vector for f in (a, b)]
            vel = [pin.getFrameVelocity(self.model, data, f, axes).angular for f in (a, b)]
            d, d_dot = J[1] - J[0], acc[1] - acc[0]
            rows.append(d[:3])
            drift.append(d_dot[:3])
            gap.append(data.oMf[b].translation - data.oMf[a].translation)
            if kind == "revolute":  # the relative angular velocity is along the common axis
                z = data.oMf[a].rotation[:, 2]
                across = np.eye(3) - np.outer(z, z)
                turn = np.cross(vel[0], vel[1] - vel[0])
                rows.append(across @ d[3:])
                drift.append(across @ (d_dot[3:] - turn))
                gap.append(np.cross(z, data.oMf[b].rotation[:, 2]))
        return np.vstack(rows), np.concatenate(drift), np.concatenate(gap)


def se3(X):
    return pin.SE3(np.array([[*r] for r in X.R]), np.array([*X.p]))


def body(link):
    xx, xy, xz, yy, yz, zz = link.inertia
    return pin.Inertia(link.mass, np.array([*link.com]), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))


def ideal(robot):
    """The robot without what Pinocchio does not know: friction, springs and drives."""
    joints = [
        lw.Joint(j.name, j.parent, j.child, j.kind, j.origin, j.axis, j.anchor, armature=j.armature)
        for j in robot.joints
    ]
    return robot.replace(joints=joints)


@pytest.mark.parametrize("name", NAMES)
def test_accelerations_torques_and_what_cuts_carry(name):
    machine = sort(name)
    robot = ideal(machine.robot)
    opened, dyn = robot.opened(), lw.compile(robot)
    theirs = Tree.of(robot)
    model, data = theirs.model, theirs.model.createData()
    q, qd, _ = machine.states(3)
    tau = np.random.default_rng(4).uniform(-20.0, 20.0, (3, robot.nu))
    qdd = dyn.forward_dynamics(q, qd, tau)
    whole = dyn.positions(q).q
    back = dyn.inverse_dynamics(q, qd, qdd)
    lead = [opened.slots[n].v + k for n in robot.coordinates for k in range(opened.slots[n].nv)]
    follow = [v for v in range(opened.nv) if v not in lead]
    push = [opened.slots[n].v + k for n in robot.drives for k in range(opened.slots[n].nv)]
    assert opened.nv == model.nv
    for row in range(3):
        J, _, gap = theirs.held(data, whole[row], np.zeros(model.nv))
        assert np.abs(gap).max() < 1e-11
        v = np.zeros(model.nv)
        v[lead] = qd[row]
        v[follow] = np.linalg.lstsq(J[:, follow], -J[:, lead] @ qd[row], rcond=1e-10)[0]
        J, drift, _ = theirs.held(data, whole[row], v)
        M = pin.crba(model, data, whole[row])
        M = np.triu(M) + np.triu(M, 1).T
        h = pin.nonLinearEffects(model, data, whole[row], v)
        applied = np.zeros(model.nv)
        applied[push] = tau[row]
        # equations of planar loops repeat, so the multipliers are those of least squares
        D = np.diag(1.0 / np.sqrt(np.diag(M)))
        G = np.linalg.pinv(J @ D, rcond=1e-9)
        N = np.eye(model.nv) - G @ (J @ D)
        A = D @ M @ D
        particular = -G @ drift
        U, s, _ = np.linalg.svd(N)
        U = U[:, s > 0.5]
        y = np.linalg.solve(U.T @ A @ U, U.T @ (D @ (applied - h) - A @ particular))
        a = D @ (particular + U @ y)
        size = max(1.0, np.abs(a[lead]).max())
        assert np.abs(a[lead] - qdd[row]).max() < 1e-10 * size
        assert np.abs(back[row] - tau[row]).max() < 1e-10 * max(1.0, np.abs(tau[row]).max())


def test_a_coupled_joint_is_its_tree_led_by_splines():
    """Torques by Pinocchio's recursion on the opened tree, along positions that SciPy's splines give."""
    x, y = (-2.0, -1.2, -0.4, 0.3, 1.0), (0.012, 0.021, 0.004, -0.008, 0.003)
    knee = lw.Joint(
        "knee", "thigh", "shank", "coupled", lw.Pose.of((0.0, -0.4, 0.0), (0.1, 0.0, 0.2)), (0.0, 0.6, 0.8),
        course=Course(x=Curve(x=x, y=y), y=Curve((0.0, 0.02, -0.03)), turn_z=Curve((0.0, 1.0))),
    )  # fmt: skip
    links = [lw.Link("base"), lw.Link("thigh", 2.0, (0.1, -0.2, 0.0), (0.01, 0.02, 0.03))]
    links.append(lw.Link("shank", 1.5, (0.05, -0.2, 0.01), (0.02, 0.01, 0.02)))
    robot = lw.Robot(links, [lw.Joint("hip", "base", "thigh"), knee], gravity=(0.0, -9.81, 1.0))
    theirs, opened = Tree.of(robot), robot.opened()
    data, spline = theirs.model.createData(), CubicSpline(x, y, bc_type="natural")
    assert opened.names == ("hip", "knee", "knee.x", "knee.y", "knee.turn_z")
    dyn = lw.compile(robot)
    for q, qd, qdd in np.random.default_rng(8).uniform(-0.9, 0.9, (5, 3, 2)):
        a, v, w = q[1], qd[1], qdd[1]
        slope = np.array([1.0, float(spline(a, 1)), 0.02 - 0.06 * a, 1.0])
        bend = np.array([0.0, float(spline(a, 2)), -0.06, 0.0])
        whole = np.array([q[0], a, float(spline(a)), 0.02 * a - 0.03 * a * a, a])
        rates, more = np.r_[qd[0], slope * v], np.r_[qdd[0], slope * w + bend * v * v]
        tau = pin.rnea(theirs.model, data, whole, rates, more)
        expected = [tau[0], slope @ tau[1:]]
        np.testing.assert_allclose(dyn.inverse_dynamics(q, qd, qdd), expected, atol=1e-12)
        np.testing.assert_allclose(dyn.positions(q).q, whole, atol=1e-14)
