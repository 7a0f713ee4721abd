"""Limits of a robot's motion as vectors, from its joints or as a user gives them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import InputError
from linkwise.motion.columns import endings
from linkwise.planning.drives import drives_of
from linkwise.robot.coordinates import find, values_of
from linkwise.robot.joint import Joint
from linkwise.robot.leading import refuse_wheels
from linkwise.robot.robot import Robot, Slot

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Bounds:
    """Largest magnitudes of each quantity, infinite where there is no limit: of all joints (nv), of drives (nu)."""

    velocity: Array
    acceleration: Array
    jerk: Array
    effort: Array
    effort_rate: Array

    @classmethod
    def of(cls, robot: Robot, what: str, **given: Any) -> Bounds:
        """The limits of the robot's joints, and in their place those that are given.

        Each may be one number for all joints, a number for each, or a mapping by name, which leaves the others as they
        are. `what` is the call that messages name.
        """
        return cls(**{f.name: _vector(robot, what, f.name, given.get(f.name)) for f in fields(cls)})

    def and_of(self, extras: Array) -> Bounds:
        """These, and limits of velocity, acceleration and jerk (3, n) of further quantities beside the joints."""
        own = {"velocity": self.velocity, "acceleration": self.acceleration, "jerk": self.jerk}
        return replace(self, **{key: np.append(x, more) for (key, x), more in zip(own.items(), extras, strict=True)})

    def has(self, name: str) -> bool:
        """Whether any joint has a limit of this kind."""
        return bool(np.isfinite(getattr(self, name)).any())


def single_joints(robot: Robot, slots: Mapping[str, Slot]) -> Iterator[tuple[Joint, Slot, float]]:
    """Each joint of one degree of freedom, the place of its coordinate among slots, and its ratio to it."""
    for joint in robot.joints:
        mimic = None if joint.name in slots else joint.mimic
        slot = slots.get(mimic.joint if mimic else joint.name)
        if slot is not None and slot.nv == 1:
            yield joint, slot, mimic.ratio if mimic else 1.0


def coordinate_names(slots: Mapping[str, Slot]) -> list[str]:
    """A name for each velocity."""
    return [f"{name}{end}" for name, slot in slots.items() for end in endings(slot.kind, "qd")]


def a_robot(robot: Any, what: str) -> None:
    """Refuse what is no robot."""
    if not isinstance(robot, Robot):
        raise InputError(f"{what}: expected a Robot, got {robot!r}. Load one with lw.load(...).")
    refuse_wheels(robot, what)
    if not robot.nv:
        raise InputError(f"{what}: expected a robot that can move, got {robot.name!r} without joints.")


def _vector(robot: Robot, what: str, name: str, given: Any) -> Array:
    """The limits of one kind; a joint that mimics bounds the one it follows, except by its effort."""
    slots = _drive_slots(robot) if name.startswith("effort") else robot.rigid().opened().slots
    width = sum(slot.nv for slot in slots.values())
    own = np.full(width, np.inf)
    for joint, slot, ratio in single_joints(robot, slots):
        if joint.name not in slots and (ratio == 0.0 or name.startswith("effort")):
            continue
        own[slot.v] = min(own[slot.v], getattr(joint.limits, name) / abs(ratio))
    if given is None:
        return own
    if isinstance(given, Mapping):
        for joint_name, value in given.items():
            slot = find(robot, joint_name, slots)
            own[slot.v : slot.v + slot.nv] = values_of(f"{what} {name} of {joint_name}", value, slot.nv)
        limits = own
    else:
        try:
            limits = np.array(np.broadcast_to(np.asarray(given, dtype=float), (width,)))
        except (TypeError, ValueError) as error:
            raise InputError(
                f"{what} {name}: expected a number, {width} numbers or a mapping by joint, got {given!r}."
            ) from error
    if not (limits > 0.0).all():
        k = int(np.argmin(limits > 0.0))
        raise InputError(
            f"{what} {name}: expected limits above 0, got {limits[k]:g} for {coordinate_names(slots)[k]!r}."
        )
    return limits


def _drive_slots(robot: Robot) -> dict[str, Slot]:
    """Where the numbers of the drives of each joint stand among the torques of all drives."""
    found: dict[str, Slot] = {}
    for k, name in enumerate(drives_of(robot).joints):
        kind = robot.joint(name).freedom
        found.setdefault(name, Slot(k, kind.nq, k, kind.nv, kind))
    return found
