"""Words of the last release that were a cost or a limit by their arguments."""

from __future__ import annotations

from typing import Any

from linkwise.planning import constraints, terms, tool
from linkwise.planning.term_and_constraint import Constraint, Term


def reaction(joint: str, of: str = "force", **bounds: Any) -> Term | Constraint:
    """Bounds on the reaction through a joint where some are given, else the integral of its square."""
    return constraints.reaction(joint, **bounds) if bounds else terms.reaction(joint, of)


def tool_path(frame: str, *, line: Any = None, path: Any = None, tolerance: float | None = None) -> Term | Constraint:
    """A frame within a tolerance of a path where one is given, else the integral of its squared distance."""
    if tolerance is None:
        return terms.tool_path(frame, line=line, path=path)
    return tool.tool_path(frame, line=line, path=path, tolerance=tolerance)
