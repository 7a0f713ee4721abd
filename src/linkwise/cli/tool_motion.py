"""Lines and arcs of a tool on the command line: the options of `linkwise plan` that ask for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import partial, wraps
from math import degrees
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linkwise.cli import show
from linkwise.cli.answers import Writers, answer
from linkwise.cli.arguments import Setting, SettingType, once, setting

if TYPE_CHECKING:
    from linkwise.planning.retimed import Retimed
    from linkwise.robot.robot import Robot

Three = tuple[float, float, float]
ABOVE_ZERO = click.FloatRange(min=0.0, min_open=True)


@dataclass(frozen=True)
class ToolMotion:
    """What was asked of the tool."""

    line: Three | None
    by: Three | None
    arc: Three | None
    rpy: Three | None
    frame: str | None
    axes: str
    starts: tuple[Setting, ...]
    tool_speed: float | None
    tool_acceleration: float | None

    @property
    def asked(self) -> bool:
        return self.line is not None or self.by is not None or self.arc is not None or self.rpy is not None

    def run(
        self, robot: Robot, problem: str | None, around: Mapping[str, Any], output: Path | None, plot: Path | None,
        step: float | None, as_json: bool,
    ) -> int:  # fmt: skip
        """Find the motion and show it; the exit code."""
        from linkwise.planning.tool_motion import move

        if problem is not None:
            raise click.UsageError("--line and --by: expected no PROBLEM beside them, got one")
        if not self.asked:
            raise click.UsageError("expected a PROBLEM, or a motion of the tool by --line or --by, got neither")
        given = once("--start", "joint", self.starts)
        start = {name: values if len(values) > 1 else values[0] for name, values in given.items()}
        sampled: dict[str, Any] = {} if step is None else {"dt": step}
        result = move(
            robot, robot.q(start), **self._goal(robot), frame=self.frame, axes=self.axes, through=self.arc,
            speed=self.tool_speed, tool_acceleration=self.tool_acceleration, **around, **sampled,
        )  # fmt: skip
        writers: Writers = {"output": (output, result.save), "plot": (plot, result.plot)}
        answer(writers, _facts(result), partial(_print, result), as_json)
        return 0

    def _goal(self, robot: Robot) -> dict[str, Any]:
        from linkwise.spatial import Pose

        if self.line is not None and self.by is not None:
            raise click.UsageError("expected --line or --by, got both")
        if self.arc is not None and self.line is None and self.by is None:
            raise click.UsageError("--arc: expected --line or --by beside it, the end of the arc, got neither")
        if self.line is not None:
            return {"to": self.line if self.rpy is None else Pose.of(self.line, rpy=self.rpy)}
        by = self.by or (0.0, 0.0, 0.0)
        return {"by": by if self.rpy is None else Pose.of(by, rpy=self.rpy)}


def tool_options(command: Callable[..., int]) -> Callable[..., int]:
    """Options of a motion of the tool, which the command gets as `tool`."""
    three: dict[str, Any] = {"type": float, "nargs": 3, "metavar": "X Y Z"}
    options = [
        click.option("--line", **three, help="Take the tool straight to this position in the world, m."),
        click.option("--by", **three, help="Take the tool straight on by so much, m."),
        click.option("--arc", **three, help="Take it along an arc through this point in the world instead."),
        click.option("--rpy", type=float, nargs=3, metavar="R P Y",
                     help="Turn the tool to these angles, rad, or with --by by them."),
        click.option("--frame", help="The tool: a frame or link; the robot's only frame if not given."),
        click.option("--axes", type=click.Choice(["world", "tool"]), default="world", show_default=True,
                     help="Axes of --by."),
        setting("--start", "starts", SettingType("JOINT=VALUE", "elbow=0.5", 1, 2, 3),
                "Position where a motion of the tool starts, rad or m; zero if not given."),
        click.option("--tool-speed", type=ABOVE_ZERO, help="Largest speed of the tool, m/s."),
        click.option("--tool-acceleration", type=ABOVE_ZERO, help="Largest acceleration of the tool, m/s^2."),
    ]  # fmt: skip

    @wraps(command)
    def with_tool(*arguments: Any, **given: Any) -> int:
        tool = ToolMotion(**{f.name: given.pop(f.name) for f in fields(ToolMotion)})
        return command(*arguments, tool=tool, **given)

    found: Callable[..., int] = with_tool
    for option in reversed(options):
        found = option(found)
    return found


def _facts(result: Retimed) -> dict[str, Any]:
    return {
        "robot": result.robot.name,
        "status": "found",
        "duration": result.duration,
        "facts": dict(result.facts),
        "uses": {kind: use._asdict() for kind, use in result.uses.items()},
        "notes": list(result.notes),
        "end": result.q[-1].tolist(),
    }


def _print(result: Retimed, facts: Mapping[str, Any], output: Path | None, plot: Path | None) -> None:
    known = result.facts
    turned = f", turning by {degrees(known['angle']):.4g} degrees" if known["angle"] else ""
    show.line(f"{result.robot.name}: {known['frame']} goes {known['length']:.4g} m{turned} in {result.duration:.4f} s")
    show.line(
        f"off its course by at most {1e3 * known['position_deviation']:.2g} mm and"
        f" {degrees(known['rotation_deviation']):.2g} degrees"
    )
    for note in result.notes:
        show.line(f"note: {note}")
    show.title("Limits used")
    rows = [(kind, f"{use.share:.1%}", use.joint, f"{use.time:.4g}") for kind, use in result.uses.items()]
    show.table(("limit", "share", "of", "at, s"), rows, right=("share", "at, s"))
    show.line()
    show.written({"motion": output, "plot": plot}, show.TO_KEEP_A_MOTION)
