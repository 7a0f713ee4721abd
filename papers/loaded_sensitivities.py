"""Sensitivities of robots that carry loads and that branch: Barman's chains with forces in the world, and two arms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from linkwise.algorithms import inverse_dynamics, inverse_dynamics_derivatives
from linkwise.dh import standard_dh
from linkwise.figures import COLOURS, style
from linkwise.formats.registry import load
from linkwise.kernel.compile import compile
from linkwise.motion.trajectory import Array
from linkwise.robot import Frame, Robot
from linkwise.robot.joint import Joint
from linkwise.robot.link import Link
from linkwise.spatial import Pose, Wrench
from linkwise.vector import EZ, Vec3
from papers.errata import barman
from papers.errata.barman import Load
from papers.errata.tables.barman import Case, case, truth
from papers.experiments import Cell, Experiment, Picture, Table
from papers.pictures import inline_svg

TOLERANCE = 1e-11
NAMES = ("dtau_dq", "dtau_dqd", "dtau_dqdd")
# chains: kinds of joints, a seed, and the links that bear loads
CHAINS = {"RPRR": (1, 3), "PPRPR": (2, 2, 4), "RRPRRR": (3, 3, 5)}
EXACT_STEP = 1e-40  # of a complex step, which has no round-off
HANDS = ("left_tool", "right_tool")
WEIGHTS = ((6.0, -4.0, -30.0, 0.5, 0.0, 1.0), (0.0, 8.0, -12.0, 0.0, -0.7, 0.2))  # on the hands, in their axes
SHOULDER = 0.25  # m, half the width between the arms


class Compared(NamedTuple):
    """Largest relative differences of the derivatives by q, qd and qdd."""

    exact: tuple[float, ...]  # from complex steps
    printed: tuple[float, ...] | None  # from Barman's recursion as corrected, which knows chains alone


def still(found: Load) -> Callable[[Pose, Any], Wrench]:
    """The law of a load that keeps its direction in the world, as a wrench on the frame where it is held."""
    return lambda pose, velocity: Wrench(pose.R.T @ -found.F, pose.R.T @ -found.N)


def chain(given: Case) -> Compared:
    """Our derivatives of a chain with loads against complex steps and against Barman's recursion as corrected."""
    frames = [Frame(f"load{k}", f"link{w.k + 1}", Pose(p=w.r)) for k, w in enumerate(given.loads)]
    robot = standard_dh(given.rows, gravity=given.gravity, frames=frames)
    laws = {f"load{k}": still(w) for k, w in enumerate(given.loads)}
    ours = compile(robot, inverse_dynamics_derivatives, forces=laws)(*given.x)
    theirs = barman.inverse_dynamics(given.rows, *given.x, given.gravity, given.loads)
    exact = truth(given)
    return Compared(
        tuple(_off(x, exact[name]) for x, name in zip(ours, NAMES, strict=True)),
        tuple(_off(x, getattr(theirs, name)) for x, name in zip(ours, NAMES, strict=True)),
    )


def two_arms() -> Robot:
    """A waist and two seven-axis arms on it: a tree of 15 joints."""
    chest = Link("chest", 12.0, (0.0, 0.0, 0.2), (0.3, 0.25, 0.2))
    sides = [Frame(f"{side}_shoulder", "chest", Pose(p=Vec3(0.0, y, 0.4)))
             for side, y in (("left", SHOULDER), ("right", -SHOULDER))]  # fmt: skip
    robot = Robot([Link("ground"), chest], [Joint("waist", "ground", "chest", axis=EZ)], sides)
    arm = load("arm7").without_friction()
    for side in ("left", "right"):
        robot = robot.attach(arm, at=f"{side}_shoulder", prefix=f"{side}_")
    return robot


def branched(robot: Robot, x: Array) -> tuple[Compared, Array]:
    """Our derivatives of two arms with loads in their hands against complex steps, and dtau/dq."""
    loads = dict(zip(HANDS, WEIGHTS, strict=True))
    kernel = compile(robot, inverse_dynamics_derivatives, external=HANDS, route="recursion")
    ours = kernel(*x, np.array(WEIGHTS))
    errors = []
    for of, found in enumerate(ours):
        columns = []
        for k in range(robot.nv):
            state = [[y + 1j * EXACT_STEP * ((i, j) == (of, k)) for j, y in enumerate(z)] for i, z in enumerate(x)]
            columns.append(
                [complex(y).imag / EXACT_STEP for y in inverse_dynamics.plain(robot, *state, external=loads)]
            )
        errors.append(_off(found, np.array(columns).T))
    return Compared(tuple(errors), None), np.asarray(ours[0])


def loaded_sensitivities() -> Experiment:
    """Derivatives of torques of chains that bear loads, and of two arms on one waist with loads in their hands."""
    found = {f"chain {kinds}, {len(given) - 1} load(s)": chain(case(given[0], kinds, *given[1:]))
             for kinds, given in CHAINS.items()}  # fmt: skip
    robot = two_arms()
    x = np.random.default_rng(3).uniform(-1.0, 1.0, (3, robot.nv))
    found["two arms on a waist, a load in each hand"], dtau_dq = branched(robot, x)
    worst = max(max((*c.exact, *(c.printed or ()))) for c in found.values())
    apart = strangers(robot, dtau_dq)
    single = compile(load("arm7").without_friction(), inverse_dynamics_derivatives).count()
    both = compile(robot, inverse_dynamics_derivatives).count()
    ratio = (both["mul"] + both["add"]) / (single["mul"] + single["add"])
    return Experiment(
        name="loaded-sensitivities",
        title="Sensitivities with loads and branches",
        source="Barman, chapter III with external loads; chapter V for bodies that branch",
        finding=f"With loads and branches derivatives agree with complex steps, and on chains with Barman's equations"
        f" as corrected, to {worst:.0e}. Arms that share a waist do not feel each other's positions: {apart} of"
        f" {robot.nv**2} entries of dtau/dq are zero for that, and derivatives of both cost {ratio:.1f} times those of"
        " one arm.",
        text=(
            "Loads of the chains keep their directions in the world, as weights and cables do, so that they turn"
            " against the links that bear them: their part of dtau/dq is not that of a load that turns with the hand."
            " They are laws, and derivatives go through them by the graph. Loads in the hands of the two arms turn"
            " with them and go by the recursion.",
            "The torque of a joint depends on the motion of the joints before it and beyond it, never on that of"
            " another branch: the recursion does not visit those entries.",
        ),
        tables=(_table(found),),
        pictures=(_picture(robot, dtau_dq),),
        assumptions=(
            "The source prints neither robots with loads nor states for its sensitivities: chains, loads and states are"
            " drawn at random, the arms are invented.",
        ),
        agrees=worst <= TOLERANCE and apart == 2 * 7 * 7,
    )


def strangers(robot: Robot, dtau_dq: Array) -> int:
    """How many entries of dtau/dq between the two arms are exactly zero."""
    left, right = (np.array([name.startswith(side) for name in robot.names]) for side in ("left", "right"))
    apart = np.outer(left, right) | np.outer(right, left)
    return int((dtau_dq[apart] == 0.0).sum())


def _off(a: Any, b: Any) -> float:
    b = np.asarray(b, dtype=float)
    return float(np.abs(np.asarray(a) - b).max() / np.abs(b).max())


def _table(found: dict[str, Compared]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, c in found.items():
        rows.append((name, "complex steps", *c.exact))
        if c.printed:
            rows.append((name, "Barman as corrected", *c.printed))
    head = ("", "against", "by positions", "by velocities", "by accelerations")
    return Table("Largest relative differences of derivatives of torques", head, tuple(rows), digits=2)


def _picture(robot: Robot, dtau_dq: Array) -> Picture:
    from matplotlib.figure import Figure

    caption = (
        "dtau/dq of two arms on one waist: a square for each entry that is not zero, larger for larger entries. The"
        " waist feels all joints, each arm feels itself, and none feels where the upright waist stands."
    )
    names = [n.replace("_joint", " ") for n in robot.names]
    row, column = np.nonzero(dtau_dq)
    size = np.abs(dtau_dq[row, column])
    with style():
        figure = Figure(figsize=(5.4, 4.8), layout="constrained")
        axes = figure.subplots()
        area = 6.0 + 90.0 * np.clip(1.0 + np.log10(np.maximum(size / size.max(), 1e-9)) / 4.0, 0.0, 1.0)
        axes.scatter(column, row, s=area, marker="s", color=COLOURS[0], linewidths=0)
        axes.set_xticks(range(robot.nv), names, rotation=90)
        axes.set_yticks(range(robot.nv), names)
        axes.set(xlabel="position of", ylabel="torque of", aspect="equal")
        axes.set(xlim=(-0.7, robot.nv - 0.3), ylim=(robot.nv - 0.3, -0.7))
    return Picture(caption, inline_svg(figure, "loaded-sensitivities", caption))
