"""Compiled rollouts: a loop of fixed steps inside one native function, over a batch of starts and input sequences."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.algorithms import forward_dynamics
from linkwise.algorithms.algorithm import Cheapest
from linkwise.backend.call import caller
from linkwise.errors import InputError, LinkwiseError
from linkwise.graph.program import Port, Program, trace
from linkwise.kernel import DIVISION
from linkwise.options import Options
from linkwise.robot.align import aligned
from linkwise.robot.regroup import regrouped
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar
from linkwise.simulate.step import METHODS, step

Control = Callable[[Sequence[Scalar], Sequence[Scalar], Sequence[Scalar]], Sequence[Scalar]]
SLICE = 0.2  # seconds of native work between two looks at the keyboard


class Rolled(NamedTuple):
    """Positions (..., steps, nq) and velocities (..., steps, nv) after each step; `steps` is how many were made."""

    q: NDArray[np.float64]
    qd: NDArray[np.float64]
    steps: int


class Rollout:
    """Steps of fixed length for one robot: call it with starts and a sequence of inputs.

    Made by `compile_rollout`. Rows are independent and run in SIMD lanes and threads without the interpreter's lock.
    """

    def __init__(self, robot: Robot, program: Program, threads: int) -> None:
        self.robot, self.program = robot, program
        self._call = caller(program, "One rollout.", threads)
        self._seconds_a_step = 0.0

    def __call__(
        self,
        q: Any,
        qd: Any,
        u: Any,
        dt: Any,
        *,
        progress: Callable[[int, int], None] | None = None,
    ) -> Rolled:
        """Positions and velocities after each step of length `dt`, from the start q, qd.

        Args:
            q: positions at the start (..., nq).
            qd: velocities at the start (..., nv).
            u: inputs of each step (..., steps, width): torques, or what the control takes.
            dt: length of a step, s; a number, or one for each row.
            progress: called now and then with the steps made and all steps.

        Returns:
            The motion; after Ctrl-C the part that was computed, with `steps` saying how much that is.
        """
        u = np.asarray(u)
        if u.ndim < 2:
            raise InputError(f"rollout: expected u of shape (..., steps, {self.width}), got {u.shape}.")
        total = u.shape[-2]
        parts: list[Any] = []
        done = 0
        try:
            while done < total or not parts:
                count = self._slice(total - done)
                start = time.perf_counter()
                part = self._call(q, qd, u[..., done : done + count, :], dt)
                self._seconds_a_step = (time.perf_counter() - start) / max(1, count)
                parts.append(part)
                done += count
                if count:
                    q, qd = part[0][..., -1, :], part[1][..., -1, :]
                if progress is not None:
                    progress(done, total)
        except KeyboardInterrupt:
            if not parts:
                raise
        if len(parts) == 1:
            return Rolled(parts[0][0], parts[0][1], done)
        q_all, qd_all = (np.concatenate([p[k] for p in parts], axis=-2) for k in (0, 1))
        return Rolled(q_all, qd_all, done)

    @property
    def width(self) -> int:
        """How many inputs a step has."""
        return self.program.inputs[2].size

    def count(self) -> dict[str, int]:
        """Operations of one step."""
        return dict(self.program.count())

    def _slice(self, left: int) -> int:
        """How many steps to make before looking up: all that fit into `SLICE` seconds."""
        if self._seconds_a_step == 0.0:
            return min(left, 64)
        return max(1, min(left, int(SLICE / self._seconds_a_step)))


def compile_rollout(
    robot: Robot,
    *,
    method: str = "rk4",
    control: Control | None = None,
    inputs: int | None = None,
    gravity: Any = None,
    threads: int = 1,
) -> Rollout:
    """A loop of fixed steps as one native function.

    Args:
        robot: fixed or floating.
        method: "rk4" or "euler" (semi-implicit).
        control: `control(q, qd, u) -> tau` over any scalar, evaluated in every stage; none takes u as torques.
        inputs: width of u where there is a control (nv by default).
        gravity: instead of the robot's.
        threads: over how many threads rows are split.

    Returns:
        A `Rollout`: `rollout(q0, qd0, u, dt)`.
    """
    if method not in METHODS:
        raise InputError(f"method: expected one of {METHODS}, got {method!r}.")
    options = Options.checked(robot, (), False, (), gravity, threads)
    width = robot.nv if inputs is None else inputs
    if width < 1:
        raise InputError(f"inputs: expected a whole number above 0, got {inputs!r}.")
    programs, refusal = [], LinkwiseError("rollout: no route.")
    for route in _routes():
        try:
            programs.append(_trace(robot, options, method, control, width, route))
        except LinkwiseError as error:
            refusal = error
    if not programs:
        raise refusal
    best = min(programs, key=lambda p: p.count()["mul"] + p.count()["add"] + DIVISION * p.count()["div"])
    return Rollout(robot, best, threads)


def _routes() -> tuple[str, ...]:
    open_choice = forward_dynamics.static["route"]
    return tuple(open_choice) if isinstance(open_choice, Cheapest) else (open_choice,)


def _trace(robot: Robot, options: Options, method: str, control: Control | None, width: int, route: str) -> Program:
    """The program of one step, carried from step to step."""

    def run(q: list[Any], qd: list[Any], u: list[Any], dt: list[Any]) -> Sequence[Any]:
        tree = regrouped(aligned(Tree.of(robot)))
        world = options.world(tree, {})

        def accelerations(q: Sequence[Scalar], qd: Sequence[Scalar]) -> Sequence[Scalar]:
            tau = u if control is None else control(q, qd, u)
            if len(tau) != robot.nv:
                raise InputError(f"control: expected {robot.nv} torques, got {len(tau)}.")
            return forward_dynamics.function(tree, q, qd, tau, world=world, route=route)[0]

        return step(tree, accelerations, q, qd, dt[0], method)

    inputs = [Port("q", (robot.nq,)), Port("qd", (robot.nv,)), Port("u", (width,), steps=True), Port("dt", ())]
    outputs = [Port("q_new", (robot.nq,), steps=True), Port("qd_new", (robot.nv,), steps=True)]
    return replace(trace("rollout", run, inputs, outputs), carries=((0, 0), (1, 1)))
