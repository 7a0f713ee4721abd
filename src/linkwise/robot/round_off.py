"""Numbers of bodies without the round-off of their frames."""

from __future__ import annotations

from linkwise.scalar import is_number
from linkwise.spatial import Inertia, Pose
from linkwise.vector import Mat3, Vec3

# products of exact turns leave 1e-16 where 0 or 1 is meant; each would cost operations in every kernel
ROUND_OFF = 1e-14


def snapped(X: Pose) -> Pose:
    """The same without what is round-off of zeros and ones."""
    if not all(is_number(x) for r in X.R for x in r):
        return X
    R = Mat3.of([[_snap(x) for x in r] for r in X.R])
    return Pose(R, Vec3(*(0.0 if is_number(x) and abs(x) < ROUND_OFF else x for x in X.p)))


def _snap(x: float) -> float:
    nearest = float(round(x))
    return nearest if abs(x - nearest) < ROUND_OFF else x


def snapped_inertia(I: Inertia) -> Inertia:
    """The same without what is round-off; second moments are measured by each other, since small ones may matter."""
    moments = [x for r in I.E for x in r]
    numbers = [I.m, *I.mc, *moments]
    if not all(is_number(x) for x in numbers):
        return I

    def snap(x: float, size: float) -> float:
        return 0.0 if abs(x) < ROUND_OFF * size else x

    all_, second = max(map(abs, numbers)), max(map(abs, moments))
    return Inertia(I.m, Vec3(*(snap(x, all_) for x in I.mc)), Mat3.of([[snap(x, second) for x in r] for r in I.E]))
