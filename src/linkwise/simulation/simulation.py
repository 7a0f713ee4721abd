"""Simulation by SciPy's integrators: accurate, with events, energy balance and prescribed joints."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass, replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from linkwise.algorithms import kinetic_energy, potential_energy
from linkwise.errors import InputError, SimulationError, UnknownNameError
from linkwise.kernel.kernel import Kernel
from linkwise.kernel.options import Options
from linkwise.robot.drive import Friction
from linkwise.robot.joint import Joint
from linkwise.robot.robot import Robot
from linkwise.simulation.budget import Budget
from linkwise.simulation.energies import Energies
from linkwise.simulation.events import Watch, watches
from linkwise.simulation.files import versions
from linkwise.simulation.loops import LoopedSystem, closed_rates, closed_start, loop_equations
from linkwise.simulation.motions import Array, Prescribed, prescribed
from linkwise.simulation.progress import Progress
from linkwise.simulation.rates import POWERS, motion_rates
from linkwise.simulation.result import Simulation
from linkwise.simulation.solver import IMPLICIT, METHODS, STIFF_SOLVER, Choice, Course, Run, work_scale
from linkwise.simulation.stiffness import STIFF, Slopes, fastest_rate
from linkwise.simulation.system import Control, System, constant, loads_of

KEPT = 32  # sets of kernels
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
    method: str | None = None,
    rtol: float = 1e-8,
    atol: float = 1e-10,
    max_step: float | None = None,
    events: Any = None,
    dense: bool = False,
    smooth_friction: bool = True,
    time_limit: float | None = None,
    max_steps: int | None = None,
    progress: Any = None,
) -> Simulation:
    """The motion of a robot under control, prescribed motions of some joints, and forces of its environment.

    Free joints are integrated; driven ones follow their motions exactly, and the torques for that come out in
    `result.tau`. Ctrl-C ends a simulation and keeps what was computed.

    Args:
        robot: a tree, fixed or floating; loops are kept closed.
        q0: positions at the start (nq), or a mapping of joints to positions, or None for zero; those of driven joints
            do not matter.
            Where they do not close a robot's loops, passive joints, or those not named, are moved to close them.
            Motors behind springs that are not given start with their joints.
        qd0: velocities at the start (nv), or a mapping, or None for rest.
        t: the final time, s, for rows every 10 ms (at least 101, at most 10001); or rising times of the rows, at the
            first of which the motion starts.
        control: `control(t, q, qd) -> tau` (nv), a vector or mapping of constant torques, or None. With elastic drives
            the drives' torques alone will do, as many as `robot.motors`. It must depend on its arguments alone: solvers
            try steps that they then discard. Entries of driven joints are not used.
        driven: for each driven joint a function of time that returns (q, qd, qdd), a SciPy spline, or a number to hold.
        forces: laws of the environment by frame, as in `compile`: `law(pose, velocity) -> Wrench`.
        joint_forces: laws along joints, as in `compile`, such as `joint_stops(robot)`.
        external: wrenches on frames or links, in their axes: six numbers, or a function of (t, q, qd) that gives them.
        method: "DOP853", "RK45", "RK23", or "LSODA", "Radau", "BDF" for stiff forces such as hard contacts; None or
            "auto" is "LSODA" where springs, dampers and viscous friction of joints and drives are stiff, else "DOP853",
            and "LSODA" for the rest once contacts, control or other laws prove stiff on the way.
        rtol: relative tolerance of a step.
        atol: absolute tolerance of a step, in rad, m, rad/s and m/s.
        max_step: longest step, s, shorter than the shortest thing that happens from outside; None is 0.1 s where
            control, motions, wrenches or events are functions, else no bound.
        events: functions of (t, q, qd) whose zeros are sought, one, a list, or by name; with the attributes `terminal`
            and `direction` as SciPy has them.
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
        raise InputError(
            f"simulate: expected a Robot first, got {robot!r}. Load one with lw.load(...),"
            " or use lw.simulation.simulate_parallel for a ParallelRobot."
        )
    if max_step is None:
        outside = callable(control) or any(x is not None for x in (driven, events, external))
        max_step = LONGEST if outside else np.inf
    times, tolerances = checked_times(t), checked_tolerances(rtol=rtol, atol=atol, max_step=max_step)
    budget, method = Budget.checked(time_limit, max_steps), checked_method(method, "simulate")
    model, notes = _model(robot, smooth_friction)
    motions, loads = prescribed(model, driven), loads_of(external, model)
    watched, sign = watches(events), Progress(float(times[0]), float(times[-1]), progress)
    begin = time.perf_counter()

    options = Options.checked(model, external=tuple(loads), forces=forces, joint_forces=joint_forces)
    kernels = kernels_of(model, options, tuple(m.joint for m in motions))
    system_of = LoopedSystem if model.loops else System
    system = system_of(model, kernels.rates, _control(model, control), motions, list(loads.values()))
    q0 = {} if q0 is None else q0
    q, qd = _start(model, q0, qd0, motions, float(times[0]))
    if model.loops:
        q, qd, moved = closed_start(model, q, qd, (q0, qd0), tuple(m.joint for m in motions))
        notes += moved
    y = system.start(q, qd)
    atols = np.full(len(y), tolerances["atol"])
    atols[-len(POWERS) :] *= work_scale(model, q)

    def options_of(solver: str) -> Choice:
        slopes = {"jac": Slopes(system, kernels.rates)} if _takes_slopes(solver, system) else {}
        return solver, {**tolerances, **slopes, "atol": atols}

    def result() -> Simulation:
        facts = run.facts(begin) | {"rtol": tolerances["rtol"], "atol": tolerances["atol"], "versions": versions()}
        return _result(robot, system, kernels, run.course, watched, notes + run.notes, facts)

    run = Run(system, times, watched, sign, budget, keep=bool(dense))
    first = method or (STIFF_SOLVER if fastest_rate(model, q) > STIFF else "DOP853")
    try:
        run.go(y, *options_of(first), turn=None if method else lambda: options_of(STIFF_SOLVER))
    except SimulationError as error:
        if run.course.rows:
            error.result = result()
        raise
    return result()


def checked_method(method: Any, where: str) -> str | None:
    """The solver asked for; None where that is left open."""
    if method in (None, "auto"):
        return None
    if method not in METHODS:
        raise UnknownNameError(f"method of {where}", method, ["auto", *METHODS])
    return str(method)


def _takes_slopes(method: str, system: System) -> bool:
    """Whether the solver asks for a Jacobian that can be compiled: of a tree, without functions of the caller's."""
    return method in IMPLICIT and system.inputs_are_given and not system.robot.loops


def _result(
    robot: Robot,
    system: System,
    kernels: Kernels,
    course: Course,
    watched: list[Watch],
    notes: tuple[str, ...],
    facts: dict[str, Any],
) -> Simulation:
    """The rows of a run with all that follows from them."""
    t, q, qd, work, *inputs = (np.array(column) for column in zip(*course.rows, strict=True))
    found = kernels.rates(q, qd, *inputs)
    energy = Energies(kernels.kinetic(q, qd), kernels.potential(q), *work.T)
    motion = None
    if course.pieces:
        from scipy.integrate import OdeSolution

        motion = partial(_state, system.without_inputs(), OdeSolution(course.breaks, course.pieces))
    crossings = {w.name: w.result(robot.nq, robot.nv) for w in watched}
    return Simulation(robot, t, q, qd, found.qdd, found.tau, energy, course.status, crossings, notes, facts, motion)


def _state(system: System, solution: Any, t: float) -> tuple[Array, Array]:
    return system.state(t, solution(t))


class Kernels(NamedTuple):
    """The functions that a simulation is made of."""

    rates: Kernel
    kinetic: Kernel
    potential: Kernel


def kernels_of(robot: Robot, options: Options, driven: tuple[str, ...]) -> Kernels:
    """The kernels of a simulation, kept for the next one of the same robot under the same forces.

    Laws that are functions are traced again each time, because what they refer to may have changed.
    """
    laws = [law for _, group in (*options.forces, *options.joint_forces) for law in group]
    frozen = all(_is_frozen(law) for law in laws)
    return (_traced if frozen else _traced.__wrapped__)(robot, options, driven)


def _is_frozen(law: Any) -> bool:
    return is_dataclass(law) and bool(getattr(type(law), "__dataclass_params__").frozen)  # noqa: B009


@lru_cache(maxsize=KEPT)
def _traced(robot: Robot, options: Options, driven: tuple[str, ...]) -> Kernels:
    if robot.loops:
        rates = Kernel.of(robot, closed_rates, options, {"driven": driven, "part": loop_equations(robot, driven)})
    else:
        rates = Kernel.of(robot, motion_rates, options, {"driven": driven})
    return Kernels(rates, *(Kernel.of(robot, a, Options(), {}) for a in (kinetic_energy, potential_energy)))


def _model(robot: Robot, smooth: bool) -> tuple[Robot, tuple[str, ...]]:
    """The robot as it is integrated, and what was done to it."""
    if robot.nv == 0:
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
    found = {}
    for name, value in given.items():
        least, most = RANGES[name]
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = np.nan
        if not least <= number <= most:
            raise InputError(f"{name}: expected a number from {least:g} to {most:g}, got {value!r}.")
        found[name] = number
    return found


def _control(robot: Robot, control: Any) -> Control | None:
    if control is None or callable(control):
        return control
    return constant(_vector(robot, control, "control", "tau"))


def _start(robot: Robot, q0: Any, qd0: Any, motions: tuple[Prescribed, ...], t: float) -> tuple[Array, Array]:
    """Positions and velocities at the start, driven joints on their motions, quaternions of length one."""
    q, qd = _vector(robot, q0, "q0", "q"), _vector(robot, {} if qd0 is None else qd0, "qd0", "v")
    for m in motions:
        s = m.slot
        q[s.q : s.q + s.nq], qd[s.v : s.v + s.nv], _ = m.at(t)
    driven = {m.joint for m in motions}
    for j in robot.joints:
        if j.is_elastic and j.name in driven and j.motor_name not in driven:
            joint, motor = robot.slots[j.name], robot.slots[j.motor_name]
            if not _is_given(j.motor_name, q0, robot.nq):
                q[motor.q] = q[joint.q]
            if not _is_given(j.motor_name, qd0, robot.nv):
                qd[motor.v] = qd[joint.v]
    for name, s in robot.slots.items():
        if (at := s.quaternion) is not None:
            length = float(np.linalg.norm(q[at]))
            if length < 1e-6:
                raise InputError(f"q0: joint {name!r}: expected a quaternion x, y, z, w that is not zero, got zeros.")
            q[at] /= length
    return q, qd


def _is_given(motor: str, value: Any, width: int) -> bool:
    """Whether a start says where a motor is: by its name, or by a vector of all coordinates."""
    if value is None or isinstance(value, Mapping):
        return value is not None and motor in value
    return len(value) == width


def _vector(robot: Robot, value: Any, what: str, kind: str) -> Array:
    """Positions ("q"), velocities ("v") or forces ("tau") of finite numbers, in full, of joints alone, or by name."""
    makers: dict[str, Callable[[Any], Array]] = {"q": robot.q, "v": robot.v, "tau": robot.tau}
    make = makers[kind]
    if isinstance(value, Mapping):
        named = make(value)
        if not np.isfinite(named).all():
            raise InputError(f"{what}: expected finite numbers, got {dict(value)!r}.")
        return named
    elastic = len(robot.coordinates) - len(robot.names)
    width = robot.nq if kind == "q" else robot.nv
    short = len(robot.motors) if kind == "tau" else width - elastic
    array = np.asarray(value)
    if array.dtype.kind not in "biuf" or array.shape not in ((width,), (short,)) or not np.isfinite(array).all():
        alone = f" ({short} without motors)" if elastic else ""
        raise InputError(
            f"{what}: expected {width} finite numbers{alone}, or a mapping of joints to numbers, got {value!r}."
            f" The joints are {', '.join(robot.names)}."
        )
    return array.astype(float) if array.shape == (width,) else make(array)
