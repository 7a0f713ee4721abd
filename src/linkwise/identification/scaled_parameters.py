"""Parameters of a robot in units of a prior, in which every link's pseudo-inertia is near one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import InputError, UnknownNameError, listing
from linkwise.identification import log_cholesky
from linkwise.identification.log_cholesky import Program
from linkwise.robot.lumped_parameters import inertial_parameters, pseudo_inertia
from linkwise.robot.robot import Robot

Array = NDArray[Any]
Bounds = Mapping[str, tuple[float, float] | float]
Boxes = Mapping[str, tuple[Sequence[float], Sequence[float]]]

MARGIN = 1e-6  # of the prior's pseudo-inertia, which that of a result exceeds
EXACT = 1e-6  # relative: how near a mass stays that is given as one number
THIN = 0.02  # of the robot's size: the least radius of gyration of a prior
LIGHT = 1e-3  # of the mean mass: that of a prior's link without mass


class Scaled:
    """Parameters x of a robot, and of further columns, in coordinates z in which the prior is one.

    Of each link z has the ten numbers of S = F^-1 P F^-T, with P its pseudo-inertia and F F^T that of the prior; of all
    else x over its scale. What keeps its prior is not in z.
    """

    def __init__(
        self,
        robot: Robot,
        H: Any,
        g: Any,
        prior: Any = None,
        gamma: float = 1.0,
        metric: str = "pullback",
        names: Sequence[str] | None = None,
        positive: Iterable[str | int] = (),
        fixed: Iterable[str] = (),
        mass: Bounds | None = None,
        boxes: Boxes | None = None,
    ) -> None:
        self.notes: list[str] = []
        self.n, self.gamma, self.metric = len(robot.moving_links), gamma, metric
        self.links = robot.moving_links
        self.H, self.g = _square(H, g, len(robot.parameter_names))
        extra = len(self.g) - len(robot.parameter_names)
        further = tuple(names) if names is not None else tuple(f"column {k}" for k in range(extra))
        if len(further) != extra:
            raise InputError(f"consistent names: expected {extra} names of further columns, got {len(further)}.")
        self.names = (*robot.parameter_names, *further)
        self.x0 = _prior(robot, prior, len(self.g))
        self.free = np.ones(len(self.g), dtype=bool)
        # a joint that is no single one has neither rotor nor friction
        single = {j.name: j.freedom.is_single and not j.freedom.follows for j in robot.joints}
        for k in range(10 * self.n, len(robot.parameter_names)):
            self.free[k] = single[self.names[k].rpartition(".")[0]]
        self.not_negative = self.free & (np.arange(len(self.g)) < len(robot.parameter_names))
        self.not_negative[: 10 * self.n] = False
        self.x0[self.not_negative] = np.maximum(self.x0[self.not_negative], 0.0)
        self._bound(positive, fixed, mass or {}, boxes or {})
        self.F = self._factors(robot)
        self.scale = self._scales()
        self.free_links = [k for k in range(self.n) if self.free[10 * k]]
        self.T, self.still = self._map()[:, self.free], np.where(self.free, 0.0, self.x0)
        z0 = self.x0 / self.scale
        z0[: 10 * self.n] = np.tile(log_cholesky.packed(np.eye(4)), self.n)
        self.z0 = z0[self.free]

    # ---- the prior

    def _factors(self, robot: Robot) -> Array:
        """F with P0 = F F^T for every link; where no body has the prior, of one near it."""
        steps = [float(np.linalg.norm(j.origin.p)) for j in robot.joints if any(j.origin.p)]
        size = float(np.mean(steps)) if steps else 0.1
        masses = self.x0[: 10 * self.n : 10]
        usual = float(np.mean(masses[masses > 0.0])) if np.any(masses > 0.0) else 1.0
        F = np.zeros((self.n, 4, 4))
        for k, name in enumerate(self.links):
            x = self.x0[10 * k : 10 * k + 10]
            m, P = x[0], pseudo_inertia(x)
            if m <= 0.0:
                m, com, central = LIGHT * usual, np.zeros(3), np.zeros((3, 3))
                self.notes.append(f"Link {name!r}: the prior has no mass; taken as {m:.2g} kg.")
            else:
                com = P[:3, 3] / m
                central = P[:3, :3] - m * np.outer(com, com)
            values, vectors = np.linalg.eigh(0.5 * (central + central.T))
            least = m * (THIN * size) ** 2
            if values[0] < -1e-9 * max(values[-1], m * float(com @ com), least):
                self.notes.append(f"Link {name!r}: no body has the prior's inertia; taken as the nearest.")
            F[k, :3, :3] = vectors * np.sqrt(np.maximum(values, least))
            F[k, :3, 3], F[k, 3, 3] = np.sqrt(m) * com, np.sqrt(m)
        return F

    def _scales(self) -> Array:
        """The sizes of parameters: of joints and further columns the prior's, or what would explain all by itself."""
        seen = np.diag(self.H)
        explained = float(self.g @ np.linalg.lstsq(self.H, self.g, rcond=1e-10)[0]) if len(self.g) else 0.0
        alone = np.sqrt(max(explained, 0.0) / np.where(seen > 0.0, seen, np.inf))
        scale = np.maximum(np.abs(self.x0), alone)
        scale[scale == 0.0] = 1.0
        for k in range(self.n):
            P0 = self.F[k] @ self.F[k].T
            m, radius = P0[3, 3], np.sqrt(np.trace(P0[:3, :3]) / P0[3, 3])
            scale[10 * k : 10 * k + 10] = m * radius ** np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2])
        return scale

    # ---- bounds

    def _bound(self, positive: Iterable[str | int], fixed: Iterable[str], mass: Bounds, boxes: Boxes) -> None:
        """Which numbers are not negative, which keep their priors, and bounds of masses and boxes."""
        further = self.names[10 * self.n :]
        for name in positive:
            k = name if isinstance(name, int) else self._place(name, further)
            if not 10 * self.n <= k < len(self.g):
                raise InputError(f"consistent positive: expected a place after the links', got {k}.")
            self.not_negative[k] = True
        for name in fixed:
            if name in self.links:
                k = self.links.index(name)
                self.free[10 * k : 10 * k + 10] = False
            else:
                self.free[self._place(name, (*self.links, *further))] = False
        for what, by_link in (("mass", mass), ("boxes", boxes)):
            for name in by_link:
                if name not in self.links:
                    raise UnknownNameError(f"link in {what} of consistent:", name, self.links)
        self.mass = {name: _mass(name, given) for name, given in mass.items()}
        self.boxes = {name: _box(name, given) for name, given in boxes.items()}

    def _link_rows(self, name: str) -> list[tuple[Array, float]]:
        """Rows and numbers with row @ x >= number for the ten parameters x of a link."""
        rows = []
        if name in self.mass:
            rows += [(np.eye(10)[0] * sign, sign * x) for sign, x in zip((1.0, -1.0), self.mass[name], strict=True)]
        if name in self.boxes:
            for axis, (low, high) in enumerate(zip(*self.boxes[name], strict=True)):
                row = np.zeros(10)  # the integral of (x - low) (high - x) dm is not negative
                row[0], row[1 + axis] = -low * high, low + high
                row[[4, 7, 9]] = -0.5
                row[(4, 7, 9)[axis]] = 0.5  # E_xx = (Iyy + Izz - Ixx) / 2
                rows.append((row, 0.0))
        return rows

    def _place(self, name: str, valid: Sequence[str]) -> int:
        if name not in self.names[10 * self.n :]:
            raise UnknownNameError("parameter of a joint, or column,", name, valid)
        return self.names.index(name)

    # ---- coordinates

    def _map(self) -> Array:
        """x = map @ z, all numbers of x."""
        T = np.diag(self.scale)
        units = log_cholesky.unpacked(np.eye(10))
        for k, F in enumerate(self.F):
            T[10 * k : 10 * k + 10, 10 * k : 10 * k + 10] = inertial_parameters(F @ units @ F.T).T
        return T

    def program(self) -> Program:
        """The problem in z."""
        # about z = 0: 1/2 z^T A z + b^T z, and the pull D of the prior
        A, b = _not_negative(self.T.T @ self.H @ self.T), self.T.T @ (self.H @ self.still - self.g)
        near = D = self.gamma * np.eye(len(b))
        at = slice(0, 10 * len(self.free_links))
        if self.metric == "euclidean":
            inner = self.T[: 10 * self.n, at] / self.scale[: 10 * self.n, None]
            near = D = D.copy()
            D[at, at] = self.gamma * inner.T @ inner
        elif self.metric == "entropic":  # which has a pull of its own, and one like that of the pullback near the prior
            D = D.copy()
            D[at, at] = 0.0
        centre = np.linalg.solve(A + near, near @ self.z0 - b)
        P = A + D
        rows, least = self._rows()
        entropy = self.gamma if self.metric == "entropic" else 0.0
        c = P @ centre + b - D @ self.z0
        return Program(0.5 * (P + P.T), c, centre, len(self.free_links), MARGIN, rows, least, entropy)

    def _rows(self) -> tuple[Array, Array]:
        """The rows of masses, boxes and signs in z, each with a largest number of one, and their bounds."""
        rows: list[tuple[Array, float]] = []
        for k in self.free_links:
            block = slice(10 * k, 10 * k + 10)
            rows += [(row @ self.T[block], least) for row, least in self._link_rows(self.links[k])]
        unit = np.eye(self.T.shape[1])
        rows += [(unit[k], 0.0) for k in np.flatnonzero(self.not_negative[self.free])]
        matrix = np.array([row for row, _ in rows]).reshape(-1, len(unit))
        size = np.abs(matrix).max(axis=1, initial=0.0)
        return matrix / size[:, None], np.array([least for _, least in rows]) / size

    def start(self) -> Array:
        """A point strictly inside: the prior, or for links that break their bounds a body in the middle of them."""
        z = self.z0.copy()
        signed = self.not_negative[self.free]
        z[signed] = np.maximum(z[signed], 1e-2)
        for at, k in enumerate(self.free_links):
            name, inverse = self.links[k], np.linalg.inv(self.F[k])
            rows = self._link_rows(name)
            for P in self._bodies(k):
                S, x = inverse @ P @ inverse.T, inertial_parameters(P)
                inside = all(row @ x > least + 1e-9 * np.abs(row) @ np.abs(x) for row, least in rows)
                if inside and np.linalg.eigvalsh(S)[0] > 2.0 * MARGIN:
                    z[10 * at : 10 * at + 10] = log_cholesky.packed(S)
                    break
            else:
                raise InputError(f"consistent: no body keeps the bounds of link {name!r}. Widen its mass or its box.")
        return z

    def _bodies(self, k: int) -> Iterator[Array]:
        """Pseudo-inertias to start from: the prior's, that with a mass within bounds, and one that fills the box."""
        P = self.F[k] @ self.F[k].T
        yield P
        low, high = self.mass.get(self.links[k], (0.0, np.inf))
        m = P[3, 3] if low < P[3, 3] < high else 0.5 * (low + high) if high < np.inf else 2.0 * low
        yield P * (m / P[3, 3])
        if self.links[k] in self.boxes:
            lower, upper = self.boxes[self.links[k]]
            com = np.append(0.5 * (lower + upper), 1.0)
            yield m * (np.outer(com, com) + np.diag(np.append((0.25 * (upper - lower)) ** 2, 0.0)))

    def is_inside(self, z: Array) -> bool:
        """Whether all pseudo-inertias are positive definite."""
        S = log_cholesky.matrices(z, len(self.free_links))
        return bool(np.all(np.isfinite(z)) and np.all(np.linalg.eigvalsh(S) > 0.0))

    def parameters(self, z: Array) -> Array:
        """x of z."""
        x = self.still + self.T @ z
        x[self.not_negative] = np.maximum(x[self.not_negative], 0.0)
        return x

    def margin(self, x: Array) -> float:
        """The least eigenvalue of the pseudo-inertias of all links that are free."""
        P = pseudo_inertia(x[: 10 * self.n].reshape(-1, 10))[self.free_links]
        return float(np.linalg.eigvalsh(P)[:, 0].min(initial=np.inf))

    def objective(self, x: Array) -> float:
        """The objective in x."""
        value = 0.5 * x @ self.H @ x - self.g @ x
        others = self.free.copy()
        others[: 10 * self.n] = False
        value += 0.5 * self.gamma * (((x - self.x0) / self.scale)[others] ** 2).sum()
        for k in self.free_links:
            inverse = np.linalg.inv(self.F[k])
            own = x[10 * k : 10 * k + 10]
            S = inverse @ pseudo_inertia(own) @ inverse.T
            if self.metric == "euclidean":
                at_prior = inertial_parameters(self.F[k] @ self.F[k].T)
                d = 0.5 * (((own - at_prior) / self.scale[10 * k : 10 * k + 10]) ** 2).sum()
            elif self.metric == "pullback":
                d = 0.5 * ((S - np.eye(4)) ** 2).sum()
            else:
                d = np.trace(S) - 4.0 - np.linalg.slogdet(S)[1]
            value += self.gamma * d
        return float(value)


def _square(H: Any, g: Any, least: int) -> tuple[Array, Array]:
    """H and g as arrays that fit each other and the robot."""
    try:
        matrix, vector = np.array(H, dtype=float), np.array(g, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"consistent: expected numbers in H and g, got {error}.") from error
    if vector.ndim != 1 or matrix.shape != (len(vector), len(vector)) or len(vector) < least:
        raise InputError(
            f"consistent: expected H (n, n) and g (n,) with n of at least {least}, the robot's parameters, got shapes"
            f" {matrix.shape} and {vector.shape}."
        )
    if not (np.all(np.isfinite(matrix)) and np.all(np.isfinite(vector))):
        raise InputError("consistent: expected finite numbers in H and g, got others. Leave such samples out.")
    return 0.5 * (matrix + matrix.T), vector


def _not_negative(A: Array) -> Array:
    """A symmetric matrix without negative eigenvalues, which rounding may leave it."""
    values, vectors = np.linalg.eigh(0.5 * (A + A.T))
    if len(values) and values[0] < -1e-8 * max(values[-1], 1e-300):
        raise InputError(
            f"consistent H: expected a matrix without negative eigenvalues, got one of {values[0]:.2g} beside"
            f" {values[-1]:.2g}, in units of the prior. Give Y^T W Y of a regressor."
        )
    return (vectors * np.maximum(values, 0.0)) @ vectors.T


def _prior(robot: Robot, prior: Any, width: int) -> Array:
    """The prior with zeros for further columns that it does not have."""
    given = robot.parameters() if prior is None else np.array(prior, dtype=float)
    known = {len(robot.parameter_names), width}
    if given.ndim != 1 or len(given) not in known or not np.all(np.isfinite(given)):
        raise InputError(
            f"consistent prior: expected {listing(sorted(known))} finite numbers, got shape {given.shape}."
        )
    return np.concatenate([given, np.zeros(width - len(given))])


def _mass(name: str, given: Any) -> tuple[float, float]:
    """The least and the largest mass of a link."""
    try:
        low, high = (float(x) for x in given) if np.ndim(given) else (float(given) * (1.0 + s * EXACT) for s in (-1, 1))
    except (TypeError, ValueError) as error:
        raise InputError(f"consistent mass of {name!r}: expected two numbers or one, got {given!r}.") from error
    if not (low < high and high > 0.0):
        raise InputError(f"consistent mass of {name!r}: expected a least mass below a largest, got {low:g}, {high:g}.")
    return max(low, 0.0), high


def _box(name: str, given: Any) -> tuple[Array, Array]:
    """The corners of a box."""
    try:
        lower, upper = (np.array(x, dtype=float) for x in given)
    except (TypeError, ValueError) as error:
        raise InputError(f"consistent box of {name!r}: expected two corners, got {given!r}.") from error
    if lower.shape != (3,) or upper.shape != (3,) or not np.all(lower < upper):
        raise InputError(f"consistent box of {name!r}: expected a lower and an upper corner, got {given!r}.")
    return lower, upper
