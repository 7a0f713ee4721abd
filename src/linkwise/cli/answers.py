"""How commands answer: files first, then JSON or text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkwise.cli import show
from linkwise.cli.arguments import INTERRUPTED

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def torques(
    result: Any, figure: Callable[[Any], Figure], facts: Callable[[Any], Any], shown: Callable[..., None],
    output: Path | None, plot: Path | None, as_json: bool, meta: Mapping[str, Any],
) -> None:  # fmt: skip
    """Write, draw and show what was found along a motion."""
    if output:
        result.write(output, **meta)
    if plot:
        from linkwise.figures import save_figure

        save_figure(figure(result), plot)
    if as_json:
        show.as_json({**facts(result), "output": output and str(output), "plot": plot and str(plot)})
    else:
        shown(result, output, plot)


def simulation(
    simulated: Callable[[], Any], facts: Callable[..., Any], shown: Callable[..., None],
    output: Path | None, plot: Path | None, as_json: bool,
) -> int:  # fmt: skip
    """Simulate, write what was found, be it cut short, and say so; the exit code."""
    from linkwise.errors import SimulationError

    problem = ""
    try:
        result = simulated()
    except SimulationError as error:
        if error.result is None:
            raise
        result, problem = error.result, " ".join(str(error).split())
    if output:
        result.save(output)
    if plot:
        result.plot(plot)
    if as_json:
        show.as_json({**facts(result, problem), "output": output and str(output), "plot": plot and str(plot)})
    else:
        shown(result, problem, output, plot)
    return INTERRUPTED if result.status == "interrupted" else 1 if problem else 0


def torque_facts(result: Any) -> dict[str, Any]:
    """What JSON tells of any motion with its torques."""
    motion = result.motion
    return {
        "robot": result.robot.name,
        "rows": len(motion),
        "start": float(motion.t[0]),
        "end": float(motion.t[-1]),
        "timed": motion.timed,
        "origins": motion.origins,
        "notes": list(motion.notes),
        "peaks": result.peaks(),
    }


def simulation_facts(result: Any, problem: str) -> dict[str, Any]:
    """What JSON tells of any simulation."""
    return {
        "robot": result.robot.name,
        "status": "failed" if problem else result.status,
        "problem": problem,
        "end": float(result.t[-1]),
        "rows": len(result),
        "method": result.facts.get("method"),
        "steps": result.facts.get("steps"),
        "evaluations": result.facts.get("evaluations"),
        "energy drift": result.energy.drift,
    }
