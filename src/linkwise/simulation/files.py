"""What files keep of a simulation beside its columns, and simulations from such files."""

from __future__ import annotations

import hashlib
import platform
from dataclasses import replace
from importlib import import_module
from os import PathLike
from typing import Any

import msgspec
import numpy as np

from linkwise._version import __version__
from linkwise.control.sampled import Commands
from linkwise.errors import InputError, LinkwiseError
from linkwise.motion.base_motion import base_poses
from linkwise.robot.robot import Robot
from linkwise.simulation.energies import Energies
from linkwise.simulation.events import Crossings
from linkwise.simulation.limits import LimitMet
from linkwise.simulation.result import QUANTITIES, Simulation, Whole
from linkwise.table import read


class Meta(msgspec.Struct):
    """What a file says of a simulation beside its arrays; events have times, positions and velocities."""

    robot: str
    hash: str
    toml: str
    status: str
    notes: tuple[str, ...]
    facts: dict[str, Any]
    events: dict[str, tuple[list[float], list[list[float]], list[list[float]]]]
    limits_met: list[LimitMet] = []
    commands: tuple[list[float], list[list[float]], list[float]] | None = None


def load(path: str | PathLike[str], robot: Robot | None = None) -> Simulation:
    """The simulation of an .npz or .parquet file; the robot comes from the file too."""
    what = "a simulation as Simulation.save writes it"
    table = read(path, what=what, suffixes=(".npz", ".parquet"))
    try:
        meta = msgspec.convert(dict(table.facts), Meta)
        found = {"t": table.columns["t"], **{key: table.group(key) for key in (*QUANTITIES, "energy")}}
        return replace(_made(table.source, meta, found, robot), base=base_poses(table.columns))
    except LinkwiseError:
        raise
    except Exception as error:  # what is in a file has no bounds
        raise table.error(f"expected {what}, got something else, or a part of it.") from error


def robot_hash(text: str) -> str:
    """The SHA-256 of a robot file, by which a robot is recognised."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def versions() -> dict[str, str]:
    """What computed a result."""
    scipy = import_module("scipy")
    return {
        "linkwise": __version__, "numpy": np.__version__, "scipy": scipy.__version__,
        "python": platform.python_version(),
    }  # fmt: skip


def kept(result: Simulation) -> dict[str, Any]:
    """What a file says of a simulation beside its columns."""
    from linkwise.formats.toml_writer import to_toml

    text = to_toml(result.robot)
    return {
        "robot": result.robot.name,
        "hash": robot_hash(text),
        "toml": text,
        "status": result.status,
        "notes": list(result.notes),
        "facts": dict(result.facts),
        "events": {n: [x.tolist() for x in c] for n, c in result.events.items()},
        "limits_met": [list(x) for x in result.limits_met],
        "commands": [x.tolist() for x in result.commands[:3]] if result.commands else None,
    }


def _commands(t: list[float], tau: list[list[float]], applied: list[float]) -> Commands:
    return Commands(np.array(t), np.array(tau), np.array(applied))


def _made(name: str, meta: Meta, found: dict[str, Any], robot: Robot | None) -> Simulation:
    from linkwise.formats.toml import load_toml
    from linkwise.formats.toml_writer import to_toml

    if robot_hash(meta.toml) != meta.hash:
        raise InputError(f"{name}: expected the robot that was simulated, got another one: the file was changed.")
    if robot is not None and robot_hash(to_toml(robot)) != meta.hash:
        raise InputError(
            f"{name}: expected a simulation of this robot ({robot.name!r}), got one of {meta.robot!r}"
            " with other links, joints or numbers. Load it without robot= to have the robot of the file."
        )
    made = robot if robot is not None else load_toml(meta.toml.encode(errors="surrogatepass"))
    events = {
        n: Crossings(np.array(t), np.reshape(q, (len(t), made.nq)), np.reshape(qd, (len(t), made.nv)))
        for n, (t, q, qd) in meta.events.items()
    }
    rows = found["t"].size
    tree = made.opened()
    widths = {"q": tree.nq, "qd": tree.nv, "qdd": tree.nv, "tau": tree.nv, "energy": len(Energies.names())}
    for key, shape in {"t": (rows,), **{k: (rows, n) for k, n in widths.items()}}.items():
        array = found[key]
        if array.shape != shape or not rows:
            raise InputError(f"{name}: expected {key} of shape {shape}, got {array.shape}.")
        # the last row of a simulation that failed may be beyond what numbers hold
        if not (meta.status == "failed" or np.isfinite(array).all()):
            raise InputError(f"{name}: expected finite numbers for {key}, got others. The file was changed.")
    energy = Energies(*found.pop("energy").T)
    whole = Whole(*(found[key] for key in QUANTITIES))
    made_of = Simulation.of(made, found["t"], whole, energy, meta.status, events, meta.notes, meta.facts)
    commands = _commands(*meta.commands) if meta.commands else None
    return replace(made_of, limits_met=tuple(meta.limits_met), commands=commands)
