"""Ready-made laws of the environment, for `forces=` and `joint_forces=` of `compile` and `simulate`.

A law of a frame is called with the frame's pose in the world and its velocity in its own axes, and returns the wrench
that the environment exerts on the robot at the frame's origin, in the frame's axes. All are smooth enough to integrate
and run on any scalar.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, fields, replace
from typing import Any

from linkwise.errors import InputError
from linkwise.robot import check
from linkwise.robot.robot import Robot
from linkwise.scalar import Scalar, absolute, less, sqrt, where
from linkwise.spatial import Motion, Pose, Wrench
from linkwise.vector import EZ, ZERO3, Vec3, cross, dot

EY = Vec3(0.0, 1.0, 0.0)
GIVES, DAMPS = 1e-3, 20.0  # firm stops: rad or m by which they give way, s/rad or s/m by which they damp
TINY = 1e-12  # keeps a direction finite where it is undefined


@dataclass(frozen=True)
class GroundFriction:
    """Viscous friction of a body that lies on the ground, unlike along its x axis and across it: a snake's link.

        force = -(along vx, across vy, lift vz),    moment = (0, 0, -turning wz)

    Args:
        along: N s/m.
        across: N s/m.
        turning: about the frame's z axis, N m s/rad.
        lift: along the frame's z axis, N s/m.
    """

    along: float
    across: float
    turning: float = 0.0
    lift: float = 0.0

    def __post_init__(self) -> None:
        _check(self, "along", "across", "turning", "lift")

    @classmethod
    def of_rod(cls, length: float, along: float, across: float) -> GroundFriction:
        """Friction spread evenly over a rod along x, whose middle is the frame's origin.

        Args:
            length: m.
            along, across: for each metre of it, N s/m^2.
        """
        return cls(along * length, across * length, across * length**3 / 12.0)

    def __call__(self, pose: Pose, velocity: Motion) -> Wrench:
        v = velocity.linear
        force = Vec3(v.x * -self.along, v.y * -self.across, v.z * -self.lift)
        return Wrench(force, EZ * (velocity.angular.z * -self.turning))


@dataclass(frozen=True)
class Drag:
    """Drag of a fluid, quadratic and linear in the velocity through it, for each axis of the frame by itself.

        force_k = -(quadratic_k abs(u_k) + linear_k) u_k,    moment_k = -(turning_k abs(w_k) + turning_linear_k) w_k

    with u the velocity of the frame's origin less that of the fluid.

    Args:
        quadratic: N s^2/m^2, three numbers; half of density times area times drag coefficient.
        turning: N m s^2, three numbers.
        linear: N s/m, three numbers.
        turning_linear: N m s, three numbers.
        flow: velocity of the fluid in world axes, m/s.
    """

    quadratic: Vec3 = ZERO3
    turning: Vec3 = ZERO3
    linear: Vec3 = ZERO3
    turning_linear: Vec3 = ZERO3
    flow: Vec3 = ZERO3

    def __post_init__(self) -> None:
        for f in fields(self):
            value = check.vector(getattr(self, f.name), f"Drag {f.name}")
            if f.name != "flow":
                for k, x in zip("xyz", value, strict=True):
                    check.number(x, f"Drag {f.name} {k}", least=0.0)
            object.__setattr__(self, f.name, value)

    @classmethod
    def of_shape(cls, density: float, areas: Any, coefficients: Any, flow: Any = ZERO3) -> Drag:
        """Drag of a body by its areas seen along x, y and z and its drag coefficients: density area coefficient / 2.

        Args:
            density: of the fluid, kg/m^3.
            areas: m^2, three numbers.
            coefficients: three numbers.
            flow: velocity of the fluid in world axes, m/s.
        """
        sides = zip(check.vector(areas, "Drag areas"), check.vector(coefficients, "Drag coefficients"), strict=True)
        return cls(Vec3(*(0.5 * density * a * c for a, c in sides)), flow=flow)

    def __call__(self, pose: Pose, velocity: Motion) -> Wrench:
        through = velocity.linear - pose.R.T @ self.flow
        return Wrench(
            _resisted(through, self.quadratic, self.linear),
            _resisted(velocity.angular, self.turning, self.turning_linear),
        )


@dataclass(frozen=True)
class Thrust:
    """A constant force and moment that turn with the frame: a propeller, a jet.

    Args:
        force: N, in the frame's axes.
        moment: N m, in the frame's axes.
    """

    force: Vec3 = ZERO3
    moment: Vec3 = ZERO3

    def __post_init__(self) -> None:
        for f in fields(self):
            object.__setattr__(self, f.name, check.vector(getattr(self, f.name), f"Thrust {f.name}"))

    def __call__(self, pose: Pose, velocity: Motion) -> Wrench:
        return Wrench(self.force, self.moment)


@dataclass(frozen=True)
class GroundContact:
    """A ball about the frame's origin (radius 0: a point) on compliant ground, with dry friction.

        normal force   f = stiffness r(depth) max(0, 1 + damping d depth/dt)
        friction       -friction f v / sqrt(v^2 + slip^2), with v how fast the lowest point slides

    r rises smoothly from the touch: depth^2 / (2 onset) up to the depth `onset`, then depth - onset / 2. The ground
    never pulls. A weight W is held at the depth W / stiffness + onset / 2; below the speed `slip` friction creeps.

    Args:
        stiffness: N/m.
        damping: s/m; a ball that falls with the speed v comes back with about (1 - 2/3 damping v) v.
        friction: coefficient.
        radius: of the ball, m.
        height: of the ground along `normal` from the world's origin, m.
        normal: direction out of the ground, in world axes.
        slip: speed at which friction is nearly full, m/s.
        onset: depth over which the stiffness sets in, m.

    Source: Hunt and Crossley's contact force, with a smooth start and regularised Coulomb friction.
    """

    stiffness: float
    damping: float = 1.0
    friction: float = 0.0
    radius: float = 0.0
    height: float = 0.0
    normal: Vec3 = EZ
    slip: float = 1e-2
    onset: float = 1e-4

    def __post_init__(self) -> None:
        _check(self, "damping", "friction", "radius")
        _check_positive(self, "stiffness", "slip", "onset")
        object.__setattr__(self, "height", check.number(self.height, "GroundContact height"))
        object.__setattr__(self, "normal", check.axis(self.normal, "GroundContact normal"))

    def __call__(self, pose: Pose, velocity: Motion) -> Wrench:
        n = pose.R.T @ self.normal
        arm = n * -self.radius
        v = velocity.linear + cross(velocity.angular, arm)
        rising = dot(n, v)
        depth = self.height + self.radius - dot(self.normal, pose.p)
        press = pressed(depth, -rising, self.stiffness, self.damping, self.onset)
        sliding = v - n * rising
        grip = press * self.friction / sqrt(dot(sliding, sliding) + self.slip * self.slip)
        force = n * press - sliding * grip
        return Wrench(force, cross(arm, force))


@dataclass(frozen=True)
class RollingWheel:
    """A wheel on the ground, held against slipping by viscous forces at its lowest point.

        force = -along s_along - across s_across,    s the velocity of the wheel's lowest point

    in the ground's plane, along and across the wheel. The frame turns with the wheel; on a carrier that does not, leave
    `along` and `radius` at 0, so that the wheel rolls freely and only side slip is hindered. The wheel carries no
    weight: put a `GroundContact` with the same radius and no friction beside it where the ground must hold it.

    Args:
        across: against side slip, N s/m.
        along: against slip in the rolling direction, N s/m.
        radius: m.
        axis: of the wheel, in the frame's axes.
        normal: direction out of the ground, in world axes.
        resistance: against the wheel's turning, N m s/rad.
    """

    across: float
    along: float = 0.0
    radius: float = 0.0
    axis: Vec3 = EY
    normal: Vec3 = EZ
    resistance: float = 0.0

    def __post_init__(self) -> None:
        _check(self, "across", "along", "radius", "resistance")
        for name in ("axis", "normal"):
            object.__setattr__(self, name, check.axis(getattr(self, name), f"RollingWheel {name}"))

    def __call__(self, pose: Pose, velocity: Motion) -> Wrench:
        n = pose.R.T @ self.normal
        ahead = _unit(cross(self.axis, n))
        arm = cross(self.axis, ahead) * self.radius
        slip = velocity.linear + cross(velocity.angular, arm)
        side = cross(n, ahead)
        force = ahead * (dot(slip, ahead) * -self.along) + side * (dot(slip, side) * -self.across)
        turning = self.axis * (dot(velocity.angular, self.axis) * -self.resistance)
        return Wrench(force, cross(arm, force) + turning)


@dataclass(frozen=True)
class JointStop:
    """Elastic ends of a joint's travel, for `joint_forces=`.

    Beyond `upper` the stop pushes back by stiffness r(depth) max(0, 1 + damping qd), beyond `lower` likewise, with the
    smooth start r of `GroundContact`.

    Args:
        lower, upper: ends of the free travel, rad or m; either may be infinite.
        stiffness: N m/rad or N/m.
        damping: s/rad or s/m.
        onset: depth over which the stiffness sets in, rad or m.
    """

    lower: float = -math.inf
    upper: float = math.inf
    stiffness: float = 1e4
    damping: float = 1.0
    onset: float = 1e-3

    def __post_init__(self) -> None:
        _check(self, "damping")
        _check_positive(self, "stiffness", "onset")
        for name, none in (("lower", -math.inf), ("upper", math.inf)):
            value = getattr(self, name)
            object.__setattr__(self, name, none if value == none else check.number(value, f"JointStop {name}"))
        check.number(min(self.upper - self.lower, 1.0), "JointStop upper - lower", above=0.0)

    def __call__(self, q: Scalar, qd: Scalar) -> Scalar:
        force: Scalar = 0.0
        if self.lower > -math.inf:
            force = force + pressed(self.lower - q, -qd, self.stiffness, self.damping, self.onset)
        if self.upper < math.inf:
            force = force - pressed(q - self.upper, qd, self.stiffness, self.damping, self.onset)
        return force


def joint_stops(
    robot: Robot, stiffness: float = 1e4, damping: float = 1.0, onset: float = 1e-3
) -> dict[str, JointStop]:
    """A `JointStop` for every joint of a robot that has a position limit, for `joint_forces=`."""
    found = {}
    for joint in robot.joints:
        lower, upper = joint.limits.lower, joint.limits.upper
        ends = joint.freedom.is_single and not joint.freedom.endless
        if ends and (math.isfinite(lower) or math.isfinite(upper)):
            found[joint.name] = JointStop(lower, upper, stiffness, damping, onset)
    return found


def firm_stops(robot: Robot, q: Any, without: Collection[str]) -> dict[str, JointStop]:
    """Stops of a tree that hold whatever its drives and its weight press against them, and hardly rebound.

    Args:
        robot: a tree.
        q: its positions, which must be within the limits.
        without: joints that need none.
    """
    from linkwise.algorithms.forces import gravity_forces
    from linkwise.algorithms.mass_matrix import mass_matrix

    position, n = [float(x) for x in q], robot.nv
    M, weight = mass_matrix.plain(robot, position), gravity_forces.plain(robot, position)
    found = {}
    for name, stop in joint_stops(robot).items():
        if name in without or name not in robot.slots:
            continue
        slot, effort = robot.slots[name], robot.joint(name).limits.effort
        at = position[slot.q]
        if not stop.lower - GIVES <= at <= stop.upper + GIVES:
            raise InputError(
                f"limits='saturate': expected a start within the limits of positions, got {name!r} at {at:.6g}, which"
                f" has {stop.lower:.6g} to {stop.upper:.6g}. Start within them, or use limits='note'."
            )
        load = max(effort if math.isfinite(effort) else 0.0, 3.0 * abs(weight[slot.v]), 10.0 * M[slot.v * n + slot.v])
        found[name] = replace(stop, stiffness=max(load, TINY) / GIVES, damping=DAMPS, onset=0.2 * GIVES)
    return found


def pressed(depth: Scalar, rate: Scalar, stiffness: float, damping: float, onset: float) -> Scalar:
    """The force of a compliant surface, stiffness r(depth) max(0, 1 + damping rate), none without touch."""
    ramp = where(less(depth, onset), depth * depth * (0.5 / onset), depth - 0.5 * onset)
    loss = rate * damping + 1.0
    return where(less(0.0, depth), where(less(0.0, loss), loss * ramp * stiffness, 0.0), 0.0)


def _resisted(v: Vec3, quadratic: Vec3, linear: Vec3) -> Vec3:
    return Vec3(*(-(absolute(x) * a + b) * x for x, a, b in zip(v, quadratic, linear, strict=True)))


def _unit(a: Vec3) -> Vec3:
    return a * (1.0 / sqrt(dot(a, a) + TINY * TINY))


def _check(law: Any, *names: str) -> None:
    for name in names:
        value = check.number(getattr(law, name), f"{type(law).__name__} {name}", least=0.0)
        object.__setattr__(law, name, value)


def _check_positive(law: Any, *names: str) -> None:
    for name in names:
        value = check.number(getattr(law, name), f"{type(law).__name__} {name}", above=0.0)
        object.__setattr__(law, name, value)
