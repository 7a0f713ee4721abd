"""Strides as files of OpenSim: motions (.mot) and forces of the ground (.sto or .mot)."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.errors import InputError
from linkwise.files import replacing
from linkwise.planning.curve import Array
from linkwise.walking.stride import Stride

SUFFIXES = (".mot", ".sto")


def write_motion(stride: Stride, path: str | PathLike[str]) -> None:
    """Coordinates over time, in radians and metres, one column for each by its name."""
    stride = _stride(stride)
    _write(path, "walk", list(stride.names), stride.t, stride.q)


def write_torques(stride: Stride, path: str | PathLike[str]) -> None:
    """Torques of joints over time, N m, named as OpenSim's inverse dynamics does: knee_r_moment."""
    stride = _stride(stride)
    names = [f"{n}_{'force' if n in ('gx', 'gy', 'gz') else 'moment'}" for n in stride.names]
    _write(path, "walk torques", names, stride.t, stride.tau)


def write_ground(stride: Stride, path: str | PathLike[str]) -> None:
    """Force, centre of pressure and free moment of each foot over time, N, m and N m.

    Columns are ground_force_r_vx to vz, ground_force_r_px to pz, ground_torque_r_x to z, then the left foot's. A foot
    that carries next to nothing has its last centre of pressure, or its first: no column may hold what is no number.
    """
    stride = _stride(stride)
    names, columns = [], []
    for k, side in enumerate(("r", "l")):
        W, at = stride.ground[:, k], _filled(stride.centre_of_pressure(side))
        F, M = W[:, :3], W[:, 3:]
        p = np.stack([at[:, 0], np.zeros(len(at)), at[:, 1]], axis=1)
        free = M - np.cross(p, F)
        free[:, [0, 2]] = np.where(np.isfinite(stride.centre_of_pressure(side)), 0.0, free[:, [0, 2]])
        names += [f"ground_force_{side}_v{c}" for c in "xyz"] + [f"ground_force_{side}_p{c}" for c in "xyz"]
        names += [f"ground_torque_{side}_{c}" for c in "xyz"]
        columns += [F, p, free]
    _write(path, "walk ground reactions", names, stride.t, np.hstack(columns))


def _filled(at: Array) -> Array:
    """Places with the last known one where there is none, and the first before it."""
    found = at.copy()
    known = at[np.isfinite(at).all(axis=1)]
    last = known[0] if len(known) else np.zeros(2)
    for k, x in enumerate(found):
        if np.isfinite(x).all():
            last = x
        found[k] = last
    return found


def _stride(given: Any) -> Stride:
    if not isinstance(given, Stride):
        raise InputError(f"stride: expected a Stride, got {type(given).__name__}. Give walk.stride().")
    return given


def _write(path: str | PathLike[str], title: str, names: Sequence[str], t: Array, values: Array) -> None:
    file = Path(path)
    if file.suffix.lower() not in SUFFIXES:
        raise InputError(f"{file.name}: expected a name that ends in .mot or .sto, got {file.suffix or 'none'!r}.")
    head = [title, "version=1", f"nRows={len(t)}", f"nColumns={len(names) + 1}", "inDegrees=no", "endheader"]
    lines = [*head, "\t".join(["time", *names])]
    lines += ["\t".join(f"{x:.10g}" for x in row) for row in np.column_stack([t, values])]
    with replacing(file) as part:
        part.write_text("\n".join(lines) + "\n", encoding="utf-8")
