"""The two kinds of words of a planning problem: terms of an objective, and constraints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.check import finite, number
from linkwise.errors import InputError, UnknownNameError
from linkwise.mechanism.scene import Scene
from linkwise.planning.curve import Array, Basis
from linkwise.planning.rows import LinearRows, Rows
from linkwise.robot.robot import Robot


class Term:
    """Something to make small: the integral over time of a quantity, or of its square. Terms add and multiply."""

    def integrand(self, robot: Robot) -> tuple[Rows, Array, bool]:
        """The quantities, a weight for each, and whether they are squared."""
        raise NotImplementedError

    def whole(self, robot: Robot, sampled: Callable[[Sequence[Rows]], Any], rule: Array) -> Any:
        """What depends on the motion as a whole, a `Whole`, where the term is no integral; else None."""
        return None

    def __add__(self, other: Any) -> Sum:
        return Sum.of(self) + other

    __radd__ = __add__

    def __mul__(self, factor: Any) -> Sum:
        return Sum.of(self) * factor

    __rmul__ = __mul__


@dataclass(frozen=True)
class Sum:
    """Terms with their factors."""

    terms: tuple[tuple[float, Term], ...]

    @classmethod
    def of(cls, given: Any) -> Sum:
        """A term or a sum, as a sum."""
        if isinstance(given, Sum):
            return given
        if isinstance(given, Term):
            return cls(((1.0, given),))
        raise InputError(f"minimize: expected terms such as lw.cost.time() + 0.01 * lw.cost.effort(), got {given!r}.")

    def __add__(self, other: Any) -> Sum:
        if isinstance(other, (int, float)) and other == 0:  # where sum() starts
            return self
        return Sum(self.terms + Sum.of(other).terms)

    __radd__ = __add__

    def __mul__(self, factor: Any) -> Sum:
        times = finite(factor, "minimize: the factor of a term")
        return Sum(tuple((times * w, t) for w, t in self.terms))

    __rmul__ = __mul__


class Constraint:
    """Something that must hold. Each kind answers by one or more of these."""

    def rows(self, robot: Robot) -> Sequence[Rows]:
        """Quantities of instants with bounds."""
        return ()

    def box(self, robot: Robot) -> tuple[Array, Array] | None:
        """Bounds of positions, which hold for all control points and so for the whole curve."""
        return None

    def ranges(self, robot: Robot) -> Mapping[str, tuple[float, float]]:
        """Lower and upper positions by joint, those of joints that follow too."""
        return {}

    def linear(self, robot: Robot, basis: Basis) -> Sequence[LinearRows]:
        """Linear rows of control points."""
        return ()

    def scene(self, robot: Robot) -> Scene | None:
        """Volumes, and the pairs of them that have to stay `margin` apart."""
        return None

    margin: float = 0.0

    def base(self, robot: Robot) -> Callable[[Array], Array] | None:
        """How the base moves: times (n,) -> velocity, acceleration and jerk (n, 18)."""
        return None


def constraints_of(given: Any) -> tuple[Constraint, ...]:
    """What was given as `subject_to`: one constraint, or several."""
    several = isinstance(given, Iterable) and not isinstance(given, str)
    every = list(given) if several else [given]
    for c in every:
        if not isinstance(c, Constraint):
            raise InputError(f"subject_to: expected constraints such as lw.limit.joints('effort'), got {c!r}.")
    return tuple(every)


def chosen_joints(known: Sequence[str], joints: Any, what: str) -> list[str]:
    """Some of the known joints by name, all when none is given."""
    if joints is None:
        return list(known)
    names = [joints] if isinstance(joints, str) else list(joints)
    for name in names:
        if name not in known:
            raise UnknownNameError(f"joint in {what}", name, known)
    return names


def per_joint(known: Sequence[str], value: Any, what: str, default: float) -> Array:
    """A number for each known joint: from one for all, a vector, or by name; `default` for those not named."""
    if isinstance(value, dict):
        found = np.full(len(known), default)
        for name in chosen_joints(known, list(value), what):
            found[known.index(name)] = number(value[name], f"{what} {name!r}")
        return found
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{what}: expected a number, {len(known)} numbers or numbers by joint, got {value!r}."
        ) from error
    if array.shape not in ((), (len(known),)):
        raise InputError(f"{what}: expected a number or {len(known)} numbers, got an array of shape {array.shape}.")
    if np.isnan(array).any():
        raise InputError(f"{what}: expected numbers, got nan.")
    return np.broadcast_to(array, (len(known),)).astype(float)
