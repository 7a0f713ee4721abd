"""Sensitivities of Barman's arms of two links: exact ones, his recursion as corrected, and finite differences."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from math import pi
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwise.algorithms.derivatives import inverse_dynamics_derivatives
from linkwise.algorithms.inverse_dynamics import inverse_dynamics, joint_wrenches
from linkwise.figures import COLOURS, LINE, style
from linkwise.formats.dh_rows import DHRow
from linkwise.formats.registry import load
from linkwise.kernel.compile import compile
from linkwise.motion.trajectory import Array
from linkwise.robot.robot import Robot
from linkwise.vector import Vec3
from papers.errata import barman
from papers.experiments import Cell, Experiment, Picture, Table
from papers.pictures import inline_svg, panels
from papers.stanford import quintic

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOLERANCE = 1e-12  # relative to the largest number of a matrix
UNIT = 2.0**-53  # half of the last place of numbers near one
EXACT_STEP = 1e-40  # of a complex step, which has no round-off
STEPS = np.logspace(-13, -0.5, 76)
NAMES = ("dtau_dq", "dtau_dqd", "M")
MOTION_TIME = 1.0  # s
Pair = tuple[float, float]


class Arm(NamedTuple):
    """A bundled robot, the same as the thesis writes it, a state to look at, and a motion between two positions."""

    title: str
    robot: str
    rows: tuple[DHRow, ...]
    state: tuple[Pair, Pair, Pair]
    ends: tuple[Pair, Pair]


def _row(theta: float, d: float, a: float, alpha: float, kind: str, com: Vec3, *inertia: float) -> DHRow:
    return DHRow(theta, d, a, alpha, kind, mass=0.5, com=com, inertia=inertia)


ARMS = (
    Arm(
        "two revolute joints, Table 4.1",
        "rr",
        (_row(0.0, 0.0, 0.4, 0.0, "revolute", Vec3(-0.2, 0.0, 0.0), 0.0, 0.0, 0.1),) * 2,
        ((0.3, -1.4), (1.5, -2.2), (4.0, -3.0)),
        ((0.0, 0.5), (pi / 2, -2.0)),
    ),
    Arm(
        "a prismatic and a revolute joint, Table 4.3",
        "pr",
        (
            _row(pi / 2, 0.4, 0.0, pi / 2, "prismatic", Vec3(0.0, -0.2, 0.0), 0.1, 0.1, 0.1),
            _row(pi / 2, 0.0, 0.4, 0.0, "revolute", Vec3(-0.2, 0.0, 0.0), 0.0, 0.0, 0.1),
        ),
        ((0.25, -0.3), (0.8, -1.1), (2.0, 3.0)),
        ((0.0, -1.2), (0.5, 1.2)),
    ),
)


def sensitivities() -> Experiment:
    """Derivatives of torques and joint wrenches of Barman's two arms, and what finite differences make of them."""
    robots = {arm.robot: load(arm.robot) for arm in ARMS}
    worst, tables, curves = 0.0, [], {}
    for arm in ARMS:
        robot = robots[arm.robot]
        errors = exactness(robot, arm)
        worst = max(worst, *errors.values())
        curves[arm] = step_errors(robot, arm)
        tables.append(_matrices_table(robot, arm))
    tables.append(_errors_table([(arm, exactness(robots[arm.robot], arm), curves[arm]) for arm in ARMS]))
    tables.append(_operations_table([*robots.values(), load("stanford"), load("puma560")]))
    best = min(float(c["central"].min()) for c in curves.values())
    return Experiment(
        name="sensitivities",
        title="Sensitivities of torques and joint wrenches",
        source="Barman, chapter III; the arms of Tables 4.1 to 4.4",
        finding=f"Derivatives by recursion agree with complex steps and with Barman's equations as corrected to"
        f" {worst:.0e}; central differences of the torques reach {best:.0e} at the best step, and no step serves all.",
        text=(
            "A planner needs to know how torques and the forces through the joints change with positions, velocities"
            " and accelerations. The thesis derives them link by link in moving coordinates, with misprints that the"
            " experiment errata lists. Here they come from fields of disturbance, which are carried along the tree.",
            "Finite differences trade truncation, which falls with the step, against round-off, which grows: their"
            " error is a V. The recursion has no step to choose.",
        ),
        tables=tuple(tables),
        pictures=(_steps_picture(curves), *(_wrench_picture(robots[arm.robot], arm) for arm in ARMS)),
        assumptions=(
            "The thesis gives no state with numbers: those of the tables are ours.",
            "Gravity acts across the planes of motion, as the thesis's horizontal planes demand.",
            "Exact derivatives are those of the plain algorithm at a complex step of 1e-40.",
        ),
        agrees=worst <= TOLERANCE,
    )


def exactness(robot: Robot, arm: Arm) -> dict[str, float]:
    """Relative errors of our derivatives at the arm's state: of torques against two others, of wrenches against one."""
    found = compile(robot).joint_wrench_derivatives(*arm.state)
    theirs = barman.inverse_dynamics(arm.rows, *arm.state, robot.gravity)
    n = robot.nv
    tau, wrench = ([_by_complex_step(robot, arm, k, part) for k in range(3)] for part in (0, 1))
    printed = (theirs.dtau_dq, theirs.dtau_dqd, theirs.dtau_dqdd)
    return {
        "torques against complex steps": _worst(zip(found[:3], tau, strict=True)),
        "torques against Barman as corrected": _worst(zip(found[:3], map(np.array, printed), strict=True)),
        "joint wrenches against complex steps": _worst(
            (x.reshape(-1, n), y) for x, y in zip(found[3:], wrench, strict=True)
        ),
    }


def step_errors(robot: Robot, arm: Arm) -> dict[str, Array]:
    """Relative errors of dtau_dq by forward and central differences, for each of `STEPS`; and that of ours."""
    kernel = compile(robot).inverse_dynamics
    q, qd, qdd = map(np.array, arm.state)
    exact, unit = _by_complex_step(robot, arm, 0, 0), np.eye(robot.nv)
    size = np.abs(exact).max()
    h = STEPS[:, None, None]
    up, down, here = kernel(q + h * unit, qd, qdd), kernel(q - h * unit, qd, qdd), kernel(q, qd, qdd)
    ours = compile(robot, inverse_dynamics_derivatives, route="recursion")(q, qd, qdd).dtau_dq
    found = {"forward": (up - here) / h, "central": (up - down) / (2.0 * h)}
    errors = {name: np.abs(x.swapaxes(1, 2) - exact).max(axis=(1, 2)) / size for name, x in found.items()}
    return {**errors, "recursion": np.full(len(STEPS), np.abs(ours - exact).max() / size)}


def _by_complex_step(robot: Robot, arm: Arm, of: int, part: int) -> Array:
    """Exact derivatives of torques (part 0) or joint wrenches (1) by q, qd or qdd, flat rows."""
    columns = []
    for k in range(robot.nv):
        state = [[x + 1j * EXACT_STEP * ((i, j) == (of, k)) for j, x in enumerate(y)] for i, y in enumerate(arm.state)]
        columns.append([complex(x).imag / EXACT_STEP for x in joint_wrenches.plain(robot, *state)[part]])
    return np.array(columns).T


def _worst(pairs: Iterable[tuple[Array, Array]]) -> float:
    return max(float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-300)) for a, b in pairs)


def _matrices_table(robot: Robot, arm: Arm) -> Table:
    """The three matrices at the arm's state."""
    found = compile(robot).inverse_dynamics_derivatives(*arm.state)
    rows: list[tuple[Cell, ...]] = []
    for k, name in enumerate(robot.names):
        rows.append((name, *(float(x) for matrix in found for x in matrix[k])))
    head = ("torque of", *(f"by {x}{j + 1}" for x in ("q", "qd", "qdd") for j in range(robot.nv)))
    state = ", ".join(f"{x} = {y}" for x, y in zip(("q", "qd", "qdd"), arm.state, strict=True))
    return Table(f"Derivatives of torques: {arm.title}", head, tuple(rows), f"At {state}.")


def _errors_table(found: Iterable[tuple[Arm, dict[str, float], dict[str, Array]]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for arm, exact, curves in found:
        rows += [(arm.robot, f"ours, {what}", None, x) for what, x in exact.items()]
        for kind in ("forward", "central"):
            at = int(curves[kind].argmin())
            rows.append(
                (arm.robot, f"{kind} differences of torques, best step", float(STEPS[at]), float(curves[kind][at]))
            )
    head = ("arm", "", "step", "largest error, relative")
    return Table("How exact they are", head, tuple(rows), "", 3)


def _operations_table(robots: Iterable[Robot]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for robot in robots:
        counts = [compile(robot, a).count() for a in (inverse_dynamics, inverse_dynamics_derivatives)]
        alone, derived = (c["mul"] + c["add"] for c in counts)
        rows.append((robot.name, alone, derived, 6 * robot.nv * alone))
    head = ("arm", "torques", "all derivatives", "all derivatives by central differences")
    note = "Multiplications and additions of one state, after constants are folded; sines are not counted."
    return Table("What they cost", head, tuple(rows), note)


def _steps_picture(curves: dict[Arm, dict[str, Array]]) -> Picture:
    caption = (
        "Error of dtau/dq by finite differences against their step, and by recursion, which has none; what is less than"
        " half a unit of the last place is drawn there."
    )
    return Picture(caption, inline_svg(steps_figure(curves), "sensitivities-steps", caption))


def steps_figure(curves: dict[Arm, dict[str, Array]]) -> Figure:
    """Errors against the step, in logarithms, one picture for each arm."""
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(7.6, 2.9), layout="constrained")
        for axes, (arm, found) in zip(figure.subplots(1, 2, sharey=True), curves.items(), strict=True):
            for (name, error), colour in zip(found.items(), (COLOURS[1], COLOURS[2], LINE), strict=True):
                axes.loglog(STEPS, np.maximum(error, UNIT), color=colour, label=name)
            axes.set_title(arm.title)
            axes.set_xlabel("step, rad or m")
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_major_formatter(lambda x, _: f"1e{round(math.log10(x))}")
        figure.axes[0].set_ylabel("relative error of dtau/dq")
        figure.axes[0].set_ylim(1e-17, 10.0)
        figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def _wrench_picture(robot: Robot, arm: Arm) -> Picture:
    """How the wrench through the first joint changes with the second joint's position, along a motion."""
    caption = (
        f"The wrench through joint 1 of {arm.title.split(', ')[0]}: its derivatives by the position of joint 2 along a"
        " motion from rest to rest, in the axes of link 1, with central differences as dots."
    )
    start, end = map(np.array, arm.ends)
    t, few = np.linspace(0.0, MOTION_TIME, 201), np.linspace(0.05, 0.95, 10) * MOTION_TIME
    by_q = compile(robot).joint_wrench_derivatives(*quintic(start, end, MOTION_TIME, t)[:3]).dwrench_dq[:, 0, :, 1]
    dots = _differences(compile(robot).joint_wrenches, quintic(start, end, MOTION_TIME, few)[:3])
    titles = {"dFx/dq2, N/rad": 0, "dFy/dq2, N/rad": 1, "dMz/dq2, N m/rad": 5}
    curves = {title: by_q[:, k] for title, k in titles.items()}
    marks = {title: (few, dots[:, k]) for title, k in titles.items()}
    drawn = panels(t, curves, marks, "time, s", "differences")
    return Picture(caption, inline_svg(drawn, f"sensitivities-{arm.robot}", caption))


def _differences(kernel: Callable[..., Any], state: tuple[Array, ...], h: float = 1e-5) -> Any:
    """Central differences of the first joint's wrench by the second position."""
    q, qd, qdd = state
    step = np.array([0.0, h])
    return (kernel(q + step, qd, qdd).wrench - kernel(q - step, qd, qdd).wrench)[:, 0] / (2.0 * h)
