"""Vectors in another library's order of joints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from linkwise.errors import InputError
from linkwise.robot.robot import Robot

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Permutation(NamedTuple):
    """Index arrays between two orders of joints: `theirs = ours[..., p.v]`, `ours = theirs[..., p.v_back]`."""

    q: NDArray[np.intp]
    v: NDArray[np.intp]
    q_back: NDArray[np.intp]
    v_back: NDArray[np.intp]


def permutation(robot: Robot, names: Iterable[str]) -> Permutation:
    """How to reorder vectors of this robot for a library whose joints come in the order `names`, and back.

    Of a robot with elastic drives `names` are all of `robot.coordinates`.
    """
    import numpy as np

    order = list(names)
    if sorted(order) != sorted(robot.coordinates):
        missing, extra = set(robot.coordinates) - set(order), set(order) - set(robot.coordinates)
        raise InputError(
            f"permutation: expected each of the robot's joints once; missing {sorted(missing)},"
            f" unknown {sorted(extra)}."
        )
    slots = [robot.slots[n] for n in order]
    q = [s.q + k for s in slots for k in range(s.nq)]
    v = [s.v + k for s in slots for k in range(s.nv)]
    return Permutation(np.array(q, int), np.array(v, int), np.argsort(q), np.argsort(v))
