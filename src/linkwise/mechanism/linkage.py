"""A tree whose loops are closed, in one configuration: how followers move with what leads, and what they pass on.

With J qd = 0 split as J_i qd_i + J_p qd_p = 0, the tree moves by qd = G qd_i, and its generalised forces project to
those of the leading coordinates by G^T. Followers are found block after block, each from what is known before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

from linkwise.jet import is_zero, part
from linkwise.mechanism.block_equations import BlockEquations
from linkwise.mechanism.drive_sharing import shared, spread_over_wheels
from linkwise.mechanism.loops import Cut
from linkwise.mechanism.matrices import dot
from linkwise.mechanism.partition import Follow, Partition
from linkwise.mechanism.passed_forces import Passed, felt_at_point
from linkwise.mechanism.series import moving_positions
from linkwise.robot.tree import Tree
from linkwise.robot.unit import Unit, units
from linkwise.scalar import Scalar, number
from linkwise.spatial import Wrench
from linkwise.vector import EYE3, Vec3, cross

Vector = list[Scalar]


class Linkage:
    """A tree with closed loops in one configuration: the `Posture` of a machine whose followers are found.

    Source: [Khalil] (4)-(7), (55)-(58), with the transpose in (57).
    """

    def __init__(self, tree: Tree, q: Sequence[Scalar], part: Partition, closed: bool = True) -> None:
        self.tree, self.q, self.part = tree, q, part
        self.equations = BlockEquations(tree, q, part, closed)
        self.cuts = self.equations.cuts

    @property
    def leads(self) -> Sequence[int]:
        """Places in the tree's `qd` of the leading coordinates."""
        return self.part.independent

    @cached_property
    def units(self) -> list[Unit]:
        """Bodies that loops tie together, and those that are alone, each after that which carries it."""
        tied = [{*c.path_a, *c.path_b} for c in self.cuts]
        body_of = {v: i for i, b in enumerate(self.tree.bodies) for v, _ in b.axes}
        for c in self.part.couplings:
            i, j = body_of[c.v], body_of[c.of_v]
            tied.append({i, j}.union(*self.tree.paths(i, j)))
        return units([b.parent for b in self.tree.bodies], tied)

    # ---- motion

    def rates(self, lead: Sequence[Scalar]) -> Vector:
        """The tree's velocities, G qd_i."""
        qd = self._led(lead)
        for c in self.part.couplings:
            qd[c.v] = c.coupling.value(self._led_by(c), 1) * qd[c.of_v]
        for block, solver in self.equations.systems:
            if all(is_zero(qd[v]) for v in self.equations.held[block]):
                continue
            off = self.equations.chosen(block, lambda cut: cut.rate(qd))
            for v, x in zip(block.passive, solver.solve([-x for x in off]), strict=True):
                qd[v] = x
        return qd

    def accelerations(self, qd: Sequence[Scalar], lead: Sequence[Scalar]) -> Vector:
        """The tree's accelerations, from its velocities and the accelerations of what leads."""
        qdd = self._led(lead)
        for c in self.part.couplings:
            x, v = self._led_by(c), qd[c.of_v]
            qdd[c.v] = c.coupling.value(x, 1) * qdd[c.of_v] + c.coupling.value(x, 2) * (v * v)
        for block, solver in self.equations.systems:
            off = self.equations.chosen(block, lambda cut: cut.acceleration(qd, qdd))
            for v, x in zip(block.passive, solver.solve([-x for x in off]), strict=True):
                qdd[v] = x
        return qdd

    def led(self, qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> tuple[Vector, Vector]:
        """The tree's velocities and accelerations."""
        rates = self.rates(qd)
        return rates, self.accelerations(rates, qdd)

    @cached_property
    def columns(self) -> list[Vector]:
        """Columns of G = dq / dq_i, one for each leading coordinate.

        Under a platform by rows, each what a unit force of a follower is at what leads; else by velocities.
        """
        n = len(self.part.independent)
        if self._unit_forces:
            rows = {v: passed.own(self) for v, passed in self._unit_forces.items()}
            lead = {v: k for k, v in enumerate(self.part.independent)}
            return [
                [-rows[v][k] if v in rows else float(lead.get(v) == k) for v in range(self.tree.nv)] for k in range(n)
            ]
        return [self.rates([1.0 if i == k else 0.0 for i in range(n)]) for k in range(n)]

    def gathered(self, columns: Sequence[Sequence[Scalar]]) -> list[Vector]:
        """Columns for each leading coordinate, from those for each coordinate of the tree: J G."""
        found = []
        for g in self.columns:
            used = [(x, column) for x, column in zip(g, columns, strict=True) if not is_zero(x)]
            found.append([sum((x * column[r] for x, column in used), 0.0) for r in range(len(columns[0]))])
        return found

    def form(self, M: Sequence[Sequence[Scalar]]) -> list[Vector]:
        """G^T M G of a symmetric matrix.

        A leg that holds a platform at a point is felt there as a mass of its own in each direction, a matrix of three.
        """
        lead = {v: k for k, v in enumerate(self.part.independent)}
        A: list[Vector] = [[0.0 for _ in lead] for _ in lead]
        left = [list(row) for row in M]
        for i, point, forces in self._legs:
            N = felt_at_point(left, forces)
            moves = [(lead[v], u.linear + cross(u.angular, point)) for v, u in self.tree.bodies[i].axes if v in lead]
            for at, (k, move) in enumerate(moves):
                for j, other in moves[: at + 1]:
                    A[k][j] = A[k][j] + dot(move, N @ other)
        moved = [[dot(row, g) for row in left] for g in self.columns]
        for k in lead.values():
            for j in range(k + 1):
                A[k][j] = A[j][k] = A[k][j] + dot(self.columns[k], moved[j])
        return A

    @cached_property
    def _unit_forces(self) -> dict[int, Passed]:
        """What a unit force of each follower is at a platform that leads, with the sign changed; else nothing."""
        if all(len([v for v, _ in b.axes if v in self.part.independent]) <= 3 for b in self.tree.bodies):
            return {}
        return {v: self.passed([-1.0 if w == v else 0.0 for w in range(self.tree.nv)]) for v in self.part.passive}

    @cached_property
    def _legs(self) -> list[tuple[int, Vec3, dict[int, Vec3]]]:
        """Bodies that lead, points on them, and the force there that a unit force of each follower of a leg is."""
        found: dict[Any, tuple[int, Vec3, dict[int, Vec3]]] = {}
        for v, passed in self._unit_forces.items():
            at = passed.one_force(self)
            if at is not None:
                i, cut, point, force = at
                found.setdefault((i, id(cut)), (i, point, {}))[2][v] = force
        return list(found.values())

    def moving(self, qd: Sequence[Scalar]) -> Linkage:
        """This machine with the rates of its positions, at velocities of the tree."""
        return Linkage(self.tree, moving_positions(self.tree, self.q, qd), self.part)

    def moving_columns(self, qd: Sequence[Scalar]) -> Iterator[tuple[Vector, Vector]]:
        """The tree's velocities for a unit of each leading one, and their rates at velocities of the tree."""
        for column in self.moving(qd).columns:
            yield [part(x) for x in column], [part(x, 1) for x in column]

    def gathered_rates(self, columns: Callable[[], list[Vector]], rates: list[Vector], qd: Sequence[Scalar]) -> Any:
        """Rates of `gathered` columns, from the tree's columns and their rates: J_dot G + J G_dot."""
        moved, tree_columns, found = self.gathered(rates), columns(), []
        for there, (_, g_dot) in zip(moved, self.moving_columns(qd), strict=True):
            used = [(x, column) for x, column in zip(g_dot, tree_columns, strict=True) if not is_zero(x)]
            found.append([y + sum((x * column[r] for x, column in used), 0.0) for r, y in enumerate(there)])
        return found

    def openness(self) -> Scalar:
        """How far loops are open."""
        return self.equations.openness()

    def condition(self) -> Scalar:
        """How well what leads holds what follows."""
        return self.equations.condition()

    def drive_rows(self) -> list[Vector]:
        """The drives' rates for a unit of each leading velocity."""
        return [[column[v] for column in self.columns] for v in self.drive_places]

    def drive_rates(self, qd: Sequence[Scalar]) -> Vector:
        """The drives' rates in a motion of the tree."""
        return [qd[v] for v in self.drive_places]

    @property
    def drive_places(self) -> tuple[int, ...]:
        """Where in forces of the tree the drives push."""
        return self.part.independent if self.all_lead else self.part.active

    # ---- forces

    def project(self, tau: Sequence[Scalar]) -> Vector:
        """G^T tau: what generalised forces of the tree are at the leading coordinates."""
        return self.passed(tau).own(self)

    def multipliers(self, tau: Sequence[Scalar]) -> Vector:
        """For every loop equation the multiplier that takes the forces `tau` off the coordinates that follow."""
        return self.passed(tau).multipliers

    def drives(self, tau: Sequence[Scalar], weights: Sequence[Scalar] | None = None) -> Vector:
        """Torques of the drives that amount to the tree's generalised forces `tau`.

        Where every drive leads, the forces at all that leads; those without a drive are residuals. Where there are more
        drives than needed, those with the least sum of weight * torque^2.
        """
        if self.all_lead:
            return self.project(tau)
        return shared(self, self.passed(tau), weights)

    def share(self, force: Sequence[Scalar], weights: Sequence[Scalar] | None = None) -> Vector:
        """Torques of the drives that amount to a force at the leading coordinates."""
        return self.drives(self._led(force), weights)

    def force_of(self, torques: Sequence[Scalar]) -> Vector:
        """What torques of the drives are at the leading coordinates."""
        return self.project(self.applied(torques))

    def applied(self, torques: Sequence[Scalar]) -> Vector:
        """The generalised forces of the tree that the drives exert."""
        full: Vector = [0.0] * self.tree.nv
        for v, x in zip(self.drive_places, torques, strict=True):
            full[v] = x
        return full

    def carried(self, tau: Sequence[Scalar], torques: Sequence[Scalar]) -> Vector:
        """Multipliers of all equations where the tree needs the forces `tau` and the drives give these torques."""
        return self.multipliers([x - y for x, y in zip(tau, self.applied(torques), strict=True)])

    def cut_wrenches(self, tau: Sequence[Scalar], torques: Sequence[Scalar]) -> Vector:
        """What a exerts on b through each cut joint, force and moment in the axes of its frame a, flat.

        Equations that were left out as dependent carry nothing; those of wheels share, with the least squares.
        """
        multipliers = spread_over_wheels(self, self.carried(tau, torques))
        return [
            x
            for cut, span in zip(self.cuts, self.part.spans, strict=True)
            for x in cut.wrench([multipliers[r] for r in span])
        ]

    def cut_loads(self, cut: Sequence[Scalar]) -> list[tuple[int, Wrench]]:
        """What cut joints exert on the bodies that they join, each about its origin in its axes."""
        return [(i, wrench) for _, i, wrench in self._ends(cut) if i]

    def cut_shares(self, cut: Sequence[Scalar]) -> dict[int, Wrench]:
        """What cut joints take off the joints of the tree, by body, each about its origin in its axes.

        The two wrenches of a cut joint cancel where its sides meet, so that nothing is felt below its unit.
        """
        found: dict[int, Wrench] = {}
        unit_of = {i: unit for unit in self.units for i in unit.bodies}
        for c, i, wrench in self._ends(cut):
            if i in unit_of[(c.path_a or c.path_b)[0]].bodies:
                found[i] = found.get(i, Wrench()) + wrench
        for i in sorted(unit_of, reverse=True):
            a = self.tree.bodies[i].parent
            if i in found and a != unit_of[i].carrier:
                found[a] = found.get(a, Wrench()) + found[i].seen_from(*self.tree.bodies[i].pose(self.q))
        return found

    def _ends(self, cut: Sequence[Scalar]) -> Iterator[tuple[Cut, int, Wrench]]:
        """Each cut joint, each of the two bodies that it joins, and what it exerts on that."""
        for k, c in enumerate(self.cuts):
            six = cut[6 * k : 6 * k + 6]
            wrench = Wrench(Vec3(*six[:3]), Vec3(*six[3:]))
            ((i, a), (j, b)), back = c.ends, c.R.T
            yield c, i, -wrench.seen_from(EYE3, c.p).seen_from(a.R, a.p)
            yield c, j, Wrench(back @ wrench.force, back @ wrench.moment).seen_from(b.R, b.p)

    @cached_property
    def all_lead(self) -> bool:
        """Whether no drive is at a coordinate that follows."""
        return set(self.part.active) <= set(self.part.independent)

    # ---- within

    def _led(self, lead: Sequence[Scalar]) -> Vector:
        full: Vector = [0.0] * self.tree.nv
        for v, x in zip(self.part.independent, lead, strict=True):
            full[v] = x
        return full

    def passed(self, tau: Sequence[Scalar]) -> Passed:
        """The tree's forces, taken off what follows and passed on through the loops, the last block first."""
        passed = Passed(list(tau), [0.0] * len(self.part.weights), {})
        for block, solver in reversed(self.equations.systems):
            if all(is_zero(passed.tau[v]) for v in block.passive):
                continue
            found = solver.solve_transposed([passed.tau[v] for v in block.passive])
            for r, x in zip(block.rows, found, strict=True):
                passed.multipliers[r] = x
            for k in self.equations.loops[block]:
                mine = [passed.multipliers[r] if r in block.rows else 0.0 for r in self.part.spans[k]]
                passed.push(self, k, mine, block)
            for v in block.passive:
                passed.tau[v] = 0.0
        for c in self.part.couplings:
            passed.tau[c.of_v] = passed.tau[c.of_v] + c.coupling.value(self._led_by(c), 1) * passed.tau[c.v]
            passed.tau[c.v] = 0.0
        return passed

    def _led_by(self, c: Follow) -> Scalar:
        return number(self.q[c.of_q])
