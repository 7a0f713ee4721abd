"""Robots drawn at random, with every feature, for tests and benchmarks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from linkwise.check import whole
from linkwise.errors import InputError
from linkwise.robot.drive import LAWS, Drive, Friction, Motor, Spring
from linkwise.robot.joint import KINDS, Joint, Mimic
from linkwise.robot.link import Frame, Link
from linkwise.robot.robot import Robot
from linkwise.rotation import from_quaternion
from linkwise.spatial import Pose
from linkwise.vector import EYE3, Mat3, Vec3, outer


def random_tree(
    seed: int,
    joints: int = 8,
    *,
    kinds: Sequence[str] = ("revolute", "prismatic"),
    floating: bool = False,
    branching: float = 0.3,
    fixed: float = 0.3,
    mimic: float = 0.0,
    friction: float = 0.0,
    armature: float = 0.0,
    springs: float = 0.0,
    motors: float = 0.0,
    elastic: float = 0.0,
    frames: int = 1,
) -> Robot:
    """A robot drawn at random; the same one for the same arguments.

    Axes, anchors and placements are general; links have full inertia tensors that rigid bodies can have. The numbers
    from `branching` to `elastic` are chances between 0 and 1, for each joint; those from `mimic` on leave geometry and
    links as they are.

    Args:
        seed: of the random numbers.
        joints: how many joints move, those that mimic among them and a floating base not.
        kinds: which kinds they are drawn from.
        floating: put a floating joint between the root and everything else.
        branching: that a joint hangs on any earlier link instead of the last one.
        fixed: that a further link, with or without mass, is welded between a joint and its parent.
        mimic: that a joint follows an earlier one.
        friction: of any law, in the joint; with a motor also on the motor's side.
        armature: rotor inertia felt at the joint, where there is no motor.
        springs: a passive spring and damper along the joint.
        motors: a geared motor that drives the joint, mounted on any link.
        elastic: a series spring with damping between the joint and its motor, or the armature that it gets without one.
        frames: how many named frames: "tool" on the last link, then "frame2", ... on any.
    """
    for kind in kinds:
        if kind not in KINDS or not KINDS[kind].nv:
            raise InputError(f"random_tree kinds: expected kinds among {tuple(KINDS)} that move, got {kind!r}.")
    whole(joints, "random_tree joints", 0)
    draw = _Draw(f"{seed}")
    links, tree = [draw.link("base")], []
    if floating:
        links.append(draw.link("body"))
        tree.append(Joint("root", "base", "body", "floating", draw.pose()))
    for k in range(1, joints + 1):
        draw = _Draw(f"{seed} joint {k}")
        parent = draw.choice(links[int(floating) :]) if draw.chance(branching) else links[-1]
        kind, name = draw.choice(kinds), f"joint{k}"
        joint = Joint(name, parent.name, f"link{k}", kind, draw.pose(), draw.axis(), draw.vector(0.2))
        moved = draw.link(f"link{k}")
        if joint.freedom.of(0.0) is not joint.freedom:
            joint = replace(joint, pitch=_Draw(f"{seed} pitch {k}").vector(0.2).x)
        draw = _Draw(f"{seed} weld {k}")
        if draw.chance(fixed):
            welded = draw.link(f"weld{k}") if draw.chance(0.7) else Link(f"weld{k}")
            tree.append(Joint(f"weld{k}", parent.name, welded.name, "fixed", draw.pose()))
            links.append(welded)
            joint = replace(joint, parent=welded.name)
        leaders = [j.name for j in tree if j.freedom.is_single and j.mimic is None]
        if joint.freedom.is_single:
            chances = {"friction": friction, "armature": armature, "spring": springs}
            chances["mimic"] = mimic if leaders else 0.0
            joint = replace(joint, **_features(seed, k, chances, leaders))
        tree.append(joint)
        links.append(moved)
    for k, j in enumerate(tree):
        draw = _Draw(f"{seed} motor {j.name}")
        if j.freedom.is_single and draw.chance(motors):
            tree[k] = draw.driven(j, draw.choice([None, *(x.name for x in links)]), friction)
        draw = _Draw(f"{seed} elastic {j.name}")
        if j.freedom.is_single and draw.chance(elastic):
            tree[k] = draw.elastic(tree[k], friction)
    draw = _Draw(f"{seed} frames")
    carriers = [links[-1].name, *(draw.choice(links).name for _ in range(frames - 1))]
    named = [Frame(f"frame{k}" if k > 1 else "tool", on, draw.pose()) for k, on in enumerate(carriers, 1)]
    return Robot(links, tree, named, name=f"random{seed}")


def _features(seed: int, k: int, chances: dict[str, float], leaders: list[str]) -> dict[str, Any]:
    """What joint k has by chance; each feature has random numbers of its own, so that one does not move another."""
    make: dict[str, Callable[[_Draw], Any]] = {
        "friction": lambda draw: draw.friction(1.0),
        "armature": lambda draw: draw.uniform(0.05, 0.3),
        "spring": lambda draw: draw.spring(),
        "mimic": lambda draw: draw.mimic(leaders),
    }
    draws = {feature: _Draw(f"{seed} {feature} {k}") for feature in chances}
    return {f: make[f](draw) for f, draw in draws.items() if draw.chance(chances[f])}


class _Draw(Random):
    """Random numbers, and parts of robots made of them."""

    def chance(self, p: float) -> bool:
        return self.random() < p

    def sign(self) -> float:
        return self.choice((-1.0, 1.0))

    def vector(self, size: float) -> Vec3:
        return Vec3(*(self.uniform(-size, size) for _ in range(3)))

    def axis(self) -> Vec3:
        v = Vec3(*(self.gauss(0.0, 1.0) for _ in range(3)))
        return v * (1.0 / math.hypot(*v))

    def rotation(self) -> Mat3:
        return from_quaternion(*(self.gauss(0.0, 1.0) for _ in range(4)))

    def pose(self) -> Pose:
        return Pose(self.rotation(), self.vector(0.4))

    def link(self, name: str) -> Link:
        """A body whose mass lies spread along three axes, so that its tensor keeps the triangle inequality."""
        mass, R = self.uniform(0.5, 3.0), self.rotation()
        a, b, c = (mass * self.uniform(0.05, 0.2) ** 2 for _ in range(3))
        E = R @ Mat3.of([[a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, c]]) @ R.T
        return Link(name, mass, self.vector(0.2), EYE3 * (a + b + c) - E)

    def mimic(self, leaders: list[str]) -> Mimic:
        return Mimic(self.choice(leaders), self.sign() * self.uniform(0.4, 1.6), self.uniform(-0.5, 0.5))

    def friction(self, size: float) -> Friction:
        coulomb = size * self.uniform(0.2, 1.0)
        return Friction(
            viscous=size * self.uniform(0.2, 1.0), coulomb=coulomb, law=self.choice(LAWS),
            width=self.uniform(0.1, 0.5), static=coulomb * self.uniform(1.0, 2.0), stribeck=self.uniform(0.2, 1.0),
        )  # fmt: skip

    def spring(self) -> Spring:
        return Spring(self.uniform(1.0, 20.0), self.uniform(0.1, 1.0), self.uniform(-0.5, 0.5))

    def driven(self, joint: Joint, link: str | None, friction: float) -> Joint:
        """The joint with a motor: a round body, half of whose inertia about its axis spins."""
        mass, axis = self.uniform(0.2, 0.8), self.axis()
        along = mass * self.uniform(0.02, 0.04) ** 2
        across = along * self.uniform(0.6, 2.0)
        I = EYE3 * across + outer(axis, axis) * (along - across)
        tensor = (I.x.x, I.x.y, I.x.z, I.y.y, I.y.z, I.z.z)
        motor = Motor(link, mass, self.vector(0.2), tensor, 0.5 * along, axis)
        gear = self.sign() * self.uniform(5.0, 50.0)
        losses = self.friction(1e-3) if self.chance(friction) else Friction()
        drive = Drive(motor, gear, friction=losses)
        return replace(joint, armature=0.0, drive=drive)

    def elastic(self, joint: Joint, friction: float) -> Joint:
        """The joint with a spring in its drive."""
        damping = self.uniform(0.1, 1.0) if self.chance(friction) else 0.0
        drive = replace(joint.drive or Drive(), stiffness=self.uniform(50.0, 500.0), damping=damping)
        armature = joint.armature or (0.0 if drive.motor else self.uniform(0.05, 0.3))
        return replace(joint, armature=armature, drive=drive)
