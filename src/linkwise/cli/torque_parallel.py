"""`linkwise torque` of a parallel robot: forces of its legs along a motion of its platform."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linkwise.cli import show
from linkwise.cli.answers import torque_facts, torques

if TYPE_CHECKING:
    from linkwise.parallel.robot import ParallelRobot
    from linkwise.report.platform_forces import PlatformForces

SHOWN = 12  # rows of a table of problems that are printed


def parallel_torque(
    robot: ParallelRobot,
    trajectory: str,
    payloads: Sequence[Any],
    loads: dict[str, tuple[float, ...]],
    *,
    legs: bool,
    output: Path | None,
    plot: Path | None,
    ignore_extra: bool,
    as_json: bool,
) -> int:
    """Compute, write, draw and print; the exit code."""
    from linkwise.motion.platform import read_platform
    from linkwise.report.platform_forces import forces_along
    from linkwise.report.plots import platform_figure

    for payload in payloads:
        _check_platform(robot, payload.frame)
        robot = robot.with_payload(payload.mass, payload.com)
    for frame in loads:
        _check_platform(robot, frame)
    if len(loads) > 1:
        raise click.UsageError("--external: expected the platform once, got it by two names")
    wrench = next(iter(loads.values()), None)
    motion = read_platform(trajectory, robot, ignore_extra=ignore_extra)
    result = forces_along(robot, motion, external=wrench, legs=legs)
    meta = {"trajectory": trajectory, "payloads": [p._asdict() for p in payloads], "external": loads}
    torques(result, platform_figure, _facts, _print, output, plot, as_json, meta)
    return 0 if result.good else 1


def _check_platform(robot: ParallelRobot, frame: str) -> None:
    from linkwise.errors import UnknownNameError

    valid = dict.fromkeys(("platform", robot.platform.name))
    if frame not in valid:
        raise UnknownNameError("part of a parallel robot to load", frame, valid)


def _facts(result: PlatformForces) -> dict[str, Any]:
    worst = result.worst_condition()
    return {
        **torque_facts(result),
        "condition": {"worst": _finite(worst[0]), "time": worst[1]} if worst else None,
        "unreached": [u._asdict() for u in result.unreached],
        "singular": [c._asdict() for c in result.crossings],
        "exceeded": [{**e._asdict(), "value": _finite(e.value)} for e in result.exceeded],
    }


def _finite(x: float) -> float | None:
    return x if math.isfinite(x) else None


def _print(result: PlatformForces, output: Path | None, plot: Path | None) -> None:
    motion = result.motion
    span = f", {motion.t[0]:g} to {motion.t[-1]:g} s" if motion.timed else ", without times"
    show.line(f"{result.robot.name}: {show.plural(len(motion), 'row')}{span}")
    words = {"velocity": "velocities", "acceleration": "accelerations"}
    show.line(", ".join(f"{words[key]} from {origin}" for key, origin in motion.origins.items()))
    for note in motion.notes:
        show.line(f"note: {note}")
    show.title("Forces (N, or N m), positions (m, or rad), speeds (m/s, or rad/s)")
    columns = {"lowest": "lowest", "highest": "highest", "rms": "rms", "limit": "limit", "from": "from", "to": "to"}
    head = ("joint", *columns.values(), "top speed")
    rows = [(p["joint"], *(show.number(p[key]) for key in (*columns, "speed"))) for p in result.peaks()]
    show.table(head, rows, right=head[1:])
    worst, when = result.worst_condition(), "t =" if motion.timed else "row"
    if worst:
        show.line(f"worst condition number of the Jacobian {worst[0]:.4g}, at {when} {worst[1]:g}; 1 is best")
    show.line()
    _print_problems(result)
    show.written({"results": output, "plot": plot})
    if not output:
        show.line("To keep all rows, give --output FILE.csv or FILE.npz.")


def _print_problems(result: PlatformForces) -> None:
    if result.good:
        show.line("All poses are within reach, and all within the limits that the robot has.")
    if result.unreached:
        show.line("Out of reach", bold=True, fg="red")
        head = ("rows", "time (s)" if result.motion.timed else "", "legs")
        rows = [(_span(u.first, u.last), _span(u.start, u.end), ", ".join(u.legs)) for u in result.unreached[:SHOWN]]
        show.table(head, rows)
        _more(len(result.unreached))
    if result.crossings:
        show.line("Singular poses on the way, where forces have no bound", bold=True, fg="red")
        show.table(("before row", "time (s)"), [(str(c.row), f"{c.time:g}") for c in result.crossings[:SHOWN]])
        _more(len(result.crossings))
    if result.exceeded:
        show.line("Limits exceeded", bold=True, fg="red")
        columns = ("joint", "what", "worst", "limit", "time (s)" if result.motion.timed else "row", "rows")
        worst = [
            (e.joint, e.what, show.number(e.value), show.number(e.limit), f"{e.time:g}", str(e.rows))
            for e in result.exceeded
        ]
        show.table(columns, worst, right=columns[2:])


def _more(count: int) -> None:
    if count > SHOWN:
        show.line(f"and {count - SHOWN} more; --json lists all.")


def _span(first: float, last: float) -> str:
    return f"{first:g}" if first == last else f"{first:g} to {last:g}"
