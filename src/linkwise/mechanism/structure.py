"""How a robot moves: what leads, what follows and by which equations, checked on numbers; of a tree all leads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

from linkwise.errors import ModelError
from linkwise.mechanism.assemble import Configuration, configurations, coupled_places, size_of
from linkwise.mechanism.block_equations import BlockEquations
from linkwise.mechanism.closed_form import closed_forms
from linkwise.mechanism.form import Form
from linkwise.mechanism.loops import CLOSURES, cuts, looped_coordinates
from linkwise.mechanism.partition import Block, Follow, Partition
from linkwise.mechanism.rank import Array, independent_rows, rank_of
from linkwise.mechanism.wheel import rolling_blocks
from linkwise.robot.joint import Kind
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree
from linkwise.vector import Vec3, cross, dot

KEPT = 64
FLAT = 1e-9  # sine of the angle by which an axis may be off a plane's normal


@dataclass(frozen=True, eq=False)
class Structure:
    """How a robot moves.

    Args:
        robot: with its loops, if it has any.
        part: coordinates and equations by number.
        reference: positions of the tree that close the loops.
        mobility: number of leading coordinates.
        equations: names of all loop equations.
        dependent: names of those that follow from others, as the ones out of the plane of a planar mechanism.
        forms: closed forms of followers, in an order in which each finds what it needs.
        sought: places in positions of the tree of what Newton's method finds.
    """

    robot: Robot
    part: Partition
    reference: Array
    mobility: int
    equations: tuple[str, ...]
    dependent: tuple[str, ...]
    forms: tuple[Form, ...]
    sought: tuple[int, ...]

    @cached_property
    def lead_q(self) -> tuple[int, ...]:
        """Places of the leading positions in those of the tree."""
        slots = self.robot.opened().slots
        return tuple(slots[n].q + k for n in self.robot.coordinates for k in range(slots[n].nq))

    @cached_property
    def coordinates(self) -> tuple[tuple[Kind, slice, slice], ...]:
        """How what leads moves, and its places in `q` and `qd`."""
        slots = self.robot.slots.values()
        return tuple((s.kind, slice(s.q, s.q + s.nq), slice(s.v, s.v + s.nv)) for s in slots if s.nv)

    @cached_property
    def drive_places(self) -> tuple[int, ...]:
        """Where the drives of joints are in `tau`, as `Robot.motors` has them."""
        return tuple(int(k) for k in self.robot.motors)

    @property
    def independent(self) -> tuple[str, ...]:
        """Names of the joints that lead, and of motors behind springs."""
        return self.robot.speeds

    @cached_property
    def passive(self) -> tuple[str, ...]:
        """Names of the joints that follow."""
        return tuple(n for n in self.robot.opened().slots if n not in self.robot.speeds)

    @cached_property
    def active(self) -> tuple[str, ...]:
        """Names of the coordinates with a force of their own."""
        slots = self.robot.opened().slots
        return tuple(n for n, s in slots.items() if s.v in self.part.active)

    @cached_property
    def free(self) -> tuple[str, ...]:
        """Names of leading joints without a drive of their own."""
        return tuple(n for n in self.independent if n not in self.active)

    @cached_property
    def redundant(self) -> tuple[str, ...]:
        """Names of active joints that follow."""
        return tuple(n for n in self.active if n not in self.independent)

    def with_numbers_of(self, model: Robot) -> Structure:
        """The same for a robot of the same structure, whose numbers may be inputs of a kernel."""
        if model is self.robot or not self.part.couplings:
            return self
        follows = zip(self.part.couplings, model.couplings, strict=True)
        return replace(self, part=replace(self.part, couplings=tuple(f._replace(coupling=c) for f, c in follows)))

    @cached_property
    def side(self) -> float:
        """The sign of the determinant of the loop equations at the reference."""
        equations = BlockEquations(Tree.of(self.robot), self.reference.tolist(), self.part)
        return 1.0 if equations.determinant() > 0.0 else -1.0

    def solved(self, machine: Any, q: Sequence[Any]) -> tuple[Any, ...]:
        """Positions that Newton's method finds, in plain Python."""
        from linkwise.mechanism.newton import solved

        return solved(machine, q)

    def __str__(self) -> str:
        def names(group: tuple[str, ...]) -> str:
            return ", ".join(group) or "none"

        total, count = len(self.equations), self.robot.opened().nv
        lines = [
            f"mobility {self.mobility} = {count} coordinates - rank {len(self.part.rows)} of {total} equations",
            f"independent: {names(self.independent)}",
            f"passive: {names(self.passive)}",
        ]
        lines += [f"leading without a drive: {names(self.free)}"] if self.free else []
        lines += [f"redundantly driven: {names(self.redundant)}"] if self.redundant else []
        lines += [f"equations that follow from others: {names(self.dependent)}"] if self.dependent else []
        return "\n".join(lines)


@lru_cache(maxsize=KEPT)
def structure_of(robot: Robot, newton: bool = False) -> Structure:
    """How a robot moves, or an error that says what is wrong with the mobility of its loops.

    With `newton`, nothing is found in closed form.
    """
    _check_active(robot)
    tree, several = Tree.of(robot), configurations(robot)
    rank, total = several[0].rank, len(several[0].J)
    if rank and tree.nv == rank:
        raise ModelError(
            f"robot {robot.name!r}: expected loops that leave some motion, got {tree.nv} coordinates and"
            f" {rank} independent of {total} loop equations, so that nothing moves. Give a cut joint more freedom, or"
            " take a loop away."
        )
    slots = robot.opened().slots
    passive = [n for n in slots if n not in robot.speeds]
    columns = _coordinates(slots, passive)
    configuration = _held_by(robot, columns, several, rank, total)
    independent = _coordinates(slots, robot.speeds)
    active = {name for loop in robot.loops for name in loop.active}
    looped = looped_coordinates(tree, robot.loops)
    elastic = {j.name for j in robot.joints if j.is_elastic}
    motors = {j.motor_name for j in robot.joints if j.is_elastic}
    coupled = coupled_places(robot)
    follow = {c.coupling.joint for c in coupled}
    _check_leaders(robot, coupled)
    outside = {n for n, s in slots.items() if not looped & set(range(s.v, s.v + s.nv))} - elastic - follow
    driven = [n for n in slots if n in outside | motors | (active - elastic)]
    known = [slots[n].q + k for n in robot.coordinates for k in range(slots[n].nq)] + [c.q for c in coupled]
    forms = [] if newton or robot.rolls else closed_forms(tree, robot.loops, known, configuration.q.tolist())[0]
    normals = tuple(_normal(tree, robot, k, configuration.q) for k in range(len(robot.loops)))
    size = size_of(tree, robot)
    bare = Partition(robot.loops, (), independent, columns, _coordinates(slots, driven), size, normals=normals)
    J = _jacobian(tree, bare, configuration.q)
    looped_columns = [v for v in columns if v not in {c.v for c in coupled}]
    blocks, sought = _blocks(tree, bare, J, forms, looped_columns)
    if robot.rolls:
        blocks, sought = rolling_blocks(J, _pattern(tree, bare), looped_columns), set()
    rows = tuple(sorted(r for block in blocks for r in block.rows))
    part = Partition(robot.loops, rows, independent, columns, bare.active, size, tuple(blocks), normals, coupled)
    names = equation_names(robot)
    places = tuple(
        at.start + k for kind, at, to in tree.coordinates if to.start in sought and kind.nv for k in range(kind.nq)
    )
    return Structure(
        robot, part, configuration.q, tree.nv - rank, names, tuple(n for k, n in enumerate(names) if k not in rows),
        tuple(forms), places,
    )  # fmt: skip


def _check_active(robot: Robot) -> None:
    """Refuse active joints that have no coordinate of their own."""
    for name in (name for loop in robot.loops for name in loop.active):
        if name not in robot.opened().slots:
            joint = robot.joint(name)
            what = f"one that mimics {joint.mimic.joint!r}" if joint.mimic else f"a {joint.kind} one"
            raise ModelError(f"loop active {name!r}: expected a joint with a coordinate, got {what}. Name another.")


def _check_leaders(robot: Robot, coupled: Sequence[Follow]) -> None:
    """Refuse a function of a joint that follows itself."""
    for c in coupled:
        if c.coupling.leader not in robot.speeds:
            raise ModelError(
                f"robot {robot.name!r}: joint {c.coupling.joint!r} follows {c.coupling.leader!r}, which follows others"
                " itself. Name a joint that leads, or declare it in leads=(...)."
            )


def _held_by(
    robot: Robot, columns: tuple[int, ...], several: Sequence[Configuration], rank: int, total: int
) -> Configuration:
    """A configuration in which the followers are determined, or an error that says which joints to name."""
    for c in several:
        if len(columns) == rank and rank_of(c.J[:, list(columns)]) == rank:
            return c
    looped = looped_coordinates(Tree.of(robot), robot.loops)
    slots = robot.opened().slots
    inside = [n for n, s in slots.items() if set(range(s.v, s.v + s.nv)) & looped]
    lead, follow = [n for n in inside if n in robot.speeds], [n for n in inside if n not in robot.speeds]
    got = f"{len(lead)} ({_listed(lead)})" if lead else "none"
    mobility = len(looped) - rank
    if len(columns) < rank:
        raise ModelError(
            f"robot {robot.name!r}: expected joints that lead and leave {rank} coordinates to the loops, which have"
            f" {mobility} degree(s) of freedom, got {got}, more than can be chosen."
            f" Name {mobility} of them in leads=(...); the other active joints are then redundant drives."
        )
    who = "leads" if set(robot.leads) & set(inside) else "active joints"
    J = several[0].J
    left = [n for n in follow if rank_of(_without(J, columns, slots[n])) == rank_of(J[:, list(columns)])]
    raise ModelError(
        f"robot {robot.name!r}: expected {who} that determine the {mobility} degree(s) of freedom of its loops"
        f" ({len(looped)} coordinates less the rank {rank} of {total} equations), got {got}:"
        f" {_listed(left) or 'a floating joint'} would not be determined."
        f" Name further joints in a Loop's active ({_listed(follow)}), or in leads=(...) where nothing drives them."
    )


def _without(J: Array, columns: tuple[int, ...], slot: Any) -> Array:
    return J[:, [v for v in columns if not slot.v <= v < slot.v + slot.nv]]


def _jacobian(tree: Tree, part: Partition, q: Array) -> Array:
    """The Jacobian of all equations, in their own axes, with lengths measured by the mechanism's size."""
    import numpy as np

    rows = [row for cut in cuts(tree, q.tolist(), part.loops, part.normals) for row in cut.jacobian()]
    scale = np.ones(tree.nv)
    for kind, _, to in tree.coordinates:
        scale[to] = [part.size if length else 1.0 for length in kind.lengths]
    return np.reshape(np.array(rows, dtype=float), (len(rows), tree.nv)) * np.array(part.weights)[:, None] * scale


def _blocks(
    tree: Tree, part: Partition, J: Array, forms: Sequence[Form], columns: Sequence[int]
) -> tuple[list[Block], set[int]]:
    """Followers in blocks: one for each closed form, and one for all that Newton's method finds."""
    blocks, taken, left = [], set(), list(columns)
    for form in forms:
        own = [tree.bodies[i].v for i in form.bodies]
        span = list(part.spans[part.loops.index(form.loop)])
        rows = independent_rows(J[span][:, own], len(own))
        blocks.append(Block(tuple(span[r] for r in rows), tuple(own)))
        taken |= set(span)
        left = [v for v in left if v not in own]
    if left:
        others = [r for r in range(len(J)) if r not in taken]
        rows = independent_rows(J[others][:, left], len(left))
        blocks.append(Block(tuple(others[r] for r in rows), tuple(left)))
    return blocks, set(left)


def _pattern(tree: Tree, part: Partition) -> Any:
    """Which coordinate stands in which equation of wheels, in some configuration."""
    import numpy as np

    rng, found = np.random.default_rng(1), np.zeros(1)
    for _ in range(3):
        q = np.zeros(tree.nq)
        for kind, at, to in tree.coordinates:
            q[at] = kind.integrate(list(kind.home), rng.uniform(-1.0, 1.0, to.stop - to.start).tolist(), 1.0)
        found = np.maximum(found, np.abs(_jacobian(tree, part, q)))
    return found > 1e-9


def _normal(tree: Tree, robot: Robot, k: int, q: Array) -> Vec3 | None:
    """The normal of a planar loop with a cut hinge, in axes of the link that carries both ends; else None."""
    loop = robot.loops[k]
    if not CLOSURES[loop.kind].is_hinge:
        return None
    cut = cuts(tree, q.tolist(), [loop])[0]
    n = cut.a.R.column(2)
    for i in (*cut.path_a, *cut.path_b):
        for _, unit in tree.bodies[i].axes:
            turn, slide = cut.X[i].R @ unit.angular, cut.X[i].R @ unit.linear
            off = cross(turn, n)
            if dot(off, off) > FLAT**2 or abs(dot(slide, n)) > FLAT:
                return None
    first = (cut.path_a or cut.path_b)[0]
    return tree.bodies[tree.bodies[first].parent].of_link.R @ n


def equation_names(robot: Robot) -> tuple[str, ...]:
    """A name for each loop equation, such as "four_bar: x"."""
    return tuple(f"{loop.name}: {e}" for loop in robot.loops for e in CLOSURES[loop.kind].names)


def _coordinates(slots: Any, names: Sequence[str]) -> tuple[int, ...]:
    return tuple(slots[n].v + k for n in names for k in range(slots[n].nv))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
