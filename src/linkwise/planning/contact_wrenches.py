"""Wrenches of contacts at an instant: as their splines say, or such that they hold exactly what they have to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from linkwise.algorithms.algorithm import World, external_on_bodies
from linkwise.algorithms.inverse_dynamics import inverse_dynamics
from linkwise.algorithms.kinematics import world_poses
from linkwise.planning.chart import Chart
from linkwise.planning.drives import drives_of
from linkwise.planning.stance import Stance, balanced
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar
from linkwise.spatial import Pose
from linkwise.vector import Vec3, cross


def standing(
    machine: Any,
    tree: Tree,
    chart: Chart,
    motion: Sequence[Sequence[Scalar]],
    numbers: Sequence[Scalar],
    outside: World,
    exactly: bool,
) -> tuple[list[list[Scalar]], list[Pose]]:
    """Wrenches of contacts in their axes, and poses of their frames.

    Args:
        machine: what moves.
        tree: its bodies.
        chart: what its numbers are.
        motion: positions, velocities and accelerations of what leads.
        numbers: all on splines.
        outside: what else acts.
        exactly: whether what the wrenches leave on the base is shared among them.
    """
    poses = world_poses(tree, machine.at(motion[0]).q)
    feet = [poses[i] @ X for i, X in (tree.place(s.frame) for s in chart.stances)]
    own = [numbers[at] for at in chart.pushing]
    wrenches = [s.wrench(x[:-1]) for s, x in zip(chart.stances, own, strict=True)]
    if not exactly:
        return wrenches, feet
    world = with_contacts(outside, tree, chart.stances, wrenches, feet)
    (tau,) = inverse_dynamics.function(machine, *motion, world=world)
    left = [tau[chart.robot.motors[k]] for k in drives_of(chart.robot).passive]
    (name,) = drives_of(chart.robot).floating_joints
    base = poses[tree.place(chart.robot.joint(name).child)[0]]
    force = base.R @ Vec3(*left[:3])
    missing = force, base.R @ Vec3(*left[3:]) + cross(base.p, force)
    return balanced(chart.stances, feet, wrenches, [x[-1] for x in own], missing), feet


def with_contacts(
    world: World, tree: Tree, stances: Sequence[Stance], wrenches: Sequence[Sequence[Scalar]], feet: Sequence[Pose]
) -> World:
    """What acts on the bodies of a tree, with the wrenches of contacts."""
    total = dict(world.external)
    for stance, six, pose in zip(stances, wrenches, feet, strict=True):
        for i, wrench in external_on_bodies(tree, {stance.frame: stance.on_frame(six, pose)}).items():
            total[i] = total[i] + wrench if i in total else wrench
    return replace(world, external=total)
