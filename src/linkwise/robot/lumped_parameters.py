"""A robot whose `parameters()` are given: identified, drawn at random, or written down by hand."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwise.errors import InputError, ModelError, UnknownNameError
from linkwise.robot.drive import Drive, Motor
from linkwise.robot.joint import Joint
from linkwise.robot.link import Link
from linkwise.robot.robot import Robot
from linkwise.spatial import Inertia
from linkwise.vector import EYE3, ZERO3

Array = NDArray[np.float64]
LAW = ("offset", "static", "stribeck", "width")  # numbers of a joint's friction that torques are not linear in, by name
ROUND_OFF = 1e-12  # of the numbers that a difference is made of


def with_parameters(robot: Robot, theta: ArrayLike | Mapping[str, float]) -> Robot:
    """The robot whose `parameters()` are theta; see `Robot.with_parameters`."""
    now = robot.parameters()
    wanted, laws = _vector(robot, theta, now)
    moving = [j for j in robot.joints if not j.is_fixed]
    n = len(moving)
    links: dict[str, Link] = {k.name: k for k in robot.links}
    joints = {j.name: j for j in robot.joints}
    own = wanted[10 * n : 13 * n].reshape(n, 3)
    motors = iter(wanted[13 * n :].reshape(-1, 2))
    notes = list(robot.notes)
    for k, j in enumerate(moving):
        new, old = wanted[10 * k : 10 * k + 10], now[10 * k : 10 * k + 10]
        if not np.array_equal(new, old):
            notes += _lumped(robot, j.child, new, old, links, joints)
    for numbers, j in zip(own, moving, strict=True):
        pair = next(motors) if j.is_elastic else None
        joints[j.name] = _driven(joints[j.name], numbers, pair, laws.get(j.name, {}))
    return robot.replace(links=list(links.values()), joints=list(joints.values()), notes=notes)


def pseudo_inertia(inertial: Sequence[float] | Array) -> Array:
    """The 4 by 4 matrices (..., 4, 4) of second, first and zeroth moments of bodies, from their ten parameters.

    [E, mc; mc^T, m] with E the integral of x x^T dm. A body of positive density has a positive definite one, and each
    positive definite one is that of a body: mass above zero, and principal moments that keep the triangle inequality.

    Source: P. M. Wensing, S. Kim, J.-J. E. Slotine, RA-L 3(1), 2018, section III.
    """
    x = np.asarray(inertial)
    P = np.zeros((*x.shape[:-1], 4, 4), dtype=x.dtype)
    half = 0.5 * (x[..., 4] + x[..., 7] + x[..., 9])
    for k, (i, j) in enumerate(((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)), start=4):
        P[..., i, j] = P[..., j, i] = (half if i == j else 0.0) - x[..., k]
    P[..., :3, 3] = P[..., 3, :3] = x[..., 1:4]
    P[..., 3, 3] = x[..., 0]
    return P


def inertial_parameters(P: Array) -> Array:
    """The ten parameters (..., 10) of bodies, from their pseudo-inertias."""
    E = P[..., :3, :3]
    I = np.trace(E, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - E
    rows, columns = np.triu_indices(3)
    return np.concatenate([P[..., 3, 3:], P[..., :3, 3], I[..., rows, columns]], axis=-1)


def _vector(
    robot: Robot, theta: ArrayLike | Mapping[str, float], now: Array
) -> tuple[Array, dict[str, dict[str, float]]]:
    """All parameters, and further numbers of frictions by joint."""
    names = robot.parameter_names
    laws: dict[str, dict[str, float]] = {}
    if not isinstance(theta, Mapping):
        try:
            given = np.asarray(theta, dtype=float)
        except (TypeError, ValueError) as error:
            raise InputError(f"with_parameters: expected numbers, got {theta!r}.") from error
        if given.shape != now.shape:
            raise InputError(
                f"with_parameters: expected a vector of {len(now)} numbers, as robot.parameters() has them, got shape"
                f" {given.shape}. Give a mapping by name to set some of them."
            )
    else:
        given, places = now.copy(), {name: k for k, name in enumerate(names)}
        further = {f"{j.name}.{key}": (j.name, key) for j in robot.joints if not j.is_fixed for key in LAW}
        further |= {f"{j.name}.motor_offset": (j.name, "motor_offset") for j in robot.joints if j.is_elastic}
        for name, value in theta.items():
            if name in places:
                given[places[name]] = _number(value, name)
            elif name in further:
                joint, key = further[name]
                laws.setdefault(joint, {})[key] = _number(value, name)
            else:
                raise UnknownNameError("parameter", name, [*names, *further])
    for name, value in zip(names, given, strict=True):
        if not np.isfinite(value):
            raise ModelError(f"parameter {name!r}: expected a finite number, got {value}. Leave it as it was.")
    return given, laws


def _number(value: Any, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"parameter {name!r}: expected a number, got {value!r}.") from error


# ---- links


def _lumped(
    robot: Robot, name: str, new: Array, old: Array, links: dict[str, Link], joints: dict[str, Joint]
) -> Iterator[tuple[str, str, str]]:
    """Give a moving link what it needs, so that it, fixed links and motors on it have the parameters `new` together.

    What is fixed to it stays as it is where the rest is a body; else the moving link gets all, and the others nothing.
    """
    if new[0] < 0.0:
        raise ModelError(f"parameter {name + '.m'!r}: expected a number of at least 0, got {new[0]:g}.")
    rest = np.array(links[name].spatial_inertia.parameters(), dtype=float) + (new - old)
    rest[np.abs(rest) <= ROUND_OFF * (np.abs(new) + np.abs(old))] = 0.0
    group = {name, *_fixed_to(robot, name)}
    alone = len(group) == 1 and not _motors_on(robot, group)
    can_be = rest[0] > 0.0 or not rest[:4].any()
    if not alone and can_be and (_is_body(rest) or not _is_body(new)):
        links[name] = _link(name, rest)
        return
    links[name] = _link(name, new)
    emptied = []
    for other in sorted(group - {name}):
        if any(robot.link(other).spatial_inertia.parameters()):
            links[other] = Link(other)
            emptied.append(f"link {other!r}")
    for joint in _motors_on(robot, group):
        drive = joint.drive or Drive()
        motor = replace(drive.motor or Motor(), mass=0.0, com=ZERO3, inertia=(0.0,) * 6)
        joints[joint.name] = replace(joint, drive=replace(drive, motor=motor))
        emptied.append(f"the motor of joint {joint.name!r}")
    if emptied:
        yield ("info", f"link {name!r}", f"its mass and inertia are those of {', '.join(emptied)} too, which have none")


def _is_body(inertial: Array) -> bool:
    """Whether a body of density zero or more has these parameters, up to round-off."""
    values = np.linalg.eigvalsh(pseudo_inertia(inertial))
    return bool(values[0] >= -ROUND_OFF * max(values[-1], 0.0))


def _fixed_to(robot: Robot, name: str) -> list[str]:
    """The links that are welded to a moving one, directly or by others."""
    group = [name]
    for j in robot.joints:  # a parent comes before its children
        if j.is_fixed and j.parent in group:
            group.append(j.child)
    return group[1:]


def _motors_on(robot: Robot, group: set[str]) -> list[Joint]:
    """The joints whose motors some links carry, as mass or inertia."""
    motors = [(j, j.drive.motor) for j in robot.joints if j.drive and j.drive.motor and j.motor_link in group]
    return [j for j, motor in motors if motor.mass or any(motor.inertia)]


def _link(name: str, inertial: Array) -> Link:
    """The link of ten parameters."""
    m, *moments = (float(x) for x in inertial)
    if m == 0.0 and any(moments[:3]):
        raise ModelError(
            f"parameters of link {name!r}: expected first moments of zero where the mass is zero, got"
            f" {tuple(moments[:3])}. Give the link a mass; lw.base_parameters names the combinations that torques show."
        )
    whole = Inertia.of_parameters(m, *moments)
    com = whole.mc * (1.0 / m) if m else ZERO3
    return Link(name, m, com, whole.seen_from(EYE3, -com).I_o)


# ---- joints


def _driven(joint: Joint, own: Array, motor: Array | None, law: Mapping[str, Any]) -> Joint:
    """The joint with this rotor inertia, viscous and Coulomb friction, and those of a motor behind a spring."""
    rotor, viscous, coulomb = (float(x) for x in own)
    law = dict(law)
    behind = law.pop("motor_offset", None)
    drive, friction = joint.drive, joint.friction
    if drive is not None and drive.motor is not None:
        drive = replace(drive, motor=replace(drive.motor, rotor=rotor))
    elif rotor != joint.armature:
        joint = replace(joint, armature=rotor)
    if drive is None or joint.is_elastic:
        friction = replace(friction, viscous=viscous, coulomb=coulomb, **law)
    else:  # both sides of a rigid gear count together
        g = abs(drive.gear)
        v, motor_v = _shared(viscous, friction.viscous, drive.friction.viscous, g, g)
        c, motor_c = _shared(coulomb, friction.coulomb, drive.friction.coulomb, g)
        friction = replace(friction, viscous=v, coulomb=c, **law)
        drive = replace(drive, friction=replace(drive.friction, viscous=motor_v, coulomb=motor_c))
    if drive is not None and motor is not None:
        g = abs(drive.gear)
        motor_v, motor_c = _behind(motor[0], drive.friction.viscous, g, g), _behind(motor[1], drive.friction.coulomb, g)
        drive = replace(drive, friction=replace(drive.friction, viscous=motor_v, coulomb=motor_c))
        if behind is not None:
            drive = replace(drive, friction=replace(drive.friction, offset=behind / drive.gear))
    same = (drive, friction) == (joint.drive, joint.friction)
    return joint if same else replace(joint, drive=drive, friction=friction)


def _shared(total: float, own: float, motor: float, *gears: float) -> tuple[float, float]:
    """Friction of the joint and of its motor that count as `total`: the motor's stays, unless it is too much."""
    seen = math.prod(gears, start=motor)
    if total == own + seen:
        return own, motor
    return (total - seen, motor) if total >= seen or motor == 0.0 else (0.0, total / math.prod(gears))


def _behind(total: float, motor: float, *gears: float) -> float:
    """Friction of a motor that counts as `total` seen through its gear."""
    return motor if total == math.prod(gears, start=motor) else float(total) / math.prod(gears)
