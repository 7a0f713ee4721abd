"""Simulations into files and back: .npz and .parquet carry all, .csv the columns."""

from __future__ import annotations

import hashlib
import json
import platform
from importlib import import_module
from os import PathLike, fspath
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import numpy as np

from linkwise._version import __version__
from linkwise.errors import InputError
from linkwise.files import LARGEST, arrays, reading, replacing, required, write_csv
from linkwise.robot.robot import Robot
from linkwise.simulation.energies import Energies
from linkwise.simulation.events import Crossings
from linkwise.simulation.result import QUANTITIES, Simulation, Whole

SUFFIXES = (".npz", ".parquet", ".csv")
META = b"linkwise"  # the key of our metadata in a Parquet file
DIGEST = b"linkwise-sha256"  # that of their digest and the columns', which the form itself does not have


def save(result: Simulation, path: str | PathLike[str]) -> None:
    """Write a simulation; the suffix tells the form."""
    suffix = _suffix(path)
    if suffix not in SUFFIXES:
        raise InputError(f"save {fspath(path)!r}: expected a name that ends in {', '.join(SUFFIXES)}, got {suffix!r}.")
    if suffix == ".parquet":
        arrow, parquet = required("pyarrow", "save"), required("pyarrow.parquet", "save")
        columns, meta = result.columns(), json.dumps(_meta(result))
        table = arrow.table(columns).replace_schema_metadata({META: meta, DIGEST: _digest(columns, meta)})
        with replacing(path) as part:
            parquet.write_table(table, part)
        return
    with replacing(path) as part:
        if suffix == ".npz":
            every: dict[str, Any] = {"t": result.t, **result.tree._asdict()}
            every["energy"] = np.stack([getattr(result.energy, n) for n in Energies.names()], axis=1)
            np.savez(part, names=list(result.robot.opened().coordinates), meta=json.dumps(_meta(result)), **every)
        else:
            write_csv(part, result.columns())


class Meta(msgspec.Struct):
    """What a file says of a simulation beside its arrays; events have times, positions and velocities."""

    robot: str
    hash: str
    toml: str
    status: str
    notes: tuple[str, ...]
    facts: dict[str, Any]
    events: dict[str, tuple[list[float], list[list[float]], list[list[float]]]]


def load(path: str | PathLike[str], robot: Robot | None = None) -> Simulation:
    """The simulation of an .npz or .parquet file; the robot comes from the file too."""
    suffix, name = _suffix(path), Path(path).name
    if suffix not in (".npz", ".parquet"):
        raise InputError(
            f"load {name!r}: expected an .npz or .parquet file, got {suffix!r}."
            " The motion in a .csv file is read by linkwise.motion.read."
        )
    with reading(path, "expected a simulation as Simulation.save writes it, got no such file.") as file:
        if suffix == ".parquet":
            meta, found = _read_parquet(file)
        else:
            every = arrays(file)
            meta, found = str(every["meta"]), {k: every[k] for k in ("t", *QUANTITIES, "energy")}
        return _made(name, msgspec.convert(json.loads(meta), Meta), found, robot)


def robot_hash(text: str) -> str:
    """By which a robot is recognised: the SHA-256 of its robot file."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def versions() -> dict[str, str]:
    """What computed a result."""
    scipy = import_module("scipy")
    return {
        "linkwise": __version__, "numpy": np.__version__, "scipy": scipy.__version__,
        "python": platform.python_version(),
    }  # fmt: skip


def _meta(result: Simulation) -> dict[str, Any]:
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
    }


def _read_parquet(file: BinaryIO) -> tuple[str, dict[str, Any]]:
    parquet = required("pyarrow.parquet", "load")
    with parquet.ParquetFile(file) as opened:
        if 8 * opened.metadata.num_rows * opened.metadata.num_columns > LARGEST:
            raise ValueError("more numbers than can be kept")
        table = opened.read()
    columns, facts = {name: table[name].to_numpy() for name in table.column_names}, table.schema.metadata
    meta = facts[META].decode()
    if facts.get(DIGEST, _digest(columns, meta)) != _digest(columns, meta):
        raise ValueError("another digest than that of the data")
    groups: dict[str, list[Any]] = {k: [] for k in (*QUANTITIES, "energy")}
    for name, column in columns.items():
        if name != "t":
            groups[name.split(".")[0]].append(column)
    found = {"t": columns["t"], **{k: np.stack(v, axis=1) for k, v in groups.items()}}
    return meta, found


def _digest(columns: dict[str, Any], meta: str) -> bytes:
    """By which damage is seen."""
    data = hashlib.sha256(json.dumps([meta, *columns]).encode())
    for column in columns.values():
        data.update(np.ascontiguousarray(column, dtype=float).tobytes())
    return data.hexdigest().encode()


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
        if array.dtype.kind != "f" or not (meta.status == "failed" or np.isfinite(array).all()):
            raise InputError(f"{name}: expected finite numbers for {key}, got others. The file was changed.")
    energy = Energies(*found.pop("energy").T)
    whole = Whole(*(found[key] for key in QUANTITIES))
    return Simulation.of(made, found["t"], whole, energy, meta.status, events, meta.notes, meta.facts)


def _suffix(path: str | PathLike[str]) -> str:
    if not isinstance(path, (str, PathLike)):
        raise InputError(f"path: expected a file name, got {path!r}.")
    return Path(path).suffix.lower()
