"""Platforms on legs, planned as arms are: a hexapod, a Delta robot, and an arm on a hexapod."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import linkwise as lw
from linkwise.figures import COLOURS, LIMIT, style
from linkwise.planning.result import Plan
from papers.experiments import Cell, Experiment, Picture, Table
from papers.pictures import inline_svg
from papers.planning_arms import solver

TURN = (0.08, -0.05, 0.06, 0.15, -0.1, 0.2)  # of the hexapod: m along, rad about its own axes
FORCE, FORCE_RATE = 150.0, 4000.0  # N, N/s
TORQUE, TORQUE_RATE = 6.0, 400.0  # N m, N m/s, of the Delta robot
ARM = (0.3, 0.2, -0.3, 0.2, 0.3, 0.2)  # rad, of the arm on the hexapod
LEGS, JOINTS = (600.0,) * 6, (120.0, 200.0, 120.0, 25.0, 25.0, 15.0)  # N, N m
QUICK = 25.0  # a second: rates of efforts, relative to the efforts

Found = tuple[Plan, Any, Any]  # a plan, and the limits of efforts and of their rates


def planned_platforms() -> Experiment:
    """The fastest motions of three machines whose platforms lead."""
    found, seconds = {}, {}
    for name, make in {"hexapod": _hexapod, "Delta": _delta, "arm on a hexapod": _hybrid}.items():
        began = time.perf_counter()
        found[name] = make()
        seconds[name] = time.perf_counter() - began
    rows: list[tuple[Cell, ...]] = []
    beyond = {}
    for name, (plan, effort, rate) in found.items():
        t = np.linspace(0.0, plan.duration, 1001)
        tau = lw.compile(plan.robot).inverse_dynamics(plan.q(t), plan.qd(t), plan.qdd(t))
        shares = np.abs(tau) / effort, np.abs(np.diff(tau, axis=0) / np.diff(t)[:, None]) / rate
        top, fast = (float(share.max()) for share in shares)
        beyond[name] = max(top, fast) - 1.0
        cells = (f"{plan.duration:.4f}", f"{100.0 * top:.2f} %", f"{100.0 * fast:.2f} %", f"{seconds[name]:.1f}")
        rows.append((name, *cells))
    return Experiment(
        name="planned-platforms",
        title="Fastest motions of platforms on legs",
        source="Khalil's parallel robots, with the planning of the other sources",
        finding="; ".join(f"{name} {plan.duration:.3f} s" for name, (plan, _, _) in found.items()) + ".",
        text=(
            "A plan asks a machine for the coordinates that lead and for its drives. So a platform is planned as an arm"
            " is: between two poses, with limits of the forces in its legs and of their rates. The torques below are"
            " those of the machine's own inverse dynamics at 1001 instants.",
        ),
        tables=(
            Table(
                "Fastest motions",
                ("", "T, s", "top effort, N or N m", "top rate, a second", "found in, s"),
                tuple(rows),
            ),
        ),
        pictures=tuple(_picture(name, *of) for name, of in found.items()),
        assumptions=(
            "The machines are those that come along, invented; limits are ours: the same for all drives of a machine.",
        ),
        agrees=all(plan.converged for plan, _, _ in found.values()) and max(beyond.values()) <= 2e-3,
    )


def _hexapod() -> Found:
    robot = lw.gough_stewart()
    goal = lw.compile(robot).integrate(robot.q(), np.array(TURN), 1.0)
    limits = lw.limit.joints(effort=FORCE, effort_rate=FORCE_RATE)
    return lw.plan(robot, robot.q(), goal, subject_to=limits, solver=solver(), progress=False), FORCE, FORCE_RATE


def _delta() -> Found:
    """Up, across and down."""
    robot = lw.delta()
    low, high = robot.q()[2] - 0.04, robot.q()[2] + 0.02
    across = [lw.limit.via(s, frame="platform", position=(x, 0.0, high)) for s, x in ((0.3, -0.06), (0.7, 0.06))]
    rows = [lw.limit.joints(effort=TORQUE, effort_rate=TORQUE_RATE), *across]
    start, goal = [-0.08, 0.0, low], [0.08, 0.0, low]
    return lw.plan(robot, start, goal, subject_to=rows, solver=solver(), progress=False), TORQUE, TORQUE_RATE


def _hybrid() -> Found:
    robot = lw.gough_stewart().attach(lw.load("puma560").without_friction(), "platform", "arm_")
    goal = lw.compile(robot).integrate(robot.q(), np.array([*(0.5 * x for x in TURN), *ARM]), 1.0)
    kinds = {name: LEGS[0] if name.startswith("leg") else JOINTS[int(name[-1]) - 1] for name in robot.drives}
    effort = np.array(list(kinds.values()))
    limits = lw.limit.joints(effort=kinds, effort_rate={name: QUICK * x for name, x in kinds.items()})
    plan = lw.plan(robot, robot.q(), goal, None, limits, control_points=12, solver=solver(), progress=False)
    return plan, effort, QUICK * effort


def _picture(name: str, plan: Plan, effort: Any, rate: Any) -> Picture:
    """Where the platform goes, and what the drives do, relative to their limits."""
    from matplotlib.figure import Figure

    caption = f"{name}: way of the platform; efforts and effort rates of the drives, relative to their limits."
    t = plan.times()
    with style():
        figure = Figure(figsize=(9.9, 2.9), layout="constrained")
        way, force, fast = figure.subplots(1, 3)
        for k, axis in enumerate("xyz"):
            way.plot(t, 1e3 * (plan.q(t)[:, k] - plan.q(t)[0, k]), color=COLOURS[k], label=axis)
        way.set_title("platform, mm")
        way.legend(loc="upper left")
        for axes, rows, title in (
            (force, plan.tau(t) / effort, "effort"),
            (fast, plan.tau_dot(t) / rate, "effort rate"),
        ):
            for k, column in enumerate(rows.T):
                axes.plot(t, column, color=COLOURS[k % len(COLOURS)], lw=1.2, label=plan.robot.drives[k])
            for side in (-1.0, 1.0):
                axes.axhline(side, color=LIMIT, lw=1.0, ls="--")
            axes.set_title(f"{title}, relative to its limit")
        for axes in (way, force, fast):
            axes.set_xlabel("time, s")
        handles, labels = force.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=6, handlelength=1.2)
    return Picture(caption, inline_svg(figure, f"planned-{name.replace(' ', '-')}", caption))
