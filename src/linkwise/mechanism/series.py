"""Motions as power series in time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from linkwise.jet import Jet, part
from linkwise.scalar import Scalar


def along_motion(machine: Any, motion: Sequence[Sequence[Scalar]], order: int) -> list[list[Scalar]]:
    """q, qd, qdd, ... with `order` rates each, of a motion given by q, its velocity, and so many derivatives of it.

    The rates of a floating joint's position and quaternion follow from its velocity. Of a machine these are the
    coordinates that lead.
    """
    q = list(motion[0])
    for k in range(order):
        qd = _with_rates(motion[1:], k)
        rate: list[Scalar] = [0.0] * len(q)
        for kind, at, to in machine.coordinates:
            rate[at] = kind.q_dot(q[at], qd[to])
        found = zip(motion[0], *(([part(x, j) for x in rate]) for j in range(k + 1)), strict=True)
        q = [Jet.of(derivatives) for derivatives in found]
    return [q, *(_with_rates(motion[j:], order) for j in range(1, len(motion) - order))]


def moving_positions(tree: Any, q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Scalar]:
    """Positions of a tree with their rates, at velocities of the tree."""
    moving = list(q)
    for kind, at, to in tree.coordinates:
        if kind.nv == 1 and hasattr(q[at.start], "turning"):
            moving[at.start] = q[at.start].turning(qd[to.start])
        else:
            moving[at] = [Jet(pair) for pair in zip(q[at], kind.q_dot(q[at], qd[to]), strict=True)]
    return moving


def _with_rates(derivatives: Sequence[Sequence[Scalar]], order: int) -> list[Scalar]:
    """The first of some vectors, with the others as its rates."""
    return [Jet.of(x) for x in zip(*derivatives[: order + 1], strict=True)]


def derivatives(outputs: Sequence[Sequence[Scalar]], k: int) -> list[list[Scalar]]:
    """The k-th derivative in time of every output of an algorithm that was run on such series."""
    return [[part(x, k) for x in flat] for flat in outputs]
