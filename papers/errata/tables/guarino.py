"""Errata of Guarino Lo Bianco."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from linkwise.algorithms.inverse_dynamics import inverse_dynamics
from linkwise.formats.dh import modified_dh
from linkwise.formats.dh_rows import DHRow
from linkwise.scalar import Scalar
from linkwise.vector import Vec3
from papers.errata.draw import Draw
from papers.errata.erratum import Erratum
from papers.errata.guarino import force_rates
from papers.errata.study import Printed, Study

STEP = 1e-40  # of a complex step, which has no round-off
E = partial(Erratum, "GuarinoLoBianco")


class Case(NamedTuple):
    """A robot, its position and three derivatives, and gravity."""

    rows: list[DHRow]
    x: tuple[list[float], list[float], list[float], list[float]]
    gravity: Vec3


def case(seed: int, kinds: str) -> Case:
    draw, n = Draw(seed), len(kinds)
    rows = draw.dh(kinds)
    x = (draw.numbers(n, 2.0), draw.numbers(n, 2.0), draw.numbers(n, 3.0), draw.numbers(n, 8.0))
    return Case(rows, x, draw.unit() * 9.81)


def evaluate(case: Case, quantity: str, printed: Printed) -> list[Scalar]:
    tau, tau_dot = force_rates(case.rows, *case.x, case.gravity, printed)
    return {"tau": tau, "tau_dot": tau_dot}[quantity]


def truth(case: Case) -> dict[str, Any]:
    """Inverse dynamics, and its derivative along the motion."""
    robot = modified_dh(case.rows, gravity=case.gravity)
    along = [[a + 1j * STEP * b for a, b in zip(*pair, strict=True)] for pair in pairwise(case.x)]
    tau_dot = [x.imag / STEP for x in inverse_dynamics.plain(robot, *along)]
    return {"tau": inverse_dynamics.plain(robot, *case.x[:3]), "tau_dot": tau_dot}


def study() -> Study[Case]:
    return Study([case(1, "RRPRRR"), case(2, "RPRR"), case(3, "PRP"), case(4, "PRRPR")], evaluate, truth)


def end_jerk() -> float:
    """The jerk of the quintic 10 s^3 - 15 s^4 + 6 s^5 at its ends, over its largest."""
    s = np.linspace(0.0, 1.0, 1001)
    jerk = np.abs(60.0 - 360.0 * s + 360.0 * s**2)
    return float(max(jerk[0], jerk[-1]) / jerk.max())


def table() -> list[Erratum]:
    """The errata, in the order of the paper."""
    error = study().error
    exact = max(error("tau"), error("tau_dot"))
    turned = error("tau_dot", "m w x g in F_dot")
    silent = f"tau without gravity; a_0 = -g is exact, adding m w x g to F_dot is off by {turned:.2g}"
    return [
        E(
            "section II", "O", "R(i,i+1) = R(i,i+1)^T", "R(i,i+1) = R(i+1,i)^T", None,
            "the matrix itself is printed right",
        ),
        E("(5), (26), (28)", "O", "theta_ddot z as third term", "theta_dddot z", error("tau_dot", "(5)"), "tau_dot"),
        E("(8)", "O", "d_ddot z as first joint term", "d_dddot z", error("tau_dot", "(8)"), "tau_dot"),
        E("line before (8)", "O", "3 d_dot w x z", "3 d_ddot w x z", error("tau_dot", "before (8)"), "tau_dot"),
        E(
            "(17)", "O/M", "(w x p + d_dot z_dot) x R f_dot", "(w x p + d_dot z) x R f", error("tau_dot", "(17)"),
            "tau_dot; z_dot read as the rate of the unit vector",
        ),
        E(
            "(18)-(21)", "O", "one formula three times",
            "(18), (19) tau of a revolute, prismatic joint; (20), (21) tau_dot", None,
            "which formula belongs to which number is lost",
        ),
        E("(32)", "O", "frames of the rotations lost", "I_i = R(0,i) I R(0,i)^T", None, "only the derivation uses it"),
        E(
            "gravity", "A", "not stated", "a_0 = -g, j_0 = 0; or F = m (a_c - R^T g), F_dot = m j_c",
            error("tau", "no gravity"), silent,
        ),
        E("(3), (4), (6), (7), (9)-(16), (35)", "OK", "in doubt", "as printed", exact, "tau and tau_dot"),
        E(
            "Table II", "O", "two columns of inertias", "three: the last (Izz) is lost, in row 6 a repeated .013 too",
            None, "a lost column has no value; the full table is that of the Stanford arm as published earlier",
        ),
        E(
            "roboticstoolbox 1.5, DH.Stanford", "X",
            "coms of links 2-6 ten times too large, link 5 shifted by a column", "the paper's table", None,
            "concerns other software, not an equation of the paper",
        ),
        E(
            "section V, trajectory", "X", "quintic with zero velocity, acceleration and jerk at its ends",
            "one quintic cannot: the jerk is not zero there", end_jerk(), "end jerk over largest jerk of the quintic",
        ),
        E(
            "operation count", "A", "309N-162 multiplications, 268N-138 additions", "attainable, not minimal", None,
            "a count depends on how terms are shared",
        ),
    ]  # fmt: skip
