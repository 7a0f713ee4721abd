"""One step of a rollout near a state, as a linear map: derivatives of each stage, joined by the chain rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from linkwise.algorithms.derivatives import forward_dynamics_derivatives
from linkwise.algorithms.forward_dynamics import forward_dynamics
from linkwise.algorithms.integration import q_dot, tangent
from linkwise.jet import Jet, part
from linkwise.kernel.derived import evaluate
from linkwise.kernel.tracing import Port, Program, inlined, jacobian, trace
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar, is_number
from linkwise.simulation.control_law import Model
from linkwise.simulation.plant import Plant
from linkwise.simulation.step import along

Vector = list[Scalar]
Columns = list[Vector]  # changes, one for each of x = [dq; dqd] and u


class State(NamedTuple):
    """Numbers of q and velocities, and how they change."""

    q: Vector
    qd: Vector
    dq: Columns
    dqd: Columns

    def moved(self, rates: State, dt: Scalar) -> State:
        """After a time at these rates."""
        changes = (
            [along(a, b, dt) for a, b in zip(x, y, strict=True)]
            for x, y in ((self.dq, rates.dq), (self.dqd, rates.dqd))
        )
        return State(along(self.q, rates.q, dt), along(self.qd, rates.qd, dt), *changes)


def linear_program(plant: Plant) -> Program:
    """The program q, qd, u, dt, ... -> A (2 nv, 2 nv), B (2 nv, width of u)."""
    robot, n = plant.robot, plant.robot.nv
    tree = Tree.of(robot)
    driven, accelerated = _torque_program(plant), _acceleration_program(plant)
    tangents, dqd, du = _units(n, n, plant.width)

    def run(q: list[Any], qd: list[Any], u: list[Any], dt: list[Any], *inputs: list[Any]) -> Sequence[Any]:
        start = State(q, qd, [_rate(tree, q, x) for x in tangents], dqd)

        def accelerations(at: State) -> tuple[Vector, Columns]:
            tau, *by = inlined(driven, at.q, at.qd, u)
            dtau = _products(by, at.dq, at.dqd, du)
            qdd, *by = inlined(accelerated, at.q, at.qd, tau, dt, *inputs)
            moved = tangents if at is start else [tangent(tree, at.q, x) for x in at.dq]
            return qdd, _products(by, moved, at.dqd, dtau)

        ends = (_runge_kutta if plant.method == "rk4" else _euler)(tree, accelerations, start, dt[0])
        matrix = list(zip(*([*dq, *dqd] for dq, dqd in zip(*ends, strict=True)), strict=True))
        return [x for row in matrix for x in row[: 2 * n]], [x for row in matrix for x in row[2 * n :]]

    outputs = [Port("A", (2 * n, 2 * n)), Port("B", (2 * n, plant.width))]
    return trace("linearization", run, plant.ports, outputs)


Accelerations = Callable[[State], tuple[Vector, Columns]]  # of a state, and how they change


def _euler(tree: Tree, accelerations: Accelerations, start: State, dt: Scalar) -> tuple[Columns, Columns]:
    """Semi-implicit Euler, where the new velocity moves the position: tangent vectors and velocities at the end."""
    qdd, dqdd = accelerations(start)
    dqd = [along(a, b, dt) for a, b in zip(start.dqd, dqdd, strict=True)]
    n = len(start.qd)
    _, units = _units(n, n)  # how the end moves with the start, then with each of the new velocities
    moving = State(start.q, along(start.qd, qdd, dt), start.dq[: 2 * n], units)
    v, dv = _rates(tree, moving)
    q = along(start.q, v, dt)
    by = [tangent(tree, q, along(a, b, dt)) for a, b in zip(moving.dq, dv, strict=True)]
    pushed = _products([[x for row in zip(*by[n:], strict=True) for x in row]], dqd)
    still = [[0.0] * n] * (len(dqd) - n)
    return [[a + b for a, b in zip(*x, strict=True)] for x in zip([*by[:n], *still], pushed, strict=True)], dqd


def _runge_kutta(tree: Tree, accelerations: Accelerations, start: State, dt: Scalar) -> tuple[Columns, Columns]:
    """The stages of fourth order, and the changes of each."""
    slopes: list[State] = []
    for share in (0.0, 0.5, 0.5, 1.0):
        at = start.moved(slopes[-1], dt * share) if slopes else start
        v, dv = _rates(tree, at)
        qdd, dqdd = accelerations(at)
        slopes.append(State(v, qdd, dv, dqdd))
    end = start.moved(_mean(*slopes), dt * (1.0 / 6.0))
    return [tangent(tree, end.q, x) for x in end.dq], end.dqd


def _mean(a: State, b: State, c: State, d: State) -> State:
    """a + 2 b + 2 c + d."""

    def mean(*x: Vector) -> Vector:
        return [p + (q + r) * 2.0 + s for p, q, r, s in zip(*x, strict=True)]

    columns = ([mean(*x) for x in zip(*(getattr(s, f) for s in (a, b, c, d)), strict=True)] for f in ("dq", "dqd"))
    return State(mean(a.q, b.q, c.q, d.q), mean(a.qd, b.qd, c.qd, d.qd), *columns)


def _rates(tree: Tree, at: State) -> tuple[Vector, Columns]:
    """The rates of the numbers in q, and how they change."""

    def with_changes(x: Vector, dx: Vector) -> list[Jet]:
        return [Jet([a, b]) for a, b in zip(x, dx, strict=True)]

    columns = zip(at.dq, at.dqd, strict=True)
    changed = [_rate(tree, with_changes(at.q, dq), with_changes(at.qd, dqd)) for dq, dqd in columns]
    return _rate(tree, at.q, at.qd), [[part(x, 1) for x in column] for column in changed]


def _rate(tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Vector:
    return list(q_dot.function(tree, q, qd)[0])


def _units(*widths: int) -> list[Columns]:
    """The changes of several vectors, where each of their numbers changes by itself, one after the other."""
    starts = [sum(widths[:k]) for k in range(len(widths))]
    return [
        [[1.0 if start + i == k else 0.0 for i in range(width)] for k in range(sum(widths))]
        for start, width in zip(starts, widths, strict=True)
    ]


def _torque_program(plant: Plant) -> Program:
    """Torques, and their derivatives by the numbers in q, by qd and by u."""
    robot, model = plant.robot, Model(plant.robot)

    def run(q: list[Any], qd: list[Any], u: list[Any]) -> Sequence[Any]:
        tau = plant.torques(model, q, qd, u)
        rows = jacobian(tau, [*q, *qd, *u])
        a, b = len(q), len(q) + len(qd)
        return [tau, *([x for row in rows for x in row[part]] for part in (slice(a), slice(a, b), slice(b, None)))]

    shapes = {"tau": (), "by_q": (robot.nq,), "by_qd": (robot.nv,), "by_u": (plant.width,)}
    return trace("torques", run, plant.ports[:3], [Port(k, (robot.nv, *x)) for k, x in shapes.items()])


def _acceleration_program(plant: Plant) -> Program:
    """Accelerations, and their derivatives by tangent vectors at q, by qd and by torques."""
    robot, n = plant.robot, plant.robot.nv

    def run(q: list[Any], qd: list[Any], tau: list[Any], dt: list[Any], *inputs: list[Any]) -> Sequence[Any]:
        given = plant.named(inputs)
        tree, world = plant.surrounded(plant.tree(given), given, q, qd, dt[0])
        (qdd,) = forward_dynamics.function(tree, q, qd, tau, world=world, route="inertia")
        named = {"q": q, "qd": qd, "tau": tau}
        # the recursion takes wrenches and armatures as given
        route = {"route": "graph" if plant.options.forces or plant.method == "implicit" else "recursion"}
        return [qdd, *evaluate(forward_dynamics_derivatives, tree, named, {"world": world}, route)]

    inputs = [*plant.ports[:2], Port("tau", (n,)), *plant.ports[3:]]
    blocks = [Port(name, (n, n)) for name in ("by_q", "by_qd", "by_tau")]
    return trace("accelerations", run, inputs, [Port("qdd", (robot.nv,)), *blocks])


def _products(matrices: Sequence[Vector], *columns: Columns) -> Columns:
    """The sums of products of some matrices, flat, with the columns of as many others."""
    found = []
    for changes in zip(*columns, strict=True):
        parts = []
        for flat, x in zip(matrices, changes, strict=True):
            some = [(k, b) for k, b in enumerate(x) if not (is_number(b) and b == 0.0)]
            rows = range(0, len(flat), len(x))
            parts.append([sum((flat[at + k] * b for k, b in some), 0.0) for at in rows])
        found.append([sum(terms, 0.0) for terms in zip(*parts, strict=True)])
    return found
