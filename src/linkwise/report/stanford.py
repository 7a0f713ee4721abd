"""The motion of the Stanford arm on which Guarino Lo Bianco tried his recursion: its torques."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import numpy as np

from linkwise.compile import compile
from linkwise.report.experiments import Cell, Experiment, Picture, Table
from linkwise.report.plots import inline_svg, panels
from linkwise.robot.load import load
from linkwise.trajectory.trajectory import Array

TOLERANCE = 1e-12  # relative to the largest torque: sums of a few hundred terms in double precision


def quintic(qi: Array, qf: Array, tf: float, t: Array) -> tuple[Array, Array, Array]:
    """Point to point in the time tf, with zero velocity and acceleration at both ends.

    q = qi + (qf - qi) (10 s^3 - 15 s^4 + 6 s^5), s = t/tf
    """
    s = t[:, None] / tf
    step = qf - qi
    return (
        qi + step * (10 * s**3 - 15 * s**4 + 6 * s**5),
        step * (30 * s**2 - 60 * s**3 + 30 * s**4) / tf,
        step * (60 * s - 180 * s**2 + 120 * s**3) / tf**2,
    )


def stanford() -> Experiment:
    """Torques of all joints along the motion, beside independently computed ones."""
    reference = json.loads((files("linkwise.report") / "data" / "stanford.json").read_text())
    motion = (np.array(reference["qi"]), np.array(reference["qf"]), reference["tf"])
    robot = load("stanford")
    torques = compile(robot).inverse_dynamics
    t = np.linspace(0.0, reference["tf"], 401)
    tau = torques(*quintic(*motion, t))
    at = np.array([s["t"] for s in reference["samples"]])
    given = np.array([s["tau"] for s in reference["samples"]])
    ours = torques(*quintic(*motion, at))
    worst = float(np.abs(ours - given).max())
    largest = float(np.abs(given).max())
    return Experiment(
        name="stanford",
        title="The Stanford arm from point to point",
        source="Guarino Lo Bianco, section V; robot of Paul 1981",
        finding=f"All six torques agree with an independent computation to {worst / largest:.0e} of the largest.",
        text=(
            "The arm moves from rest to rest in two seconds along a quintic in every joint. The source draws the"
            " torques but prints none; the reference values were computed from a Lagrangian by automatic"
            " differentiation, which shares nothing with a recursion.",
        ),
        tables=(_table(robot.names, at, given, ours),),
        pictures=(_picture(robot.joints, t, tau, at, given),),
        assumptions=(
            "The printed Table II has two of three columns of moments of inertia. The third, Izz, is taken from Paul's"
            " values, and in row 6 a repeated 0.013 is restored.",
            "The source speaks of splines with zero jerk at the ends. A single quintic with zero velocity and"
            " acceleration at the ends is the only law tried whose results have the reported size; its end jerk is"
            " not zero.",
            "Rotors and friction are left out, as the source says; gravity is 9.81 m/s^2 along -z.",
        ),
        agrees=worst <= TOLERANCE * largest,
    )


def _table(names: tuple[str, ...], at: Array, given: Array, ours: Array) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for time, published, found in zip(at, given, ours, strict=True):
        rows.append((f"{time:g} s", "reference", *map(float, published), None))
        rows.append(("", "ours", *map(float, found), float(np.abs(published - found).max())))
    head = ("time", "", *names, "largest difference")
    return Table("Torques at the reference times", head, tuple(rows), "N m, and N for the prismatic joint3.")


def _picture(joints: Any, t: Array, tau: Array, at: Array, given: Array) -> Picture:
    caption = "Torques along the motion, with the reference values as dots."
    titles = [f"{j.name}, {'N' if j.kind == 'prismatic' else 'N m'}" for j in joints]
    curves = dict(zip(titles, tau.T, strict=True))
    marks = {title: (at, values) for title, values in zip(titles, given.T, strict=True)}
    return Picture(caption, inline_svg(panels(t, curves, marks, "time, s", "reference"), "stanford", caption))
