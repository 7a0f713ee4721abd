"""A parallel robot: a platform on legs; frozen, validated data."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any

from linkwise.deprecated import warn
from linkwise.errors import ModelError, UnknownNameError
from linkwise.mechanism.leg import Solution, solution_of
from linkwise.parallel.mobility import MOBILITIES, Mobility
from linkwise.robot import check
from linkwise.robot.diagnose import Diagnostic
from linkwise.robot.joint import Joint
from linkwise.robot.link import Frame, Link
from linkwise.robot.robot import GRAVITY, Robot
from linkwise.robot.tree import Tree
from linkwise.spatial import Pose
from linkwise.vector import ZERO3, Vec3

ACROSS = 1e-9  # by which an axis of a planar leg may be off its direction


@dataclass(frozen=True)
class Leg:
    """A serial chain from the ground to a point of the platform.

    The joint at the platform belongs to no leg: it is spherical, or revolute about z in a planar machine, or (for a
    platform that only translates) the end of a parallelogram; it passes a force and no moment that does work.

    Args:
        name: unique among the legs.
        robot: the chain, three joints of one degree of freedom each, or two in a planar machine. Its gravity, loops
            and name are not used. One joint sets a distance, first or last; the axes of the others meet.
        tip: the frame or link of the last body whose origin is held at the platform.
        at: the point of the platform where it is held, in the platform's frame, m.
        actuated: joints with motors; a leg may have none.
        base: where the chain's root stands in the world.
        home: positions of joints in a configuration on the wanted branch of the leg's inverse kinematics, by name.
            Left out, revolute joints stand at zero, slides in the middle of their limits or at 1 m.
    """

    name: str
    robot: Robot
    tip: str
    at: Vec3 = ZERO3
    actuated: tuple[str, ...] = ()
    base: Pose = Pose()
    home: tuple[tuple[str, float], ...] = ()

    def __init__(
        self, name: str, robot: Robot, tip: str, at: Any = ZERO3, actuated: Any = (), base: Any = None, home: Any = ()
    ) -> None:
        set_ = object.__setattr__
        what = f"leg {check.name(name, 'leg name')!r}"
        if not isinstance(robot, Robot):
            raise ModelError(f"{what} robot: expected a Robot, got {robot!r}.")
        set_(self, "name", name)
        set_(self, "robot", robot.replace(name=name, gravity=GRAVITY, loops=(), notes=()))
        set_(self, "tip", tip)
        set_(self, "at", check.vector(at, f"{what} at"))
        set_(self, "base", check.pose(base, f"{what} base"))
        set_(self, "actuated", _names(actuated, f"{what} actuated"))
        set_(self, "home", tuple((n, check.number(x, f"{what} home of {n!r}")) for n, x in _pairs(home, what)))
        self._check(what)

    def _check(self, what: str) -> None:
        for j in self.robot.joints:
            if not j.is_fixed:
                _check_joint(j, f"{what} joint {j.name!r}")
        names = self.robot.names
        check.unique(self.actuated, f"{what} actuated joint")
        for group, found in (("actuated", self.actuated), ("home", [n for n, _ in self.home])):
            for n in found:
                if n not in names:
                    raise ModelError(f"{what} {group}: {UnknownNameError('joint', n, names)}")
        try:
            self.robot.frame(self.tip)
        except UnknownNameError as error:
            raise ModelError(f"{what} tip: {error}") from error
        body, bodies = self.tree.place(self.tip)[0], self.tree.bodies
        if any(b.parent != i for i, b in enumerate(bodies[1:])) or body != len(bodies) - 1:
            raise ModelError(f"{what}: expected a serial chain with its tip on the last link, got a tip on another.")

    @cached_property
    def placed(self) -> Robot:
        """The chain from the world's origin; its names begin with the leg's."""
        ground = Robot([Link("world")], frames=[Frame("base", "world", self.base)])
        return ground.attach(self.robot, at="base", prefix=f"{self.name}.")

    @cached_property
    def tree(self) -> Tree:
        """The bodies of the chain, in the world."""
        tree = Tree.of(self.placed)
        own = {k.removeprefix(f"{self.name}."): v for k, v in tree.places.items()}
        frames = {f"frame:{f.name}": tree.places[f"frame:{self.name}.{f.name}"] for f in self.robot.frames}
        return dataclasses.replace(tree, places={**own, **frames})

    @property
    def joints(self) -> tuple[Joint, ...]:
        """The joints that move, from the ground on."""
        return tuple(j for j in self.robot.joints if not j.is_fixed)

    @property
    def home_positions(self) -> tuple[float, ...]:
        """`home` for all joints."""
        given = dict(self.home)
        return tuple(given.get(j.name, _middle(j)) for j in self.joints)

    @cached_property
    def solution(self) -> Solution:
        """How its joints follow from the place of its tip."""
        _, X = self.tree.place(self.tip)
        return solution_of(self.tree, X.p, self.home_positions, f"leg {self.name!r}")


@dataclass(frozen=True)
class ParallelRobot:
    """A platform on legs.

    Args:
        platform: its mass, centre of mass and inertia in its own frame.
        legs: each with its point of the platform.
        mobility: how the platform moves, which says what a pose and a velocity are. "spatial": position and
            quaternion x, y, z, w (7), velocity of the origin and angular velocity (6), all in world axes;
            "translation": x, y, z, never turned; "planar": x, y and the angle about z.
        gravity: acceleration of free fall in world axes, m/s^2.
        name: of the robot.
    """

    platform: Link
    legs: tuple[Leg, ...]
    mobility: str = "spatial"
    gravity: Vec3 = GRAVITY
    name: str = "parallel robot"

    def __init__(
        self,
        platform: Link,
        legs: Iterable[Leg],
        mobility: str = "spatial",
        gravity: Any = GRAVITY,
        name: str = "parallel robot",
    ) -> None:
        set_ = object.__setattr__
        if not isinstance(platform, Link):
            raise ModelError(f"platform: expected a Link, got {platform!r}.")
        if mobility not in MOBILITIES:
            raise ModelError(f"{UnknownNameError('mobility', mobility, MOBILITIES)}")
        set_(self, "platform", platform)
        set_(self, "legs", _legs(legs))
        set_(self, "mobility", mobility)
        set_(self, "gravity", check.vector(gravity, "gravity"))
        set_(self, "name", check.name(name, "robot name"))
        self._check()

    def _check(self) -> None:
        motion = self.motion
        for leg in self.legs:
            what = f"leg {leg.name!r}"
            if len(leg.joints) != motion.leg_joints:
                raise ModelError(
                    f"{what}: expected {motion.leg_joints} joints that move, because the mobility is"
                    f" {self.mobility!r}, got {len(leg.joints)}. The joint at the platform is not one of them."
                )
            if motion.plane:
                _check_plane(leg, what)
            _ = leg.solution
        if self.na < motion.nv:
            raise ModelError(
                f"legs: expected at least {motion.nv} actuated joints, because the mobility is {self.mobility!r}, got"
                f" {self.na} on {len(self.legs)} leg(s). Add legs, or name actuated joints."
            )

    @property
    def motion(self) -> Mobility:
        """What the mobility means."""
        return MOBILITIES[self.mobility]

    @property
    def nq(self) -> int:
        """Numbers of a pose."""
        return self.motion.nq

    @property
    def nv(self) -> int:
        """Numbers of a velocity or acceleration of the platform: its degrees of freedom."""
        return self.motion.nv

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The actuated joints, such as "leg1.slide", in the order of actuator positions and forces."""
        return tuple(f"{leg.name}.{n}" for leg in self.legs for n in leg.robot.names if n in leg.actuated)

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """All joints of the legs, in the order of leg coordinates."""
        return tuple(f"{leg.name}.{n}" for leg in self.legs for n in leg.robot.names)

    @property
    def joints(self) -> tuple[Joint, ...]:
        """The joints of `joint_names`."""
        return tuple(j for leg in self.legs for j in leg.joints)

    @property
    def na(self) -> int:
        """How many joints are actuated."""
        return len(self.names)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What looks wrong or doubtful in its legs."""
        every = ((leg.name, d) for leg in self.legs for d in leg.robot.diagnostics)
        return tuple(d._replace(where=f"leg {name!r} {d.where}") for name, d in every)

    def replace(self, **fields: Any) -> ParallelRobot:
        """This robot with other fields: `robot.replace(gravity=(0, 0, 0))`."""
        known = [f.name for f in dataclasses.fields(self)]
        for key in fields:
            if key not in known:
                raise UnknownNameError("field of a parallel robot", key, known)
        return dataclasses.replace(self, **fields)

    def with_payload(self, mass: Any, com: Any = ZERO3, inertia: Any = (0.0, 0.0, 0.0)) -> ParallelRobot:
        """This robot with a further body fixed to its platform, in whose frame it is given."""
        total = self.platform.spatial_inertia + Link("payload", mass, com, inertia).spatial_inertia
        centre = total.mc * (1.0 / total.m) if total.m else ZERO3
        I_c = total.seen_from(Pose().R, -centre).I_o
        return self.replace(platform=Link(self.platform.name, total.m, centre, I_c))

    def without_friction(self) -> ParallelRobot:
        """The ideal robot: no friction and no damping in joints, springs or drives of its legs."""
        return self.replace(legs=[dataclasses.replace(leg, robot=leg.robot.without_friction()) for leg in self.legs])

    def save(self, path: str | PathLike[str]) -> None:
        """Write a .toml file, by a name that goes with the next release."""
        from linkwise.parallel.files import save

        warn("ParallelRobot.save", "lw.save")
        save(self, path)

    @staticmethod
    def load(source: Any) -> ParallelRobot:
        """The parallel robot of a .toml file, its text, or a name, by a name that goes with the next release."""
        from linkwise.parallel.files import load

        warn("ParallelRobot.load", "lw.load")
        return load(source)

    def __repr__(self) -> str:
        return f"<ParallelRobot {self.name!r}: {self.mobility}, {len(self.legs)} legs, {self.na} actuated joints>"


def _legs(legs: Any) -> tuple[Leg, ...]:
    try:
        found = tuple(legs)
    except TypeError as error:
        raise ModelError(f"legs: expected a list of Leg, got {legs!r}.") from error
    for k, leg in enumerate(found):
        if not isinstance(leg, Leg):
            raise ModelError(f"legs[{k}]: expected a Leg, got {leg!r}.")
    check.unique((leg.name for leg in found), "leg")
    return found


def _names(value: Any, what: str) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    try:
        return tuple(value)
    except TypeError as error:
        raise ModelError(f"{what}: expected names of joints, got {value!r}.") from error


def _pairs(home: Any, what: str) -> list[tuple[str, Any]]:
    try:
        return [(n, x) for n, x in (home.items() if isinstance(home, Mapping) else home)]
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"{what} home: expected positions by joint, such as {{'elbow': 1.0}}, got {home!r}."
        ) from error


def _check_joint(j: Joint, what: str) -> None:
    """Refuse what a leg's joint cannot be."""
    if not (j.freedom.turns or j.freedom.slides):
        raise ModelError(f"{what}: expected a revolute or prismatic joint, got a {j.kind} one.")
    if j.mimic:
        raise ModelError(f"{what}: expected a joint that moves by itself, got one that mimics {j.mimic.joint!r}.")
    if j.drive is not None and j.drive.is_elastic:
        raise ModelError(f"{what}: expected a rigid drive, got an elastic one. Use robot.rigid().")
    if j.spring is not None and not j.freedom.slides:
        raise ModelError(
            f"{what}: expected no spring, got one. Springs of legs are on slides: other joints are known by cosine and"
            " sine only."
        )


def _check_plane(leg: Leg, what: str) -> None:
    """Refuse a leg whose tip would leave its plane."""
    R = Pose().R
    for b in leg.tree.bodies[1:]:
        R = R @ b.placement.R
        z = abs(R.column(2).z)
        if abs(z - (1.0 if b.kind.turns else 0.0)) > ACROSS:
            wanted = "along" if b.kind.turns else "across"
            raise ModelError(f"{what} joint {b.name!r}: expected an axis {wanted} z, because the machine is planar.")


def _middle(joint: Joint) -> float:
    """A position of a joint in the middle of its motion."""
    if not joint.freedom.slides:
        return 0.0
    middle = 0.5 * (joint.limits.lower + joint.limits.upper)
    return middle if math.isfinite(middle) and middle else 1.0
