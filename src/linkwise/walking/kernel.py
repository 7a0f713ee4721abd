"""The instants of a motion as one compiled function: values and derivatives, for any person with the same joints.

The numbers of a skeleton (masses, places, points) are inputs, so that persons and loads share one kernel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.kernel.tracing import Node, Port, Program, is_zero, remembered, trace
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar
from linkwise.spatial import Inertia, Pose
from linkwise.vector import Vec3
from linkwise.walking.ground import Support
from linkwise.walking.instant import FOOT_POINTS, GLOBAL, OTHERS, PLACES
from linkwise.walking.slopes import slopes

Array = NDArray[np.float64]
POINTS = tuple(f"{p}_{s}" for s in "rl" for p in (*FOOT_POINTS, "ankle", "hip", "wrist", "shoulder"))
FIGURE = (*POINTS, *(f"{p}_{s}" for s in "rl" for p in ("knee", "elbow", "hand")), "vertex")
# modules that decide programs
WIDTH = len(Support._fields)


class Group(NamedTuple):
    """Rows whose derivatives have the same orders; `entries` are pairs (row, coordinate) that may not be zero."""

    names: tuple[str, ...]
    orders: int
    entries: NDArray[np.intp]


class Found(NamedTuple):
    """Values (..., rows) of the groups, and their derivatives (..., entries, orders)."""

    values: tuple[Array, Array, Array]
    slopes: tuple[Array, Array, Array]


class InstantKernel:
    """Values and derivatives at instants.

    Groups are forces (torques of joints, then the ground's wrench; by q, qd and qdd), speeds of points (by q and qd),
    and places (of points, then arm-leg coupling and wrist-hip distances; by q).

    Args:
        robot: a skeleton whose frozen joints are locked.
    """

    def __init__(self, robot: Robot) -> None:
        self.tree = Tree.of(robot)
        self.n = robot.nv
        joints = robot.names[GLOBAL:]
        names = [
            (*joints, *(f"ground.{c}" for c in ("fx", "fy", "fz", "mx", "my", "mz"))),
            tuple(f"speed.{p}" for p in PLACES),
            (*PLACES, *OTHERS),
        ]
        structure = Structure(self.tree)
        self._function, entries = remembered(f"walking {structure.facts}", lambda: _program(structure))
        pairs = [np.array(x, dtype=np.intp).reshape(-1, 2) for x in entries]
        self.groups = tuple(Group(*x) for x in zip(names, (3, 2, 1), pairs, strict=True))
        self.numbers = np.array(list(numbers(self.tree)))

    @cached_property
    def program(self) -> Program:
        """The traced program, whose operations can be counted."""
        return _program(Structure(self.tree))[0]

    def __call__(self, motion: Array, supports: Array) -> Found:
        """At instants: motion (..., 3, n) is q, qd, qdd, supports (..., 8) the fields of `Support`."""
        q, qd, qdd = (np.ascontiguousarray(motion[..., k, :]) for k in range(3))
        found = self._function(q, qd, qdd, supports, self.numbers)
        return Found(tuple(found[:3]), tuple(found[3:]))


class Structure:
    """A tree by what decides its program: all but the numbers that are inputs."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        bodies = [(b.name, b.parent, b.kind, b.placement.R, b.of_link, b.inertia.m != 0.0) for b in tree.bodies]
        holes = [tuple(x != 0.0 for x in p) for p in _vectors(tree)]
        self.facts = repr((bodies, holes, tree.gravity, [tree.place(p)[0] for p in FIGURE]))


def _program(structure: Structure) -> tuple[Program, list[list[tuple[int, int]]]]:
    """The program of a tree, and the entries of its groups."""
    tree = structure.tree
    held: list[Any] = []

    def run(q: list[Node], qd: list[Node], qdd: list[Node], support: list[Node], given: list[Node]) -> Sequence[Any]:
        s = slopes(with_numbers(tree, iter(given)), q, qd, qdd, Support(*support))
        v = s.values
        forces = [[*a, *b] for a, b in zip(s.tau, s.ground, strict=True)]
        groups = [
            (forces, [*v.tau, *v.ground]),
            (list(s.speeds), v.speeds),
            ([s.places + s.others], v.places + v.others),
        ]
        held.extend(_entries(matrices) for matrices, _ in groups)
        flat = [[m[r][j] for r, j in at for m in matrices] for at, (matrices, _) in zip(held, groups, strict=True)]
        ports.extend(Port(f"values{k}", (len(values),)) for k, (_, values) in enumerate(groups))
        ports.extend(Port(f"slopes{k}", (len(at), 3 - k)) for k, at in enumerate(held))
        return [*(values for _, values in groups), *flat]

    ports: list[Port] = []
    return trace("walking", run, inputs_of(tree), ports), held


def inputs_of(tree: Tree) -> list[Port]:
    """The motion at an instant, how the body stands, and the numbers of the skeleton."""
    motion = [Port(name, (tree.nv,)) for name in ("q", "qd", "qdd")]
    return [*motion, Port("support", (WIDTH,)), Port("numbers", (len(list(numbers(tree))),))]


def _entries(matrices: Sequence[Sequence[Sequence[Any]]]) -> list[tuple[int, int]]:
    """Pairs (row, coordinate) where one of the matrices has more than a structural zero."""
    rows, columns = len(matrices[0]), len(matrices[0][0])
    return [(r, j) for r in range(rows) for j in range(columns) if any(not is_zero(m[r][j]) for m in matrices)]


# ---- the numbers of a tree


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
