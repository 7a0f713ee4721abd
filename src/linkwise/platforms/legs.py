"""A platform on legs: a robot with loops whose platform leads."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from linkwise.errors import ModelError, UnknownNameError
from linkwise.platforms.home import nearest
from linkwise.robot import check
from linkwise.robot.joint import KINDS, Joint
from linkwise.robot.link import Frame, Link
from linkwise.robot.loop import Loop
from linkwise.robot.robot import GRAVITY, Robot
from linkwise.robot.tree import Tree
from linkwise.rotation import Turn, with_z_along
from linkwise.spatial import Pose
from linkwise.vector import ZERO3, Vec3

MOTIONS = {"floating": "spherical", "translation": "spherical", "planar": "revolute"}  # and what a leg is cut at
ACROSS = 1e-9  # by which an axis of a planar leg may be off its direction


@dataclass(frozen=True)
class Leg:
    """A chain from the ground to a point of a platform.

    Args:
        name: unique among the legs; its links and joints are named after it, as "leg1.slide".
        robot: the chain. Its gravity, loops and name are not used.
        tip: the frame or link whose origin is held at the platform.
        at: the point of the platform where it is held, in the platform's frame, m.
        actuated: joints with motors; a leg may have none.
        base: where the chain's root stands in the world.
        home: positions of joints by name near which the machine is assembled, which choose its branch. Left out, slides
            stand in the middle of their limits or at 1 m, other joints at zero.
    """

    name: str
    robot: Robot
    tip: str
    at: Vec3 = ZERO3
    actuated: tuple[str, ...] = ()
    base: Pose = Pose()
    home: tuple[tuple[str, Any], ...] = ()

    def __init__(
        self, name: str, robot: Robot, tip: str, at: Any = ZERO3, actuated: Any = (), base: Any = None, home: Any = ()
    ) -> None:
        set_ = object.__setattr__
        what = f"leg {check.name(name, 'leg name')!r}"
        if not isinstance(robot, Robot):
            raise ModelError(f"{what} robot: expected a Robot, got {robot!r}.")
        set_(self, "name", name)
        set_(self, "robot", robot)
        set_(self, "tip", tip)
        set_(self, "at", check.vector(at, f"{what} at"))
        set_(self, "base", check.pose(base, f"{what} base"))
        set_(self, "actuated", _names(actuated, f"{what} actuated"))
        set_(self, "home", tuple(_pairs(home, what)))
        self._check(what)

    def _check(self, what: str) -> None:
        joints = {j.name: j for j in self.robot.joints if j.nv}
        check.unique(self.actuated, f"{what} actuated joint")
        for group, found in (("actuated", self.actuated), ("home", [n for n, _ in self.home])):
            for n in found:
                if n not in joints:
                    raise ModelError(f"{what} {group}: {UnknownNameError('joint', n, joints)}")
        for n, x in self.home:
            given = tuple(x) if isinstance(x, Iterable) else (x,)
            check.numbers(given, f"{what} home of {n!r}", joints[n].freedom.nq)
        try:
            self.robot.frame(self.tip)
        except UnknownNameError as error:
            raise ModelError(f"{what} tip: {error}") from error

    @property
    def positions(self) -> dict[str, Any]:
        """`home`, with the slides that it does not name."""
        slides = {j.name: _middle(j) for j in self.robot.joints if j.nv and j.freedom.slides}
        return {**slides, **dict(self.home)}


def on_legs(
    platform: Link,
    legs: Iterable[Leg],
    motion: str = "floating",
    *,
    home: Any = None,
    gravity: Any = GRAVITY,
    name: str = "platform on legs",
) -> Robot:
    """A platform on legs: a robot whose platform leads, and whose legs follow.

    The platform moves by a joint of its own name; each leg is cut where it meets the platform, which makes a loop of
    the leg's name. Forces and torques are those of the actuated joints of the legs.

    Args:
        platform: its mass, centre of mass and inertia in its own frame.
        legs: each with its point of the platform.
        motion: how the platform moves: "floating" (position and quaternion x, y, z, w; velocities in its own axes),
            "translation" (x, y, z, never turned) or "planar" (x, y and the angle about z).
        home: position of the platform near which the machine is assembled; None is where its points are nearest to the
            tips of the legs at their homes.
        gravity: acceleration of free fall in world axes, m/s^2.
        name: of the robot.
    """
    if not isinstance(platform, Link):
        raise ModelError(f"platform: expected a Link, got {platform!r}.")
    if motion not in MOTIONS:
        raise ModelError(f"{UnknownNameError('motion of a platform', motion, MOTIONS)}")
    found = _legs(legs, motion)
    carrier = Joint(platform.name, "world", platform.name, motion)
    robot = Robot([Link("world"), platform], [carrier], gravity=gravity, name=name)
    reference: dict[str, Any] = {platform.name: home}
    loops, tips = [], []
    for leg in found:
        foot = f"{leg.name}.foot"
        robot = robot.add(Frame(foot, "world", leg.base)).attach(leg.robot.opened(), foot, f"{leg.name}.")
        tip = leg.robot.frame(leg.tip)
        active = tuple(f"{leg.name}.{n}" for n in leg.actuated)
        link = f"{leg.name}.{tip.link}"
        X_a, X_b = Pose(p=leg.at), Pose(p=tip.origin.p)
        if motion == "planar":
            X_b = _hinge(robot, link, X_b.p)
            X_a = Pose(p=Vec3(leg.at.x, leg.at.y, _level(robot, link, X_b)))
        loops.append(Loop(leg.name, platform.name, link, MOTIONS[motion], X_a, X_b, active))
        reference |= {f"{leg.name}.{n}": x for n, x in leg.positions.items()}
        tips.append(leg.base.point(_tip_at_home(leg)))
    if home is None:
        reference[platform.name] = nearest([leg.at for leg in found], tips, motion)
    return robot.replace(loops=loops, reference=reference)


def _legs(legs: Any, motion: str) -> tuple[Leg, ...]:
    try:
        found = tuple(legs)
    except TypeError as error:
        raise ModelError(f"legs: expected a list of Leg, got {legs!r}.") from error
    for k, leg in enumerate(found):
        if not isinstance(leg, Leg):
            raise ModelError(f"legs[{k}]: expected a Leg, got {leg!r}.")
    check.unique((leg.name for leg in found), "leg")
    needed, given = KINDS[motion].nv, sum(len(leg.actuated) for leg in found)
    if given < needed:
        raise ModelError(
            f"legs: expected at least {needed} actuated joints, because the platform's motion is {motion!r}, got"
            f" {given} on {len(found)} leg(s). Add legs, or name actuated joints."
        )
    if motion == "planar":
        for leg in found:
            _check_plane(leg)
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


def _middle(joint: Joint) -> float:
    """A position of a slide in the middle of its motion."""
    middle = 0.5 * (joint.limits.lower + joint.limits.upper)
    return middle if math.isfinite(middle) and middle else 1.0


def _check_plane(leg: Leg) -> None:
    """Refuse a leg of a planar machine whose tip would leave its plane."""
    tree = Tree.of(leg.robot.opened())
    poses = _poses(tree, leg.robot.opened().q().tolist())
    for b, X in zip(tree.bodies[1:], poses[1:], strict=True):
        z = abs((leg.base.R @ X.R.column(2)).z)
        if not (b.kind.turns or b.kind.slides) or abs(z - (1.0 if b.kind.turns else 0.0)) > ACROSS:
            wanted = "an axis across z" if b.kind.slides else "an axis along z"
            raise ModelError(f"leg {leg.name!r} joint {b.name!r}: expected {wanted}, because the machine is planar.")


def _tip_at_home(leg: Leg) -> Vec3:
    """Where a leg's tip is in the frame of its root, with its joints at home."""
    robot = leg.robot.opened()
    tree = Tree.of(robot)
    body, X = tree.place(leg.tip)
    return (_poses(tree, robot.q(leg.positions).tolist())[body] @ X).p


def _poses(tree: Tree, q: Sequence[float]) -> list[Pose]:
    """The bodies of a tree in the frame of its root."""
    found: list[Pose] = [Pose()]
    for b in tree.bodies[1:]:
        R, p = b.pose(q)
        found.append(found[b.parent] @ Pose(R.matrix() if isinstance(R, Turn) else R, p))
    return found


def _pose_at_zero(robot: Robot, link: str) -> Pose:
    """Where a link stands in the world with all joints at zero."""
    above = {j.child: j for j in robot.joints}
    X = Pose()
    while link in above:
        X, link = above[link].origin @ X, above[link].parent
    return X


def _hinge(robot: Robot, link: str, p: Vec3) -> Pose:
    """A frame at a point of a link whose z is that of the world, which a planar leg does not change."""
    z = _pose_at_zero(robot, link).R.T @ Vec3(0.0, 0.0, 1.0)
    return Pose(with_z_along(Vec3(*(round(x, 15) + 0.0 for x in z))), p)


def _level(robot: Robot, link: str, tip: Pose) -> float:
    """The height of a planar leg's tip."""
    return float((_pose_at_zero(robot, link) @ tip).p.z)
