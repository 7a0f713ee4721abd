"""The motion of the Stanford arm on which Guarino Lo Bianco tried his recursion: its torques."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from typing import Any

import numpy as np

from linkwise.formats.registry import load
from linkwise.kernel.compile import compile
from linkwise.motion.trajectory import Array
from linkwise.robot.joint import KINDS
from linkwise.robot.robot import Robot
from papers.experiments import Cell, Experiment, Picture, Table
from papers.pictures import inline_svg, panels

TOLERANCE = 1e-12  # relative to the largest torque: sums of a few hundred terms in double precision
PRINTED = 2.462e-2  # N m/s, the error of a numerical rate at the shortest sampling time
STEPS = (1e-4, 1e-3, 1e-2)  # sampling times, s
ROTOR = 0.953  # kg m^2, Paul's actuator inertia of joint 1


Motion = tuple[Array, Array, float]  # from where, to where, in which time


def quintic(qi: Array, qf: Array, tf: float, t: Array) -> tuple[Array, Array, Array, Array]:
    """Point to point in the time tf, with zero velocity and acceleration at both ends: q, qd, qdd, qddd.

    q = qi + (qf - qi) (10 s^3 - 15 s^4 + 6 s^5), s = t/tf
    """
    s = t[:, None] / tf
    step = qf - qi
    return (
        qi + step * (10 * s**3 - 15 * s**4 + 6 * s**5),
        step * (30 * s**2 - 60 * s**3 + 30 * s**4) / tf,
        step * (60 * s - 180 * s**2 + 120 * s**3) / tf**2,
        step * (60 - 360 * s + 360 * s**2) / tf**3,
    )


def published_motion() -> tuple[dict[str, Any], Motion]:
    """Reference values along the motion of the source, and the motion."""
    reference = json.loads((files("papers") / "data" / "stanford.json").read_text())
    return reference, (np.array(reference["qi"]), np.array(reference["qf"]), reference["tf"])


def stanford() -> Experiment:
    """Torques of the Stanford arm along Guarino Lo Bianco's motion, and the one number that he prints."""
    reference, motion = published_motion()
    robot = load("stanford")
    driven = robot.replace(replace(robot.joint("joint1"), armature=ROTOR))
    tau, tau_driven = (rates_along(r, motion) for r in (robot, driven))
    t = np.linspace(0.0, reference["tf"], 401)
    at = np.array([s["t"] for s in reference["samples"]])
    given = np.array([s["tau"] for s in reference["samples"]])
    ours = tau(at)[0]
    worst = float(np.abs(ours - given).max() / np.abs(given).max())
    index = [[float(sampling_errors(f, step, reference["tf"])[0]) for f in (tau, tau_driven)] for step in STEPS]
    return Experiment(
        name="stanford",
        title="The Stanford arm from point to point",
        source="Guarino Lo Bianco, section V; the robot is that of Paul 1981",
        finding=f"All six torques agree with an independent computation to {worst:.0e} of the largest. The printed"
        f" sampling error {PRINTED} is {index[0][0]:.4g} here, and {index[0][1]:.4g} with a rotor at joint 1.",
        text=(
            "The arm moves from rest to rest in two seconds. The source prints no torque: the reference values below"
            " were computed from a Lagrangian by automatic differentiation, which shares nothing with a recursion.",
            "What the source prints is how far the rate of the torque of joint 1 is from its backward difference"
            " (36) over one sampling time, at worst. More of the rates is in the experiment torque-rates.",
        ),
        tables=(_rates_table(index), _table(robot.names, at, given, ours)),
        pictures=(_picture(robot.joints, t, tau(t)[0], at, given),),
        assumptions=(
            "The printed Table II has two of three columns of moments of inertia. The third, Izz, is taken from Paul's"
            " values, and in row 6 a repeated 0.013 is restored.",
            "The source speaks of splines with zero jerk at the ends. A single quintic with zero velocity and"
            " acceleration at the ends is the only law tried whose sampling error has the printed size; its end jerk"
            " is not zero.",
            f"The source neglects motors. Its printed number is met in all digits when Paul's rotor of joint 1,"
            f" {ROTOR} kg m^2, is added: plausible, not proven, for it was found by trying.",
            "Friction is left out, as the source says; gravity is 9.81 m/s^2 along -z.",
        ),
        agrees=worst <= TOLERANCE and abs(index[0][0] - 2.40222e-2) < 1e-7 and abs(index[0][1] - PRINTED) < 5e-6,
    )


def rates_along(robot: Robot, motion: Motion) -> Callable[[Array], tuple[Array, Array]]:
    """The torques of a robot and their rates as functions of time."""
    kernel = compile(robot).force_rates
    return lambda t: kernel(*quintic(*motion, t))


def sampling_errors(torques: Callable[[Array], tuple[Array, Array]], step: float, tf: float) -> Array:
    """For each joint the largest difference of the rate of its torque and the backward difference (36)."""
    t = step * np.arange(1.0, round(tf / step) + 1)
    tau, tau_dot = torques(t)
    return np.abs(tau_dot - (tau - torques(t - step)[0]) / step).max(axis=0)


def _rates_table(index: list[list[float]]) -> Table:
    head = ("sampling time", "published", "ours", "ours, with a rotor")
    published = (f"{PRINTED}", "an order of magnitude more", "another order of magnitude")
    rows: list[tuple[Cell, ...]] = []
    for step, text, found in zip(STEPS, published, index, strict=True):
        rows.append((f"{step:g} s", text, *found))
    note = f"The rotor of joint 1 has {ROTOR} kg m^2."
    return Table("Largest error of the numerical rate of torque 1, N m/s", head, tuple(rows), note)


def _table(names: tuple[str, ...], at: Array, given: Array, ours: Array) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for time, published, found in zip(at, given, ours, strict=True):
        rows.append((f"{time:g} s", "reference", *map(float, published), None))
        rows.append(("", "ours", *map(float, found), float(np.abs(published - found).max())))
    head = ("time", "", *names, "largest difference")
    return Table("Torques at the reference times", head, tuple(rows), "N m, and N for the prismatic joint3.")


def joint_titles(joints: Any, revolute: str = "N m", prismatic: str = "N") -> list[str]:
    """The joints with the units of a quantity, as titles of pictures."""
    return [f"{j.name}, {prismatic if KINDS[j.kind].slides else revolute}" for j in joints]


def _picture(joints: Any, t: Array, tau: Array, at: Array, given: Array) -> Picture:
    caption = "Torques along the motion, with the reference values as dots."
    titles = joint_titles(joints)
    curves = dict(zip(titles, tau.T, strict=True))
    marks = {title: (at, values) for title, values in zip(titles, given.T, strict=True)}
    return Picture(caption, inline_svg(panels(t, curves, marks, "time, s", "reference"), "stanford", caption))
