"""Inverse and direct dynamics of trees after Khalil, on a fixed or a free base, with the printed forms.

Modified DH for trees. Link j hangs on i = a(j); link 0 is the base. Motions are [v of O_j; omega], with classical
accelerations, wrenches are [f; m] about O_j, and f_e is what a link exerts on the environment; T is jT_i.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from linkwise.formats.dh_rows import KhalilRow, Row
from linkwise.rotation import rot_x, rot_z
from linkwise.spatial import Inertia, Pose
from linkwise.vector import Vec3
from papers.errata.study import (
    NOTHING,
    Array,
    Form,
    Forms,
    Numbers,
    Printed,
    chosen,
    minus,
    same,
    second,
    zero,
)

Z = np.array([0.0, 0.0, 1.0])


class State(NamedTuple):
    """Positions and velocities of the joints, wrenches of the links on the environment, gravity and base rate."""

    q: Numbers
    qd: Numbers
    f_e: Array  # (n, 6)
    gravity: Array
    w_0: Array = np.zeros(3)


class Found(NamedTuple):
    """Accelerations and forces of the joints, and the acceleration of the base."""

    qdd: Array
    Gamma: Array
    V_dot_0: Array


FORMS: Forms = {
    "(1)": (same, zero),  # the last element
    "(8)": (same, minus),  # A^-1 (Gamma - H)
    "(15)": (same, second),  # omega of link i in frame j, in frame i
    "(19)": (same, second),  # omega of link j, that of link i
    "f_e": (same, minus),
    "(39)": (same, lambda T: np.eye(6)),  # {j}T_i, {i}T_i
    "(41)": (same, lambda T: T.T),
    "(72)": (same, zero),  # Ia of an elastic joint
    "(82)": (same, zero),  # friction
    "(96)": (same, minus),  # what the successors add
    "(97)": (lambda V, g: V + np.concatenate([g, 0.0 * g]), same),
    "after (97)": (minus, same),  # beta^c_0 as H_1 + A_12 qdd
    "(98)": (same, lambda T: np.eye(6)),  # {j}T_i, {j}T_j
    "(105)": (same, second),  # what a successor is added to: the sum so far, the link alone
    "(110)": (same, lambda T: np.eye(6)),  # {j}T_i, left out
}


def hat(a: Array) -> Array:
    """The matrix of a x, (24)."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def transform(row: KhalilRow, q: float) -> tuple[Array, Array]:
    """Rotation iR_j and position iP_j of a link's frame in its antecedent's, section 2.1."""
    theta, r = (row.theta + q, row.r) if row.sigma == 0 else (row.theta, row.r + q)
    X = Pose(rot_z(row.gamma), Vec3(0.0, 0.0, row.b)) @ Pose(rot_x(row.alpha)) @ Pose(p=Vec3(row.d, 0.0, 0.0))
    X = X @ Pose(rot_z(theta), Vec3(0.0, 0.0, r))
    return np.array(X.R), np.array(X.p)


def position(rows: Sequence[KhalilRow], q: Numbers, printed: Printed = NOTHING) -> Array:
    """Origin of the last frame of a serial robot in the base's, by matrices (1)."""
    last = chosen(FORMS, printed)["(1)"](1.0)
    T = np.eye(4)
    for row, x in zip(rows, q, strict=True):
        R, p = transform(row, x)
        T = T @ np.block([[R, p[:, None]], [np.zeros(3), last]])
    return T[:3, 3]


def inertia(row: Row) -> Array:
    """The 6 by 6 inertia matrix of a link about its origin, (11)."""
    body = Inertia.of(row.mass, row.com, row.inertia)
    MS = hat(np.array(body.mc))
    return np.block([[row.mass * np.eye(3), -MS], [MS, np.array(body.I_o)]])


def friction(row: KhalilRow, qd: float) -> float:
    return float(row.friction.torque(qd))


class Link(NamedTuple):
    """What the first pass leaves of a link."""

    i: int
    T: Array
    a: Array
    J: Array
    w: Array
    gamma: Array
    beta: Array


def inverse(rows: Sequence[KhalilRow], x: State, qdd: Numbers, printed: Printed = NOTHING) -> Array:
    """Joint forces of a tree on a fixed base.

    Source: [Khalil] (18)-(31). The wrenches accumulate from the tips inwards.
    """
    form, n = chosen(FORMS, printed), len(rows)
    w, wd, vd = [np.zeros(3)], [np.zeros(3)], [-x.gravity]
    place, f, m = [], [np.zeros(3)], [np.zeros(3)]
    for j, row in enumerate(rows, start=1):
        i, s = int(row.antecedent), float(row.sigma)
        R, p = transform(row, x.q[j - 1])
        w_i, rate, acceleration = R.T @ w[i], Z * x.qd[j - 1], Z * qdd[j - 1]
        U_i = hat(wd[i]) + hat(w[i]) @ hat(w[i])
        w.append(form["(19)"](w_i + (1.0 - s) * rate, w_i))  # (18), (19)
        wd.append(R.T @ wd[i] + (1.0 - s) * (acceleration + hat(w_i) @ rate))  # (20)
        vd.append(R.T @ (vd[i] + U_i @ p) + s * (acceleration + 2.0 * hat(w_i) @ rate))  # (21)
        J, e = inertia(row), form["f_e"](x.f_e[j - 1])
        MS, I, U = J[3:, :3], J[3:, 3:], hat(wd[j]) + hat(w[j]) @ hat(w[j])
        f.append(row.mass * vd[j] + U @ (row.mass * np.array(row.com)) + e[:3])  # (22), (26)
        m.append(I @ wd[j] + hat(w[j]) @ I @ w[j] + MS @ vd[j] + e[3:])  # (23), (27)
        place.append((i, R, p))
    for j in range(n, 0, -1):
        i, R, p = place[j - 1]
        f[i] = f[i] + R @ f[j]  # (28), (29)
        m[i] = m[i] + R @ m[j] + hat(p) @ R @ f[j]  # (30)
    return np.array(
        [
            (f[j] if row.sigma else m[j])[2] + row.armature * qdd[j - 1] + friction(row, x.qd[j - 1])  # (31)
            for j, row in enumerate(rows, start=1)
        ]
    )


def direct_by_inverse(rows: Sequence[KhalilRow], x: State, Gamma: Array, printed: Printed = NOTHING) -> Array:
    """Accelerations from columns of the inertia matrix, section 3.3.1.

    Source: [Khalil] (8).
    """
    n = len(rows)
    rest = State(x.q, [0.0] * n, 0.0 * x.f_e, 0.0 * x.gravity)
    A = np.array([inverse(rows, rest, e) for e in np.eye(n)]).T
    return chosen(FORMS, printed)["(8)"](np.linalg.solve(A, Gamma - inverse(rows, x, [0.0] * n)))


def hybrid(
    rows: Sequence[KhalilRow],
    x: State,
    given: Numbers,
    free: Sequence[bool],
    base: Row | None = None,
    printed: Printed = NOTHING,
) -> Found:
    """Accelerations of free joints, whose forces are given, and forces of driven ones, whose accelerations are.

    All free: the direct model. Elastic joints free, with the force -K (q - q_0) of their spring, the others driven:
    the inverse model with elastic joints. With a `base`, that body moves freely.

    Source: [Khalil] (34)-(44), (72)-(82), (101)-(112), which are cases of one recursion.
    """
    form, n = chosen(FORMS, printed), len(rows)
    links = first_pass(rows, x, form, base)
    J, beta = [k.J for k in links], [k.beta for k in links]  # of all links
    H: list[float] = [1.0] * (n + 1)
    K, alpha = [*J], [*beta]
    for j in range(n, 0, -1):
        row, k, value = rows[j - 1], links[j], given[j - 1]
        Ja = J[j] @ k.a
        if free[j - 1]:
            tau = value - friction(row, x.qd[j - 1])  # (44), (106)
            H[j] = k.a @ Ja + form["(72)"](row.armature)  # (36), (72), (103)
            K[j] = J[j] - np.outer(Ja, Ja) / H[j]  # (37), (73), (104)
            alpha[j] = K[j] @ k.gamma + Ja * (tau + k.a @ beta[j]) / H[j] - beta[j]  # (38), (74), (107)
        else:
            K[j], alpha[j] = J[j], J[j] @ k.gamma + Ja * value - beta[j]  # (75), (76)
        T = form["(39)"](k.T)
        beta[k.i] = form["(105)"](beta[k.i], links[k.i].beta) - T.T @ alpha[j]  # (39), (77), (108)
        J[k.i] = form["(105)"](J[k.i], links[k.i].J) + T.T @ K[j] @ T  # (40), (78), (105)

    V_dot = [np.linalg.solve(J[0], beta[0]) if base else np.concatenate([-x.gravity, np.zeros(3)])]  # (109)
    qdd, Gamma = np.zeros(n), np.zeros(n)
    for j, (row, k) in enumerate(zip(rows, links[1:], strict=True), start=1):
        X = form["(110)"](form["(41)"](k.T)) @ V_dot[k.i]
        resisting = friction(row, x.qd[j - 1])
        if free[j - 1]:
            force = given[j - 1] - resisting + k.a @ beta[j]
            qdd[j - 1], Gamma[j - 1] = (force - k.a @ J[j] @ (X + k.gamma)) / H[j], given[j - 1]  # (41), (80), (110)
        else:
            qdd[j - 1] = given[j - 1]
            f = K[j] @ X + alpha[j]  # (42), (79), (111)
            Gamma[j - 1] = k.a @ f + row.armature * qdd[j - 1] + form["(82)"](resisting)  # (82)
        V_dot.append(X + k.a * qdd[j - 1] + k.gamma)  # (43), (81), (112)
    return Found(qdd, Gamma, form["(97)"](V_dot[0], x.gravity) if base else V_dot[0])


def free_base_inverse(
    rows: Sequence[KhalilRow], x: State, qdd: Numbers, base: Row, printed: Printed = NOTHING
) -> tuple[Found, Array]:
    """Joint forces and the base's acceleration for given joint accelerations, and H_1 + A_12 qdd without gravity.

    Source: [Khalil] (89)-(100). Gravity, of which he does not speak, is added to the base's acceleration.
    """
    form, n = chosen(FORMS, printed), len(rows)
    links = first_pass(rows, x, form, base)
    zeta = [k.gamma + k.a * value for k, value in zip(links, [0.0, *qdd], strict=True)]  # (89)
    J, beta = [k.J for k in links], [k.beta for k in links]
    for j in range(n, 0, -1):
        i, T = links[j].i, links[j].T
        beta[i] = beta[i] + form["(96)"](T.T @ (beta[j] - J[j] @ zeta[j]))  # (96)
        J[i] = J[i] + T.T @ J[j] @ T  # (95)
    V_dot, Gamma = [np.linalg.solve(J[0], beta[0])], np.zeros(n)  # (97)
    for j, (row, k) in enumerate(zip(rows, links[1:], strict=True), start=1):
        V_dot.append(form["(98)"](k.T) @ V_dot[k.i] + zeta[j])  # (98)
        f = J[j] @ V_dot[j] - beta[j]  # (99)
        Gamma[j - 1] = k.a @ f + friction(row, x.qd[j - 1]) + row.armature * qdd[j - 1]  # (100)
    return Found(np.array(qdd), Gamma, form["(97)"](V_dot[0], x.gravity)), form["after (97)"](beta[0])


def first_pass(rows: Sequence[KhalilRow], x: State, form: dict[str, Form], base: Row | None) -> list[Link]:
    """What does not depend on accelerations, (13)-(17), (33)-(35), (90), (101), (102); the base's beta too."""
    J_0: Any = inertia(base) if base else np.zeros((6, 6))
    links = [Link(0, np.eye(6), np.zeros(6), J_0, x.w_0, np.zeros(6), -_gyration(J_0, x.w_0))]
    for j, row in enumerate(rows, start=1):
        i, s = int(row.antecedent), float(row.sigma)
        R, p = transform(row, x.q[j - 1])
        w, rate = links[i].w, Z * x.qd[j - 1]
        w_i = R.T @ w
        T = np.block([[R.T, -R.T @ hat(p)], [np.zeros((3, 3)), R.T]])  # (17)
        above = R.T @ hat(w) @ hat(w) @ p + 2.0 * s * hat(w_i) @ rate
        below = (1.0 - s) * hat(form["(15)"](w_i, w)) @ rate
        J, w_j = inertia(row), w_i + (1.0 - s) * rate
        beta = -x.f_e[j - 1] - _gyration(J, w_j)  # (33)
        a = np.array([0.0, 0.0, s, 0.0, 0.0, 1.0 - s])  # (16)
        links.append(Link(i, T, a, J, w_j, np.concatenate([above, below]), beta))  # (15), (34)
    return links


def _gyration(J: Array, w: Array) -> Array:
    """[w x (w x MS); w x J w]."""
    MS = np.array([J[5, 1], J[3, 2], J[4, 0]])
    return np.concatenate([hat(w) @ hat(w) @ MS, hat(w) @ J[3:, 3:] @ w])
