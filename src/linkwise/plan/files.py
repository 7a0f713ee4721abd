"""Plans into files and back."""

from __future__ import annotations

import csv
import json
import zipfile
import zlib
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from linkwise._version import __version__
from linkwise.errors import InputError, LinkwiseError
from linkwise.files import replacing
from linkwise.plan.curve import Basis, Curve
from linkwise.plan.problem import Worst
from linkwise.plan.program import Dual
from linkwise.plan.result import Plan

SUFFIXES = (".npz", ".csv")
UNREADABLE = (ValueError, TypeError, KeyError, EOFError, zipfile.BadZipFile, zlib.error)


def save(plan: Plan, path: str | PathLike[str], step: float | None = None) -> None:
    """Write a plan; the suffix tells the form."""
    if Path(path).suffix.lower() not in SUFFIXES:
        raise InputError(f"save: expected a name that ends in {' or '.join(SUFFIXES)}, got {path!r}.")
    if Path(path).suffix.lower() == ".npz":
        with replacing(path) as part:
            np.savez(
                part, points=plan.curve.points, breaks=np.array(plan.curve.basis.breaks), meta=json.dumps(_meta(plan))
            )
        return
    columns = plan.columns(step)
    with replacing(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(np.stack(list(columns.values()), axis=1).tolist())


def _meta(plan: Plan) -> dict[str, Any]:
    from linkwise.robot.toml_writer import to_toml

    return {
        "linkwise": __version__, "robot": to_toml(plan.robot), "degree": plan.curve.basis.degree,
        "duration": plan.duration, "objective": plan.objective, "status": plan.status,
        "worst": [plan.worst.violation, plan.worst.name, plan.worst.t], "terms": dict(plan.terms),
        "multipliers": dict(plan.multipliers), "facts": dict(plan.facts), "duals": [list(d) for d in plan.duals],
    }  # fmt: skip


def load(path: str | PathLike[str]) -> Plan:
    """The plan of an .npz file."""
    from linkwise.robot.toml import load_toml

    try:
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as archive:
            meta = json.loads(str(archive["meta"]))
            points, breaks = archive["points"], archive["breaks"]
        basis = Basis(int(meta["degree"]), tuple(breaks.tolist()))
        robot = load_toml(meta["robot"].encode(errors="surrogatepass"))
        if points.shape != (basis.count, len(robot.names)):
            raise InputError(
                f"{Path(path).name}: expected points of shape {(basis.count, len(robot.names))}, got {points.shape}."
            )
        return Plan(
            robot, Curve(basis, points, float(meta["duration"])), meta["objective"], meta["status"],
            Worst(*meta["worst"]), meta["terms"], meta["multipliers"], meta["facts"],
            tuple(Dual(*d) for d in meta["duals"]),
        )  # fmt: skip
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"{fspath(path)!r}: expected a file that can be read, got: {reason}.") from error
    except LinkwiseError:
        raise
    except UNREADABLE as error:
        raise InputError(f"{Path(path).name}: expected a plan as Plan.save writes it, got no such file.") from error
