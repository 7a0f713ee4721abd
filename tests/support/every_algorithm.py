"""All algorithms and controllers of a robot."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

import linkwise as lw
from linkwise.cli.export import known
from linkwise.errors import LinkwiseError
from linkwise.kernel.export.parts import Part

GAINS = {"kp": 100.0, "kd": 20.0, "kp_motor": 50.0, "kd_motor": 5.0}


def kernels(
    robot: lw.Robot, options: Mapping[str, Any], some: Sequence[str] | None = None
) -> Iterator[tuple[str, lw.Kernel]]:
    """All algorithms and controllers that the robot has, or some of them."""
    for name, algorithm in {n: known()[n] for n in some or known()}.items():
        own = {key: value for key, value in GAINS.items() if key in algorithm.static}
        if "frame" in algorithm.static:
            own["frame"] = robot.moving_links[-1]
        if "keep" not in algorithm.static:  # a sensor, which these have not
            try:
                fitting = {k: v for k, v in options.items() if k in algorithm.uses}
                yield name, lw.compile(robot, algorithm, **fitting, **own)
            except LinkwiseError:
                continue


def lost(kernel: lw.Kernel) -> float:
    """What the inverse of a matrix loses: a rounding for each of its condition number. Only one is inverted so."""
    if kernel.algorithm is not lw.algorithms.operational_inertia:
        return 0.0
    (_, (inertia,)) = Part("", kernel).numbers
    if not np.isfinite(inertia).all():  # a link that cannot move in all directions has none
        return 0.0
    return float(np.finfo(float).eps * np.linalg.cond(inertia.reshape(-1, 6, 6)).max())
