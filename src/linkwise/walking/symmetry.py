"""The mirrored posture: which joint takes whose part, with what sign."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from linkwise.robot.robot import Robot
from linkwise.walking.joints import TURNED, mirrored_name

CLOSE = 1e-9


def mirror(names: Sequence[str]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Places and signs: the mirrored posture of q is sign * q[place]."""
    at = {name: k for k, name in enumerate(names)}
    place = np.array([at[mirrored_name(name)] for name in names])
    return place, np.array([-1.0 if name in TURNED else 1.0 for name in names])


def is_symmetric(robot: Robot) -> bool:
    """Whether the left side of a skeleton is the mirrored right one: bodies, places, ranges and strengths."""
    joints = {j.name: j for j in robot.joints if not j.is_fixed}
    if {mirrored_name(name) for name in joints} != set(joints):
        return False
    for name, joint in joints.items():
        a, b = joint.limits, joints[mirrored_name(name)].limits
        turned = name in TURNED
        bounds = (-a.upper, -a.lower) if turned else (a.lower, a.upper)
        if not np.allclose([*bounds, a.effort], [b.lower, b.upper, b.effort], atol=CLOSE):
            return False
    return _bodies_are_symmetric(robot)


def _bodies_are_symmetric(robot: Robot) -> bool:
    from linkwise.robot.tree import Tree

    tree = Tree.of(robot)
    bodies = {b.name: (b, np.array(b.of_link.R, dtype=float)) for b in tree.bodies[1:]}
    flip = np.array([1.0, 1.0, -1.0])
    for name, (body, R) in bodies.items():
        other, S = bodies[mirrored_name(name)]
        # in the axes of links, which are those of the world at zero
        first = [(R @ np.array(body.inertia.mc, dtype=float)) * flip, S @ np.array(other.inertia.mc, dtype=float)]
        second = [R @ np.array(body.inertia.E, dtype=float) @ R.T * np.outer(flip, flip)]
        second.append(S @ np.array(other.inertia.E, dtype=float) @ S.T)
        P, Q = (bodies[tree.bodies[x.parent].name][1] if x.parent else np.eye(3) for x in (body, other))
        placed = [P @ np.array(body.placement.p, dtype=float) * flip, Q @ np.array(other.placement.p, dtype=float)]
        same = all(np.allclose(a, b, atol=CLOSE) for a, b in (first, second, placed))
        if not same or abs(body.inertia.m - other.inertia.m) > CLOSE:
            return False
    return True
