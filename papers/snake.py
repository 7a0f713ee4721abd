"""A planar snake whose joints follow a travelling wave: floating freely, crawling, swimming."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from linkwise.algorithms.kinematics import poses
from linkwise.algorithms.mass_matrix import mass_matrix
from linkwise.figures import COLOURS, style
from linkwise.kernel.compile import compile
from linkwise.motion.trajectory import Array
from linkwise.robot.joint import Joint
from linkwise.robot.link import Frame, Link
from linkwise.robot.robot import Robot
from linkwise.simulation.forces import Drag, GroundFriction
from linkwise.simulation.result import Simulation
from linkwise.simulation.simulation import simulate
from linkwise.spatial import Pose
from linkwise.vector import Vec3
from papers.experiments import Cell, Experiment, Picture, Table
from papers.pictures import inline_svg

JOINTS = 12
LENGTH, RADIUS, MASS = 0.1, 0.015, 0.1  # of a link: m, m, kg
AMPLITUDE, FREQUENCY = 0.4, 1.0  # rad, Hz
PERIODS = 4
ALONG, ACROSS = 0.5, 10.0  # friction of each metre, N s/m^2
WATER = 1000.0  # kg/m^3
TOLERANCE = 1e-8  # of the momentum, relative to that of the parts
ROOT = "root"


def snake_robot() -> Robot:
    """Thirteen equal rods in the plane x, y, the first of them on a floating joint, without gravity."""
    across = MASS * (LENGTH**2 / 12.0 + RADIUS**2 / 4.0)
    middle = Vec3(LENGTH / 2.0, 0.0, 0.0)
    inertia = (MASS * RADIUS**2 / 2.0, across, across)
    links = [Link(f"link{k}", MASS, middle, inertia) for k in range(JOINTS + 1)]
    ahead = Pose(p=Vec3(LENGTH, 0.0, 0.0))
    joints = [Joint(ROOT, "world", "link0", "floating")]
    joints += [Joint(f"bend{k}", f"link{k - 1}", f"link{k}", origin=ahead) for k in range(1, JOINTS + 1)]
    middles = [Frame(f"middle{k}", f"link{k}", Pose(p=middle)) for k in range(JOINTS + 1)]
    return Robot([Link("world"), *links], joints, middles, gravity=(0.0, 0.0, 0.0), name="snake")


def wave(k: int) -> Callable[[float], tuple[float, float, float]]:
    """The motion of bend k: a wave as long as the body that travels from the head, link 0, to the tail.

    It grows smoothly from rest over the first period, so that the snake starts with no momentum.
    """
    rate, phase = 2.0 * np.pi * FREQUENCY, -2.0 * np.pi * k / JOINTS

    def motion(t: float) -> tuple[float, float, float]:
        s = min(t * FREQUENCY, 1.0)
        g = s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
        dg = 30.0 * s * s * (1.0 - s) ** 2 * FREQUENCY
        ddg = 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) * FREQUENCY**2
        x, y = np.sin(rate * t + phase), np.cos(rate * t + phase) * rate
        return (
            float(AMPLITUDE * g * x),
            float(AMPLITUDE * (dg * x + g * y)),
            float(AMPLITUDE * (ddg * x + 2.0 * dg * y - g * rate * rate * x)),
        )

    return motion


def laws() -> dict[str, dict[str, Any]]:
    """What acts on the links: nothing, the ground, water."""
    names = [f"middle{k}" for k in range(JOINTS + 1)]
    ground = GroundFriction.of_rod(LENGTH, ALONG, ACROSS)
    side, front = 2.0 * RADIUS * LENGTH, np.pi * RADIUS**2
    water = Drag.of_shape(WATER, (front, side, side), (0.1, 1.2, 1.2))
    return {"free": {}, "crawling": dict.fromkeys(names, ground), "swimming": dict.fromkeys(names, water)}


def moved(robot: Robot, forces: Mapping[str, Any]) -> Simulation:
    """The snake's motion over some periods of the wave, from rest."""
    driven = {f"bend{k}": wave(k) for k in range(1, JOINTS + 1)}
    times = np.linspace(0.0, PERIODS / FREQUENCY, 60 * PERIODS + 1)
    options: Any = {"driven": driven, "forces": forces or None, "progress": False}
    rtol = 1e-7 if forces else 1e-11
    return simulate(robot, robot.q(), None, times, rtol=rtol, atol=0.01 * rtol, **options)


def centre(robot: Robot, result: Simulation) -> Array:
    """The centre of mass (rows, 2): all links are alike."""
    return _middles(robot, result.q).mean(axis=1)


def momenta(robot: Robot, result: Simulation) -> tuple[float, float]:
    """How well momentum is kept, relative to the part of the bends, and how well it predicts the base's velocity.

        A11 V0 + A12 qd = 0,    V0 = -A11^-1 A12 qd

    in the plane: two components of the linear momentum and one of the angular, about the base's origin.
    """
    plane, worst, apart = [0, 1, 5], np.zeros(3), 0.0
    parts, speed = np.zeros(3), 0.0
    for q, qd in zip(result.q[::6].tolist(), result.qd[::6], strict=True):
        A = np.reshape(mass_matrix.plain(robot, q), (robot.nv, robot.nv))[plane]
        bends = A[:, 6:] @ qd[6:]
        worst = np.maximum(worst, np.abs(A @ qd))
        parts = np.maximum(parts, np.abs(bends))
        apart = max(apart, float(np.abs(qd[plane] + np.linalg.solve(A[:, plane], bends)).max()))
        speed = max(speed, float(np.abs(qd[plane]).max()))
    return float((worst / parts).max()), apart / speed


def snake() -> Experiment:
    """A snake of twelve joints driven by a wave: free with momentum conserved, on the ground, in water."""
    robot = snake_robot()
    found = {name: moved(robot, forces) for name, forces in laws().items()}
    paths = {name: centre(robot, result) for name, result in found.items()}
    drift, apart = momenta(robot, found["free"])
    far = {name: float(np.linalg.norm(path[-1] - path[0])) for name, path in paths.items()}
    body = LENGTH * (JOINTS + 1)
    return Experiment(
        name="snake",
        title="A snake of twelve joints on a free base",
        source="Khalil, section 7.2, end: the motion of the base that given joint motions cause; snakes and eels are"
        " the source's examples",
        finding=f"Without outside forces momentum stays zero to {drift:.0e} and the centre of mass within"
        f" {far['free']:.0e} m; the same wave carries the snake {far['crawling'] / body:.1f} body lengths on the ground"
        f" and {far['swimming'] / body:.1f} in water, in {PERIODS} periods.",
        text=(
            "All twelve bends are driven by one travelling wave. Moving-base inverse dynamics gives the acceleration of"
            " the base and the torques of the bends at each instant, and only the base is integrated.",
            "Afloat in nothing, the wave can sway the snake but not carry it: total momentum is that of the start,"
            " zero. The base's velocity is then also -A11^-1 A12 qd, without any integration; the integrated one"
            f" differs by {apart:.0e} of its largest.",
            "On the ground friction is small along a link and large across it; in water drag is quadratic, and small"
            " along a link too. Both push the snake against the direction in which the wave travels: head first.",
        ),
        tables=(_table(found, far, body), _check_table(drift, apart)),
        pictures=(_picture(robot, found, paths),),
        assumptions=(
            "The source gives no snake and no numbers: body, wave and media are invented."
            f" {JOINTS + 1} rods of {LENGTH:g} m and {MASS:g} kg, a wave of {AMPLITUDE:g} rad and {FREQUENCY:g} Hz that"
            " grows over its first period.",
            f"Ground: viscous friction of {ALONG:g} N s/m^2 along and {ACROSS:g} N s/m^2 across each metre of the body."
            f" Water: density {WATER:g} kg/m^3, drag coefficients 0.1 along and 1.2 across, at the middle of each rod;"
            " the mass of the water that moves along is left out.",
        ),
        agrees=drift <= TOLERANCE and apart <= TOLERANCE and min(far["crawling"], far["swimming"]) > 0.5 * body,
    )


def _table(found: Mapping[str, Simulation], far: Mapping[str, float], body: float) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, result in found.items():
        e, reached = result.energy, far[name]
        torque = float(np.abs(result.tau[:, 6:]).max())
        works = (float(e.drives[-1]), float(e.environment[-1]))
        rows.append((name, reached, reached / body, *works, torque, e.drift))
    head = ("", "distance", "body lengths", "work of bends", "work of medium", "top torque", "energy drift")
    note = "Distance of the centre of mass in m, works in J, torque of the bends in N m."
    return Table(f"After {PERIODS} periods", head, tuple(rows), note, digits=3)


def _check_table(drift: float, apart: float) -> Table:
    rows = (("total momentum, of the part of the bends", drift), ("velocity of the base by momentum", apart))
    return Table("Momentum without outside forces", ("", "largest relative difference"), rows, digits=2)


def _picture(robot: Robot, found: Mapping[str, Simulation], paths: Mapping[str, Array]) -> Picture:
    from matplotlib.figure import Figure

    caption = (
        "Path of the centre of mass, grey, and the body, pale to dark: at the end of each period, when free at each"
    )
    caption += " quarter of the last one. Heads are dots."
    with style():
        figure = Figure(figsize=(9.6, 4.6), layout="constrained")
        rows = figure.subplots(len(found), 1, sharex=True)
        for axes, colour, (name, result) in zip(rows, COLOURS, found.items(), strict=False):
            step = (len(result) - 1) // PERIODS
            shown = (
                result.q[::step] if name != "free" else result.q[-step - 1 :: step // 4]
            )  # it comes back each period
            path, bodies = paths[name], _spine(robot, shown)
            axes.plot(*path.T, color="#8a8f98", lw=1.0)
            for k, shape in enumerate(bodies):
                strength = 0.25 + 0.75 * k / (len(bodies) - 1)
                axes.plot(*shape.T, color=colour, alpha=strength, lw=2.2)
                axes.plot(*shape[0], color=colour, alpha=strength, marker="o", ms=5)
            axes.set_title(name, fontweight="bold")
            axes.set_aspect("equal", adjustable="datalim")
            axes.set_ylabel("y, m")
        rows[-1].set_xlabel("x, m")
    return Picture(caption, inline_svg(figure, "snake", caption))


def _spine(robot: Robot, q: Array) -> Array:
    """Ends of the links in the plane (rows, links + 1, 2)."""
    X = compile(robot, poses)(q)
    starts = X[..., :2, 3]
    return np.concatenate([starts, starts[:, -1:] + X[:, -1:, :2, 0] * LENGTH], axis=1)


def _middles(robot: Robot, q: Array) -> Array:
    """Middles of the links in the plane (rows, links, 2)."""
    X = compile(robot, poses)(q)
    return X[..., :2, 3] + X[..., :2, 0] * (LENGTH / 2.0)
