"""Wrenches through all joints of a closed chain, those of its tree and those that were cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from linkwise.algorithms.algorithm import World
from linkwise.algorithms.closed_chain import Linkage
from linkwise.algorithms.inverse_dynamics import inverse_dynamics, joint_wrenches
from linkwise.mechanism.loops import Cut
from linkwise.scalar import Scalar
from linkwise.spatial import Wrench
from linkwise.vector import EYE3, Vec3


class ClosedWrenches(NamedTuple):
    """Torques of the active coordinates, the wrenches through the joints of the tree, and those through the cuts."""

    tau: list[Scalar]
    wrenches: list[Scalar]
    cuts: list[Scalar]


def closed_wrenches(linkage: Linkage, qd: Sequence[Scalar], qdd: Sequence[Scalar], world: World) -> ClosedWrenches:
    """Wrenches through all joints in a motion of the tree that keeps the loops closed.

    The cuts carry what multipliers give them; as loads on the links that they join they complete the balance of each
    link, and the tree's own recursion gives the rest. Rows are those of `joint_wrenches` and of `Equations.wrenches`.
    Equations that depend on others carry nothing: across the plane of a planar mechanism a cut is taken as loose.
    """
    tree, q = linkage.tree, linkage.q
    (tau,) = inverse_dynamics.function(tree, q, qd, qdd, world=world)
    torques = linkage.shared(linkage.project(tau))
    cuts = linkage.cut_wrenches(tau, torques)
    loads = dict(world.external)
    for k, cut in enumerate(linkage.equations.cuts):
        six = cuts[6 * k : 6 * k + 6]
        for i, load in _on_bodies(cut, Wrench(Vec3(*six[:3]), Vec3(*six[3:]))):
            loads[i] = loads[i] + load if i in loads else load
    _, through = joint_wrenches.function(tree, q, qd, qdd, world=replace(world, external=loads))
    return ClosedWrenches(torques, list(through), cuts)


def _on_bodies(cut: Cut, wrench: Wrench) -> list[tuple[int, Wrench]]:
    """What a cut exerts on the two bodies that it joins, each about its origin in its axes."""
    (i, X_a), (j, X_b) = cut.tree.places[cut.loop.a], cut.tree.places[cut.loop.b]
    a, b = X_a @ cut.loop.origin_a, X_b @ cut.loop.origin_b
    back = cut.R.T
    on_b = Wrench(back @ wrench.force, back @ wrench.moment).seen_from(b.R, b.p)
    return [(i, -wrench.seen_from(EYE3, cut.p).seen_from(a.R, a.p)), (j, on_b)]
