"""Dynamics of mixed rigid and elastic joints after Hua, Poursina and Sanfilippo, with the printed forms.

Frame i has z along joint i and is fixed to link i-1; quantities of link i are in frame i+1. Links, joints and motors
are counted from 0 here, so that link k is the paper's k+1 and the motor's link -1 is the base.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from linkwise.rotation import rot_z
from linkwise.scalar import Scalar
from linkwise.vector import EZ, ZERO3, Mat3, Vec3, cross, dot
from papers.errata.study import NOTHING, Array, Forms, Numbers, Printed, chosen, minus, same, second, zero


@dataclass(frozen=True)
class Body:
    """A unified body, link and motors together, in frame i+1: o_i to o_i+1, o_i to the com, mass, tensor about it."""

    fixed: Mat3  # R(i, i+1) at q = 0
    r: Vec3
    c: Vec3
    m: float
    I: Mat3


@dataclass(frozen=True)
class Motor:
    """The motor of a joint: mounting link, axis there, gear ratio, axial inertia; stiffness of the joint or None."""

    link: int
    axis: Vec3
    gear: float
    Iz: float
    stiffness: float | None = None


@dataclass(frozen=True)
class Arm:
    """A serial arm."""

    bodies: Sequence[Body]
    motors: Sequence[Motor]

    @property
    def elastic(self) -> list[int]:
        """The elastic joints, in the order of theta."""
        return [i for i, motor in enumerate(self.motors) if motor.stiffness is not None]


class World(NamedTuple):
    """Load on the effector (force, moment, in its frame), gravity, and motion of the base in its own axes."""

    load: tuple[Vec3, Vec3] = (ZERO3, ZERO3)
    gravity: Vec3 = ZERO3
    w: Vec3 = ZERO3
    wd: Vec3 = ZERO3
    pdd: Vec3 = ZERO3


class Torques(NamedTuple):
    """Of the links (t_b . z) and of the motors, on the joint's side of the gear."""

    link: list[Scalar]
    motor: list[Scalar]


FORMS: Forms = {
    "(20)": (minus, same),  # load on the effector
    "(21)": (
        lambda H, sd, s, axis, w: (axis * sd + cross(w, axis) * s) * H,
        lambda H, sd, s, axis, w: axis * (-s * H),
    ),
    "(25) arm": (same, minus),  # o_i+1 to the com
    "(29) twice": (zero, same),  # a further eta^2 Iz
    "(30)": (same, zero),  # thetad in zeta
    "Algorithm 1": (same, second),  # accelerations of motors of elastic joints: thetadd, qdd
    "Algorithm 2, base": (lambda world: World(), lambda world: world._replace(load=(ZERO3, ZERO3), gravity=ZERO3)),
    "Algorithm 2, spring": (
        lambda K, theta, q, gear: K * (theta - q),
        lambda K, theta, q, gear: K * gear * (theta - gear * q),
    ),
}


def inverse_dynamics(
    arm: Arm,
    x: Numbers,
    xd: Numbers,
    xdd: Numbers,
    world: World,
    printed: Printed = NOTHING,
) -> Torques:
    """Torques for x = [q; theta] and its rates.

    Source: [Hua] Algorithm 1, (4)-(29). The load acts on the effector, so it enters (20) and (26) with a minus sign.
    """
    form, n = chosen(FORMS, printed), len(arm.bodies)
    drives = _drives(arm)
    spin, spin_dot = ([y[k] for k in drives] for y in (xd, xdd))  # s and its rate, (6)-(9)

    # outwards, (4), (5), (16), (17)
    w, wd, pdd, g, r = world.w, world.wd, world.pdd, world.gravity, ZERO3
    turns, motion = [], []
    omega, omega_dot = {-1: w}, {-1: wd}
    for i, body in enumerate(arm.bodies):
        R = rot_z(x[i]) @ body.fixed
        pdd = R.T @ (pdd + cross(wd, r) + cross(w, cross(w, r)))  # (16)
        wd = R.T @ (wd + EZ * xdd[i] + cross(w, EZ * xd[i]))  # (5)
        w, g, r = R.T @ (w + EZ * xd[i]), R.T @ g, body.r  # (4)
        turns.append(R)
        motion.append(pdd + cross(wd, body.c) + cross(w, cross(w, body.c)) - g)  # (17)
        omega[i], omega_dot[i] = w, wd

    # inwards, (19), (25)
    f, t = (form["(20)"](y) for y in world.load)  # (20), (26)
    link: list[Scalar] = [0.0] * n
    for i in reversed(range(n)):
        body, w, wd = arm.bodies[i], omega[i], omega_dot[i]
        if i < n - 1:
            f, t = turns[i + 1] @ f, turns[i + 1] @ t
        t = t + cross(f, form["(25) arm"](body.c - body.r)) + body.I @ wd + cross(w, body.I @ w)
        f = f + motion[i] * body.m  # (19)
        t = t - cross(f, body.c)
        for j, motor in enumerate(arm.motors):
            if motor.link == i:
                t = t + form["(21)"](motor.gear * motor.Iz, spin_dot[j], spin[j], motor.axis, w)
        link[i] = (turns[i] @ t).z

    # motors, (27)-(29)
    tau = []
    for i, (motor, k) in enumerate(zip(arm.motors, drives, strict=True)):
        sdd = form["Algorithm 1"](xdd[k], xdd[i])
        along = dot(motor.axis, omega_dot[motor.link]) + motor.gear * (sdd + form["(29) twice"](sdd))
        spring = link[i] if motor.stiffness is None else motor.stiffness * (x[k] - x[i])
        tau.append(spring + motor.gear * motor.Iz * along)
    return Torques(link, tau)


def coefficients(arm: Arm, x: Numbers, xd: Numbers, world: World, printed: Printed = NOTHING) -> tuple[Array, Array]:
    """A and zeta of A xdd + zeta = [tau_q; tau_me].

    Source: [Hua] Algorithm 2, (32)-(35). Columns of A are had with the base at rest.
    """
    form, n, size = chosen(FORMS, printed), len(arm.bodies), len(x)
    still, zeros = form["Algorithm 2, base"](world), [0.0] * size
    slowed = [*xd[:n], *form["(30)"](np.array(xd[n:]))]
    zeta = _rows(arm, inverse_dynamics(arm, x, slowed, zeros, world, printed))  # (32), (33)
    springs = [arm.motors[i].stiffness * (x[n + k] - x[i]) for k, i in enumerate(arm.elastic)]  # type: ignore[operator]
    rest = np.array([0.0] * n + springs)
    columns = [
        _rows(arm, inverse_dynamics(arm, x, zeros, e, still, printed)) - rest for e in np.eye(size)
    ]  # (34), (35)
    return np.array(columns).T, zeta


def forward_dynamics(
    arm: Arm, x: Numbers, xd: Numbers, tau: Sequence[float], world: World, printed: Printed = NOTHING
) -> Array:
    """Accelerations of [q; theta] for the motors' torques.

    Source: [Hua] Algorithm 2, (36).
    """
    spring, n = chosen(FORMS, printed)["Algorithm 2, spring"], len(arm.bodies)
    rhs = [*tau, *(tau[i] for i in arm.elastic)]
    for k, i in enumerate(arm.elastic):
        rhs[i] = spring(arm.motors[i].stiffness, x[n + k], x[i], arm.motors[i].gear)
    A, zeta = coefficients(arm, x, xd, world, printed)
    return np.linalg.solve(A, np.array(rhs) - zeta)


def _drives(arm: Arm) -> list[int]:
    """Which entry of x turns each motor."""
    n, elastic = len(arm.bodies), arm.elastic
    return [n + elastic.index(i) if i in elastic else i for i in range(n)]


def _rows(arm: Arm, torques: Torques) -> Array:
    """The rows of (31): links, or motors of rigid joints; then motors of elastic joints."""
    links = [torques.link[i] if i in arm.elastic else torques.motor[i] for i in range(len(arm.bodies))]
    return np.array([*links, *(torques.motor[i] for i in arm.elastic)])
