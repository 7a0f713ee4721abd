"""Columns into files."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import InputError
from linkwise.files import replacing, required

Array = NDArray[np.float64]
Columns = Mapping[str, Array]

SUFFIXES = (".csv", ".npz", ".parquet")
WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")
SIXFOLD = ("wrench", "wrench_dot", "cut", "cut_dot")  # whose arrays are (rows, links or loops, 6)
META, DIGEST = b"linkwise", b"linkwise-sha256"  # keys of a Parquet file: facts, and a digest of all, which it lacks


def write(path: str | PathLike[str], columns: Columns, facts: Mapping[str, Any] | None = None) -> None:
    """Columns into a file whose suffix tells the form, replaced as a whole; .npz and .parquet files keep facts too."""
    form = WRITERS[checked_suffix(path, SUFFIXES)]
    with replacing(path) as part:
        form(part, columns, json.dumps(dict(facts or {})))


def checked_suffix(path: Any, suffixes: Sequence[str]) -> str:
    """The suffix of a file's name, one of these."""
    if not isinstance(path, (str, PathLike)):
        raise InputError(f"path: expected a file name, got {path!r}.")
    suffix = Path(path).suffix.lower()
    if suffix not in suffixes:
        wanted = f"{', '.join(suffixes[:-1])} or {suffixes[-1]}"
        raise InputError(f"{Path(path).name}: expected a name that ends in {wanted}, got {suffix or 'no suffix'}.")
    return suffix


def _write_csv(path: Path, columns: Columns, meta: str) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(np.stack(list(columns.values()), axis=1).tolist())


def _write_npz(path: Path, columns: Columns, meta: str) -> None:
    found: dict[str, Any] = {}
    for name, column in columns.items():
        found.setdefault(name.split(".")[0], []).append(column)
    for key, parts in found.items():
        whole = parts[0] if key in columns else np.stack(parts, axis=1)
        found[key] = whole.reshape(len(whole), -1, len(WRENCH)) if key in SIXFOLD else whole
    np.savez(path, columns=list(columns), meta=meta, **found)


def _write_parquet(path: Path, columns: Columns, meta: str) -> None:
    arrow, parquet = required("pyarrow", "save"), required("pyarrow.parquet", "save")
    facts = {META: meta, DIGEST: digest(columns, meta)}
    parquet.write_table(arrow.table(dict(columns)).replace_schema_metadata(facts), path)


def digest(columns: Columns, meta: str) -> bytes:
    """A digest of the columns, by which a reader notices damage."""
    data = hashlib.sha256(json.dumps([meta, *columns]).encode())
    for column in columns.values():
        data.update(np.ascontiguousarray(column, dtype=float).tobytes())
    return data.hexdigest().encode()


WRITERS = {".csv": _write_csv, ".npz": _write_npz, ".parquet": _write_parquet}
