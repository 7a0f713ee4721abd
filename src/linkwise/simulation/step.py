"""One step of fixed length, over any scalar: semi-implicit Euler, and Runge and Kutta's of fourth order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from linkwise.algorithms.integration import q_dot
from linkwise.errors import InputError
from linkwise.jet import Jet, part
from linkwise.robot.tree import Body, Tree
from linkwise.scalar import Scalar, maximum, number

Vector = list[Scalar]
Accelerations = Callable[[Sequence[Scalar], Sequence[Scalar]], Sequence[Scalar]]  # (q, qd) -> qdd

METHODS = ("euler", "implicit", "rk4")


def step(
    tree: Tree, accelerations: Accelerations, q: Vector, qd: Vector, dt: Scalar, method: str
) -> tuple[Vector, Vector]:
    """Positions and velocities after a time `dt`.

    "euler" takes the new velocity for the new position, which keeps the energy of oscillations bounded; "implicit" is
    the same with accelerations of the tree that `resisting_ahead` gives; "rk4" is of fourth order. Quaternions are
    integrated as four numbers and normalised at the end of the step.
    """
    if method in ("euler", "implicit"):
        new = along(qd, accelerations(q, qd), dt)
        return normalised(tree, along(q, rates(tree, q, new), dt)), new
    if method != "rk4":
        raise InputError(f"method: expected one of {METHODS}, got {method!r}.")
    half = dt * 0.5
    v1, a1 = rates(tree, q, qd), accelerations(q, qd)
    q2, qd2 = along(q, v1, half), along(qd, a1, half)
    v2, a2 = rates(tree, q2, qd2), accelerations(q2, qd2)
    q3, qd3 = along(q, v2, half), along(qd, a2, half)
    v3, a3 = rates(tree, q3, qd3), accelerations(q3, qd3)
    q4, qd4 = along(q, v3, dt), along(qd, a3, dt)
    v4, a4 = rates(tree, q4, qd4), accelerations(q4, qd4)
    sixth = dt * (1.0 / 6.0)
    return normalised(tree, along(q, _sum(v1, v2, v3, v4), sixth)), along(qd, _sum(a1, a2, a3, a4), sixth)


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


def rates(tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Vector:
    """The rates of the numbers in `q`."""
    return list(q_dot.function(tree, q, qd)[0])


def normalised(tree: Tree, q: Vector) -> Vector:
    """The same positions with unit quaternions."""
    for body in tree.bodies[1:]:
        places = slice(body.q, body.q + body.kind.nq)
        q[places] = body.kind.normalised(q[places])
    return q


def along(x: Sequence[Scalar], rate: Sequence[Scalar], dt: Scalar) -> Vector:
    """x + rate dt."""
    return [a + b * dt for a, b in zip(x, rate, strict=True)]


def _sum(a: Sequence[Scalar], b: Sequence[Scalar], c: Sequence[Scalar], d: Sequence[Scalar]) -> Vector:
    return [p + (q + r) * 2.0 + s for p, q, r, s in zip(a, b, c, d, strict=True)]
