"""Two accelerations of a floating joint: rates of its velocity's components, and of its velocity itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from linkwise.algorithms.algorithm import Outputs, algorithm
from linkwise.scalar import Scalar
from linkwise.vector import Vec3, cross

if TYPE_CHECKING:
    from linkwise.mechanism.machine import AnyMachine


@algorithm(inputs="qd qdd", outputs={"a": ("nv",)})
def classical_acceleration(machine: AnyMachine, qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> Outputs:
    """`qdd` with the classical acceleration [a; omega_dot] in the six places of each floating joint.

    `qdd` holds the rates of the components of v, which are given in axes that turn: a = v_dot + omega x v. Both are in
    the joint's own axes, and as seen from its parent; on the world that is the acceleration of the base's origin, as
    [Khalil] section 7 and the option `base_motion` have it. The other joints' accelerations stay.

    Args:
        machine: the robot.
        qd: velocities (nv).
        qdd: their rates (nv).
    """
    a = list(qdd)
    for places, carried in _carried(machine, qd):
        a[places] = [x + y for x, y in zip(qdd[places], carried, strict=True)]
    return (a,)


@algorithm(inputs="qd a", outputs={"qdd": ("nv",)})
def component_acceleration(machine: AnyMachine, qd: Sequence[Scalar], a: Sequence[Scalar]) -> Outputs:
    """`qdd` from the classical accelerations `a`: the inverse of `classical_acceleration`.

    Args:
        machine: the robot.
        qd: velocities (nv).
        a: accelerations (nv), of floating joints classical.
    """
    qdd = list(a)
    for places, carried in _carried(machine, qd):
        qdd[places] = [x - y for x, y in zip(a[places], carried, strict=True)]
    return (qdd,)


def _carried(machine: AnyMachine, qd: Sequence[Scalar]) -> Iterator[tuple[slice, Vec3]]:
    """For each floating joint the places of its linear part, and omega x v."""
    for kind, _, to in machine.coordinates:
        if kind.nv == 6:
            rate = kind.rate(qd[to])
            yield slice(to.start, to.start + 3), cross(rate.angular, rate.linear)
