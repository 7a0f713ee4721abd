"""Robots with every feature of the model, and measures of how equal two robots are."""

import random
from dataclasses import replace

import numpy as np

import linkwise as lw
from linkwise.algorithms.inverse_dynamics import inverse_dynamics
from linkwise.algorithms.kinematics import pose
from linkwise.robot.robot import Robot
from support.pinocchio_bridge import random_states

KINDS = ("revolute", "continuous", "prismatic", "floating")
CHANCES = {"mimic": 0.3, "friction": 0.6, "armature": 0.5, "springs": 0.5, "motors": 0.5}


def everything(seed: int, joints: int = 10) -> Robot:
    """A random tree to which limits, elastic drives, loops, notes and a gravity are added."""
    robot = lw.random_tree(seed, joints, kinds=KINDS, floating=seed % 2 == 0, frames=3, **CHANCES)
    draw = random.Random(seed)
    new = [_with_limits(_with_drive(j, draw), draw) for j in robot.joints if j.kind not in ("fixed", "floating")]
    ends = [k.name for k in draw.sample(robot.links, 2)]
    poses = [f.origin for f in robot.frames]
    loops = [lw.Loop("loop", *ends, "universal", *poses[:2], [j.name for j in new[:2]]), lw.Loop("plain", *ends)]
    notes = [("warning", "link 'base'", 'a "remark"\n of \\ two lines \x7f \x01 \u20ac')]
    gravity = [draw.uniform(-10, 10) for _ in range(3)]
    provenance = {"log": 'a "log".csv', "two words": "1 \u20ac\n\\", "error": 0.07}
    offset = [replace(j, friction=replace(j.friction, offset=draw.uniform(-1, 1))) for j in new]
    named = {"name": f'all "{seed}"', "provenance": provenance}
    return robot.replace(*offset, loops=loops, gravity=gravity, notes=notes, **named)


def _with_drive(j: lw.Joint, draw: random.Random) -> lw.Joint:
    if draw.random() < 0.5:
        return j
    drive = j.drive or lw.Drive(gear=draw.uniform(1, 100))
    curve = [(0.0, 1.0), (draw.uniform(1, 2), 0.5)]
    elastic = {"stiffness": draw.uniform(1, 1e4), "damping": draw.uniform(0, 1)} if draw.random() < 0.5 else {}
    return replace(j, drive=replace(drive, curve=curve, power=draw.uniform(1, 100), **elastic))


def _with_limits(j: lw.Joint, draw: random.Random) -> lw.Joint:
    names = ("velocity", "acceleration", "jerk", "effort", "effort_rate")
    limits = {name: draw.uniform(0, 10) for name in names if draw.random() < 0.5}
    if j.kind != "continuous" and draw.random() < 0.7:
        limits |= {"lower": draw.uniform(-3, 0), "upper": draw.uniform(0, 3)}
    return replace(j, limits=lw.Limits(**limits))


def torque_error(a: Robot, b: Robot, states: int = 3) -> float:
    """The largest difference of torques at random states, relative to the largest torque."""
    q, qd, qdd = random_states(a, states)
    ours, theirs = (
        np.array([inverse_dynamics.plain(r, *s) for s in zip(q, qd, qdd, strict=True)], float) for r in (a, b)
    )
    return float(np.abs(ours - theirs).max(initial=0.0) / np.abs(ours).max(initial=1e-300))


def pose_error(a: Robot, b: Robot, base: lw.Pose = lw.Pose()) -> float:
    """The largest difference of the poses of links and frames of `a`, at most 15; `b` stands at `base`."""
    worst = 0.0
    names = sorted({*(k.name for k in a.links), *(f.name for f in a.frames)})
    (q,) = random_states(a, 1)[0]
    for name in random.Random(0).sample(names, min(len(names), 15)):
        X, Y = (np.reshape(np.array(pose.plain(r, q, frame=name), float), (4, 4)) for r in (a, b))
        worst = max(worst, float(np.abs(X - np.array(base.matrix(), float) @ Y).max()))
    return worst
