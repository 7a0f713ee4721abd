"""Gains of controllers, checked: one number for all, or one for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from linkwise.check import positive
from linkwise.errors import InputError, LinkwiseError

if TYPE_CHECKING:
    from linkwise.mechanism.machine import AnyMachine


def checked(controller: str, gains: Mapping[str, Any], widths: Mapping[str, int]) -> dict[str, list[float]]:
    """Each gain as a list of so many positive numbers."""
    found = {}
    for name, value in gains.items():
        plain = value.tolist() if hasattr(value, "tolist") else value
        many = list(plain) if isinstance(plain, (list, tuple)) else [plain] * widths[name]
        if any(isinstance(x, list) for x in many):
            raise InputError(
                f"{controller} {name}: expected one number or {widths[name]}, got a matrix. Gains are diagonal."
            )
        if len(many) != widths[name]:
            raise InputError(f"{controller} {name}: expected one number or {widths[name]}, got {value!r}.")
        found[name] = [positive(x, f"{controller} {name}", "numbers above 0") for x in many]
    return found


def refuse_floating(controller: str, machine: AnyMachine) -> None:
    """Refuse a base that floats outside of loops, which no drive holds."""
    inside = {name for group in machine.looped for name in group}
    for body in machine.tree.bodies:
        if body.kind.nv == 6 and body.name not in inside:
            raise LinkwiseError(
                f"{controller}: expected a base that drives hold, got the {body.kind.name} joint {body.name!r}, which"
                " no drive moves. Fix the base (robot.lock), or control the joints of the fixed robot."
            )
