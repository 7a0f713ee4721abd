"""A moving body of the tree, and the joint that carries it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from linkwise.robot.drive import Friction, Spring
from linkwise.robot.joint.kind import Kind
from linkwise.robot.motors import Elastic
from linkwise.scalar import Scalar, is_number, number
from linkwise.spatial import Inertia, Motion, Pose, Wrench
from linkwise.vector import Vec3


@dataclass(frozen=True, slots=True)
class Body:
    """A moving group of links and the joint that carries it.

    `kind` is how the joint moves; `placement` is the pose of this body's frame in the
    parent's at q = 0; `q`, `v` are the first places of its coordinates, or of the joint it mimics by `ratio`, `offset`.
    `twist` is a constant added to the angle, from aligning frames. `of_link` is this body's frame in the moving link's.
    `law` gives the force that something else, such as a stop, exerts on the joint at its position and speed. A body is
    `light` where it has next to no inertia of its own along its joint, so that what it carries must give it some.
    A `part` is one of several bodies in a row that make a joint together; but for the last of them it has no `link`.
    Where the drive is `elastic`, armature, gear and friction of the motor are found there, not here.
    """

    name: str
    link: str
    parent: int
    kind: Kind
    placement: Pose
    of_link: Pose = Pose()
    anchor: Vec3 = Vec3(0.0, 0.0, 0.0)
    inertia: Inertia = Inertia()
    q: int = 0
    v: int = 0
    ratio: Scalar = 1.0
    offset: Scalar = 0.0
    twist: float = 0.0
    armature: Scalar = 0.0
    friction: Friction = Friction()
    spring: Spring | None = None
    gear: Scalar = 1.0
    motor_friction: Friction = Friction()
    elastic: Elastic | None = None
    law: Callable[[Scalar, Scalar], Scalar] | None = None
    light: bool = False
    part: bool = False

    @property
    def is_single(self) -> bool:
        """One degree of freedom, about or along z."""
        return self.kind.is_single

    @property
    def own_inertia(self) -> Scalar:
        """What a rotor that turns with the joint adds to the inertia at its coordinate."""
        return self.armature * (self.ratio * self.ratio) if self.is_single else 0.0

    @property
    def centre(self) -> Vec3:
        """The mass centre in this body's frame, or the link's origin where there is no mass."""
        m = self.inertia.m
        return self.of_link.inverse().p if is_number(m) and m == 0.0 else self.inertia.mc * (1.0 / m)

    def position(self, q: Sequence[Scalar]) -> Scalar:
        """This joint's own position, mimicry honoured."""
        return q[self.q] * self.ratio + self.offset

    def pose(self, q: Sequence[Scalar]) -> tuple[Any, Vec3]:
        """R and p of this body's frame in the parent's."""
        if self.kind.is_single:
            return self.kind.moved(self.placement, (self.position(q) + self.twist,))
        return self.kind.moved(self.placement, q[self.q : self.q + self.kind.nq])

    @property
    def axes(self) -> tuple[tuple[int, Motion], ...]:
        """The joint's unit motions in this body's frame, each with its place in `qd`."""
        if self.kind.is_single:
            return ((self.v, self.kind.rate((self.ratio,))),)
        return tuple((self.v + k, unit) for k, unit in enumerate(self.kind.units))

    def rate(self, qd: Sequence[Scalar]) -> Motion:
        """The joint's own part of this body's velocity; with `qdd`, of the rate of its components."""
        if self.kind.is_single:
            return self.kind.rate((qd[self.v] * self.ratio,))
        return self.kind.rate(qd[self.v : self.v + self.kind.nv])

    def project(self, wrench: Wrench) -> list[tuple[int, Scalar]]:
        """The generalised forces of a wrench, each with its place in `tau`."""
        return [(k, wrench.power(unit)) for k, unit in self.axes]

    def resistance(self, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> Scalar:
        """Torque taken by rotor inertia, friction, springs and laws of the joint itself, at its coordinate in `tau`.

        What an elastic drive gives to the joint is taken off.
        """
        if not self.is_single:
            return 0.0
        v = qd[self.v] * self.ratio
        torque = qdd[self.v] * self.ratio * self.armature + self.friction.torque(v)
        torque = torque + self.motor_friction.torque(v * self.gear) * self.gear
        if self.spring is not None:
            torque = torque + self.spring.torque(number(self.position(q)), v)
        if self.law is not None:
            torque = torque - self.law(number(self.position(q)), v)
        if self.elastic is not None:
            torque = torque - self.elastic.torque(number(self.position(q)), v, q, qd)
        return torque * self.ratio

    def motor_resistance(self, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Scalar:
        """Torque that the motor of an elastic drive needs against its friction and the spring, at its coordinate."""
        if self.elastic is None:
            return 0.0
        own = number(self.position(q))
        return self.elastic.torque(own, qd[self.v] * self.ratio, q, qd) + self.elastic.resistance(qd)

    def without_forces(self) -> Body:
        """The same body without friction and springs, so that inertia alone is left."""
        elastic = self.elastic and replace(self.elastic, stiffness=0.0, damping=0.0, friction=Friction())
        return replace(self, spring=None, friction=Friction(), motor_friction=Friction(), elastic=elastic)

    def unsprung(self) -> Body:
        """The same body with nothing between its motor and its joint."""
        return replace(self, elastic=self.elastic and replace(self.elastic, stiffness=0.0, damping=0.0))
