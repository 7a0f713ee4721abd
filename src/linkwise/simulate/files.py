"""Simulations into files and back: .npz and .parquet carry all, .csv the columns."""

from __future__ import annotations

import csv
import hashlib
import json
import platform
from importlib import import_module
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from linkwise._version import __version__
from linkwise.errors import InputError
from linkwise.files import reading, replacing, required
from linkwise.robot.robot import Robot
from linkwise.simulate.energies import Energies
from linkwise.simulate.events import Crossings
from linkwise.simulate.result import QUANTITIES, Simulation

SUFFIXES = (".npz", ".parquet", ".csv")
META = b"linkwise"  # the key of our metadata in a Parquet file


def save(result: Simulation, path: str | PathLike[str]) -> None:
    """Write a simulation; the suffix tells the form."""
    suffix = _suffix(path)
    if suffix not in SUFFIXES:
        raise InputError(f"save {fspath(path)!r}: expected a name that ends in {', '.join(SUFFIXES)}, got {suffix!r}.")
    if suffix == ".parquet":
        arrow, parquet = required("pyarrow", "save"), required("pyarrow.parquet", "save")
        table = arrow.table(result.columns()).replace_schema_metadata({META: json.dumps(_meta(result))})
        with replacing(path) as part:
            parquet.write_table(table, part)
        return
    with replacing(path) as part:
        if suffix == ".npz":
            arrays: dict[str, Any] = {k: getattr(result, k) for k in ("t", *QUANTITIES)}
            arrays["energy"] = np.stack([getattr(result.energy, n) for n in Energies.names()], axis=1)
            np.savez(part, names=list(result.robot.coordinates), meta=json.dumps(_meta(result)), **arrays)
        else:
            columns = result.columns()
            with part.open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(columns)
                writer.writerows(np.stack(list(columns.values()), axis=1).tolist())


def load(path: str | PathLike[str], robot: Robot | None = None) -> Simulation:
    """The simulation of an .npz or .parquet file; the robot comes from the file too."""
    suffix, name = _suffix(path), Path(path).name
    with reading(path, "expected a simulation as Simulation.save writes it, got no such file."):
        if suffix == ".parquet":
            meta, arrays = _read_parquet(path)
        elif suffix == ".npz":
            with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as archive:
                meta = json.loads(str(archive["meta"]))
                arrays = {k: archive[k] for k in ("t", *QUANTITIES, "energy")}
        else:
            raise InputError(
                f"load {name!r}: expected an .npz or .parquet file, got {suffix!r}."
                " The motion in a .csv file is read by linkwise.trajectory.read."
            )
        return _made(name, meta, arrays, robot)


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
    from linkwise.robot.toml_writer import to_toml

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


def _read_parquet(path: str | PathLike[str]) -> tuple[Any, dict[str, Any]]:
    table = required("pyarrow.parquet", "load").read_table(path)
    meta = json.loads(table.schema.metadata[META])
    columns = {name: table[name].to_numpy() for name in table.column_names}
    groups: dict[str, list[Any]] = {k: [] for k in (*QUANTITIES, "energy")}
    for name, column in columns.items():
        if name != "t":
            groups[name.split(".")[0]].append(column)
    return meta, {"t": columns["t"], **{k: np.stack(v, axis=1) for k, v in groups.items()}}


def _made(name: str, meta: Any, arrays: dict[str, Any], robot: Robot | None) -> Simulation:
    from linkwise.robot.toml import load_toml
    from linkwise.robot.toml_writer import to_toml

    if robot_hash(meta["toml"]) != meta["hash"]:
        raise InputError(f"{name}: expected the robot that was simulated, got another one: the file was changed.")
    if robot is not None and robot_hash(to_toml(robot)) != meta["hash"]:
        raise InputError(
            f"{name}: expected a simulation of this robot ({robot.name!r}), got one of {meta['robot']!r}"
            " with other links, joints or numbers. Load it without robot= to have the robot of the file."
        )
    made = robot if robot is not None else load_toml(meta["toml"].encode(errors="surrogatepass"))
    events = {n: Crossings(*(np.array(x, dtype=float) for x in c)) for n, c in meta["events"].items()}
    for n, c in events.items():
        events[n] = Crossings(c.t, c.q.reshape(-1, made.nq), c.qd.reshape(-1, made.nv))
    rows = len(arrays["t"])
    for key, width in {"q": made.nq, "qd": made.nv, "qdd": made.nv, "tau": made.nv, "energy": 6}.items():
        if arrays[key].shape != (rows, width):
            raise InputError(f"{name}: expected {key} of shape {(rows, width)}, got {arrays[key].shape}.")
    energy = Energies(*arrays.pop("energy").T)
    return Simulation(
        made, **arrays, energy=energy, status=meta["status"], events=events, notes=tuple(meta["notes"]),
        facts=meta["facts"],
    )  # fmt: skip


def _suffix(path: str | PathLike[str]) -> str:
    if not isinstance(path, (str, PathLike)):
        raise InputError(f"path: expected a file name, got {path!r}.")
    return Path(path).suffix.lower()
