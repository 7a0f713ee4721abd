"""Random robots, states and derivatives for the laws of mechanics."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

import linkwise as lw
from linkwise.robot import Joint, Robot

SEEDS = range(12)
KINDS = (("revolute", "prismatic"), ("revolute",), ("revolute", "floating"), ("prismatic", "continuous"))
RESISTANCE = {"friction": 0.5, "springs": 0.4}
STEP = 1e-40  # of a complex step, which has no round-off


@cache
def tree(seed: int, **options: Any) -> Robot:
    """A robot with every feature; each fourth has a floating base, each fourth floating joints further out."""
    features: dict[str, Any] = {"mimic": 0.2, "armature": 0.4, "motors": 0.4, "frames": 4, **RESISTANCE}
    kinds = KINDS[seed % 4]
    features |= {"kinds": kinds, "floating": seed % 4 == 1, "joints": 3 if "floating" in kinds else 5}
    return lw.random_tree(seed, **{**features, **options})


def ideal(seed: int, **options: Any) -> Robot:
    """The same without friction and springs."""
    return tree(seed, friction=0.0, springs=0.0, **options)


@cache
def dynamics(robot: Robot, **options: Any) -> Any:
    """The compiled functions of a robot, one set for all tests."""
    return lw.compile(robot, **options)


def states(robot: Robot, rows: int = 9, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random q, qd, qdd, with unit quaternions."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-2.0, 2.0, (rows, robot.nq))
    for slot in robot.slots.values():
        if slot.nq == 7:
            quaternion = q[:, slot.q + 3 : slot.q + 7]
            quaternion /= np.linalg.norm(quaternion, axis=1, keepdims=True)
    qd, qdd = rng.uniform(-2.0, 2.0, (2, rows, robot.nv))
    return q, qd, qdd


def error(a: Any, b: Any) -> float:
    """max|a - b| / max|b|; absolute where b is zero."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    assert a.shape == b.shape, f"shapes {a.shape} and {b.shape}"
    size = np.abs(b).max(initial=0.0)
    return float(np.abs(a - b).max(initial=0.0) / (size if size > 0.0 else 1.0))


# ---- derivatives along a motion


def q_dot(robot: Robot, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """The rates of the numbers in q: of positions in the parent's axes, of quaternions by half their product."""
    rate = np.zeros(robot.nq)
    for slot in robot.slots.values():
        if slot.nq == 1:
            rate[slot.q] = qd[slot.v]
            continue
        v, omega = qd[slot.v : slot.v + 3], qd[slot.v + 3 : slot.v + 6]
        x, w = q[slot.q + 3 : slot.q + 6], q[slot.q + 6]
        rate[slot.q : slot.q + 3] = rotation(q[slot.q + 3 : slot.q + 7]) @ v
        rate[slot.q + 3 : slot.q + 6] = 0.5 * (w * omega + np.cross(x, omega))
        rate[slot.q + 6] = -0.5 * x @ omega
    return rate


def rate_along(
    robot: Robot, function: Callable[..., Any], q: np.ndarray, qd: np.ndarray, qdd: np.ndarray | None = None
) -> np.ndarray:
    """d/dt of function(q) or, with qdd, of function(q, qd), along the motion, by a complex step."""
    given = [(q + STEP * 1j * q_dot(robot, q, qd)).tolist()]
    if qdd is not None:
        given.append((qd + STEP * 1j * qdd).tolist())
    return np.imag(np.array(function(*given), complex)) / STEP


def gradient(robot: Robot, function: Callable[..., Any], q: np.ndarray) -> np.ndarray:
    """Derivatives of function(q) along each generalised velocity, in the last axis."""
    return np.stack([rate_along(robot, function, q, unit) for unit in np.eye(robot.nv)], axis=-1)


def rotation(xyzw: np.ndarray) -> np.ndarray:
    x, y, z, w = xyzw
    return np.eye(3) + 2.0 * (w * hat((x, y, z)) + hat((x, y, z)) @ hat((x, y, z))) / (xyzw @ xyzw)


def hat(a: Any) -> np.ndarray:
    x, y, z = a
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def vee(W: np.ndarray) -> np.ndarray:
    return np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) / 2.0


def matrix(X: lw.Pose) -> np.ndarray:
    return np.array(X.matrix(), float)


def seen_from(T: np.ndarray, wrench: np.ndarray) -> np.ndarray:
    """A wrench given in a frame at T, in the outer axes about the outer origin."""
    force, moment = T[:3, :3] @ wrench[:3], T[:3, :3] @ wrench[3:]
    return np.concatenate([force, moment + np.cross(T[:3, 3], force)])


# ---- parts of robots


def moving(robot: Robot) -> Iterator[tuple[Joint, Any, float, float]]:
    """Each joint that moves, the slot of its coordinates, and its ratio and offset to them."""
    for j in robot.joints:
        if not j.is_fixed:
            leader = j.mimic.joint if j.mimic else j.name
            ratio, offset = (j.mimic.ratio, j.mimic.offset) if j.mimic else (1.0, 0.0)
            yield j, robot.slots[leader], ratio, offset


def carried(robot: Robot, root: str) -> set[str]:
    """The link `root` and all that hang on it."""
    found = {root}
    for j in robot.joints:
        if j.parent in found:
            found.add(j.child)
    return found


def grounded(robot: Robot) -> set[str]:
    """The links welded to the root."""
    found = {robot.root.name}
    for j in robot.joints:
        if j.is_fixed and j.parent in found:
            found.add(j.child)
    return found


def masses(robot: Robot) -> list[tuple[str, float, np.ndarray, np.ndarray]]:
    """Link, mass, com and tensor about the com of every body that moves: links and motors."""
    still = grounded(robot)
    found = [(k.name, k.mass, np.array(k.com), tensor(k.inertia)) for k in robot.links]
    for j in robot.joints:
        motor = j.drive.motor if j.drive else None
        if motor:
            on = motor.link if motor.link is not None else j.parent
            found.append((on, motor.mass, np.array(motor.com), tensor(motor.inertia)))
    return [body for body in found if body[0] not in still]


def tensor(six: Any) -> np.ndarray:
    xx, xy, xz, yy, yz, zz = six
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def with_motors_on(robot: Robot, links: set[str]) -> Robot:
    """The robot with every motor that is mounted elsewhere moved to the parent of its joint."""
    joints = []
    for j in robot.joints:
        if j.drive and j.drive.motor and j.drive.motor.link not in (None, *links):
            motor = replace(j.drive.motor, link=None)
            j = replace(j, drive=replace(j.drive, motor=motor))
        joints.append(j)
    return robot.replace(joints=joints)
