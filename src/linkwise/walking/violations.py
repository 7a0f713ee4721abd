"""What a motion does not keep: rows that are beyond their bounds, in words."""

from __future__ import annotations

from typing import NamedTuple

from linkwise.planning.curve import Curve
from linkwise.walking.problem import Problem

PHASES = {"knee": "swing", "symmetry": "end"}  # of rows that hold at no instant of the grid
UNITS = {"contact": "m", "slip": "m/s", "ground": "m", "zmp": "m", "vertical": "weights", "knee": "rad"}
WHOLE = ("zmp", "vertical")  # of which one name says all
WHEN = {
    "double": "while both feet carry", "flat": "on the flat foot", "heel off": "with the heel off", "swing": "in swing",
    "end": "from the first to the last posture",
}  # fmt: skip


class Violation(NamedTuple):
    """The row of a kind that is furthest beyond its bounds.

    Args:
        kind: of constraint.
        name: of what in it.
        phase: of the step.
        s: when, as a fraction of the time.
        beyond: how far, in the unit of the kind; of torques as a fraction of the strength.
        soft: whether it may be broken, at a price.
        of: "step" or "stride", of which `s` is a fraction.
    """

    kind: str
    name: str
    phase: str
    s: float
    beyond: float
    soft: bool = False
    of: str = "step"

    def __str__(self) -> str:
        how = f"needs {1.0 + self.beyond:.2f} times its strength" if self.kind == "torque" else f"{self._distance} off"
        when = WHEN.get(self.phase, self.phase)
        what = self.kind if self.kind in WHOLE else f"{self.kind} {self.name}"
        at = "" if self.phase == "end" else f", at {100.0 * self.s:.0f} % of the {self.of}"
        return " ".join(filter(None, (what, how, when))) + at

    @property
    def _distance(self) -> str:
        return f"{self.beyond:.2g} {UNITS.get(self.kind, '')}".rstrip()


def rows_beyond(problem: Problem, curve: Curve, above: float) -> list[Violation]:
    """Every row, of soft constraints too, that is further than so much beyond its bounds, worst first."""
    program, of = problem.to_solve(), "stride" if problem.steps == 2 else "step"
    found = [
        Violation(row.label, row.name, PHASES.get(row.label, problem.timetable.at(row.s).phase), row.s, over, soft, of)
        for row, over, soft in program.not_kept(problem.variables.of(curve), above)
    ]
    return sorted(found, key=lambda w: -w.beyond)
