"""The fastest timing of a path under limits of torques and of their rates, and a reference slowed while it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from linkwise.figures import COLOURS, LIMIT, style
from linkwise.formats.registry import load
from linkwise.kernel.compile import compile
from linkwise.motion.trajectory import Array
from linkwise.planning.online import Run, scaler
from linkwise.planning.retimed import Retimed
from linkwise.planning.timing import retime
from linkwise.robot.robot import Robot
from papers.experiments import Cell, Experiment, Picture, Table
from papers.pictures import inline_svg
from papers.planning_arms import EFFORT, GOAL, RATE, START

STEPS = (1000, 2000)  # of the independent program along the path
INTERVALS = (800, 1600)  # of ours
# a step without jerk at its ends
SMOOTH = np.polynomial.Polynomial([0.0, 0.0, 0.0, 0.0, 35.0, -84.0, 70.0, -20.0])
SEEN = (120, 0.0025)  # points of the reference that the scaler sees ahead, and s between them
ENDS = np.array([[0.0, -2.0], [1.0, -1.0]])  # of the straight path of the two links
TORQUE = 10.0  # N m
HURRY = 0.8  # the reference takes so much of the time that limits of rates allow
SLACK = 1e-3  # by which limits may be exceeded between the points where they are kept


def two_link_parts(s: Array) -> tuple[Array, Array]:
    """a and b (rows, 2) of tau = a s_ddot + b s_dot^2 along the straight path, by textbook equations of the arm."""
    m, l, c, I = 0.5, 0.4, 0.2, 0.1
    d = ENDS[1] - ENDS[0]
    q2 = ENDS[0, 1] + s * d[1]
    M11 = 2 * I + m * c**2 + m * (l**2 + c**2 + 2 * l * c * np.cos(q2))
    M12, M22 = I + m * (c**2 + l * c * np.cos(q2)), I + m * c**2
    h = m * l * c * np.sin(q2)
    a = np.stack([M11 * d[0] + M12 * d[1], M12 * d[0] + M22 * d[1]], axis=1)
    return a, np.stack([-h * (2 * d[0] * d[1] + d[1] ** 2), h * d[0] ** 2], axis=1)


def fastest_in_the_plane(steps: int) -> float:
    """The least time along the path: the highest s_dot^2 from which one can still stop, then greedily forwards.

    Every step finds by bisection the largest z = s_dot^2 that keeps torques within limits and leads to where the next
    step can stop from; no program of the library is used.
    """
    ds = 1.0 / steps
    a, b = two_link_parts(np.linspace(0.0, 1.0, steps + 1))

    def most(k: int, z: float) -> tuple[float, float]:
        """The least and the largest s_ddot that torques allow at z."""
        low, high = -np.inf, np.inf
        for x, y in zip(a[k].tolist(), b[k].tolist(), strict=True):
            ends = sorted(((-TORQUE - y * z) / x, (TORQUE - y * z) / x))
            low, high = max(low, ends[0]), min(high, ends[1])
        return low, high

    top = [0.0] * (steps + 1)
    for k in range(steps - 1, -1, -1):
        low, high = 0.0, 1e4
        for _ in range(60):
            z = 0.5 * (low + high)
            least, largest = most(k, z)
            good = least <= largest and z + 2.0 * ds * least <= top[k + 1] and z + 2.0 * ds * largest >= 0.0
            low, high = (z, high) if good else (low, z)
        top[k] = low
    best = [0.0]
    for k in range(steps):
        best.append(min(top[k + 1], best[k] + 2.0 * ds * most(k, best[k])[1]))
    speeds = np.sqrt(np.maximum(best, 0.0))
    return float((2.0 * ds / (speeds[1:] + speeds[:-1])).sum())


def stanford_limits() -> tuple[Robot, Array, Array]:
    """The Stanford arm without friction, its torques and their rates."""
    return load("stanford").without_friction(), np.array(EFFORT), RATE * np.array(EFFORT)


def smooth_step(T: float, t: Array) -> tuple[Array, ...]:
    """From the start to the goal in the time T, still before and after: q, qd, qdd, qddd."""
    u = np.clip(t / T, 0.0, 1.0)[:, None]
    q, *rates = (np.multiply(SMOOTH.deriv(k)(u) if k else SMOOTH(u), np.subtract(GOAL, START)) / T**k for k in range(4))
    return START + q, *rates


def stretched_step(robot: Robot, effort: Array, rate: Array) -> float:
    """The time of the smooth step between the same ends that keeps the same limits, by stretching it alone."""
    kernel = compile(robot).force_rates
    low, high = 0.1, 10.0
    for _ in range(40):
        T = 0.5 * (low + high)
        tau, tau_dot = kernel(*smooth_step(T, np.linspace(0.0, T, 801)))
        kept = (np.abs(tau) <= effort).all() and (np.abs(tau_dot) <= rate).all()
        low, high = (low, T) if kept else (T, high)
    return high


def slowed(robot: Robot, effort: Array, rate: Array, T: float) -> Run:
    """A smooth step of the time T, too fast for the limits, as the scaler lets it run."""
    preview, spacing = SEEN
    found = scaler(robot, effort=effort, effort_rate=rate, preview=preview, spacing=spacing)
    return found.run(partial(smooth_step, T), T)


def without_steps(times: Sequence[float]) -> float:
    """What times tend to whose error falls with the step, from those of one step and of half of it."""
    return 2.0 * times[1] - times[0]


def retiming() -> Experiment:
    """Fastest timings of paths against an independent program, and a reference that is slowed as it runs."""
    arm = load("rr")
    ours = [retime(arm, ENDS, effort=TORQUE, intervals=n).duration for n in INTERVALS]
    true = [fastest_in_the_plane(n) for n in STEPS]
    off = abs(without_steps(ours) / without_steps(true) - 1.0)
    robot, effort, rate = stanford_limits()
    path = np.array([START, GOAL])
    jumping = retime(robot, path, effort=effort)
    smooth = retime(robot, path, effort=effort, effort_rate=rate)
    stretched = stretched_step(robot, effort, rate)
    T = HURRY * smooth.duration
    unslowed = compile(robot).force_rates(*smooth_step(T, np.linspace(0.0, T, 801)))
    run = slowed(robot, effort, rate, T)
    shares = {"torques": (unslowed[0], run.tau, effort), "rates": (unslowed[1], run.tau_dot, rate)}
    kept = all((np.abs(x) <= (1.0 + SLACK) * most).all() for _, x, most in shares.values())
    times = {
        "torques limited": jumping.duration,
        "torques and their rates limited": smooth.duration,
        "a smooth step, stretched until it keeps both": stretched,
        f"a smooth step of {T:.3f} s, slowed as it runs": float(run.t[-1]),
    }
    return Experiment(
        name="retiming",
        title="The fastest timing of a path, and a reference slowed as it runs",
        source="Guarino Lo Bianco, sections I and II: what needs torque rates is to bound them",
        finding=f"Along a path of two links an independent program finds the same least time,"
        f" {without_steps(true):.5f} s, to {off:.0e}. The Stanford arm takes {smooth.duration:.3f} s where rates are"
        f" limited, {jumping.duration:.3f} s where torques may jump; a reference of {T:.3f} s is slowed to"
        f" {run.t[-1]:.3f} s and keeps both limits.",
        text=(
            "Where the path is given, only its timing is free: one unknown function, s_dot^2 over s. The source asks"
            " for torque rates because trajectories that ignore them cannot be followed; here they bound the timing.",
            f"The scaler does not know the path beforehand. It sees {SEEN[0] * SEEN[1]:g} s ahead and lets the time"
            " of the reference run slower, just enough, sample after sample.",
        ),
        tables=(_plane_table(ours, true), _times_table(times), _shares_table(shares)),
        pictures=(_timings(robot, jumping, smooth), _slowing(robot, run, unslowed[0], T)),
        assumptions=(
            "Paths are straight lines between positions of the joints; limits of the Stanford arm are those of the"
            " experiment planned-arms. The source has no such experiment: it points to others that need its rates.",
            "Times with few steps are above or below the least by about a step; what they tend to is compared.",
        ),
        agrees=off < 1e-5
        and jumping.duration < smooth.duration < stretched
        and kept
        and bool(np.asarray(run.kept).all())
        and smooth.duration <= run.t[-1] + 2e-3,
    )


def _plane_table(ours: Sequence[float], true: Sequence[float]) -> Table:
    rows: list[tuple[Cell, ...]] = [("ours", n, T) for n, T in zip(INTERVALS, ours, strict=True)]
    rows += [("independent", n, T) for n, T in zip(STEPS, true, strict=True)]
    rows += [
        ("ours, what it tends to", None, without_steps(ours)),
        ("independent, what it tends to", None, without_steps(true)),
    ]
    return Table("Two links on a straight path, torques within 10 N m", ("", "steps", "time, s"), tuple(rows), digits=7)


def _times_table(times: Mapping[str, float]) -> Table:
    return Table(
        "The Stanford arm along a straight path of its joints", ("", "time, s"), tuple(times.items()), digits=4
    )


def _shares_table(shares: Mapping[str, tuple[Array, Array, Array]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, (before, after, most) in shares.items():
        rows.append((name, *(f"{100.0 * (np.abs(x) / most).max():.1f} %" for x in (before, after))))
    return Table("Most of a limit that the reference uses", ("", "as it is", "slowed"), tuple(rows))


def _timings(robot: Robot, jumping: Retimed, smooth: Retimed) -> Picture:
    caption = (
        "Torques as shares of their limits along the fastest timing: left where they may jump, right with their rates."
    )
    return _shares_picture("retiming-torques", caption, robot, {
        "torques limited": (jumping.t, jumping.tau), "torques and their rates limited": (smooth.t, smooth.tau),
    })  # fmt: skip


def _slowing(robot: Robot, run: Run, unslowed: Array, T: float) -> Picture:
    caption = (
        "Torques as shares of their limits along a reference that is too fast: left as it is, right slowed as it runs."
    )
    t = np.linspace(0.0, T, len(unslowed))
    return _shares_picture("retiming-scaler", caption, robot, {
        "as it is": (t, unslowed), "slowed": (run.t, run.tau),
    })  # fmt: skip


def _shares_picture(name: str, caption: str, robot: Robot, curves: Mapping[str, tuple[Array, Any]]) -> Picture:
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(9.6, 3.2), layout="constrained")
        for axes, (title, (t, tau)) in zip(
            figure.subplots(1, 2, sharex=True, sharey=True), curves.items(), strict=True
        ):
            for joint, column, colour in zip(robot.names, (tau / np.array(EFFORT)).T, COLOURS, strict=False):
                axes.plot(t, column, color=colour, label=joint, lw=1.3)
            for x in (-1.0, 1.0):
                axes.axhline(x, color=LIMIT, lw=1.0, ls="--")
            axes.set(xlabel="time, s", title=title)
        figure.axes[0].set_ylabel("torque / limit")
        figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside right center")
    return Picture(caption, inline_svg(figure, name, caption))
