"""Gains of controllers, checked: one number for all, or one for each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from linkwise.errors import InputError, LinkwiseError

if TYPE_CHECKING:
    from linkwise.mechanism.machine import AnyMachine


def checked(controller: str, gains: Mapping[str, Any], widths: Mapping[str, int]) -> dict[str, list[float]]:
    """Each gain as a list of so many positive numbers."""
    found = {}
    for name, value in gains.items():
        plain = value.tolist() if hasattr(value, "tolist") else value
        many = list(plain) if isinstance(plain, (list, tuple)) else [plain] * widths[name]
        if len(many) != widths[name]:
            raise InputError(f"{controller} {name}: expected one number or {widths[name]}, got {value!r}.")
        for x in many:
            if not isinstance(x, (int, float)) or isinstance(x, bool) or not 0.0 < x < math.inf:
                raise InputError(f"{controller} {name}: expected numbers above 0, got {x!r}. Gains are diagonal.")
        found[name] = [float(x) for x in many]
    return found


def refuse_floating(controller: str, machine: AnyMachine) -> None:
    """Refuse robots whose positions are not one number a joint, and which no drive holds; and those with loops."""
    tree = machine.only_tree(controller)
    for body in tree.bodies:
        if body.kind.nv > 1:
            raise LinkwiseError(
                f"{controller}: expected joints of one degree of freedom, got the {body.kind.name} joint {body.name!r},"
                " which no drive moves. Fix the base (robot.lock), or control the joints of the fixed robot."
            )
