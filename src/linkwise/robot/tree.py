"""The tree of moving bodies that algorithms walk along: fixed joints lumped, every joint axis turned to z.

Body 0 is the base; body i hangs on `parent` < i. Each body has a frame of its own whose z axis is the joint's axis, so
that algorithms know three motions only. `Tree.of` keeps the origin of that frame at the joint; `aligned` and
`regrouped` (in their own files) shift and refill the bodies without changing the generalised forces.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from linkwise.errors import LinkwiseError, UnknownNameError
from linkwise.robot.drive import Friction, Spring
from linkwise.robot.joint import Joint
from linkwise.robot.robot import Robot
from linkwise.rotation import Turn, from_quaternion, with_z_along
from linkwise.scalar import Scalar, absolute, cos, is_number, sin
from linkwise.spatial import Inertia, Motion, Pose, Wrench
from linkwise.vector import EYE3, EZ, Mat3, Vec3, cross, dot


@dataclass(frozen=True, slots=True)
class Body:
    """A moving group of links and the joint that carries it.

    `kind` is "revolute", "prismatic", "floating" or "fixed"; `placement` is the pose of this body's frame in the
    parent's at q = 0; `q`, `v` are the first places of its coordinates, or of the joint it mimics by `ratio`, `offset`.
    `twist` is a constant added to the angle, from aligning frames. `of_link` is this body's frame in the moving link's.
    `law` gives the force that something else, such as a stop, exerts on the joint at its position and speed. A body is
    `light` where it has next to no inertia of its own along its joint, so that what it carries must give it some.
    """

    name: str
    link: str
    parent: int
    kind: str
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
    law: Callable[[Scalar, Scalar], Scalar] | None = None
    light: bool = False

    @property
    def is_single(self) -> bool:
        """One degree of freedom, about or along z."""
        return self.kind in ("revolute", "prismatic")

    @property
    def own_inertia(self) -> Scalar:
        """What a rotor that turns with the joint adds to the inertia at its coordinate."""
        return self.armature * (self.ratio * self.ratio) if self.is_single else 0.0

    def position(self, q: Sequence[Scalar]) -> Scalar:
        """This joint's own position, mimicry honoured."""
        return q[self.q] * self.ratio + self.offset

    def pose(self, q: Sequence[Scalar]) -> tuple[Any, Vec3]:
        """R and p of this body's frame in the parent's."""
        R, p = self.placement.R, self.placement.p
        if self.kind == "revolute":
            angle = self.position(q) + self.twist
            return Turn(R, cos(angle), sin(angle)), p
        if self.kind == "prismatic":
            return R, p + R.column(2) * self.position(q)
        if self.kind == "floating":
            x = q[self.q : self.q + 7]
            return R @ from_quaternion(*x[3:]), p + R @ Vec3(*x[:3])
        return R, p

    @property
    def axes(self) -> tuple[tuple[int, Motion], ...]:
        """The joint's unit motions in this body's frame, each with its place in `qd`."""
        if self.kind == "revolute":
            return ((self.v, Motion(angular=EZ * self.ratio)),)
        if self.kind == "prismatic":
            return ((self.v, Motion(linear=EZ * self.ratio)),)
        if self.kind == "floating":
            return tuple((self.v + k, unit) for k, unit in enumerate(_UNITS))
        return ()

    def rate(self, qd: Sequence[Scalar]) -> Motion:
        """The joint's own part of this body's velocity; with `qdd`, of the rate of its components."""
        if self.kind == "revolute":
            return Motion(angular=EZ * (qd[self.v] * self.ratio))
        if self.kind == "prismatic":
            return Motion(linear=EZ * (qd[self.v] * self.ratio))
        if self.kind == "floating":
            x = qd[self.v : self.v + 6]
            return Motion(Vec3(*x[:3]), Vec3(*x[3:]))
        return Motion()

    def project(self, wrench: Wrench) -> list[tuple[int, Scalar]]:
        """The generalised forces of a wrench, each with its place in `tau`."""
        return [(k, wrench.power(unit)) for k, unit in self.axes]

    def resistance(self, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> Scalar:
        """Torque taken by rotor inertia, friction, springs and laws of the joint itself, at its coordinate in `tau`."""
        if not self.is_single:
            return 0.0
        v = qd[self.v] * self.ratio
        torque = qdd[self.v] * self.ratio * self.armature + self.friction.torque(v)
        torque = torque + self.motor_friction.torque(v * self.gear) * self.gear
        if self.spring is not None:
            torque = torque + self.spring.torque(self.position(q), v)
        if self.law is not None:
            torque = torque - self.law(self.position(q), v)
        return torque * self.ratio


_UNITS = tuple(
    Motion(*(Vec3(*(1.0 if 3 * half + k == i else 0.0 for k in range(3))) for half in range(2))) for i in range(6)
)


@dataclass(frozen=True, slots=True)
class Rotor:
    """A motor's rotor that spins at `gear` times the rate of joint `drives`, on body `on`, about `axis` there."""

    drives: int
    on: int
    axis: Vec3
    inertia: Scalar
    gear: Scalar


@dataclass(frozen=True, slots=True)
class Tree:
    """The bodies of a robot, and where its links and frames are on them."""

    bodies: tuple[Body, ...]
    rotors: tuple[Rotor, ...]
    places: dict[str, tuple[int, Pose]]
    nq: int
    nv: int
    gravity: Vec3

    @classmethod
    def of(cls, robot: Robot, keep: Sequence[str] = ()) -> Tree:
        """The tree of a robot; fixed joints named in `keep` stay joints, so that the wrench through them can be had."""
        links = {k.name: k for k in robot.links}
        base = Body("", robot.root.name, 0, "fixed", Pose())
        bodies, inertias = [base], [robot.root.spatial_inertia]
        place: dict[str, tuple[int, Pose]] = {robot.root.name: (0, Pose())}
        joint_body: dict[str, int] = {}
        for joint in robot.joints:
            i, X_body_parent = place[joint.parent]
            X_body_child = X_body_parent @ joint.origin
            inertia = links[joint.child].spatial_inertia
            if joint.is_fixed and joint.name not in keep:
                place[joint.child] = (i, _snapped(X_body_child))
                X = place[joint.child][1]
                inertias[i] = inertias[i] + inertia.seen_from(X.R, X.p)
                continue
            of_link = Pose() if joint.kind in ("floating", "fixed") else Pose(with_z_along(joint.axis), joint.anchor)
            joint_body[joint.name] = len(bodies)
            bodies.append(_body(robot, joint, i, _snapped(X_body_child @ of_link), of_link))
            X = of_link.inverse()
            inertias.append(inertia.seen_from(X.R, X.p))
            place[joint.child] = (len(bodies) - 1, X)
        rotors = _mount_motors(robot, place, joint_body, inertias)
        for f in robot.frames:
            i, X = place[f.link]
            place.setdefault(f"frame:{f.name}", (i, X @ f.origin))
        full = tuple(replace(b, inertia=_snapped_inertia(I)) for b, I in zip(bodies, inertias, strict=True))
        return cls(_light_ones_marked(full), tuple(rotors), place, robot.nq, robot.nv, robot.gravity)

    def place(self, name: str) -> tuple[int, Pose]:
        """The body that carries a frame or link, and its pose there."""
        found = self.places.get(f"frame:{name}") or self.places.get(name)
        if found is None:
            raise UnknownNameError("frame or link", name, [k.removeprefix("frame:") for k in self.places])
        return found

    def ancestors(self, i: int) -> list[int]:
        """Body i and those it hangs on, up to but without the base."""
        chain = []
        while i:
            chain.append(i)
            i = self.bodies[i].parent
        return chain

    def parameters(self) -> list[Scalar]:
        """The numbers that torques are linear in, in the order of `Robot.parameters`."""
        inertial: list[Scalar] = []
        for b in self.bodies[1:]:
            inertial.extend(b.inertia.seen_from(b.of_link.R, b.of_link.p).parameters())
        spinning = {r.drives: r.inertia for r in self.rotors}
        for i, b in enumerate(self.bodies[1:], start=1):
            viscous = b.friction.viscous + b.motor_friction.viscous * b.gear * b.gear
            coulomb = b.friction.coulomb + b.motor_friction.coulomb * absolute(b.gear)
            inertial.extend((spinning.get(i, b.armature), viscous, coulomb))
        return inertial


def _body(robot: Robot, joint: Joint, parent: int, placement: Pose, of_link: Pose) -> Body:
    """The body of a joint, still without inertia."""
    kind = "revolute" if joint.kind == "continuous" else joint.kind
    leader = joint.mimic.joint if joint.mimic else joint.name
    slot = robot.slots.get(leader)
    drive = joint.drive
    if drive is not None and drive.is_elastic:
        raise LinkwiseError(
            f"joint {joint.name!r} has an elastic drive, which this algorithm does not know."
            " Use robot.rigid() for the robot with rigid drives."
        )
    return Body(
        name=joint.name, link=joint.child, parent=parent, kind=kind, placement=placement, of_link=of_link,
        anchor=joint.anchor, q=slot.q if slot else 0, v=slot.v if slot else 0,
        ratio=joint.mimic.ratio if joint.mimic else 1.0, offset=joint.mimic.offset if joint.mimic else 0.0,
        armature=joint.armature, friction=joint.friction, spring=joint.spring,
        gear=drive.gear if drive else 1.0, motor_friction=drive.friction if drive else Friction(),
    )  # fmt: skip


def _mount_motors(
    robot: Robot, place: dict[str, tuple[int, Pose]], joint_body: dict[str, int], inertias: list[Inertia]
) -> list[Rotor]:
    """Add each motor's mass and tensor to the body that carries it; return the spinning rotors."""
    rotors = []
    for joint in robot.joints:
        motor = joint.drive.motor if joint.drive else None
        if joint.drive is None or motor is None:
            continue
        i, X = place[motor.link if motor.link is not None else joint.parent]
        inertias[i] = inertias[i] + Inertia.of(motor.mass, motor.com, motor.inertia).seen_from(X.R, X.p)
        rotors.append(Rotor(joint_body[joint.name], i, X.R @ motor.axis, motor.rotor, joint.drive.gear))
    return rotors


# products of exact turns leave 1e-16 where 0 or 1 is meant; each would cost operations in every kernel
LIGHT = 1e-6
ROUND_OFF = 1e-14


def _snapped(X: Pose) -> Pose:
    if not all(is_number(x) for r in X.R for x in r):
        return X
    R = Mat3.of([[_snap(x) for x in r] for r in X.R])
    return Pose(R, Vec3(*(0.0 if is_number(x) and abs(x) < ROUND_OFF else x for x in X.p)))


def _snap(x: float) -> float:
    nearest = float(round(x))
    return nearest if abs(x - nearest) < ROUND_OFF else x


def _light_ones_marked(bodies: tuple[Body, ...]) -> tuple[Body, ...]:
    """The bodies, marked where their own inertia is below `LIGHT` of what they and all they carry have."""
    own = [(b.inertia.m, b.inertia.E.x.x + b.inertia.E.y.y + b.inertia.E.z.z, b.armature) for b in bodies]
    if not all(is_number(x) for row in own for x in row):
        return bodies
    mass, size = [m for m, _, _ in own], [moment for _, moment, _ in own]
    for i in range(len(bodies) - 1, 0, -1):
        mass[bodies[i].parent] += mass[i]
        size[bodies[i].parent] += size[i]
    return tuple(replace(b, light=_is_light(b, m, s)) for b, m, s in zip(bodies, mass, size, strict=True))


def _is_light(b: Body, mass: float, size: float) -> bool:
    if b.kind == "revolute":
        return bool(b.inertia.E.x.x + b.inertia.E.y.y + b.armature <= LIGHT * size)
    if b.kind == "prismatic":
        return bool(b.inertia.m + b.armature <= LIGHT * mass)
    if b.kind != "floating" or b.inertia.m <= LIGHT * mass:
        return b.kind == "floating"
    centre = b.inertia.mc * (1.0 / b.inertia.m)
    I = b.inertia.seen_from(EYE3, -centre).I_o
    return bool(dot(I.x, cross(I.y, I.z)) <= LIGHT * size * size * size)


def _snapped_inertia(I: Inertia) -> Inertia:
    """The same without what is round-off; second moments are measured by each other, since small ones may matter."""
    moments = [x for r in I.E for x in r]
    numbers = [I.m, *I.mc, *moments]
    if not all(is_number(x) for x in numbers):
        return I

    def snap(x: float, size: float) -> float:
        return 0.0 if abs(x) < ROUND_OFF * size else x

    all_, second = max(map(abs, numbers)), max(map(abs, moments))
    return Inertia(I.m, Vec3(*(snap(x, all_) for x in I.mc)), Mat3.of([[snap(x, second) for x in r] for r in I.E]))
