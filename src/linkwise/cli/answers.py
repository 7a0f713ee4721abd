"""How commands answer: files first, then JSON or text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkwise.cli import show
from linkwise.cli.arguments import INTERRUPTED
from linkwise.errors import LinkwiseError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


Writers = Mapping[str, tuple[Path | None, Callable[[Path], Any]]]  # by what is written: where to, and how


@contextmanager
def written(writers: Writers) -> Iterator[dict[str, Path | None]]:
    """Write files, then answer in the block, which gets those that were written.

    No reader that leaves takes a file away, and no file that cannot be written takes the answer away: that is an error
    after the block.
    """
    done, problems = dict.fromkeys(writers), []
    for what, (path, write) in writers.items():
        if path:
            try:
                write(path)
                done[what] = path
            except LinkwiseError as error:
                problems.append(error)
    yield done
    for problem in problems:
        raise problem


def torques(
    result: Any, figure: Callable[[Any], Figure], facts: Callable[[Any], Any], shown: Callable[..., None],
    output: Path | None, plot: Path | None, as_json: bool, meta: Mapping[str, Any],
) -> None:  # fmt: skip
    """Write, draw and show what was found along a motion."""
    from linkwise.figures import save_figure

    writers: Writers = {
        "output": (output, lambda path: result.write(path, **meta)),
        "plot": (plot, lambda path: save_figure(figure(result), path)),
    }
    with written(writers) as files:
        if as_json:
            show.as_json({**facts(result), **named(files)})
        else:
            shown(result, **files)


def named(files: Mapping[str, Path | None]) -> dict[str, str | None]:
    """Files as JSON has them."""
    return {what: str(path) if path else None for what, path in files.items()}


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
    with written({"output": (output, result.save), "plot": (plot, result.plot)}) as files:
        if as_json:
            show.as_json({**facts(result, problem), **named(files)})
        else:
            shown(result, problem, **files)
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
        "status": result.status,
        "problem": problem,
        "end": float(result.t[-1]),
        "rows": len(result),
        "method": result.facts.get("method"),
        "steps": result.facts.get("steps"),
        "evaluations": result.facts.get("evaluations"),
        "energy drift": result.energy.drift,
    }
