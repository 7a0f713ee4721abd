"""Slender elastic links: a beam as a chain of rigid segments with springs between them."""

from __future__ import annotations

from typing import Any

from linkwise.errors import ModelError
from linkwise.robot import check
from linkwise.robot.drive import Spring
from linkwise.robot.joint import Joint
from linkwise.robot.link import Frame, Link
from linkwise.robot.robot import GRAVITY, Robot
from linkwise.spatial import Pose
from linkwise.vector import EZ, Vec3

EX, EY = Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0)
MOST = 1000


def beam(
    length: float,
    mass: float,
    *,
    bending: Any,
    torsion: float | None = None,
    radius: float = 0.0,
    segments: Any = 10,
    damping: float = 0.0,
    gravity: Any = GRAVITY,
    name: str = "beam",
) -> Robot:
    """A uniform straight beam along x, clamped at its root link, with a frame "tip" at its end.

    The beam is cut into cells of length h = length / segments. Each bends in its middle, by a spring of stiffness
    bending / h, so that rigid pieces of length h, half as long at both ends, hang on each other; lowest frequencies are
    those of Euler and Bernoulli's beam but for a term of second order in h. Weld it to another robot with
    `robot.attach(beam(...), at="wrist", prefix="beam_")`.

    Args:
        length: m.
        mass: kg, spread evenly.
        bending: flexural rigidity E I, N m^2: one number for a beam that bends about y and about z alike, or two for
            each; 0 where it does not bend.
        torsion: torsional rigidity G J, N m^2; None for a beam that does not twist. Needs a `radius`.
        radius: radius of gyration of the section about x, m; 0 for a rod without thickness.
        segments: how many cells.
        damping: time constant of the material, s: each spring has the damper damping * stiffness.
        gravity: acceleration of free fall, m/s^2.
        name: of the robot.

    Returns:
        A robot with joints "bend_y1", "bend_z1", "twist1", "bend_y2", ..., as far as there are any.
    """
    length, mass = check.number(length, "beam length", above=0.0), check.number(mass, "beam mass", above=0.0)
    radius, damping = (check.number(x, f"beam {w}", least=0.0) for x, w in ((radius, "radius"), (damping, "damping")))
    if not isinstance(segments, int) or isinstance(segments, bool) or not 1 <= segments <= MOST:
        raise ModelError(f"beam segments: expected a whole number from 1 to {MOST}, got {segments!r}.")
    about = _rigidities(bending, torsion, radius)
    h = length / segments
    springs = {way: Spring(rigidity / h, damping * rigidity / h) for way, (rigidity, _) in about.items()}

    links, joints = [_piece("root", 0.5 * h, mass * 0.5 / segments, radius)], []
    for k in range(1, segments + 1):
        at, last = Vec3(h if k > 1 else 0.5 * h, 0.0, 0.0), k == segments
        for i, (way, (_, axis)) in enumerate(about.items(), start=1):
            if i < len(about):  # nothing but a hinge between two ways to give way at one place
                links.append(Link(f"hinge{k}{'abc'[i - 1]}"))
            else:
                share = 0.5 if last else 1.0
                links.append(_piece(f"piece{k}", share * h, share * mass / segments, radius))
            origin = Pose(p=at) if i == 1 else Pose()
            ends = links[-2].name, links[-1].name
            joints.append(Joint(f"{way}{k}", *ends, "revolute", origin, axis, spring=springs[way]))
    tip = Frame("tip", links[-1].name, Pose(p=Vec3(0.5 * h, 0.0, 0.0)))
    return Robot(links, joints, [tip], gravity=gravity, name=name)


def _rigidities(bending: Any, torsion: float | None, radius: float) -> dict[str, tuple[float, Vec3]]:
    """The ways in which the beam gives way, each with its rigidity and axis."""
    pair = (bending, bending) if isinstance(bending, (int, float)) else check.numbers(bending, "beam bending", 2)
    found = {}
    for way, rigidity, axis in zip(("bend_y", "bend_z"), pair, (EY, EZ), strict=True):
        value = check.number(rigidity, "beam bending", least=0.0)
        if value:
            found[way] = (value, axis)
    if torsion is not None:
        found["twist"] = (check.number(torsion, "beam torsion", above=0.0), EX)
        if radius == 0.0:
            raise ModelError("beam torsion: expected a radius of gyration above 0, without which nothing resists"
                             " twisting. Give radius=..., or leave torsion out.")  # fmt: skip
    if not found:
        raise ModelError("beam: expected a rigidity above 0 in some way, got none. Use a Link for a rigid rod.")
    return found


def _piece(name: str, length: float, mass: float, radius: float) -> Link:
    """A rod along x from its frame's origin, without thickness but for its radius of gyration."""
    along, across = mass * radius**2, mass * (length**2 / 12.0 + radius**2 / 2.0)
    return Link(name, mass, Vec3(0.5 * length, 0.0, 0.0), (along, across, across))
