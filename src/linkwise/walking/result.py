"""A predicted walk: the motion, how it was found, and what it says."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwise.deprecated import warn
from linkwise.errors import UnknownNameError
from linkwise.figures import save_figure
from linkwise.planning.curve import Array, Curve
from linkwise.walking.audit import Audit, audit
from linkwise.walking.features import compared, features
from linkwise.walking.norms import Match
from linkwise.walking.problem import Problem
from linkwise.walking.rows import KINDS
from linkwise.walking.stride import SIDES, Stride, sample
from linkwise.walking.violations import Violation, rows_beyond

if TYPE_CHECKING:
    from linkwise.view.motion import Motion
    from linkwise.walking.reason import Reason

SAMPLES = 51  # instants of a step
ACTIVE = 1e-5  # distance from a bound at which a row counts as active


class Phase(NamedTuple):
    """One solve.

    Args:
        name: "feasible" or "effort".
        status: the solver's.
        iterations: how many.
        seconds: on the clock.
        cpu: of the processor.
        callbacks: seconds of functions and derivatives, within `seconds`.
        message: the solver's own words.
    """

    name: str
    status: str
    iterations: int
    seconds: float
    cpu: float
    callbacks: float
    message: str


@dataclass(frozen=True, eq=False)
class Walk:
    """A predicted stride: one step and its mirrored follower, or two steps.

    Args:
        problem: whose solution it is.
        curve: of the free joints, over the steps of the problem.
        phases: how it was found.
        status: "converged", "gave up", "out of time" or "interrupted".
        setup: seconds until the first evaluation, compilation included.
    """

    problem: Problem
    curve: Curve
    phases: tuple[Phase, ...]
    status: str
    setup: float

    @property
    def converged(self) -> bool:
        return self.status == "converged"

    @cached_property
    def _judged(self) -> dict[str, Any]:
        program = self.problem.to_solve()
        x = program.variables.of(self.curve)
        g = program.g(x)
        near = (np.abs(g - program.row_lower) < ACTIVE) | (np.abs(program.row_upper - g) < ACTIVE)
        return {
            "objective": program.f(x),
            "effort": self.problem.effort_of(self.curve),
            "violations": program.violations(x),
            "active": int(near.sum()),
            "size": (self.curve.points.size, program.m),
        }

    @property
    def effort(self) -> float:
        """The integral of squared torques over their limits, (5.1) of the source, s; of one step or of two."""
        return float(self._judged["effort"])

    @property
    def objective(self) -> float:
        """Effort with the posture term."""
        return float(self._judged["objective"])

    @property
    def violation(self) -> float:
        """The largest distance of a row from its bounds."""
        return float(self._judged["violations"].max())

    @property
    def active(self) -> int:
        """How many rows are at a bound."""
        return int(self._judged["active"])

    @property
    def size(self) -> tuple[int, int]:
        """Variables and rows."""
        return self._judged["size"]

    @property
    def rows(self) -> dict[str, int]:
        """How many rows of each kind."""
        return self.problem.counted

    def worst(self, above: float = 1e-3, kind: str | None = None) -> list[Violation]:
        """The former name of `violations`."""
        warn("walk.worst", "walk.violations")
        return self.violations(above, kind)

    def violations(self, above: float = 1e-3, kind: str | None = None) -> list[Violation]:
        """For every kind of constraint that is not kept, soft ones too, its worst row, worst first.

        With a kind, the worst row of everything in it, such as every joint of "torque".
        """
        if kind is not None and kind not in (known := {*KINDS, *(n.label for n in self.problem.to_solve().names)}):
            raise UnknownNameError("kind of constraint", kind, sorted(known))
        found: dict[str, Violation] = {}
        for row in rows_beyond(self.problem, self.curve, above):
            if kind in (None, row.kind):
                found.setdefault(row.kind if kind is None else row.name, row)
        return list(found.values())

    def reason(self, progress: bool = True) -> Reason:
        """Why there is no such walk: for want of strength, or of something else; takes another solve."""
        from linkwise.walking.reason import reason

        return reason(self, progress)

    @property
    def title(self) -> str:
        """Speed, step and mass."""
        p = self.problem
        return f"{p.speed:.3g} m/s, steps of {p.step:.3g} m, {p.person.total_mass:.4g} kg"

    def stride(self, points: int = SAMPLES) -> Stride:
        """Both steps at `points` instants each: angles, torques, ground reactions, forces through joints."""
        if points == SAMPLES:
            return self._stride
        return sample(self.problem, self.curve, points)

    @cached_property
    def _stride(self) -> Stride:
        return sample(self.problem, self.curve, SAMPLES)

    def audit(self, finer: int = 8) -> Audit:
        """The worst between grid points."""
        return audit(self.problem, self.curve, finer)

    def film_strip(self, path: str | PathLike[str], frames: int = 11) -> None:
        """A picture of the figure at instants of a stride, into a .png, .svg or .pdf file."""
        from linkwise.walking.pictures import film_strip

        save_figure(film_strip(self, frames), path)

    def plot(self, path: str | PathLike[str]) -> None:
        """Curves of both legs over their strides, with published bands, into a .png, .svg or .pdf file."""
        from linkwise.walking.pictures import curves

        save_figure(curves(self), path)

    def animate(self, path: str | PathLike[str]) -> None:
        """The figure in motion, as one .html file."""
        from linkwise.walking.animation import write_animation

        write_animation(self, path)

    def view(self, path: str | PathLike[str] | None = None, **options: Any) -> Path:
        """A page that shows the stride with the forces of the ground; see `Robot.view`."""
        from linkwise.view.page import view

        return view(self.problem.robot, self.shown(), path, **options)

    def shown(self) -> Motion:
        """The stride as a viewer takes it, with the forces of the ground."""
        from linkwise.view.motion import Motion

        stride = self.stride()
        forces = {f"ground {side}": _force_at(stride, side) for side in SIDES}
        return replace(Motion.of(self.problem.robot, stride), forces=forces)

    def features(self, side: str = "r") -> dict[str, float]:
        """What gait laboratories compare of a leg: extremes of angles in degrees, of forces in body weights."""
        return features(self.stride(), side)

    def compared(self, side: str = "r") -> dict[str, Match]:
        """How the curves of a leg compare with published bands: share within, distance from the mean; see `band`."""
        return compared(self.stride(), side)

    def __repr__(self) -> str:
        iterations = " + ".join(str(p.iterations) for p in self.phases)
        pace = f"{self.problem.speed:.3g} m/s, step {self.problem.step:.3g} m"
        return (
            f"<Walk {self.status}: {pace}, effort {self.effort:.4f}{' of 2 steps' * (self.problem.steps - 1)},"
            f" {iterations} iterations, {sum(p.seconds for p in self.phases):.1f} s>"
        )

    def _repr_html_(self) -> str:
        """The card of a notebook: the stride, and what gait laboratories compare."""
        import linkwise.card as card

        features = ((name, f"{value:.4g}") for name, value in self.features().items())
        plots, table = card.plots(*self.stride().curves()), card.table(("feature", ""), features)
        return card.card(repr(self).strip("<>"), plots, card.folded("features of the right leg", table))


def _force_at(stride: Stride, side: str) -> Array:
    """Where the ground pushes a foot, and its force (rows, 6); not a number while it carries next to nothing."""
    x, z = stride.centre_of_pressure(side).T
    return np.column_stack([x, 0.0 * x, z, stride.ground[:, SIDES.index(side), :3]])
