"""MuJoCo's inverse dynamics of a URDF, without shapes, contacts, limits and damping, in Linkwise's order."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import mujoco
import numpy as np

import linkwise as lw


def model(robot: lw.Robot, path: Path) -> mujoco.MjModel:
    """The model of a URDF whose joints that the robot does not have are fixed."""
    root = ElementTree.parse(path).getroot()
    for link in root.iter("link"):
        for shape in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(shape)
    for joint in root.findall("joint"):
        if joint.get("name") not in robot.names:
            joint.set("type", "fixed")
            for mimic in joint.findall("mimic"):
                joint.remove(mimic)
    options = ElementTree.SubElement(ElementTree.SubElement(root, "mujoco"), "compiler")
    options.attrib.update(balanceinertia="true", fusestatic="false")
    made = mujoco.MjModel.from_xml_string(ElementTree.tostring(root, encoding="unicode"))
    made.dof_damping[:] = made.dof_frictionloss[:] = 0.0
    made.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    return made


def inverse(robot: lw.Robot, path: Path, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """Torques (n, nv) of a robot of hinges and slides."""
    made = model(robot, path)
    names = [mujoco.mj_id2name(made, mujoco.mjtObj.mjOBJ_JOINT, k) for k in range(made.njnt)]
    order = lw.permutation(robot, names)
    data, rows = mujoco.MjData(made), []
    for state in zip(q, qd, qdd, strict=True):
        data.qpos[:], data.qvel[:], data.qacc[:] = (x[order.v] for x in state)
        mujoco.mj_inverse(made, data)
        rows.append(data.qfrc_inverse[order.v_back].copy())
    return np.array(rows)
