"""Errata of Nasser."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from linkwise.algorithms.inverse_dynamics import inverse_dynamics
from linkwise.algorithms.mass_matrix import mass_matrix
from linkwise.robot.link import Link
from linkwise.robot.robot import Robot
from linkwise.rotation import rot_x, rot_z
from linkwise.spatial import Pose
from linkwise.vector import EZ, Mat3, Vec3
from papers.errata import nasser
from papers.errata.draw import Draw
from papers.errata.erratum import Erratum
from papers.errata.nasser import State, Tree
from papers.errata.study import Array, Printed, Study

E = partial(Erratum, "Nasser")
NAME_ONLY = "a name or an index, no other value"


class Case(NamedTuple):
    """A tree and its state."""

    tree: Tree
    x: State


def case(seed: int, kinds: str, parents: list[int] | None = None, armature: float = 0.2) -> Case:
    """A robot, serial unless parents are given; branches leave a parent in any direction."""
    draw, n = Draw(seed), len(kinds)
    hung = parents or list(range(-1, n - 1))
    straight = (np.eye(3), np.zeros(3))
    branches = [
        (np.array(draw.rotation()), np.array(draw.vector(0.4))) if p in hung[:i] else straight
        for i, p in enumerate(hung)
    ]
    rows = draw.dh(kinds, armature)
    F, N = (np.array([draw.vector(size) for _ in rows]) for size in (8.0, 2.0))
    q, qd, control = draw.numbers(n, 2.0), draw.numbers(n, 2.0), draw.numbers(n, 20.0)
    x = State(q, qd, control, F, N, np.array(draw.unit() * 9.81))
    return Case(Tree(rows, hung, branches), x)


def evaluate(case: Case, quantity: str, printed: Printed) -> Array:
    return nasser.forward_dynamics(*case, printed)


def truth(case: Case) -> dict[str, Any]:
    """The same by inertia matrix and bias."""
    x, robot = case.x, robot_of(case)
    loads = {
        f"link{k}": [*F, *(N + np.cross(row.com, F))]
        for k, (row, F, N) in enumerate(zip(case.tree.rows, x.F_E, x.N_E, strict=True), start=1)
    }
    n = robot.nv
    bias = inverse_dynamics.plain(robot, x.q, x.qd, [0.0] * n, external=loads)
    return {"qdd": np.linalg.solve(np.reshape(mass_matrix.plain(robot, x.q), (n, n)), np.array(x.control) - bias)}


def robot_of(case: Case) -> Robot:
    links, joints = [Link("base")], []
    for k, (row, p, (R, off)) in enumerate(zip(*case.tree, strict=True), start=1):
        X = Pose(rot_z(row.theta), EZ * row.d) @ Pose(rot_x(row.alpha), Vec3(row.a, 0.0, 0.0))
        hung = Pose(Mat3.of(R), Vec3(*off)) @ X
        parent = f"link{p + 1}" if p >= 0 else "base"
        joints.append(row.joint(k, parent, row.kind, hung, axis=X.R.T @ EZ, anchor=X.inverse().p))
        links.append(row.link(k))
    return Robot(links, joints, gravity=case.x.gravity)


def serial() -> Study[Case]:
    return Study([case(1, "RRRRRR"), case(2, "RPRRP"), case(3, "RRPR")], evaluate, truth)


def branched() -> Study[Case]:
    return Study([case(4, "RRPRRR", [-1, 0, 1, 0, 3, 3]), case(5, "RRRPRR", [-1, 0, 1, 0, 3, 3])], evaluate, truth)


def table() -> list[Erratum]:
    """The errata, in the order of the paper."""
    chain, tree = serial().error, branched().error
    exact, exact_tree = chain("qdd"), tree("qdd")
    return [
        E(
            "list under figure 2-1", "O", "f_i^c in the i+1 frame; lines of n interleaved", "in the i-1 frame", None,
            NAME_ONLY,
        ),
        E(
            "(2.1.2), (2.1.5.2), (2.1.5.3)", "OK", "in doubt", "as printed", exact,
            "qdd with external loads and prismatic joints",
        ),
        E(
            "(2.1.3), (2.2.4)", "M", "... - f_i+1^c + F^E", "... + f_i+1^c - F^E, as in (2.1.7.6)",
            chain("qdd", "(2.1.3)"), "qdd with external loads and prismatic joints",
        ),
        E(
            "(2.1.6), (2.1.12), text of (2.1.20)", "O", "theta_dot", "theta_ddot", None,
            "(2.1.7.1) has the unknown right",
        ),
        E(
            "(2.1.7.2), (2.1.7.4), (2.1.13.3)", "OK", "signs and the J_a term in doubt", "as printed", exact,
            "qdd with actuator inertia",
        ),
        E(
            "(2.1.13), second", "A", "no number", "(q_i)_i-1 = P_i^T (q_i-1 + sigma + sigma*)", None,
            "the formula itself is right",
        ),
        E(
            "(2.1.13.2)", "M", "lower block - w_i-1 x z theta_dot", "+ w_i-1 x z theta_dot", chain("qdd", "(2.1.13.2)"),
            "qdd",
        ),
        E(
            "gamma, gamma_i+1", "A", "never defined", "1 - (1 + J_a) Z Z^T", chain("qdd", "gamma"),
            f"qdd with gamma = 1 - Z Z^T, right only for J_a = 0; with gamma = 1 {chain('qdd', 'gamma = 1'):.2g}",
        ),
        E("(2.1.10)", "O", "q_N-1", "q_N-1,N-1", None, NAME_ONLY),
        E("text before (2.1.19)", "M", "equation (2.1.18) for i = N-1", "(2.1.7.3)", None, NAME_ONLY),
        E("(2.1.14)-(2.1.19.7)", "OK", "in doubt", "as printed, with (2.1.13.2) and gamma right", exact, "qdd"),
        E("(2.1.20)", "O", "subscript g", "2", None, NAME_ONLY),
        E("(2.2.1)", "O", "y_i*", "r_i*", None, NAME_ONLY),
        E(
            "(2.2.4), second row", "O", "beta' + f' x beta' - N^t", "beta*' + r* x beta' - N^t", None,
            "f' is not defined",
        ),
        E("(2.2.7)", "O", "5 entries", "[0 0 1 0 0 0]^T", None, "does not fit a 6-vector"),
        E(
            "(2.3.3), (2.3.4)", "A", "the same definition for every branch",
            "P, R, sigma* and control forces of each branch", tree("qdd", "(2.3.3)"),
            f"qdd of trees with P and R of the first branch for all; with its own each {exact_tree:.0e}",
        ),
        E(
            "gravity", "A", "not mentioned", "base acceleration -g, or F^E = m g", chain("qdd", "no gravity"),
            "qdd without gravity",
        ),
        E("note to figure A-2", "M", "aligned axes imply theta_i = 0", "phi_i = 0", None, NAME_ONLY),
        E(
            "operation count", "A", "258N-119 multiplications, 191N-83 additions", "not derivable from the text", None,
            "a count depends on how terms are shared",
        ),
    ]  # fmt: skip
