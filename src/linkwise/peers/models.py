"""Models of a robot in other libraries, built from the robot itself rather than from a file."""

from __future__ import annotations

import importlib.util
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable
from typing import Any

from linkwise.errors import LinkwiseError
from linkwise.robot.joint import Joint
from linkwise.robot.joint_order import Permutation, permutation
from linkwise.robot.link import Link
from linkwise.robot.robot import Robot
from linkwise.spatial import Inertia, Pose, symmetric
from linkwise.vector import EYE3, Vec3


def has(package: str) -> bool:
    """Whether a peer is installed."""
    return importlib.util.find_spec(package) is not None


def ideal(robot: Robot) -> Robot:
    """The robot without what peers leave out or model otherwise: friction.

    Joints that mimic, springs and motors have no counterpart in both peers; a robot with them is refused.
    """
    for j in robot.joints:
        kind = "mimics another" if j.mimic else "has a spring" if j.spring else ""
        if j.drive and (j.drive.motor or j.drive.is_elastic):
            kind = "is elastic" if j.drive.is_elastic else "has a motor with a mass of its own"
        remedy = "Take it as rigid (--rigid)" if kind == "is elastic" else f"Lock it (--lock {j.name})"
        if kind:
            raise LinkwiseError(
                f"joint {j.name!r} {kind}, which other libraries model differently. {remedy} or choose another robot."
            )
    return robot.without_friction()


def pinocchio_model(robot: Robot) -> tuple[Any, Permutation]:
    """Pinocchio's model of the robot, and where our joints are in its order."""
    import numpy as np
    import pinocchio as pin

    model = pin.Model()
    model.gravity.linear = np.array(robot.gravity)
    where: dict[str, tuple[int, Any]] = {robot.root.name: (0, pin.SE3.Identity())}  # link: joint and pose on it
    for j in robot.joints:
        parent, X = where[j.parent]
        X = X * se3(j.origin)
        if j.is_fixed:
            where[j.child] = (parent, X)
        else:
            to_axis = pin.SE3(np.eye(3), np.array(j.anchor))
            k = model.addJoint(parent, _pinocchio_joint(pin, j), X * to_axis, j.name)
            where[j.child] = (k, to_axis.inverse())
        k, X = where[j.child]
        model.appendBodyToJoint(k, pinocchio_inertia(robot.link(j.child)), X)
    armature = np.zeros(model.nv)
    for j in robot.joints:
        if j.armature:
            armature[model.joints[model.getJointId(j.name)].idx_v] = j.armature
    model.armature = armature
    return model, permutation(robot, list(model.names)[1:])


def se3(X: Pose) -> Any:
    """A pose as Pinocchio has it."""
    import numpy as np
    import pinocchio as pin

    return pin.SE3(np.array(X.R), np.array(X.p))


def pinocchio_inertia(link: Link) -> Any:
    """Mass, centre and tensor of a link as Pinocchio has them."""
    import numpy as np
    import pinocchio as pin

    return pin.Inertia(link.mass, np.array(link.com), np.array(symmetric(*link.inertia)))


def _pinocchio_joint(pin: Any, joint: Joint) -> Any:
    """The fastest kind of joint that Pinocchio has for it."""
    import numpy as np

    if joint.freedom.nv == 6:
        return pin.JointModelFreeFlyer()
    kind = "P" if joint.freedom.slides else "R"
    for name, axis in (("X", (1, 0, 0)), ("Y", (0, 1, 0)), ("Z", (0, 0, 1))):
        if tuple(joint.axis) == axis:
            return getattr(pin, f"JointModel{kind}{name}")()
    whole = {"P": pin.JointModelPrismaticUnaligned, "R": pin.JointModelRevoluteUnaligned}[kind]
    return whole(np.array(joint.axis))


def mujoco_model(robot: Robot) -> tuple[Any, Permutation]:
    """MuJoCo's model of the robot, without contacts, and where our joints are in its order.

    A floating joint on the root is MuJoCo's free joint, whose position has its quaternion first and whose linear
    velocity is in world axes.
    """
    import mujoco

    root = ElementTree.Element("mujoco")
    ElementTree.SubElement(root, "compiler", angle="radian", inertiafromgeom="false")
    option = ElementTree.SubElement(root, "option", gravity=_numbers(robot.gravity))
    ElementTree.SubElement(option, "flag", contact="disable", limit="disable")
    bodies = {robot.root.name: ElementTree.SubElement(root, "worldbody")}
    masses = _welded(robot)
    for j in robot.joints:
        R, p = j.origin.R.T, j.origin.p
        body = ElementTree.SubElement(bodies[j.parent], "body", name=j.child, pos=_numbers(p))
        body.set("xyaxes", _numbers([*R[0], *R[1]]))
        if j.freedom.nv == 6:
            ElementTree.SubElement(body, "freejoint", name=j.name)
        elif not j.is_fixed:
            kind = "slide" if j.freedom.slides else "hinge"
            joint = ElementTree.SubElement(body, "joint", name=j.name, type=kind, axis=_numbers(j.axis))
            joint.attrib.update(pos=_numbers(j.anchor), armature=repr(j.armature))
        mass = masses[j.child]
        if mass.m:
            com = mass.mc * (1.0 / mass.m)
            _, _, _, _, xx, xy, xz, yy, yz, zz = mass.seen_from(EYE3, -com).parameters()
            inertial = ElementTree.SubElement(body, "inertial", pos=_numbers(com), mass=repr(mass.m))
            inertial.set("fullinertia", _numbers([xx, yy, zz, xy, xz, yz]))
        bodies[j.child] = body
    try:
        model = mujoco.MjModel.from_xml_string(ElementTree.tostring(root, encoding="unicode"))
    except ValueError as error:
        raise LinkwiseError(f"MuJoCo refuses the robot: {' '.join(str(error).split())}") from error
    names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, k) for k in range(model.njnt)]
    return model, permutation(robot, names)


def _welded(robot: Robot) -> dict[str, Inertia]:
    """Inertias of links, those of welded ones with the links that carry them: MuJoCo wants none without extent."""
    found = {link.name: link.spatial_inertia for link in robot.links}
    for j in reversed(robot.joints):
        if j.is_fixed:
            found[j.parent] += found.pop(j.child).seen_from(j.origin.R, j.origin.p)
            found[j.child] = Inertia()
    return found


def _numbers(values: Iterable[float] | Vec3) -> str:
    return " ".join(repr(float(x)) for x in values)
