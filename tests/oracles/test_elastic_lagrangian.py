"""Elastic drives against Lagrange's equations of explicit bodies, evaluated with 60 digits."""

import mpmath as mp
import numpy as np
import pytest

import linkwise as lw
from support.geared_arm import GRAVITY, MOTORS, PARTS, arm, elastic
from support.trees import error

STEP = mp.mpf(10) ** -18  # of central differences: what they leave is far below double precision


def turn(axis, angle):
    """Rotation about a unit axis by Rodrigues' formula."""
    x, y, z = (mp.mpf(a) for a in axis)
    K = mp.matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return mp.eye(3) + mp.sin(angle) * K + (1 - mp.cos(angle)) * (K * K)


def placed(rpy):
    """Rz(yaw) Ry(pitch) Rx(roll)."""
    r, p, y = (mp.mpf(a) for a in rpy)
    return turn((0, 0, 1), y) * turn((0, 1, 0), p) * turn((1, 0, 0), r)


def bodies(x):
    """Mass, com, rotation and tensor in its own axes of every link, housing and rotor, at x = [q; theta]."""
    soft, frames = elastic(), [(mp.eye(3), mp.matrix([0, 0, 0]))]
    found = []
    for k, part in enumerate(PARTS):
        R, p = frames[-1]
        p, R = p + R * mp.matrix(part.xyz), R * placed(part.rpy)
        if part.kind == "revolute":
            R = R * turn(part.axis, x[k])
        else:
            p = p + R * mp.matrix(part.axis) * x[k]
        frames.append((R, p))
        xx, xy, xz, yy, yz, zz = part.tensor
        found.append((part.mass, p + R * mp.matrix(part.com), R, mp.matrix([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])))
    for k, m in enumerate(MOTORS):
        R, p = frames[m.link]
        at, z = p + R * mp.matrix(m.xyz), mp.matrix(m.axis)
        turned = x[len(PARTS) + soft.index(k)] if k in soft else x[k]
        found.append((m.housing, at, R, m.shell * mp.eye(3)))
        round_ = m.across * mp.eye(3) + (mp.mpf(m.rotor) - m.across) * (z * z.T)
        found.append((m.spinning, at, R * turn(m.axis, m.gear * turned), round_))
    return found


def lagrangian(x, xd):
    """Kinetic less potential energy, velocities by differences of poses."""
    ahead, behind = (bodies([a + s * STEP * b for a, b in zip(x, xd, strict=True)]) for s in (1, -1))
    L = mp.mpf(0)
    for (m, p, R, I), (_, p1, R1, _), (_, p0, R0, _) in zip(bodies(x), ahead, behind, strict=True):
        v, W = (p1 - p0) / (2 * STEP), R.T * (R1 - R0) / (2 * STEP)
        w = mp.matrix([W[2, 1], W[0, 2], W[1, 0]])
        L += m * (v.T * v)[0] / 2 + (w.T * I * w)[0] / 2 + m * (mp.matrix(GRAVITY).T * p)[0]
    for at, k in enumerate(elastic()):
        L -= MOTORS[k].stiffness * (x[len(PARTS) + at] - x[k]) ** 2 / 2
    return L


def forces(x, xd, xdd):
    """d/dt dL/dxd - dL/dx along x + xd t + xdd t^2 / 2."""

    def shifted(v, k, h):
        return [a + h * (j == k) for j, a in enumerate(v)]

    def momentum(k, t):
        at = [a + b * t + c * t * t / 2 for a, b, c in zip(x, xd, xdd, strict=True)]
        rate = [b + c * t for b, c in zip(xd, xdd, strict=True)]
        return (lagrangian(at, shifted(rate, k, 1)) - lagrangian(at, shifted(rate, k, -1))) / 2  # L is quadratic in xd

    found = []
    for k in range(len(x)):
        rate = (momentum(k, STEP) - momentum(k, -STEP)) / (2 * STEP)
        slope = (lagrangian(shifted(x, k, STEP), xd) - lagrangian(shifted(x, k, -STEP), xd)) / (2 * STEP)
        found.append(float(rate - slope))
    return found


@pytest.mark.parametrize("seed", range(2))
def test_geared_arm(seed):
    """Motors on the base, on the driven link and on an earlier one, gears of both signs, a prismatic joint."""
    robot = arm()
    x, xd, xdd = np.random.default_rng(seed).normal(size=(3, robot.nv)) * [[0.6], [1.5], [4.0]]
    with mp.workdps(60):
        expected = forces(*([mp.mpf(float(a)) for a in v] for v in (x, xd, xdd)))
    dyn = lw.compile(robot)
    assert error(dyn.inverse_dynamics(x, xd, xdd), expected) < 1e-12
    assert error(dyn.forward_dynamics(x, xd, expected), xdd) < 1e-10
    assert error(lw.compile(robot, lw.algorithms.forward_by_columns)(x, xd, expected).qdd, xdd) < 1e-10
