"""The robots of our tables, for Linkwise and for its peers."""

from __future__ import annotations

import sysconfig
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

import linkwise as lw
from linkwise.report.peers import has as has

ROBOTS = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/share/example-robot-data/robots"
FILES = {
    "Panda": "panda_description/urdf/panda.urdf",
    "UR5": "ur_description/urdf/ur5_robot.urdf",
    "TALOS": "talos_data/robots/talos_reduced.urdf",
}

FLOATING = {"Solo12": "solo_description/robots/solo12.urdf"}


def path(name: str) -> Path:
    """The URDF file of a robot in the package example-robot-data."""
    return ROBOTS / (FILES | FLOATING)[name]


def locked(names: list[str] | tuple[str, ...]) -> list[str]:
    """The joints that our tables lock: Panda's fingers."""
    return [n for n in names if "finger" in n]


@cache
def robot(name: str) -> lw.Robot:
    """The robot without friction, which Pinocchio does not know."""
    full = lw.load(path(name), base="floating" if name in FLOATING else "fixed").without_friction()
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
    """MuJoCo's model of the same robot without shapes, contacts and damping, and where our joints are in its order."""
    import mujoco

    root = ElementTree.parse(path(name)).getroot()
    for link in root.iter("link"):
        for shape in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(shape)
    for joint in root.findall("joint"):
        if joint.get("name") in locked([joint.get("name")]):
            joint.set("type", "fixed")
            for mimic in joint.findall("mimic"):
                joint.remove(mimic)
    options = ElementTree.SubElement(ElementTree.SubElement(root, "mujoco"), "compiler")
    options.set("balanceinertia", "true")
    options.set("discardvisual", "false")
    options.set("fusestatic", "false")
    model = mujoco.MjModel.from_xml_string(ElementTree.tostring(root, encoding="unicode"))
    model.dof_damping[:] = 0.0
    model.dof_frictionloss[:] = 0.0
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT
    names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, k) for k in range(model.njnt)]
    return model, lw.permutation(robot(name), names)


def stanford() -> lw.Robot:
    """The Stanford arm, which has neither friction nor rotors."""
    return lw.load("stanford")


def puma560() -> lw.Robot:
    """The Puma 560 without friction and rotors."""
    full = lw.load("puma560").without_friction()
    return full.replace(*(replace(j, armature=0.0) for j in full.joints))


def general_chain(joints: int, seed: int = 1) -> lw.Robot:
    """A chain of revolute joints with nothing special: full inertias, no right angles, no zero offsets, tilted base."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(joints):
        spread = rng.normal(size=(3, 3)) * 0.1
        rows.append({
            "theta": rng.uniform(0.2, 1.3), "d": rng.uniform(0.1, 0.5), "a": rng.uniform(0.1, 0.5),
            "alpha": rng.uniform(0.2, 1.3), "mass": rng.uniform(1, 5), "com": rng.normal(size=3) * 0.1,
            "inertia": np.eye(3) * np.trace(spread @ spread.T) - spread @ spread.T,
        })  # fmt: skip
    return lw.modified_dh(rows, name=f"general {joints}R", gravity=(3.0, -4.0, -8.0))
