"""A tree in one configuration. It answers what a machine with loops is asked there, without an operation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from linkwise.robot.unit import Unit, units
from linkwise.scalar import Scalar

if TYPE_CHECKING:
    from linkwise.robot.tree import Tree


class TreePosture(NamedTuple):
    """A tree in one configuration: nothing follows, and every joint is its own drive."""

    tree: Tree
    q: Sequence[Scalar]

    @property
    def leads(self) -> Sequence[int]:
        """Places in `qd` of the leading coordinates: all."""
        return range(self.tree.nv)

    @property
    def units(self) -> list[Unit]:
        """The bodies, each alone."""
        return units([b.parent for b in self.tree.bodies])

    @property
    def drive_places(self) -> Sequence[int]:
        """Where in forces of the tree its drives push: everywhere."""
        return range(self.tree.nv)

    @property
    def columns(self) -> list[list[Scalar]]:
        """The tree's velocities for a unit of each leading one."""
        return self.drive_rows()

    def rates(self, lead: Sequence[Scalar]) -> Sequence[Scalar]:
        """The tree's velocities."""
        return lead

    def accelerations(self, qd: Sequence[Scalar], lead: Sequence[Scalar]) -> Sequence[Scalar]:
        """The tree's accelerations, from its velocities and the accelerations of what leads."""
        return lead

    def led(self, qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> tuple[Sequence[Scalar], Sequence[Scalar]]:
        """The tree's velocities and accelerations."""
        return qd, qdd

    def project(self, tau: list[Scalar]) -> list[Scalar]:
        """What generalised forces of the tree are at the leading coordinates."""
        return tau

    def drives(self, tau: list[Scalar]) -> list[Scalar]:
        """Torques of the drives."""
        return tau

    def applied(self, torques: Sequence[Scalar]) -> Sequence[Scalar]:
        """The generalised forces of the tree that the drives exert."""
        return torques

    def force_of(self, torques: Sequence[Scalar]) -> Sequence[Scalar]:
        """What torques of the drives are at the leading coordinates."""
        return torques

    def form(self, M: list[list[Scalar]]) -> list[list[Scalar]]:
        """A quadratic form of the leading coordinates, from one of the tree's."""
        return M

    def gathered(self, columns: list[Any]) -> list[Any]:
        """Columns for each leading coordinate, from those for each coordinate of the tree."""
        return columns

    def gathered_rates(self, columns: Any, rates: list[Any], qd: Sequence[Scalar]) -> list[Any]:
        """Rates of `gathered` columns, from rates of the tree's."""
        return rates

    def moving_columns(self, qd: Sequence[Scalar]) -> Iterator[tuple[list[Scalar], list[Scalar]]]:
        """The tree's velocities for a unit of each leading one, and their rates."""
        n = self.tree.nv
        for k in range(n):
            yield [1.0 if j == k else 0.0 for j in range(n)], [0.0] * n

    def openness(self) -> Scalar:
        """How far loops are open: there are none."""
        return 0.0

    def condition(self) -> Scalar:
        """How well what follows is held: nothing does."""
        return 1.0

    def drive_rows(self) -> list[list[Scalar]]:
        """The drives' rates for a unit of each leading velocity."""
        n = self.tree.nv
        return [[1.0 if i == k else 0.0 for i in range(n)] for k in range(n)]

    def drive_rates(self, qd: Sequence[Scalar]) -> Sequence[Scalar]:
        """The drives' rates in a motion of the tree."""
        return qd

    def share(self, force: Sequence[Scalar], weights: Sequence[Scalar]) -> list[Scalar]:
        """Torques of the drives that amount to a force at the leading coordinates."""
        return list(force)

    def cut_wrenches(self, tau: Sequence[Scalar], torques: Sequence[Scalar]) -> list[Scalar]:
        """What cut joints carry: there are none."""
        return []

    def cut_loads(self, cut: Sequence[Scalar]) -> list[Any]:
        """What cut joints exert on bodies: nothing."""
        return []

    def cut_shares(self, cut: Sequence[Scalar]) -> dict[int, Any]:
        """What cut joints take off the joints of the tree: nothing."""
        return {}
