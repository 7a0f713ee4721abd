"""Joints: how one link moves on another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from linkwise.errors import LinkwiseError, ModelError
from linkwise.robot import check
from linkwise.robot.drive import Drive, Friction, Limits, Spring
from linkwise.robot.joint.compound import Planar, Universal
from linkwise.robot.joint.coupled import Coupled
from linkwise.robot.joint.curve import Course, Curve
from linkwise.robot.joint.fixed import Fixed
from linkwise.robot.joint.floating import Floating
from linkwise.robot.joint.kind import Kind
from linkwise.robot.joint.prismatic import Prismatic
from linkwise.robot.joint.revolute import Continuous, Revolute
from linkwise.robot.joint.screw import Screw
from linkwise.robot.joint.spherical import Spherical
from linkwise.robot.joint.translation import Translation
from linkwise.spatial import Pose
from linkwise.vector import EZ, ZERO3, Vec3

_ALL = (
    Revolute(), Continuous(), Prismatic(), Fixed(), Floating(), Spherical(), Translation(), Planar(), Universal(),
    Screw(), Coupled(),
)  # fmt: skip
KINDS: dict[str, Kind] = {kind.name: kind for kind in _ALL}


@dataclass(frozen=True)
class Mimic:
    """This joint follows another: q = ratio * q[joint] + offset; with a curve, ratio * curve(q[joint]) + offset.

    Args:
        joint: which moves by itself.
        ratio: between the two, or of the curve.
        offset: added.
        curve: a function of the other joint's position where the two are not in proportion.
    """

    joint: str
    ratio: float = 1.0
    offset: float = 0.0
    curve: Curve | None = None

    def __post_init__(self) -> None:
        check.name(self.joint, "mimic joint")
        object.__setattr__(self, "ratio", check.number(self.ratio, "mimic ratio"))
        object.__setattr__(self, "offset", check.number(self.offset, "mimic offset"))
        if self.curve is not None and not isinstance(self.curve, Curve):
            raise ModelError(f"mimic curve: expected a Curve, got {self.curve!r}.")


@dataclass(frozen=True)
class Joint:
    """How the link `child` moves on the link `parent`.

    Args:
        name: unique among the robot's joints.
        parent, child: names of links.
        kind: "revolute", "continuous" (revolute without position limits), "prismatic", "fixed", "floating" (q is x, y,
            z and a quaternion x, y, z, w; qd linear and angular velocity in the child's axes), "spherical" (q is a
            quaternion that turns about the anchor, qd angular velocity), "translation" (x, y, z, never turned),
            "planar" (x, y and the angle about `axis`, the plane's normal), "universal" (angles about `axis`, then
            about an axis across it), "screw" (the angle about `axis`, along which it slides by `pitch`) or "coupled"
            (one coordinate, of which the pose is a function, the `course`).
        origin: pose of the child's frame in the parent's at q = 0.
        axis: direction of a revolute or prismatic joint, in the child's axes.
        anchor: a point of that axis, in the child's frame; joint wrenches refer to it.
        friction: on the joint's side.
        armature: rotor inertia felt at the joint, kg m^2 or kg; adds armature * qdd to the torque (Khalil, Nasser).
        spring: passive spring and damper along the joint.
        drive: motor, gear, series elasticity.
        limits: bounds of the motion.
        mimic: follow another joint.
        pitch: by which a screw slides along its axis, m/rad.
        course: of a coupled joint: slides and turns as functions of its coordinate.
    """

    name: str
    parent: str
    child: str
    kind: str = "revolute"
    origin: Pose = Pose()
    axis: Vec3 = EZ
    anchor: Vec3 = ZERO3
    friction: Friction = Friction()
    armature: float = 0.0
    spring: Spring | None = None
    drive: Drive | None = None
    limits: Limits = Limits()
    mimic: Mimic | None = None
    pitch: float = 0.0
    course: Course | None = None

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        what = f"joint {check.name(self.name, 'joint name')!r}"
        check.name(self.parent, f"{what} parent")
        check.name(self.child, f"{what} child")
        if self.kind not in KINDS:
            raise ModelError(f"{what} kind: expected one of {tuple(KINDS)}, got {self.kind!r}.")
        set_(self, "origin", check.pose(self.origin, f"{what} origin"))
        set_(self, "axis", check.axis(self.axis, f"{what} axis"))
        set_(self, "anchor", check.vector(self.anchor, f"{what} anchor"))
        set_(self, "armature", check.number(self.armature, f"{what} armature", least=0.0))
        set_(self, "pitch", check.number(self.pitch, f"{what} pitch"))
        if self.pitch and self.freedom.of(0.0) is self.freedom:
            raise ModelError(f"{what} pitch: expected a screw, got a {self.kind} joint. Leave it out.")
        if (self.course is not None) != bool(KINDS[self.kind].follows):
            raise ModelError(
                f"{what} course: expected one for a coupled joint and for no other, got a {self.kind} one."
            )
        if self.parent == self.child:
            raise ModelError(f"{what}: expected two links, got {self.parent!r} as parent and child.")
        if self.armature and self.drive is not None and self.drive.motor is not None:
            raise ModelError(f"{what}: has an armature and a motor, which would count the rotor twice. Keep one.")
        if not self.freedom.is_single or self.freedom.follows:
            alone = ("drive", "mimic") if self.freedom.follows else ("spring", "drive", "mimic")
            extra = [f for f in alone if getattr(self, f) is not None]
            extra += ["friction"] if self.friction != Friction() else []
            if extra or self.armature:
                raise ModelError(f"{what}: a {self.kind} joint cannot have {', '.join(extra) or 'an armature'}.")

    @property
    def freedom(self) -> Kind:
        """How the child is free to move on the parent."""
        return KINDS[self.kind].of(self.pitch).along(self.course)

    @property
    def is_fixed(self) -> bool:
        return self.freedom.nv == 0

    @property
    def is_elastic(self) -> bool:
        """Whether a spring joins the motor to the joint, so that the motor has a coordinate of its own."""
        return self.drive is not None and self.drive.is_elastic

    @property
    def motor_name(self) -> str:
        """The name of the motor's coordinate, where the drive is elastic."""
        return f"{self.name}.motor"

    @property
    def motor_link(self) -> str:
        """The link that carries the motor: the one that the motor names, else the parent."""
        motor = self.drive.motor if self.drive else None
        return self.parent if motor is None or motor.link is None else motor.link

    @property
    def driven_coordinate(self) -> str:
        """The name of the coordinate on which the drive acts: the motor's where the drive is elastic."""
        return self.motor_name if self.is_elastic else self.name

    @property
    def nq(self) -> int:
        """How many numbers of `q` belong to the joint without its motor; none for fixed joints and those that mimic."""
        return 0 if self.mimic else self.freedom.nq

    @property
    def nv(self) -> int:
        """How many numbers of `qd` belong to this joint."""
        return 0 if self.mimic else self.freedom.nv

    def pose(self, value: Sequence[float]) -> Pose:
        """The child's frame in the parent's when the joint stands at `value`: its `nq` numbers."""
        try:
            return self.origin @ self.freedom.pose(self.axis, self.anchor, value)
        except LinkwiseError as error:
            raise LinkwiseError(f"joint {self.name!r}: {error}") from error
