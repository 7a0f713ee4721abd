"""Machines on wheels: a base in the plane or in space, a car, a disc that rolls and tilts."""

from math import atan, pi, tan

import numpy as np

import linkwise as lw
from linkwise.robot import Curve
from linkwise.robot.link import Frame

RADIUS, LENGTH, TRACK = 0.3, 2.5, 1.4  # of the car's wheels, between its axles, between its wheels, m


def drive_in_space():
    """The differential drive on a floating joint: what wheels and caster carry is then determined."""
    robot = lw.load("differential_drive")
    base = robot.joint("planar_joint")
    joints = [j for j in robot.joints if j.name != base.name]
    free = lw.Joint("free", base.parent, base.child, "floating")
    return lw.Robot(robot.links, [free, *joints], robot.frames, robot.loops, name="in_space", reference=lifted())


def lifted(x=0.0, y=0.0, heading=0.0):
    """Where the floating base of `drive_in_space` stands on its wheels."""
    return {"free": (x, y, 0.1, 0.0, 0.0, np.sin(heading / 2), np.cos(heading / 2))}


def ackermann(inner):
    """The angle of the right front wheel when the left one has this one, both about one centre."""
    return atan(1.0 / (1.0 / tan(inner) + TRACK / LENGTH)) if inner else 0.0


def car(curve=True):
    """Four wheels, of which the front ones are steered together, and the left rear one is driven.

    The right front wheel rolls where it is put: its curve is not exact, so that it must be free to slip across.
    """
    links = [lw.Link("road"), lw.Link("body", 900.0, (1.2, 0.0, 0.2), (300.0, 1200.0, 1300.0))]
    joints = [lw.Joint("plane", "road", "body", "planar", origin=lw.Pose.of((0.0, 0.0, RADIUS)))]
    loops, angles = [], np.linspace(-0.6, 0.6, 41)
    left = (
        lw.Mimic("steer", curve=Curve(x=tuple(angles), y=tuple(map(ackermann, angles)))) if curve else lw.Mimic("steer")
    )
    for name, x, y in (("rl", 0.0, 1), ("rr", 0.0, -1), ("fl", LENGTH, 1), ("fr", LENGTH, -1)):
        wheel, carrier, place = f"wheel_{name}", "body", (x, y * TRACK / 2, 0.0)
        if x:
            carrier, steer = f"knuckle_{name}", "steer" if name == "fl" else "steer_right"
            links.append(lw.Link(carrier, 8.0, inertia=(0.1, 0.1, 0.1)))
            mimic = left if name == "fr" else None
            joints.append(lw.Joint(steer, "body", carrier, origin=lw.Pose.of(place), axis=(0, 0, 1), mimic=mimic))
            place = (0.0, 0.0, 0.0)
        links.append(lw.Link(wheel, 15.0, inertia=(0.4, 0.7, 0.4)))
        joints.append(lw.Joint(name, carrier, wheel, origin=lw.Pose.of(place), axis=(0, 1, 0)))
        active = {"rl": "rl", "fl": "steer"}.get(name, ())
        kind = "omni" if name == "fr" else "rolling"
        loops.append(lw.Loop.wheel(f"tyre_{name}", "road", wheel, RADIUS, kind=kind, active=active))
    return lw.Robot(links, joints, loops=loops, name="car")


def disc(mass=2.0, radius=0.25):
    """A thin disc: its centre moves in space, it turns about the vertical, leans, and spins about its axis (y)."""
    flat = mass * radius**2 / 4.0
    links = [lw.Link("ground"), lw.Link("point"), lw.Link("turned"), lw.Link("leaning")]
    links.append(lw.Link("disc", mass, inertia=(flat, 2.0 * flat, flat)))
    joints = [
        lw.Joint("centre", "ground", "point", "translation"),
        lw.Joint("yaw", "point", "turned", axis=(0, 0, 1)),
        lw.Joint("lean", "turned", "leaning", axis=(1, 0, 0)),
        lw.Joint("spin", "leaning", "disc", axis=(0, 1, 0)),
    ]
    loop = lw.Loop.wheel("rim", "ground", "disc", radius, active=("yaw", "lean", "spin"))
    frames = [Frame("hub", "disc")]
    return lw.Robot(links, joints, frames, [loop], name="disc", reference={"centre": (0.0, 0.0, radius)})


def closed_positions(robot, rng, rows=1):
    """Random positions in which all wheels stand on the ground."""
    q = np.array([robot.q()] * rows)
    for name, slot in robot.slots.items():
        if name not in ("free", "centre"):
            q[:, slot.q : slot.q + slot.nq] = rng.uniform(-0.6, 0.6, (rows, slot.nq)) * (
                pi / 3 if slot.nq == 1 else 1.0
            )
    if "free" in robot.slots:
        turned = [lifted(*rng.uniform(-1.0, 1.0, 3))["free"] for _ in range(rows)]
        q[:, robot.slots["free"].q : robot.slots["free"].q + 7] = turned
    if "centre" in robot.slots:
        q[:, :2], q[:, 2] = rng.normal(size=(rows, 2)), 0.25 * np.cos(q[:, robot.slots["lean"].q])
    return q
