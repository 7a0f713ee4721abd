"""The order of links and joints in a tree, what is not a tree, and names for what is added to one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from linkwise.errors import ModelError, UnknownNameError
from linkwise.robot import check
from linkwise.robot.joint import Joint
from linkwise.robot.link import Link

if TYPE_CHECKING:
    from linkwise.robot.robot import Robot


def depth_first(links: list[Link], joints: list[Joint]) -> tuple[tuple[Link, ...], tuple[Joint, ...]]:
    """Links and joints with every parent before its children, siblings as given; refuses what is not a tree."""
    if not links:
        raise ModelError("robot: expected at least one link, got none.")
    check.unique((k.name for k in links), "link")
    check.unique((j.name for j in joints), "joint")
    by_name = {k.name: k for k in links}
    parent_of: dict[str, Joint] = {}
    children: dict[str, list[Joint]] = {k.name: [] for k in links}
    for j in joints:
        for end, which in ((j.parent, "parent"), (j.child, "child")):
            if end not in by_name:
                raise ModelError(f"joint {j.name!r} {which}: {UnknownNameError('link', end, by_name)}")
        if j.child in parent_of:
            raise ModelError(
                f"link {j.child!r}: expected one joint that carries it, got {parent_of[j.child].name!r} and"
                f" {j.name!r}. A loop is closed by a Loop, not by a second joint."
            )
        parent_of[j.child] = j
        children[j.parent].append(j)
    roots = [k.name for k in links if k.name not in parent_of]
    if not roots:
        raise ModelError("robot: expected one root link, got none: the joints form a cycle. Cut it with a Loop.")
    ordered_links, ordered_joints = [by_name[roots[0]]], []
    stack = children[roots[0]][::-1]
    while stack:
        j = stack.pop()
        ordered_joints.append(j)
        ordered_links.append(by_name[j.child])
        stack.extend(children[j.child][::-1])
    if len(roots) > 1:
        raise ModelError(
            f"robot: expected one root link, got {len(roots)}: {', '.join(map(repr, roots[:8]))}."
            " Join them with joints (fixed ones for welded parts)."
        )
    if len(ordered_links) < len(links):
        left = sorted(set(by_name) - {k.name for k in ordered_links})
        raise ModelError(
            f"robot: the links {', '.join(map(repr, left[:8]))} form a cycle apart from the root. Cut it with a Loop."
        )
    return tuple(ordered_links), tuple(ordered_joints)


def check_references(robot: Robot) -> None:
    """Refuse names of links and joints that the robot does not have."""
    links = {link.name for link in robot.links}
    joints = {j.name: j for j in robot.joints}
    check.unique((f.name for f in robot.frames), "frame")
    check.unique((loop.name for loop in robot.loops), "loop")
    for f in robot.frames:
        if f.link not in links:
            raise ModelError(f"frame {f.name!r}: {UnknownNameError('link', f.link, sorted(links))}")
    for shape in robot.shapes:
        if shape.link not in links:
            raise ModelError(f"shape: {UnknownNameError('link', shape.link, sorted(links))}")
    for loop in robot.loops:
        for end in (loop.a, loop.b):
            if end not in links:
                raise ModelError(f"loop {loop.name!r}: {UnknownNameError('link', end, sorted(links))}")
        for active in loop.active:
            if active not in joints:
                raise ModelError(f"loop {loop.name!r}: {UnknownNameError('joint', active, joints)}")
    for j in robot.joints:
        if j.motor_link not in links:
            raise ModelError(f"joint {j.name!r} motor: {UnknownNameError('link', j.motor_link, sorted(links))}")
        if j.mimic is None:
            continue
        leader = joints.get(j.mimic.joint)
        if leader is None:
            raise ModelError(f"joint {j.name!r} mimic: {UnknownNameError('joint', j.mimic.joint, joints)}")
        if leader is j or leader.mimic or not leader.freedom.is_single:
            kind = "itself" if leader is j else "a joint that mimics" if leader.mimic else f"a {leader.kind} joint"
            raise ModelError(
                f"joint {j.name!r} mimic: expected a joint that moves by itself, got {kind}"
                f" ({leader.name!r}). Name the joint that leads."
            )


def unused(name: str, taken: Iterable[str]) -> str:
    """The name, with a number where it is taken."""
    used = set(taken)
    return next(n for n in (name, *(f"{name}_{k}" for k in range(2, len(used) + 3))) if n not in used)
