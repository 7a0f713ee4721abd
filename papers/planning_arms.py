"""Arms planned under limits of torque rates and of reactions in their joints."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from linkwise import limit
from linkwise.figures import COLOURS, LIMIT, style
from linkwise.formats.registry import load
from linkwise.planning.planner import plan
from linkwise.planning.result import Plan
from papers.experiments import Cell, Experiment, Picture, Table
from papers.pictures import inline_svg

EFFORT = (60.0, 80.0, 60.0, 15.0, 10.0, 5.0)  # of the Stanford arm, N m, and N for its third joint
RATE = 8.0  # N m/s for each N m of effort
TURN = 3.0  # rad, and m; without a limit its light wrist would spin to help the arm along
START, GOAL = (0.0, 1.0, 0.3, 0.0, 0.5, 0.0), (1.2, 1.8, 0.5, 1.0, -0.5, 1.0)
PICK = (0.6, 0.7, 0.0, 1.3, 0.0, 0.9, 0.0)
PLACE = (-0.7, 0.5, 0.2, 1.5, -0.2, 0.8, 0.5)
PAYLOAD, FORCE = 3.0, 45.0  # kg; N on the joint that carries the hand
FAST = 8.0  # rad/s; with the slow limits of its file, torques would not matter


def planned_arms() -> Experiment:
    """The Stanford arm with and without limits of torque rates, and a seven-axis arm that carries a load."""
    stanford = _stanford()
    arm = _pick_and_place()
    every = {**stanford, **arm}
    smooth, fast = stanford["Stanford, rates limited"], stanford["Stanford, rates free"]
    loaded = arm["arm7, reaction limited too"]
    return Experiment(
        name="planned-arms",
        title="Fastest motions that drives can follow",
        source="Guarino Lo Bianco, whose purpose torque rates are; Barman, whose purpose joint forces are",
        finding=f"The Stanford arm needs {fast.duration:.3f} s when torques may jump, {smooth.duration:.3f} s when"
        f" their rates are limited. The seven-axis arm with {PAYLOAD:g} kg needs {loaded.duration:.3f} s with the force"
        f" in its last joint limited to {FORCE:g} N as well.",
        text=(
            "Torques that jump are what a minimum-time motion asks for and what no drive can give: the current takes"
            " time to build up. Limits of rates cost little time and give torques that a drive can follow.",
        ),
        tables=(_table(every),),
        pictures=(_picture("stanford-plans", stanford), _picture("arm7-plans", arm), _forces("arm7-forces", arm)),
        assumptions=(
            "Limits of the Stanford arm are ours: efforts of "
            + ", ".join(f"{x:g}" for x in EFFORT)
            + f" N m (N for joint 3), rates of {RATE:g} times that in a second, positions within {TURN:g}."
            " Friction is left out.",
            f"The seven-axis arm is invented; its limits are those of its file but for speeds of {FAST:g} rad/s, its"
            " rates as above.",
        ),
        agrees=all(p.converged and p.largest_violation.violation <= 1e-2 for p in every.values())
        and fast.duration < smooth.duration,
    )


def _options() -> dict[str, Any]:
    """With Uno where it is installed, since these problems are large for SciPy's solver, which takes many steps."""
    return {"degree": 4, "progress": False, "iterations": 2000, "solver": solver()}


def solver() -> str:
    """Uno where it is installed."""
    return "uno" if find_spec("unopy") else "scipy"


def _stanford() -> dict[str, Plan]:
    robot = load("stanford").without_friction()
    efforts, reach = np.array(EFFORT), dict.fromkeys(robot.names, (-TURN, TURN))
    free = limit.joints(effort=efforts, position=reach)
    bound = limit.joints(effort=efforts, position=reach, effort_rate=RATE * efforts)
    found = {}
    for name, constraint in (("Stanford, rates free", free), ("Stanford, rates limited", bound)):
        found[name] = plan(robot, START, GOAL, subject_to=constraint, control_points=16, **_options())
    return found


def _pick_and_place() -> dict[str, Plan]:
    robot = load("arm7").without_friction()
    hand = robot.links[-1].name
    loaded = robot.with_payload(PAYLOAD, (0.0, 0.0, 0.1), at=hand)
    rates = {n: RATE * robot.joint(n).limits.effort for n in robot.names}
    drives = limit.joints("position", "effort", velocity=FAST, effort_rate=rates)
    cases = {
        "arm7, without load": (robot, [drives]),
        "arm7, with load": (loaded, [drives]),
        "arm7, reaction limited too": (loaded, [drives, limit.reaction(robot.names[-1], force=FORCE)]),
    }
    return {
        name: plan(model, PICK, PLACE, subject_to=rows, control_points=14, **_options())
        for name, (model, rows) in cases.items()
    }


def _table(plans: dict[str, Plan]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, p in plans.items():
        t = p.times()
        force = np.linalg.norm(p.wrenches(t)[:, -1, :3], axis=1).max()
        top = float(np.abs(p.tau_dot(t)).max())
        share = f"{100.0 * p.largest_violation.violation:.3f} %"
        rows.append((name, f"{p.duration:.4f}", f"{top:.4g}", f"{force:.4g}", share, p.facts["iterations"]))
    head = ("", "T, s", "top torque rate, N m/s", "top force in the last joint, N", "beyond a limit", "iterations")
    return Table("Fastest motions", head, tuple(rows))


def _picture(name: str, plans: dict[str, Plan]) -> Picture:
    from matplotlib.figure import Figure

    caption = "Torques of the plans over time, each relative to its limit."
    with style():
        figure = Figure(figsize=(3.3 * len(plans), 2.9), layout="constrained")
        grid = figure.subplots(1, len(plans), sharey=True, squeeze=False)[0]
        for axes, (title, p) in zip(grid, plans.items(), strict=True):
            t, own = p.times(), [p.robot.joint(n).limits.effort for n in p.robot.names]
            size = np.where(np.isfinite(own), own, EFFORT if len(own) == len(EFFORT) else 1.0)
            for k, (joint, column) in enumerate(zip(p.robot.names, (p.tau(t) / size).T, strict=True)):
                axes.plot(t, column, color=COLOURS[k % len(COLOURS)], label=joint, lw=1.2)
            axes.set_title(title)
            axes.set_xlabel("time, s")
        handles, labels = grid[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=7, handlelength=1.2)
    return Picture(caption, inline_svg(figure, name, caption))


def _forces(name: str, plans: dict[str, Plan]) -> Picture:
    """The force in the last joint over time, which one of the plans keeps below a limit."""
    from matplotlib.figure import Figure

    caption = f"The force in the last joint over time, N; the third plan keeps it below {FORCE:g} N."
    with style():
        figure = Figure(figsize=(6.6, 2.9), layout="constrained")
        axes = figure.subplots()
        for (title, p), colour in zip(plans.items(), COLOURS, strict=False):
            t = p.times()
            axes.plot(t, np.linalg.norm(p.wrenches(t)[:, -1, :3], axis=1), color=colour, label=title)
        axes.axhline(FORCE, color=LIMIT, lw=1.0, ls="--")
        axes.set_xlabel("time, s")
        figure.legend(loc="outside upper right", ncols=3)
    return Picture(caption, inline_svg(figure, name, caption))
