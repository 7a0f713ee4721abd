"""`linkwise plan`: the best motion of a robot, by a problem in a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    Setting,
    around,
    json_option,
    load,
    output_option,
    plot_option,
    robot_argument,
    robot_options,
    surroundings,
)
from linkwise.cli.tool_motion import ToolMotion, tool_options

if TYPE_CHECKING:
    from linkwise.planning.result import Plan


@click.command(cls=Command, short_help="Plan a motion.")
@robot_argument
@click.argument("problem", type=click.Path(dir_okay=False), required=False)
@click.option("--solver", type=click.Choice(["uno", "ipopt", "scipy"]), help="Use this alone, not the file's.")
@click.option("--time-limit", type=click.FloatRange(min=0.0, min_open=True), help="Seconds after which to stop.")
@click.option("--clearance", type=float, help="Metres that links keep from each other and from all obstacles.")
@click.option("--guess", type=click.Path(dir_okay=False), help="A plan (.npz) to begin from.")
@tool_options
@surroundings
@output_option
@click.option("--step", type=click.FloatRange(min=0.0, min_open=True), help="Seconds between rows of a table.")
@plot_option
@robot_options
@json_option
def plan(
    robot: str, problem: str | None, solver: str | None, time_limit: float | None, guess: str | None,
    clearance: float | None,
    shakes: Sequence[Setting], externals: Sequence[Setting], output: Path | None, step: float | None,
    plot: Path | None, as_json: bool, tool: ToolMotion, **options: Any,
) -> int:  # fmt: skip
    """Find the best motion of a robot under limits of its joints and drives.

    With --line or --by the tool goes straight to a goal, with --arc too along an arc, and no PROBLEM is needed.
    Otherwise PROBLEM is a TOML file with the names of lw.cost and lw.limit:

    \b
      start = [0.0, -2.0]            # or { joint1 = 0.0, joint2 = -2.0 }
      goal = [1.0, -1.0]
      [minimize]
      time = 1.0
      effort = 0.01
      [limits]                       # without this table, all that the robot has
      effort = true                  # the robot's own, or a number, or by joint
      [[reaction]]
      joint = "joint2"
      force = 500
      [[obstacle]]                   # kept clear of, by collision shapes of the robot
      name = "table"
      shape = "box"                  # or capsule, sphere, cylinder, plane, mesh
      size = [0.8, 1.2, 0.05]
      xyz = [0.6, 0.0, 0.2]

    An .npz file keeps the plan itself, to begin from again; .csv and .parquet files have its rows. Ctrl-C keeps the
    best motion so far. Exit code 1 means that no motion was found that keeps all limits.

    \b
    Examples:
      linkwise plan rr fast.toml --plot fast.png
      linkwise plan arm.urdf pick.toml -o pick.csv --step 0.004
      linkwise plan arm.urdf pick.toml --solver uno --guess last.npz -o next.npz
      linkwise plan arm7 --start joint2=0.6 --start joint4=1.2 --by 0 -0.3 0 -o line.csv
    """
    from linkwise.planning.planner import plan as solve
    from linkwise.planning.problem_file import read_problem
    from linkwise.planning.result import Plan

    model = load(robot, **options)
    if tool.asked or problem is None:
        return tool.run(model, problem, around(shakes, externals), output, plot, step, as_json)
    arguments = read_problem(problem, clearance)
    given = {"solver": solver, "time_limit": time_limit, "guess": Plan.load(guess) if guess else None}
    given |= around(shakes, externals)
    result = solve(model, **{**arguments, **{k: v for k, v in given.items() if v is not None}})
    writers: Writers = {"output": (output, lambda path: result.save(path, step)), "plot": (plot, result.plot)}
    answer(writers, _facts(result), partial(_print, result), as_json)
    return INTERRUPTED if result.status == "interrupted" else 0 if result.converged else 1


def _facts(result: Plan) -> dict[str, Any]:
    t = result.times()
    tops = {"top speed": _tops(result, "qd", t), "top torque": _tops(result, "tau", t)}
    tops["top torque rate"] = _tops(result, "tau_dot", t)
    names = dict.fromkeys([*tops["top speed"], *tops["top torque"]])
    return {
        "robot": result.robot.name,
        "status": result.status,
        "duration": result.duration,
        "objective": result.objective,
        "summary": result.summary,
        **({"clearance": asdict(result.clearance)} if result.scenes else {}),
        "largest violation": asdict(result.largest_violation),
        "terms": dict(result.terms),
        "multipliers": dict(result.multipliers),
        "facts": dict(result.facts),
        "joints": [{"joint": n, **{key: values.get(n) for key, values in tops.items()}} for n in names],
    }


def _tops(result: Plan, quantity: str, t: Any) -> dict[str, float]:
    """The largest magnitudes by joint; with loops, speeds of what leads and torques of what is driven."""
    names = [name.removeprefix(f"{quantity}.") for name in result.names(quantity)]
    return dict(zip(names, abs(getattr(result, quantity)(t)).max(axis=0).tolist(), strict=True))


def _print(result: Plan, facts: Mapping[str, Any], output: Path | None, plot: Path | None) -> None:
    how = f"{result.facts['iterations']} iterations of {result.facts['solver']}, {result.facts['seconds']:.2g} s"
    show.line(f"{result.robot.name}: {result.summary}", fg=None if result.converged else "red")
    show.line(f"objective {result.objective:.6g} ({how})")
    if result.scenes:
        show.line(f"clearance: {result.clearance}")
    for name, value in result.terms.items():
        show.line(f"  {name} {value:.6g}")
    show.title("Top speeds, torques and their rates")
    head = ("joint", "top speed", "top torque", "top torque rate")
    show.table(head, [[j[head[0]], *(show.number(j[k]) for k in head[1:])] for j in facts["joints"]], right=head[1:])
    strongest = sorted(result.multipliers.items(), key=lambda item: -abs(item[1]))[:5]
    if strongest:
        show.title("What larger limits would do: change of the objective per unit")
        show.table(("limit", "change"), [(n, show.number(v)) for n, v in strongest], right=("change",))
    show.line()
    show.written({"motion": output, "plot": plot}, show.TO_KEEP_A_MOTION)
