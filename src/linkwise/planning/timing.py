"""The fastest timing of a given path."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.check import positive, whole
from linkwise.errors import InputError
from linkwise.motion.environment import Environment
from linkwise.motion.limits import TOLERANCE
from linkwise.planning.bounds import Bounds, a_robot, single_joints
from linkwise.planning.certified import LeastDistance, along_path
from linkwise.planning.chart import Chart, chart_of
from linkwise.planning.drives import check_held, drives_of
from linkwise.planning.nearness import Nearness
from linkwise.planning.path import Path
from linkwise.planning.path_rows import PathModel
from linkwise.planning.positions import path_of_points
from linkwise.planning.rate_limited import fastest_smooth_law
from linkwise.planning.reachability import fastest_law
from linkwise.planning.retimed import FINER, Retimed, shares
from linkwise.planning.term_and_constraint import Constraint
from linkwise.planning.time_law import Solved, TimeLaw
from linkwise.robot.robot import Robot

Array = NDArray[np.float64]

REFINEMENTS, TIGHTENINGS = 2, 4
INTERVALS = {"reachability": 800, "interior point": 200}


def retime(
    robot: Robot,
    path: Any,
    *,
    velocity: Any = None,
    acceleration: Any = None,
    jerk: Any = None,
    effort: Any = None,
    effort_rate: Any = None,
    base_motion: Any = None,
    external: Any = None,
    clearance: Constraint | None = None,
    intervals: int | None = None,
    dt: float = 1e-3,
) -> Retimed:
    """The fastest motion along a path, from rest to rest, that keeps the limits of velocity, effort, effort rate, ...

    Without limits of effort rate or jerk the timing is the best there is, found by reachability analysis; with them it
    is a local optimum, found by an interior-point method, in which torques (or accelerations) are continuous from rest
    to rest. So it is where drives are elastic, whose torques depend on the fourth derivative of the path's parameter,
    and where a base moves or loads act, since torques then depend on the time at which the robot is somewhere. Limits
    are checked on a grid eight times finer, and the timing is refined where they are exceeded by more than 0.1 %. A
    path that leads a joint out of its range, or that a drive is too weak for, is refused with joint, place and figure.

    Args:
        robot: any machine all of whose motion drives determine; friction is counted. A floating base that nothing
            drives cannot be led along a path: use `lw.plan`.
        path: points to pass through (rows, nq) or mappings by joint; a spline of SciPy; or a `Path`. Its parameter has
            no meaning of time. With loops, of what leads, or points of all joints; motors behind springs follow.
        velocity, acceleration, jerk, effort, effort_rate: limits in place of the robot's: a number for all joints, one
            for each, or a mapping by joint, which leaves the others as they are; infinite for none. With loops,
            motion is limited of joints that follow too, and effort of drives; of elastic ones that of their motors.
        base_motion: the base's `Pose` in the world as a function of time, written for any scalar, where it moves.
        external: wrenches on the robot by frame or link, or functions of time that return them.
        clearance: an lw.limit.clearance(...) that the path has to keep; it is refused, with the place, if it does not.
        intervals: of the path, in which the timing is one piece; 800 without it, or 200 where the method is that of
            interior points. Times fall towards the best by about 1/intervals.
        dt: time between samples of the result, s.
    """
    started = perf_counter()
    robot, chart, given = _course(robot, path)
    bounds = Bounds.of(
        robot, "retime", velocity=velocity, acceleration=acceleration, jerk=jerk, effort=effort, effort_rate=effort_rate
    )
    sample = positive(dt, "retime dt")
    model = PathModel(robot, bounds, chart, Environment.of(robot, base_motion, external))
    _check_smooth(model, given)
    _check_within(model, given)
    least = _checked_clearance(model, given, clearance)
    method = "reachability" if model.plain and not model.smooth else "interior point"
    asked = INTERVALS[method] if intervals is None else whole(intervals, "retime intervals", 4)
    broken = given
    if model.has_friction:
        broken = given.with_reversals(lambda s: np.asarray(model.joints(model.leads(given, s))[1]))
    used = broken if method == "reachability" else broken.eased(model.order)
    (law, history, converged), share, pieces = _refined(model, used, asked, method)
    notes = _local(model)
    jumps = given.jumps(2 + model.stretch) if model.smooth else []
    if jumps:
        places = ", ".join(f"{s:.4g}" for s in jumps[:5])
        what = f"derivative {2 + model.stretch} of the path" if model.stretch else "the path's curvature"
        notes.append(f"torques jump where {what} does, at s = {places}; limits of rates hold between")
    if not converged:
        notes.append("the method stopped before it could show that no faster timing is near; limits are kept")
    if share > 1.0 + TOLERANCE:
        law, slower = _slowed(model, used, law)
        notes.append(f"slowed by the factor {slower:.4f} to keep limits between points; use more intervals")
    facts = {
        "method": method,
        "intervals": pieces,
        "iterations": len(history),
        "converged": converged,
        "seconds": perf_counter() - started,
    }
    found = Retimed.of(model, used, law, sample, history, tuple(notes), facts)
    if least is None or clearance is None:
        return found
    scene = clearance.scene(robot)
    at = float(law.times(used.inverse(np.array([least.time])))[0])
    return replace(found, clearance=replace(least, time=at), scenes=(scene,) if scene else ())


def _checked_clearance(model: PathModel, path: Path, clearance: Constraint | None) -> LeastDistance | None:
    """The least distance along a path, s being its time; refused where that is below the margin."""
    scene = clearance.scene(model.robot) if isinstance(clearance, Constraint) else None
    if clearance is None:
        return None
    if scene is None:
        raise InputError(f"retime clearance: expected lw.limit.clearance(...) with shapes, got {clearance!r}.")
    if not model.environment.steady:
        raise InputError("retime clearance: expected a base that stands and steady loads, got others.")
    least = along_path(Nearness(scene, model.chart), path, clearance.margin)
    if least.distance < clearance.margin:
        a, b = least.pair
        raise InputError(
            f"retime path: {a!r} and {b!r} come as near as {least.seen:.4g} m at s = {least.time:.4g}, expected at"
            f" least {clearance.margin:g} m. Choose another path, such as one that lw.plan finds."
        )
    return least


def _course(robot: Any, path: Any) -> tuple[Robot, Chart, Path]:
    """The robot, in the assembly mode of a path, and the path in numbers from which its positions follow."""
    a_robot(robot, "retime")
    check_held(robot, "retime", "Use lw.plan, which finds where it goes.")
    chart, links = chart_of(robot), robot.rigid()
    curve = isinstance(path, Path) or (hasattr(path, "derivative") and callable(path))
    if curve and chart.turns:
        raise InputError("retime path: expected points, since positions have quaternions, got a curve.")
    if curve or chart.lead_n == robot.opened().nq:  # the numbers are all positions
        return robot, chart, Path.of(links, path, "retime")
    return path_of_points(robot, path, "retime", 3 + 2 * drives_of(robot).levels)


def _check_smooth(model: PathModel, path: Path) -> None:
    """Refuse paths on which torques would be infinite, where a derivative jumps."""
    for order in range(1, 2 + model.stretch):
        for s in path.jumps(order)[:1]:
            what = "corners" if order == 1 else f"jumps of derivative {order}, on which springs of drives would tear"
            raise InputError(
                f"retime path: expected one without {what}, got one at s = {s:.4g}, where no motion could go on. Give"
                " points, through which a smooth curve is laid, or retime the parts one by one."
            )


def _local(model: PathModel) -> list[str]:
    """Why the timing is a local optimum, where no limit of rates makes it one; and what is neglected."""
    why = []
    if model.stretch:
        why.append(f"torques of elastic drives depend on derivative {2 + model.stretch} of the path's parameter")
    if not model.environment.steady:
        why.append("torques depend on the time at which the robot is somewhere")
    local = f"{', and '.join(why)}: the timing is a local optimum" if why else ""
    return [note for note in (local, drives_of(model.robot).neglected) if note]


def _refined(model: PathModel, path: Path, intervals: int, method: str) -> tuple[Solved, float, int]:
    """A law that keeps limits between its points too, the largest share of a limit, and the intervals.

    Where limits are exceeded within an interval they are tightened there; where that does not help, or the method does
    not converge, there are more intervals.
    """
    for refined in range(REFINEMENTS + 1):
        count = intervals << refined
        tight = None
        for _ in range(TIGHTENINGS + 1):
            try:
                solved = (fastest_law if method == "reachability" else fastest_smooth_law)(model, path, count, tight)
            except InputError:
                if tight is None:
                    raise
                break
            used = _largest_shares(model, path, solved.law)
            if used.max() <= 1.0 + TOLERANCE:
                break
            tight = (1.0 if tight is None else tight) * np.where(used > 1.0 + 0.5 * TOLERANCE, used, 1.0)
        if used.max() <= 1.0 + TOLERANCE and solved.converged:
            break
    return solved, float(used.max()), count


def _largest_shares(model: PathModel, path: Path, law: TimeLaw) -> Array:
    """The largest share of any limit in each interval."""
    found = [share.max(axis=(1, 2)) for share in shares(model, path, law).values()]
    return np.max(found, axis=0) if found else np.zeros(len(law.x) - 1)


def _slowed(model: PathModel, path: Path, law: TimeLaw) -> tuple[TimeLaw, float]:
    """The law, slower as a whole, until limits hold."""
    total = 1.0
    for _ in range(40):
        used = float(_largest_shares(model, path, law.slowed(total)).max())
        if used <= 1.0 + TOLERANCE:
            return law.slowed(total), total
        total *= min(max(np.sqrt(used), 1.0005), 1.5)
    raise InputError("retime: no timing keeps the limits between points of the path. Use more intervals.")


def _check_within(model: PathModel, path: Path) -> None:
    """Refuse a path that leads joints out of their range, its start and end among them."""
    x = np.linspace(path.start, path.end, 8 * FINER * 25 + 1)
    q = model.joints(model.leads(path, x))[0]
    slots = model.robot.rigid().opened().slots
    for joint, slot, ratio in single_joints(model.robot, slots):
        offset = joint.mimic.offset if joint.mimic and joint.name not in slots else 0.0
        own = q[:, slot.q] * ratio + offset
        low, high = joint.limits.lower, joint.limits.upper
        slack = TOLERANCE * max(1.0, *(abs(x) for x in (low, high) if np.isfinite(x)), 0.0)
        over = np.nan_to_num(np.maximum(low - own, own - high), nan=0.0)
        k = int(np.argmax(over))
        if over[k] > slack:
            at = (
                "the start" if k == 0 else "the end" if k == len(x) - 1 else f"s = {path.place(x[k : k + 1])[0][0]:.4g}"
            )
            raise InputError(
                f"retime: at {at} the path leads joint {joint.name!r} to {own[k]:.4g}, out of its limits {low:.4g} to"
                f" {high:.4g}. Take another path, or a robot with other limits."
            )
