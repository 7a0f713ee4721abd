"""Closed chains by their active coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from linkwise.closed import shapes
from linkwise.closed.assembled import Assembled
from linkwise.closed.results import (
    Accelerations,
    Array,
    Derivatives,
    Matrix,
    Motion,
    Positions,
    Rates,
    Reactions,
    Torques,
    Wrenches,
)
from linkwise.closed.solver import Walk, newton, restarted
from linkwise.errors import InputError
from linkwise.kernel.options import Options
from linkwise.mechanism.structure import Structure, structure_of
from linkwise.robot.robot import Robot


class Closed:
    """The closed chain of a robot with loops, as functions of its independent coordinates.

    Every function takes positions of the independent joints (`robot` order, names in `independent`), closes the loops
    from a guess, and says in each row whether it could, and how well the active joints hold the mechanism there. The
    functions of `assembled` take positions of the whole tree instead, and are one compiled kernel each.
    """

    def __init__(self, robot: Robot, options: Options) -> None:
        self.robot, self.options = robot, options
        self.structure: Structure = structure_of(robot)
        self.assembled = Assembled(robot, options, self.structure)
        self._places, self._opened = self.assembled.places, robot.opened()

    @property
    def independent(self) -> tuple[str, ...]:
        """The joints whose positions are given: active ones, and those that only springs act on."""
        return self.structure.independent

    @property
    def active(self) -> tuple[str, ...]:
        """The joints whose torques are asked or given."""
        return self.structure.active

    @property
    def passive(self) -> tuple[str, ...]:
        """The joints that follow."""
        return self.structure.passive

    @property
    def reference(self) -> Array:
        """Positions of the tree (nq) in a closed configuration, the guess where none is given."""
        return self.structure.reference.copy()

    def of(self, q: Any) -> Array:
        """The independent ones (..., ni) among positions of the tree (..., nq)."""
        q = shapes.floats(q, "q")
        if q.ndim < 1 or q.shape[-1] != self._opened.nq:
            raise InputError(f"q: expected positions of the tree of shape (..., {self._opened.nq}), got {q.shape}.")
        return q[..., self._places]

    # ---- kinematics

    def positions(self, q_active: Any, guess: Any = None, *, along: bool = False, parameters: Any = None) -> Positions:
        """Positions of the whole tree with these positions of the independent joints.

        Args:
            q_active: (..., ni), or a mapping of all independent joints to numbers.
            guess: positions of the tree near which to look: one row (nq), one for each (..., nq), or a mapping of
                joints to positions; None is the `reference`. A closed guess decides the assembly mode: the answer is in
                the same one if there is one.
            along: the rows (axis -2) are a motion: each starts where the one before ended, so that the assembly mode is
                kept along it. The guess is for the first row.
            parameters: the input of that name, where the robot was compiled with `parameters`.

        Returns:
            `Positions`; rows that cannot be reached are NaN, with `converged` False.
        """
        target = self._vector(q_active)
        start = self._guess(guess)
        numbers = self._parameters(parameters)
        if not isinstance(along, (bool, np.bool_)):
            raise InputError(f"along: expected True or False, got {along!r}.")
        if along:
            return self._follow(target, start, numbers)
        batch = shapes.batch(target, start, numbers)
        flat = [shapes.rows(x, batch) for x in (target, start, *numbers)]
        return shapes.shaped(self._solve(flat[0], flat[1], flat[2:]), batch)

    def motion(self, q_active: Any, qd_active: Any, qdd_active: Any, *extra: Any, **how: Any) -> Motion:
        """Positions, velocities and accelerations of the whole tree.

        Args:
            q_active: positions of the independent joints (..., ni).
            qd_active: their velocities (..., ni).
            qdd_active: accelerations of those among them that are active (..., nd); springs accelerate the others.
            extra: the inputs that options of `compile` add.
            how: `guess` and `along`, as in `positions`.
        """
        at, extra = self._located(q_active, extra, how, "motion")
        qd, qdd = self.assembled.motion(at.q, qd_active, qdd_active, *extra)
        return Motion(at.q, qd, qdd, at.converged, at.condition)

    # ---- dynamics

    def inverse_dynamics(self, q_active: Any, qd_active: Any, qdd_active: Any, *extra: Any, **how: Any) -> Torques:
        """Torques of the active joints for a motion, Gamma_c = G^T Gamma_tree; arguments as in `motion`.

        Where more joints are active than needed, these are the torques with the least sum of squares; `share` has
        others.
        """
        at, extra = self._located(q_active, extra, how, "inverse_dynamics")
        tau = self.assembled.inverse_dynamics(at.q, qd_active, qdd_active, *extra)
        qd, qdd = self.assembled.motion(at.q, qd_active, qdd_active, *extra)
        return Torques(tau, at.q, qd, qdd, at.converged, at.condition)

    def reactions(self, q_active: Any, qd_active: Any, qdd_active: Any, *extra: Any, **how: Any) -> Reactions:
        """Torques, and the wrench (nl, 6) that link a exerts on b through each cut joint, in the axes of frame a."""
        at, extra = self._located(q_active, extra, how, "reactions")
        tau, wrench = self.assembled.reactions(at.q, qd_active, qdd_active, *extra)
        return Reactions(tau, wrench, at.q, at.converged, at.condition)

    def joint_wrenches(self, q_active: Any, qd_active: Any, qdd_active: Any, *extra: Any, **how: Any) -> Wrenches:
        """Torques, the wrench through every joint of the tree (nb, 6), and through every cut joint (nl, 6)."""
        at, extra = self._located(q_active, extra, how, "joint_wrenches")
        qd, qdd = self.assembled.motion(at.q, qd_active, qdd_active, *extra)
        tau, wrench, cut = self.assembled.joint_wrenches(at.q, qd, qdd, *extra)
        return Wrenches(tau, wrench, cut, at.q, at.converged, at.condition)

    def force_rates(
        self, q_active: Any, qd_active: Any, qdd_active: Any, qddd_active: Any, *extra: Any, **how: Any
    ) -> Rates:
        """Torques and their rates, for jerks of the active joints too; arguments as those of `motion`."""
        if self.structure.free:
            raise InputError(
                f"force_rates: expected loops whose joints are all driven or passive, got {self.structure.free[0]!r} on"
                " a spring alone. Use assembled.force_rates with the motion of the tree."
            )
        at, extra = self._located(q_active, extra, how, "force_rates")
        only = [x for name, x in self._named(extra, "force_rates").items() if name == "parameters"]
        qd, qdd, qddd = self.assembled.jerks(at.q, qd_active, qdd_active, qddd_active, *only)
        tau, tau_dot = self.assembled.force_rates(at.q, qd, qdd, qddd, *extra)
        return Rates(tau, tau_dot, at.q, qd, qdd, qddd, at.converged, at.condition)

    def forward_dynamics(self, q_active: Any, qd_active: Any, tau: Any, *extra: Any, **how: Any) -> Accelerations:
        """Accelerations that torques of the active joints (..., na) cause."""
        at, extra = self._located(q_active, extra, how, "forward_dynamics")
        qdd_active, qdd = self.assembled.forward_dynamics(at.q, qd_active, tau, *extra)
        only = () if self.options.parameters == () else (self._named(extra, "forward_dynamics")["parameters"],)
        qd = self.assembled.rates(at.q, qd_active, *only)
        return Accelerations(qdd_active, at.q, qd, qdd, at.converged, at.condition)

    def mass_matrix(self, q_active: Any, *extra: Any, **how: Any) -> Matrix:
        """A_c (ni, ni), the inertia of the independent coordinates."""
        at, extra = self._located(q_active, extra, how, "mass_matrix")
        return Matrix(self.assembled.mass_matrix(at.q, *extra), at.q, at.converged, at.condition)

    def bias_forces(self, q_active: Any, qd_active: Any, *extra: Any, **how: Any) -> Matrix:
        """H_c (ni), the forces where independent coordinates do not accelerate."""
        at, extra = self._located(q_active, extra, how, "bias_forces")
        return Matrix(self.assembled.bias_forces(at.q, qd_active, *extra), at.q, at.converged, at.condition)

    def inverse_dynamics_derivatives(
        self, q_active: Any, qd_active: Any, qdd_active: Any, *extra: Any, **how: Any
    ) -> Derivatives:
        """Derivatives of the active torques by independent positions, velocities and accelerations."""
        at, extra = self._located(q_active, extra, how, "inverse_dynamics_derivatives")
        found = self.assembled.inverse_dynamics_derivatives(at.q, qd_active, qdd_active, *extra)
        return Derivatives(found[0], found[1], found[2], at.q, at.converged, at.condition)

    def share(self, q_active: Any, force: Any, weights: Any = None, **how: Any) -> Matrix:
        """Torques of the active joints (na) that amount to a force at the independent ones (ni).

        Of all that do, those with the least sum of weights * torque^2; `weights` (na), all above zero, are 1 where they
        are not given.
        """
        at = self.positions(q_active, **how)
        weights = np.ones(len(self.structure.part.active)) if weights is None else shapes.floats(weights, "weights")
        if not np.all(weights > 0.0):
            raise InputError(f"weights: expected numbers above zero, got {weights!r}.")
        numbers = () if how.get("parameters") is None else (how["parameters"],)
        return Matrix(self.assembled.share(at.q, force, weights, *numbers), at.q, at.converged, at.condition)

    # ---- within

    def _solve(self, target: Array, start: Array, numbers: list[Array]) -> Positions:
        """Flat rows: Newton's method at once, and a walk from the guess for rows that failed or changed mode."""
        kernels = self.assembled
        q = start.copy()
        q[:, self._places] = target
        found, ok = newton(kernels.newton, q, numbers)
        # a guess is often the same for all rows
        guess = start[:1] if not numbers and len(start) and (start == start[0]).all() else start
        was_closed = kernels.newton(guess, np.zeros((len(guess), self._opened.nv)), 0.0, *numbers).gap <= 1e-6
        side = np.broadcast_to(np.sign(kernels.hold(guess, *numbers).determinant), ok.shape)
        after = kernels.hold(found, *numbers)
        lost = ~ok | (was_closed & (side != np.sign(after.determinant)))
        lost &= np.isfinite(target).all(axis=1) & np.isfinite(start).all(axis=1)
        if lost.any():
            rows = np.flatnonzero(lost)
            some = [x[rows] for x in numbers]
            begin, sound = newton(kernels.newton, start[rows], some)
            walked, there = Walk(kernels)(begin[sound], q[rows[sound]], [x[sound] for x in some])
            at = rows[sound][there]
            found[at], ok[at], lost[at] = walked[there], True, False
            rows = np.flatnonzero(lost)
            again, there = restarted(kernels, q[rows], side[rows], [x[rows] for x in numbers])
            same = np.sign(kernels.hold(again, *(x[rows] for x in numbers)).determinant) == side[rows]
            there &= same | ~ok[rows]
            found[rows[there]], ok[rows[there]] = again[there], True
            after = kernels.hold(found, *numbers)
        found[~ok] = np.nan
        return Positions(
            found, ok, np.where(ok, after.condition, np.nan), np.where(ok, np.sign(after.determinant), np.nan)
        )

    def _follow(self, target: Array, start: Array, numbers: list[Array]) -> Positions:
        """A motion row by row, each from the last that could be reached."""
        if target.ndim < 2:
            raise InputError(f"along: expected rows of a motion (..., steps, {target.shape[-1]}), got {target.shape}.")
        if not target.shape[-2]:
            raise InputError("along: expected a motion of at least one row, got none.")
        batch = shapes.batch(target[..., 0, :], start, numbers)
        target = np.broadcast_to(target, (*batch, *target.shape[-2:]))
        now, given = shapes.rows(start, batch), [shapes.rows(x, batch) for x in numbers]
        parts = []
        for k in range(target.shape[-2]):
            part = self._solve(shapes.rows(target[..., k, :], batch), now, given)
            now = np.where(part.converged[:, None], part.q, now)
            parts.append(shapes.shaped(part, batch))
        columns = zip(*parts, strict=True)
        return Positions(*(np.stack(column, axis=len(batch)) for column in columns))

    def _located(
        self, q_active: Any, extra: tuple[Any, ...], how: dict[str, Any], name: str
    ) -> tuple[Positions, tuple[Any, ...]]:
        """The positions for a function, and its further inputs; `parameters` may move the loops too."""
        for key in how:
            if key not in ("guess", "along"):
                raise InputError(f"{name}: expected guess=... or along=..., got {key!r}.")
        return self.positions(q_active, parameters=self._named(extra, name).get("parameters"), **how), extra

    def _named(self, extra: tuple[Any, ...], name: str) -> dict[str, Any]:
        """Further inputs by name, checked."""
        kernel = getattr(self.assembled, name)
        expected = list(kernel.inputs)[len(kernel.algorithm.inputs) :]
        if len(expected) != len(extra):
            listed = ", ".join(expected) or "none"
            raise InputError(f"{name}: expected {len(expected)} further inputs ({listed}), got {len(extra)}.")
        return dict(zip(expected, extra, strict=True))

    def _vector(self, q_active: Any) -> Array:
        """Positions of the independent joints as an array."""
        names, width = self.independent, len(self._places)
        if isinstance(q_active, Mapping):
            if set(q_active) != set(names):
                raise InputError(
                    f"q_active: expected positions of {', '.join(map(repr, names))},"
                    f" got {', '.join(map(repr, q_active)) or 'none'}."
                )
            q_active = self._opened.q(q_active)[self._places]
        array = shapes.floats(q_active, "q_active")
        if array.ndim < 1 or array.shape[-1] != width:
            raise InputError(
                f"q_active: expected shape (..., {width}), positions of {', '.join(map(repr, names))},"
                f" got {array.shape}."
            )
        return array

    def _guess(self, guess: Any) -> Array:
        if guess is None:
            return self.structure.reference
        if isinstance(guess, Mapping):
            start = self.reference
            given = self._opened.q(guess)
            for slot in (self._opened.slots[name] for name in guess):
                start[slot.q : slot.q + slot.nq] = given[slot.q : slot.q + slot.nq]
            return start
        array = shapes.floats(guess, "guess")
        if array.ndim < 1 or array.shape[-1] != self._opened.nq:
            raise InputError(
                f"guess: expected positions of the whole tree, shape (..., {self._opened.nq}) for"
                f" {', '.join(self._opened.coordinates)}, got {array.shape}."
            )
        return array

    def _parameters(self, parameters: Any) -> list[Array]:
        width = sum(map(len, self.options.values(self.robot).values()))
        if parameters is None and not width:
            return []
        array = shapes.floats([] if parameters is None else parameters, "parameters")
        if not width or array.ndim < 1 or array.shape[-1] != width:
            raise InputError(
                f"parameters: expected the {width} numbers that the robot was compiled with, got an array of"
                f" {array.shape}."
            )
        return [array]

    def __repr__(self) -> str:
        return f"<Closed chain {self.robot.name!r}: {', '.join(self.independent)} lead {', '.join(self.passive)}>"

    def __reduce__(self) -> Any:
        return Closed, (self.robot, self.options)
