"""The skeleton of a person as a robot of 55 degrees of freedom, six of them of the pelvis in the world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from linkwise.robot.drive import Limits
from linkwise.robot.joint import Joint
from linkwise.robot.link import Frame, Link
from linkwise.robot.robot import Robot
from linkwise.spatial import Pose
from linkwise.vector import Vec3
from linkwise.walking.anthropometry import MEN, Segment
from linkwise.walking.joints import ARM, DEGREE, GLOBAL, LEG, NECK, REFERENCE, SPINE, Kind, mirror_axis

# choices of this project, in metres of a man of 1.741 m, where the tables say nothing
ANKLE_HEIGHT, HALF_HIP_WIDTH = 0.075, 0.085
HEEL, BALL, TIP, HALF_FOOT_WIDTH, HALF_HEEL_WIDTH = -0.05, 0.13, 0.20, 0.04, 0.03
PELVIS_TOP, NECK_HEIGHT, HEAD_HEIGHT, VERTEX = 0.07, 0.19, 0.08, 0.20
SPINE_STEPS = (PELVIS_TOP, 0.0757, 0.104, 0.112)  # of the four spinal joints above the one before
DEPTH, HIP_BREADTH, WAIST_BREADTH, CHEST_BREADTH, NECK_BREADTH = 0.2, 0.32, 0.3, 0.34, 0.1
CLAVICLE = (0.14, 0.02, 0.165)  # height above the last spinal joint, offset to the side, length to the shoulder
# shares of the lower trunk that the pelvis has, of the head that the neck has, of the foot that the toes have
PELVIS_SHARE, NECK_SHARE, TOE_SHARE = 0.08 / 0.1117, 0.01 / 0.0694, 0.0027 / 0.0137
GRAVITY = (0.0, -9.81, 0.0)

Numbers = tuple[float, float, float]


def skeleton(segments: Mapping[str, Segment], mass: float, height: float, name: str = "walker") -> Robot:
    """The robot of a body: links with the names of segments, joints of `joints`, and frames at points of the body.

    Frames are vertex, and with _r or _l shoulder, elbow, wrist, hand, hip, knee, ankle, heel, heelm, ball, ballm, ballt
    and tip: m is a point to the inside, t one to the outside of the foot.

    Args:
        segments: of the person, by name.
        mass: of the body, for strengths.
        height: for what the tables do not have, and for strengths.
        name: of the robot.
    """
    return _Builder(segments, height / MEN.height, mass * height / (REFERENCE[0] * REFERENCE[1])).robot(name)


class _Builder:
    """Links, joints and frames as they grow."""

    def __init__(self, segments: Mapping[str, Segment], scale: float, strength: float) -> None:
        self.segments, self.scale, self.strength = segments, scale, strength
        self.links, self.joints, self.frames = [Link("world")], [], []  # type: ignore[var-annotated]

    def robot(self, name: str) -> Robot:
        k = self.scale
        leg = max(self.segments[f"thigh_{s}"].length + self.segments[f"shank_{s}"].length for s in "rl")
        mass = self.segments["lower_trunk"].mass * PELVIS_SHARE
        sizes = (DEPTH * k, 0.16 * k, HIP_BREADTH * k)
        pelvis = Link("pelvis", mass, (0.0, 0.03 * k, 0.0), box(mass, *sizes))
        self.chain("world", GLOBAL, (0.0, leg + ANKLE_HEIGHT * k, 0.0), pelvis)
        top = self.spine()
        self.neck(top)
        for side, s in (("r", 1.0), ("l", -1.0)):
            self.arm(top, side, s)
        for side, s in (("r", 1.0), ("l", -1.0)):
            self.leg(side, s)
        return Robot(self.links, self.joints, self.frames, gravity=GRAVITY, name=name)

    def spine(self) -> str:
        k, parent = self.scale, "pelvis"
        lower, middle, upper = (self.segments[n] for n in ("lower_trunk", "middle_trunk", "upper_trunk"))
        grown = [self.stretch(n) for n in ("lower_trunk", "middle_trunk", "upper_trunk")]
        steps = [x * grown[g] for x, g in zip(SPINE_STEPS, (0, 0, 1, 1), strict=True)]
        half = 0.5 * middle.mass
        parts = (
            ("abdomen", lower.mass * (1.0 - PELVIS_SHARE), 0.076 * grown[0], WAIST_BREADTH),
            ("waist", half, 0.104 * grown[1], WAIST_BREADTH),
            ("lower_chest", half, 0.112 * grown[1], WAIST_BREADTH),
            ("chest", upper.mass, 0.17 * grown[2], CHEST_BREADTH),
        )
        for at, (link, mass, tall, broad) in enumerate(parts):
            kinds = {n: kind for n, kind in SPINE.items() if n.startswith(f"sp{at + 1}_")}
            sizes = (DEPTH * k, tall, broad * k)
            child = Link(link, mass, (0.0, tall / 2, 0.0), box(mass, *sizes))
            parent = self.chain(parent, kinds, (0.0, steps[at], 0.0), child)
        return parent

    def neck(self, parent: str) -> None:
        k, s = self.scale, self.segments["head"]
        mass = s.mass * NECK_SHARE
        sizes = (NECK_BREADTH * k, HEAD_HEIGHT * k, NECK_BREADTH * k)
        neck = Link("neck", mass, (0.0, 0.04 * k, 0.0), box(mass, *sizes))
        parts = list(NECK.items())
        height = NECK_HEIGHT * self.stretch("upper_trunk")
        at = self.chain(parent, dict(parts[:3]), (0.0, height, 0.0), neck)
        mass = s.mass * (1.0 - NECK_SHARE)
        inertia = tuple(mass * (s.radii[a] * s.length) ** 2 for a in (0, 2, 1))
        head = Link("head", mass, (0.01 * k, 0.11 * self.stretch("head"), 0.0), inertia)
        at = self.chain(at, dict(parts[3:]), (0.0, HEAD_HEIGHT * k, 0.0), head)
        self.frames.append(Frame("vertex", at, Pose(p=Vec3(0.0, VERTEX * self.stretch("head"), 0.0))))

    def arm(self, chest: str, side: str, s: float) -> None:
        k, parts = self.scale, list(ARM.items())
        up, beside, out = CLAVICLE
        grown = self.stretch("upper_trunk")
        at = self.chain(chest, dict(parts[:2]), (0.0, up * grown, beside * s * k), Link(f"clavicle_{side}"), side)
        upper, lower, hand = (self.segments[f"{n}_{side}"] for n in ("upper_arm", "forearm", "hand"))
        links = [limb(f"{n}_{side}", self.segments[f"{n}_{side}"]) for n in ("upper_arm", "forearm", "hand")]
        at = self.chain(at, dict(parts[2:5]), (0.0, 0.0, out * s * k), links[0], side)
        self.frame("shoulder", at, side)
        at = self.chain(at, dict(parts[5:7]), (0.0, -upper.length, 0.0), links[1], side)
        self.frame("elbow", at, side)
        at = self.chain(at, dict(parts[7:]), (0.0, -lower.length, 0.0), links[2], side)
        self.frame("wrist", at, side)
        self.frame("hand", at, side, (0.0, -hand.length, 0.0))

    def leg(self, side: str, s: float) -> None:
        k, parts = self.scale, list(LEG.items())
        thigh, shank, foot = (self.segments[f"{n}_{side}"] for n in ("thigh", "shank", "foot"))
        grown, sole = self.stretch(f"foot_{side}"), -ANKLE_HEIGHT * k
        at = self.chain(
            "pelvis", dict(parts[:3]), (0.0, 0.0, HALF_HIP_WIDTH * s * k), limb(f"thigh_{side}", thigh), side
        )
        self.frame("hip", at, side)
        at = self.chain(at, dict(parts[3:4]), (0.0, -thigh.length, 0.0), limb(f"shank_{side}", shank), side)
        self.frame("knee", at, side)
        mass = foot.mass * (1.0 - TOE_SHARE)
        link = Link(f"foot_{side}", mass, (0.035 * grown, -0.045 * k, 0.0), gyration(mass, grown, (0.03, 0.07, 0.065)))
        at = self.chain(at, dict(parts[4:6]), (0.0, -shank.length, 0.0), link, side)
        inside = -s * grown
        self.frame("heel", at, side, (HEEL * grown, sole, 0.0))
        self.frame("heelm", at, side, (HEEL * grown, sole, HALF_HEEL_WIDTH * inside))
        self.frame("ball", at, side, (BALL * grown, sole, 0.0))
        self.frame("ballm", at, side, (BALL * grown, sole, HALF_FOOT_WIDTH * inside))
        self.frame("ballt", at, side, (BALL * grown, sole, -HALF_FOOT_WIDTH * inside))
        self.frame("ankle", at, side)
        mass = foot.mass * TOE_SHARE
        link = Link(f"toes_{side}", mass, (0.035 * grown, 0.015 * k, 0.0), gyration(mass, grown, (0.02, 0.03, 0.025)))
        at = self.chain(at, dict(parts[6:]), (BALL * grown, sole, 0.0), link, side)
        self.frame("tip", at, side, ((TIP - BALL) * grown, 0.0, 0.0))

    def stretch(self, name: str) -> float:
        """How much longer a segment is than that of the average man."""
        return self.segments[name].length / MEN.segments[name.removesuffix("_r").removesuffix("_l")].length

    def chain(self, parent: str, kinds: Mapping[str, Kind], at: Numbers, last: Link, side: str = "") -> str:
        """Joints one after the other at one point, the last of them carrying the link; returns its name."""
        place = Pose(p=Vec3(*at))
        for k, (stem, kind) in enumerate(kinds.items(), start=1):
            name = f"{stem}_{side}" if side else stem
            link = last if k == len(kinds) else Link(name)
            axis = mirror_axis(kind.axis) if side == "l" else kind.axis
            unit = 1.0 if kind.slides else DEGREE
            bounds: dict[str, Any] = {"lower": kind.lower * unit, "upper": kind.upper * unit}
            if kind.effort is not None:
                bounds["effort"] = kind.effort * self.strength
            how = "prismatic" if kind.slides else "revolute"
            self.links.append(link)
            self.joints.append(Joint(name, parent, link.name, how, place, Vec3(*axis), limits=Limits(**bounds)))
            parent, place = link.name, Pose()
        return parent

    def frame(self, name: str, link: str, side: str, at: Numbers = (0.0, 0.0, 0.0)) -> None:
        self.frames.append(Frame(f"{name}_{side}", link, Pose(p=Vec3(*at))))


def limb(name: str, s: Segment) -> Link:
    """The link of a segment that hangs down from its joint."""
    inertia = tuple(s.mass * (s.radii[a] * s.length) ** 2 for a in (0, 2, 1))
    return Link(name, s.mass, (0.0, -s.com * s.length, 0.0), inertia)


def box(mass: float, x: float, y: float, z: float) -> Numbers:
    """Moments of inertia of a box."""
    m = mass / 12.0
    return m * (y * y + z * z), m * (x * x + z * z), m * (x * x + y * y)


def gyration(mass: float, grown: float, radii: Sequence[float]) -> Numbers:
    """Moments of inertia of radii of gyration in metres."""
    x, y, z = (mass * (r * grown) ** 2 for r in radii)
    return x, y, z
