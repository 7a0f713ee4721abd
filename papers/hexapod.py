"""A Gough-Stewart platform that moves in six directions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linkwise.figures import COLOURS, style
from linkwise.kernel.compile import compile
from linkwise.kernel.dynamics import Dynamics
from linkwise.motion.trajectory import Array
from linkwise.platforms import gough_stewart
from linkwise.robot.link import Link
from linkwise.robot.robot import Robot
from linkwise.simulation.result import Simulation
from linkwise.simulation.simulation import simulate
from papers.experiments import Cell, Experiment, Picture, Table
from papers.hexapod_witness import cylinder_forces
from papers.pictures import inline_svg
from papers.platform_pictures import machine_picture

TOLERANCE = 1e-8
HEIGHT = 0.75  # m, of the hexapod's middle
PERIOD = 4.0  # s
STIFFNESS, DAMPING = 900.0, 60.0  # of the tracking control, on the platform's accelerations, 1/s^2 and 1/s

WITNESS = "forces by d'Alembert's principle, an independent program"


class Motion(NamedTuple):
    """A motion of a platform: times, positions, velocities and accelerations, a floating one's in its own axes."""

    t: Array
    q: Array
    qd: Array
    qdd: Array


def six_directions(t: Any) -> Motion:
    """A periodic motion of a hexapod in x, y, z, roll, pitch and yaw."""
    t = np.asarray(t, dtype=float)
    x, xd, xdd = directions(t)
    quaternion, w, w_dot = turning(x[..., 3:], xd[..., 3:], xdd[..., 3:])
    parts = ((x, quaternion), (xd, w), (xdd, w_dot))
    return Motion(t, *in_own_axes(*(np.concatenate([y[..., :3], z], axis=-1) for y, z in parts)))


def directions(t: Array) -> tuple[Array, Array, Array]:
    """The six of the motion, and their first and second derivatives."""
    middle = np.array([0.0, 0.0, HEIGHT, 0.0, 0.0, 0.0])
    size = np.array([0.06, 0.06, 0.05, 0.15, 0.12, 0.2])
    rate = 2.0 * np.pi / PERIOD * np.array([1.0, 1.0, 2.0, 2.0, 1.0, 1.0])
    phase = np.array([0.0, np.pi / 2, 0.5, 0.3, 0.9, 0.0])
    angle = rate * t[..., None] + phase
    return middle + size * np.sin(angle), size * rate * np.cos(angle), -size * rate**2 * np.sin(angle)


def in_own_axes(q: Array, velocity: Array, acceleration: Array) -> tuple[Array, Array, Array]:
    """Velocities and accelerations of a platform in its own axes, from those in the world's.

    qd = R^T v,   qdd = R^T a - omega x qd
    """
    from scipy.spatial.transform import Rotation

    back = Rotation.from_quat(q[..., 3:]).inv()
    v, w, a, w_dot = (back.apply(x) for y in (velocity, acceleration) for x in (y[..., :3], y[..., 3:]))
    return q, np.concatenate([v, w], axis=-1), np.concatenate([a - np.cross(w, v), w_dot], axis=-1)


def turning(rpy: Array, rate: Array, second: Array) -> tuple[Array, Array, Array]:
    """Quaternion, angular velocity and angular acceleration in world axes of roll, pitch, yaw and their rates."""
    (a, b, c), (A, B, C) = np.moveaxis(np.sin(0.5 * rpy), -1, 0), np.moveaxis(np.cos(0.5 * rpy), -1, 0)
    quaternion = [a * B * C - A * b * c, A * b * C + a * B * c, A * B * c - a * b * C, A * B * C + a * b * c]
    _, pitch, yaw = np.moveaxis(rpy, -1, 0)
    _, q, r = np.moveaxis(rate, -1, 0)
    zero, one = np.zeros_like(yaw), np.ones_like(yaw)
    sp, cp, sy, cy = np.sin(pitch), np.cos(pitch), np.sin(yaw), np.cos(yaw)
    # columns: the axes of roll, pitch and yaw in the world
    axes = np.array([[cy * cp, -sy, zero], [sy * cp, cy, zero], [-sp, zero, one]])
    axes_dot = np.array(
        [[-r * sy * cp - q * cy * sp, -r * cy, zero], [r * cy * cp - q * sy * sp, -r * sy, zero], [-q * cp, zero, zero]]
    )
    omega = np.einsum("ij...,...j->...i", axes, rate)
    omega_dot = np.einsum("ij...,...j->...i", axes, second) + np.einsum("ij...,...j->...i", axes_dot, rate)
    return np.stack(quaternion, axis=-1), omega, omega_dot


def hexapod_robot() -> Robot:
    """The machine of the experiment: 40 kg on six electric cylinders."""
    platform = Link("platform", 40.0, (0.0, 0.0, 0.1), (1.6, 1.6, 2.4))
    return gough_stewart(platform=platform, armature=8.0, height=HEIGHT, name="hexapod")


def tracked(robot: Robot, dyn: Dynamics) -> Simulation:
    """The platform under computed forces, started 2 cm and 3 degrees off the motion."""

    def control(t: float, q: Array, qd: Array) -> Array:
        goal = six_directions(t)
        a = goal.qdd + DAMPING * (goal.qd - qd) + STIFFNESS * dyn.difference(q, goal.q)
        return dyn.inverse_dynamics(q, qd, a)

    start = six_directions(0.0)
    q = start.q + np.array([0.02, 0.0, 0.0, 0.026, 0.0, 0.0, 0.0])
    times = np.linspace(0.0, PERIOD / 4.0, 201)
    return simulate(robot, q, start.qd, times, control=control, progress=False)


def drive_positions(dyn: Dynamics, q: Array) -> Array:
    """Lengths or angles (rows, nu) of the drives where the platform is at q."""
    slots = dyn.robot.opened().slots
    return np.asarray(dyn.positions(q).q[..., [slots[name].q for name in dyn.robot.drives]])


def hexapod() -> Experiment:
    """Leg forces of a Gough-Stewart platform along a motion, and the same motion under control."""
    robot = hexapod_robot()
    dyn = compile(robot)
    motion = six_directions(np.linspace(0.0, PERIOD, 2001))
    forces, lengths = dyn.inverse_dynamics(*motion[1:]), drive_positions(dyn, motion.q)
    light = compile(without_leg_masses(robot)).inverse_dynamics(*motion[1:])
    found = dyn.positions(drives=lengths, along=True)
    checks = {
        WITNESS: witness_error(robot, dyn),
        "acceleration from the forces, by forward dynamics": relative(
            dyn.forward_dynamics(*motion[1:3], forces), motion.qdd
        ),
        "position from the lengths, by Newton's method": float(np.abs(dyn.difference(motion.q, found.q[:, :7])).max()),
        "work of the cylinders against the change of energy": work_error(dyn, motion, forces),
    }
    run = tracked(robot, dyn)
    off = np.linalg.norm(dyn.difference(run.q, six_directions(run.t).q), axis=1)
    share = float(np.abs(forces - light).max() / np.abs(forces).max())
    return Experiment(
        name="hexapod",
        title="A Gough-Stewart platform that moves in six directions",
        source="Khalil, section 5: inverse dynamics of parallel robots, equations 59 to 66",
        finding=f"The cylinders push with {forces.min():.0f} to {forces.max():.0f} N; with legs that weigh nothing the"
        f" forces would be off by {share:.0%}. An independent program by d'Alembert's principle finds the same"
        f" forces to {checks[WITNESS]:.0e}.",
        text=(
            "A platform of 40 kg follows a periodic motion in x, y, z, roll, pitch and yaw. Each leg is a universal"
            " joint, a cylinder and a rod with their masses and tensors, and a motor whose inertia its slide feels."
            " The forces are those of the whole machine: of the platform alone, and of each leg alone, brought together"
            " by the Jacobians of the legs.",
            "The witness knows no recursion: it has the centres and axes of the 13 bodies as functions of the"
            " platform's place, takes their accelerations from Fourier series over the period and virtual displacements"
            " from complex steps, and balances the work of all forces.",
            f"Then the platform is let go {off[0]:.3f} off the motion (m and rad together) and driven by computed"
            f" forces with feedback; after {run.t[-1]:g} s it is within {off[-1]:.0e}. Legs follow the platform in"
            " closed form, so that nothing drifts apart; energy balances to"
            f" {run.energy.drift:.0e}.",
        ),
        tables=(_leg_table(robot, forces, light, lengths), check_table(checks)),
        pictures=(_hexapod_picture(robot, motion), _hexapod_curves(robot, motion, forces, light, run, off)),
        assumptions=(
            "The source gives no numbers: radii of 0.6 and 0.35 m, a platform of 40 kg, cylinders of 1.5 kg and rods of"
            " 0.8 kg, and 8 kg for the inertia of each motor are invented.",
        ),
        agrees=max(checks.values()) < TOLERANCE and bool(found.converged.all()) and off[-1] < 1e-3 * off[0],
    )


def witness_error(robot: Robot, dyn: Dynamics, samples: int = 64) -> float:
    """How far the forces are from those of d'Alembert's principle, relative to the largest."""
    t = PERIOD * np.arange(samples) / samples
    return relative(dyn.inverse_dynamics(*six_directions(t)[1:]), cylinder_forces(robot, directions(t)[0], PERIOD))


def without_leg_masses(robot: Robot) -> Robot:
    """The robot with a platform alone that weighs anything."""
    none = Link("part")
    return gough_stewart(platform=robot.link("platform"), cylinder=none, rod=none, height=HEIGHT)


def work_error(dyn: Dynamics, motion: Motion, forces: Array) -> float:
    """How far the work of the motors is from the change of energy, relative to the largest energy on the way."""
    from scipy.integrate import cumulative_simpson

    power = np.einsum("ti,tij,tj->t", forces, dyn.drive_jacobian(motion.q), motion.qd)
    work = cumulative_simpson(power, x=motion.t, initial=0.0)
    energy = dyn.kinetic_energy(motion.q, motion.qd) + dyn.potential_energy(motion.q)
    change = energy - energy[0]
    return float(np.abs(work - change).max() / np.abs(change).max())


def _leg_table(robot: Robot, forces: Array, light: Array, lengths: Array) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for k, name in enumerate(robot.drives):
        f = forces[:, k]
        square = float(np.sqrt((f**2).mean()))
        apart_by = float(np.abs(f - light[:, k]).max())
        reach = (float(lengths[:, k].min()), float(lengths[:, k].max()))
        rows.append((name, *reach, float(f.min()), float(f.max()), square, apart_by))
    head = ("", "shortest", "longest", "least force", "largest", "mean square", "without legs' masses off by")
    return Table("The six cylinders over one period", head, tuple(rows), "Lengths in m, forces in N.", digits=4)


def check_table(checks: dict[str, float]) -> Table:
    """Differences by what was compared."""
    return Table("Checks", ("", "largest relative difference"), tuple(checks.items()), digits=2)


def _hexapod_picture(robot: Robot, motion: Motion) -> Picture:
    caption = "The machine at three moments of the motion, and the path of the platform's middle."
    poses = motion.q[[0, len(motion.t) // 3, 2 * len(motion.t) // 3]]
    return Picture(caption, inline_svg(machine_picture(robot, poses, motion.q), "hexapod", caption))


def _hexapod_curves(robot: Robot, motion: Motion, forces: Array, light: Array, run: Simulation, off: Array) -> Picture:
    from matplotlib.figure import Figure

    caption = (
        "Forces of the cylinders, dotted with legs that weigh nothing; and under control, how far from the motion the"
        " platform is."
    )
    with style():
        figure = Figure(figsize=(9.6, 3.6), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(2.0, 1.0))
        for k, (name, colour) in enumerate(zip(robot.drives, COLOURS, strict=False)):
            left.plot(motion.t, forces[:, k], color=colour, label=name.split(".")[0])
            left.plot(motion.t, light[:, k], color=colour, ls=":", lw=1.0)
        left.set(xlabel="time, s", ylabel="force, N", title="forces along the motion")
        left.legend(ncols=6, loc="lower center", handlelength=1.0, columnspacing=1.0)
        left.margins(y=0.18)
        right.semilogy(run.t, np.maximum(off, 1e-16), color=COLOURS[0])
        right.yaxis.set_major_formatter("{x:g}")
        right.set(xlabel="time, s", ylabel="distance, m and rad", title="under control, from a wrong start")
    return Picture(caption, inline_svg(figure, "hexapod-forces", caption))


def relative(a: Array, b: Array) -> float:
    """The largest difference over the largest of `b`."""
    return float(np.abs(a - b).max() / np.abs(b).max())
