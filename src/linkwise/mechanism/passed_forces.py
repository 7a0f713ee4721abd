"""Generalised forces of a tree on their way to what leads, through the loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from linkwise.jet import is_zero
from linkwise.mechanism.loops import Cut
from linkwise.mechanism.partition import Block
from linkwise.scalar import Scalar
from linkwise.spatial import Wrench, symmetric
from linkwise.vector import ZERO3, ZERO33, Mat3, Vec3, cross, outer

if TYPE_CHECKING:
    from linkwise.mechanism.linkage import Linkage

Vector = list[Scalar]


class Group(NamedTuple):
    """A body and some of its coordinates; with a cut's base, forces are compared in the axes of that base."""

    body: int
    places: tuple[int, ...]
    base: int | None


class Pending(NamedTuple):
    """A wrench on a body, in the axes of a cut's base; of one force alone the point where it acts, in the body's."""

    cut: Cut
    wrench: Wrench
    point: Vec3 | None


class Passed(NamedTuple):
    """Generalised forces of a tree on their way to what leads.

    `tau` are forces at coordinates; `pending` are wrenches on bodies of several coordinates, by the body from which
    they are seen and the body they act on, in the axes of the first about the origin of the second, summed before they
    are turned; `multipliers` are those of all equations.
    """

    tau: Vector
    multipliers: Vector
    pending: dict[tuple[int, int], Pending]

    def push(self, linkage: Linkage, k: int, multipliers: Sequence[Scalar], block: Block) -> None:
        """Take off what the cut k exerts with these multipliers on all but the coordinates of the block."""
        cut = linkage.cuts[k]
        base = linkage.tree.bodies[(cut.path_a or cut.path_b)[0]].parent
        for i, wrench in cut.on_bodies(cut.push(multipliers)):
            axes = linkage.tree.bodies[i].axes
            if all(v in block.passive for v, _ in axes):
                continue
            if len(axes) > 1 and any(v in linkage.part.independent for v, _ in axes):
                before = self.pending.get((base, i))
                if before is None:
                    self.pending[base, i] = Pending(cut, wrench, cut.point_on(i))
                else:
                    self.pending[base, i] = Pending(cut, before.wrench + wrench, None)
                continue
            for v, x in cut.projected(i, wrench):
                if v not in block.passive:
                    self.tau[v] = self.tau[v] - x

    def own(self, linkage: Linkage) -> Vector:
        """Forces at the leading coordinates, in their own axes."""
        tau = list(self.tau)
        for (_, i), (cut, wrench, point) in self.pending.items():
            R = cut.X[i].R.T
            force = R @ wrench.force
            turned = Wrench(force, R @ wrench.moment if point is None else cross(point, force))
            for v, unit in linkage.tree.bodies[i].axes:
                tau[v] = tau[v] - turned.power(unit)
        return [tau[v] for v in linkage.part.independent]

    def one_force(self, linkage: Linkage) -> tuple[int, Cut, Vec3, Vec3] | None:
        """If all of this is one force: the body that it acts on, by which cut, the point and the force in its axes."""
        if len(self.pending) != 1 or not all(is_zero(self.tau[v]) for v in linkage.part.independent):
            return None
        ((_, i), (cut, wrench, point)) = next(iter(self.pending.items()))
        return None if point is None else (i, cut, point, cut.X[i].R.T @ wrench.force)

    def components(self, linkage: Linkage, groups: Sequence[Group]) -> Vector:
        """The negative forces at some leading coordinates; of whole bodies in axes that do not turn with them."""
        own = dict(zip(linkage.part.independent, self.own(linkage), strict=True))
        found: Vector = []
        for group in groups:
            if group.base is None:
                found += [-own[v] for v in group.places]
                continue
            body = linkage.tree.bodies[group.body]
            pair = self.pending.get((group.base, group.body))
            pushed = pair.wrench if pair else Wrench()
            own_axes = Wrench()
            for v, unit in body.axes:
                own_axes += Wrench(unit.linear * self.tau[v], unit.angular * self.tau[v])
            R = next(c for c in linkage.cuts if group.body in c.X).X[group.body].R
            if any(body.kind.lengths):
                found += list(pushed.force - R @ own_axes.force)
            if not all(body.kind.lengths):
                found += list(pushed.moment - R @ own_axes.moment)
        return found


def felt_at_point(M: list[Vector], forces: Mapping[int, Vec3]) -> Mat3:
    """What a symmetric form of the tree is at a point where a unit force of each of some followers is felt as a force.

    The entries of these followers are taken out of the form.
    """
    N = ZERO33
    for v, f in forces.items():
        N += outer(f, sum((g * M[v][w] for w, g in forces.items()), ZERO3))
    for v in forces:
        for w in forces:
            M[v][w] = 0.0
    return symmetric(N.x.x, N.x.y, N.x.z, N.y.y, N.y.z, N.z.z)
