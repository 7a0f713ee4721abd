"""Derivatives of generalised forces and joint wrenches, by recursion in moving coordinates.

When a coordinate changes a little, all bodies beyond its joint feel one rigid field of disturbance: in the frame of
body k, of angular velocity omega_k, the acceleration of the point x changes by

    linear + angular x x + 2 turning x (omega_k x x),

where `turning` is the change of angular velocity. Angular and turning parts are the same vectors for every body, and
the linear part is carried from origin to origin like an acceleration. The wrench that a field asks of a body with all
it carries needs two sums over these bodies beside their composite inertia: momentum and moments of velocities relative
to the body's origin. So the changes of all wrenches beyond a joint, and of those before it, follow by carrying vectors
along the tree.

Source: what [Barman] (3.1)-(3.95) differentiates quantity by quantity; the fields and sums are ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from linkwise.algorithms.algorithm import World
from linkwise.algorithms.inverse_dynamics import Accelerations, accelerations, body_wrenches
from linkwise.errors import LinkwiseError
from linkwise.jet import Jet, part
from linkwise.robot.tree import Body, Tree
from linkwise.rotation import turned
from linkwise.scalar import Scalar
from linkwise.spatial import Inertia, Motion, Wrench
from linkwise.vector import ZERO3, Mat3, Vec3, cross, dot, hat, outer


class Field(NamedTuple):
    """A rigid field of disturbance about a body's origin, in its axes."""

    linear: Vec3 = ZERO3
    angular: Vec3 = ZERO3
    turning: Vec3 = ZERO3

    def __add__(self, other: Field) -> Field:  # type: ignore[override]
        return Field(*(a + b for a, b in zip(self, other, strict=True)))

    def carried(self, R_a_b: Any, p_a_b: Vec3, slip: Vec3) -> Field:
        """The field of frame a in frame b, whose origin moves at half of `slip` relative to a's, in a's axes."""
        linear = self.linear + cross(self.angular, p_a_b) + cross(self.turning, slip)
        return Field(*(R_a_b.T @ x for x in (linear, self.angular, self.turning)))


class Column(NamedTuple):
    """A coordinate `k` that moves a body by `unit`, and the fields that its position and velocity cause there."""

    k: int
    unit: Motion
    by_q: Field
    by_qd: Field

    @property
    def by_qdd(self) -> Field:
        return Field(self.unit.linear, self.unit.angular)

    def swing(self, wrench: Wrench) -> Wrench:
        """How the body's wrench changes by position, as the parent sees it, because it turns or moves with the body."""
        around = self.unit.angular
        moment = cross(around, wrench.moment) + cross(self.unit.linear, wrench.force)
        return Wrench(cross(around, wrench.force), moment)


class Row(NamedTuple):
    """A linear function of a field, carried towards the base: force . linear + moment . angular + spin . turning."""

    force: Vec3
    moment: Vec3
    spin: Vec3

    def of(self, field: Field) -> Scalar:
        return dot(self.force, field.linear) + dot(self.moment, field.angular) + dot(self.spin, field.turning)

    def seen_from(self, R_a_b: Any, p_a_b: Vec3, slip: Vec3) -> Row:
        force = R_a_b @ self.force
        return Row(force, R_a_b @ self.moment + cross(p_a_b, force), R_a_b @ self.spin + cross(slip, force))


class Composite(NamedTuple):
    """A body with all it carries: inertia, and twice the sums of m u and m u x^T over its points x.

    u is a point's velocity relative to the body's origin.
    """

    inertia: Inertia
    momentum: Vec3
    moments: Mat3

    def force(self, field: Field) -> Wrench:
        """The wrench that the field asks for."""
        I, K, turning = self.inertia, self.moments, field.turning
        linear = field.linear * I.m + cross(field.angular, I.mc) + cross(turning, self.momentum)
        trace = K.x.x + K.y.y + K.z.z
        return Wrench(linear, I.I_o @ field.angular + cross(I.mc, field.linear) + turning * trace - K @ turning)

    def row(self, unit: Motion) -> Row:
        """What `force` has along a unit motion, as a function of the field."""
        K, along = self.moments, self.inertia.momentum(unit)
        trace = K.x.x + K.y.y + K.z.z
        spin = cross(self.momentum, unit.linear) + unit.angular * trace - K.T @ unit.angular
        return Row(along.force, along.moment, spin)


class Disturbed(NamedTuple):
    """A state as derivatives need it, by body: its motion, wrench, columns of coordinates.

    `slips` are twice the velocities of the bodies' origins relative to their parents', in the parents' axes.
    """

    tree: Tree
    qd: Sequence[Scalar]
    motion: Accelerations
    wrench: list[Wrench]
    slips: list[Vec3]
    columns: list[list[Column]]

    def step(self, i: int) -> tuple[Any, Vec3, Vec3]:
        """Rotation, place and slip of body i in its parent."""
        return *self.motion.poses[i], self.slips[i]

    def composites(self) -> Iterator[tuple[int, Composite]]:
        """Bodies with all they carry, from the last to the first; each is added to its parent after it was used."""
        bodies, poses = self.tree.bodies, self.motion.poses
        twice = [w * 2.0 for w in self.motion.omega]
        inertia = [b.inertia for b in bodies]
        momentum = [cross(w, I.mc) for w, I in zip(twice, inertia, strict=True)]
        moments = [hat(w) @ I.E for w, I in zip(twice, inertia, strict=True)]
        for r in self.tree.rotors:
            moments[r.on] += hat(r.axis * (self.qd[r.v] * r.ratio * r.inertia))
        for i in range(len(bodies) - 1, 0, -1):
            I = inertia[i]
            yield i, Composite(I, momentum[i], moments[i])
            a, (R, p) = bodies[i].parent, poses[i]
            moved = R @ momentum[i] + self.slips[i] * I.m
            inertia[a] += I.seen_from(R, p)
            momentum[a] += moved
            moments[a] += turned(R, moments[i]) + outer(moved, p) + outer(self.slips[i], R @ I.mc)


def disturbed(tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar], world: World) -> Disturbed:
    """Motion, wrenches and fields in a state."""
    if world.by_laws:
        raise LinkwiseError(
            "forces that depend on the state are differentiated by the graph alone: take route='graph'."
        )
    motion = accelerations(tree, q, qd, qdd, world)
    slips: list[Vec3] = [ZERO3]
    columns: list[list[Column]] = [[]]
    for i, body in enumerate(tree.bodies[1:], start=1):
        R, p = motion.poses[i]
        sliding = body.rate(qd).linear
        slips.append(cross(motion.omega[body.parent] * 2.0, p) + R @ (sliding * 2.0))
        columns.append([_column(body, motion, i, k, unit, sliding) for k, unit in body.axes])
    wrench = body_wrenches(tree, q, qd, qdd, world).wrench
    return Disturbed(tree, qd, motion, wrench, slips, columns)


def _column(body: Body, motion: Accelerations, i: int, k: int, unit: Motion, sliding: Vec3) -> Column:
    """The fields of one coordinate of body i, which slides relative to its parent."""
    a, (R, p) = body.parent, motion.poses[i]
    around, along = unit.angular, unit.linear
    omega_a = R.T @ motion.omega[a]
    both = omega_a + motion.omega[i]
    slid = Field(R.T @ (motion.U[a] @ (R @ along))), Field(cross(both, along))  # what accelerations in the parent do
    if around == ZERO3:
        return Column(k, unit, *slid)
    carried = R.T @ (motion.v_dot[a] + motion.U[a] @ p)
    turning = cross(omega_a, around)
    by_q = Field(cross(carried, around) + cross(turning, sliding * 2.0), R.T @ (motion.U[a] @ (R @ around)), turning)
    by_qd = Field(cross(around, sliding), cross(both, around), around)
    if along != ZERO3:  # a screw does both
        by_q, by_qd = by_q + slid[0], by_qd + slid[1]
    return Column(k, unit, by_q, by_qd)


Matrix = list[list[Scalar]]


def torque_derivatives(d: Disturbed, q: Sequence[Scalar], qdd: Sequence[Scalar]) -> tuple[Matrix, Matrix, Matrix]:
    """dtau/dq, dtau/dqd and M = dtau/dqdd, as rows."""
    n, bodies, poses = d.tree.nv, d.tree.bodies, d.motion.poses
    matrices: list[Matrix] = [[[0.0] * n for _ in range(n)] for _ in range(3)]
    by_q, by_qd, M = matrices

    def read(row: Row, of: int, k: int, mirrored: bool) -> None:
        for c in d.columns[k]:
            by_q[of][c.k] += row.of(c.by_q)
            by_qd[of][c.k] += row.of(c.by_qd)
            x = row.of(c.by_qdd)
            M[of][c.k] += x
            if mirrored:
                M[c.k][of] += x

    def act(wrench: Wrench, k: int, matrix: Matrix, of: int) -> None:
        for at, x in bodies[k].project(wrench):
            matrix[at][of] += x

    for r in d.tree.rotors:
        gained, k = r.inertia * r.ratio, r.on
        M[r.v][r.v] += gained * r.ratio
        row = Row(ZERO3, r.axis * gained, cross(d.motion.omega[k], r.axis) * gained)
        sped = Wrench(moment=row.spin)
        while k:
            read(row, r.v, k, True)
            act(sped, k, by_qd, r.v)
            row, sped = row.seen_from(*d.step(k)), sped.seen_from(*poses[k])
            k = bodies[k].parent
    for matrix, x, place in ((by_q, q, "q"), (by_qd, d.qd, "v"), (M, qdd, "v")):
        _add_resistances(d.tree, matrix, (q, d.qd, qdd), x, place)

    # what the fields of all joints before it do to a joint, and its own fields to them
    for i, composite in d.composites():
        for c in d.columns[i]:
            row, k = composite.row(c.unit), i
            swung, sped = composite.force(c.by_q) + c.swing(d.wrench[i]), composite.force(c.by_qd)
            while True:
                read(row, c.k, k, k != i)
                swung, sped = swung.seen_from(*poses[k]), sped.seen_from(*poses[k])
                if not bodies[k].parent:
                    break
                row, k = row.seen_from(*d.step(k)), bodies[k].parent
                act(swung, k, by_q, c.k)
                act(sped, k, by_qd, c.k)
    return by_q, by_qd, M


def _add_resistances(tree: Tree, matrix: Matrix, state: tuple[Any, ...], of: Sequence[Scalar], place: str) -> None:
    """Derivatives of what a joint and its motor take themselves: friction, springs, rotor inertia, laws."""
    for body in tree.bodies[1:]:
        if not body.is_single:
            continue
        for x in (body, body.elastic) if body.elastic else (body,):
            jets = [Jet((value, 1.0)) if k == getattr(x, place) else value for k, value in enumerate(of)]
            given = [jets if s is of else s for s in state]
            matrix[body.v][x.v] += part(body.resistance(*given), 1)
            if body.elastic is not None:
                q, qd, qdd = given
                motor = body.motor_resistance(q, qd) + qdd[body.elastic.v] * body.elastic.armature
                matrix[body.elastic.v][x.v] += part(motor, 1)


Changes = list[list[Wrench]]  # of the wrench on each body in its frame, by each coordinate; the base has none


def wrench_derivatives(d: Disturbed) -> list[Changes]:
    """How the wrench through every joint changes with positions, velocities and accelerations."""
    n, bodies, poses = d.tree.nv, d.tree.bodies, d.motion.poses
    changes: list[Changes] = [[[Wrench()] * n for _ in bodies] for _ in range(3)]
    composite = dict(d.composites())
    children: list[list[int]] = [[] for _ in bodies]
    for i, body in enumerate(bodies[1:], start=1):
        children[body.parent].append(i)

    def inwards(wrench: Wrench, k: int, change: Changes, of: int) -> None:
        while k:
            change[k][of] += wrench
            wrench, k = wrench.seen_from(*poses[k]), bodies[k].parent

    def outwards(field: Field, i: int, change: Changes, of: int) -> None:
        change[i][of] += composite[i].force(field)
        for k in children[i]:
            outwards(field.carried(*d.step(k)), k, change, of)

    for i in range(1, len(bodies)):
        for c in d.columns[i]:
            for change, field, swing in zip(
                changes, (c.by_q, c.by_qd, c.by_qdd), (c.swing(d.wrench[i]), Wrench(), Wrench()), strict=True
            ):
                outwards(field, i, change, c.k)
                seen = composite[i].force(field) + swing
                inwards(seen.seen_from(*poses[i]), bodies[i].parent, change, c.k)
    for r in d.tree.rotors:
        gained = r.inertia * r.ratio
        inwards(Wrench(moment=cross(d.motion.omega[r.on], r.axis) * gained), r.on, changes[1], r.v)
        inwards(Wrench(moment=r.axis * gained), r.on, changes[2], r.v)
    return changes
