"""Vectors between a Linkwise robot and Pinocchio's model of the same URDF.

Pinocchio sorts joints by name, stores a continuous joint as (cos, sin), and is loaded with mimic joints as
joints of their own; here everything goes by names, and mimicry is the coupling v_pin = G v.
"""

from collections.abc import Iterable
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import pinocchio as pin

from linkwise.robot import Robot

ROBOTS = Path(str(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")))


def example(name: str) -> Path:
    """The path of a URDF of example-robot-data, by the end of its path: "panda.urdf", "b1-z1.urdf"."""
    found = [p for p in ROBOTS.rglob("*.urdf") if str(p).endswith(f"/{name}")]
    if len(found) != 1:
        raise KeyError(f"{len(found)} files of example-robot-data end in {name!r}")
    return found[0]


def model(path: Path | str, floating: bool = False, locked: Iterable[str] = ()) -> pin.Model:
    """Pinocchio's model; joints named in `locked` are fixed at zero."""
    root = (pin.JointModelFreeFlyer(),) if floating else ()
    full = pin.buildModelFromUrdf(str(path), *root, mimic=False)
    names = list(locked)
    if not names:
        return full
    return pin.buildReducedModel(full, [full.getJointId(n) for n in names], pin.neutral(full))


def coupling(robot: Robot, model: pin.Model) -> np.ndarray:
    """G of v_pin = G v, (model.nv, robot.nv): a permutation, and the ratios of joints that mimic."""
    G = np.zeros((model.nv, robot.nv))
    for joint in robot.joints:
        if joint.is_fixed:
            continue
        theirs = _joint(model, joint.name)
        ours = robot.slots[joint.mimic.joint if joint.mimic else joint.name]
        for k in range(theirs.nv):
            G[theirs.idx_v + k, ours.v + k] = joint.mimic.ratio if joint.mimic else 1.0
    return G


def to_pin_q(robot: Robot, model: pin.Model, q: np.ndarray) -> np.ndarray:
    """Positions (..., robot.nq) in Pinocchio's order and form (..., model.nq)."""
    q = np.asarray(q, float)
    out = np.broadcast_to(pin.neutral(model), (*q.shape[:-1], model.nq)).copy()
    for joint in robot.joints:
        if joint.is_fixed:
            continue
        theirs = _joint(model, joint.name)
        ours = robot.slots[joint.mimic.joint if joint.mimic else joint.name]
        value = q[..., ours.q : ours.q + ours.nq]
        if joint.mimic:
            value = joint.mimic.ratio * value + joint.mimic.offset
        if theirs.nq == 2 and theirs.nv == 1:
            value = np.concatenate([np.cos(value), np.sin(value)], axis=-1)
        out[..., theirs.idx_q : theirs.idx_q + theirs.nq] = value
    return out


def to_pin_v(robot: Robot, model: pin.Model, v: np.ndarray) -> np.ndarray:
    """Velocities or accelerations (..., robot.nv) in Pinocchio's order."""
    return np.asarray(v, float) @ coupling(robot, model).T


def from_pin_tau(robot: Robot, model: pin.Model, tau: np.ndarray) -> np.ndarray:
    """Generalised forces (..., model.nv) in Linkwise's order, mimic joints' added to their leaders'."""
    return np.asarray(tau, float) @ coupling(robot, model)


def from_pin_matrix(robot: Robot, model: pin.Model, M: np.ndarray) -> np.ndarray:
    """A matrix over velocities (..., model.nv, model.nv), such as the mass matrix, in Linkwise's order."""
    G = coupling(robot, model)
    return G.T @ np.asarray(M, float) @ G


def rnea(robot: Robot, model: pin.Model, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """Pinocchio's inverse dynamics in Linkwise's order, over a batch (n, ...)."""
    data = model.createData()
    states = zip(to_pin_q(robot, model, q), to_pin_v(robot, model, qd), to_pin_v(robot, model, qdd), strict=True)
    return from_pin_tau(robot, model, np.array([pin.rnea(model, data, *state) for state in states]))


def random_states(robot: Robot, n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions (n, nq) with unit quaternions, velocities and accelerations (n, nv)."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-2.0, 2.0, (n, robot.nq))
    for slot in robot.slots.values():
        if slot.nq == 7:
            x = rng.normal(size=(n, 4))
            q[:, slot.q + 3 : slot.q + 7] = x / np.linalg.norm(x, axis=1, keepdims=True)
    return q, rng.uniform(-2.0, 2.0, (n, robot.nv)), rng.uniform(-5.0, 5.0, (n, robot.nv))


def _joint(model: pin.Model, name: str) -> pin.JointModel:
    if not model.existJointName(name):
        raise KeyError(f"Pinocchio has no joint {name!r}")
    return model.joints[model.getJointId(name)]
