"""Closed loops after Khalil: a four-bar and a five-bar linkage, and a palletising arm with three parallelograms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from linkwise.algorithms.multipliers import multiplier_dynamics
from linkwise.figures import COLOURS, LINE, style
from linkwise.formats.registry import load
from linkwise.kernel.compile import compile
from linkwise.kernel.dynamics import Dynamics
from linkwise.mechanism.assemble import Assembler
from linkwise.mechanism.structure import structure_of
from linkwise.motion.trajectory import Array
from linkwise.robot.link import Frame
from linkwise.robot.robot import Robot
from papers.experiments import Cell, Experiment, Picture, Table
from papers.linkages import draw, tidy
from papers.pictures import inline_svg

SOURCE = "Khalil, sections 2.2 and 4, (55)-(58), with the transpose in (57)"
TOLERANCE = 1e-8
ROWS = 361


class Course(NamedTuple):
    """A motion of what leads, what it takes, and how well the routes agree; `q` is of all joints."""

    dynamics: Dynamics
    t: Array
    lead: tuple[Array, Array, Array]
    q: Array
    tau: Array
    cut: Array
    condition: Array
    checks: dict[str, float]

    @property
    def robot(self) -> Robot:
        """The linkage."""
        return self.dynamics.robot

    @property
    def worst(self) -> float:
        """The largest of the checks."""
        return max(self.checks.values())


def course(name: str, t: Array, motion: tuple[Array, Array, Array]) -> Course:
    """A bundled robot along a motion of what leads."""
    robot = load(name)
    dyn, structure = compile(robot), structure_of(robot)
    at = dyn.positions(motion[0], along=True)
    tau, _, cut = dyn.joint_wrenches(*motion)
    back = dyn.forward_dynamics(motion[0], motion[1], tau)
    _, qd, qdd = dyn.tree_motion(*motion)
    full = np.zeros_like(qd)
    full[:, list(structure.part.active)] = tau
    by_multipliers = compile(robot.opened(), multiplier_dynamics, part=structure.part)(at.q, qd, full)
    assembler = Assembler(robot)
    checks = {
        "gap of the loops, by the linkage's size": max(float(np.abs(assembler.gap(row)).max()) for row in at.q),
        "forward after inverse model": _apart(back, motion[2]),
        "accelerations by multipliers": _apart(by_multipliers, qdd),
        "reactions as loads on the tree": _apart(_loaded_tree(robot, at.q, qd, qdd, cut), full),
    }
    return Course(dyn, t, motion, at.q, tau, cut, at.condition, checks)


def _loaded_tree(robot: Robot, q: Array, qd: Array, qdd: Array, cut: Array) -> Array:
    """Torques of the tree where what the cut joints carry acts on both sides of each cut: those of the drives alone."""
    ends = [(f"{loop.name} {side}", link, origin) for loop in robot.loops
            for side, link, origin in (("a", loop.a, loop.origin_a), ("b", loop.b, loop.origin_b))]  # fmt: skip
    tree = robot.opened().add(*(Frame(*end) for end in ends))
    dyn = compile(tree, external=tuple(name for name, _, _ in ends))
    loads = np.zeros((len(q), len(ends), 6))
    for k in range(len(robot.loops)):
        R_a, R_b = (dyn.pose(q, ends[2 * k + side][0])[:, :3, :3] for side in (0, 1))
        force, moment = (np.einsum("nij,nj->ni", R_a, cut[:, k, part]) for part in (slice(0, 3), slice(3, 6)))
        for side, sign, R in ((0, -1.0, R_a), (1, 1.0, R_b)):
            loads[:, 2 * k + side, :3] = sign * np.einsum("nji,nj->ni", R, force)
            loads[:, 2 * k + side, 3:] = sign * np.einsum("nji,nj->ni", R, moment)
    found: Array = dyn.inverse_dynamics(q, qd, qdd, loads)
    return found


def four_bar() -> Experiment:
    """A crank that turns evenly: rocker, torque, and the force in the pin that was cut."""
    speed = 2.0 * np.pi
    t = np.linspace(0.0, 1.0, ROWS)
    turn = (0.5 + speed * t)[:, None]
    found = course("fourbar", t, (turn, np.full_like(turn, speed), np.zeros_like(turn)))
    rocker = np.degrees(found.q[:, found.robot.opened().slots["rocker"].q])
    pin = np.linalg.norm(found.cut[:, 0, :3], axis=1)
    curves = {"rocker, degrees": rocker, "torque of the crank, N m": found.tau[:, 0], "force in the cut pin, N": pin}
    caption = "The linkage twelve times in one turn of its crank, with the path of the pin between coupler and rocker;"
    caption += " and over time the rocker, the crank's torque and the force in the pin."
    low, high = float(found.tau.min()), float(found.tau.max())
    return Experiment(
        name="four-bar",
        title="A four-bar linkage turned by its crank",
        source=SOURCE,
        finding=f"An even turn of the crank at 60 per minute takes from {low:.2f} to {high:.2f} N m; the inverse model,"
        f" the forward model and Lagrange multipliers agree to {found.worst:.0e}.",
        text=(
            "The pin between coupler and rocker is cut. Positions of coupler and rocker come from the loop equations,"
            " their rates from the Jacobian G of all joints over the crank, and the crank's torque is G^T times the"
            " torques of the tree.",
            "Five equations hold a revolute joint, but in a plane three of them are always true. They are found by"
            " rank and left out.",
        ),
        tables=(_facts(found), _checks(found)),
        pictures=(_pictured(found, curves, caption, "fourbar", 12),),
        assumptions=("The source gives no linkage: lengths and masses are invented. No friction.",),
        agrees=found.worst <= TOLERANCE,
    )


def five_bar() -> Experiment:
    """Two motors that move a point, and where they lose hold of it."""
    t = np.linspace(0.0, 1.0, ROWS)
    w = 2.0 * np.pi
    span, phase = np.array([0.5, 0.4]), np.array([0.0, 1.2])
    angle = w * t[:, None] + phase
    found = course("fivebar", t, (span * np.sin(angle), span * w * np.cos(angle), -span * w * w * np.sin(angle)))
    printed = printed_57(found)
    curves = {"left motor, N m": found.tau[:, 0], "right motor, N m": found.tau[:, 1]}
    caption = "The linkage six times in one period, with the path of its point, and the torques of its motors."
    return Experiment(
        name="five-bar",
        title="A five-bar linkage with two motors",
        source=SOURCE,
        finding=f"All routes agree to {found.worst:.0e}. Without the transpose that (57) lacks in print the torques"
        f" would be off by {printed:.0%} of their largest.",
        text=(
            "Passive torques act on the motors through the transpose of dqd_p/dqd_a. The matrix is square here, so that"
            " the printed form can be computed, and is wrong.",
            "Where the two outer bars fall in line the motors lose hold of the point: the condition number of the loop"
            " equations grows, and beyond nothing can be reached, which is answered row by row. So they do at the"
            " bright spot, where the ends of the two arms meet and the bars can turn about them.",
        ),
        tables=(_facts(found), _checks(found)),
        pictures=(_pictured(found, curves, caption, "fivebar", 6), _map_of_conditions(found.dynamics)),
        assumptions=("The source gives no linkage: lengths and masses are invented. No friction.",),
        agrees=found.worst <= TOLERANCE and printed > 1e-3,
    )


def palletiser() -> Experiment:
    """A tool that three parallelograms keep level, picked up, turned and put down."""
    t = np.linspace(0.0, 1.5, ROWS)
    motion = tidy(t, np.array([0.0, -0.35, 0.0, 0.35]), np.array([1.2, 0.55, 1.6, -0.1]))
    found = course("palletiser", t, motion)
    tilt = float(np.abs(found.dynamics.pose(motion[0], "plate")[:, 2, 2] - 1.0).max())
    names = found.robot.drives
    curves = {f"{n}, N m": found.tau[:, k] for k, n in enumerate(names)}
    caption = "The arm five times on its way, turned into one plane, and the torques of its four motors."
    top = ", ".join(f"{n} {np.abs(found.tau[:, k]).max():.0f}" for k, n in enumerate(names))
    return Experiment(
        name="palletiser",
        title="A palletising arm with three parallelograms",
        source=f"{SOURCE}; parallel parts within a serial chain",
        finding=f"The tool stays level to {tilt:.0e}; all routes agree to {found.worst:.0e}.",
        text=(
            "Waist, shoulder, crank and flange have motors. One parallelogram moves the forearm by the crank, which"
            " stands on the column; two more pass the column's level on to the tool. Three cuts leave a tree of ten"
            " joints.",
            f"Largest torques of the move, N m: {top}.",
        ),
        tables=(_facts(found), _checks(found)),
        pictures=(_pictured(found, curves, caption, "palletiser", 5),),
        assumptions=("The source gives no such arm: it is invented, with viscous friction at the motors.",),
        agrees=found.worst <= TOLERANCE and tilt <= TOLERANCE,
    )


def printed_57(found: Course) -> float:
    """How far the torques are off, relative to their largest, if (57) is taken as printed, without the transpose."""
    part = structure_of(found.robot).part
    tree = compile(found.robot.opened()).inverse_dynamics(*found.dynamics.tree_motion(*found.lead))
    W = found.dynamics.tree_jacobian(found.lead[0])[:, list(part.passive), :]
    passive = tree[:, list(part.passive), None]
    wrong = tree[:, list(part.independent)] + (W @ passive)[..., 0]
    return _apart(wrong, found.tau)


def _apart(a: Any, b: Any) -> float:
    """The largest difference relative to the largest value; absolute where all are zero."""
    size = float(np.abs(b).max())
    return float(np.abs(a - b).max()) / (size if size > 0.0 else 1.0)


def _facts(found: Course) -> Table:
    s = structure_of(found.robot)
    rows: list[tuple[Cell, ...]] = [
        ("coordinates of the tree", s.robot.opened().nv),
        ("loop equations", len(s.equations)),
        ("of them independent", len(s.part.rows)),
        ("mobility", s.mobility),
        ("joints that lead", ", ".join(s.independent)),
        ("joints that follow", ", ".join(s.passive)),
        ("largest condition number on the way", float(found.condition.max())),
    ]
    return Table("The mechanism", ("", ""), tuple(rows), digits=3)


def _checks(found: Course) -> Table:
    rows = tuple(found.checks.items())
    note = "Relative to the largest value, but for the gap."
    return Table(f"Largest differences over {len(found.t)} rows", ("", "difference"), rows, note, digits=2)


def _pictured(found: Course, curves: Mapping[str, Array], caption: str, prefix: str, shown: int) -> Picture:
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(9.6, max(3.4, 1.5 * len(curves))), layout="constrained")
        parts: Any = figure.subfigures(1, 2, width_ratios=(1.0, 1.1))
        left, right = parts
        axes = left.subplots()
        rows = np.linspace(0, len(found.t) - 1, shown + (prefix != "palletiser"), dtype=int)[:shown]
        draw(axes, found.robot, found.q, rows)
        for panel, (title, y) in zip(_column(right, len(curves)), curves.items(), strict=True):
            panel.plot(found.t, y, color=LINE)
            panel.set_title(title)
        panel.set_xlabel("time, s")
    return Picture(caption, inline_svg(figure, prefix, caption))


def _column(figure: Any, count: int) -> Sequence[Any]:
    found: Sequence[Any] = figure.subplots(count, 1, sharex=True, squeeze=False)[:, 0]
    return found


def _map_of_conditions(dyn: Dynamics) -> Picture:
    from matplotlib.figure import Figure

    caption = "Logarithm of the condition number over the positions of the motors; white where the loop cannot close."
    grid = np.linspace(-2.0, 2.0, 121)
    left, right = np.meshgrid(grid, grid)
    found = dyn.positions(np.stack([left, right], axis=-1))
    with style():
        figure = Figure(figsize=(8.0, 4.4), layout="constrained")
        axes = figure.subplots()
        colours: Any = {"shading": "nearest", "vmin": 0.0, "vmax": 2.0, "cmap": "cividis"}
        drawn = axes.pcolormesh(grid, grid, np.log10(found.condition), **colours)
        drawn.set_rasterized(True)
        figure.colorbar(drawn, ax=axes, label="log10 of the condition number")
        axes.set_xlabel("left motor, rad")
        axes.set_ylabel("right motor, rad")
        axes.plot([0.0], [0.0], marker="+", color=COLOURS[1])
    return Picture(caption, inline_svg(figure, "fivebarmap", caption))
