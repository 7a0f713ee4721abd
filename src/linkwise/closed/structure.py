"""What the loops of a robot leave free: mobility, independent coordinates, equations that repeat others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from linkwise.algorithms.closed_chain import Partition
from linkwise.algorithms.loops import CLOSURES, looped_coordinates
from linkwise.closed.assemble import configurations, size_of
from linkwise.closed.rank import Array, independent_columns, independent_rows
from linkwise.errors import ModelError
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree

KEPT = 64


@dataclass(frozen=True, eq=False)
class Structure:
    """How a robot with loops can move.

    Args:
        robot: with its loops.
        part: coordinates and equations by number.
        reference: positions of the tree (nq) that close the loops.
        mobility: number of independent coordinates.
        equations: names of all loop equations.
        dependent: names of those that follow from others, as the ones out of the plane of a planar mechanism.
        independent: names of the joints whose positions can be chosen.
        active: names of the joints with a force of their own.
        free: names of independent joints that only their springs act on.
        redundant: names of active joints that are not independent.
        passive: names of the joints that follow.
    """

    robot: Robot
    part: Partition
    reference: Array
    mobility: int
    equations: tuple[str, ...]
    dependent: tuple[str, ...]
    independent: tuple[str, ...]
    active: tuple[str, ...]
    free: tuple[str, ...]
    redundant: tuple[str, ...]
    passive: tuple[str, ...]

    def __str__(self) -> str:
        def names(group: tuple[str, ...]) -> str:
            return ", ".join(group) or "none"

        total = len(self.equations)
        lines = [
            f"mobility {self.mobility} = {self.robot.nv} coordinates - rank {len(self.part.rows)} of {total} equations",
            f"independent: {names(self.independent)}",
            f"passive: {names(self.passive)}",
        ]
        lines += [f"free, moved by springs: {names(self.free)}"] if self.free else []
        lines += [f"redundantly driven: {names(self.redundant)}"] if self.redundant else []
        lines += [f"equations that follow from others: {names(self.dependent)}"] if self.dependent else []
        return "\n".join(lines)


@lru_cache(maxsize=KEPT)
def structure_of(robot: Robot) -> Structure:
    """How a robot with loops can move, or an error that says what is wrong with its mobility."""
    tree, several = Tree.of(robot), configurations(robot)
    looped = looped_coordinates(tree, robot.loops)
    roles = _roles(robot, looped)
    rank, total = several[0].rank, len(several[0].J)
    if robot.nv == rank:
        raise ModelError(
            f"robot {robot.name!r}: expected loops that leave some motion, got {robot.nv} coordinates and"
            f" {rank} independent of {total} loop equations, so that nothing moves. Give a cut joint more freedom, or"
            " take a loop away."
        )
    # a configuration may be singular for the active joints although it is not for all of them
    tried = [(c, _followers(robot, roles, c.J)) for c in several]
    found, follows = next(((c, f) for c, f in tried if f >= set(roles["passive"])), tried[0])
    left = [n for n in roles["passive"] if n not in follows]
    if left or len(_coordinates(robot, sorted(follows))) < rank:
        raise _too_few(robot, looped, rank, total, left)
    slots, J = robot.slots, found.J
    active = [n for n in slots if n in roles["active"] or n in roles["outside"]]
    independent = [n for n in slots if n not in follows]
    passive = [n for n in slots if n in follows]
    columns = _coordinates(robot, passive)
    rows = independent_rows(J[:, list(columns)], len(columns))
    part = Partition(
        robot.loops,
        tuple(rows),
        _coordinates(robot, independent),
        columns,
        _coordinates(robot, active),
        size_of(tree, robot),
    )
    names = equation_names(robot)
    return Structure(
        robot, part, found.q, robot.nv - rank, names, tuple(n for k, n in enumerate(names) if k not in rows),
        tuple(independent), tuple(active), tuple(n for n in independent if n not in active),
        tuple(n for n in active if n in follows), tuple(passive),
    )  # fmt: skip


def _followers(robot: Robot, roles: dict[str, list[str]], J: Array) -> set[str]:
    """The joints that follow the others: passive ones if they can, then those on springs, then active ones."""
    order = [*roles["passive"], *reversed(roles["spring"]), *reversed(roles["active"])]
    taken = independent_columns(J, [_places(robot, n) for n in order])
    return {n for n, yes in zip(order, taken, strict=True) if yes}


def equation_names(robot: Robot) -> tuple[str, ...]:
    """A name for each loop equation, such as "four_bar: x"."""
    return tuple(f"{loop.name}: {e}" for loop in robot.loops for e in CLOSURES[loop.kind].names)


def _roles(robot: Robot, looped: set[int]) -> dict[str, list[str]]:
    """The coordinates by what they are: driven, on a spring, passive, or outside of all loops and so independent."""
    named = {name for loop in robot.loops for name in loop.active}
    elastic = {j.name for j in robot.joints if j.is_elastic}
    springs = {j.name for j in robot.joints if j.spring is not None and j.spring.stiffness > 0.0} | elastic
    for name in named:
        if name not in robot.slots:
            joint = robot.joint(name)
            what = f"one that mimics {joint.mimic.joint!r}" if joint.mimic else f"a {joint.kind} one"
            raise ModelError(f"loop active {name!r}: expected a joint with a coordinate, got {what}. Name another.")
    roles: dict[str, list[str]] = {"passive": [], "spring": [], "active": [], "outside": [], "free": []}
    for name, slot in robot.slots.items():
        if not looped & set(range(slot.v, slot.v + slot.nv)):
            roles["free" if name in elastic else "outside"].append(name)
        elif name in named and name not in elastic:
            roles["active"].append(name)
        else:
            roles["spring" if name in springs else "passive"].append(name)
    return roles


def _places(robot: Robot, name: str) -> range:
    slot = robot.slots[name]
    return range(slot.v, slot.v + slot.nv)


def _coordinates(robot: Robot, names: list[str]) -> tuple[int, ...]:
    return tuple(v for n in names for v in _places(robot, n))


def _too_few(robot: Robot, looped: set[int], rank: int, total: int, left: list[str]) -> ModelError:
    """What to say where the active joints do not determine the others."""
    mobility = len(looped) - rank
    named = [n for n in robot.slots if any(n in loop.active for loop in robot.loops)]
    got = f"{len(named)} ({', '.join(map(repr, named))})" if named else "none"
    candidates = [n for n in robot.slots if set(_places(robot, n)) & looped and n not in named]
    return ModelError(
        f"robot {robot.name!r}: expected active joints that determine the {mobility} degree(s) of freedom of its loops"
        f" ({len(looped)} coordinates less the rank {rank} of {total} equations), got {got}:"
        f" {_listed(left) or 'a floating joint'} would not be determined."
        f" Name further joints in a Loop's active ({_listed(candidates)}), or give one a spring."
    )


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
