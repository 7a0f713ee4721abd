"""What the ground exerts on the feet, in two steps.

First the motion without ground reactions tells the wrench W that the world must exert on the body (on a chain from the
world to the pelvis, without any real actuator): force F and moment M about the world's origin. Then W is given to the
feet. On one foot all of it; on both it is split at the zero-moment point z, the point of the ground where W has no
horizontal moment: with p the place of z along the line from a point of the left foot (0) to one of the right (1), the
right foot has the share a = clamp(p), both shares act in parallel, displaced by the same vector, so that they add up.

    z = (M_z, 0, -M_x) / F_y        W_right = (a F,  a (r_right + z - r_a) x F + a n)

with r_a the point of the line at a, and n the vertical moment of W about z.

Source: [Barman] 5.1, after Xiang et al. 2009. The clamp's corners are rounded, so that its derivative is continuous.
"""

from __future__ import annotations

from typing import NamedTuple

from linkwise.scalar import Scalar, less, where
from linkwise.spatial import Wrench
from linkwise.vector import Vec3, cross, dot

CORNER = 0.05  # half width of the clamp's rounded corners


class Support(NamedTuple):
    """How the body stands at an instant.

    Args:
        double: 1 where both feet carry, else 0.
        right: the right foot's share where one foot carries: 1 or 0.
        toe_r: 1 where the right foot stands on its toes, so that the load passes through that joint.
        toe_l: the same of the left.
        right_x, right_z: the point of the ground at which the right foot is said to stand while both carry.
        left_x, left_z: the same of the left; never the same point.
    """

    double: Scalar
    right: Scalar
    toe_r: Scalar
    toe_l: Scalar
    right_x: Scalar = 0.0
    right_z: Scalar = 0.1
    left_x: Scalar = 0.0
    left_z: Scalar = -0.1


def right_share(W: Wrench, s: Support) -> Wrench:
    """The right foot's part of the ground's wrench, about the world's origin; the left foot has the rest."""
    split = share_at_zmp(W, Vec3(s.right_x, 0.0, s.right_z), Vec3(s.left_x, 0.0, s.left_z))
    both, one = (where(s.double, *x) for x in ((1.0, 0.0), (0.0, s.right)))
    return split * both + W * one


def share_at_zmp(W: Wrench, right: Vec3, left: Vec3) -> Wrench:
    """The right foot's part while both feet carry."""
    F, M = W.force, W.moment
    z = zmp(W)
    vertical = M.y - (z.z * F.x - z.x * F.z)
    line = right - left
    a = clamp(dot(z - left, line) / dot(line, line))
    at = right + (z - left - line * a)
    return Wrench(F * a, (cross(at, F) + Vec3(0.0, vertical, 0.0)) * a)


def zmp(W: Wrench) -> Vec3:
    """The point of the ground about which a wrench has no horizontal moment."""
    F, M = W.force, W.moment
    return Vec3(M.z / F.y, 0.0, -M.x / F.y)


def clamp(p: Scalar, e: float = CORNER) -> Scalar:
    """p within 0 and 1, with parabolas of half width e about both corners."""
    low, high = p + e, 1.0 + e - p
    inside = where(less(p, 1.0 - e), p, 1.0 - high * high * (0.25 / e))
    above = where(less(p, e), low * low * (0.25 / e), inside)
    return where(less(p, -e), 0.0, where(less(1.0 + e, p), 1.0, above))
