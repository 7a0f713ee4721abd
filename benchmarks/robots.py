"""The robots of our tables, for Linkwise and for its peers."""

from __future__ import annotations

import importlib.util
import math
import sysconfig
import xml.etree.ElementTree as ElementTree
from functools import cache
from pathlib import Path

import numpy as np

import linkwise as lw

FILES = {
    "Panda": "panda_description/urdf/panda.urdf",
    "UR5": "ur_description/urdf/ur5_robot.urdf",
    "TALOS": "talos_data/robots/talos_reduced.urdf",
}


def path(name: str) -> Path:
    """The URDF file of a robot in the package example-robot-data."""
    root = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/share/example-robot-data/robots"
    return root / FILES[name]


def locked(names: list[str] | tuple[str, ...]) -> list[str]:
    """The joints that our tables lock: Panda's fingers."""
    return [n for n in names if "finger" in n]


@cache
def robot(name: str) -> lw.Robot:
    """The robot without friction, which Pinocchio does not know."""
    full = lw.load(path(name)).without_friction()
    return full.lock(locked(full.names))


def pinocchio_model(name: str):
    """Pinocchio's model of the same robot, and where our joints are in its order."""
    import pinocchio as pin

    model = pin.buildModelFromUrdf(str(path(name)))
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


def has(package: str) -> bool:
    """Whether a peer is installed."""
    return importlib.util.find_spec(package) is not None


def stanford() -> lw.Robot:
    """The Stanford arm (Paul 1981), modified DH, as the tables of Guarino Lo Bianco complete it."""
    alpha = (0, -math.pi / 2, math.pi / 2, 0, -math.pi / 2, math.pi / 2)
    d = (0.412, 0.154, 0, 0, 0, 0.263)
    theta = (0, 0, -math.pi / 2, 0, 0, 0)
    mass = (9.29, 5.01, 4.25, 1.08, 0.63, 0.51)
    com = (
        (0, -0.1105, -0.0175),
        (0, 0, -0.1054),
        (0, 0, -0.6447),
        (0, -0.0054, -0.0092),
        (0, -0.0566, 0),
        (0, 0, 0.1554),
    )
    inertia = ((0.276, 0.071, 0.255), (0.108, 0.1, 0.018), (2.51, 2.51, 0.006), (0.002, 0.001, 0.001),
               (0.003, 0.0004, 0.003), (0.013, 0.013, 0.0003))  # fmt: skip
    rows = [
        {"theta": theta[k], "d": d[k], "a": 0.0, "alpha": alpha[k], "kind": "prismatic" if k == 2 else "revolute",
         "mass": mass[k], "com": com[k], "inertia": inertia[k]}
        for k in range(6)
    ]  # fmt: skip
    return lw.modified_dh(rows, name="stanford")


def puma560() -> lw.Robot:
    """The Puma 560, standard DH, with the parameters of Corke and Armstrong-Helouvry (1994), rotors left out."""
    a, d = (0, 0.4318, 0.0203, 0, 0, 0), (0, 0, 0.15005, 0.4318, 0, 0)
    alpha = (math.pi / 2, 0, -math.pi / 2, math.pi / 2, -math.pi / 2, 0)
    mass = (0, 17.4, 4.8, 0.82, 0.34, 0.09)
    com = ((0, 0, 0), (-0.3638, 0.006, 0.2275), (-0.0203, -0.0141, 0.070), (0, 0.019, 0), (0, 0, 0), (0, 0, 0.032))
    inertia = ((0, 0.35, 0), (0.13, 0.524, 0.539), (0.066, 0.086, 0.0125), (1.8e-3, 1.3e-3, 1.8e-3),
               (0.3e-3, 0.4e-3, 0.3e-3), (0.15e-3, 0.15e-3, 0.04e-3))  # fmt: skip
    rows = [
        {"theta": 0.0, "d": d[k], "a": a[k], "alpha": alpha[k], "mass": mass[k], "com": com[k], "inertia": inertia[k]}
        for k in range(6)
    ]
    return lw.standard_dh(rows, name="puma560")


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
