"""Every robot of example-robot-data, on a fixed and on a floating base, and how far two answers are apart."""

import numpy as np

from support.pinocchio_bridge import ROBOTS

NOT_ROBOTS = ("ur3.urdf", "alex_psyonic_hands.urdf")
UNDETERMINED = ("romeo.urdf", "romeo_laas_small.urdf")  # fingers without mass and inertia
FILES = sorted(ROBOTS.rglob("*.urdf"))
CASES = [(p, base) for p in FILES if p.name not in NOT_ROBOTS for base in ("fixed", "floating")]
IDS = [f"{p.parent.parent.name}/{p.name}-{base}" for p, base in CASES]


def relative(ours: np.ndarray, theirs: np.ndarray, least: float = 0.0) -> np.ndarray:
    """The largest difference of each state, relative to its largest number, or to `least` where all are smaller."""
    axes = tuple(range(1, ours.ndim))
    size = np.abs(theirs).max(axis=axes)
    return np.abs(ours - theirs).max(axis=axes) / np.maximum(size, least)


def summary(error: np.ndarray) -> str:
    return f"worst {error.max():.1e}, median {np.median(error):.1e}, above 1e-9: {(error > 1e-9).sum()}"
