"""One step of a rollout near a state, as a linear map: derivatives of each stage, joined by the chain rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.algorithms.derivatives import forward_dynamics_derivatives
from linkwise.algorithms.forward_dynamics import forward_dynamics
from linkwise.algorithms.integration import q_dot, tangent
from linkwise.errors import InputError
from linkwise.kernel.derived import evaluate
from linkwise.kernel.options import Options
from linkwise.kernel.tracing import Port, Program, caller, jacobian, trace
from linkwise.robot.align import aligned
from linkwise.robot.regroup import regrouped
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree

Array = NDArray[np.float64]


class LinearStep(NamedTuple):
    """The matrices of one step near a state: A (..., 2 nv, 2 nv) and B (..., 2 nv, width of u)."""

    A: Array
    B: Array


class Stage(NamedTuple):
    """Rates of the numbers in q and of qd in a state, and their derivatives by these numbers and by the input.

    `tangents` takes changes of the numbers in q to tangent vectors, `numbers` takes these to changes of the numbers.
    """

    q_dot: Array
    qdd: Array
    dq_dot_dq: Array
    dqdd_dq: Array
    dqdd_dqd: Array
    dqdd_du: Array
    tangents: Array
    numbers: Array


class Linearizer:
    """A and B of steps by "euler" or "rk4"; `control(q, qd, u)` gives the torques, none takes u as such."""

    def __init__(self, robot: Robot, options: Options, method: str, control: Any, width: int) -> None:
        self._robot, self._method, self._width = robot, method, width
        self.program = _trace_stage(robot, options, control, width)
        self._stage = caller(self.program, "One stage of a step, with derivatives.", options.threads)

    def __call__(self, q: Any, qd: Any, u: Any, dt: Any) -> LinearStep:
        """The matrices of the steps from these states."""
        n, nq = self._robot.nv, self._robot.nq
        h = np.asarray(dt)[..., None]
        if h.dtype.kind not in "biuf":
            raise InputError(f"linearization dt: expected numbers, got {dt!r}.")
        refuse_backwards("linearization", dt)
        h = h.astype(float)
        first = self._at(q, qd, u)
        rows = first.qdd.shape[:-1]
        try:
            batch = np.broadcast_shapes(rows, h.shape[:-1])
        except ValueError:
            raise InputError(
                f"linearization: the leading axes do not broadcast: states {rows}, dt {h.shape[:-1]}."
            ) from None
        q, qd = (np.broadcast_to(np.asarray(x, float), (*batch, x_n)) for x, x_n in ((q, nq), (qd, n)))
        dq, dqd = np.zeros((*batch, nq, 2 * n + self._width)), np.zeros((*batch, n, 2 * n + self._width))
        dq[..., :n], dqd[..., n : 2 * n] = first.numbers, np.eye(n)
        along = _euler if self._method == "euler" else _runge_kutta
        q_new, dq_new, dqd_new = along(lambda x, v: self._at(x, v, u), first, (q, qd, dq, dqd), h)
        ends = self._at(q_new, qd, u).tangents @ dq_new
        whole = np.concatenate([ends, dqd_new], axis=-2)
        return LinearStep(whole[..., : 2 * n], whole[..., 2 * n :])

    def _at(self, q: Any, qd: Any, u: Any) -> Stage:
        return Stage(*self._stage(q, qd, u))


def refuse_backwards(what: str, dt: Any) -> None:
    """Refuse steps back in time, where friction would drive."""
    given = np.asarray(dt)
    if given.dtype.kind in "if" and np.any(given < 0):
        raise InputError(f"{what} dt: expected a length of at least 0 s, got {given.min():g}.")


Start = tuple[Array, Array, Array, Array]  # q, qd and their changes, one in each column
Found = tuple[Array, Array, Array]  # numbers of q at the end, before quaternions are normalised; changes of q and qd


def _euler(at: Callable[[Array, Array], Stage], first: Stage, start: Start, h: Array) -> Found:
    """Semi-implicit Euler: the new velocity moves the position."""
    q, qd, dq, dqd = start
    qd_new = qd + first.qdd * h
    dqd_new = dqd + _changes(first, dq, dqd)[1] * h[..., None]
    moved = at(q, qd_new)
    return q + moved.q_dot * h, dq + _changes(moved, dq, dqd_new)[0] * h[..., None], dqd_new


def _runge_kutta(at: Callable[[Array, Array], Stage], first: Stage, start: Start, h: Array) -> Found:
    """The stages of fourth order, and the changes of each."""
    q, qd, dq, dqd = start
    stage, rates = first, [_changes(first, dq, dqd)]
    speeds = [first.q_dot]
    for part in (0.5, 0.5, 1.0):
        step = part * h
        stage, (by_q, by_qd) = at(q + stage.q_dot * step, qd + stage.qdd * step), rates[-1]
        rates.append(_changes(stage, dq + by_q * step[..., None], dqd + by_qd * step[..., None]))
        speeds.append(stage.q_dot)
    sixth = h / 6.0
    q_new = q + _mean(speeds) * sixth
    dq_new, dqd_new = (x + _mean([r[k] for r in rates]) * sixth[..., None] for k, x in enumerate((dq, dqd)))
    return q_new, dq_new, dqd_new


def _mean(stages: Sequence[Array]) -> Any:
    a, b, c, d = stages
    return a + 2.0 * (b + c) + d


def _changes(stage: Stage, dq: Array, dqd: Array) -> tuple[Array, Array]:
    """How the rates of q and qd change, when q and qd change by the columns of these; the last ones are the input's."""
    accelerations = stage.dqdd_dq @ dq + stage.dqdd_dqd @ dqd
    accelerations[..., -stage.dqdd_du.shape[-1] :] += stage.dqdd_du
    return stage.dq_dot_dq @ dq + stage.numbers @ dqd, accelerations


def _trace_stage(robot: Robot, options: Options, control: Any, width: int) -> Program:
    """The program of a `Stage`."""
    n, nq = robot.nv, robot.nq

    def run(q: list[Any], qd: list[Any], u: list[Any]) -> Sequence[Any]:
        tree = regrouped(aligned(options.tree(Tree.of(robot))))
        tau = u if control is None else list(control(q, qd, u))
        world = {"world": options.world(tree, {}, (q, qd))}
        named = {"q": q, "qd": qd, "tau": tau}
        (qdd,) = forward_dynamics.function(tree, q, qd, tau, **world, route="inertia")
        route = {"route": "graph" if options.forces else "recursion"}
        flat = evaluate(forward_dynamics_derivatives, tree, named, world, route)
        by_q, by_qd, Minv = ([list(x[n * i : n * i + n]) for i in range(n)] for x in flat)
        tangents = _columns(tangent(tree, q, unit) for unit in _units(nq))
        numbers = _columns(q_dot.function(tree, q, unit)[0] for unit in _units(n))
        rows = [_times(row, tangents) for row in by_q], by_qd, Minv
        if control is not None:
            by_control = jacobian(tau, [*q, *qd, *u])
            pushed = [_times(row, by_control) for row in Minv]
            rows = (
                [_sum(a, b[:nq]) for a, b in zip(rows[0], pushed, strict=True)],
                [_sum(a, b[nq : nq + n]) for a, b in zip(rows[1], pushed, strict=True)],
                [b[nq + n :] for b in pushed],
            )
        speeds = list(q_dot.function(tree, q, qd)[0])
        matrices = [jacobian(speeds, q), *rows, tangents, numbers]
        return [speeds, list(qdd), *([x for row in matrix for x in row] for matrix in matrices)]

    shapes = ((nq,), (n,), (nq, nq), (n, nq), (n, n), (n, width), (n, nq), (nq, n))
    inputs = [Port("q", (nq,)), Port("qd", (n,)), Port("u", (width,))]
    return trace("linearization", run, inputs, [Port(*x) for x in zip(Stage._fields, shapes, strict=True)])


def _units(n: int) -> list[list[float]]:
    return [[1.0 if i == k else 0.0 for i in range(n)] for k in range(n)]


def _columns(columns: Any) -> list[list[Any]]:
    """The matrix with these columns, by rows."""
    return [list(row) for row in zip(*columns, strict=True)]


def _times(row: Sequence[Any], matrix: Sequence[Sequence[Any]]) -> list[Any]:
    return [sum((a * b for a, b in zip(row, column, strict=True)), 0.0) for column in zip(*matrix, strict=True)]


def _sum(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    return [x + y for x, y in zip(a, b, strict=True)]
