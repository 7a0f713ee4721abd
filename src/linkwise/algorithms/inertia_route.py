"""The equations of motion by the inertia matrix, for every mix of known and unknown: M qdd + h = tau, row by row."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING

from linkwise.algorithms.algorithm import World
from linkwise.algorithms.forces import bias_forces
from linkwise.algorithms.inverse_dynamics import tree_torques
from linkwise.algorithms.mass_matrix import mass_matrix
from linkwise.errors import LinkwiseError
from linkwise.mechanism import linear
from linkwise.robot.tree import Body
from linkwise.scalar import Scalar, is_number
from linkwise.spatial import Inertia, Motion

if TYPE_CHECKING:
    from linkwise.mechanism.machine import AnyMachine


def solve_by_inertia(
    machine: AnyMachine,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    given: Sequence[Scalar],
    driven: Collection[int],
    world: World,
) -> tuple[list[Scalar], list[Scalar]]:
    """Accelerations and forces, with `given[k]` the acceleration of coordinate k where it is driven, else its force.

    Rows of free coordinates are solved for their accelerations; rows of driven ones then give their forces. Motors on
    links and joints that mimic are in M, so that this route knows them.

    Source: [Khalil] section 3.3.1, with known accelerations taken to the right-hand side.
    """
    n = machine.nv
    (flat,) = mass_matrix.function(machine, q)
    (h,) = bias_forces.function(machine, q, qd, world=world)
    M = [flat[n * k : n * k + n] for k in range(n)]
    held, free = sorted(driven), [k for k in range(n) if k not in driven]

    rest = [given[k] - h[k] - sum((M[k][j] * given[j] for j in held), 0.0) for k in free]
    doubtful = light_coordinates(machine)
    factors = linear.factorise(
        [[M[i][j] for j in free] for i in free],
        lambda k: no_inertia_along(machine, free[k]),
        [at for at, k in enumerate(free) if k in doubtful],
    )
    qdd, tau = list(given), list(given)
    for k, x in zip(free, linear.solve(factors, rest), strict=True):
        qdd[k] = x
    for k in held:
        tau[k] = h[k] + sum((M[k][j] * qdd[j] for j in range(n)), 0.0)
    return qdd, tau


def accelerations_by_inertia(
    machine: AnyMachine, q: Sequence[Scalar], qd: Sequence[Scalar], tau: Sequence[Scalar], world: World
) -> list[Scalar]:
    """Accelerations under torques of the drives."""
    return linear.solve(*equations_of_motion(machine, q, qd, tau, world))


def equations_of_motion(
    machine: AnyMachine, q: Sequence[Scalar], qd: Sequence[Scalar], tau: Sequence[Scalar], world: World
) -> tuple[linear.LDL, list[Scalar]]:
    """The factors of M, and M qdd: torques of the drives less bias forces, projected to what leads together."""
    at, n = machine.at(q), machine.nv
    bias = tree_torques(at, *at.led(qd, [0.0] * n), world)
    rest = at.project([a - b for a, b in zip(at.applied(tau), bias, strict=True)])
    (flat,) = mass_matrix.function(machine, q)
    M = [flat[n * k : n * k + n] for k in range(n)]
    factors = linear.factorise(M, lambda k: no_inertia_along(machine, k), sorted(light_coordinates(machine)))
    return factors, rest


def light_coordinates(machine: AnyMachine) -> set[int]:
    """Coordinates whose bodies have no inertia of their own along them: in some states they may have none at all."""
    return {k for b in machine.leading_bodies if b.light for k, _ in b.axes}


def inverse_along(body: Body, axis: Motion, pivot: Scalar, composite: Sequence[Inertia], i: int) -> Scalar:
    """1 / pivot, the inertia that is left along an axis of body i: refused where known to be zero, NaN where lost.

    `composite` are the `composites` of a tree that has light bodies.
    """
    if is_number(pivot) and pivot <= 0.0:
        raise no_inertia(body)
    if not body.light:
        return 1.0 / pivot
    whole = composite[i].momentum(axis).power(axis) + body.own_inertia
    return linear.sound_inverse(pivot, whole, partial(no_inertia, body))


def no_inertia_along(machine: AnyMachine, k: int) -> LinkwiseError:
    """Which link or motor it is whose coordinate k has no inertia."""
    tree, k = machine.tree_coordinate(k)
    for body, e in tree.elastic_bodies:
        if e.v == k:
            return no_rotor(body)
    body = next(b for b in tree.bodies if any(place == k for place, _ in b.axes))
    return no_inertia(body)


def no_inertia(body: Body) -> LinkwiseError:
    """The answer to a free axis along which nothing has inertia."""
    return LinkwiseError(
        f"joint {body.name!r}: the free link {body.link!r} and all it carries have no inertia along the joint, so its"
        " acceleration is not determined. Give the link a mass, the joint an armature, or drive the joint."
    )


def no_rotor(body: Body) -> LinkwiseError:
    """The answer to a motor behind a spring whose rotor has no inertia."""
    return LinkwiseError(
        f"joint {body.name!r}: the motor of its elastic drive has no inertia, so that its acceleration is not"
        " determined. Give the drive a motor with a rotor, or the joint an armature; or take robot.rigid(), or a"
        " passive Spring where nothing drives the joint."
    )
