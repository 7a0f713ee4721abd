"""Sensitivities of Barman's arms: our numbers, independent ones, and his recursion as corrected."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.dh import DHRow, standard_dh
from linkwise.robot import Frame
from linkwise.rotation import rot_x
from linkwise.vector import EZ, Vec3
from papers.errata import barman
from papers.errata.tables.barman import case as drawn
from support.sources import KINDS, case, planar
from support.trees import error

EXACT = 1e-11
PLANAR = ("001_RR_table4.1", "001_RR_vertical_payload", "001_PR_table4.3")
NAMES = ("dtau_dq", "dtau_dqd", "dtau_dqdd")
DRAWN = {"RPRR": (1, 3), "PPRPR": (2, 2, 4), "RRPRRR": (3, 3, 5)}  # seed, then the links that bear loads


def still(load):
    """The law of a load that a link exerts on the environment, in world axes."""
    return lambda pose, velocity: lw.Wrench(pose.R.T @ -load.F, pose.R.T @ -load.N)


@pytest.mark.parametrize("name", PLANAR)
def test_planar_arms(name):
    """dtau/dq, dtau/dqd, dtau/dqdd against the file, with a load that keeps its direction in the world."""
    c, robot = case(name), planar(name)
    laws = {}
    for w in c["ext"]:
        robot = robot.add(Frame("grip", f"link{w['k']}", lw.Pose(p=Vec3(*w["r"]))))
        laws["grip"] = still(barman.Load(w["k"] - 1, *(Vec3(*w[x]) for x in ("r", "F", "N"))))
    found = lw.compile(robot, lw.inverse_dynamics_derivatives, forces=laws or None)(c["q"], c["qd"], c["qdd"])
    for ours, quantity in zip(found, NAMES, strict=True):
        assert error(ours, c[quantity]) < EXACT


@pytest.mark.parametrize("name", PLANAR)
def test_barman_as_corrected_is_ours_on_planar_arms(name):
    c = case(name)
    columns = (c[key] for key in ("theta", "d", "a", "alpha", "sigma", "m", "com_in_frame_j_from_Oj", "I_com"))
    rows = [DHRow(*x[:4], KINDS[int(x[4])], mass=x[5], com=x[6], inertia=x[7]) for x in zip(*columns, strict=True)]
    loads = [barman.Load(w["k"] - 1, *(Vec3(*w[x]) for x in ("r", "F", "N"))) for w in c["ext"]]
    check(rows, (c["q"], c["qd"], c["qdd"]), Vec3(*c["g"]), loads)


@pytest.mark.parametrize("kinds", DRAWN)
def test_barman_as_corrected_is_ours_on_general_chains(kinds):
    """Revolute and prismatic joints, full tensors, loads on two links."""
    seed, *loaded = DRAWN[kinds]
    found = drawn(seed, kinds, *loaded)
    check(found.rows, found.x, found.gravity, found.loads)


def check(rows, x, gravity, loads):
    """Torques, forces and torques through the joints, and all derivatives, by our recursion and by his."""
    theirs = barman.inverse_dynamics(rows, *x, gravity, loads)
    n, names = len(rows), [f"load{k}" for k in range(len(loads))]
    frames = [Frame(name, f"link{w.k + 1}", lw.Pose(p=w.r)) for name, w in zip(names, loads, strict=True)]
    robot = standard_dh(rows, gravity=gravity, frames=frames)
    dyn = lw.compile(robot)

    # our recursion takes loads that turn with their frames; those of the world turn against them
    f_ext, turning = np.empty((len(loads), 6)), np.zeros((len(loads), 6, n))
    for k, (name, w) in enumerate(zip(names, loads, strict=True)):
        R, J = dyn.pose(x[0], name)[:3, :3], dyn.jacobian(x[0], name, axes="local")
        f_ext[k] = [*(R.T @ -np.array(w.F)), *(R.T @ -np.array(w.N))]
        turning[k] = np.concatenate([-np.cross(J[3:].T, f).T for f in (f_ext[k, :3], f_ext[k, 3:])])
    given = (*x, f_ext) if loads else x
    found = lw.compile(robot, lw.algorithms.joint_wrench_derivatives, external=names, route="recursion")(*given)
    tau, wrench = lw.compile(robot, lw.joint_wrenches, external=names)(*given)
    by_q = [found.dtau_dq, found.dwrench_dq]
    if loads:
        by_load = lw.compile(robot, lw.derivative(lw.joint_wrenches, "f_ext"), external=names)(*given)
        by_q = [a + np.einsum("...kl,kln->...n", b, turning) for a, b in zip(by_q, by_load, strict=True)]

    assert error(tau, theirs.tau) < EXACT
    for ours, quantity in zip((by_q[0], found.dtau_dqd, found.M), NAMES, strict=True):
        assert error(ours, getattr(theirs, quantity)) < EXACT
    for j, (row, q, joint) in enumerate(zip(rows, x[0], robot.joints, strict=True)):
        force, torque = theirs.through[j]
        slides = row.kind == "prismatic"
        u = np.array(rot_x(row.alpha).T @ EZ)
        arm = np.array(joint.anchor) + [row.a, 0.0, 0.0] + u * (row.d + q * slides)  # from O_j-1 to our point
        assert error(wrench[j, :3], force.value) < EXACT
        assert error(wrench[j, 3:] + np.cross(arm, wrench[j, :3]), torque.value) < EXACT
        for kind, changes in zip(("q", "qd", "qdd"), (by_q[1], found.dwrench_dqd, found.dwrench_dqdd), strict=True):
            F, N = changes[j, :3], changes[j, 3:] + np.cross(arm, changes[j, :3].T).T
            if kind == "q" and slides:
                N[:, j] += np.cross(u, wrench[j, :3])
            size = max(1.0, np.abs(changes).max())
            assert np.abs(F - np.array(getattr(force, kind)).T).max() < EXACT * size
            assert np.abs(N - np.array(getattr(torque, kind)).T).max() < EXACT * size
