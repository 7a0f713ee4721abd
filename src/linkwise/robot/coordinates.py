"""Where the coordinates of joints and motors stand, and vectors of them by name."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from linkwise.errors import InputError, ModelError, UnknownNameError
from linkwise.robot.joint import KINDS, Joint, Kind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from linkwise.robot.robot import Robot


class Slot(NamedTuple):
    """Where a coordinate's numbers stand: `nq` of them from `q` on in positions, `nv` from `v` on in velocities."""

    q: int
    nq: int
    v: int
    nv: int
    kind: Kind = KINDS["revolute"]

    @property
    def quaternion(self) -> slice | None:
        """Where a quaternion stands in `q`, if there is one."""
        own = self.kind.quaternion
        return slice(self.q + own.start, self.q + own.stop) if own else None


def packed(joints: Iterable[Joint], leading: Collection[str] | None = None, rolls: bool = False) -> dict[str, Slot]:
    """The places of all coordinates: of the joints, or of those that lead, and after them of motors behind springs.

    On wheels (`rolls`) the positions of all joints are chosen, and velocities of those that lead.
    """
    every = list(joints)
    led = {j.name for j in every if leading is None or j.name in leading}
    named = [(j.name, j.freedom) for j in every if j.nv and (rolls or j.name in led)]
    named += [(j.motor_name, KINDS["revolute"]) for j in every if j.is_elastic]
    led |= {name for name, _ in named[len(named) - sum(j.is_elastic for j in every) :]}
    table, kq, kv = {}, 0, 0
    for name, kind in named:
        if name in table:
            raise ModelError(
                f"joint {name!r}: the motor of joint {name.removesuffix('.motor')!r} has a coordinate of that name."
                " Rename the joint."
            )
        table[name] = Slot(kq, kind.nq, kv, kind.nv if name in led else 0, kind)
        kq, kv = kq + kind.nq, kv + table[name].nv
    return table


def drive_places(joints: Sequence[Joint], slots: Mapping[str, Slot]) -> tuple[int, ...]:
    """For each joint that has coordinates, and then each elastic one that mimics, where its drive acts in `tau`."""
    places: list[int] = []
    for j in [*(j for j in joints if j.nv), *(j for j in joints if not j.nv and j.is_elastic)]:
        slot = slots[j.driven_coordinate]
        places.extend(range(slot.v, slot.v + slot.nv))
    return tuple(places)


def vector(robot: Robot, values: Any, kind: str) -> NDArray[np.float64]:
    """Positions (kind "q") or velocities ("v") from a mapping by name, or from a vector of the joints' or of all.

    What is not named is zero, the identity for a floating joint; motors behind springs go with their joints.
    """
    import numpy as np

    positions = kind == "q"
    x = np.zeros(robot.nq if positions else robot.nv)
    named: set[str] = set()
    if positions:
        for slot in robot.slots.values():
            x[slot.q : slot.q + slot.nq] = slot.kind.home
        if robot.follows:
            x[:] = _closed(robot)
    if values is not None and not isinstance(values, Mapping):
        leading = [robot.slots[j.name] for j in robot.joints if j.nv and j.name in robot.slots]
        width = sum(s.nq if positions else s.nv for s in leading)
        if np.shape(values) == x.shape:
            x[:] = values_of("all coordinates", values, len(x))
            return x
        x[:width] = values_of("the joints", values, width)
    else:
        for name, value in (values or {}).items():
            slot = find(robot, name, None if positions else {n: robot.slots[n] for n in robot.speeds})
            at, count = (slot.q, slot.nq) if positions else (slot.v, slot.nv)
            x[at : at + count] = values_of(name, value, count)
            named.add(name)
    for j in robot.joints:
        leader, known = j.mimic.joint if j.mimic else j.name, robot.slots if positions else robot.speeds
        if j.is_elastic and j.motor_name not in named and leader in known:
            joint, motor = robot.slots[leader], robot.slots[j.motor_name]
            value = x[joint.q if positions else joint.v]
            if j.mimic:
                value = value * j.mimic.ratio + (j.mimic.offset if positions else 0.0)
            x[motor.q if positions else motor.v] = value
    return x


def _closed(robot: Robot) -> NDArray[np.float64]:
    """The leading positions of the configuration that a robot with loops starts from: declared, or found."""
    import numpy as np

    from linkwise.mechanism.structure import structure_of

    known = dict(robot.reference)
    if set(robot.slots) <= set(known):
        return np.array([x for name in robot.slots for x in known[name]], dtype=float)
    structure = structure_of(robot)
    return structure.reference[list(structure.lead_q)]


def of_all_joints(robot: Robot, wanted: set[str], at: Any) -> NDArray[np.float64]:
    """Positions of all joints, in which the wanted ones are right, from those of what leads or of all; None is zero."""
    import numpy as np

    opened = robot.opened()
    if at is None:
        return opened.q()
    if np.shape(at) != (robot.nq,):
        found: NDArray[np.float64] = values_of("lock at", at, opened.nq)
        return found
    follow = [n for n in robot.opened().slots if n in wanted and n not in robot.slots]
    if follow:
        raise InputError(
            f"lock at: expected positions of all joints ({opened.nq}) to hold {follow[0]!r}, which follows, got those"
            f" of what leads ({robot.nq})."
        )
    lead = values_of("lock at", at, robot.nq)
    return opened.q({n: lead[s.q : s.q + s.nq] for n, s in robot.slots.items()})


def forces(robot: Robot, torques: Any) -> NDArray[np.float64]:
    """`tau` of the drives' torques, by joint or as an array (..., number of drives); all else is zero."""
    import numpy as np

    if isinstance(torques, Mapping):
        tau = np.zeros(robot.nu)
        named: dict[Slot, str] = {}
        slots = drive_slots(robot)
        for name, value in torques.items():
            joint = next((j for j in robot.joints if j.name == name), None)
            slot = find(robot, joint.driven_coordinate if joint else name, slots)
            if slot in named:
                raise InputError(f"tau: {named[slot]!r} and {name!r} are the same drive. Name it once.")
            named[slot] = name
            tau[slot.v : slot.v + slot.nv] = values_of(name, value, slot.nv)
        return tau
    places = robot.motors
    try:
        given = np.asarray(torques, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"tau: expected {len(places)} torques, or a mapping of joints, got {torques!r}.") from error
    if given.ndim < 1 or given.shape[-1] != len(places):
        raise InputError(f"tau: expected {len(places)} torques, one for each drive, got an array of {given.shape}.")
    tau = np.zeros((*given.shape[:-1], robot.nu))
    tau[..., places] = given
    return tau


def drive_slots(robot: Robot) -> dict[str, Slot]:
    """For each of `robot.drives` where its numbers stand in `tau`."""
    slots, at = {}, 0
    every = robot.opened().slots
    for name in robot.drives:
        slots[name] = every[name]._replace(v=at)
        at += every[name].nv
    return slots


def find(robot: Robot, name: str, slots: Mapping[str, Slot] | None = None) -> Slot:
    """The place of a coordinate, or of a drive or velocity among these slots."""
    known = robot.slots if slots is None else slots
    try:
        return known[name]
    except KeyError:
        if known.keys() <= robot.slots.keys() and name in robot.opened().slots:
            raise InputError(
                f"{name!r} follows other joints of robot {robot.name!r}: expected what leads,"
                f" {', '.join(map(repr, known))}. Give those, or declare others with leads=(...)."
            ) from None
        raise UnknownNameError("joint", name, list(known)) from None


def values_of(name: str, value: Any, width: int) -> Any:
    """The numbers given for a name, as many as belong there."""
    import numpy as np

    try:
        array = np.asarray(value, dtype=float).reshape(-1)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: expected {width} numbers, got {value!r}.") from error
    if array.shape != (width,):
        raise InputError(f"{name}: expected {width} number(s), got {array.size}.")
    return array
