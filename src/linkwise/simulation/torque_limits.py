"""What drives can give: bounds of torques that depend on the speed, applied to what a control asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf, isfinite
from typing import Any

from linkwise.errors import InputError, UnknownNameError
from linkwise.robot import check
from linkwise.robot.joint import Joint
from linkwise.robot.robot import Robot
from linkwise.scalar import Scalar, clip, is_number, maximum, minimum

SLOW = 1e-9  # rad/s or m/s: below this a drive's power does not bound its torque


@dataclass(frozen=True)
class TorqueLimit:
    """The most that the drive of one coordinate can give, on the joint's side of the gear.

    Args:
        place: of the drive in tau.
        effort: at any speed, N m or N.
        curve: points (speed, torque) in rising speeds, between which the torque that drives is bounded by lines; below
            the first and when the drive brakes, by the first torque.
        power: that the drive can give, W; braking is not bounded by it.
    """

    place: int
    effort: float = inf
    curve: tuple[tuple[float, float], ...] = ()
    power: float = inf

    def most(self, speed: Scalar) -> Scalar:
        """The largest torque at a speed, counted in its direction."""
        torque: Scalar = self.effort
        if self.curve:
            bound: Scalar = self.curve[0][1]
            for (v, t), (v_next, t_next) in pairwise(self.curve):
                bound = bound + clip(speed - v, 0.0, v_next - v) * ((t_next - t) / (v_next - v))
            torque = minimum(bound, torque) if isfinite(self.effort) else bound
        if isfinite(self.power):
            bound = self.power / maximum(speed, SLOW)
            torque = bound if is_number(torque) and torque == inf else minimum(bound, torque)
        return torque

    def applied(self, tau: Scalar, speed: Scalar) -> Scalar:
        """The torque that comes of one that is asked for."""
        return clip(tau, -self.most(-speed), self.most(speed))


def torque_limits(robot: Robot, given: Any) -> tuple[TorqueLimit, ...]:
    """The option `torque_limits`: None, True for the robot's own, a number for all, or numbers or curves by name.

    The robot's own are the efforts among its joints' limits, and the torque-speed curves and powers of its drives.
    """
    if given is None or given is False:
        return ()
    if given is True:
        limits = tuple(own_limits(robot).values())
        if not limits:
            raise InputError(
                f"torque_limits: expected limits of effort or drives with curves, got the robot {robot.name!r}, which"
                " has none. Give numbers: torque_limits={'elbow': 40.0}."
            )
        return limits
    own = _driven(robot)
    named = given if isinstance(given, Mapping) else dict.fromkeys(own, given)
    found = []
    for name, value in named.items():
        if name not in own:
            raise UnknownNameError("drive in torque_limits", name, own)
        found.append(_limit(own[name][0], value, f"torque_limits {name!r}"))
    return tuple(found)


def own_limits(robot: Robot) -> dict[str, TorqueLimit]:
    """What the robot itself says that its drives can give, by joint."""
    found = {}
    for name, (place, joint) in _driven(robot).items():
        limit = TorqueLimit(place, joint.limits.effort, _curve_of(joint), joint.drive.power if joint.drive else inf)
        if limit.curve or isfinite(limit.effort) or isfinite(limit.power):
            found[name] = limit
    return found


def _driven(robot: Robot) -> dict[str, tuple[int, Joint]]:
    """Joints of one degree of freedom that have a place in tau."""
    places, at = {}, 0
    for name in robot.drives:
        places[name], at = at, at + robot.opened().slots[name].nv
    single = (j for j in robot.joints if j.freedom.is_single and j.nv)
    return {j.name: (places[j.driven_coordinate], j) for j in single if j.driven_coordinate in places}


def limited(limits: Sequence[TorqueLimit], tau: Sequence[Scalar], speeds: Sequence[Scalar]) -> list[Scalar]:
    """The torques that come of those asked for, at the drives' speeds."""
    found = list(tau)
    for limit in limits:
        found[limit.place] = limit.applied(found[limit.place], speeds[limit.place])
    return found


def _limit(place: int, value: Any, what: str) -> TorqueLimit:
    """A number, or points (speed, torque)."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        return TorqueLimit(place, check.number(value, f"{what}: torque", least=0.0))
    points: Any = tuple(check.numbers(p, f"{what}: point (speed, torque)", 2) for p in value)
    for speed, torque in points:
        check.number(speed, f"{what}: speed", least=0.0)
        check.number(torque, f"{what}: torque", least=0.0)
    if len(points) < 2 or any(b[0] <= a[0] for a, b in pairwise(points)):
        raise InputError(f"{what}: expected a number, or points (speed, torque) in rising speeds, got {value!r}.")
    return TorqueLimit(place, inf, points)


def _curve_of(joint: Joint) -> tuple[tuple[float, float], ...]:
    """The curve of a joint's drive, on the joint's side of the gear; of an elastic drive's motor, seen through it."""
    if joint.drive is None or len(joint.drive.curve) < 2:
        return ()
    gear = abs(joint.drive.gear)
    return tuple((speed / gear, torque * gear) for speed, torque in joint.drive.curve)
