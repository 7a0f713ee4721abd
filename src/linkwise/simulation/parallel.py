"""Simulation of parallel robots: the platform moves under forces of its legs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.errors import InputError, SimulationError
from linkwise.motion.platform import platform_columns, write_platform
from linkwise.parallel.dynamics import ParallelDynamics
from linkwise.parallel.kernel import ParallelKernel, ParallelOptions
from linkwise.parallel.robot import ParallelRobot
from linkwise.simulation.budget import Budget
from linkwise.simulation.energies import Energies
from linkwise.simulation.events import Crossings, watches
from linkwise.simulation.motions import Array
from linkwise.simulation.parallel_rates import PARALLEL_POWERS, parallel_rates
from linkwise.simulation.progress import Progress
from linkwise.simulation.simulation import LONGEST, checked_method, checked_times, checked_tolerances, smoothed_joint
from linkwise.simulation.solver import STIFF_SOLVER, Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Control = Callable[[float, Array, Array], Any]


@dataclass(frozen=True, eq=False)
class ParallelSimulation:
    """A simulated motion of a parallel robot.

    Args:
        robot: what moved.
        t: times of the rows (rows,), s.
        pose: of the platform (rows, nq), quaternions of length one.
        velocity: (rows, nv), world axes.
        acceleration: (rows, nv), classical, world axes.
        forces: of the actuated joints (rows, na).
        positions: of the actuated joints (rows, na).
        energy: energies and works, and the drift of their balance.
        status: "finished", "interrupted", "out of time", "out of steps", "failed", or which event stopped it.
        events: what was watched, by name.
        notes: what else a user should know.
        facts: how it was computed.
    """

    robot: ParallelRobot
    t: Array
    pose: Array
    velocity: Array
    acceleration: Array
    forces: Array
    positions: Array
    energy: Energies
    status: str = "finished"
    events: Mapping[str, Crossings] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.t)

    def save(self, path: str | PathLike[str]) -> None:
        """Write all to an .npz file, or to the columns of a .csv file; `linkwise torque` takes both as motions."""
        arrays = {key: getattr(self, key) for key in ("t", "pose", "velocity", "acceleration", "positions", "forces")}
        parts = Energies.names()
        arrays["energy"] = np.stack([getattr(self.energy, name) for name in parts], axis=1)
        meta = {"robot": self.robot.name, "status": self.status, "notes": list(self.notes), "facts": dict(self.facts)}
        write_platform(path, self.robot, arrays, meta, parts)

    def plot(self, path: str | PathLike[str] | None = None) -> Figure:
        """A picture of pose, velocity, forces and energy, which `path` (.png, .svg or .pdf) receives if given."""
        from linkwise.figures import drawn
        from linkwise.simulation.plot import platform_figure

        return drawn(platform_figure(self), path)

    def __repr__(self) -> str:
        return (
            f"<ParallelSimulation of {self.robot.name!r}: {self.t[0]:g} to {self.t[-1]:g} s in {len(self)} rows,"
            f" {self.status}, energy drift {self.energy.drift:.1e}>"
        )


def simulate_parallel(
    robot: ParallelRobot,
    pose0: Any,
    velocity0: Any,
    t: Any,
    *,
    control: Any = None,
    external: Any = None,
    method: str | None = None,
    rtol: float = 1e-8,
    atol: float = 1e-10,
    max_step: float | None = None,
    events: Any = None,
    smooth_friction: bool = True,
    time_limit: float | None = None,
    max_steps: int | None = None,
    progress: Any = None,
) -> ParallelSimulation:
    """The motion of a platform under forces of the actuated joints, gravity, friction and springs of the legs.

    The pose is integrated, and legs follow in closed form: nothing drifts apart. A platform that leaves the reach of a
    leg ends it with an error whose `result` has the motion up to there. Limits of joints do not act.

    Args:
        robot: a parallel robot.
        pose0: at the start (nq).
        velocity0: at the start (nv), world axes, or None for rest.
        t: the final time, s, for rows every 10 ms; or rising times of the rows.
        control: `control(t, pose, velocity) -> forces` (na), constant forces, or None. It must depend on its arguments
            alone: solvers try steps that they then discard.
        external: the wrench of the environment on the platform, about its origin in world axes: six numbers, or a
            function of (t, pose, velocity).
        method: "DOP853", "RK45", "RK23", "LSODA", "Radau" or "BDF"; None or "auto" is "DOP853", and "LSODA" for the
            rest once the motion proves stiff.
        rtol: relative tolerance of a step.
        atol: absolute tolerance of a step.
        max_step: longest step, s; None is 0.1 s where control, wrenches or events are functions, else no bound.
        events: functions of (t, pose, velocity) whose zeros are sought; as in `simulate`.
        smooth_friction: integrate dry friction as coulomb * tanh(qd / width).
        time_limit: seconds that the steps may take, as in `simulate`.
        max_steps: the most steps of the solver, as in `simulate`.
        progress: as in `simulate`.
    """
    if not isinstance(robot, ParallelRobot):
        raise InputError(f"simulate_parallel: expected a ParallelRobot first, got {robot!r}. Use simulate for others.")
    budget, method = Budget.checked(time_limit, max_steps), checked_method(method, "simulate_parallel")
    if max_step is None:
        max_step = LONGEST if callable(control) or callable(external) or events is not None else np.inf
    times, tolerances = checked_times(t), checked_tolerances(rtol=rtol, atol=atol, max_step=max_step)
    model, notes = _smoothed(robot) if smooth_friction else (robot, ())
    watched, sign = watches(events), Progress(float(times[0]), float(times[-1]), progress)
    begin = time.perf_counter()
    system = _System(model, control, external)
    y = system.start(pose0, velocity0)
    integrated: Any = system  # what a run asks of a `System`, it has
    run = Run(integrated, times, watched, sign, budget, keep=False)

    def result() -> ParallelSimulation:
        t, pose, velocity, acceleration, forces, positions, energy = system.result(run.course.rows)
        crossings = {w.name: w.result(robot.nq, robot.nv) for w in watched}
        motion = (t, pose, velocity, acceleration, forces, positions, energy)
        facts = run.facts(begin) | {"rtol": tolerances["rtol"], "atol": tolerances["atol"]}
        return ParallelSimulation(robot, *motion, run.course.status, crossings, notes + run.notes, facts)

    try:
        run.go(y, method or "DOP853", tolerances, turn=None if method else lambda: (STIFF_SOLVER, tolerances))
    except SimulationError as error:
        if run.course.rows:
            error.result = result()
        raise
    return result()


class _System:
    """The right-hand side: the state is y = [pose; velocity; the integrals of `PARALLEL_POWERS`]."""

    def __init__(self, robot: ParallelRobot, control: Any, external: Any) -> None:
        self._robot = robot
        self._par, self._rates = _compiled(robot, external is not None)
        self._control = _function(control, "control", robot.na) if control is not None else None
        self._load = _function(external, "external", 6) if external is not None else None
        self.labels = [n for x in ("pose", "velocity") for n in platform_columns(robot, x)]
        self.first_speed, self.environment = robot.nq, ""
        self.evaluations = 0
        self.asking = False  # whether one of the caller's functions is at work
        self._warnings: Any = np.geterr()  # of the caller's functions, whatever a solver does with those of its own

    def start(self, pose0: Any, velocity0: Any) -> Array:
        """The state at the beginning."""
        pose = _vector(pose0, self._robot.nq, "pose0")
        velocity = np.zeros(self._robot.nv) if velocity0 is None else _vector(velocity0, self._robot.nv, "velocity0")
        if len(pose) == 7 and np.linalg.norm(pose[3:]) < 1e-6:
            raise InputError("pose0: expected a quaternion x, y, z, w that is not zero, got zeros.")
        if not np.isfinite(self._par.actuators(pose)).all():
            raise InputError(f"pose0: expected a pose that all legs reach, got {pose0!r}.")
        return np.concatenate([self._unit(pose), velocity, np.zeros(len(PARALLEL_POWERS))])

    def __call__(self, t: float, y: Array) -> Array:
        self.evaluations += 1
        pose, velocity = self._split(y)
        return self._rate(t, pose, velocity, *self._inputs(t, pose, velocity))

    def held(self, t: float, y: Array) -> Callable[[float, Array], Array]:
        """The same with forces and wrench held at what they are at a time and state."""
        inputs = self._inputs(t, *self._split(y))
        return lambda at, x: self._rate(at, *self._split(x), *inputs)

    def laws(self, y: Array, label: str) -> list[tuple[float, str]]:
        """Nothing acts on one number of the platform alone."""
        return []

    def _rate(self, t: float, pose: Array, velocity: Array, *inputs: Array) -> Array:
        rate = np.concatenate(self._rates(pose, velocity, *inputs))
        if not np.isfinite(rate).all():
            raise SimulationError(
                f"simulate_parallel: expected finite accelerations, got some that are not at t = {t:.9g} s, pose ="
                f" {pose}, velocity = {velocity}. Has the platform left the reach of a leg?"
            )
        return rate

    def state(self, t: float, y: Array) -> tuple[Array, Array]:
        """Pose and velocity."""
        pose, velocity = self._split(y)
        return self._unit(pose.copy()), velocity

    def row(self, t: float, y: Array) -> tuple[Any, ...]:
        """What is kept of a moment: t, pose, velocity, the work done, and the inputs."""
        pose, velocity = self.state(t, y)
        return t, pose, velocity.copy(), y[-len(PARALLEL_POWERS) :].copy(), *self._inputs(t, pose, velocity)

    def result(self, rows: list[tuple[Any, ...]]) -> tuple[Any, ...]:
        """t, pose, velocity, acceleration, forces, positions, energies."""
        t, pose, velocity, work, *inputs = (np.array(column) for column in zip(*rows, strict=True))
        found = self._rates(pose, velocity, *inputs)
        control, environment, friction = work.T
        parts = (self._par.kinetic_energy(pose, velocity), self._par.potential_energy(pose))
        energy = Energies(*parts, control, np.zeros(len(t)), environment, friction)
        return t, pose, velocity, found.acceleration, inputs[0], self._par.actuators(pose), energy

    def _split(self, y: Array) -> tuple[Array, Array]:
        n = self._robot.nq
        return y[:n], y[n : n + self._robot.nv]

    def _unit(self, pose: Array) -> Array:
        if len(pose) == 7:
            pose[3:] /= np.linalg.norm(pose[3:])
        return pose

    def _inputs(self, t: float, pose: Array, velocity: Array) -> tuple[Array, ...]:
        given = (self._unit(pose.copy()), velocity.copy())
        self.asking = True
        with np.errstate(**self._warnings):
            forces = np.zeros(self._robot.na) if self._control is None else self._control(t, *given)
            loads = () if self._load is None else (self._load(t, *given),)
        self.asking = False
        return forces, *loads


@lru_cache(maxsize=16)
def _compiled(robot: ParallelRobot, loaded: bool) -> tuple[ParallelDynamics, ParallelKernel]:
    return ParallelDynamics(robot), ParallelKernel.of(robot, parallel_rates, ParallelOptions(external=loaded))


def _function(value: Any, what: str, width: int) -> Control:
    """What a user gives for forces, as a function whose results are checked."""
    if not callable(value):
        constant = _vector(value, width, what)
        return lambda t, pose, velocity: constant

    def asked(t: float, pose: Array, velocity: Array) -> Array:
        found = value(t, pose, velocity)
        try:
            array = np.asarray(found, dtype=float)
        except (TypeError, ValueError):
            array = np.empty(())
        if array.shape != (width,):
            raise InputError(f"{what} at t = {t:g} s: expected {width} numbers, got {found!r}.")
        if not np.isfinite(array).all():
            raise SimulationError(f"{what} at t = {t:g} s: expected finite numbers, got {array} at pose = {pose}.")
        return array

    return asked


def _vector(value: Any, width: int, what: str) -> Array:
    array = np.asarray(value)
    if array.dtype.kind not in "biuf" or array.shape != (width,) or not np.isfinite(array).all():
        raise InputError(f"{what}: expected {width} finite numbers, got {value!r}.")
    return array.astype(float)


def _smoothed(robot: ParallelRobot) -> tuple[ParallelRobot, tuple[str, ...]]:
    """The robot with smooth friction, and what was done to it."""
    legs = []
    for leg in robot.legs:
        joints = [smoothed_joint(j) for j in leg.robot.joints]
        same = all(a is b for a, b in zip(joints, leg.robot.joints, strict=True))
        legs.append(leg if same else replace(leg, robot=leg.robot.replace(joints=joints)))
    if all(a is b for a, b in zip(legs, robot.legs, strict=True)):
        return robot, ()
    return robot.replace(legs=legs), ("dry friction of the legs is smoothed, coulomb * tanh(qd / width)",)
