"""Compiled rollouts: a loop of fixed steps inside one native function, over a batch of starts and input sequences."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from linkwise.check import whole
from linkwise.errors import InputError
from linkwise.kernel.kernel import Compiled
from linkwise.kernel.options import Options
from linkwise.kernel.tracing import Port, Program, caller, differential
from linkwise.motion.base_motion import BaseMotion, base_columns
from linkwise.motion.columns import column_names
from linkwise.robot.leading import refuse_wheels
from linkwise.robot.robot import Robot
from linkwise.simulation.batch import Array, Batch, checked_every, given_ports
from linkwise.simulation.control_law import Control
from linkwise.simulation.leading_view import View
from linkwise.simulation.limits import LimitMet, states_met
from linkwise.simulation.linear_step import linear_program
from linkwise.simulation.plant import Plant
from linkwise.simulation.step import METHODS
from linkwise.simulation.torque_limits import torque_limits as checked_limits

SLICE = 0.2  # seconds of native work between two looks at the keyboard
FIRST = 2**17  # steps of all rows together before the first look


class States(NamedTuple):
    """The numbers of `Rolled`."""

    q: Array
    qd: Array
    steps: int


class Rolled(States):
    """Positions (..., rows, nq) and velocities (..., rows, nv) after steps; `steps` is how many were made.

    Of the end alone they are (..., nq) and (..., nv).
    """

    robot: Robot
    dt: Any  # between two rows, s; None of the end alone
    base: Any = None  # how the base moves: a `BaseMotion`
    start: Any = 0.0  # when the rollout started, s

    def __getstate__(self) -> dict[str, Any]:
        return {"robot": self.robot, "dt": self.dt}  # a function of time may be bound to a process

    @classmethod
    def of(cls, robot: Robot, dt: Any, *states: Any) -> Rolled:
        """The states of a robot, at so many seconds from one to the next."""
        made = cls(*states)
        made.robot, made.dt = robot, dt
        return made

    @property
    def limits_met(self) -> tuple[LimitMet, ...]:
        """Limits of position and velocity of what leads that a row of the batch exceeds, at the states that are kept.

        Times are counted from the start; where rows have steps of their own lengths, by the longest.
        """
        view, single = View.of(self.robot), self.q.ndim > 1 and self.dt is not None
        q, qd = (self.q, self.qd) if single else (self.q[..., None, :], self.qd[..., None, :])
        tree = self.robot.opened()
        q_tree, qd_tree = np.full((*q.shape[:-1], tree.nq), np.nan), np.full((*qd.shape[:-1], tree.nv), np.nan)
        q_tree[..., view.q], qd_tree[..., view.v] = q, qd
        every = float(np.max(self.dt)) if self.dt is not None else np.nan
        return states_met(self.robot, every * np.arange(1, q.shape[-2] + 1), q_tree, qd_tree)

    def view(self, path: str | PathLike[str] | None = None, *, row: int = 0, **options: Any) -> Path:
        """A page that shows one row of the batch in motion; see `Robot.view`.

        Args:
            path: of the page, ending in .html; without one it is a temporary file that the browser opens.
            row: which one, counted along all axes of the batch together.
            options: as `Robot.view` takes them.
        """
        from linkwise.view.page import view

        if self.dt is None:
            raise InputError('view: expected a rollout that kept all states, got the end alone. Use keep="all".')
        q, qd = (x.reshape(-1, *x.shape[-2:]) for x in self[:2])
        given: Any = row
        if isinstance(given, bool) or not isinstance(given, int) or not -len(q) <= given < len(q):
            raise InputError(f"view row: expected a whole number below {len(q)}, got {row!r}.")
        dt = float(np.broadcast_to(self.dt, self.q.shape[:-2]).reshape(-1)[row])
        columns = {"t": dt * np.arange(1, q.shape[1] + 1)}
        for quantity, values in (("q", q[row]), ("qd", qd[row])):
            columns |= dict(zip(column_names(self.robot, quantity), values.T, strict=True))
        if self.base:
            start = float(np.broadcast_to(self.start, self.q.shape[:-2]).reshape(-1)[row])
            columns |= base_columns(self.base.poses(start + columns["t"]))
        return view(self.robot, columns, path, **options)


class StepFunction(Compiled):
    """A compiled function of one step of a rollout: arrays whose leading axes broadcast, `out=`, count and C source."""

    rollout: Rollout

    @classmethod
    def of(cls, rollout: Rollout, program: Program, doc: str) -> StepFunction:
        """The function of a program, for steps that go forward in time."""
        call, array, kind = caller(program, doc, rollout.options.threads), np.array, np.dtype(program.dtype)

        def forwards(q: Any, qd: Any, u: Any, dt: Any, *more: Any, **named: Any) -> Any:
            if dt.__class__ is float and dt >= 0.0:
                dt = array(dt, kind)  # what a kernel takes without a ufunc
            else:
                refuse_backwards(program.name, dt)
            return call(q, qd, u, dt, *more, **named)

        made = cls(forwards)
        made.rollout, made.robot, made.program, made.__doc__ = rollout, rollout.robot, program, doc
        return made

    def _title(self) -> str:
        return f"{self.program.name} by {self.rollout.method} of the robot {self.rollout.robot.name!r}"

    def __reduce__(self) -> Any:
        return getattr, (self.rollout, self.program.name)


class Rollout:
    """Steps of fixed length for one robot: call it with starts and a sequence of inputs.

    Made by `compile_rollout`. Rows are independent and run in SIMD lanes and threads without the interpreter's lock.
    """

    def __init__(self, plant: Plant) -> None:
        self.plant = plant
        self.robot, self.method, self.options = plant.robot, plant.method, plant.options
        self.program, self._once = plant.loop_program(), plant.step_program()
        self._ports = given_ports(self.program)
        self._call = caller(self.program, "One rollout.", plant.options.threads)
        self._seconds = 0.0  # that a step of one row takes

    @property
    def inputs(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the arguments, batch axes and steps left out."""
        return {p.name: p.shape for p in self._ports}

    @property
    def parameters(self) -> Array:
        """The robot's own values of the input `parameters`, in its order."""
        return np.array([x for group in self.options.values(self.robot).values() for x in group], dtype=float)

    def __call__(
        self,
        q: Any,
        qd: Any,
        u: Any,
        dt: Any,
        *more: Any,
        steps: int | None = None,
        keep: str = "all",
        every: int = 1,
        out: tuple[Array, Array] | None = None,
        progress: Callable[[int, int], None] | None = None,
        **named: Any,
    ) -> Rolled:
        """Positions and velocities after each step of length `dt`, from the start q, qd.

        Args:
            q: positions at the start (..., nq).
            qd: velocities at the start (..., nv).
            u: inputs of each step (..., steps, width): torques, or what the control takes; with one for all steps,
                (..., 1, width), or beside `steps=` (width,), or None for zeros.
            dt: length of a step, s; a number, or one for each row.
            more: the inputs that options add, also by name: f_ext (..., steps, frames, 6), or (..., 1, frames, 6) for
                all steps; parameters (..., np); gravity (..., 3); and, on a base that moves, the time t (...) at the
                start, s, which is 0 where it is not given.
            steps: how many, where no input says so.
            keep: "all" states, or the one at the "end" alone.
            every: of all states, keep those after every so many steps; their number must be a multiple of it.
            out: arrays for q and qd of the result, such as those of an earlier call: new memory takes time.
            progress: called now and then with the steps made and all steps.

        Returns:
            The motion; after Ctrl-C the part that was computed, with `steps` saying how much that is.
        """
        if dt.__class__ is not float or dt < 0.0:
            refuse_backwards("rollout", dt)
        batch = Batch(self.program, self._ports, (q, qd, u, dt, *more), named, steps)
        total, every = batch.steps, checked_every(keep, every, batch.steps)
        end = keep == "end"
        whole = batch.room(() if end else (total // every,), out)
        kept = tuple(x[..., None, :] for x in whole) if end else whole
        done, state, guess = 0, batch.arrays[:2], batch.no_guess()
        to: tuple[Array, ...]
        try:
            while done < total:
                count = min(total - done, self._most(batch.rows))
                since, first = done % every, done // every
                if since or count < every:  # part of the way from one state that is kept to the next
                    count, to = min(count, every - since), batch.room((1,))
                else:
                    count -= count % every
                    to = tuple(x[..., first : first + count // every, :] for x in kept)
                start = time.perf_counter()
                following = [np.empty_like(x) for x in guess]
                self._call(*state, *batch.part(done, count)[2:], *guess, out=(*to, *following))
                self._seconds = (time.perf_counter() - start) / (count * batch.rows)
                done, state, guess = done + count, [x[..., -1, :].copy() for x in to], following
                if count < every and done % every == 0:
                    kept[0][..., first, :], kept[1][..., first, :] = state
                if progress is not None:
                    progress(done, total)
        except KeyboardInterrupt:
            if not done:
                raise
        if end:
            whole[0][...], whole[1][...] = state
            return Rolled.of(self.robot, None, *whole, done)
        kept = tuple(x[..., : done // every, :] for x in whole)
        rolled = Rolled.of(self.robot, every * np.asarray(dt, dtype=float), *kept, done)
        if self.plant.base:
            rolled.base, rolled.start = self.plant.base, batch.start
        return rolled

    @cached_property
    def step(self) -> StepFunction:
        """(q, qd, u, dt, ...) -> q_new, qd_new after one step, u without an axis of steps."""
        return StepFunction.of(self, self._once, "One step.")

    @cached_property
    def linearization(self) -> StepFunction:
        """(q, qd, u, dt, ...) -> A (2 nv, 2 nv), B (2 nv, width of u) of one step.

        Small changes x = [dq; dqd] of its start and u of its input become A x + B u at its end. dq are tangent vectors
        (nv) at the start and at the end, as `difference` gives them. They are derivatives of the step itself, control,
        limits and laws included; for small dt, A is 1 + dt A of `lw.algorithms.linearization`. States of all steps of a
        rollout may be given at once.
        """
        return StepFunction.of(self, linear_program(self.plant), "A and B of one step.")

    @cached_property
    def parameter_derivatives(self) -> StepFunction:
        """(q, qd, u, dt, ...) -> derivatives (nq, np), (nv, np) of q_new and qd_new of one step by `parameters`.

        With A of `linearization` they give the sensitivities S of a whole motion to numbers of the model: S of the next
        state is A S plus these. Positions are differentiated as numbers, also those of a quaternion.
        """
        if not self.options.parameters:
            raise InputError(
                "parameter_derivatives: expected a rollout some of whose numbers are inputs, got none. Name them:"
                " lw.compile_rollout(robot, parameters=('hand.mass',))."
            )
        program = differential.jacobian(self._once, ["parameters"])
        return StepFunction.of(self, replace(program, name="parameter_derivatives"), "Derivatives by parameters.")

    def c_source(self, name: str | None = None) -> str:
        """Dependency-free C99 of one step: a function of pointers to double, documented."""
        return self.step.c_source(name)

    def c_header(self, name: str | None = None) -> str:
        """The header that declares the function of `c_source`."""
        return self.step.c_header(name)

    def javascript_source(self, name: str | None = None) -> str:
        """One step as one JavaScript function without dependencies, of flat arrays: its inputs, then its outputs."""
        return self.step.javascript_source(name)

    def count(self) -> dict[str, int]:
        """Operations of one step."""
        return dict(self.program.count())

    def __repr__(self) -> str:
        def side(ports: Sequence[Port]) -> str:
            shapes = ((p.name, ", ".join(["steps"] * p.steps + [str(x) for x in p.shape])) for p in ports)
            return ", ".join(f"{name}({text}{',' if ',' not in text and text else ''})" for name, text in shapes)

        n, m = self.robot.nq, self.robot.nv
        gives = f"q(steps, {n}), qd(steps, {m})"
        return f"<Rollout by {self.method} of the robot {self.robot.name!r}: {side(self._ports)} -> {gives}>"

    def _repr_html_(self) -> str:
        """The card of a notebook: its inputs, and what a step costs."""
        import linkwise.card as card

        count = ", ".join(f"{n} {kind}" for kind, n in self.count().items())
        ports = [(p.name, f"({', '.join(['steps'] * p.steps + [str(x) for x in p.shape])})") for p in self._ports]
        title = f"rollout by {self.method} of the robot {self.robot.name!r}"
        return card.card(title, card.table(("input", "shape"), ports), card.line(f"operations of a step: {count}"))

    def __reduce__(self) -> Any:
        return Rollout, (self.plant,)

    def _most(self, rows: int) -> int:
        """How many steps to make before looking up: all that fit into `SLICE` seconds."""
        return max(1, int(min(SLICE / (self._seconds * rows) if self._seconds else FIRST / rows, 2.0**40)))


def refuse_backwards(what: str, dt: Any) -> None:
    """Refuse steps back in time, where friction would drive."""
    given = np.asarray(dt)
    if given.dtype.kind in "if" and np.any(given < 0):
        raise InputError(f"{what} dt: expected a length of at least 0 s, got {given.min():g}.")


def compile_rollout(
    robot: Robot,
    *,
    method: str = "rk4",
    control: Control | None = None,
    inputs: int | None = None,
    torque_limits: Any = None,
    external: Any = (),
    parameters: Any = (),
    gravity: Any = None,
    base_motion: Any = None,
    forces: Any = None,
    joint_forces: Any = None,
    threads: int | str = 1,
    dtype: Any = "float64",
) -> Rollout:
    """A loop of fixed steps as one native function.

    Args:
        robot: a tree, fixed or floating, or a machine with loops, legs or coupled joints, in the coordinates that lead.
            Each step closes its loops, where Newton's method does so from where the last step left them, so that the
            assembly mode stays; rows whose loops cannot be closed are NaN from there on.
        method: "rk4"; "euler" (semi-implicit); or "implicit", the same with dampers and friction of joints taken at the
            end of the step, which is stable however stiff they are; dry friction is smooth there, as in `simulate`.
        control: `control(q, qd, u) -> tau`, evaluated in every stage; none takes u as torques. It gets vectors that
            behave like NumPy arrays, and is written with functions of NumPy or of `linkwise.scalar`, without `if`. With
            an argument `dyn` it gets the robot's algorithms there: `dyn.gravity_forces(q) + 40.0 * (u - q) - 8.0 * qd`.
        inputs: width of u where there is a control (nu, the width of tau, by default).
        torque_limits: what drives can give: True for the robot's own limits of effort, torque-speed curves, powers; a
            number for all joints; or by joint a number or points (speed, torque), {"elbow": [(0, 40.0), (12.0, 0)]}:
            lines bound what drives the joint, the first torque what brakes it.
        external: frames whose wrenches are an input of each step, `f_ext`, in the frames' axes.
        parameters: numbers of the robot that are an input, such as ("hand.mass",), as `compile` takes them.
        gravity: a vector instead of the robot's, or "input"; in the world, also where the base moves.
        base_motion: a function of time that returns the `Pose` of the base in the world, as `simulate` takes it. It is
            traced into the step and evaluated in every stage; the time `t` is then an input.
        forces: laws of the environment by frame or link, as `compile` takes them; evaluated in every stage.
        joint_forces: laws along joints by joint, as `compile` takes them.
        threads: over how many threads rows are split, or "auto", as in `compile`.
        dtype: the numbers of the rollout, "float64" or "float32", as `compile` takes it; a linearization has float64.

    Returns:
        A `Rollout`: `rollout(q0, qd0, u, dt)`.
    """
    if method not in METHODS:
        raise InputError(f"method: expected one of {METHODS}, got {method!r}.")
    if not isinstance(robot, Robot):
        raise InputError(f"compile_rollout: expected a Robot first, got {robot!r}.")
    refuse_wheels(robot, "compile_rollout", "Use simulate.")
    if control is not None and not callable(control):
        raise InputError(f"control: expected a function of (q, qd, u), got {control!r}.")
    options = Options.checked(
        robot,
        external=external,
        parameters=parameters,
        gravity=gravity,
        threads=threads,
        forces=forces,
        joint_forces=joint_forces,
        dtype=dtype,
    )
    width = robot.nu if inputs is None else whole(inputs, "inputs", 1)
    if control is None and width != robot.nu:
        raise InputError(f"inputs: expected {robot.nu}, because u are torques without a control, got {inputs}.")
    limits, base = checked_limits(robot, torque_limits), BaseMotion.of(base_motion)
    return Rollout(Plant(robot, method, control, width, options, limits, base))
