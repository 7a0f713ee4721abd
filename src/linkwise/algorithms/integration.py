"""Steps along and between configurations: one-degree joints add, floating joints move on the manifold of poses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from linkwise.algorithms.algorithm import Outputs, algorithm
from linkwise.scalar import Scalar

if TYPE_CHECKING:
    from linkwise.mechanism.machine import AnyMachine


@algorithm(inputs="q qd dt", outputs={"q_next": ("nq",)})
def integrate(machine: AnyMachine, q: Sequence[Scalar], qd: Sequence[Scalar], dt: Sequence[Scalar]) -> Outputs:
    """The configuration after moving from `q` with the constant velocity `qd` for the time `dt`.

    A joint of one degree of freedom adds qd dt. A floating joint follows a screw: with w = omega dt, of length a,

        p + R (1 + (1 - cos a)/a^2 hat(w) + (a - sin a)/a^3 hat(w)^2) v dt,    quaternion * exp(w / 2).

    The quaternion comes out normalised, with the sign that is continuous in `dt`.

    Args:
        machine: the robot.
        q: positions (nq); a quaternion x, y, z, w of any length.
        qd: velocities (nv), a floating joint's in its own axes.
        dt: one time, s.
    """
    (time,) = dt
    moved = list(q)
    for kind, at, to in machine.coordinates:
        moved[at] = kind.integrate(q[at], qd[to], time)
    return (moved,)


@algorithm(inputs="q0 q1", outputs={"v": ("nv",)})
def difference(machine: AnyMachine, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> Outputs:
    """The constant velocity that leads from `q0` to `q1` in unit time: integrate(q0, v, 1) = q1.

    A floating joint turns by at most half a turn, whatever the signs of the quaternions; at exactly half a turn the
    two ways are equal and one is taken. Turns of one-degree joints are counted, not wrapped.

    Args:
        machine: the robot.
        q0: positions at the start (nq).
        q1: positions at the end (nq).
    """
    v: list[Scalar] = [0.0] * machine.nv
    for kind, at, to in machine.coordinates:
        v[to] = kind.difference(q0[at], q1[at])
    return (v,)


@algorithm(inputs="q qd", outputs={"q_dot": ("nq",)})
def q_dot(machine: AnyMachine, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Outputs:
    """The rates of the numbers in `q`, for solvers that know nothing of manifolds.

    `qd` itself for joints of one degree of freedom; R v and half the product of the quaternion with omega for a
    floating joint, whose quaternion keeps its length.
    """
    return (machine.leaf_rates(q, qd)[: machine.nq],)


def tangent(machine: AnyMachine, q: Sequence[Scalar], rate: Sequence[Scalar]) -> list[Scalar]:
    """The velocity (nv) at which the numbers in `q` change at these rates: what `q_dot` does, undone.

    A quaternion may have any length, and change it.
    """
    v: list[Scalar] = [0.0] * machine.nv
    for kind, at, to in machine.coordinates:
        v[to] = kind.tangent(q[at], rate[at])
    return v
