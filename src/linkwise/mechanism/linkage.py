"""A tree whose loops are closed, in one configuration: how followers move with what leads, and what they pass on.

With J qd = 0 split as J_i qd_i + J_p qd_p = 0, the tree moves by qd = G qd_i, and its generalised forces project to
those of the leading coordinates by G^T. Followers are found block after block, each from what is known before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

from linkwise.errors import LinkwiseError
from linkwise.jet import is_zero, part
from linkwise.mechanism import linear, square
from linkwise.mechanism.block_solver import Adjugate, Scaled, Solver
from linkwise.mechanism.loops import Cut, cuts
from linkwise.mechanism.matrices import dot
from linkwise.mechanism.partition import Block, Follow, Partition
from linkwise.mechanism.passed_forces import Group, Passed, felt_at_point
from linkwise.mechanism.series import moving_positions
from linkwise.robot.tree import Tree
from linkwise.robot.unit import Unit, units
from linkwise.scalar import Scalar, less, number, sqrt, where
from linkwise.spatial import Wrench
from linkwise.vector import EYE3, Vec3, cross

Vector = list[Scalar]


class Linkage:
    """A tree with closed loops in one configuration: the `Posture` of a machine whose followers are found.

    Source: [Khalil] (4)-(7), (55)-(58), with the transpose in (57).
    """

    def __init__(self, tree: Tree, q: Sequence[Scalar], part: Partition, closed: bool = True) -> None:
        self.tree, self.q, self.part = tree, q, part
        self.cuts: list[Cut] = cuts(tree, q, part.loops, part.normals)
        if closed:
            self.cuts = [cut.closed(part.passive) for cut in self.cuts]

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
        for block, solver in self._systems:
            if all(is_zero(qd[v]) for v in self._held[block]):
                continue
            off = self._chosen(block, [self.cuts[k].rate(qd) for k in self._loops(block)])
            for v, x in zip(block.passive, solver.solve([-x for x in off]), strict=True):
                qd[v] = x
        return qd

    def accelerations(self, qd: Sequence[Scalar], lead: Sequence[Scalar]) -> Vector:
        """The tree's accelerations, from its velocities and the accelerations of what leads."""
        qdd = self._led(lead)
        for c in self.part.couplings:
            x, v = self._led_by(c), qd[c.of_v]
            qdd[c.v] = c.coupling.value(x, 1) * qdd[c.of_v] + c.coupling.value(x, 2) * (v * v)
        for block, solver in self._systems:
            off = self._chosen(block, [self.cuts[k].acceleration(qd, qdd) for k in self._loops(block)])
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
        return {v: self._passed([-1.0 if w == v else 0.0 for w in range(self.tree.nv)]) for v in self.part.passive}

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

    def determinant(self) -> Scalar:
        """Of the loop equations over the coordinates that follow; its sign tells the assembly mode."""
        total: Scalar = 1.0
        for _, solver in self._systems:
            total = total * solver.determinant()
        return total

    def gap(self, block: Block) -> Vector:
        """What the equations of a block are off by."""
        return self._chosen(block, [self.cuts[k].gap() for k in self._loops(block)])

    def openness(self) -> Scalar:
        """How far loops are open: over all equations, lengths by the mechanism's size, and the side of each axis."""
        own = cuts(self.tree, self.q, self.part.loops, self.part.normals)
        every = [x for cut in own for x in cut.gap()]
        values = [x * w for x, w in zip(every, self.part.weights, strict=True)]
        values += [cut.closure.flipped(cut.R) for cut in own]
        return sqrt(sum((x * x for x in values), 0.0))

    def condition(self) -> Scalar:
        """The condition number of the loop equations over what follows: of the blocks the worst, by sums of squares."""
        worst: Scalar = 1.0
        for block, solver in self._systems:
            m = len(block.passive)
            weights = [self.part.weights[r] for r in block.rows]
            size = dict(zip(range(self.tree.nv), self._sizes, strict=True))
            A = [[x * w for x in row] for row, w in zip(self._matrix(block), weights, strict=True)]
            A = [[x * size[v] for x, v in zip(row, block.passive, strict=True)] for row in A]
            inverse = [solver.solve([1.0 / w if i == k else 0.0 for i in range(m)]) for k, w in enumerate(weights)]
            inverse = [[x / size[v] for x, v in zip(column, block.passive, strict=True)] for column in inverse]
            sums = [sum((x * x for row in matrix for x in row), 0.0) for matrix in (A, inverse)]
            here = sqrt(sums[0] * sums[1]) * (1.0 / m)
            worst = where(less(here, worst), worst, here)
        return worst

    @cached_property
    def _sizes(self) -> list[float]:
        """By what rates of the tree are measured: the mechanism's size for lengths, 1 for angles."""
        found = [1.0] * self.tree.nv
        for kind, _, to in self.tree.coordinates:
            found[to] = [self.part.size if length else 1.0 for length in kind.lengths]
        return found

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

    def newton_system(self) -> tuple[Block, Solver]:
        """The last block, of what has no closed form, and its system."""
        return self._systems[-1]

    # ---- forces

    def project(self, tau: Sequence[Scalar]) -> Vector:
        """G^T tau: what generalised forces of the tree are at the leading coordinates."""
        return self._passed(tau).own(self)

    def multipliers(self, tau: Sequence[Scalar]) -> Vector:
        """For every loop equation the multiplier that takes the forces `tau` off the coordinates that follow."""
        return self._passed(tau).multipliers

    def drives(self, tau: Sequence[Scalar], weights: Sequence[Scalar] | None = None) -> Vector:
        """Torques of the drives that amount to the tree's generalised forces `tau`.

        Where every drive leads, the forces at all that leads; those without a drive are residuals. Where there are more
        drives than needed, those with the least sum of weight * torque^2.
        """
        if self.all_lead:
            return self.project(tau)
        return self._shared(self._passed(tau), weights)

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
        multipliers = self._spread(self.carried(tau, torques))
        return [
            x
            for cut, span in zip(self.cuts, self.part.spans, strict=True)
            for x in cut.wrench([multipliers[r] for r in span])
        ]

    def _spread(self, multipliers: Vector) -> Vector:
        """Multipliers of wheels that do the same with the least sum of squares over all equations.

        Those of the chosen equations are x, the others follow as T times them: y = (1 + T T^T)^-1 T x is theirs, and
        x - T^T y is left.
        """
        if not any(cut.loop.is_wheel for cut in self.cuts):
            return multipliers
        chosen = {r for block in self.part.blocks for r in block.rows}
        rows = [row for cut in self.cuts for row in cut.jacobian()]
        T = {r: self.multipliers(row) for r, row in enumerate(rows) if r not in chosen}
        T = {r: row for r, row in T.items() if not all(map(is_zero, row))}
        S = [[dot(a, b) + float(i == j) for j, b in T.items()] for i, a in T.items()]
        share = linear.solve(linear.factorise(S, _no_drive), [dot(row, multipliers) for row in T.values()])
        spread = list(multipliers)
        for (r, row), y in zip(T.items(), share, strict=True):
            spread = [x - t * y for x, t in zip(spread, row, strict=True)]
            spread[r] = y
        return spread

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

    def _loops(self, block: Block) -> list[int]:
        return self._loops_of[block]

    @cached_property
    def _loops_of(self) -> dict[Block, list[int]]:
        """The loops whose equations are in each block."""
        loop_of = {r: k for k, span in enumerate(self.part.spans) for r in span}
        return {block: sorted({loop_of[r] for r in block.rows}) for block in self.part.blocks}

    @cached_property
    def _held(self) -> dict[Block, list[int]]:
        """The coordinates that the loops of each block hold, those known before it among them."""
        bodies = self.tree.bodies
        return {
            block: [v for k in loops for i in (*self.cuts[k].path_a, *self.cuts[k].path_b) for v, _ in bodies[i].axes]
            for block, loops in self._loops_of.items()
        }

    def _chosen(self, block: Block, values: Sequence[Sequence[Scalar]]) -> Vector:
        """Of the values of all equations of a block's loops, those of its rows."""
        by_row = {
            r: x
            for k, group in zip(self._loops(block), values, strict=True)
            for r, x in zip(self.part.spans[k], group, strict=True)
        }
        return [by_row[r] for r in block.rows]

    @cached_property
    def _systems(self) -> list[tuple[Block, Solver]]:
        return [(block, self._system(block)) for block in self.part.blocks]

    def _matrix(self, block: Block) -> list[Vector]:
        """The equations of a block over the coordinates that they give."""
        place = {v: j for j, v in enumerate(block.passive)}
        A: list[list[Scalar]] = [[0.0] * len(place) for _ in block.rows]
        for k in self._loops(block):
            at = {r: i for i, r in enumerate(block.rows) if r in self.part.spans[k]}
            for column in self.cuts[k].columns(place.__contains__):
                for r, x in zip(self.part.spans[k], self.cuts[k].changes(column), strict=True):
                    if r in at:
                        A[at[r]][place[column.v]] = A[at[r]][place[column.v]] + x
        return A

    def _system(self, block: Block) -> Solver:
        """The equations of a block over the coordinates that they give, to be solved."""
        A = self._matrix(block)
        if len(A) <= 3:
            return Adjugate.of(A)
        weights = [self.part.weights[r] for r in block.rows]
        scaled = [[x * w for x in row] for row, w in zip(A, weights, strict=True)]
        return Scaled(square.factorise(scaled, "loop equations of the passive joints"), weights)

    def _passed(self, tau: Sequence[Scalar]) -> Passed:
        """The tree's forces, taken off what follows and passed on through the loops, the last block first."""
        passed = Passed(list(tau), [0.0] * len(self.part.weights), {})
        for block, solver in reversed(self._systems):
            if all(is_zero(passed.tau[v]) for v in block.passive):
                continue
            found = solver.solve_transposed([passed.tau[v] for v in block.passive])
            for r, x in zip(block.rows, found, strict=True):
                passed.multipliers[r] = x
            for k in self._loops(block):
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

    def _shared(self, passed: Passed, weights: Sequence[Scalar] | None) -> Vector:
        """Torques of the drives for forces at the leading coordinates that were passed on.

        Drives that lead take what is left at their own coordinates; those that follow must carry the others.
        """
        part = self.part
        beyond = [v for v in part.active if v not in part.independent]
        undriven = [v for v in part.independent if v not in part.active]
        if len(beyond) < len(undriven):
            raise LinkwiseError(
                f"loops: expected at least {len(undriven)} drives among the joints that follow, for as many leading"
                f" coordinates without one, got {len(beyond)}. Name more active joints in the loops."
            )
        rows = {v: self._passed([-1.0 if k == v else 0.0 for k in range(self.tree.nv)]) for v in beyond}
        if weights is None and len(beyond) == len(undriven):
            groups = self._groups(undriven, [passed, *rows.values()])
            W = [-x for x in passed.components(self, groups)]
            K = [row.components(self, groups) for row in rows.values()]
            found = dict(zip(beyond, square.factorise(K, "drives of the platform").solve_transposed(W), strict=True))
            left = passed.own(self)
            for at, v in enumerate(part.independent):
                if v in part.active:
                    pushed = [row.own(self)[at] * found[b] for b, row in rows.items()]
                    found[v] = left[at] + sum(pushed, 0.0)
            return [found[v] for v in part.active]
        unit = {v: [1.0 if w == v else 0.0 for w in part.independent] for v in part.independent if v in part.active}
        G = [unit[v] if v in unit else [-x for x in rows[v].own(self)] for v in part.active]
        inverse = [1.0 / w for w in weights] if weights is not None else [1.0] * len(G)
        n = range(len(part.independent))
        S = [[sum((g[i] * w * g[j] for g, w in zip(G, inverse, strict=True)), 0.0) for j in n] for i in n]
        x = linear.solve(linear.factorise(S, _no_drive), passed.own(self))
        return [w * dot(g, x) for g, w in zip(G, inverse, strict=True)]

    def _groups(self, wanted: Sequence[int], passed: Sequence[Passed]) -> list[Group]:
        """The bodies whose coordinates are wanted, and whether forces on them may stay in axes that do not turn."""
        found, left = [], list(wanted)
        for k, body in enumerate(self.tree.bodies):
            places = [v for v, _ in body.axes if v in left]
            if not places:
                continue
            seen = {key[0] for p in passed for key in p.pending if key[1] == k}
            whole = len(places) == len(body.axes) >= 3 and len(seen) == 1
            found.append(Group(k, tuple(places), next(iter(seen)) if whole else None))
            left = [v for v in left if v not in places]
        return found


def _no_drive(k: int) -> LinkwiseError:
    return LinkwiseError(f"loops: no active joint acts on independent coordinate {k}.")
