"""What a simulation gives: the motion, forces, energies and events, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwise.control.sampled import Commands
from linkwise.errors import InputError
from linkwise.motion.base_motion import base_columns
from linkwise.motion.columns import column_names
from linkwise.robot.robot import Robot
from linkwise.simulation.energies import Energies
from linkwise.simulation.events import Crossings
from linkwise.simulation.leading_view import View
from linkwise.simulation.limits import LimitMet
from linkwise.simulation.motions import Array
from linkwise.table import Sampled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUANTITIES = ("q", "qd", "qdd", "tau")


class Channel(NamedTuple):
    """The motion of one joint: columns of numbers for a joint of one degree of freedom, else (rows, 7 or 6)."""

    t: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array


class Whole(NamedTuple):
    """The motion of a tree, all joints: arrays with a row for each time, of the widths of `robot.opened()`."""

    q: Array
    qd: Array
    qdd: Array
    tau: Array


@dataclass(frozen=True, eq=False)
class Simulation(Sampled):
    """A simulated motion. `result["elbow"]` is one joint, `result["tau.elbow"]` one column of `columns()`.

    Joints that follow others in loops are there by name too; `positions` has all of them.

    Args:
        robot: what moved.
        t: times of the rows (rows,), s.
        q: positions of what leads (rows, nq), quaternions of length one.
        qd: velocities (rows, nv).
        qdd: accelerations (rows, nv).
        tau: forces of the drives (rows, nu): the control's on free joints, those that the motion takes on driven ones.
        energy: energies and works, and the drift of their balance.
        status: "finished", "interrupted", "out of time", "out of steps", "failed", or which event or limit stopped it.
        events: what was watched, by name: times and states.
        notes: what else a user should know.
        facts: how it was computed: method, tolerances, steps, evaluations, seconds, versions.
        motion: the state of the tree at any time, where `dense=True` asked for it.
        whole: the motion of all joints.
        limits_met: limits of joints and drives that the motion met, in the order of time.
        commands: what a sampled control asked for.
        base: rotation, row after row, and position of the base in the world (rows, 12), where it moves.
    """

    robot: Robot
    t: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    energy: Energies
    status: str = "finished"
    events: Mapping[str, Crossings] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    motion: Callable[[float], tuple[Array, Array]] | None = field(default=None, repr=False)
    whole: Whole | None = field(default=None, repr=False)
    limits_met: tuple[LimitMet, ...] = field(default=(), repr=False)
    commands: Commands | None = field(default=None, repr=False)
    base: Array | None = field(default=None, repr=False)

    @classmethod
    def of(cls, robot: Robot, t: Array, whole: Whole, *others: Any) -> Simulation:
        """The simulation of a robot from the motion of its tree."""
        view = View.of(robot)
        q, qd = view.state(whole.q, whole.qd)
        leads = cls(robot, t, q, qd, whole.qdd[:, view.v], whole.tau[:, view.tau], *others)
        return replace(leads, whole=whole) if view.width != robot.nv else leads

    @property
    def positions(self) -> Array:
        """Positions of all joints (rows, nq of `robot.opened()`): those that lead, and those that follow."""
        return self.tree.q

    @property
    def tree(self) -> Whole:
        """Positions, velocities, accelerations and forces of all joints."""
        return self.whole or Whole(self.q, self.qd, self.qdd, self.tau)

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, name: str) -> Any:
        """A joint's `Channel`, or a column by its name."""
        slots, tree = self.robot.opened().slots, self.tree
        slot = slots.get(name)
        if slot is None:
            return super().__getitem__(name)
        at, to = slice(slot.q, slot.q + slot.nq), slice(slot.v, slot.v + slot.nv)
        parts = (tree.q[:, at], tree.qd[:, to], tree.qdd[:, to], tree.tau[:, to])
        return Channel(self.t, *(x[:, 0] if slot.nq == 1 else x for x in parts))

    def columns(self) -> dict[str, Array]:
        """Everything as named columns: t, q.elbow, qd.elbow, qdd.elbow, tau.elbow, ..., energy.kinetic, ...

        All joints of the tree are there, those that follow others too, and base.x, ..., base.qw of a base that moves.
        """
        found = {"t": self.t} | (base_columns(self.base) if self.base is not None else {})
        for quantity in QUANTITIES:
            names = column_names(self.robot.opened(), quantity)
            found |= dict(zip(names, getattr(self.tree, quantity).T, strict=True))
        return found | {f"energy.{name}": getattr(self.energy, name) for name in Energies.names()}

    def state(self, t: Any, *, whole: bool = False) -> tuple[Array, Array]:
        """Positions and velocities at any times within the simulation (...,), of shapes (..., nq) and (..., nv).

        Args:
            t: times, s.
            whole: of all joints of the tree, instead of those that lead.
        """
        if self.motion is None:
            raise InputError("state: expected a simulation that kept its interpolant, got one without. Use dense=True.")
        times = np.asarray(t, dtype=float)
        if not np.all((times >= self.t[0]) & (times <= self.t[-1])):
            raise InputError(f"state: expected times from {self.t[0]:g} to {self.t[-1]:g} s, got {t!r}.")
        pairs = [self.motion(float(x)) for x in times.reshape(-1)]
        q, qd = (np.reshape([p[k] for p in pairs], (*times.shape, -1)) for k in (0, 1))
        return (q, qd) if whole else View.of(self.robot).state(q, qd)

    def kept(self) -> dict[str, Any]:
        """All that `Simulation.load` needs beside the columns of an .npz or .parquet file."""
        from linkwise.simulation.files import kept

        return kept(self)

    @staticmethod
    def load(path: str | PathLike[str], robot: Robot | None = None) -> Simulation:
        """The simulation of an .npz or .parquet file; with a `robot`, only if it was that robot's."""
        from linkwise.simulation.files import load

        return load(path, robot)

    def plot(self, path: str | PathLike[str] | None = None) -> Figure:
        """A picture of positions, speeds, torques and energy, which `path` (.png, .svg or .pdf) receives if given."""
        from linkwise.figures import drawn
        from linkwise.simulation.plot import figure_of

        return drawn(figure_of(self), path)

    def view(self, path: str | PathLike[str] | None = None, **options: Any) -> Path:
        """A page that shows the motion; see `Robot.view`."""
        from linkwise.view.page import view

        return view(self.robot, self, path, **options)

    def __repr__(self) -> str:
        return (
            f"<Simulation of {self.robot.name!r}: {self.t[0]:g} to {self.t[-1]:g} s in {len(self)} rows,"
            f" {self.status}, energy drift {self.energy.drift:.1e}>"
        )
