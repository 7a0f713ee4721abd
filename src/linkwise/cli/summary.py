"""What there is to know of a robot, as plain data that is printed or written as JSON."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

from linkwise.algorithms.forward_dynamics import forward_dynamics
from linkwise.errors import LinkwiseError
from linkwise.kernel.compile import compile
from linkwise.kernel.dynamics import Dynamics
from linkwise.kernel.robot_tracing import cost
from linkwise.kernel.tracing import without_collector
from linkwise.robot.drive import Drive, Friction
from linkwise.robot.joint import Joint
from linkwise.robot.robot import Robot

MANY = 24  # degrees of freedom from which the largest kernels are left out
LARGEST = ("inverse_dynamics_hessian", "joint_wrench_derivatives", "kinematics_derivatives")
LARGE = 48  # degrees of freedom from which kernels that grow with the square are left out
LINEAR = ("inverse_dynamics", "joint_wrenches", "bias_forces", "gravity_forces")


def summary(robot: Robot) -> dict[str, Any]:
    """Sizes, masses, links, joints, frames, loops and diagnostics; infinite limits are None."""
    return {
        "name": robot.name,
        "links": len(robot.links),
        "joints": len(robot.joints),
        "nq": robot.nq,
        "nv": robot.nv,
        "names": list(robot.names),
        "coordinates": list(robot.coordinates),
        "drives": list(robot.drives),
        "followers": [n for n in robot.opened().slots if n not in robot.speeds],
        "mass": sum(k.mass for k in robot.links) + sum(_motor_mass(j) for j in robot.joints),
        "gravity": list(robot.gravity),
        "link_table": [{"name": k.name, "mass": k.mass, "com": list(k.com)} for k in robot.links],
        "joint_table": [joint_facts(j) for j in robot.joints],
        "frames": [{"name": f.name, "link": f.link, "xyz": list(f.origin.p)} for f in robot.frames],
        "loops": [{"name": c.name, "kind": c.kind, "a": c.a, "b": c.b, "active": list(c.active)} for c in robot.loops],
        "provenance": dict(robot.provenance),
        "diagnostics": [d._asdict() for d in robot.diagnostics],
    }


def joint_facts(joint: Joint) -> dict[str, Any]:
    """A joint as plain data, without what it does not have."""
    facts: dict[str, Any] = {
        "name": joint.name, "kind": joint.kind, "parent": joint.parent, "child": joint.child,
    }  # fmt: skip
    if joint.freedom.has_axis:
        facts["axis"] = list(joint.axis)
    limits = {k: v for k, v in vars(joint.limits).items() if math.isfinite(v)}
    if limits:
        facts["limits"] = limits
    if joint.friction != Friction():
        facts["friction"] = _friction(joint.friction)
    if joint.armature:
        facts["armature"] = joint.armature
    if joint.spring:
        facts["spring"] = dict(vars(joint.spring))
    if joint.drive:
        facts["drive"] = _drive(joint.drive, joint.motor_link)
    if joint.mimic:
        facts["mimic"] = dict(vars(joint.mimic))
    return facts


def operations(robot: Robot, everything: bool = False) -> dict[str, dict[str, int] | str]:
    """Operations of one evaluation of each kernel, found by tracing alone, or why there is no such kernel.

    Robots of many degrees of freedom are not asked for the largest kernels, those of very many for kernels of linear
    cost only, unless `everything` is wanted.
    """
    return without_collector(lambda: _operations(robot, everything))  # it would search many graphs, again and again


def _operations(robot: Robot, everything: bool) -> dict[str, dict[str, int] | str]:
    dynamics = compile(robot)
    counts: dict[str, dict[str, int] | str] = {}
    for name, member in vars(Dynamics).items():
        if not isinstance(member, cached_property) or name.startswith("_"):
            continue
        if not _concerns(robot, name):
            continue
        if not everything and ((robot.nv > LARGE and name not in LINEAR) or (robot.nv > MANY and name in LARGEST)):
            counts[name] = (
                f"counting takes long with {robot.nv} degrees of freedom. The option --all counts every kernel."
            )
            continue
        try:
            counts[name] = dict(getattr(dynamics, name).count())
        except LinkwiseError as error:
            counts[name] = str(error)
    return counts


def _concerns(robot: Robot, name: str) -> bool:
    """Whether a member is about robots such as this one, with loops or with elastic drives."""
    if name.startswith("tree_") or name == "drive_jacobian":
        return robot.follows
    return not name.startswith("elastic_") or any(j.is_elastic for j in robot.joints)


def forward_routes(robot: Robot) -> dict[str, Any]:
    """Operations of forward dynamics by each of its routes, or why one cannot be taken, and which compile takes."""
    found: dict[str, dict[str, int] | str] = {}
    for route in forward_dynamics.static["route"]:
        try:
            found[route] = dict(compile(robot, forward_dynamics, route=route).count())
        except LinkwiseError as error:
            found[route] = str(error)
    counted = {route: cost(count) for route, count in found.items() if not isinstance(count, str)}
    return {"routes": found, "taken": min(counted, key=lambda route: counted[route]) if counted else None}


def _motor_mass(joint: Joint) -> float:
    return joint.drive.motor.mass if joint.drive and joint.drive.motor else 0.0


def _friction(friction: Friction) -> dict[str, Any]:
    kept = {"coulomb": (), "tanh": ("width",), "stribeck": ("width", "static", "stribeck")}[friction.law]
    offset = ("offset",) if friction.offset else ()
    return {k: getattr(friction, k) for k in ("law", "viscous", "coulomb", *kept, *offset)}


def _drive(drive: Drive, mount: str) -> dict[str, Any]:
    facts: dict[str, Any] = {"gear": drive.gear}
    if drive.motor:
        facts["motor"] = {"link": mount, "mass": drive.motor.mass, "rotor": drive.motor.rotor}
    if drive.stiffness is not None:
        facts |= {"stiffness": drive.stiffness, "damping": drive.damping}
    if drive.friction != Friction():
        facts["friction"] = _friction(drive.friction)
    if drive.curve:
        facts["curve"] = [list(p) for p in drive.curve]
    if math.isfinite(drive.power):
        facts["power"] = drive.power
    return facts
