"""What notebooks show of a robot: its size, its joints and links in tables."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import linkwise.card as card
from linkwise.scalar import is_number

if TYPE_CHECKING:
    from linkwise.robot.robot import Robot

OPEN = 12  # joints up to which their table is open


def robot_size(robot: Robot) -> str:
    """How large a robot is, in words."""
    masses = [link.mass for link in robot.links]
    mass = f", {sum(masses):.4g} kg" if all(map(is_number, masses)) else ""
    return f"{robot.nv} {'degree' if robot.nv == 1 else 'degrees'} of freedom, {len(robot.links)} links{mass}"


def robot_card(robot: Robot) -> str:
    """The card of a robot."""
    others = {
        "frames": [f.name for f in robot.frames],
        "loops": [c.name for c in robot.loops],
        "shapes": [f"{len(robot.shapes)}"] * bool(robot.shapes),
        "provenance": [f"{name}: {text}" for name, text in robot.provenance],
    }
    facts = [f"{what}: {', '.join(names)}" for what, names in others.items() if names]
    head = "joint", "kind", "parent", "child", "position", "velocity", "effort", "mass of child, kg"
    joints = card.table(head, _joints(robot))
    body = joints if len(robot.joints) <= OPEN else card.folded(f"{len(robot.joints)} joints", joints)
    return card.card(f"robot {robot.name!r}: {robot_size(robot)}", card.lines(facts), body)


def _joints(robot: Robot) -> Iterator[tuple[str, ...]]:
    masses = {link.name: link.mass for link in robot.links}
    for j in robot.joints:
        kind = f"mimics {j.mimic.joint}" if j.mimic else j.kind
        ends = j.limits.lower, j.limits.upper
        span = f"{ends[0]:.4g} to {ends[1]:.4g}" if any(map(math.isfinite, ends)) else ""
        most = (f"{x:.4g}" if math.isfinite(x) else "" for x in (j.limits.velocity, j.limits.effort))
        mass = masses[j.child]
        yield j.name, kind, j.parent, j.child, span, *most, f"{mass:.4g}" if is_number(mass) else str(mass)
