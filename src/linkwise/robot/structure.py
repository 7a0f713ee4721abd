"""The order of links and joints in a tree, what is not a tree, and names for what is added to one."""

from __future__ import annotations

from collections.abc import Iterable

from linkwise.errors import ModelError, UnknownNameError
from linkwise.robot import check
from linkwise.robot.joint import Joint
from linkwise.robot.link import Link


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


def unused(name: str, taken: Iterable[str]) -> str:
    """The name, with a number where it is taken."""
    used = set(taken)
    return next(n for n in (name, *(f"{name}_{k}" for k in range(2, len(used) + 3))) if n not in used)
