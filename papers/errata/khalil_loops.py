"""Closed loops and parallel robots after Khalil, with the printed forms of his equations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from linkwise.formats.dh_rows import KhalilRow, Row
from papers.errata.khalil import State, hat, inertia, inverse, transform
from papers.errata.study import NOTHING, Array, Forms, Printed, chosen, same, zero

FORMS: Forms = {
    "(57)": (lambda W, Gamma: W.T @ Gamma, lambda W, Gamma: W @ Gamma),  # W = dqd_p / dqd_a
    "(59)": (lambda v_dot, g: v_dot - g, same),
    "platform alone": (same, zero),  # what the legs need
}


# ---- a planar loop


class Mechanism(NamedTuple):
    """Two planar chains of revolute joints from the base, whose tips are held together; joints count from 0."""

    rows: list[KhalilRow]
    chains: tuple[tuple[int, ...], tuple[int, ...]]
    lengths: list[float]  # of the links, along x
    active: list[int]

    @property
    def passive(self) -> list[int]:
        return [j for j in range(len(self.rows)) if j not in self.active]

    def closure(self, q: Array, qd: Array) -> tuple[Array, Array]:
        """J with J qd = 0, (4), and J_dot qd."""
        J, drift = np.zeros((2, len(q))), np.zeros(2)
        for sign, chain in zip((1.0, -1.0), self.chains, strict=True):
            for end, k in enumerate(chain):  # link k turns with all joints up to its own
                joints = list(chain[: end + 1])
                along = sign * self.lengths[k] * np.exp(1j * q[joints].sum())
                J[:, joints] += np.array([[-along.imag], [along.real]])
                drift -= np.array([along.real, along.imag]) * qd[joints].sum() ** 2
        return J, drift

    def dependent(self, q: Array, qd_a: Array, qdd_a: Array) -> tuple[Array, Array, Array]:
        """qd and qdd of all joints, and W = dqd_p/dqd_a."""
        qd, qdd = np.zeros(len(q)), np.zeros(len(q))
        J, _ = self.closure(q, qd)
        J_a, J_p = J[:, self.active], J[:, self.passive]
        W = -np.linalg.solve(J_p, J_a)
        qd[self.active], qd[self.passive] = qd_a, W @ qd_a
        _, drift = self.closure(q, qd)
        qdd[self.active], qdd[self.passive] = qdd_a, W @ qdd_a - np.linalg.solve(J_p, drift)
        return qd, qdd, W


def loop_inverse(
    loop: Mechanism, q: Array, qd_a: Array, qdd_a: Array, gravity: Array, printed: Printed = NOTHING
) -> Array:
    """Forces of the active joints.

    Source: [Khalil] (55)-(57), the tree's by (18)-(31).
    """
    qd, qdd, W = loop.dependent(q, qd_a, qdd_a)
    Gamma = inverse(loop.rows, State(q, qd, np.zeros((len(q), 6)), gravity), qdd)
    return Gamma[loop.active] + chosen(FORMS, printed)["(57)"](W, Gamma[loop.passive])


def loop_direct(loop: Mechanism, q: Array, qd_a: Array, Gamma: Array, gravity: Array) -> Array:
    """Accelerations of the active joints.

    Source: [Khalil] (58).
    """
    zeros = 0.0 * qd_a
    A = np.array([loop_inverse(loop, q, zeros, e, 0.0 * gravity) for e in np.eye(len(qd_a))]).T
    return np.linalg.solve(A, Gamma - loop_inverse(loop, q, qd_a, zeros, gravity))


# ---- a Gough-Stewart platform


class Leg(NamedTuple):
    """Universal joint and slide, the axes of its base in the world, its position, and where it meets the platform.

    `P` runs from the platform's origin to the spherical joint, in world axes; that joint is at O_3 of the leg.
    """

    rows: list[KhalilRow]
    R: Array
    q: Array
    P: Array


class Platform(NamedTuple):
    """A body on six legs; its orientation, velocity, acceleration, all in world axes, and gravity."""

    body: Row
    R: Array
    V: Array
    V_dot: Array
    legs: list[Leg]
    gravity: Array


def platform_inverse(robot: Platform, printed: Printed = NOTHING) -> Array:
    """Forces of the six slides.

    Source: [Khalil] (59)-(66). F_p is (9) with the acceleration less gravity.
    """
    form = chosen(FORMS, printed)
    v_dot, w_dot, w = robot.V_dot[:3], robot.V_dot[3:], robot.V[3:]
    turn = np.kron(np.eye(2), robot.R)
    J = turn @ inertia(robot.body) @ turn.T
    MS, I = robot.R @ np.array(robot.body.com) * robot.body.mass, J[3:, 3:]
    F = J @ np.concatenate([form["(59)"](v_dot, robot.gravity), w_dot])
    F += np.concatenate([hat(w) @ hat(w) @ MS, hat(w) @ I @ w])  # (9)
    rows = []
    for leg in robot.legs:
        J_v = np.hstack([np.eye(3), -hat(leg.P)])  # (65)
        J_i = tip_jacobian(leg)
        qd = np.linalg.solve(J_i, J_v @ robot.V)  # (63), (64)
        swing = v_dot + hat(w_dot) @ leg.P + hat(w) @ hat(w) @ leg.P
        qdd = np.linalg.solve(J_i, swing - tip_drift(leg, qd))
        Gamma = inverse(leg.rows, State(leg.q, qd, np.zeros((3, 6)), leg.R.T @ robot.gravity), qdd)
        F += form["platform alone"](J_v.T @ np.linalg.solve(J_i.T, Gamma))  # (66), in brackets
        rows.append(np.linalg.solve(J_i, J_v)[2])  # of J_p^-1
    return np.linalg.solve(np.array(rows).T, F)  # (66)


def tip_jacobian(leg: Leg) -> Array:
    """J_i, velocity of O_3 for the rates of the leg's joints, in world axes."""
    frames = _frames(leg.rows, leg.q)
    tip = frames[-1][1]
    columns = [R[:, 2] if row.sigma else hat(R[:, 2]) @ (tip - p) for row, (R, p) in zip(leg.rows, frames, strict=True)]
    return leg.R @ np.array(columns).T


def tip_drift(leg: Leg, qd: Array) -> Array:
    """J_i_dot qd_i: the acceleration of O_3 that the rates alone make, by (20), (21)."""
    w, wd, vd = np.zeros(3), np.zeros(3), np.zeros(3)
    for row, x, rate in zip(leg.rows, leg.q, qd, strict=True):
        R, p = transform(row, x)
        turn, slide = (0.0, rate) if row.sigma else (rate, 0.0)
        z = np.array([0.0, 0.0, 1.0])
        vd = R.T @ (vd + (hat(wd) + hat(w) @ hat(w)) @ p)
        w, wd = R.T @ w, R.T @ wd
        vd, wd = vd + 2.0 * slide * hat(w) @ z, wd + turn * hat(w) @ z
        w = w + turn * z
    return leg.R @ _frames(leg.rows, leg.q)[-1][0] @ vd


def _frames(rows: Sequence[KhalilRow], q: Array) -> list[tuple[Array, Array]]:
    """Orientations and origins of a chain's frames in its base's."""
    R, p, found = np.eye(3), np.zeros(3), []
    for row, x in zip(rows, q, strict=True):
        R_j, p_j = transform(row, x)
        R, p = R @ R_j, p + R @ p_j
        found.append((R, p))
    return found
