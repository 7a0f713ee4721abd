"""Robots and states drawn at random, as rows of the tables that the sources use."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import Any

from linkwise.formats.dh_rows import DHRow, KhalilRow
from linkwise.robot.drive import Friction
from linkwise.rotation import from_quaternion
from linkwise.vector import EYE3, ZERO33, Mat3, Vec3, dot, outer

KINDS = {"R": "revolute", "P": "prismatic"}


class Draw(Random):
    """Random numbers, and parts of robots made of them; the same ones for the same seed."""

    def numbers(self, n: int, size: float) -> list[float]:
        return [self.uniform(-size, size) for _ in range(n)]

    def vector(self, size: float) -> Vec3:
        return Vec3(*self.numbers(3, size))

    def unit(self) -> Vec3:
        v = Vec3(*(self.gauss(0.0, 1.0) for _ in range(3)))
        return v * (1.0 / math.sqrt(dot(v, v)))

    def rotation(self) -> Mat3:
        return from_quaternion(*(self.gauss(0.0, 1.0) for _ in range(4)))

    def tensor(self, mass: float) -> Mat3:
        """An inertia tensor about the com: that of six point masses."""
        I = ZERO33
        for x in (self.vector(0.35) for _ in range(6)):
            I += (EYE3 * dot(x, x) - outer(x, x)) * (mass / 6.0)
        return I

    def body(self, armature: float = 0.0) -> dict[str, Any]:
        """What a row says of its link, and the rotor inertia of its joint."""
        mass = self.uniform(0.5, 3.0)
        return {"mass": mass, "com": self.vector(0.25), "inertia": self.tensor(mass), "armature": armature}

    def dh(self, kinds: str, armature: float = 0.0) -> list[DHRow]:
        """A serial robot, such as "RPR"."""
        return [DHRow(*self._dh(), KINDS[k], **self.body(armature)) for k in kinds]

    def khalil(
        self, kinds: str, antecedents: Sequence[int], armature: float = 0.0, friction: float = 0.0
    ) -> list[KhalilRow]:
        """A tree; rows stand in depth-first order, so that Linkwise keeps it."""
        return [
            KhalilRow(
                a, int(k == "P"), *self._placement(), **self.body(armature),
                friction=Friction(viscous=self.uniform(0.5, 1.0) * friction, coulomb=self.uniform(0.5, 1.0) * friction),
            )
            for k, a in zip(kinds, antecedents, strict=True)
        ]  # fmt: skip

    def _dh(self) -> tuple[float, float, float, float]:
        """theta, d, a, alpha."""
        return self.uniform(-3.0, 3.0), self.uniform(-0.4, 0.4), self.uniform(-0.4, 0.4), self.uniform(-2.0, 2.0)

    def _placement(self) -> tuple[float, float, float, float, float, float]:
        """gamma, b, alpha, d, theta, r."""
        gamma, alpha, theta = self.numbers(3, 2.0)
        b, d, r = self.numbers(3, 0.4)
        return gamma, b, alpha, d, theta, r
