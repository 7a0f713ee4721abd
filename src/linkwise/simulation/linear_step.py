"""One step of a rollout near a state, as a linear map: derivatives of each stage, joined by the chain rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from linkwise.algorithms.derivatives import forward_dynamics_derivatives
from linkwise.algorithms.forward_dynamics import forward_dynamics
from linkwise.algorithms.integration import tangent
from linkwise.jet import Jet, part
from linkwise.kernel.closure import FOLLOWERS
from linkwise.kernel.derived import evaluate
from linkwise.kernel.robot_tracing import cheapest
from linkwise.kernel.tracing import Port, Program, inlined, jacobian, trace
from linkwise.mechanism.machine import AnyMachine
from linkwise.scalar import Scalar, is_number
from linkwise.simulation.control_law import Model
from linkwise.simulation.plant import Plant
from linkwise.simulation.step import along, six_times_mean

Vector = list[Scalar]
Columns = list[Vector]  # changes, one for each of x = [dq; dqd] and u


class State(NamedTuple):
    """A machine in a state: numbers of q and velocities, and how they change."""

    machine: AnyMachine
    q: Vector
    qd: Vector
    dq: Columns
    dqd: Columns

    def moved(self, rates: Rates, dt: Scalar) -> State:
        """After a time at these rates."""
        dq, dqd = (
            [along(a, b, dt) for a, b in zip(x, y, strict=True)]
            for x, y in ((self.dq, rates.dq), (self.dqd, rates.dqd))
        )
        machine, q = self.machine.near(along([*self.q, *self.machine.unknowns], rates.numbers, dt))
        return State(machine, q, along(self.qd, rates.qd, dt), dq, dqd)


class Rates(NamedTuple):
    """The rates of a state: of the numbers in q and of `unknowns`, of velocities, and of their changes."""

    numbers: Vector
    qd: Vector
    dq: Columns
    dqd: Columns


def linear_program(plant: Plant) -> Program:
    """The program q, qd, u, dt, ... -> A (2 nv, 2 nv), B (2 nv, width of u)."""
    n = plant.robot.nv
    driven, accelerated = _torque_program(plant), _acceleration_program(plant)
    tangents, dqd, du = _units(n, n, plant.width)

    def run(q: list[Any], qd: list[Any], u: list[Any], dt: list[Any], *inputs: list[Any]) -> Sequence[Any]:
        given = plant.named(inputs)
        machine = plant.machine(given)
        start = State(machine, q, qd, [_rate(machine, q, x) for x in tangents], dqd)

        def accelerations(at: State, time: Scalar) -> tuple[Vector, Columns]:
            further = plant.later(given, time, at.machine.unknowns).values()
            moved = tangents if at is start else [tangent(at.machine, at.q, x) for x in at.dq]
            numbers = [[*x, *_followed(at.machine, at.q, v)] for x, v in zip(at.dq, moved, strict=True)]
            tau, *by = inlined(driven, at.q, at.qd, u, *further)
            dtau = _products(by, numbers, at.dqd, du)
            qdd, *by = inlined(accelerated, at.q, at.qd, tau, dt, *further)
            return qdd, _products(by, moved, at.dqd, dtau)

        ends = (_runge_kutta if plant.method == "rk4" else _euler)(accelerations, start, dt[0])
        matrix = list(zip(*([*dq, *dqd] for dq, dqd in zip(*ends, strict=True)), strict=True))
        return [x for row in matrix for x in row[: 2 * n]], [x for row in matrix for x in row[2 * n :]]

    outputs = [Port("A", (2 * n, 2 * n)), Port("B", (2 * n, plant.width))]
    return plant.closed(trace("linearization", run, plant.ports, outputs))


# of a state some time after the step began, and how they change
Accelerations = Callable[[State, Scalar], tuple[Vector, Columns]]


def _euler(accelerations: Accelerations, start: State, dt: Scalar) -> tuple[Columns, Columns]:
    """Semi-implicit Euler, where the new velocity moves the position: tangent vectors and velocities at the end."""
    qdd, dqdd = accelerations(start, 0.0)
    dqd = [along(a, b, dt) for a, b in zip(start.dqd, dqdd, strict=True)]
    machine, n = start.machine, len(start.qd)
    _, units = _units(n, n)  # how the end moves with the start, then with each of the new velocities
    moving = State(machine, start.q, along(start.qd, qdd, dt), start.dq[: 2 * n], units)
    v, dv = _rate(machine, moving.q, moving.qd), _rates(moving)
    q = along(start.q, v, dt)
    by = [tangent(machine, q, along(a, b, dt)) for a, b in zip(moving.dq, dv, strict=True)]
    pushed = _products([[x for row in zip(*by[n:], strict=True) for x in row]], dqd)
    still = [[0.0] * n] * (len(dqd) - n)
    return [[a + b for a, b in zip(*x, strict=True)] for x in zip([*by[:n], *still], pushed, strict=True)], dqd


def _runge_kutta(accelerations: Accelerations, start: State, dt: Scalar) -> tuple[Columns, Columns]:
    """The stages of fourth order, and the changes of each."""
    slopes: list[Rates] = []
    for share in (0.0, 0.5, 0.5, 1.0):
        at = start.moved(slopes[-1], dt * share) if slopes else start
        v, dv = at.machine.leaf_rates(at.q, at.qd), _rates(at)
        qdd, dqdd = accelerations(at, dt * share)
        slopes.append(Rates(v, qdd, dv, dqdd))
    end = start.moved(_sum(slopes), dt * (1.0 / 6.0))
    return [tangent(end.machine, end.q, x) for x in end.dq], end.dqd


def _sum(stages: Sequence[Rates]) -> Rates:
    """The rates of four stages, added up as `step` does."""
    numbers, qd, dq, dqd = zip(*stages, strict=True)
    columns = ([six_times_mean(*x) for x in zip(*every, strict=True)] for every in (dq, dqd))
    return Rates(six_times_mean(*numbers), six_times_mean(*qd), *columns)


def _rates(at: State) -> Columns:
    """How the rates of the numbers in q change."""

    def with_changes(x: Vector, dx: Vector) -> list[Jet]:
        return [Jet([a, b]) for a, b in zip(x, dx, strict=True)]

    columns = zip(at.dq, at.dqd, strict=True)
    changed = [_rate(at.machine, with_changes(at.q, dq), with_changes(at.qd, dqd)) for dq, dqd in columns]
    return [[part(x, 1) for x in column] for column in changed]


def _rate(machine: AnyMachine, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Vector:
    """The rates of the numbers in q, with rates of their own."""
    found: Vector = [0.0] * machine.nq
    for kind, at, to in machine.coordinates:
        found[at] = kind.q_dot(q[at], qd[to])
    return found


def _followed(machine: AnyMachine, q: Vector, qd: Vector) -> Vector:
    """The rates of `unknowns` of a machine."""
    return machine.leaf_rates(q, qd)[machine.nq :] if machine.unknowns else []


def _units(*widths: int) -> list[Columns]:
    """The changes of several vectors, where each of their numbers changes by itself, one after the other."""
    starts = [sum(widths[:k]) for k in range(len(widths))]
    return [
        [[1.0 if start + i == k else 0.0 for i in range(width)] for k in range(sum(widths))]
        for start, width in zip(starts, widths, strict=True)
    ]


def _torque_program(plant: Plant) -> Program:
    """Torques, and their derivatives by the numbers in q and by `unknowns`, by qd and by u."""
    robot, model = plant.robot, Model(plant.robot)
    inputs = [*plant.ports[:3], *plant.ports[4:]]
    sought = sum(p.size for p in inputs if p.name == FOLLOWERS)

    def run(q: list[Any], qd: list[Any], u: list[Any], *further: list[Any]) -> Sequence[Any]:
        machine = plant.machine(plant.named(further))
        tau = plant.torques(machine, model, q, qd, u)
        rows = jacobian(tau, [*q, *machine.unknowns, *qd, *u])
        a, b = robot.nq + sought, robot.nq + sought + len(qd)
        return [tau, *([x for row in rows for x in row[part]] for part in (slice(a), slice(a, b), slice(b, None)))]

    shapes = {"tau": (), "by_q": (robot.nq + sought,), "by_qd": (robot.nv,), "by_u": (plant.width,)}
    return trace("torques", run, inputs, [Port(k, (robot.nu, *x)) for k, x in shapes.items()])


def _acceleration_program(plant: Plant) -> Program:
    """Accelerations, and their derivatives by tangent vectors at q, by qd and by torques."""
    n, drives = plant.robot.nv, plant.robot.nu
    inputs = [*plant.ports[:2], Port("tau", (drives,)), *plant.ports[3:]]
    blocks = [Port("by_q", (n, n)), Port("by_qd", (n, n)), Port("by_tau", (n, drives))]

    def traced(route: str) -> Program:
        def run(q: list[Any], qd: list[Any], tau: list[Any], dt: list[Any], *further: list[Any]) -> Sequence[Any]:
            given = plant.named(further)
            machine, world = plant.surrounded(plant.machine(given), given, q, qd, dt[0])
            (qdd,) = forward_dynamics.function(machine, q, qd, tau, world=world, route="inertia")
            named = {"q": q, "qd": qd, "tau": tau}
            return [qdd, *evaluate(forward_dynamics_derivatives, machine, named, {"world": world}, {"route": route})]

        return trace("accelerations", run, inputs, [Port("qdd", (n,)), *blocks])

    # the recursion takes wrenches and armatures as given, and knows trees alone
    graph = plant.options.forces or plant.method == "implicit"
    return cheapest(
        {"route": "graph" if graph else forward_dynamics_derivatives.static["route"]}, lambda x: traced(**x)
    )


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
