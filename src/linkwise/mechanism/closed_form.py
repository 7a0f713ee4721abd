"""Which loops of a machine have a closed form, and in which order they are solved.

Recognised are legs, chains of three joints that bring a point to another, and planar dyads, two joints that with the
cut joint make three in one plane, wherever on the loop they are. A loop that is solved makes its joints known for the
others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import product

from linkwise.mechanism.chain import Chain
from linkwise.mechanism.form import Crossing, Form, Guide, Leg
from linkwise.mechanism.leg import NEAR, SAME, meet, near
from linkwise.mechanism.loops import CLOSURES
from linkwise.robot.loop import Loop
from linkwise.robot.tree import Tree
from linkwise.rotation import Turn
from linkwise.spatial import Pose
from linkwise.vector import Vec3, cross, dot

SIGNS = (1.0, -1.0)


def closed_forms(
    tree: Tree, loops: Sequence[Loop], known: Collection[int], reference: Sequence[float]
) -> tuple[list[Form], list[Loop]]:
    """Closed forms in an order in which each finds what it needs, and the loops that have none.

    A loop without unknown joints, or whose unknown joints others find, is in neither list.

    Args:
        tree: the tree with its loops cut, in numbers.
        loops: its cut joints.
        known: places in q of the coordinates that lead.
        reference: positions of the tree (nq) that close the loops, which decide the branches. A loop of which branches
            meet there has no closed form.
    """
    found: list[Form] = []
    places, left, before = set(known), list(loops), -1
    while before != len(found):
        before = len(found)
        for loop in list(left):
            form = _form(tree, loop, places, reference)
            if form is not None:
                found.append(form)
                left.remove(loop)
                places |= {tree.bodies[k].q for k in form.bodies}
    return found, [loop for loop in left if Chain.around(tree, loop, places).unknown]


def _form(tree: Tree, loop: Loop, known: Collection[int], reference: Sequence[float]) -> Form | None:
    """The closed form of a loop, if it has one."""
    chain = Chain.around(tree, loop, known)
    if not chain.unknown or not all(_follows(tree, k) for k in chain.bodies):
        return None
    settled = (_settled(tree, branches, reference) for branches in _candidates(tree, loop, chain, reference))
    return next((form for form in settled if form is not None), None)


def _follows(tree: Tree, k: int) -> bool:
    """Whether a body's joint turns or slides, by a coordinate that is its alone."""
    b = tree.bodies[k]
    alone = not any(other.q <= b.q < other.q + other.kind.nq for i, other in enumerate(tree.bodies) if i != k)
    return alone and (b.kind.turns or b.kind.slides) and b.ratio == 1.0 and b.offset == 0.0


def _settled(tree: Tree, branches: Sequence[Form], reference: Sequence[float]) -> Form | None:
    """The form on whose branch the reference lies; None where branches meet there."""
    wanted = branches[0].chain.given(tree, reference)
    right = [form for form in branches if all(map(near, form.positions(tree, reference), wanted))]
    return right[0] if len(right) == 1 else None


# ---- what a loop looks like


def _candidates(tree: Tree, loop: Loop, chain: Chain, reference: Sequence[float]) -> Iterator[Sequence[Form]]:
    """Forms that a loop may have, each on all its branches."""
    if len(chain.unknown) == 3 and CLOSURES[loop.kind].is_ball:
        yield from _legs(tree, loop, chain, reference)
    elif len(chain.unknown) == 2:
        yield from _dyads(tree, loop, chain, reference)


def _legs(tree: Tree, loop: Loop, chain: Chain, reference: Sequence[float]) -> Iterator[Sequence[Form]]:
    """A joint for the distance, first or last, and two that turn about axes that meet and always do."""
    at = chain.placed(tree, loop, reference)
    for first in (True, False):
        pointing, inner = (at.kinds[1:], 2) if first else (at.kinds[:-1], 1)
        rigid = not any(tree.bodies[step.body].kind.nv for step in chain.known[inner])
        if rigid and all(kind.turns for kind in pointing) and meet(at.X[inner]):
            yield [Leg(loop, chain, first, signs) for signs in product(SIGNS, SIGNS)]


def _dyads(tree: Tree, loop: Loop, chain: Chain, reference: Sequence[float]) -> Iterator[Sequence[Form]]:
    """Two joints and a cut joint in a plane, all of the loop being in it."""
    view = _View(tree, loop, reference)
    first, second = (tree.bodies[k].kind for k in chain.bodies)
    axes = [view.axis(k) for k in chain.bodies]
    turning = [axis for axis, kind in zip(axes, (first, second), strict=True) if kind.turns]
    normal = turning[0] if turning else cross(*axes)
    size = math.sqrt(dot(normal, normal))
    if size < SAME:  # slides along each other
        return
    normal = normal * (1.0 / size)
    if not view.lies_across(normal):
        return
    if CUTS_AT_POINT[loop.kind](normal, view.a, view.b):
        if turning:
            yield from ([Leg(loop, chain, f, (s, 1.0)) for s in SIGNS] for f in _distances(first.turns, second.turns))
        else:
            yield [Crossing(loop, chain)]
    elif CLOSURES[loop.kind].is_slide and _across(view.a.R.column(2), normal) and turning:
        sliding = [axis for axis, kind in zip(axes, (first, second), strict=True) if kind.slides]
        if all(math.hypot(*cross(axis, view.a.R.column(2))) > SAME for axis in sliding):
            yield [Guide(loop, chain, sign) for sign in SIGNS[: len(turning)]]


def _distances(first: bool, second: bool) -> list[bool]:
    """Where the joint of the distance may stand, first or not, beside one that turns."""
    return [is_first for is_first, other_turns in ((True, second), (False, first)) if other_turns]


class _View:
    """The bodies of a loop and the frames of its cut joint, in the last body that carries them all."""

    def __init__(self, tree: Tree, loop: Loop, q: Sequence[float]) -> None:
        (i, X_a), (j, X_b) = tree.places[loop.a], tree.places[loop.b]
        self.tree = tree
        self.X: dict[int, Pose] = {}
        for path in tree.paths(i, j):
            for k in path:
                R, p = tree.bodies[k].pose(q)
                step = Pose(R.matrix() if isinstance(R, Turn) else R, p)
                self.X[k] = self.X.get(tree.bodies[k].parent, Pose()) @ step
        self.a = self.X.get(i, Pose()) @ X_a @ loop.origin_a
        self.b = self.X.get(j, Pose()) @ X_b @ loop.origin_b

    def axis(self, k: int) -> Vec3:
        """The joint axis of a body."""
        return self.X[k].R.column(2)

    def lies_across(self, normal: Vec3) -> bool:
        """Whether all joints move in planes across the normal, turning about it or sliding across it."""
        for k in self.X:
            kind, axis = self.tree.bodies[k].kind, self.axis(k)
            fits = _along(axis, normal) if kind.turns else _across(axis, normal) if kind.slides else not kind.nv
            if not fits:
                return False
        return True


def _along(axis: Vec3, normal: Vec3) -> bool:
    return math.hypot(*cross(axis, normal)) < NEAR


def _across(axis: Vec3, normal: Vec3) -> bool:
    return abs(dot(axis, normal)) < NEAR


# whether a cut joint with frames a and b leaves all motions in planes across the normal that keep two points together
CUTS_AT_POINT: dict[str, Callable[[Vec3, Pose, Pose], bool]] = {
    "spherical": lambda n, a, b: True,
    "revolute": lambda n, a, b: _along(a.R.column(2), n),
    "universal": lambda n, a, b: _along(a.R.column(2), n) or _along(b.R.column(0), n),
    "prismatic": lambda n, a, b: False,
    "fixed": lambda n, a, b: False,
}
