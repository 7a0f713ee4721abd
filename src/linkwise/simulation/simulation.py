"""Simulation by SciPy's integrators: accurate, with events, energy balance and prescribed joints."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from linkwise.control.sampled import SampledControl
from linkwise.errors import InputError, SimulationError, UnknownNameError
from linkwise.kernel.options import Options
from linkwise.motion.base_motion import BaseMotion
from linkwise.robot.drive import Friction
from linkwise.robot.joint import Joint
from linkwise.robot.robot import Robot
from linkwise.simulation.budget import Budget
from linkwise.simulation.energies import Energies
from linkwise.simulation.events import Watch, watches
from linkwise.simulation.files import versions
from linkwise.simulation.forces import JointStop, firm_stops
from linkwise.simulation.kernels import Kernels, kernels_of
from linkwise.simulation.leading_view import View
from linkwise.simulation.limits import MODES, Limit, LimitWatch, RobotLimits
from linkwise.simulation.motions import Array, Prescribed, prescribed
from linkwise.simulation.progress import Progress
from linkwise.simulation.rates import POWERS
from linkwise.simulation.result import Simulation, Whole
from linkwise.simulation.solver import IMPLICIT, METHODS, STIFF_SOLVER, Choice, Course, Run, work_scale
from linkwise.simulation.start import Start, start_of
from linkwise.simulation.stiffness import STIFF, Slopes, fastest_rate
from linkwise.simulation.system import Control, System, constant, loads_of

ROWS_A_SECOND, FEWEST, MOST = 100, 100, 10_000  # of a result whose times are not given
LONGEST = 0.1  # of steps over which something may happen that the state does not tell, s
RANGES = {"rtol": (1e-13, 0.1), "atol": (1e-30, 1.0), "max_step": (1e-12, np.inf)}


def simulate(
    robot: Robot,
    q0: Any,
    qd0: Any,
    t: Any,
    *,
    control: Any = None,
    driven: Any = None,
    forces: Any = None,
    joint_forces: Any = None,
    external: Any = None,
    base_motion: Any = None,
    method: str | None = None,
    rtol: float = 1e-8,
    atol: float = 1e-10,
    max_step: float | None = None,
    events: Any = None,
    limits: str | None = "note",
    dense: bool = False,
    smooth_friction: bool = True,
    time_limit: float | None = None,
    max_steps: int | None = None,
    progress: Any = None,
) -> Simulation:
    """The motion of a robot under control, prescribed motions of some joints, and forces of its environment.

    Free joints are integrated; driven ones follow their motions exactly, and the torques for that come out in
    `result.tau`, or in `result["elbow"].tau` of any joint. Loops are kept closed in coordinates of the tree, so that
    the motion goes on where what leads does not determine the rest; `result.positions` has all joints. Ctrl-C ends a
    simulation and keeps what was computed.

    Args:
        robot: a tree, fixed or floating, or a machine with loops, which are kept closed.
        q0: positions at the start: of what leads (nq), of all joints of the tree, or by name; None for `robot.q()`.
            Those of driven joints do not matter. Joints that follow, or that are not named, go where they close the
            loops. Motors behind springs that are not given start with their joints.
        qd0: velocities at the start (nv), of all joints, or by name; None for rest.
        t: the final time, s, for rows every 10 ms (at least 101, at most 10001); or rising times of the rows, at the
            first of which the motion starts.
        control: `control(t, q, qd) -> tau` with q (nq) and qd (nv) of what leads and torques (nu) of `robot.drives`; a
            vector or mapping of constant torques; or None. With elastic drives the drives' torques alone will do, as
            many as `robot.motors`; forces of all joints of the tree are taken too. It must depend on its arguments
            alone: solvers try steps that they then discard. A controller that runs in a computer, with a rate, a delay
            and a state of its own, is `lw.control.sampled(law, period)`. Entries of driven joints are not used.
        driven: for each driven joint, whether it leads or follows, a function of time that returns (q, qd, qdd), a
            SciPy spline, or a number to hold.
        forces: laws of the environment by frame, as in `compile`: `law(pose, velocity) -> Wrench`.
        joint_forces: laws along joints, as in `compile`, such as `joint_stops(robot)`.
        external: wrenches on frames or links, in their axes: a `Wrench` or six numbers, or a function of (t, q, qd)
            that gives them.
        base_motion: a function of time that returns the `Pose` of the base in the world, such as
            `lambda t: lw.Pose.of((0.1 * sin(t), 0, 0), rpy=(0, 0, 0.2 * t))`, written for any scalar with the functions
            of `linkwise.scalar`: its velocity and acceleration, and gravity in its axes, follow from that. Positions of
            a floating or planar joint are then those on the base. None for a base that stands.
        method: "DOP853", "RK45", "RK23", or "LSODA", "Radau", "BDF" for stiff forces such as hard contacts; None or
            "auto" is "LSODA" where springs, dampers and viscous friction of joints and drives are stiff, else "DOP853",
            and "LSODA" for the rest once contacts, control or other laws prove stiff on the way.
        rtol: relative tolerance of a step.
        atol: absolute tolerance of a step, in rad, m, rad/s and m/s.
        max_step: longest step, s, shorter than the shortest thing that happens from outside; None is 0.1 s where
            control, motions, wrenches or events are functions, else no bound.
        events: functions of (t, q, qd) whose zeros are sought, one, a list, or by name; with the attributes `terminal`
            and `direction` as SciPy has them.
        limits: what becomes of the robot's limits of position, velocity, acceleration, effort and power, and of its
            torque-speed curves. "note": the motion goes on, and `result.limits_met` and `result.notes` say which were
            exceeded. "saturate": drives give no more than they can, and stops hold joints within their ranges; a stop
            gives way by about 1 mrad or 1 mm under the joint's full effort, and hardly rebounds. Other limits, and
            those of driven joints, are noted. "stop": the motion ends at the first limit, which `result.status` names.
            None: limits are not looked at.
        dense: keep what is needed for `result.state(t)` at any time.
        smooth_friction: integrate dry friction as coulomb * tanh(qd / width), which a solver can pass at standstill.
        time_limit: seconds of wall time that the steps may take, compiling not counted; None for any. When they are
            used up a `SimulationError` says what takes so long, and its `result` has the motion up to there.
        max_steps: the most steps of the solver, with the same end; None is 500,000.
        progress: a function of (t, end) that is called now and then; None writes a line to a terminal after 2 s, False
            does not.

    Returns:
        A `Simulation`.

    Source: [Khalil] section 7.2, end: with joint accelerations given, only the base is integrated.
    """
    if not isinstance(robot, Robot):
        raise InputError(f"simulate: expected a Robot first, got {robot!r}. Load one with lw.load(...).")
    if max_step is None:
        outside = callable(control) or any(x is not None for x in (driven, events, external, base_motion))
        max_step = LONGEST if outside else np.inf
    times, tolerances = checked_times(t), checked_tolerances(rtol=rtol, atol=atol, max_step=max_step)
    budget, method = Budget.checked(time_limit, max_steps), checked_method(method, "simulate")
    model, notes = _model(robot, smooth_friction)
    tree = model.opened()
    motions, loads, base = prescribed(tree, driven), loads_of(external, tree), BaseMotion.of(base_motion)
    watched, sign = watches(events), Progress(float(times[0]), float(times[-1]), progress)
    begin = time.perf_counter()

    beginning = partial(start_of, model, q0, qd0, motions, float(times[0]))
    known, laws = _limits(model, limits, beginning, motions, joint_forces)
    options = Options.checked(tree, external=tuple(loads), forces=forces, joint_forces=laws)
    if base:
        options = replace(options, base_motion=True, gravity="input", base_pose=bool(options.forces))
    kernels = kernels_of(model, options, tuple(m.joint for m in motions))
    start = beginning()
    clipped = known.clipped if known and limits == "saturate" else None
    system = System(model, kernels, _control(model, control), motions, list(loads.values()), base, clipped)
    if isinstance(control, SampledControl):
        system.sample_by(control, times)
    watch = LimitWatch(known, system.moment, limits == "stop", _holding(system, laws, clipped)) if known else None
    notes += start.notes
    y = system.start(start.q, start.qd)
    atols = np.full(len(y), tolerances["atol"])
    atols[-len(POWERS) :] *= work_scale(tree, start.q)

    def options_of(solver: str) -> Choice:
        slopes = {"jac": Slopes(system, kernels.rates)} if solver in IMPLICIT and system.has_slopes else {}
        return solver, {**tolerances, **slopes, "atol": atols}

    def result() -> Simulation:
        facts = run.facts(begin) | {"rtol": tolerances["rtol"], "atol": tolerances["atol"], "versions": versions()}
        met = watch.met() if watch else ()
        every = (*notes, *run.notes, *map(str, met))
        found = _result(robot, system, kernels, base, run.course, watched, every, facts)
        poses = base.poses(found.t) if base else None
        return replace(found, limits_met=met, commands=system.commands, base=poses)

    run = Run(system, times, watched, sign, budget, keep=bool(dense), limits=watch)
    first = method or (STIFF_SOLVER if fastest_rate(tree, start.q) > STIFF else "DOP853")
    try:
        run.go(y, *options_of(first), turn=None if method else lambda: options_of(STIFF_SOLVER))
    except SimulationError as error:
        if run.course.rows:
            error.result = result()
        raise
    return result()


def _limits(
    robot: Robot, mode: Any, start: Callable[[], Start], motions: Sequence[Prescribed], given: Any
) -> tuple[RobotLimits | None, Any]:
    """The limits to look at, and the laws along joints, with stops where limits hold."""
    if mode is None:
        return None, given
    if mode not in MODES:
        raise UnknownNameError("limits of simulate", mode, MODES)
    if mode != "saturate" or not isinstance(given or {}, Mapping):
        return RobotLimits(robot), given
    laws = dict(given or {})
    for name, stop in firm_stops(robot.opened(), start().q, {m.joint for m in motions}).items():
        own = laws.get(name, ())
        own = (own,) if callable(own) else tuple(own)
        if not any(isinstance(law, JointStop) for law in own):
            laws[name] = (*own, stop)
    return RobotLimits(robot), laws or None


def _holding(system: System, laws: Any, clipped: Any) -> Callable[[Limit], bool]:
    """Whether a limit acts: a stop of a joint, or a drive of a joint that is free."""

    def holds(limit: Limit) -> bool:
        if limit.kind == "position":
            return any(isinstance(law, JointStop) for law in (laws or {}).get(limit.joint, ())) if clipped else False
        return bool(clipped) and limit.field == 3 and limit.place in system.free_v

    return holds


def checked_method(method: Any, where: str) -> str | None:
    """The solver asked for; None where that is left open."""
    if method in (None, "auto"):
        return None
    if method not in METHODS:
        raise UnknownNameError(f"method of {where}", method, ["auto", *METHODS])
    return str(method)


def _result(
    robot: Robot,
    system: System,
    kernels: Kernels,
    base: BaseMotion | None,
    course: Course,
    watched: list[Watch],
    notes: tuple[str, ...],
    facts: dict[str, Any],
) -> Simulation:
    """The rows of a run with all that follows from them."""
    t, q, qd, work, *inputs = (np.array(column) for column in zip(*course.rows, strict=True))
    rates = kernels.rates(q, qd, *inputs)
    energy = Energies(*kernels.stored(t, q, qd, base), *work.T)
    motion = None
    if course.pieces:
        from scipy.integrate import OdeSolution

        motion = partial(_state, system.without_inputs(), OdeSolution(course.breaks, course.pieces))
    crossings = {w.name: w.result(robot.nq, robot.nv) for w in watched}
    whole = Whole(q, qd, rates.qdd, rates.tau)
    return Simulation.of(robot, t, whole, energy, course.status, crossings, notes, facts, motion)


def _state(system: System, solution: Any, t: float) -> tuple[Array, Array]:
    return system.whole(t, solution(t))


def _model(robot: Robot, smooth: bool) -> tuple[Robot, tuple[str, ...]]:
    """The robot as it is integrated, and what was done to it."""
    if robot.opened().nv == 0:
        raise InputError(f"simulate: expected a robot with joints that move, got {robot.name!r}, which has none.")
    dry = [j.name for j in robot.joints if smoothed_joint(j) is not j]
    if not smooth or not dry:
        return robot, ()
    note = f"dry friction is smoothed, coulomb * tanh(qd / width), at joints {', '.join(map(repr, dry))}"
    return robot.replace(joints=[smoothed_joint(j) for j in robot.joints]), (note,)


def smoothed_joint(joint: Joint) -> Joint:
    """The joint with dry friction of itself and of its drive smoothed; the same joint where there is none."""

    def smooth(f: Friction) -> Friction:
        return replace(f, law="tanh") if f.law == "coulomb" and f.coulomb else f

    friction, drive = smooth(joint.friction), joint.drive
    if drive is not None and smooth(drive.friction) is not drive.friction:
        drive = replace(drive, friction=smooth(drive.friction))
    same = friction is joint.friction and drive is joint.drive
    return joint if same else replace(joint, friction=friction, drive=drive)


def checked_times(t: Any) -> Array:
    """The times of the rows."""
    try:
        times = np.asarray(t, dtype=float)
    except (TypeError, ValueError, OverflowError):
        times = np.empty((0, 0))
    if times.ndim == 0 and 0.0 < times < np.inf:
        rows = int(np.clip(round(float(times) * ROWS_A_SECOND), FEWEST, MOST))
        return np.linspace(0.0, float(times), rows + 1)
    if times.ndim != 1 or len(times) < 2 or not np.isfinite(times).all() or np.any(np.diff(times) <= 0.0):
        raise InputError(f"t: expected a final time above 0 s, or two or more rising times, got {t!r}.")
    return times


def checked_tolerances(**given: Any) -> dict[str, float]:
    """Settings of a solver as numbers within their ranges."""
    settings = {}
    for name, value in given.items():
        least, most = RANGES[name]
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = np.nan
        if not least <= number <= most:
            raise InputError(f"{name}: expected a number from {least:g} to {most:g}, got {value!r}.")
        settings[name] = number
    return settings


def _control(robot: Robot, control: Any) -> Control | None:
    """Forces of the drives as a function; constant ones are put into a vector of the tree's."""
    if isinstance(control, SampledControl):
        return None
    if control is None or callable(control):
        return control
    view, tree = View.of(robot), robot.opened()
    if isinstance(control, Mapping):
        tau = tree.tau(control)
    else:
        array = np.asarray(control)
        found = view.applied(array) if array.dtype.kind in "biuf" else None
        if found is None:
            raise InputError(
                f"control: expected {view.wanted('finite numbers')}, or a mapping of joints to numbers, got"
                f" {control!r}. The drives are {', '.join(robot.drives)}."
            )
        tau = found
    if not np.isfinite(tau).all():
        raise InputError(f"control: expected finite numbers, got {control!r}.")
    return constant(tau)
