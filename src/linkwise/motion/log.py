"""A log: what sensors of a robot measured, at even instants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from linkwise._version import __version__
from linkwise.check import finite
from linkwise.errors import InputError, UnknownNameError
from linkwise.figures import drawn
from linkwise.kernel.compile import compile
from linkwise.motion.columns import column_names
from linkwise.motion.trajectory import Array
from linkwise.robot.robot import Robot
from linkwise.table import WRENCH, Sampled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Log(Sampled):
    """Measured positions, torques and other channels of a robot, in SI units and as they were measured: not smoothed.

    Attributes:
        robot: whose joints and drives the channels belong to.
        t: (rows,) times in s; even within each run.
        q: (rows, nq) positions.
        qd: (rows, nv) velocities, where they were measured.
        tau: (rows, nu) torques of the drives; a column of NaN for a drive that was not measured.
        current: (rows, nu) currents in A, likewise.
        wrenches: by frame (rows, 6), force then moment at its origin in its axes: exerted on the robot, as by a force
            plate, or measured by a force sensor in the fixed joint before a link, exerted on that link.
        others: further channels by name, such as "temperature.elbow".
        runs: the pieces without gaps, each of one file.
        sources: the file of each run.
        delays: by channel the delay in s that was found and taken out.
        notes: in words, what was found wrong and how it was mended.
        jitter: standard deviation in s of the stamps that the rows came with.
    """

    robot: Robot
    t: Array
    q: Array
    qd: Array | None = None
    tau: Array | None = None
    current: Array | None = None
    wrenches: Mapping[str, Array] = field(default_factory=dict)
    others: Mapping[str, Array] = field(default_factory=dict)
    runs: tuple[slice, ...] = ()
    sources: tuple[str, ...] = ()
    delays: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    jitter: float = 0.0

    def __post_init__(self) -> None:
        if not self.runs:
            object.__setattr__(self, "runs", (slice(0, len(self.t)),))
        if not self.sources:
            object.__setattr__(self, "sources", ("columns",) * len(self.runs))

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        seconds = sum(float(self.t[run][-1] - self.t[run][0]) for run in self.runs)
        pieces = "" if len(self.runs) == 1 else f" in {len(self.runs)} runs"
        return f"<log of {self.robot.name!r}: {len(self)} rows at {self.rate:.6g} Hz, {seconds:.4g} s{pieces}>"

    @property
    def rate(self) -> float:
        """Samples a second."""
        t = self.t[max(self.runs, key=lambda run: run.stop - run.start)]
        return (len(t) - 1) / float(t[-1] - t[0])

    def columns(self) -> dict[str, Array]:
        found = {"t": self.t}
        for key in ("q", "qd", "tau", "current"):
            values = getattr(self, key)
            if values is not None:
                names = column_names(self.robot, "tau" if key == "current" else key)
                names = [name.replace("tau.", "current.", 1) for name in names] if key == "current" else names
                found |= dict(zip(names, values.T, strict=True))
        for frame, wrench in self.wrenches.items():
            found |= {f"wrench.{frame}.{part}": column for part, column in zip(WRENCH, wrench.T, strict=True)}
        return found | dict(self.others)

    def kept(self) -> dict[str, Any]:
        return {"linkwise": __version__, "robot": self.robot.name, "notes": list(self.notes)}

    def plot(self, path: str | PathLike[str] | None = None) -> Figure:
        """A picture of every joint: measured and smooth positions, their rates, torques, and the spectrum of noise."""
        from linkwise.motion.log_plot import log_figure

        return drawn(log_figure(self), path)

    def part(self, start: float = 0.0, stop: float = 1.0) -> Log:
        """The rows between two fractions of the log, such as `log.part(0, 2 / 3)`."""
        if not 0.0 <= start < stop <= 1.0:
            raise InputError(f"part: expected fractions 0 <= start < stop <= 1, got {start:g} and {stop:g}.")
        first, last = round(start * len(self)), round(stop * len(self))
        within = [(max(r.start, first), min(r.stop, last), k) for k, r in enumerate(self.runs)]
        kept = [(a, b, k) for a, b, k in within if b - a > 1]
        if not kept:
            raise InputError(f"part: expected two rows or more, got {last - first} of {len(self)}. Take a longer part.")
        return self._rows([slice(a, b) for a, b, _ in kept], tuple(self.sources[k] for _, _, k in kept))

    def shifted(self, delays: Mapping[str, float]) -> Log:
        """The log with delays taken out: of a channel that comes after the positions by d, what was measured at t + d.

        Args:
            delays: in s, by channel, "qd", "tau" or "current", by frame of a wrench, or by name of a further channel;
                a negative one is of a channel that comes before the positions. Ends of runs are cut where a channel
                has no samples.
        """
        from linkwise.motion.log_times import resampled

        by = {name: finite(d, f"delay of {name!r}") for name, d in delays.items()}
        known = [k for k in ("qd", "tau", "current") if getattr(self, k) is not None]
        for name in by:
            if name not in (*known, *self.wrenches, *self.others):
                raise UnknownNameError("channel", name, (*known, *self.wrenches, *self.others))
        late, early = (max([0.0, *(sign * d for d in by.values())]) for sign in (1.0, -1.0))
        step = 1.0 / self.rate

        def moved(x: Any, d: float) -> Any:
            flat = x.reshape(len(x), -1)
            found = [
                resampled(self.t[r], flat[r], self.t[r] + d, [slice(0, r.stop - r.start)], step) for r in self.runs
            ]
            return np.concatenate(found).reshape(x.shape)

        channels: dict[str, Any] = {k: moved(getattr(self, k), by[k]) for k in known if k in by}
        for key in ("wrenches", "others"):
            channels[key] = {k: moved(v, by[k]) if k in by else v for k, v in getattr(self, key).items()}
        whole = replace(
            self, **channels, delays={k: by.get(k, 0.0) + self.delays.get(k, 0.0) for k in {**self.delays, **by}}
        )
        first, last = int(np.ceil(early / step - 1e-6)), int(np.ceil(late / step - 1e-6))
        pieces = [(slice(r.start + first, r.stop - last), s) for r, s in zip(self.runs, self.sources, strict=True)]
        kept = [(piece, source) for piece, source in pieces if piece.stop - piece.start > 1]
        if not kept:
            raise InputError(f"shifted: expected delays shorter than the runs, got {late + early:g} s.")
        return whole._rows([piece for piece, _ in kept], tuple(source for _, source in kept))

    def with_plate(self, frame: str, wrench: ArrayLike, at: ArrayLike = (0.0, 0.0, 0.0)) -> Log:
        """The log with a wrench on a frame that was measured in the world's axes, as a force plate does.

        Args:
            frame: that touches the plate, such as a foot.
            wrench: (rows, 6) force on the robot, then its moment about `at`.
            at: a point of the world, or (rows, 3) of them, m.
        """
        given, point = np.asarray(wrench, dtype=float), np.asarray(at, dtype=float)
        if given.shape != (len(self), len(WRENCH)) or point.shape not in ((3,), (len(self), 3)):
            raise InputError(
                f"with_plate: expected a wrench ({len(self)}, 6) and a point (3,) or ({len(self)}, 3), got shapes"
                f" {given.shape} and {point.shape}."
            )
        T = compile(self.robot).pose(self.q, frame)
        R, force = T[:, :3, :3], given[:, :3]
        moment = given[:, 3:] + np.cross(point - T[:, :3, 3], force)
        own = np.concatenate([np.einsum("tji,tj->ti", R, x) for x in (force, moment)], axis=1)
        return replace(self, wrenches={**self.wrenches, frame: own})

    def _rows(self, pieces: list[slice], sources: tuple[str, ...]) -> Log:
        """These pieces of the log, one after the other."""

        def cut(x: Any) -> Any:
            return None if x is None else np.concatenate([x[piece] for piece in pieces])

        ends = np.cumsum([0, *(piece.stop - piece.start for piece in pieces)])
        runs = tuple(slice(int(a), int(b)) for a, b in pairwise(ends))
        channels: dict[str, Any] = {key: cut(getattr(self, key)) for key in ("t", "q", "qd", "tau", "current")}
        channels |= {key: {k: cut(v) for k, v in getattr(self, key).items()} for key in ("wrenches", "others")}
        return replace(self, **channels, runs=runs, sources=sources)
