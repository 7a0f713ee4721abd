"""The planar arm of two links on which Nasser verified his scheme analytically, and what that check cannot see."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwise.dh import DHRow, standard_dh
from linkwise.motion.trajectory import Array
from linkwise.robot import Robot
from linkwise.vector import Vec3
from papers.errata import nasser
from papers.errata.study import NOTHING, Printed
from papers.experiments import Cell, Experiment, Table
from papers.forward_routes import ROUTES, by_all_routes, relative

TOLERANCE = 1e-11
GRAVITY = (0.0, -9.81, 0.0)
STATES = 200
WRONG = 1e-6  # from which on a difference is no rounding
MISPRINTS = {
    "(2.1.3)": "(2.1.3), the signs of the next joint's force and of outer forces",
    "(2.1.13.2)": "(2.1.13.2), the sign of w x z theta_dot",
    "gamma": "gamma, which is not defined, as 1 - Z Z^T",
    "gamma = 1": "gamma as 1",
    "(2.3.3)": "(2.3.3), one branch for all",
    "no gravity": "gravity, of which the source does not speak, left out",
}


class Arm(NamedTuple):
    """Two links in the plane x, y: lengths, distances of centres from joints, masses, moments about the centres."""

    l: tuple[float, float] = (0.7, 0.5)
    c: tuple[float, float] = (0.3, 0.2)
    m: tuple[float, float] = (4.0, 2.5)
    I: tuple[float, float] = (0.2, 0.06)

    @property
    def rows(self) -> list[DHRow]:
        """The same as a table, with what does not matter in a plane filled in."""
        return [
            DHRow(0.0, 0.0, l, 0.0, mass=m, com=Vec3(c - l, 0.0, 0.0), inertia=(0.5 * I, I, I))
            for l, c, m, I in zip(*self, strict=True)
        ]

    def robot(self) -> Robot:
        """The arm as a robot."""
        return standard_dh(self.rows, gravity=GRAVITY, name="two links")


def closed_form(arm: Arm, q: Array, qd: Array, tau: Array) -> Array:
    """Accelerations (rows, 2) by the textbook's two equations of motion, solved by Cramer's rule."""
    (l, _), (c1, c2), (m1, m2), (I1, I2), g = *arm, -GRAVITY[1]
    cos2, sin2, both = np.cos(q[:, 1]), np.sin(q[:, 1]), np.cos(q[:, 0] + q[:, 1])
    M11 = I1 + I2 + m1 * c1**2 + m2 * (l**2 + c2**2 + 2.0 * l * c2 * cos2)
    M12, M22 = I2 + m2 * (c2**2 + l * c2 * cos2), I2 + m2 * c2**2
    w1, w2 = qd.T
    r1 = tau[:, 0] + m2 * l * c2 * sin2 * (2.0 * w1 * w2 + w2**2)
    r1 = r1 - (m1 * c1 + m2 * l) * g * np.cos(q[:, 0]) - m2 * c2 * g * both
    r2 = tau[:, 1] - m2 * l * c2 * sin2 * w1**2 - m2 * c2 * g * both
    return np.stack([M22 * r1 - M12 * r2, M11 * r2 - M12 * r1], axis=1) / (M11 * M22 - M12**2)[:, None]


def as_printed(arm: Arm, states: Array, printed: Printed = NOTHING) -> Array:
    """Accelerations (rows, 2) by Nasser's 6 by 6 recursion, with some of his equations as they are printed."""
    tree = nasser.Tree(arm.rows, (-1, 0), [(np.eye(3), np.zeros(3))] * 2)
    none = np.zeros((2, 3))
    found = []
    for q, qd, tau in states:
        x = nasser.State(q.tolist(), qd.tolist(), tau.tolist(), none, none, np.array(GRAVITY))
        found.append(nasser.forward_dynamics(tree, x, printed))
    return np.array(found)


def two_links() -> Experiment:
    """Nasser's scheme on a planar arm of two links against the closed form, and which misprints that check sees."""
    arm = Arm()
    states = np.random.default_rng(7).uniform(-3.0, 3.0, (STATES, 3, 2))
    true = closed_form(arm, *states.transpose(1, 0, 2))
    found = {"Nasser's equations as corrected": as_printed(arm, states)}
    found |= {f"ours: {name}": qdd for name, qdd in by_all_routes(arm.robot(), states).items()}
    errors = {name: relative(qdd, true) for name, qdd in found.items()}
    seen = {form: relative(as_printed(arm, states, frozenset({form})), true) for form in MISPRINTS}
    hidden = [form for form, error in seen.items() if error < WRONG]
    worst = max(errors.values())
    return Experiment(
        name="two-links",
        title="The arm of two links on which Nasser's scheme was verified",
        source="Nasser, sections 1 and 5: a planar two-link manipulator, verified analytically",
        finding=f"Nasser's recursion as corrected and {len(ROUTES)} of our routes give the accelerations of the closed"
        f" form to {worst:.0e}. Of {len(seen)} misprints and alternatives {len(hidden)} do not show on two links in a"
        " plane.",
        text=(
            "The closed form is that of textbooks: two equations of motion, solved by Cramer's rule. The source says"
            " that its model was verified on this arm, and prints no number. All functions here are analytic, so that"
            f" agreement at {STATES} random states leaves no room for a wrong term.",
            "Each misprint by itself shows what such a check is worth: links that turn about one direction have no"
            " products of their angular velocities, and a chain has no branches.",
        ),
        tables=(_errors_table(errors), _misprints_table(seen)),
        assumptions=("Lengths, masses, moments of inertia and states are invented; gravity lies in the plane.",),
        agrees=worst <= TOLERANCE and 0 < len(hidden) < len(seen),
    )


def _errors_table(errors: dict[str, float]) -> Table:
    head = ("accelerations by", "largest difference from the closed form, relative")
    return Table("Against the closed form", head, tuple(errors.items()), digits=2)


def _misprints_table(seen: dict[str, float]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for form, error in seen.items():
        rows.append((MISPRINTS[form], "no" if error < WRONG else "yes", error))
    head = ("taken as printed", "seen on two links", "largest difference, relative")
    return Table("Which misprints the check sees", head, tuple(rows), digits=2)
