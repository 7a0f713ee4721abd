"""What looks wrong about a robot without stopping it from being computed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from linkwise.robot.joint import Joint
    from linkwise.robot.robot import Robot


LONG = 30.0  # m, longer than any link
TURNED = (8.0 * math.pi, 720.0)  # between these a limit in rad, of four turns and more, looks like degrees


class Diagnostic(NamedTuple):
    """One remark: `level` is "error", "warning" or "info"; `where` names the item."""

    level: str
    where: str
    message: str


def diagnose(robot: Robot) -> tuple[Diagnostic, ...]:
    """All remarks on a robot, the reader's own first."""
    from linkwise.robot.tree import Tree

    found = [Diagnostic(*n) for n in robot.notes]
    for link in robot.links:
        xx, xy, xz, yy, yz, zz = link.inertia
        moments = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        scale = float(np.abs(moments).max())
        values = ", ".join(f"{m:.4g}" for m in moments)
        # a tensor that was moved from elsewhere carries the rounding of m c^2
        rounding = 1e-12 * link.mass * sum(x * x for x in link.com)
        if moments[0] < -max(1e-9 * scale, rounding):
            found.append(
                Diagnostic(
                    "error",
                    f"link {link.name!r}",
                    f"inertia tensor is indefinite: principal moments {values}",
                )
            )
        elif moments[2] - moments[0] - moments[1] > max(1e-6 * scale, rounding):
            found.append(
                Diagnostic(
                    "error",
                    f"link {link.name!r}",
                    f"inertia breaks the triangle inequality: principal moments {values}; no rigid body has them",
                )
            )
        if link.mass == 0.0 and scale > 0.0:
            found.append(Diagnostic("warning", f"link {link.name!r}", "has an inertia tensor but no mass"))
    for body in Tree.of(robot.rigid()).bodies[1:]:
        if body.link and not any(body.inertia.parameters()) and not body.armature:
            found.append(Diagnostic("warning", f"link {body.link!r}", "moves but has neither mass nor inertia"))
    for j in robot.joints:
        found += [Diagnostic("warning", f"joint {j.name!r}", text) for text in (*_of_limits(j), *_of_drive(j))]
    return (*found, *_of_lengths(robot), *_of_shapes(robot))


def _of_limits(joint: Joint) -> Iterator[str]:
    """What looks wrong about the limits of a joint's position."""
    lower, upper = joint.limits.lower, joint.limits.upper
    if joint.is_fixed or joint.mimic or not joint.freedom.is_single:
        return
    if lower == upper:
        yield f"its limits {lower:g} to {upper:g} let it move nowhere. If they are not known, leave them out"
    wide = [x for x in (lower, upper) if math.isfinite(x) and abs(x) > TURNED[0]]
    if joint.freedom.turns and wide and all(abs(x) <= TURNED[1] for x in wide):
        turns = abs(wide[-1]) / (2.0 * math.pi)
        yield f"its limit {wide[-1]:g} rad is {turns:.3g} turns. If that is degrees, multiply by pi / 180"


def _of_lengths(robot: Robot) -> Iterator[Diagnostic]:
    """The first place that is farther than any link is long, unless the reader of a table asked about it."""
    joints = [(f"joint {j.name!r}", "its frame", j.origin.p) for j in robot.joints]
    places = [*joints, *((f"link {x.name!r}", "its centre of mass", x.com) for x in robot.links)]
    far = [(where, what, size) for where, what, p in places if (size := math.dist(p, (0.0, 0.0, 0.0))) > LONG]
    if far and not any(where == "table" for _, where, _ in robot.notes):
        where, what, size = far[0]
        more = f", one of {len(far)} such places" if len(far) > 1 else ""
        yield Diagnostic(
            "warning", where, f"{what} is {size:g} m away{more}. If that is millimetres, divide lengths by 1000"
        )


def _of_shapes(robot: Robot) -> Iterator[Diagnostic]:
    """Which pairs of links clearance leaves out; no file is opened for that."""
    shapes = [s for s in robot.shapes if s.is_collision]
    links = {s.link: None for s in shapes}
    if len(links) < 2:
        return
    from linkwise.mechanism.touching import ALWAYS, self_pairs
    from linkwise.robot.volume import cover_of

    meshes = {s.link for s in shapes if s.kind == "mesh"}
    known = {n: [v for s in shapes if s.link == n for v in cover_of(s).volumes] for n in links if n not in meshes}
    _, left = self_pairs(robot, known)
    for pair in (x for x in left if x.reason == ALWAYS):
        yield Diagnostic("info", f"links {pair.a!r} and {pair.b!r}", f"{ALWAYS}: clearance leaves this pair out")
    if meshes:
        said = f"links with meshes, which are opened when it is asked for: {len(meshes)} of {len(links)}"
        yield Diagnostic("info", "clearance", f"{said}; dyn.clearance.left_out names the pairs that it leaves out")


def _of_drive(joint: Joint) -> Iterator[str]:
    """What looks wrong about a joint's drive."""
    motor = joint.drive.motor if joint.drive else None
    if joint.is_elastic and not (motor.rotor if motor else joint.armature):
        yield "its elastic drive has a motor without inertia, so that forward dynamics is not determined"
    if motor is not None and any(motor.inertia):
        xx, xy, xz, yy, yz, zz = motor.inertia
        x, y, z = motor.axis
        along = xx * x * x + yy * y * y + zz * z * z + 2.0 * (xy * x * y + xz * x * z + yz * y * z)
        if motor.rotor > along * (1.0 + 1e-9):
            yield f"rotor inertia {motor.rotor:.4g} exceeds the motor's {along:.4g} about its axis, which includes it"
