"""The robots of our tables, for Linkwise and for its peers."""

from __future__ import annotations

import sysconfig
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

import linkwise as lw
from linkwise.peers import models
from linkwise.peers.models import has as has
from linkwise.robot.joint_order import Permutation
from papers.forward_routes import general_chain as general_chain

ROBOTS = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/share/example-robot-data/robots"
FILES = {
    "Panda": "panda_description/urdf/panda.urdf",
    "UR5": "ur_description/urdf/ur5_robot.urdf",
    "TALOS": "talos_data/robots/talos_reduced.urdf",
}

PLANNED = {"UR10": "ur_description/urdf/ur10_robot.urdf"}  # in the table of plans alone

FLOATING = {"Solo12": "solo_description/robots/solo12.urdf"}  # compared with peers

LARGE = {
    "ANYmal C": "anymal_c_simple_description/urdf/anymal.urdf",
    "TALOS floating": "talos_data/robots/talos_reduced.urdf",
}  # floating too, compared with the limit of a core


def path(name: str) -> Path:
    """The URDF file of a robot in the package example-robot-data."""
    return ROBOTS / (FILES | PLANNED | FLOATING | LARGE)[name]


def locked(names: list[str] | tuple[str, ...]) -> list[str]:
    """The joints that our tables lock: Panda's fingers."""
    return [n for n in names if "finger" in n]


@cache
def robot(name: str) -> lw.Robot:
    """The robot without friction, which Pinocchio does not know."""
    full = lw.load(path(name), base="floating" if name in FLOATING | LARGE else "fixed").without_friction()
    return full.lock(locked(full.names))


def pinocchio_model(name: str):
    """Pinocchio's model of the same robot, and where our joints are in its order."""
    import pinocchio as pin

    base = (pin.JointModelFreeFlyer(),) if name in FLOATING else ()
    model = pin.buildModelFromUrdf(str(path(name)), *base)
    away = [model.getJointId(n) for n in locked(list(model.names))]
    model = pin.buildReducedModel(model, away, pin.neutral(model)) if away else model
    order = lw.permutation(robot(name), list(model.names)[1:])
    return model, order


def mujoco_model(name: str):
    """MuJoCo's model of the same robot without contacts, and where our joints are in its order."""
    return models.mujoco_model(robot(name))


def mujoco_state(name: str, order: Permutation, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of positions and velocities as MuJoCo has them: (w, x, y, z), and a free base's v in the world's axes."""
    qpos, qvel = q[:, order.q].copy(), qd[:, order.v].copy()
    if name in FLOATING:
        qpos[:, 3:7] = q[:, [6, 3, 4, 5]]
        qvel[:, :3] = _turned(q, qd[:, :3])
    return qpos, qvel


def mujoco_acceleration(name: str, order: Permutation, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """Rows of accelerations as MuJoCo has them: a free base's are classical, linear ones in the world's axes."""
    qacc = qdd[:, order.v].copy()
    if name in FLOATING:
        qacc[:, :3] = _turned(q, lw.compile(robot(name)).classical_acceleration(qd, qdd)[:, :3])
    return qacc


def _turned(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Vectors of a free base in the world's axes."""
    axis, w = q[:, 3:6], q[:, 6:7]
    t = 2.0 * np.cross(axis, v)
    return v + w * t + np.cross(axis, t)


def stanford() -> lw.Robot:
    """The Stanford arm, which has neither friction nor rotors."""
    return lw.load("stanford")


def puma560() -> lw.Robot:
    """The Puma 560 without friction and rotors."""
    full = lw.load("puma560").without_friction()
    return full.replace(*(replace(j, armature=0.0) for j in full.joints))
