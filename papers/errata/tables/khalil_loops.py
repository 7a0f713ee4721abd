"""Closed mechanisms for the errata of Khalil: four- and five-bar linkages, and a Gough-Stewart platform."""

from __future__ import annotations

from cmath import phase
from dataclasses import replace
from math import pi
from typing import Any, NamedTuple

import numpy as np

from linkwise.algorithms.inverse_dynamics import inverse_dynamics
from linkwise.algorithms.kinematics import acceleration, jacobian
from linkwise.formats.dh import khalil as tree_of
from linkwise.formats.dh_rows import KhalilRow, Row
from linkwise.robot.joint import Joint
from linkwise.robot.link import Link
from linkwise.robot.robot import Robot
from linkwise.rotation import from_quaternion
from papers.errata import khalil_loops
from papers.errata.draw import Draw
from papers.errata.khalil import hat
from papers.errata.khalil_loops import Leg, Mechanism, Platform
from papers.errata.study import Array, Printed, Study

# ---- linkages


class Case(NamedTuple):
    """A linkage, its position, rates and accelerations of the active joints, and gravity."""

    loop: Mechanism
    q: Array
    qd: Array
    qdd: Array
    gravity: Array


def four_bar(seed: int) -> Case:
    draw = Draw(seed)
    lengths = [draw.uniform(0.4, 0.9) for _ in range(3)]
    return linkage(draw, lengths, [draw.uniform(0.5, 1.5), draw.uniform(-1.2, -0.4), draw.uniform(1.5, 2.5)], [0])


def five_bar(seed: int) -> Case:
    """Two arms of one build, one the mirror image of the other but for its posture, driven at their feet."""
    draw = Draw(seed)
    upper, lower = draw.uniform(0.4, 0.6), draw.uniform(0.6, 0.8)
    (a, b), (c, d) = ((draw.uniform(1.8, 2.2), draw.uniform(-1.2, -0.8)) for _ in range(2))
    return linkage(draw, [upper, lower, upper, lower], [a, b, pi - c, -d], [0, 2])


def uneven_five_bar(seed: int) -> Case:
    draw = Draw(seed)
    lengths = [draw.uniform(0.4, 0.9) for _ in range(4)]
    q = [draw.uniform(0.5, 1.5), draw.uniform(0.5, 1.5), draw.uniform(1.5, 2.5), draw.uniform(1.5, 2.5)]
    return linkage(draw, lengths, q, [0, 2])


def linkage(draw: Draw, lengths: list[float], position: list[float], active: list[int]) -> Case:
    """Two links and the rest; the rest stands where it has to for the tips to meet."""
    n, q = len(lengths), np.array(position)
    chains = (0, 1), tuple(range(2, n))
    tips = [sum(lengths[k] * np.exp(1j * q[list(c[: e + 1])].sum()) for e, k in enumerate(c)) for c in chains]
    foot = complex(tips[0] - tips[1])
    placed = [(0, 0.0, 0.0), (1, 0.0, lengths[0]), (0, phase(foot), abs(foot)), (3, 0.0, lengths[2])]
    rows = [KhalilRow(a, 0, angle, 0.0, 0.0, d, -angle, 0.0, **draw.body()) for a, angle, d in placed[:n]]
    qd, qdd = (np.array(draw.numbers(len(active), size)) for size in (2.0, 3.0))
    return Case(Mechanism(rows, chains, lengths, active), q, qd, qdd, np.array([0.0, -9.81, 0.0]))


def evaluate_loop(case: Case, quantity: str, printed: Printed) -> Array:
    Gamma = khalil_loops.loop_inverse(*case, printed)
    return Gamma if quantity == "Gamma" else khalil_loops.loop_direct(*case[:3], Gamma, case.gravity)


def truth_loop(case: Case) -> dict[str, Any]:
    """Forces of the active joints and of the cut one together balance what Linkwise finds for the tree."""
    loop, q, qd_a, qdd_a, gravity = case
    qd, qdd, _ = loop.dependent(q, qd_a, qdd_a)
    tau = inverse_dynamics.plain(tree_of(loop.rows, gravity=gravity), list(q), list(qd), list(qdd))
    J, _ = loop.closure(q, qd)
    found = np.linalg.solve(np.hstack([np.eye(len(q))[:, loop.active], J.T]), tau)
    return {"Gamma": found[: len(loop.active)], "qdd": qdd_a}


def linkages() -> Study[Case]:
    return Study([four_bar(1), five_bar(2)], evaluate_loop, truth_loop)


def five_bars() -> Study[Case]:
    return Study([five_bar(2), five_bar(3)], evaluate_loop, truth_loop)


def uneven_five_bars() -> Study[Case]:
    return Study([uneven_five_bar(2), uneven_five_bar(3)], evaluate_loop, truth_loop)


# ---- platform


class Hexapod(NamedTuple):
    """A platform, and its orientation as a quaternion."""

    robot: Platform
    quaternion: list[float]


def hexapod(seed: int) -> Hexapod:
    draw = Draw(seed)
    quaternion = [*draw.numbers(3, 0.2), 1.0]
    turn: Array = np.array(from_quaternion(*quaternion))
    legs = []
    for k in range(6):
        angle = k * pi / 3.0 + draw.uniform(-0.3, 0.3)
        P = turn @ np.array([0.5 * np.cos(angle), 0.5 * np.sin(angle), draw.uniform(-0.05, 0.05)])
        q = [draw.uniform(-0.5, 0.5), draw.uniform(-0.5, 0.5), draw.uniform(0.6, 1.0)]
        legs.append(Leg(leg_rows(draw), np.array(draw.rotation()), np.array(q), P))
    V, V_dot = (np.array([*draw.vector(1.0), *draw.vector(2.0)]) for _ in range(2))
    robot = Platform(Row(**draw.body()), turn, V, V_dot, legs, np.array([0.0, 0.0, -9.81]))
    return Hexapod(robot, quaternion)


def leg_rows(draw: Draw) -> list[KhalilRow]:
    """A universal joint, and a slide across its second axis."""
    geometry = ((0, 0, 0.0), (1, 0, pi / 2), (2, 1, pi / 2))
    rows = [KhalilRow(a, s, 0.0, 0.0, alpha, 0.0, 0.0, 0.0, **draw.body()) for a, s, alpha in geometry]
    return [rows[0], replace(rows[1], theta=pi / 2), rows[2]]


def evaluate_platform(case: Hexapod, quantity: str, printed: Printed) -> Array:
    return khalil_loops.platform_inverse(case.robot, printed)


def truth_platform(case: Hexapod) -> dict[str, Any]:
    """Slides and forces at the spherical joints together balance what Linkwise finds for legs and body alone."""
    robot = case.robot
    equations, known = np.zeros((24, 24)), np.zeros(24)
    for k, leg in enumerate(robot.legs):
        tau, J = leg_alone(robot, leg)
        rows, joint = slice(3 * k, 3 * k + 3), slice(6 + 3 * k, 9 + 3 * k)
        known[rows] = tau
        equations[3 * k + 2, k] = 1.0
        equations[rows, joint] = J.T
        equations[18:21, joint] = -np.eye(3)
        equations[21:24, joint] = -hat(leg.P)
    known[18:] = body_alone(case)
    return {"Gamma": np.linalg.solve(equations, known)[:6]}


def leg_alone(robot: Platform, leg: Leg) -> tuple[Array, Array]:
    """Joint forces of a leg that follows the platform, and the Jacobian of its tip in world axes."""
    alone, q = tree_of(leg.rows), list(leg.q)
    v, w = robot.V[:3], robot.V[3:]
    v_dot, w_dot = robot.V_dot[:3], robot.V_dot[3:]
    J = leg.R @ np.reshape(jacobian.plain(alone, q, frame="link3"), (6, 3))[:3]
    qd = np.linalg.solve(J, v + np.cross(w, leg.P))
    drift = leg.R @ acceleration.plain(alone, q, list(qd), [0.0] * 3, frame="link3")[:3]
    qdd = np.linalg.solve(J, v_dot + np.cross(w_dot, leg.P) + np.cross(w, np.cross(w, leg.P)) - drift)
    return np.array(inverse_dynamics.plain(alone, q, list(qd), list(qdd), gravity=list(leg.R.T @ robot.gravity))), J


def body_alone(case: Hexapod) -> Array:
    """The wrench on the platform about its origin, in world axes."""
    robot = case.robot
    body = Link("body", robot.body.mass, robot.body.com, robot.body.inertia)
    alone = Robot([Link("world"), body], [Joint("root", "world", "body", "floating")], gravity=robot.gravity)
    v, w = robot.V[:3], robot.V[3:]
    own = [*(robot.R.T @ (robot.V_dot[:3] - np.cross(w, v))), *(robot.R.T @ robot.V_dot[3:])]
    q, qd = [0.0, 0.0, 0.0, *case.quaternion], [*(robot.R.T @ v), *(robot.R.T @ w)]
    tau = inverse_dynamics.plain(alone, q, qd, own)
    return np.concatenate([robot.R @ tau[:3], robot.R @ tau[3:]])


def platforms() -> Study[Hexapod]:
    return Study([hexapod(1), hexapod(2)], evaluate_platform, truth_platform)
