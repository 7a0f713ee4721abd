"""Strides as tables: a column for everything that a gait laboratory plots, and files of them."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from linkwise.errors import InputError
from linkwise.files import replacing, write_csv
from linkwise.planning.curve import Array
from linkwise.walking.reactions import JOINTS

if TYPE_CHECKING:
    from linkwise.walking.stride import Stride

SUFFIXES = (".csv", ".npz")
AXES = ("x", "y", "z")


def columns(stride: Stride) -> dict[str, Array]:
    """Time, positions, torques, ground reactions, centres of pressure and reactions of joints by name, in SI units."""
    found = {"t": stride.t, "percent": stride.percent}
    found |= {f"q_{name}": stride.q[:, k] for k, name in enumerate(stride.names)}
    found |= {f"tau_{name}": stride.tau[:, k] for k, name in enumerate(stride.names)}
    for k, side in enumerate("rl"):
        found |= {f"ground_{side}_f{c}": stride.ground[:, k, i] for i, c in enumerate(AXES)}
        found |= {f"pressure_{side}_{c}": x for c, x in zip("xz", stride.centre_of_pressure(side).T, strict=True)}
    found |= {f"zmp_{c}": x for c, x in zip("xz", stride.zmp.T, strict=True)}
    for k, joint in enumerate(JOINTS):
        parts = (*(f"f{c}" for c in AXES), *(f"m{c}" for c in AXES))
        found |= {f"joint_{joint}_{part}": stride.joints[:, k, i] for i, part in enumerate(parts)}
    return found


def write_table(stride: Stride, path: str | PathLike[str]) -> None:
    """The columns into a .csv or .npz file; what is no number is an empty cell of a .csv file."""
    file, found = Path(path), columns(stride)
    if file.suffix.lower() not in SUFFIXES:
        raise InputError(f"{file.name}: expected a name that ends in .csv or .npz, got {file.suffix or 'none'!r}.")
    with replacing(file) as part:
        if file.suffix.lower() == ".npz":
            np.savez_compressed(part, allow_pickle=False, **found)
        else:
            write_csv(part, {name: np.where(np.isnan(x), "", x.astype(object)) for name, x in found.items()})
