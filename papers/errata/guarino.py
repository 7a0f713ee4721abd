"""Generalised forces and their time derivatives after Guarino Lo Bianco, with the printed forms of his equations.

Modified DH, (3)-(21). Vectors with a dot are absolute derivatives, expressed in the link's frame. The letters are the
paper's: ga, io are angular acceleration and jerk, a and j those of the origin, (t1, t2, t3) and (d1, d2, d3) the
derivatives of theta and d.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from linkwise.formats.dh_rows import DHRow
from linkwise.robot.joint import KINDS
from linkwise.rotation import rot_x, rot_z
from linkwise.scalar import Scalar
from linkwise.spatial import symmetric
from linkwise.vector import EYE3, EZ, ZERO3, Mat3, Vec3, cross
from papers.errata.study import NOTHING, Form, Forms, Printed, chosen, same, second, zero

FORMS: Forms = {
    "(5)": (same, second),  # theta-dddot, theta-ddot
    "(8)": (same, second),  # d-dddot, d-ddot
    "before (8)": (same, second),  # d-ddot, d-dot
    "(17)": (
        lambda swing, d1, z, z_dot, f, f_dot: cross(swing + z * d1, f),
        lambda swing, d1, z, z_dot, f, f_dot: cross(swing + z_dot * d1, f_dot),
    ),
    "no gravity": (same, zero),
    "m w x g in F_dot": (zero, same),
}


class Link(NamedTuple):
    """A link on its parent, its angular velocity, rate of its d, and force and torque of inertia with their rates."""

    R: Mat3
    p: Vec3
    w: Vec3
    d1: Scalar
    F: Vec3
    F_dot: Vec3
    N: Vec3
    N_dot: Vec3


def force_rates(
    rows: Sequence[DHRow],
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    qddd: Sequence[Scalar],
    gravity: Vec3,
    printed: Printed = NOTHING,
) -> tuple[list[Scalar], list[Scalar]]:
    """tau and tau_dot, without load on the last link.

    Source: [GuarinoLoBianco] (3)-(21). He is silent about gravity; a_0 = -g, j_0 = 0 is exact.
    """
    form = chosen(FORMS, printed)
    links = _outwards(rows, list(zip(q, qd, qdd, qddd, strict=True)), gravity, form)
    return _inwards(rows, links, form)


def _outwards(rows: Sequence[DHRow], x: Sequence[Any], gravity: Vec3, form: dict[str, Form]) -> list[Link]:
    """Motion of each link, (3)-(9), and its force and torque of inertia, (10)-(13)."""
    w, ga, io, a, j, g = ZERO3, ZERO3, ZERO3, form["no gravity"](-gravity), ZERO3, gravity
    links = []
    for row, joint in zip(rows, x, strict=True):
        turns, still = KINDS[row.kind].turns, (0.0, 0.0, 0.0, 0.0)
        t0, t1, t2, t3 = joint if turns else still
        d0, d1, d2, d3 = still if turns else joint
        R = rot_x(row.alpha) @ rot_z(row.theta + t0)
        p = rot_x(row.alpha) @ Vec3(row.a, 0.0, row.d + d0)
        rw, rg = R.T @ w, R.T @ ga
        a = R.T @ (a + _acceleration(w, ga, p))
        j = R.T @ (j + _jerk(w, ga, io, p)) + EZ * form["(8)"](d3, d2) + cross(rg, EZ * (3.0 * d1))
        j = j + cross(rw, EZ * (3.0 * form["before (8)"](d2, d1)) + cross(rw, EZ * (3.0 * d1)))  # (8)
        io = R.T @ io + cross(rg, EZ * t1) + EZ * form["(5)"](t3, t2)
        io = io + cross(rw, EZ * (2.0 * t2) + cross(rw, EZ * t1))  # (5)
        w = rw + EZ * t1  # (3)
        ga = rg + cross(rw, EZ * t1) + EZ * t2  # (4)
        a = a + cross(w, EZ * (2.0 * d1)) + EZ * d2  # (6)
        g = R.T @ g

        m, c, I = row.mass, row.com, symmetric(*row.inertia)
        F = (a + _acceleration(w, ga, c)) * m  # (7), (10)
        F_dot = (j + _jerk(w, ga, io, c) + form["m w x g in F_dot"](cross(w, g))) * m  # (9), (12)
        N = I @ ga + cross(w, I @ w)  # (11)
        N_dot = cross(w, I @ ga) + I @ (cross(ga, w) + io) + cross(ga, I @ w) + cross(w, N)  # (13)
        links.append(Link(R, p, w, d1, F, F_dot, N, N_dot))
    return links


def _inwards(rows: Sequence[DHRow], links: Sequence[Link], form: dict[str, Form]) -> tuple[list[Scalar], list[Scalar]]:
    """What link i-1 exerts on link i and its rate, (14)-(17), and the parts along the joint, (18)-(21)."""
    f, n, f_dot, n_dot = ZERO3, ZERO3, ZERO3, ZERO3
    beyond = Link(EYE3, ZERO3, ZERO3, 0.0, ZERO3, ZERO3, ZERO3, ZERO3)
    tau: list[Scalar] = []
    tau_dot: list[Scalar] = []
    for row, link in zip(reversed(rows), reversed(links), strict=True):
        R, p, w, c = beyond.R, beyond.p, link.w, row.com
        f, n, f_dot, n_dot = R @ f, R @ n, R @ f_dot, R @ n_dot
        moved = form["(17)"](cross(w, p), beyond.d1, R @ EZ, R @ cross(beyond.w, EZ), f, f_dot)
        n_dot = n_dot + cross(cross(w, c), link.F) + cross(c, link.F_dot) + moved + cross(p, f_dot) + link.N_dot  # (17)
        n = n + cross(c, link.F) + cross(p, f) + link.N  # (15)
        f, f_dot = f + link.F, f_dot + link.F_dot  # (14), (16)
        x, x_dot = (n, n_dot) if KINDS[row.kind].turns else (f, f_dot)
        tau.insert(0, x.z)  # (18), (19)
        tau_dot.insert(0, (x_dot + cross(x, w)).z)  # (20), (21)
        beyond = link
    return tau, tau_dot


def _acceleration(w: Vec3, ga: Vec3, p: Vec3) -> Vec3:
    """Of a point p of a link, relative to its origin."""
    return cross(ga, p) + cross(w, cross(w, p))


def _jerk(w: Vec3, ga: Vec3, io: Vec3, p: Vec3) -> Vec3:
    """Of a point p of a link, relative to its origin."""
    return cross(io, p) + cross(ga, cross(w, p)) * 2.0 + cross(w, _acceleration(w, ga, p))
