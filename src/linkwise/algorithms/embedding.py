"""Bodies that loops tie together, as one joint of an articulated tree: constraint embedding.

Bodies whose loops share coordinates hang on one carrier. Their coordinates move by qd_B = G qd with the leading ones qd
among them, and accelerate by G qdd + d, where d is known from velocities. Of their tree, with the inertias that bodies
seem to have by what they carry, let M be the inertia matrix, and for each coordinate F the wrench that a unit of its
acceleration needs from the carrier, p the force that it needs where all of B accelerate by d and the carrier not at
all. With the carrier's acceleration a, the wrench alpha that it gives where nothing but d moves, and K the inertia of
all of B as one rigid piece,

    H qdd + W^T a + G^T p = tau,    H = G^T M G,    W = F G,
    wrench = K a + alpha + W qdd.

So qdd = H^-1 (tau - G^T p - W^T a), and the carrier feels one body more, of inertia K - W H^-1 W^T and with the force
alpha + W H^-1 (tau - G^T p). A body alone is the case G = 1.

Source: the idea is [Jain]'s, the derivation our own: local composite bodies give M, F and K together, and the leading
coordinates are eliminated one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from linkwise.algorithms.articulated import Known, Seeming, articulated, together
from linkwise.algorithms.inertia_route import no_inertia_along
from linkwise.mechanism import linear
from linkwise.mechanism.matrices import dot, times
from linkwise.robot.unit import Unit
from linkwise.scalar import Scalar, note
from linkwise.spatial import Inertia, Wrench
from linkwise.vector import Vec3


class Aggregate:
    """The bodies of coupled loops on their way through the recursion.

    `K` and `alpha` are the inertia and the force that they add to their carrier, about its origin in its axes.
    """

    K: Seeming
    alpha: Wrench
    is_felt = True

    def __init__(self, known: Known, unit: Unit, J: Sequence[Seeming], beta: Sequence[Wrench]) -> None:
        """Inwards: J and beta are the inertia and force that each body seems to have with what it carries."""
        self._known, self._unit, self._J, self._beta = known, unit, J, beta
        bodies = [(i, known.tree.bodies[i]) for i in unit.bodies]
        coordinates = [v for _, b in bodies for v, _ in b.axes]
        leads = {v: k for k, v in enumerate(known.at.leads) if v in coordinates}
        self._free = [v for v in leads if v not in known.driven]
        self._held = [v for v in leads if v in known.driven]
        columns = {v: known.at.columns[k] for v, k in leads.items()}
        self._G = {v: [g[w] for w in coordinates] for v, g in columns.items()}
        self._coordinates = coordinates

        local = _Local(known, unit, J, beta)
        for _, b in bodies:
            if b.is_single:
                at = coordinates.index(b.v)
                local.M[at][at] += b.own_inertia
                local.p[at] += b.resistance(known.q, known.qd, known.qdd)
        moved = {v: times(local.M, self._G[v]) for v in self._free}
        self._H = {v: [dot(g, moved[w]) for w in self._free] for v, g in self._G.items()}
        self._W = {v: _combined(local.F, g) for v, g in self._G.items()}
        self._p = {v: dot(g, local.p) for v, g in self._G.items()}

        # the free leading coordinates yield, one after the other
        free = self._free
        self._factors = linear.factorise(
            [self._H[v] for v in free], lambda k: no_inertia_along(known.machine, leads[free[k]])
        )
        rows = zip(*([*self._W[v]] for v in free), strict=True)
        halves = [linear.half_solve(self._factors, row) for row in rows]
        self._Y = [_wrench(row[k] for row in halves) for k in range(len(free))]
        self._rest = linear.half_solve(self._factors, [known.given[v] - self._p[v] for v in free])
        self.K, self.alpha = local.K, local.alpha
        for y, rest, inverse in zip(self._Y, self._rest, self._factors[1], strict=True):
            self.K = articulated(self.K).without(y, inverse)
            self.alpha = self.alpha + y * (rest * inverse)

    def answer(self, v_dot: list[Any], wrench: list[Any], qdd: list[Scalar], tau: list[Scalar]) -> None:
        """Outwards: accelerations of its coordinates and bodies, and forces where accelerations were given.

        A `wrench` is what goes through a joint of the tree where cut joints carry nothing.
        """
        known, unit = self._known, self._unit
        moved = v_dot[unit.carrier]
        left = [rest - y.power(moved) for y, rest in zip(self._Y, self._rest, strict=True)]
        found = linear.solve_rest(self._factors, left)
        extra: list[Scalar] = [0.0] * len(qdd)
        for at, w in enumerate(self._coordinates):
            extra[w] = sum((self._G[v][at] * x for v, x in zip(self._free, found, strict=True)), 0.0)
            qdd[w] = known.qdd[w] + extra[w]
        for v in self._free:
            tau[v] = known.given[v]
        for v in self._held:
            tau[v] = self._p[v] + dot(self._H[v], found) + self._W[v].power(moved)
        for i in unit.bodies:
            body = known.tree.bodies[i]
            v_dot[i] = v_dot[body.parent].carried_to(*known.poses[i]) + known.bias[i] + body.rate(extra)
            wrench[i] = self._J[i].momentum(v_dot[i]) + self._beta[i]
            note(i, v_dot=v_dot[i].linear, omega_dot=v_dot[i].angular)
        for i in reversed(unit.bodies):
            parent = known.tree.bodies[i].parent
            if parent != unit.carrier:
                wrench[parent] = wrench[parent] + wrench[i].seen_from(*known.poses[i])


class _Local:
    """The dynamics of a unit's bodies as a tree on their carrier: M, F, p of each coordinate; K and alpha of all."""

    def __init__(self, known: Known, unit: Unit, J: Sequence[Seeming], beta: Sequence[Wrench]) -> None:
        bodies, poses, bias = known.tree.bodies, known.poses, known.bias
        K: dict[int, Seeming] = {unit.carrier: Inertia(), **{i: J[i] for i in unit.bodies}}
        alpha = {unit.carrier: Wrench(), **{i: beta[i] for i in unit.bodies}}
        for i in reversed(unit.bodies):
            a = bodies[i].parent
            alpha[i] = alpha[i] + K[i].momentum(bias[i])
            K[a] = together(K[a], K[i].seen_from(*poses[i]))
            alpha[a] = alpha[a] + alpha[i].seen_from(*poses[i])
        self.K, self.alpha = K[unit.carrier], alpha[unit.carrier]

        place = {v: k for k, v in enumerate(v for i in unit.bodies for v, _ in bodies[i].axes)}
        self.M: list[list[Scalar]] = [[0.0] * len(place) for _ in place]
        self.p: list[Scalar] = [0.0] * len(place)
        self.F: list[Wrench] = [Wrench()] * len(place)
        for i in unit.bodies:
            for v, s in bodies[i].axes:
                column, F, k = place[v], K[i].momentum(s), i
                self.p[column] = alpha[i].power(s)
                while k != unit.carrier:
                    for w, x in bodies[k].project(F):
                        self.M[place[w]][column] = self.M[column][place[w]] = x
                    if k != i:
                        self.p[column] = self.p[column] + F.power(bias[k])
                    F, k = F.seen_from(*poses[k]), bodies[k].parent
                self.F[column] = F


def _combined(wrenches: Sequence[Wrench], factors: Sequence[Scalar]) -> Wrench:
    """The sum of wrenches, each multiplied."""
    total = Wrench()
    for w, x in zip(wrenches, factors, strict=True):
        total = total + w * x
    return total


def _wrench(numbers: Any) -> Wrench:
    six = list(numbers)
    return Wrench(Vec3(*six[:3]), Vec3(*six[3:]))
