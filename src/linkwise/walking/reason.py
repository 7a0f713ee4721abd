"""Why no walk was found."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from linkwise.errors import InputError
from linkwise.planning.solvers import Monitor, chosen
from linkwise.walking.joints import mirrored_name
from linkwise.walking.result import Walk
from linkwise.walking.violations import Violation
from linkwise.walking.walk import HABITS, KEPT, Settings, first_curve, solved

PRICE = 1.0  # of the squares of torques beyond strengths
TRIES = 200  # iterations
SHOWN = 8  # rows in words


class Reason(NamedTuple):
    """Why no walk was found.

    Args:
        strength: whether strength is what is missing: a walk is found when torques may exceed strengths.
        rows: what is not kept then: the torque of every joint that is too weak or, where no walk is found either, the
            worst of each other kind.
        walk: that walk, or what came nearest to it.
    """

    strength: bool
    rows: list[Violation]
    walk: Walk

    def __str__(self) -> str:
        if self.strength:
            head = "strength is missing: a walk is found when torques may exceed it, where"
        else:
            head = "no walk is found when torques may exceed strengths either, where"
        more = [f"and {len(self.rows) - SHOWN} more"] if len(self.rows) > SHOWN else []
        return "\n  ".join([head, *map(str, self.rows[:SHOWN]), *more])


def reason(found: Walk, progress: bool = True) -> Reason:
    """Ask the same question with torques that may exceed strengths, at a price."""
    if found.violation <= KEPT:
        raise InputError(f"reason: expected a motion that breaks constraints, got one that keeps them, {found!r}.")
    p = found.problem
    if "torque" in (*p.without, *p.soft):
        return Reason(False, found.violations(), found)
    stronger = replace(p, soft={**p.soft, "torque": PRICE})
    monitor, name = Monitor(KEPT, None, "reason", progress), min(chosen(None), key=lambda name: HABITS[name].last)
    habit = HABITS[name]
    try:
        tried = solved(
            stronger, Settings(name, monitor, KEPT, TRIES), first_curve(stronger, None, habit.carried), False
        )
    finally:
        monitor.done()
    strength = tried.violation <= KEPT
    rows = tried.violations(kind="torque") if strength else [w for w in tried.violations() if not w.soft]
    return Reason(strength, rows if p.steps == 2 else _of_pairs(rows), tried)


def _of_pairs(rows: list[Violation]) -> list[Violation]:
    """The worse of left and right, which are alike where the next step is the mirrored one."""
    found: dict[tuple[str, str], Violation] = {}
    for row in rows:
        found.setdefault((row.kind, min(row.name, mirrored_name(row.name))), row)
    return list(found.values())
