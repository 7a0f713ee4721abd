"""The numbers of a skeleton as inputs of a program, and what else decides it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar
from linkwise.spatial import Inertia, Pose
from linkwise.vector import Vec3
from linkwise.walking.instant import FOOT_POINTS

POINTS = tuple(f"{p}_{s}" for s in "rl" for p in (*FOOT_POINTS, "ankle", "hip", "wrist", "shoulder"))
FIGURE = (*POINTS, *(f"{p}_{s}" for s in "rl" for p in ("knee", "elbow", "hand")), "vertex")


def facts(tree: Tree) -> str:
    """All of a tree but its numbers."""
    bodies = [(b.name, b.parent, b.kind, b.placement.R, b.of_link, b.inertia.m != 0.0) for b in tree.bodies]
    holes = [tuple(x != 0.0 for x in p) for p in _vectors(tree)]
    return repr((bodies, holes, tree.gravity, [tree.place(p)[0] for p in FIGURE]))


def numbers(tree: Tree) -> Iterator[float]:
    """Ten of every body with mass, and the coordinates of joints and points that are not zero."""
    for b in tree.bodies:
        if b.inertia.m != 0.0:
            yield from b.inertia.parameters()
    for p in _vectors(tree):
        yield from (x for x in p if x != 0.0)


def with_numbers(tree: Tree, given: Iterator[Scalar]) -> Tree:
    """The tree with other numbers in the places of its own."""

    def filled(p: Vec3) -> Vec3:
        return Vec3(*(next(given) if x != 0.0 else x for x in p))

    bodies = [
        replace(b, inertia=Inertia.of_parameters(*(next(given) for _ in range(10)))) if b.inertia.m != 0.0 else b
        for b in tree.bodies
    ]
    bodies = [replace(b, placement=Pose(b.placement.R, filled(b.placement.p))) for b in bodies]
    places = dict(tree.places)
    for name in FIGURE:
        i, X = tree.place(name)
        places[f"frame:{name}"] = (i, Pose(X.R, filled(X.p)))
    return replace(tree, bodies=tuple(bodies), places=places)


def _vectors(tree: Tree) -> Iterator[Vec3]:
    """Where joints and points are, in their bodies."""
    yield from (b.placement.p for b in tree.bodies)
    yield from (tree.place(name)[1].p for name in FIGURE)
