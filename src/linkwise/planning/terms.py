"""What a motion can be asked to make small."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.check import positive
from linkwise.errors import InputError, UnknownNameError
from linkwise.planning.chart import joint_names
from linkwise.planning.constraints import COMPONENTS, PARTS, check_carrier
from linkwise.planning.curve import Array
from linkwise.planning.drives import drive_names
from linkwise.planning.point import Point
from linkwise.planning.rows import Rows
from linkwise.planning.term_and_constraint import Term, chosen_joints, per_joint
from linkwise.planning.tool import FramePath
from linkwise.robot.robot import Robot
from linkwise.scalar import Scalar, sqrt


@dataclass(frozen=True)
class Time(Term):
    """The duration."""


def time() -> Time:
    """The duration of the motion, s."""
    return Time()


@dataclass(frozen=True)
class JointSquares(Term):
    """The integral of weighted squares of a quantity of the joints."""

    label: str
    quantity: Callable[[Point], Sequence[Scalar]]
    joints: Any = None
    weights: Any = 1.0
    names_of: Callable[[Robot], tuple[str, ...]] = drive_names

    def integrand(self, robot: Robot) -> tuple[Rows, Array, bool]:
        known = self.names_of(robot)
        names = chosen_joints(known, self.joints, self.label)
        at = [known.index(n) for n in names]
        weights = per_joint(known, self.weights, f"{self.label} weights", 0.0)[at]
        if (weights < 0.0).any():
            raise InputError(f"{self.label} weights: expected numbers of at least zero, got {self.weights!r}.")

        def function(p: Point) -> list[Scalar]:
            values = self.quantity(p)
            return [values[k] for k in at]

        return Rows(self.label, tuple(names), function), weights, True


def _tau(p: Point) -> Sequence[Scalar]:
    return p.tau


def _tau_dot(p: Point) -> Sequence[Scalar]:
    return p.tau_dot


def _power(p: Point) -> Sequence[Scalar]:
    return [f * v for f, v in zip(p.tau, p.drive_rates, strict=True)]


def _jerk(p: Point) -> Sequence[Scalar]:
    return p.joint_motion(3)


def effort(weights: Any = 1.0, joints: Any = None) -> Term:
    """The integral of squared torques, sum weight tau^2; `weights` is a number, one a joint, or by joint's name."""
    return JointSquares("effort", _tau, joints, weights)


def effort_rate(weights: Any = 1.0, joints: Any = None) -> Term:
    """The integral of squared torque rates."""
    return JointSquares("effort_rate", _tau_dot, joints, weights)


def power(weights: Any = 1.0, joints: Any = None) -> Term:
    """The integral of squared powers of the drives, (tau qd)^2."""
    return JointSquares("power", _power, joints, weights)


def jerk(weights: Any = 1.0, joints: Any = None) -> Term:
    """The integral of squared jerks of the joints, in loops of those that follow too."""
    return JointSquares("jerk", _jerk, joints, weights, joint_names)


@dataclass(frozen=True)
class Energy(Term):
    """Energy taken from the supply."""

    loss: Any = 0.0
    regeneration: float = 0.0
    width: float = 1.0

    def integrand(self, robot: Robot) -> tuple[Rows, Array, bool]:
        losses = per_joint(drive_names(robot), self.loss, "energy loss", 0.0)
        back, width = self.regeneration, positive(self.width, "energy width")
        if not 0.0 <= back <= 1.0:
            raise InputError(f"energy regeneration: expected a share from 0 to 1, got {back!r}.")

        def function(p: Point) -> list[Scalar]:
            found = []
            for loss, f, v in zip(losses.tolist(), p.tau, p.drive_rates, strict=True):
                x = f * v + f * f * loss
                magnitude = sqrt(x * x + width * width)
                found.append(x * (0.5 * (1.0 + back)) + magnitude * (0.5 * (1.0 - back)))
            return found

        return Rows("energy", drive_names(robot), function), np.ones(len(losses)), False


def energy(loss: Any = 0.0, regeneration: float = 0.0, width: float = 1.0) -> Term:
    """The energy that the drives take from the supply, J.

    A drive takes tau qd + loss tau^2, its friction within tau; where that is negative only the share `regeneration`
    flows back. The corner at zero is rounded over `width` watts, which adds up to half of it to each drive at rest.

    Args:
        loss: of windings, W/(N m)^2 at the joint: a number, one a joint, or by joint's name.
        regeneration: from 0, a brake resistor, to 1.
        width: W.
    """
    return Energy(loss, regeneration, width)


@dataclass(frozen=True)
class UserTerm(Term):
    """The integral of a user's function."""

    function: Callable[[Point], Any]
    label: str
    squared: bool

    def integrand(self, robot: Robot) -> tuple[Rows, Array, bool]:
        return Rows(self.label, ("",), lambda p: [self.function(p)]), np.ones(1), self.squared


def function(function: Callable[[Point], Any], label: str = "function", squared: bool = False) -> Term:
    """The integral over time of a function of your own, or of its square.

    `function(point)` is traced once; it takes a `Point` with q, qd, qdd, qddd, tau, tau_dot, pose("tool"), ... and
    returns one expression, written with operators and the functions of `linkwise.scalar`.
    """
    if not callable(function):
        raise InputError(f"cost.function: expected a function of a point, got {function!r}.")
    return UserTerm(function, label, squared)


@dataclass(frozen=True)
class ReactionSquares(Term):
    """The integral of squares of the wrench through a joint."""

    joint: str
    of: str

    def integrand(self, robot: Robot) -> tuple[Rows, Array, bool]:
        check_carrier(robot, self.joint)
        at = {"force": (0, 1, 2), "moment": (3, 4, 5)}.get(self.of) or (COMPONENTS.index(self.of),)

        def function(p: Point) -> list[Scalar]:
            six = list(p.wrench(self.joint))
            return [six[k] for k in at]

        names = tuple(f"{self.joint}.{COMPONENTS[k]}" for k in at)
        return Rows("reaction", names, function), np.ones(len(at)), True


def reaction(joint: str, of: str = "force") -> Term:
    """The integral of the squared reaction through a joint, or loop: of its "force", "moment" or a component, fx to mz.

    Force and moment are those of `lw.limit.reaction`.
    """
    if of not in PARTS:
        raise UnknownNameError("part of a reaction", of, PARTS)
    return ReactionSquares(joint, of)


@dataclass(frozen=True, eq=False)
class ToolPathSquares(Term):
    """The integral of squared distances of a frame from a path."""

    path: FramePath

    def integrand(self, robot: Robot) -> tuple[Rows, Array, bool]:
        rows = self.path.rows(robot, 1.0)
        return rows, np.ones(len(rows.names)), True


def tool_path(frame: str, *, line: Any = None, path: Any = None) -> Term:
    """The integral of the squared distance of a frame's origin from a path.

    Args:
        frame: a frame or link.
        line: two points of the line on which it should move, as fast as it likes.
        path: instead, points (k, 3) passed in even steps of time, or a function of the fraction s of time to (3).
    """
    return ToolPathSquares(FramePath.of(frame, line, path))
