"""Closed chains in independent coordinates: the tree's rates and forces follow from those of the independent joints.

With J qd = 0 split as J_i qd_i + J_p qd_p = 0, the tree moves by qd = G qd_i, and its generalised forces project to
those of the independent coordinates by G^T. Functions take positions of the whole tree that close the loops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

from linkwise.algorithms.algorithm import World
from linkwise.algorithms.inverse_dynamics import inverse_dynamics
from linkwise.algorithms.mass_matrix import mass_matrix
from linkwise.errors import LinkwiseError
from linkwise.mechanism import linear, square
from linkwise.mechanism.equations import Equations
from linkwise.mechanism.linkage import Linkage as Posture
from linkwise.scalar import Scalar

Surroundings = Callable[[Sequence[Scalar], Sequence[Scalar]], World]  # of q and qd of the tree


class Linkage(Posture):
    """A closed chain in one configuration of its tree, with the inertia of what leads."""

    @cached_property
    def equations(self) -> Equations:
        """The independent loop equations."""
        return Equations.at(self.tree, self.q, self.part)

    @cached_property
    def J_p(self) -> list[list[Scalar]]:
        """Their Jacobian over the coordinates that follow."""
        return [[row[v] for v in self.part.passive] for row in self.equations.J]

    @cached_property
    def factors(self) -> square.QR:
        """Its factors."""
        return square.factorise(self.J_p, "loop equations of the passive joints")

    def spread(self, independent: Sequence[Scalar], passive: Sequence[Scalar]) -> list[Scalar]:
        """A vector of the tree's coordinates from its two parts."""
        full: list[Scalar] = [0.0] * self.tree.nv
        for v, x in zip((*self.part.independent, *self.part.passive), (*independent, *passive), strict=True):
            full[v] = x
        return full

    def shared(self, force: Sequence[Scalar], weights: Sequence[Scalar] | None = None) -> list[Scalar]:
        """Torques of the active coordinates that amount to a force at the driven ones."""
        if self.part.free and not self.all_lead:
            raise LinkwiseError("loops: redundant drives beside free elastic joints have no inverse model.")
        if self.all_lead:
            at = {v: k for k, v in enumerate(self.part.independent)}
            return [force[at[v]] for v in self.part.active]
        return self.share(force, weights)

    def applied(self, torques: Sequence[Scalar]) -> list[Scalar]:
        """The generalised forces of the tree that the active coordinates exert."""
        full: list[Scalar] = [0.0] * self.tree.nv
        for v, x in zip(self.part.active, torques, strict=True):
            full[v] = x
        return full

    @cached_property
    def inertia(self) -> list[list[Scalar]]:
        """A_c = G^T M G."""
        n = self.tree.nv
        (flat,) = mass_matrix.function(self.tree, self.q)
        return self.form([flat[k : k + n] for k in range(0, n * n, n)])

    def forces(self, qd: Sequence[Scalar], qdd_i: Sequence[Scalar], world: World) -> Forces:
        """What the tree needs for a motion, and what that is at the independent coordinates."""
        qdd = self.accelerations(qd, qdd_i)
        (tau,) = inverse_dynamics.function(self.tree, self.q, qd, qdd, world=world)
        return Forces(qdd, tau, self.project(tau))

    def completed(self, qd: Sequence[Scalar], qdd_driven: Sequence[Scalar], world: World) -> list[Scalar]:
        """Accelerations of all independent coordinates: where only springs act, those that they cause."""
        part = self.part
        given = dict(zip(part.driven, qdd_driven, strict=True))
        known = [given.get(v, 0.0) for v in part.independent]
        if not part.free:
            return known
        force = self.forces(qd, known, world).force
        places = [k for k, v in enumerate(part.independent) if v in part.free]
        A = [[self.inertia[i][j] for j in places] for i in places]
        found = linear.solve(linear.factorise(A, _no_inertia), [-force[k] for k in places])
        for k, x in zip(places, found, strict=True):
            known[k] = x
        return known


class Forces(NamedTuple):
    """Accelerations and forces of the tree, and the forces at the independent coordinates."""

    qdd: list[Scalar]
    tau: list[Scalar]
    force: list[Scalar]


class Inverse(NamedTuple):
    """The answer of the inverse model: torques of active coordinates, the tree's motion, and wrenches of cut joints."""

    tau: list[Scalar]
    qd: list[Scalar]
    qdd: list[Scalar]
    wrenches: list[Scalar]


def inverse(linkage: Linkage, qd_i: Sequence[Scalar], qdd_driven: Sequence[Scalar], around: Surroundings) -> Inverse:
    """Torques of the active coordinates for a motion: Gamma_c = G^T Gamma_tree.

    Source: [Khalil] (55)-(57), with the transpose in (57).
    """
    qd = linkage.rates(qd_i)
    world = around(linkage.q, qd)
    found = linkage.forces(qd, linkage.completed(qd, qdd_driven, world), world)
    torques = linkage.shared(found.force)
    return Inverse(torques, qd, found.qdd, linkage.cut_wrenches(found.tau, torques))


def forward(
    linkage: Linkage, qd_i: Sequence[Scalar], tau_active: Sequence[Scalar], around: Surroundings
) -> tuple[list[Scalar], list[Scalar]]:
    """Accelerations of the independent coordinates and of the tree: A_c qdd = Gamma_c - H_c.

    Source: [Khalil] (58).
    """
    qd = linkage.rates(qd_i)
    bias = linkage.forces(qd, [0.0] * len(qd_i), around(linkage.q, qd)).force
    rest = [a - b for a, b in zip(linkage.force_of(tau_active), bias, strict=True)]
    qdd_i = linear.solve(linear.factorise(linkage.inertia, _no_inertia), rest)
    return qdd_i, linkage.accelerations(qd, qdd_i)


def _no_inertia(k: int) -> LinkwiseError:
    return LinkwiseError(
        f"loops: nothing has inertia along independent coordinate {k}, so its acceleration is not determined."
        " Give a link that it moves a mass, or the joint an armature."
    )
