"""Forward dynamics after Nasser, by 6 by 6 matrices inbound and outbound, with the printed forms of his equations.

Standard DH. Everything of link i is in frame i-1, which is fixed to the parent and has z along joint i; r runs from
O_i-1 to the centre of gravity, P from O_i-1 to where the next joint is. Links count from 0 here, the paper's 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from linkwise.formats.dh_rows import DHRow
from linkwise.robot.joint import KINDS
from linkwise.rotation import rot_x, rot_z
from linkwise.spatial import symmetric
from papers.errata.khalil import hat
from papers.errata.study import NOTHING, Array, Form, Forms, Printed, chosen, minus, same, second, zero

Z3 = np.array([0.0, 0.0, 1.0])


class Tree(NamedTuple):
    """Links by rows of DH, the parent of each (-1 for the base), and how the branch it is on leaves its parent.

    A branch is a rotation and an offset from the parent's DH frame to the frame i-1 of the joint.
    """

    rows: Sequence[DHRow]
    parents: Sequence[int]
    branches: Sequence[tuple[Array, Array]]


class State(NamedTuple):
    """Positions, velocities, control forces; forces and torques on the links at their cg, in link axes; gravity."""

    q: Sequence[float]
    qd: Sequence[float]
    control: Sequence[float]
    F_E: Array
    N_E: Array
    gravity: Array


FORMS: Forms = {
    "(2.1.3)": (same, minus),  # f^c of the next joint less F^E
    "(2.1.13.2)": (same, minus),  # w x z theta_dot in sigma*
    "gamma": (
        lambda Z, Ja: np.eye(6) - (1.0 + Ja) * np.outer(Z, Z),
        lambda Z, Ja: np.eye(6) - np.outer(Z, Z),
    ),
    "gamma = 1": (same, lambda gamma: np.eye(6)),
    "(2.3.3)": (same, second),  # the branch of a link, that of its first sibling
    "no gravity": (same, zero),
}


class Link(NamedTuple):
    """What does not depend on accelerations."""

    R: Array  # R_i-1,i
    P: Array
    w: Array  # of link i, in frame i-1
    k: Array  # w_i-1 x z theta_dot
    A: Array
    inertial: tuple[Array, Array]  # beta, beta*
    r: Array
    turns: bool

    @property
    def Z(self) -> Array:
        return np.eye(6)[5 if self.turns else 2]


def forward_dynamics(tree: Tree, x: State, printed: Printed = NOTHING) -> Array:
    """Accelerations of the joints for given control forces.

    Source: [Nasser] (2.1.1)-(2.1.20), (2.2.1)-(2.2.7), (2.3.1)-(2.3.4). gamma, which he does not define, drops the
    acceleration from U; the base accelerates by -g.
    """
    form, n = chosen(FORMS, printed), len(tree.rows)
    children = [[c for c in range(n) if tree.parents[c] == i] for i in range(n)]
    branch = [form["(2.3.3)"](tree.branches[i], tree.branches[_first(tree, i)]) for i in range(n)]
    links: list[Link] = []
    for i in range(n):
        up = links[tree.parents[i]] if tree.parents[i] >= 0 else None
        w = branch[i][0].T @ up.R.T @ up.w if up else np.zeros(3)
        links.append(_link(tree.rows[i], x.q[i], x.qd[i], w))

    # inbound, (2.1.7)-(2.1.19)
    A, B = [k.A for k in links], [_loads(i, links, children[i], branch, x, form) for i in range(n)]
    G = [np.eye(6)] * n
    for i in reversed(range(n)):
        link, Ja = links[i], tree.rows[i].armature
        ZZ = np.outer(link.Z, link.Z)
        G[i] = np.linalg.inv(np.eye(6) - ZZ - A[i] @ ZZ - Ja * ZZ)  # (2.1.7.2), (2.1.11), (2.1.19.1)
        p = tree.parents[i]
        if p >= 0:
            turn, off = _hung(links[p], branch[i])
            R6, Pt = np.kron(np.eye(2), turn), _moved(off)
            gamma = form["gamma = 1"](form["gamma"](link.Z, Ja))
            A_p = Pt @ R6 @ gamma @ G[i] @ A[i] @ R6.T @ Pt.T  # (2.1.14), (2.1.15), (2.1.19.4)
            A[p] = A[p] + A_p  # (2.3.3)
            B[p] = B[p] + Pt @ R6 @ gamma @ G[i] @ B[i] + A_p @ _sigma(links[p], off, form)  # (2.1.19.6), (2.3.4)

    # outbound, (2.1.13), (2.1.20)
    qdd = np.zeros(n)
    moved: list[Array] = []
    base = np.concatenate([form["no gravity"](-x.gravity), np.zeros(3)])
    for i, link in enumerate(links):
        p = tree.parents[i]
        before = base
        if p >= 0:
            turn, off = _hung(links[p], branch[i])
            arrived = _moved(off).T @ (moved[p] + links[p].Z * qdd[p] + _sigma(links[p], off, form))
            before = np.kron(np.eye(2), turn).T @ arrived
        qdd[i] = link.Z @ G[i] @ (A[i] @ before + B[i])
        moved.append(before)
    return qdd


def _link(row: DHRow, q: float, qd: float, w: Array) -> Link:
    """Kinematics and inertia of a link whose parent turns by w, (2.1.3)-(2.1.7.4), (2.2.1), (2.2.2), (A.1)."""
    turns = KINDS[row.kind].turns
    theta, s = (row.theta + q, row.d) if turns else (row.theta, row.d + q)
    R = np.array(rot_z(theta) @ rot_x(row.alpha))
    P = np.array([row.a * np.cos(theta), row.a * np.sin(theta), s])
    r, J, m = P + R @ np.array(row.com), R @ np.array(symmetric(*row.inertia)) @ R.T, row.mass
    k = hat(w) @ Z3 * qd
    w_i = w + Z3 * qd * float(turns)
    centrifugal = hat(w_i) @ hat(w_i) @ r
    beta = m * (centrifugal + (hat(k) @ r if turns else 2.0 * k))  # (2.1.3.2), (2.2.1)
    beta_star = J @ k * float(turns) + hat(w_i) @ J @ w_i  # (2.1.6.2), (2.2.2)
    A = np.block([[m * np.eye(3), -m * hat(r)], [m * hat(r), J - m * hat(r) @ hat(r)]])  # (2.1.7.4)
    return Link(R, P, w_i, k, A, (beta, beta_star), r, turns)


def _loads(
    i: int, links: list[Link], children: list[int], branch: list[tuple[Array, Array]], x: State, form: dict[str, Form]
) -> Array:
    """B of a link, (2.1.5.3), (2.1.7.6), (2.2.4)."""
    link = links[i]
    beta, beta_star = link.inertial
    own = Z3 * x.control[i]
    f, n = (0.0 * own, own) if link.turns else (own, 0.0 * own)
    F_E, N_E = link.R @ x.F_E[i], link.R @ x.N_E[i]
    f_next, N = np.zeros(3), N_E + hat(link.r) @ F_E + n
    for c in children:
        turn, off = _hung(link, branch[c])
        force = turn @ Z3 * x.control[c]
        if links[c].turns:
            N = N - force
        else:
            f_next, N = f_next + force, N - hat(off) @ force
    return np.concatenate([beta - f + form["(2.1.3)"](f_next - F_E), beta_star + hat(link.r) @ beta - N])


def _sigma(link: Link, off: Array, form: dict[str, Form]) -> Array:
    """sigma* of a link for one of its branches, (2.1.13.2), (2.2.6)."""
    swing = hat(link.w) @ hat(link.w) @ off
    if link.turns:
        return np.concatenate([swing, form["(2.1.13.2)"](link.k)])
    return np.concatenate([swing + 2.0 * link.k, np.zeros(3)])


def _hung(link: Link, branch: tuple[Array, Array]) -> tuple[Array, Array]:
    """Rotation to the frame of a branch, and its offset from O_i-1."""
    return link.R @ branch[0], link.P + link.R @ branch[1]


def _moved(off: Array) -> Array:
    """P_i, whose transpose is (2.1.13.3)."""
    return np.block([[np.eye(3), np.zeros((3, 3))], [hat(off), np.eye(3)]])


def _first(tree: Tree, i: int) -> int:
    return tree.parents.index(tree.parents[i])
