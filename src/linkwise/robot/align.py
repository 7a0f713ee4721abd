"""Body frames placed as Denavit, Hartenberg and Khalil would place them, so that constants vanish from kernels.

A body's frame may slide along its joint axis and turn about it without changing any generalised force. Sliding to the
foot of the common normal with a child's axis and turning x along that normal leaves the child's placement with a turn
about x and few offsets; a remaining turn about the child's own z is added to its angle. Khalil's gamma and b stay for
further branches.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

from linkwise.robot.round_off import snapped, snapped_inertia
from linkwise.robot.tree import Body, Tree
from linkwise.rotation import rot_z
from linkwise.scalar import is_number
from linkwise.spatial import Pose
from linkwise.vector import EYE3, Vec3

TINY = 1e-12


def aligned(tree: Tree) -> Tree:
    """The same tree with frames placed to save operations; joint wrenches then refer to other points."""
    bodies = list(tree.bodies)
    if not all(is_number(x) for b in bodies for row in b.placement.matrix() for x in row):
        return tree
    shift = [Pose()] * len(bodies)
    children: list[list[int]] = [[] for _ in bodies]
    for i, b in enumerate(bodies[1:], start=1):
        children[b.parent].append(i)
    for i, b in enumerate(bodies[1:], start=1):
        placement = shift[b.parent].inverse() @ b.placement if b.parent else b.placement
        if b.is_single:
            below = [bodies[k].placement for k in children[i] if bodies[k].is_single]
            turn, slide = min(_candidates(placement, below), key=partial(_price, placement, below))
            if turn or slide:
                shift[i] = Pose(rot_z(turn) if turn else EYE3, Vec3(0.0, 0.0, slide))
        bodies[i] = _moved(b, snapped(placement @ shift[i]), shift[i])
    places = {name: (i, snapped(shift[i].inverse() @ X)) for name, (i, X) in tree.places.items()}
    rotors = tuple(replace(r, axis=shift[r.on].R.T @ r.axis) for r in tree.rotors)
    return replace(tree, bodies=tuple(bodies), places=places, rotors=rotors)


def _moved(b: Body, placement: Pose, X: Pose) -> Body:
    """The body with its frame shifted by X; a general turn about z is taken out of a revolute placement."""
    twist = b.twist
    if b.kind.turns:
        angle = _turn_about_z(placement)
        if abs(_nearest_right_angle(angle) - angle) > TINY:
            placement, twist = snapped(Pose(placement.R @ rot_z(-angle), placement.p)), twist + angle
    back = X.inverse()
    inertia = snapped_inertia(b.inertia.seen_from(back.R, back.p))
    return replace(b, placement=placement, of_link=b.of_link @ X, inertia=inertia, twist=twist)


def _candidates(placement: Pose, below: list[Pose]) -> list[tuple[float, float]]:
    """Turns about z and slides along it worth trying: none; to the common normal with each child; offsets cancelled."""
    turns, slides = [0.0], [0.0]
    z = placement.R.column(2)
    slides += [-placement.p[k] / z[k] for k in range(3) if abs(z[k]) > TINY and placement.p[k]]
    for child in below:
        u, p = child.R.column(2), child.p
        sideways = math.hypot(u.x, u.y)
        if sideways > TINY:
            turns.append(math.atan2(u.x, -u.y))
            slides.append(p.z - u.z * (u.x * p.x + u.y * p.y) / sideways**2)
        elif math.hypot(p.x, p.y) > TINY:
            turns.append(math.atan2(p.y, p.x))
        slides.append(p.z)
    if not below:
        turns.append(-_turn_about_z(placement))
    # nearly parallel axes meet far away, and a long lever loses digits
    reach = 2.0 * max(math.hypot(*X.p) for X in (placement, *below))
    slides = [d for d in slides if abs(d) <= reach]
    worth = [t for k, t in enumerate(turns) if k == 0 or abs(_nearest_right_angle(t) - t) > TINY]
    distinct = [d for k, d in enumerate(slides) if all(abs(d - e) > TINY for e in slides[:k])]
    return [(t, d) for t in worth for d in distinct]


def _price(placement: Pose, below: list[Pose], shift: tuple[float, float]) -> float:
    """Operations that the placements of a body and of its children cause after a turn and a slide, roughly.

    What counts is where the joint axis u points and how many offsets there are; turns about u itself are free.
    """
    turn, slide = shift
    total = _offsets(*(x + slide * u for x, u in zip(placement.p, placement.R.column(2), strict=True)))
    c, s = math.cos(turn), math.sin(turn)
    for child in below:
        u, p = child.R.column(2), child.p
        total += _offsets(c * p.x + s * p.y, c * p.y - s * p.x, p.z - slide)
        axis = (abs(c * u.x + s * u.y), abs(c * u.y - s * u.x), abs(u.z))
        if max(axis) < 1.0 - TINY:
            total += 30.0 if min(axis) < TINY else 65.0
    return total


def _offsets(*p: float) -> float:
    return sum(10.0 for x in p if abs(x) > TINY)


def _turn_about_z(X: Pose) -> float:
    """The angle theta for which R Rz(-theta) has a zero at its lower left, or is the identity where it can be."""
    R = X.R
    if math.hypot(R.z.x, R.z.y) > TINY:
        angle = math.atan2(R.z.x, R.z.y)
        return angle if abs(angle) <= math.pi / 2 else angle - math.copysign(math.pi, angle)
    return math.atan2(R.y.x, R.x.x)


def _nearest_right_angle(angle: float) -> float:
    return round(angle / (math.pi / 2)) * (math.pi / 2)
