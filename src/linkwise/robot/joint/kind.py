"""What a kind of joint is: the contract that everything outside this package asks, instead of a kind's name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from linkwise.rotation import with_z_along
from linkwise.scalar import Scalar
from linkwise.spatial import Inertia, Motion, Pose
from linkwise.vector import Vec3

LIGHT = 1e-6  # of what a body and all it carries have: less than that is next to no inertia


class Kind(ABC):
    """How one link is free to move on another.

    A joint has `nq` numbers of position and `nv` of velocity, in which its unit motions are constant: seen from the
    moving body, in a frame of its own whose z is the joint's axis. A kind is written once for any scalar.

    Attributes:
        name: in robot files.
        parts: simple joints that it is made of, each with its axis in the joint's frame; none of a simple one.
        nq, nv: how many numbers a position and a velocity have.
        home: a position that moves nothing.
        lengths: for each number of a velocity, whether it is a length's (m/s) or an angle's (rad/s).
        units: the motion of the body for a unit of each number of a velocity.
        positions, velocities, forces: names of the numbers, for columns of files; of a single joint none is needed.
        quaternion: where one stands in a position, if there is one.
        has_axis: whether a direction and a point of it belong to the joint.
        endless: whether limits of position have no meaning.
        curved: whether positions are more than sums of velocities, as a quaternion is.
        in_urdf: whether URDF has it.
    """

    name: ClassVar[str]
    parts: ClassVar[tuple[tuple[Kind, Vec3], ...]] = ()
    nq: ClassVar[int] = 1
    nv: ClassVar[int] = 1
    home: ClassVar[tuple[float, ...]] = (0.0,)
    lengths: ClassVar[tuple[bool, ...]] = (False,)
    units: ClassVar[tuple[Motion, ...]]
    positions: ClassVar[tuple[str, ...]] = ("",)
    velocities: ClassVar[tuple[str, ...]] = ("",)
    forces: ClassVar[tuple[str, ...]] = ("",)
    quaternion: ClassVar[slice | None] = None
    has_axis: ClassVar[bool] = True
    endless: ClassVar[bool] = False
    curved: ClassVar[bool] = False
    in_urdf: ClassVar[bool] = True

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def is_single(self) -> bool:
        """One degree of freedom, which a drive may move."""
        return self.nv == 1

    @property
    def slides(self) -> bool:
        """Whether a single joint's position is a length."""
        return self.is_single and self.lengths[0]

    @property
    def turns(self) -> bool:
        """Whether a single joint turns about its axis and does nothing else."""
        return self.is_single and not self.lengths[0]

    def of(self, pitch: Scalar) -> Kind:
        """This kind for a joint with a pitch, which only screws have."""
        return self

    def along(self, course: Any) -> Kind:
        """This kind for a joint with a course, which only coupled ones have."""
        return self

    @property
    def follows(self) -> tuple[tuple[str, Kind, Vec3], ...]:
        """Single joints in a row that follow the joint's coordinate: a name, the kind, and the axis in its frame."""
        return ()

    def frame(self, axis: Vec3, anchor: Vec3) -> Pose:
        """The body's frame in the child link's."""
        return Pose(with_z_along(axis), anchor)

    @abstractmethod
    def moved(self, X: Pose, x: Sequence[Scalar]) -> tuple[Any, Vec3]:
        """R and p of the body's frame in the parent's at the position x, where it stands at X at home."""

    @abstractmethod
    def pose(self, axis: Vec3, anchor: Vec3, x: Sequence[Scalar]) -> Pose:
        """The child's frame at the position x, as seen from where it stands at home."""

    @abstractmethod
    def rate(self, v: Sequence[Scalar]) -> Motion:
        """The body's motion on its parent for a velocity, in the body's own axes."""

    def components(self, motion: Motion) -> list[Scalar]:
        """The numbers of a velocity of this motion: what `rate` does, undone."""
        return [sum((a * b for a, b in zip(motion, unit, strict=True) if b), 0.0) for unit in self.units]

    # ---- steps along and between positions; sums, but for curved kinds

    def integrate(self, x: Sequence[Scalar], v: Sequence[Scalar], time: Scalar) -> list[Scalar]:
        """The position after moving from x with the constant velocity v for some time."""
        return [a + b * time for a, b in zip(x, v, strict=True)]

    def difference(self, x0: Sequence[Scalar], x1: Sequence[Scalar]) -> list[Scalar]:
        """The constant velocity that leads from x0 to x1 in unit time."""
        return [b - a for a, b in zip(x0, x1, strict=True)]

    def q_dot(self, x: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        """The rates of the numbers in x."""
        return list(v)

    def tangent(self, x: Sequence[Scalar], x_dot: Sequence[Scalar]) -> list[Scalar]:
        """The velocity at which the numbers in x change at these rates."""
        return list(x_dot)

    def normalised(self, x: Sequence[Scalar]) -> list[Scalar]:
        """The same position with a quaternion of length one, if there is one."""
        return list(x)

    # ---- inertia

    def movable(self, I: Inertia) -> Inertia:
        """The part of a body's inertia that acts like a part of its parent, whatever the position."""
        return Inertia()

    def is_light(self, I: Inertia, armature: Scalar, loose: Scalar, mass: Scalar, size: Scalar) -> bool:
        """Whether a body has next to no inertia of its own along its joint.

        Args:
            I: its inertia.
            armature: of a rotor that turns with the joint.
            loose: inertia of rotors that turn freely on it.
            mass: its own and all that it carries.
            size: the same of second moments.
        """
        return False
