"""Motions in a live page, at the pace of a clock."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from linkwise.kernel.compile import compile
from linkwise.robot.robot import Robot
from linkwise.view.motion import Motion
from linkwise.view.nodes import Placed
from linkwise.view.painter import FRAME
from linkwise.view.solids import Array

if TYPE_CHECKING:
    from linkwise.view.live import Show


def play(show: Show, motion: Motion, speed: float) -> None:
    """Play a motion to its end, or until the show ends; between rows the robot moves at constant speeds."""
    robot, t, q = motion.robot, motion.t, motion.q
    dyn, placed = compile(robot), show.placed if robot is show.robot else Placed(robot)
    order = [placed.links[link] for link in show.placed.links]
    begin, place = time.perf_counter(), float(t[0])
    while show.is_open:
        k = min(max(int(np.searchsorted(t, place, side="right")) - 1, 0), max(len(t) - 2, 0))
        share = float((place - t[k]) / (t[k + 1] - t[k])) if place < t[-1] else 1.0
        here = q[-1] if share == 1.0 else dyn.integrate(q[k], dyn.difference(q[k], q[k + 1]), share)
        base = None if motion.base is None else motion.base[min(k + round(share), len(t) - 1)]
        show._q = leading(show.robot, robot, here)
        show._draw(partial(show.nodes.place, placed(dyn.poses(here))[order], base))
        if place >= t[-1]:
            break
        before = time.perf_counter()
        show._over.wait(FRAME)
        if show.paused:
            begin += time.perf_counter() - before
        place = min(float(t[0]) + speed * (time.perf_counter() - begin), float(t[-1]))


def leading(robot: Robot, whose: Robot, q: Array) -> Array:
    """The positions of a robot, from those of its links without motors, or of its tree."""
    if whose is robot:
        return q
    known = {name: q[slot.q : slot.q + slot.nq] for name, slot in whose.slots.items() if name in robot.slots}
    return np.asarray(robot.q({name: x if len(x) > 1 else float(x[0]) for name, x in known.items()}))
