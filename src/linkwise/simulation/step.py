"""One step of fixed length, over any scalar: semi-implicit Euler, and Runge and Kutta's of fourth order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from linkwise.errors import InputError
from linkwise.jet import Jet, part
from linkwise.mechanism.machine import AnyMachine
from linkwise.robot.tree import Body, Tree
from linkwise.scalar import Scalar, maximum, number

Vector = list[Scalar]
# (machine, q, qd, time since the step began) -> qdd
Accelerations = Callable[[AnyMachine, Sequence[Scalar], Sequence[Scalar], Scalar], Sequence[Scalar]]

METHODS = ("euler", "implicit", "rk4")


def step(
    machine: AnyMachine, accelerations: Accelerations, q: Vector, qd: Vector, dt: Scalar, method: str
) -> tuple[Vector, Vector, Vector]:
    """Positions and velocities after a time `dt`, and about where `unknowns` of the machine are then.

    "euler" takes the new velocity for the new position, which keeps the energy of oscillations bounded; "implicit" is
    the same with accelerations of the tree that `resisting_ahead` gives; "rk4" is of fourth order. Quaternions are
    integrated as four numbers and normalised at the end of the step. What Newton's method finds is integrated beside
    `q`, and closed by one step of it in each stage: that is off by the fourth power of `dt`, which keeps the order.
    """
    numbers = [*q, *machine.unknowns]
    if method in ("euler", "implicit"):
        new = along(qd, accelerations(machine, q, qd, 0.0), dt)
        moved = normalised(machine, along(numbers, machine.leaf_rates(q, new), dt))
        return moved[: len(q)], new, moved[len(q) :]
    if method != "rk4":
        raise InputError(f"method: expected one of {METHODS}, got {method!r}.")

    def stage(v: Vector, a: Sequence[Scalar], time: Scalar) -> tuple[Vector, Sequence[Scalar]]:
        near, at = machine.near(along(numbers, v, time))
        speeds = along(qd, a, time)
        return near.leaf_rates(at, speeds), accelerations(near, at, speeds, time)

    half = dt * 0.5
    v1, a1 = machine.leaf_rates(q, qd), accelerations(machine, q, qd, 0.0)
    v2, a2 = stage(v1, a1, half)
    v3, a3 = stage(v2, a2, half)
    v4, a4 = stage(v3, a3, dt)
    sixth = dt * (1.0 / 6.0)
    moved = normalised(machine, along(numbers, six_times_mean(v1, v2, v3, v4), sixth))
    return moved[: len(q)], along(qd, six_times_mean(a1, a2, a3, a4), sixth), moved[len(q) :]


def resisting_ahead(tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], dt: Scalar) -> Tree:
    """The tree whose joints resist at the end of a step as they will move then: stable however stiff their dampers are.

    With C the torque over the speed of dampers, frictions and motor frictions, which are smooth, and for other laws of
    a joint their slope where it damps, C qd_new in place of C qd means

        (M + dt C) qdd = tau - h(q, qd),

    so that dt C adds to the armature. Dampers of elastic drives, between two coordinates, stay as they are.
    """

    def ahead(b: Body) -> Body:
        if not b.is_single:
            return b
        v = qd[b.v] * b.ratio
        slope = b.friction.slope(v) + b.motor_friction.slope(v * b.gear) * (b.gear * b.gear)
        if b.spring is not None:
            slope = slope + b.spring.damping
        if b.law is not None:
            slope = slope + maximum(-part(b.law(number(b.position(q)), Jet([v, 1.0])), 1), 0.0)
        elastic = b.elastic
        if elastic is not None:
            own = elastic.friction.slope(qd[elastic.v] * elastic.gear) * (elastic.gear * elastic.gear)
            elastic = replace(elastic, armature=elastic.armature + own * dt)
        return replace(b, armature=b.armature + slope * dt, elastic=elastic)

    return replace(tree, bodies=(tree.bodies[0], *map(ahead, tree.bodies[1:])))


def normalised(machine: AnyMachine, q: Vector) -> Vector:
    """The same positions with unit quaternions; further numbers are left as they are."""
    for kind, at, _ in machine.coordinates:
        q[at] = kind.normalised(q[at])
    return q


def along(x: Sequence[Scalar], rate: Sequence[Scalar], dt: Scalar) -> Vector:
    """x + rate dt."""
    return [a + b * dt for a, b in zip(x, rate, strict=True)]


def six_times_mean(a: Sequence[Scalar], b: Sequence[Scalar], c: Sequence[Scalar], d: Sequence[Scalar]) -> Vector:
    """The rates of Runge and Kutta's four stages, added up: a + 2 b + 2 c + d."""
    return [p + (q + r) * 2.0 + s for p, q, r, s in zip(a, b, c, d, strict=True)]
