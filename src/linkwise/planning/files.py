"""Plans into files and back."""

from __future__ import annotations

import json
from dataclasses import astuple, replace
from os import PathLike
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from linkwise._version import __version__
from linkwise.errors import InputError
from linkwise.files import arrays, reading, replacing
from linkwise.motion import joint_trajectory
from linkwise.planning.carrier import POSE, Carrier
from linkwise.planning.chart import chart_of
from linkwise.planning.curve import Basis, Curve
from linkwise.planning.program import Dual
from linkwise.planning.result import Plan
from linkwise.planning.scene_files import kept, restored
from linkwise.planning.stance import Stance, checked
from linkwise.planning.transcription import Violation
from linkwise.robot.robot import Robot
from linkwise.table import SUFFIXES, checked_suffix, write

STEP = 0.01  # s between points of a message, if none is given


class Meta(msgspec.Struct):
    """What a file says of a plan beside its curve."""

    robot: str
    degree: int
    duration: float
    objective: float
    status: str
    worst: tuple[float, str, float]
    terms: dict[str, float]
    multipliers: dict[str, float]
    facts: dict[str, Any]
    duals: list[tuple[str, float, float]]
    about: list[list[float]] = []
    notes: list[str] = []
    stances: list[Stance] = []
    frames: list[str] = []
    moves: bool = True
    rates: int = 1
    scenes: list[dict[str, Any]] = []


def save(plan: Plan, path: Any, step: float | None = None) -> None:
    """Write a plan: its curve with all that is known of it into an .npz file, a message of controllers, or columns."""
    form = checked_suffix(path, (*SUFFIXES, *joint_trajectory.SUFFIXES))
    if form in joint_trajectory.SUFFIXES:
        joint_trajectory.write(path, joint_trajectory.joint_trajectory(plan.robot.rigid(), plan.columns(step or STEP)))
        return
    if form != ".npz":
        write(path, plan.columns(step))
        return
    base = {"base": plan.carrier.rows} if plan.carrier else {}
    breaks, meta = np.array(plan.curve.basis.breaks), json.dumps(_meta(plan))
    with replacing(path) as part:
        np.savez(part, points=plan.curve.points, breaks=breaks, meta=meta, **base)  # type: ignore[arg-type]


def _meta(plan: Plan) -> dict[str, Any]:
    from linkwise.formats.toml_writer import to_toml

    return {
        "linkwise": __version__, "robot": to_toml(plan.robot), "degree": plan.curve.basis.degree,
        "duration": plan.duration, "objective": plan.objective, "status": plan.status,
        "worst": list(astuple(plan.largest_violation)), "terms": dict(plan.terms),
        "multipliers": dict(plan.multipliers), "facts": dict(plan.facts), "duals": [list(d) for d in plan.duals],
        "about": [list(x) for x in plan.chart.about], "notes": list(plan.notes), **_surroundings(plan.carrier),
        "scenes": [kept(scene) for scene in plan.scenes],
        "stances": msgspec.to_builtins(plan.chart.stances),
    }  # fmt: skip


def _surroundings(carrier: Carrier | None) -> dict[str, Any]:
    return {"frames": carrier.frames, "moves": carrier.moves, "rates": carrier.rates} if carrier else {}


def load(path: str | PathLike[str]) -> Plan:
    """The plan of an .npz file."""
    from linkwise.formats.toml import load_toml

    if not isinstance(path, (str, PathLike)):
        raise InputError(f"load: expected a path, got {path!r}.")
    with reading(path, "expected a plan as Plan.save writes it, got something else, or a part of one.") as file:
        found = arrays(file)
        meta = msgspec.convert(json.loads(str(found["meta"])), Meta)
        points, breaks, base = found["points"], found["breaks"], found.get("base")
        if not all(x.dtype.kind in "fiu" and np.isfinite(x).all() for x in (points, breaks, base) if x is not None):
            raise ValueError
        if not (1 <= meta.degree <= 9 and 0.0 < meta.duration < np.inf):
            raise ValueError
        if breaks.ndim != 1 or (breaks[0], breaks[-1]) != (0.0, 1.0) or (np.diff(breaks) <= 0.0).any():
            raise ValueError
        points = points.astype(float)
        basis = Basis(meta.degree, tuple(breaks.tolist()))
        robot = load_toml(meta.robot.encode(errors="surrogatepass"))
        chart = replace(chart_of(robot), stances=tuple(map(checked, meta.stances)))
        for stance in meta.stances:
            robot.frame(stance.frame)
        if points.shape != (basis.count, chart.n):
            raise InputError(
                f"{Path(path).name}: expected points of shape {(basis.count, chart.n)}, got {points.shape}."
            )
        if [len(x) for x in meta.about] != [len(x) for x in chart.about] or not np.isfinite(meta.about).all():
            raise ValueError
        return Plan(
            robot, Curve(basis, points, meta.duration), meta.objective, meta.status, Violation(*meta.worst), meta.terms,
            meta.multipliers, meta.facts, tuple(Dual(*d) for d in meta.duals),
            _carrier(robot, meta, base), replace(chart, about=tuple(map(tuple, meta.about))), tuple(meta.notes),
            tuple(restored(robot.rigid(), scene) for scene in meta.scenes),
        )  # fmt: skip


def _carrier(robot: Robot, meta: Meta, base: Any) -> Carrier | None:
    """What surrounds the robot; a file of the last release has gravity fixed in the axes of its base."""
    if base is None:
        return None
    if base.ndim == 2 and base.shape[1] == 18 and not meta.frames:
        base = np.hstack([base, np.tile(robot.gravity, (len(base), 1))])
    width = Carrier.width(len(meta.frames), meta.moves, meta.rates)
    if meta.moves and base.ndim == 2 and base.shape[1] == width - POSE:  # of before poses were kept
        still = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
        base = np.hstack([base, np.tile(still, (len(base), 1))])
    if base.ndim != 2 or base.shape[1] != width or len(base) < 4:
        raise ValueError
    for name in meta.frames:
        robot.frame(name)
    return Carrier(tuple(meta.frames), meta.moves, meta.rates, base.astype(float), meta.duration)
