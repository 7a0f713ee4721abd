"""Motors as algorithms see them: rotors that spin on bodies, and the springs of elastic drives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from linkwise.robot.drive import Friction
from linkwise.robot.joint import Joint
from linkwise.robot.robot import Robot
from linkwise.scalar import Scalar
from linkwise.spatial import Inertia, Pose
from linkwise.vector import Vec3


@dataclass(frozen=True, slots=True)
class Rotor:
    """A motor's rotor on body `on`, about `axis` there, which spins relative to that body at `ratio` times qd[v].

    `v` is the coordinate of the joint that body `drives` moves by, or of the motor itself where the drive is elastic.
    """

    drives: int
    on: int
    axis: Vec3
    inertia: Scalar
    v: int
    ratio: Scalar


@dataclass(frozen=True, slots=True)
class Elastic:
    """An elastic drive: a motor with a coordinate theta of its own, at `q` and `v`, and a spring to the joint.

    theta is the motor's angle seen through the gear. `armature` is inertia that moves with it, `gear` and `friction`
    belong to the motor's shaft.
    """

    q: int
    v: int
    stiffness: Scalar
    damping: Scalar = 0.0
    armature: Scalar = 0.0
    gear: Scalar = 1.0
    friction: Friction = Friction()

    def stretch(self, position: Scalar, q: Sequence[Scalar]) -> Scalar:
        """How far the motor is ahead of its joint at `position`."""
        return q[self.q] - position

    def torque(self, position: Scalar, speed: Scalar, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Scalar:
        """What spring and damper exert on the joint, and the motor has to give: K (theta - q) + D (thetad - qd)."""
        return self.stretch(position, q) * self.stiffness + (qd[self.v] - speed) * self.damping

    def resistance(self, qd: Sequence[Scalar]) -> Scalar:
        """The torque that friction of the motor takes, at its coordinate."""
        return self.friction.torque(qd[self.v] * self.gear) * self.gear

    def dissipation(self, speed: Scalar, qd: Sequence[Scalar]) -> Scalar:
        """Power that the damper and the motor's friction take away while the joint moves at `speed`."""
        slip = qd[self.v] - speed
        return slip * slip * self.damping + self.resistance(qd) * qd[self.v]


def elastic_drive(robot: Robot, joint: Joint) -> Elastic | None:
    """The elastic drive of a joint, None where it is rigid; without a motor the joint's armature is the motor's."""
    drive = joint.drive
    if drive is None or drive.stiffness is None:
        return None
    slot = robot.slots[joint.motor_name]
    armature = 0.0 if drive.motor else joint.armature
    return Elastic(slot.q, slot.v, drive.stiffness, drive.damping, armature, drive.gear, drive.friction)


def mount(
    robot: Robot, place: dict[str, tuple[int, Pose]], joint_body: dict[str, int], inertias: list[Inertia]
) -> tuple[Rotor, ...]:
    """The spinning rotors; each motor's mass and tensor are added to the body that carries it."""
    rotors = []
    for joint in robot.joints:
        motor = joint.drive.motor if joint.drive else None
        if joint.drive is None or motor is None:
            continue
        i, X = place[joint.motor_link]
        inertias[i] = inertias[i] + Inertia.of(motor.mass, motor.com, motor.inertia).seen_from(X.R, X.p)
        ratio = joint.drive.gear
        if not joint.drive.is_elastic and joint.mimic:
            ratio = ratio * joint.mimic.ratio
        leader = joint.mimic.joint if joint.mimic else joint.name
        slot = robot.slots[joint.motor_name if joint.drive.is_elastic else leader]
        rotors.append(Rotor(joint_body[joint.name], i, X.R @ motor.axis, motor.rotor, slot.v, ratio))
    return tuple(rotors)
