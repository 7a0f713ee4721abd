"""Compiled rollouts: a loop of fixed steps inside one native function, over a batch of starts and input sequences."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.algorithms.environment import called
from linkwise.algorithms.forward_dynamics import forward_dynamics
from linkwise.errors import InputError
from linkwise.kernel.kernel import cheapest, settled
from linkwise.kernel.options import Options
from linkwise.kernel.tracing import Port, Program, caller, trace
from linkwise.robot.align import aligned
from linkwise.robot.coupling import refuse_coupled
from linkwise.robot.regroup import regrouped
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar
from linkwise.simulation.linear_step import Linearizer, LinearStep, refuse_backwards
from linkwise.simulation.step import METHODS, step

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

    def __init__(self, robot: Robot, method: str, control: Control | None, width: int, options: Options) -> None:
        self.robot, self.method, self.control, self.width, self.options = robot, method, control, width, options
        self.program = cheapest(
            settled(robot, {"route": forward_dynamics.static["route"]}),
            lambda choice: _trace(robot, options, method, control, width, **choice),
        )
        self._call = caller(self.program, "One rollout.", options.threads)
        self._linear: Linearizer | None = None
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
        refuse_backwards("rollout", dt)
        total = u.shape[-2]
        whole: tuple[Any, ...] = ()
        done = 0
        try:
            while done < total or not whole:
                count = self._slice(total - done)
                start = time.perf_counter()
                part = self._call(q, qd, u[..., done : done + count, :], dt)
                self._seconds_a_step = (time.perf_counter() - start) / max(1, count)
                whole = whole or (part if count == total else _room(part, total))
                for target, rows in zip(whole, part, strict=True):
                    if target is not rows:
                        target[..., done : done + count, :] = rows
                done += count
                if count:
                    q, qd = part[0][..., -1, :], part[1][..., -1, :]
                if progress is not None:
                    progress(done, total)
        except KeyboardInterrupt:
            if not done:
                raise
        return Rolled(whole[0][..., :done, :], whole[1][..., :done, :], done)

    def linearization(self, q: Any, qd: Any, u: Any, dt: Any) -> LinearStep:
        """A and B of one step: small changes x = [dq; dqd] of its start and u of its input become A x + B u at its end.

        dq are tangent vectors (nv) at the start and at the end, as `difference` gives them. They are derivatives
        of the step itself, control and laws included; for small dt, A is 1 + dt A of `lw.algorithms.linearization`.

        Args:
            q: positions at the start (..., nq); those of all steps of a rollout at once, if wanted.
            qd: velocities at the start (..., nv).
            u: input of the step (..., width).
            dt: length of the step, s.

        Returns:
            A (..., 2 nv, 2 nv) and B (..., 2 nv, width).
        """
        if self._linear is None:
            self._linear = Linearizer(self.robot, self.options, self.method, self.control, self.width)
        return self._linear(q, qd, u, dt)

    def count(self) -> dict[str, int]:
        """Operations of one step."""
        return dict(self.program.count())

    def __repr__(self) -> str:
        n, m = self.robot.nq, self.robot.nv
        takes, gives = f"q({n},), qd({m},), u(steps, {self.width}), dt()", f"q(steps, {n}), qd(steps, {m})"
        return f"<Rollout by {self.method} of the robot {self.robot.name!r}: {takes} -> {gives}>"

    def __reduce__(self) -> Any:
        return Rollout, (self.robot, self.method, self.control, self.width, self.options)

    def _slice(self, left: int) -> int:
        """How many steps to make before looking up: all that fit into `SLICE` seconds."""
        if self._seconds_a_step == 0.0:
            return min(left, 64)
        return min(left, max(1, int(SLICE / self._seconds_a_step)))


def _room(part: tuple[Any, ...], steps: int) -> tuple[Any, ...]:
    """Arrays like those of a first part, for all steps: what does not fit into memory is refused at once."""
    try:
        return tuple(np.empty((*p.shape[:-2], steps, p.shape[-1]), p.dtype) for p in part)
    except ValueError as error:
        raise InputError(f"rollout: expected steps that fit into memory, got {steps:.3g}.") from error


def compile_rollout(
    robot: Robot,
    *,
    method: str = "rk4",
    control: Control | None = None,
    inputs: int | None = None,
    gravity: Any = None,
    forces: Any = None,
    joint_forces: Any = None,
    threads: int | str = 1,
    dtype: Any = "float64",
) -> Rollout:
    """A loop of fixed steps as one native function.

    Args:
        robot: a tree, fixed or floating.
        method: "rk4" or "euler" (semi-implicit).
        control: `control(q, qd, u) -> tau` over any scalar, evaluated in every stage; none takes u as torques.
        inputs: width of u where there is a control (nv by default).
        gravity: a vector instead of the robot's.
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
    refuse_coupled(robot, "compile_rollout")
    if robot.loops:
        raise InputError(
            f"compile_rollout: expected a tree, got the robot {robot.name!r} with loops, which would fall open. Use"
            " simulate, which keeps them closed, or robot.opened() for the tree alone."
        )
    if control is not None and not callable(control):
        raise InputError(f"control: expected a function of (q, qd, u), got {control!r}.")
    if isinstance(gravity, str):
        raise InputError(f"gravity: expected a vector of three or None, got {gravity!r}.")
    laws = {"forces": forces, "joint_forces": joint_forces}
    options = Options.checked(robot, gravity=gravity, threads=threads, dtype=dtype, **laws)
    width: Any = robot.nv if inputs is None else inputs
    if not isinstance(width, int) or isinstance(width, bool) or width < 1:
        raise InputError(f"inputs: expected a whole number above 0, got {inputs!r}.")
    if control is None and width != robot.nv:
        raise InputError(f"inputs: expected {robot.nv}, because u are torques without a control, got {inputs}.")
    return Rollout(robot, method, control, width, options)


def _torques(
    control: Control, q: Sequence[Scalar], qd: Sequence[Scalar], u: Sequence[Scalar], n: int
) -> Sequence[Scalar]:
    """What the control asks for, or an error that says why it could not be traced."""
    tau: Any = called("control", control, q, qd, u)
    if not hasattr(tau, "__len__"):
        raise InputError(f"control: expected {n} torques, got {tau!r}.")
    if len(tau) != n:
        raise InputError(f"control: expected {n} torques, got {len(tau)}.")
    return list(tau)


def _trace(robot: Robot, options: Options, method: str, control: Control | None, width: int, route: str) -> Program:
    """The program of one step, carried from step to step."""

    def run(q: list[Any], qd: list[Any], u: list[Any], dt: list[Any]) -> Sequence[Any]:
        tree = regrouped(aligned(options.tree(Tree.of(robot))))

        def accelerations(q: Sequence[Scalar], qd: Sequence[Scalar]) -> Sequence[Scalar]:
            tau = u if control is None else _torques(control, q, qd, u, robot.nv)
            world = options.world(tree, {}, (q, qd))
            return forward_dynamics.function(tree, q, qd, tau, world=world, route=route)[0]

        return step(tree, accelerations, q, qd, dt[0], method)

    inputs = [Port("q", (robot.nq,)), Port("qd", (robot.nv,)), Port("u", (width,), steps=True), Port("dt", ())]
    outputs = [Port("q_new", (robot.nq,), steps=True), Port("qd_new", (robot.nv,), steps=True)]
    return replace(trace("rollout", run, inputs, outputs, dtype=options.dtype), carries=((0, 0), (1, 1)))
