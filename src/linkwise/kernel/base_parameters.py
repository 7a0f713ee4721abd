"""The base parameters of a robot: the smallest set of numbers that its torques depend on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.algorithms.regressor import regressor
from linkwise.errors import LinkwiseError, UnknownNameError
from linkwise.kernel.compile import compile
from linkwise.kernel.kernel import Kernel
from linkwise.robot.leading import refuse_wheels
from linkwise.robot.robot import Robot

DEPENDENT = 1e-10  # a column with less than this beyond the span of those kept is a combination of them
NEARLY = 0.3  # of the largest part beyond that span: columns with less have to wait
ROUND_OFF = 1e-11
HELD = 20.0  # condition of loop equations up to which a configuration is used


@dataclass(frozen=True)
class BaseParameters:
    """Which parameters remain, and how the others are grouped with them.

    `mapping @ robot.parameters()` are the base parameters; with Y = regressor(q, qd, qdd), tau = Y[..., kept] @ base.

    Attributes:
        robot: whose parameters they are.
        kept: places, in `robot.parameters()`, of the parameters that lead a group.
        mapping: matrix (number of base parameters, number of parameters).
        unidentifiable: names of parameters that no torque depends on.
    """

    robot: Robot
    kept: NDArray[np.intp]
    mapping: NDArray[np.float64]
    unidentifiable: tuple[str, ...]
    _kernel: Kernel

    def __len__(self) -> int:
        return len(self.kept)

    @property
    def values(self) -> NDArray[np.float64]:
        """The base parameters of the robot as it is described."""
        return self.mapping @ self.robot.parameters()

    @property
    def names(self) -> tuple[str, ...]:
        """Each group as a sum of the robot's parameters."""
        names = self.robot.parameter_names
        return tuple(sum_of(row, int(k), names) for row, k in zip(self.mapping, self.kept, strict=True))

    def _repr_html_(self) -> str:
        """The card of a notebook: the groups and their values."""
        import linkwise.card as card

        title = f"{len(self)} base parameters of the robot {self.robot.name!r}"
        rows = ((name, f"{value:.6g}") for name, value in zip(self.names, self.values, strict=True))
        lost = f"no torque depends on {', '.join(self.unidentifiable)}" if self.unidentifiable else ""
        return card.card(title, card.table(("group", "value"), rows), card.lines([lost] * bool(lost)))

    def regressor(self, q: Any, qd: Any, qdd: Any) -> NDArray[np.float64]:
        """Y_base (..., nu, len(self)) with tau = Y_base @ values."""
        return self._kernel(q, qd, qdd)[..., self.kept]


def base_parameters(robot: Robot, *, among: Iterable[str] | None = None, seed: int = 0) -> BaseParameters:
    """The base parameters of a robot, from its regressor at random states.

    Links nearer the base come first, so that a parameter is grouped with those of the links that carry it. Within a
    link columns are kept in the order of `robot.parameters()`, but for those that nearly depend on the ones kept:
    grouping with them would have large coefficients.

    Args:
        robot: fixed or floating, with loops too; springs do not count.
        among: names of parameters that are unknown, all others being known; all of them by default.
        seed: of the random states.

    Source: the numerical method of Gautier (1991), with columns tested against the span of those kept before them.
    """
    kernel = compile(robot, regressor)
    rng = np.random.default_rng(seed)
    refuse_wheels(robot, "base_parameters", "Its regressor is one of lw.compile(robot).")
    count, inertial = len(robot.parameter_names), 10 * len(robot.moving_links)
    rows = max(8, -(-3 * count // max(1, robot.nu)))
    q = random_positions(robot, rng, rows)
    qd, qdd = rng.normal(size=(2, len(q), robot.nv)) * 3.0
    Y = kernel(q, qd, qdd).reshape(-1, count)
    links = [range(k, k + 10) for k in range(0, inertial, 10)]
    kept, mapping, idle = grouped(Y, [*links, *([k] for k in range(inertial, count))], _asked(robot, among))
    lost = tuple(robot.parameter_names[k] for k in np.flatnonzero(idle))
    return BaseParameters(robot, kept, mapping, lost, kernel)


def sum_of(row: NDArray[np.float64], first: int, names: Sequence[str]) -> str:
    """A group in words: "forearm.mcx + 0.6 hand.m"."""
    terms = [names[first]]
    for k in np.flatnonzero(row).tolist():
        if k != first:
            size = abs(row[k])
            factor = "" if size == 1.0 else f"{size:.6g} "
            terms.append(f"{'-' if row[k] < 0 else '+'} {factor}{names[k]}")
    return " ".join(terms)


def grouped(
    Y: NDArray[np.float64], groups: Iterable[Sequence[int]], asked: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.bool_]]:
    """Which columns of a regressor (rows, columns) lead groups, the mapping onto these groups, and which are zero.

    Args:
        Y: at random states.
        groups: of columns that come one after the other.
        asked: which columns count.
    """
    size, count = np.linalg.norm(Y, axis=0), Y.shape[1]
    idle = size <= DEPENDENT * max(size.max(initial=0.0), 1.0)
    scale = np.where(asked & ~idle, size, np.inf)
    unit = Y / scale
    kept = _independent(unit, groups)
    others = [k for k in range(count) if k not in set(kept) and np.isfinite(scale[k])]
    mapping = np.zeros((len(kept), count))
    mapping[np.arange(len(kept)), kept] = 1.0
    if kept and others:
        Q, R = np.linalg.qr(unit[:, kept])  # they are independent, so that no singular values are needed
        beta = np.linalg.solve(R, Q.T @ unit[:, others])
        beta[np.abs(beta) < ROUND_OFF] = 0.0
        mapping[:, others] = _rounded(beta / scale[kept][:, None] * scale[others])
    return np.array(kept, dtype=np.intp), mapping, asked & idle


def _asked(robot: Robot, among: Iterable[str] | None) -> NDArray[np.bool_]:
    """Which parameters are unknown."""
    names = robot.parameter_names
    wanted = list(names if among is None else among)
    for name in wanted:
        if name not in names:
            raise UnknownNameError("parameter", name, names)
    return np.isin(names, wanted)


def random_positions(robot: Robot, rng: np.random.Generator, rows: int) -> NDArray[np.float64]:
    """Random positions; where loops have to close, those around the reference that do, and hold what follows well."""
    if not robot.follows:
        return rng.uniform(-np.pi, np.pi, (rows, robot.nq))
    dyn, found = compile(robot), np.empty((0, robot.nq))
    for width in (0.5, 0.25, 0.1, 0.05):
        q = dyn.integrate(robot.q(), width * rng.uniform(-1.0, 1.0, (2 * rows, robot.nv)), 1.0)
        at = dyn.positions(q)
        found = np.concatenate([found, q[at.converged & (at.condition < HELD)]])
        if len(found) >= rows:
            return found[:rows]
    raise LinkwiseError(
        f"base_parameters of {robot.name!r}: expected loops that close around the reference, got {len(found)} of"
        f" {rows} random positions. Give the robot a reference in the middle of its motion."
    )


def _independent(unit: NDArray[np.float64], groups: Iterable[Sequence[int]]) -> list[int]:
    """Which columns span all others, taken group after group; within one the first that is not nearly dependent."""
    Q = np.empty((unit.shape[0], min(unit.shape)), order="F")  # its first columns span those kept
    kept: list[int] = []
    for group in groups:
        rest, known = unit[:, list(group)], Q[:, : len(kept)]
        for _ in range(2):
            rest = rest - known @ (known.T @ rest)
        while (lengths := np.linalg.norm(rest, axis=0)).max() > DEPENDENT:
            k, known = int(np.argmax(lengths >= NEARLY * lengths.max())), Q[:, : len(kept)]
            new = rest[:, k] - known @ (known.T @ rest[:, k])
            Q[:, len(kept)] = new = new / np.linalg.norm(new)
            kept.append(group[k])
            for _ in range(2):
                rest = rest - np.outer(new, new @ rest)
    return sorted(kept)


def _rounded(beta: NDArray[np.float64]) -> NDArray[np.float64]:
    """Whole numbers where only round-off keeps the coefficients from them."""
    whole = np.round(beta)
    return np.where(np.abs(beta - whole) < ROUND_OFF, whole, beta)
