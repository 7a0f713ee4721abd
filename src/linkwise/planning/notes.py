"""What a user should know of a plan beside its limits, in sentences."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from linkwise.planning.drives import drives_of
from linkwise.planning.free_base import left_on_base
from linkwise.planning.problem import STILL
from linkwise.planning.result import Plan

P = TypeVar("P", bound=Plan)


def with_notes(plan: P) -> P:
    """The plan, with what was neglected and how much that is, and what a base that floats feels.

    A plan whose contacts leave too much on the base gave up.
    """
    left = left_on_base(plan)
    notes = tuple(note for note in (_unmoved(plan), _neglected(plan), left.words) if note)
    status = plan.status if left.is_little or not plan.converged else "gave up"
    return replace(plan, status=status, notes=(*plan.notes, *notes))


def _unmoved(plan: Plan) -> str:
    """That nothing asks for a motion: a goal may have been forgotten."""
    still = np.ptp(plan.curve.points, axis=0).max() <= STILL
    return "the robot stands still: start and goal are the same, or one of them is free" if still else ""


def _neglected(plan: Plan) -> str:
    """What elastic drives neglect, and the forces that are then left on joints beside their springs."""
    damped = [j.name for j in plan.robot.joints if j.is_elastic and j.drive and j.drive.damping]
    damping = f"damping of springs is neglected in the motors' motion: {', '.join(damped)}" if damped else ""
    words = [x for x in (drives_of(plan.robot).neglected, damping) if x]
    if not words:
        return ""
    most = float(np.abs(plan.unbalanced(plan.times())).max())
    return f"{'; '.join(words)}; exact torques differ by about {most:.2g} N m or N at most"
