"""`linkwise excite`: the motion that tells most about a robot's parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linkwise.cli import show
from linkwise.cli.answers import Writers, answer
from linkwise.cli.arguments import (
    INTERRUPTED,
    Command,
    OutputFile,
    json_option,
    load,
    output_option,
    plot_option,
    robot_argument,
    robot_options,
)

if TYPE_CHECKING:
    from linkwise.identification.excitation import Excitation

MESSAGE = OutputFile(".yaml", ".yml", ".json")
ABOVE_ZERO = click.FloatRange(min=0.0, min_open=True)
KEPT = 1e-3  # beyond a limit, relative: more is too much
WEAKEST = 8  # parameters that are printed


@click.command(cls=Command, short_help="Find the motion that tells most about a robot.")
@robot_argument
@click.option("--duration", type=ABOVE_ZERO, default=20.0, show_default=True, help="Seconds of one period.")
@click.option("--about", multiple=True, metavar="WHAT",
              help="inertia, friction, payload, or a parameter, link or joint; may be repeated.")  # fmt: skip
@click.option("--form", type=click.Choice(["fourier", "spline"]), default="fourier", show_default=True,
              help="A Fourier series, or a B-spline, which often tells more.")  # fmt: skip
@click.option("--harmonics", type=click.IntRange(2, 50), default=5, show_default=True, help="Of a Fourier series.")
@click.option("--criterion", type=click.Choice(["D", "A", "condition"]), default="D", show_default=True,
              help="Volume of the errors, sum of their squares, or the condition number.")  # fmt: skip
@click.option("--clearance", type=float, help="Metres that links keep from each other.")
@click.option("--share", type=click.FloatRange(0.0, 1.0, min_open=True), default=0.99, show_default=True,
              help="Part of the limits that is used.")  # fmt: skip
@click.option("--periodic", is_flag=True, help="Let it begin and end with speeds, not at rest.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the random motions.")
@click.option("--time-limit", type=ABOVE_ZERO, help="Seconds after which to stop.")
@output_option
@click.option("--trajectory", type=MESSAGE, help="Where to write a ROS JointTrajectory: .yaml, .yml or .json.")
@click.option("--step", type=ABOVE_ZERO, help="Seconds between rows of a table, and points of a trajectory.")
@plot_option
@robot_options
@json_option
def excite(
    robot: str, about: tuple[str, ...], periodic: bool, output: Path | None, trajectory: Path | None,
    step: float | None, plot: Path | None, as_json: bool, duration: float, form: str, harmonics: int, criterion: str,
    clearance: float | None, share: float, seed: int, time_limit: float | None, **options: Any,
) -> int:  # fmt: skip
    """Find the motion along which torques tell most about a robot's parameters, within all of its limits.

    Drive the robot along it, log positions and torques, and identify masses, inertias and friction from the log: errors
    of a motion that was chosen like this are many times smaller than those of a motion that looks lively. The motion
    ends as it begins, so that it can be repeated. The search begins from the best of 50 random motions.

    With --about payload all but the load at the last link is taken as known, with --about friction all but friction;
    a motion about less takes less time.

    \b
    Read the answer:
      log det            of the information; two more are errors whose volume is e times smaller
      condition number   of the regressor; below 100 is good
      standard error     by noise of torques, a hundredth of their limits, measured at 100 Hz

    Ctrl-C keeps the best motion so far. Exit code 1 means that the motion exceeds a limit.

    \b
    Examples:
      linkwise excite arm.urdf -o excite.csv --step 0.004 --plot excite.png
      linkwise excite arm.urdf --duration 10 --about payload --trajectory weigh.yaml
      linkwise excite arm.urdf --about friction --share 0.8 -o rub.npz
    """
    from linkwise.identification.excitation import excite as search

    model = load(robot, **options)
    result = search(
        model, duration=duration, about=about or None, form=form, harmonics=harmonics, criterion=criterion,
        clearance=clearance, share=share, rest=not periodic, seed=seed, time_limit=time_limit,
    )  # fmt: skip
    writers: Writers = {
        "output": (output, lambda path: result.save(path, step)),
        "trajectory": (trajectory, lambda path: result.save(path, step)),
        "plot": (plot, result.plot),
    }
    answer(writers, _facts(result), partial(_print, result), as_json)
    return INTERRUPTED if result.status == "interrupted" else int(result.largest_violation.violation > KEPT)


def _facts(result: Excitation) -> dict[str, Any]:
    assert result.base is not None
    errors = result.standard_errors()
    rows = zip(result.parameters, result.base.values.tolist(), errors.tolist(), strict=True)
    return {
        "robot": result.robot.name,
        "status": result.status,
        "summary": result.summary,
        "duration": result.duration,
        "log det": result.log_det,
        "log det of random motions": list(result.random),
        "condition": result.condition,
        "largest violation": asdict(result.largest_violation),
        "seconds": result.facts["seconds"],
        "parameters": [{"name": name, "value": value, "standard error": error} for name, value, error in rows],
    }


def _print(
    result: Excitation, facts: Mapping[str, Any], output: Path | None, trajectory: Path | None, plot: Path | None
) -> None:
    show.line(f"{result.robot.name}: {result.summary}")
    show.line(f"found in {facts['seconds']:.2g} s")
    sizes = dict(zip(result.parameters, result.sizes.tolist(), strict=True))
    weakest = sorted(facts["parameters"], key=lambda row: -row["standard error"] * sizes[row["name"]])[:WEAKEST]
    show.title("What it tells least about: base parameters, at 100 Hz")
    head = ("parameter", "value", "standard error")
    show.table(head, [[r["name"], *(show.number(r[k]) for k in head[1:])] for r in weakest], right=head[1:])
    show.line()
    show.written({"motion": output, "trajectory": trajectory, "plot": plot}, show.TO_KEEP_A_MOTION)
