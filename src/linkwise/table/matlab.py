"""Arrays from MATLAB's files."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.errors import InputError
from linkwise.files import reading

SUFFIX = ".mat"
HDF5 = b"MATLAB 7.3"  # how files begin that are HDF5, which SciPy does not read


def read_matlab(path: str | PathLike[str]) -> dict[str, Any]:
    """Arrays of numbers by name, those in structures as `data.q`."""
    from scipy.io import loadmat

    name = Path(path).name
    with reading(path, "expected a MATLAB file, got something else, or a part of it.") as file:
        if file.read(len(HDF5)) == HDF5:
            raise InputError(f"{name}: expected a file of MATLAB's version 7 or earlier, got 7.3. Save it with '-v7'.")
        file.seek(0)
        found = loadmat(file, squeeze_me=False, struct_as_record=True)
    arrays: dict[str, Any] = {}
    for key, value in found.items():
        if not key.startswith("__"):
            _collect(key, value, arrays)
    if not arrays:
        raise InputError(f"{name}: expected arrays of numbers, got none.")
    return arrays


def _collect(key: str, value: Any, into: dict[str, Any]) -> None:
    """Put an array, or those in a structure, under their names."""
    if value.dtype.names and value.size == 1:
        for field in value.dtype.names:
            _collect(f"{key}.{field}", value[field].item(), into)
    elif value.dtype.kind in "biuf" and value.size > 1:
        into[key] = np.asarray(value).ravel() if 1 in value.shape else np.asarray(value)
