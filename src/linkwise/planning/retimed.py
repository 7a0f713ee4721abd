"""A path with a timing: the motion, what it takes, and how much of each limit it uses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import InputError
from linkwise.kernel.compile import compile
from linkwise.motion import column_names
from linkwise.motion.base_motion import base_columns
from linkwise.planning.bounds import Bounds
from linkwise.planning.path import Path
from linkwise.planning.path_rows import PathModel, PathMotion
from linkwise.planning.time_law import TimeLaw
from linkwise.robot.robot import Robot
from linkwise.table import Sampled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

FINER = 8  # how many places of each interval are checked
MOST = 10**8  # rows of a result


class Use(NamedTuple):
    """How much of a limit is used at most, as a share of it, by which joint and when."""

    share: float
    joint: str
    time: float


@dataclass(frozen=True, eq=False)
class Retimed(Sampled):
    """A path with its fastest timing. `result["tau.elbow"]` is one column of `columns()`.

    Args:
        robot: what moves.
        duration: s.
        t: times of the samples (rows,), s; the last is the first one at rest.
        s: the path's parameter at the samples.
        s_dot: its speed, 1/s.
        q, qd, qdd: the motion (rows, nv); with loops, of what leads, and without motors behind springs.
        tau: torques of the drives, friction included; where drives are elastic those of their motors.
        qddd, tau_dot: jerks and rates of torques, where limits bounded one of them; else None, since torques jump.
        uses: for each kind of limit, how much of it is used at most, on a grid finer than that of the timing.
        limits: the limits that were kept.
        history: times of the iterates, s.
        notes: what else a user should know.
        facts: how it was computed: method, intervals, iterations, seconds.
    """

    robot: Robot
    duration: float
    t: Array
    s: Array
    s_dot: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    qddd: Array | None
    tau_dot: Array | None
    uses: Mapping[str, Use]
    limits: Bounds
    history: tuple[float, ...] = ()
    notes: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    law: TimeLaw = field(repr=False, kw_only=True)
    path: Path = field(repr=False, kw_only=True)
    model: PathModel = field(repr=False, kw_only=True)

    @classmethod
    def of(
        cls,
        model: PathModel,
        path: Path,
        law: TimeLaw,
        dt: float,
        history: tuple[float, ...],
        notes: tuple[str, ...],
        facts: Mapping[str, Any],
    ) -> Retimed:
        """The result of a time law of a path."""
        with np.errstate(over="ignore"):
            rows = np.ceil(law.duration / dt * (1.0 - 1e-12)) + 1.0
        if rows > MOST:
            raise InputError(
                f"retime dt: expected at most {MOST:,} rows, got {rows:.3g} of {dt:g} s. Give a longer dt."
            )
        t = dt * np.arange(int(rows), dtype=np.float64)
        x, z = law(t)
        z[:, t >= law.duration] = 0.0  # at rest
        m = model.motion(path, x, z, t)
        s, slope = path.place(x)
        used = uses(model, path, law)
        rate = {"qddd": m.qddd if model.order > 2 else None, "tau_dot": m.tau_dot if model.has_rates else None}
        return cls(
            model.robot, law.duration, t, s, slope * np.sqrt(z[0]), m.q, m.qd, m.qdd, m.tau, **rate, uses=used,
            limits=model.bounds, history=history, notes=notes, facts=facts, law=law, path=path, model=model,
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.t)

    def __call__(self, t: Any) -> tuple[Array, Array, Array]:
        """Positions, velocities and accelerations (..., nv) at times, held at the ends before and after."""
        times = np.asarray(t, dtype=float)
        flat = times.reshape(-1)
        x, z = self.law(flat)
        z[:, (flat < 0.0) | (flat > self.duration)] = 0.0
        m = self.model.motion(self.path, x, z, flat)
        q, qd, qdd = (part.reshape(*times.shape, -1) for part in m[:3])
        return q, qd, qdd

    def positions(self) -> Array:
        """Positions of all joints at the samples, (rows, nq of `robot.opened()` without motors behind springs)."""
        return np.asarray(compile(self.robot.rigid()).positions(self.q, along=True).q)

    def columns(self) -> dict[str, Array]:
        """Everything as named columns: t, s, q.elbow, qd.elbow, qdd.elbow, tau.elbow, ..."""
        found = {"t": self.t, "s": self.s, "s_dot": self.s_dot}
        if base := self.model.environment.base:
            found |= base_columns(base.poses(self.t))
        for quantity in ("q", "qd", "qdd", "qddd", "tau", "tau_dot"):
            values = getattr(self, quantity)
            if values is not None:
                found |= dict(zip(self._names(quantity), values.T, strict=True))
        return found

    def _names(self, quantity: str) -> list[str]:
        if quantity.startswith("tau"):
            return [f"{quantity}.{name}" for name in self.model.names["effort"]]
        return column_names(self.robot.rigid(), quantity)

    def kept(self) -> dict[str, Any]:
        return {"duration": self.duration}

    def plot(self, path: str | PathLike[str] | None = None) -> Figure:
        """A picture of speeds, torques and their rates as shares of limits; `path` receives it if given."""
        from linkwise.figures import drawn
        from linkwise.planning.retimed_plot import figure_of

        return drawn(figure_of(self), path)

    def view(self, path: str | PathLike[str] | None = None, **options: Any) -> FilePath:
        """A page that shows the motion; see `Robot.view`."""
        from linkwise.view.page import view

        return view(self.robot, self, path, **options)

    def __repr__(self) -> str:
        used = ", ".join(f"{name} {use.share:.1%} ({use.joint})" for name, use in self.uses.items())
        return f"<Retimed path of {self.robot.name!r}: {self.duration:.4f} s, limits used: {used or 'none'}>"


def shares(model: PathModel, path: Path, law: TimeLaw) -> dict[str, Array]:
    """How much of each kind of limit a law uses at places of its intervals, (intervals, places, joints or drives)."""
    h = np.diff(law.x)[:, None]
    places = np.concatenate([[1e-6], (np.arange(FINER) + 0.5) / FINER, [1.0 - 1e-6]])
    x = (law.x[:-1, None] + h * places).reshape(-1)
    used = {name: np.abs(share) for name, share in used_shares(model, model.along(path, law, x)).items()}
    return {name: share.reshape(len(h), len(places), -1) for name, share in used.items()}


def used_shares(model: PathModel, m: PathMotion) -> dict[str, Array]:
    """What a motion uses of each kind of limit, (rows, joints or drives), with its sign."""
    _, qd, qdd, qddd = (np.hstack(x) for x in zip(model.joints(m[:4]), *([m.extras] if m.extras else []), strict=True))
    values = {"velocity": qd, "acceleration": qdd, "jerk": qddd, "effort": m.tau, "effort_rate": m.tau_dot}
    return {name: value / getattr(model.bounds, name) for name, value in values.items() if model.bounds.has(name)}


def uses(model: PathModel, path: Path, law: TimeLaw) -> dict[str, Use]:
    """The largest share of each kind of limit along a law."""
    found = {}
    for name, share in shares(model, path, law).items():
        k, _, joint = np.unravel_index(int(np.argmax(share)), share.shape)
        found[name] = Use(float(share.max()), model.names[name][joint], float(law.t[k]))
    return found
