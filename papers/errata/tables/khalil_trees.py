"""Trees for the errata of Khalil: on a fixed base, with elastic joints, on a free base."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from linkwise.algorithms.inverse_dynamics import inverse_dynamics
from linkwise.algorithms.kinematics import pose
from linkwise.algorithms.mass_matrix import mass_matrix
from linkwise.formats.dh import khalil as tree_of
from linkwise.formats.dh_rows import KhalilRow, Row
from linkwise.robot.drive import Friction
from linkwise.robot.joint import Joint
from linkwise.robot.link import Link
from linkwise.robot.robot import Robot
from papers.errata import khalil
from papers.errata.draw import Draw
from papers.errata.khalil import State
from papers.errata.study import Array, Printed, Study

TREE = (0, 1, 2, 1, 4, 4)  # antecedents
CHAIN = (0, 1, 2, 3)


class Case(NamedTuple):
    """A tree and its state, joint accelerations and forces, which joints are elastic, and a free base or none."""

    rows: list[KhalilRow]
    x: State
    qdd: Array
    Gamma: Array
    soft: list[bool]
    base: Row | None


def case(seed: int, kinds: str, antecedents: tuple[int, ...], *, soft: str = "", floats: bool = False) -> Case:
    """`soft` names the elastic joints by an "E" in their place."""
    draw, n = Draw(seed), len(kinds)
    rows = draw.khalil(kinds, antecedents, armature=0.2, friction=0.5)
    elastic = [k == "E" for k in soft] or [False] * n
    rows = [replace(row, friction=Friction()) if e else row for row, e in zip(rows, elastic, strict=True)]
    f_e = np.array([[*draw.vector(8.0), *draw.vector(2.0)] for _ in rows])
    q, qd, qdd, Gamma = (draw.numbers(n, size) for size in (2.0, 2.0, 3.0, 10.0))
    x = State(q, qd, f_e, np.array(draw.unit() * 9.81))
    base = Row(**draw.body()) if floats else None
    if floats:
        x = x._replace(w_0=np.array(draw.vector(1.5)))
    return Case(rows, x, np.array(qdd), np.array(Gamma), elastic, base)


def robot_of(case: Case) -> Robot:
    return tree_of(case.rows, gravity=case.x.gravity)


def on_links(case: Case) -> dict[str, Array]:
    """Wrenches of the environment on the links."""
    return {f"link{j}": -w for j, w in enumerate(case.x.f_e, start=1)}


def model(robot: Robot, q: Any, qd: Any, f_ext: Any, **options: Any) -> tuple[Array, Array]:
    """M and bias."""
    n = robot.nv
    bias = inverse_dynamics.plain(robot, q, qd, [0.0] * n, external=f_ext, **options)
    return np.reshape(mass_matrix.plain(robot, q), (n, n)), np.array(bias)


# ---- fixed base


def evaluate_fixed(case: Case, quantity: str, printed: Printed) -> Any:
    rows, x = case.rows, case.x
    if quantity == "Gamma":
        return khalil.inverse(rows, x, case.qdd, printed)
    if quantity == "qdd by A and H":
        return khalil.direct_by_inverse(rows, x, case.Gamma, printed)
    if quantity == "position":
        return khalil.position(rows, x.q, printed)
    return khalil.hybrid(rows, x, case.Gamma, [True] * len(rows), printed=printed).qdd


def truth_fixed(case: Case) -> dict[str, Any]:
    robot = robot_of(case)
    M, bias = model(robot, case.x.q, case.x.qd, on_links(case))
    qdd = np.linalg.solve(M, case.Gamma - bias)
    last = pose.plain(robot, list(case.x.q), frame=f"link{len(case.rows)}")
    return {"Gamma": M @ case.qdd + bias, "qdd by A and H": qdd, "qdd": qdd, "position": [last[3], last[7], last[11]]}


def fixed() -> Study[Case]:
    cases = [case(1, "RRPRRR", TREE), case(2, "PRRRPR", TREE), case(3, "RRRRRR", TREE)]
    return Study(cases, evaluate_fixed, truth_fixed)


def serial() -> Study[Case]:
    return Study([case(4, "RRRR", CHAIN), case(5, "RPRR", CHAIN)], evaluate_fixed, truth_fixed)


# ---- elastic joints: their forces are given, and the accelerations of the others


def evaluate_elastic(case: Case, quantity: str, printed: Printed) -> Any:
    given = np.where(case.soft, case.Gamma, case.qdd)
    found = khalil.hybrid(case.rows, case.x, given, case.soft, printed=printed)
    return found.qdd[case.soft] if quantity == "qdd" else found.Gamma[~np.array(case.soft)]


def truth_elastic(case: Case) -> dict[str, Any]:
    M, bias = model(robot_of(case), case.x.q, case.x.qd, on_links(case))
    e = np.array(case.soft)
    qdd = case.qdd.copy()
    qdd[e] = np.linalg.solve(M[np.ix_(e, e)], case.Gamma[e] - bias[e] - M[np.ix_(e, ~e)] @ case.qdd[~e])
    return {"qdd": qdd[e], "Gamma": (M @ qdd + bias)[~e]}


def elastic() -> Study[Case]:
    cases = [case(6, "RRPRRR", TREE, soft="RERRER"), case(7, "RRRRRR", TREE, soft="EREREE")]
    return Study(cases, evaluate_elastic, truth_elastic)


# ---- free base


def evaluate_free(case: Case, quantity: str, printed: Printed) -> Any:
    rows, x, base = case.rows, case.x, case.base
    assert base
    if quantity in ("qdd", "V_dot_0"):
        return getattr(khalil.hybrid(rows, x, case.Gamma, [True] * len(rows), base, printed), quantity)
    found, H = khalil.free_base_inverse(rows, x, case.qdd, base, printed)
    return {"Gamma": found.Gamma, "V_dot_0 of the inverse": found.V_dot_0, "H_1 + A_12 qdd": H}[quantity]


def truth_free(case: Case) -> dict[str, Any]:
    """The same by a floating joint, at rest but for its rotation, in the base's axes."""
    assert case.base
    body = Link("base", case.base.mass, case.base.com, case.base.inertia)
    robot = robot_of(case).replace(body).add(Link("world"), Joint("root", "world", "base", "floating"))
    q, qd = [0.0] * 6 + [1.0, *case.x.q], [0.0] * 3 + [*case.x.w_0, *case.x.qd]
    M, bias = model(robot, q, qd, on_links(case))
    _, still = model(robot, q, qd, on_links(case), gravity=[0.0] * 3)
    V = np.linalg.solve(M[:6, :6], -bias[:6] - M[:6, 6:] @ case.qdd)
    direct = np.linalg.solve(M, np.concatenate([np.zeros(6), case.Gamma]) - bias)
    return {
        "Gamma": M[6:, :6] @ V + M[6:, 6:] @ case.qdd + bias[6:],
        "V_dot_0 of the inverse": V,
        "H_1 + A_12 qdd": still[:6] + M[:6, 6:] @ case.qdd,
        "qdd": direct[6:],
        "V_dot_0": direct[:6],
    }


def free() -> Study[Case]:
    cases = [case(8, "RRPRRR", TREE, floats=True), case(9, "RRRRRR", TREE, floats=True)]
    return Study(cases, evaluate_free, truth_free)


def free_serial() -> Study[Case]:
    return Study([case(10, "RRRR", CHAIN, floats=True)], evaluate_free, truth_free)
