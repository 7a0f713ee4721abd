"""A machine with loops, as algorithms see it: its tree, what leads, how the rest follows, and where drives push."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from linkwise.errors import LinkwiseError
from linkwise.jet import Jet, part, rate, with_rate
from linkwise.mechanism import newton
from linkwise.mechanism.angle import Angle
from linkwise.mechanism.linkage import Linkage
from linkwise.mechanism.series import along_motion
from linkwise.mechanism.structure import Structure, structure_of
from linkwise.robot.joint import Kind
from linkwise.robot.leading import looped_groups
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Body, Tree
from linkwise.scalar import Scalar
from linkwise.vector import Vec3

Coordinate = tuple[Kind, slice, slice]


@dataclass(frozen=True)
class Machine:
    """A tree whose loops are closed, in the coordinates that lead; a `Tree` answers the same questions for itself.

    Args:
        tree: what dynamics walk along.
        own: the same with every link's own frame, for which closed forms are written.
        structure: what leads, what follows and how.
        followers: positions of what Newton's method finds, in the order of `Structure.sought`; none where it is to run
            here, on plain numbers.
    """

    tree: Tree
    own: Tree
    structure: Structure
    followers: tuple[Scalar, ...] | None = None

    @property
    def nq(self) -> int:
        """Numbers of the leading positions."""
        return len(self.structure.lead_q)

    @property
    def nv(self) -> int:
        """Numbers of their velocities."""
        return len(self.structure.part.independent)

    @property
    def gravity(self) -> Vec3:
        """Gravity in the axes of the base."""
        return self.tree.gravity

    @property
    def coordinates(self) -> Iterator[Coordinate]:
        """How what leads moves, and its places in `q` and `qd`."""
        yield from self.structure.coordinates

    @property
    def leading_bodies(self) -> tuple[Body, ...]:
        """The bodies whose inertia is alone in what a leading coordinate feels: none, since others move along."""
        return ()

    def tree_coordinate(self, k: int) -> tuple[Tree, int]:
        """The tree, and the place in it of a leading coordinate."""
        return self.tree, self.structure.part.independent[k]

    @property
    def named_coordinates(self) -> dict[str, set[int]]:
        """The places in `qd` of what leads, by name."""
        return {n: set(range(s.v, s.v + s.nv)) for n, s in self.structure.robot.slots.items() if s.nv}

    @property
    def drives(self) -> tuple[int, ...]:
        """Where the drives of joints are in `tau`."""
        return self.structure.drive_places

    @property
    def tree_drives(self) -> tuple[int, ...]:
        """Where they are in forces of the tree."""
        robot = self.structure.robot
        slots = robot.opened().slots
        places = [slots[n].v + k for n in robot.drives for k in range(slots[n].nv)]
        return tuple(places[k] for k in self.drives)

    @property
    def looped(self) -> list[set[str]]:
        """The joints that lie in loops, those together whose loops share one."""
        return looped_groups(self.structure.robot)

    @property
    def unknowns(self) -> tuple[Scalar, ...]:
        """Positions that are given beside those that lead."""
        return self.followers or ()

    def leaf_rates(self, q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Scalar]:
        """The rates of the numbers in `q`, and of `unknowns`, at velocities of what leads."""
        rate: list[Scalar] = [0.0] * self.nq
        if self.structure.robot.rolls:
            return self._rolled(q, qd)
        for kind, at, to in self.coordinates:
            rate[at] = kind.q_dot(q[at], qd[to])
        if not self.unknowns:
            return rate
        linkage = self.at(q)
        whole = linkage.rates(qd)
        follows: dict[int, Scalar] = {}
        for kind, at, to in self.tree.coordinates:
            if at.start in self.structure.sought and kind.nv:
                follows |= dict(enumerate(kind.q_dot(linkage.q[at], whole[to]), start=at.start))
        return [*rate, *(follows[k] for k in self.structure.sought)]

    def _rolled(self, q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Scalar]:
        """The rates of the numbers in `q` on wheels, where positions of all joints are chosen."""
        linkage = self.at(q)
        whole, rate = linkage.rates(qd), [0.0] * self.tree.nq
        for kind, at, to in self.tree.coordinates:
            rate[at] = kind.q_dot(linkage.q[at], whole[to])
        return [rate[k] for k in self.structure.lead_q]

    def place(self, name: str) -> Any:
        """The body that carries a frame or link, and its pose there."""
        return self.tree.place(name)

    def only_tree(self, what: str) -> Tree:
        """Refuse what is known for trees alone."""
        raise LinkwiseError(
            f"{what}: expected a tree, got a robot with loops. Use robot.opened() for the tree with its loops cut."
        )

    def without_forces(self) -> Machine:
        """The same machine without friction and springs, so that inertia alone is left."""
        return replace(self, tree=self.tree.without_forces())

    def unsprung(self) -> Machine:
        """The same with nothing between motors and their joints, which drives then push; motors do not lead."""
        rigid, own = structure_of(self.structure.robot.rigid(), not self.structure.forms), self.structure.part.couplings
        structure = replace(rigid, part=replace(rigid.part, couplings=own))
        return replace(self, tree=self.tree.unsprung(), structure=structure)

    def at(self, q: Sequence[Scalar], closed: bool = True) -> Linkage:
        """The machine in one configuration of what leads; not `closed` while Newton's method is at work."""
        return Linkage(self.tree, self.positions(q), self.structure.part, closed)

    def complete(self, q: Sequence[Scalar], *motion: Sequence[Scalar]) -> tuple[Any, ...]:
        """The tree, its positions and, where given, its velocities and accelerations."""
        order = max(len(motion) - 2, 0)
        if order:
            series = along_motion(self, (q, *motion), order)
            qdd = self.complete(*series)[3]
            return (*self.complete(q, *motion[:2]), *([part(x, k) for x in qdd] for k in range(1, order + 1)))
        at = self.at(q)
        found: list[Any] = [at.tree, at.q]
        if motion:
            found.append(at.rates(motion[0]))
        if len(motion) > 1:
            found.append(at.accelerations(found[2], motion[1]))
        return tuple(found)

    def positions(self, q: Sequence[Scalar]) -> list[Any]:
        """Positions of the whole tree."""
        full = self._given(q)
        sought = self.structure.sought
        if not sought:
            return full
        values = self.followers if self.followers is not None else self.structure.solved(self, q)
        for k, x in zip(sought, values, strict=True):
            full[k] = x
        order = max((len(x.c) - 1 for x in q if isinstance(x, Jet)), default=0)
        return self._series(q, full, order) if order else full

    def with_followers(self, values: Sequence[Scalar]) -> Machine:
        """This machine with positions found by Newton's method."""
        return replace(self, followers=tuple(values))

    def near(self, numbers: Sequence[Scalar]) -> tuple[Machine, list[Scalar]]:
        """This machine where the numbers of `q` and of `unknowns` are about closed, with `unknowns` closer; and `q`."""
        q, y = list(numbers[: self.nq]), numbers[self.nq :]
        return (self.with_followers(newton.corrected(self, q, y)) if y else self), q

    def on(self, tree: Tree) -> Machine:
        """The same with other numbers of its bodies."""
        return replace(self, tree=tree)

    def _given(self, q: Sequence[Scalar]) -> list[Any]:
        """Positions of what leads and of what has a closed form."""
        full: list[Any] = [None] * self.tree.nq
        for k, x in zip(self.structure.lead_q, q, strict=True):
            full[k] = x
        for c in self.structure.part.couplings:
            full[c.q] = c.coupling.value(full[c.of_q])
        for form in self.structure.forms:
            for i, x in zip(form.bodies, form.positions(self.own, full), strict=True):
                k = self.own.bodies[i].q
                near = float(self.structure.reference[k])
                full[k] = replace(x, near=near) if isinstance(x, Angle) else x
        return full

    def _series(self, q: Sequence[Scalar], full: list[Any], order: int) -> list[Any]:
        """Positions as series in time, where `full` has values only of what Newton's method finds."""
        sought = self.structure.sought
        for k in range(order):
            lead = [_cut(x, k) for x in q]
            now = self._given(lead)
            for j in sought:
                now[j] = full[j]
            v = [0.0] * self.nv
            speed = [rate(_cut(x, k + 1)) for x in q]
            for kind, at, to in self.coordinates:
                v[to] = kind.tangent(lead[at], speed[at])
            qd = Linkage(self.tree, now, self.structure.part).rates(v)
            for kind, at, to in self.tree.coordinates:
                if at.start in sought:
                    for j, x in enumerate(kind.q_dot(now[at], qd[to])):
                        full[at.start + j] = with_rate(now[at.start + j], x, k + 1)
        found = self._given(q)
        for j in sought:
            found[j] = full[j]
        return found


AnyMachine = Tree | Machine  # of which algorithms ask


def machine_of(robot: Robot, tree: Tree | None = None, followers: Sequence[Scalar] = ()) -> AnyMachine:
    """What algorithms walk along, for a robot of numbers.

    Args:
        robot: any.
        tree: its bodies, or others with the same dynamics; None for its own.
        followers: positions that Newton's method would find; none where it is to run here.
    """
    if not robot.follows:
        return tree or Tree.of(robot)
    own = Tree.of(robot)
    return Machine(tree or own, own, structure_of(robot), tuple(followers) or None)


def _cut(x: Scalar, order: int) -> Scalar:
    """A scalar with so many rates."""
    if not isinstance(x, Jet):
        return x
    return Jet(x.c[: order + 1]) if order else x.c[0]
