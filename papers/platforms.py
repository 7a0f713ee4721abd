"""Platforms on legs at work: a Gough-Stewart platform that moves in six directions, a Delta that picks and places."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linkwise.figures import COLOURS, style
from linkwise.kernel.compile import compile
from linkwise.kernel.dynamics import Dynamics
from linkwise.motion.trajectory import Array
from linkwise.platforms import delta, gough_stewart
from linkwise.robot.link import Link
from linkwise.robot.robot import Robot
from linkwise.simulation.result import Simulation
from linkwise.simulation.simulation import simulate
from papers.experiments import Cell, Experiment, Picture, Table
from papers.pictures import inline_svg
from papers.platform_pictures import curves, machine_picture

TOLERANCE = 1e-8
HEIGHT = 0.75  # m, of the hexapod's middle
PERIOD = 4.0  # s
STIFFNESS, DAMPING = 900.0, 60.0  # of the tracking control, on the platform's accelerations, 1/s^2 and 1/s

CYCLE = 0.5  # s, there and back
LIFT, REACH = 0.025, 0.305  # m, of the gate-shaped path
FLOOR = -0.52  # m
ACROSS = np.array([np.cos(0.4), np.sin(0.4)])  # direction of the way, in x and y
LOAD = 0.5  # kg, carried on the way there


class Motion(NamedTuple):
    """A motion of a platform: times, positions, velocities and accelerations, a floating one's in its own axes."""

    t: Array
    q: Array
    qd: Array
    qdd: Array


# ---- Gough-Stewart


def six_directions(t: Any) -> Motion:
    """A periodic motion of a hexapod in x, y, z, roll, pitch and yaw."""
    t = np.asarray(t, dtype=float)
    middle = np.array([0.0, 0.0, HEIGHT, 0.0, 0.0, 0.0])
    size = np.array([0.06, 0.06, 0.05, 0.15, 0.12, 0.2])
    rate = 2.0 * np.pi / PERIOD * np.array([1.0, 1.0, 2.0, 2.0, 1.0, 1.0])
    phase = np.array([0.0, np.pi / 2, 0.5, 0.3, 0.9, 0.0])
    angle = rate * t[..., None] + phase
    x, xd, xdd = middle + size * np.sin(angle), size * rate * np.cos(angle), -size * rate**2 * np.sin(angle)
    quaternion, w, w_dot = turning(x[..., 3:], xd[..., 3:], xdd[..., 3:])
    parts = ((x, quaternion), (xd, w), (xdd, w_dot))
    return Motion(t, *in_own_axes(*(np.concatenate([y[..., :3], z], axis=-1) for y, z in parts)))


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
        "acceleration from the forces, by forward dynamics": _relative(
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
        f" forces would be off by {share:.0%}. Forward dynamics returns the accelerations to"
        f" {checks['acceleration from the forces, by forward dynamics']:.0e}.",
        text=(
            "A platform of 40 kg follows a periodic motion in x, y, z, roll, pitch and yaw. Each leg is a universal"
            " joint, a cylinder and a rod with their masses and tensors, and a motor whose inertia its slide feels."
            " The forces are those of the whole machine: of the platform alone, and of each leg alone, brought together"
            " by the Jacobians of the legs.",
            f"Then the platform is let go {off[0]:.3f} off the motion (m and rad together) and driven by computed"
            f" forces with feedback; after {run.t[-1]:g} s it is within {off[-1]:.0e}. Legs follow the platform in"
            " closed form, so that nothing drifts apart; energy balances to"
            f" {run.energy.drift:.0e}.",
        ),
        tables=(_leg_table(robot, forces, light, lengths), _check_table(checks)),
        pictures=(_hexapod_picture(robot, motion), _hexapod_curves(robot, motion, forces, light, run, off)),
        assumptions=(
            "The source gives no numbers: radii of 0.6 and 0.35 m, a platform of 40 kg, cylinders of 1.5 kg and rods of"
            " 0.8 kg, and 8 kg for the inertia of each motor are invented.",
        ),
        agrees=max(checks.values()) < TOLERANCE and bool(found.converged.all()) and off[-1] < 1e-3 * off[0],
    )


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


# ---- Delta


def gate(t: Any) -> Motion:
    """Up, over and down, and back again: a platform's way between two places on the floor.

    Height rises as a smooth step in the first part of a way and falls in the last, and the platform steps across in the
    middle; the steps overlap, which rounds the corners.
    """
    t = np.asarray(t, dtype=float)
    half = CYCLE / 2.0
    back = t > half
    s = np.where(back, t - half, t) / half
    rows = []
    for begin, end, size in ((0.15, 0.85, REACH), (0.0, 0.45, LIFT), (0.55, 1.0, -LIFT)):
        u = np.clip((s - begin) / (end - begin), 0.0, 1.0)
        scale = size / np.array([1.0, (end - begin) * half, ((end - begin) * half) ** 2])
        rows.append([k * y for k, y in zip(scale, _smooth_step(u), strict=True)])
    x, up, down = np.array(rows)
    x = np.where(back, -x, x)
    x[0] += np.where(back, REACH / 2.0, -REACH / 2.0)
    z = up + down
    z[0] += FLOOR
    return Motion(t, *(np.stack([x[k] * ACROSS[0], x[k] * ACROSS[1], z[k]], axis=-1) for k in range(3)))


def _smooth_step(u: Array) -> tuple[Array, Array, Array]:
    """A step from 0 to 1 of degree 7, with its first and second derivative."""
    v = u * (1.0 - u)
    return u**4 * (35.0 - 84.0 * u + 70.0 * u**2 - 20.0 * u**3), 140.0 * v**3, 420.0 * v**2 * (1.0 - 2.0 * u)


def delta_robot() -> Robot:
    """The machine of the experiment."""
    return delta(armature=0.012, platform=Link("platform", 0.3))


def pick_and_place() -> Experiment:
    """Torques of a Delta over a cycle, with a load on the way there."""
    empty = delta_robot()
    loaded = empty.with_payload(LOAD, at="platform")
    motion = gate(np.linspace(0.0, CYCLE, 2001))
    there = motion.t <= CYCLE / 2.0
    dyns = [compile(robot) for robot in (loaded, empty)]
    each = [dyn.inverse_dynamics(*motion[1:]) for dyn in dyns]
    torques = np.where(there[:, None], *each)
    parts = [Motion(*(x[mask] for x in motion)) for mask in (there, ~there)]
    checks = {
        "acceleration from the torques, by forward dynamics": max(
            _relative(dyn.forward_dynamics(*motion[1:3], tau), motion.qdd) for dyn, tau in zip(dyns, each, strict=True)
        ),
        "work of the motors, loaded": work_error(dyns[0], parts[0], each[0][there]),
        "work of the motors, empty": work_error(dyns[1], parts[1], each[1][~there]),
    }
    rates = np.einsum("tij,tj->ti", dyns[1].drive_jacobian(motion.q), motion.qd)
    space = dyns[1].workspace(motion.q)
    return Experiment(
        name="delta",
        title="A Delta robot that picks and places",
        source="Khalil, section 5, for a machine of reduced mobility",
        finding=f"A cycle of {CYCLE:g} s over {1000 * LIFT:g}, {1000 * REACH:g} and {1000 * LIFT:g} mm and back takes"
        f" {np.abs(torques).max():.1f} N m at the motors, {np.sqrt((torques**2).mean()):.1f} N m in the mean square,"
        f" and {np.abs(torques * rates).max():.0f} W.",
        text=(
            "Three arms with motors hold a platform by parallelograms, so that it never turns; its position is x, y, z."
            f" The load of {LOAD:g} kg is carried on the way there. Of the equations for six degrees of freedom the"
            " three of translation are left, and a leg's own three joints follow from the place of its end in closed"
            " form.",
        ),
        tables=(_delta_table(torques, rates, motion, space.drive_condition), _check_table(checks)),
        pictures=(_delta_picture(empty, motion), _delta_curves(motion, torques, each[1])),
        assumptions=(
            "The source gives no numbers: arms of 0.25 m and 0.5 kg, rods of 0.6 m and 0.2 kg a pair, a platform of"
            " 0.3 kg and 0.012 kg m^2 for each motor are invented, and so is the course of time.",
            "The two rods of a parallelogram move alike; they are one slender rod between the middles of its short"
            " sides.",
        ),
        agrees=max(checks.values()) < TOLERANCE and bool(space.reached.all()),
    )


# ---- tables and pictures


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


def _delta_table(torques: Array, rates: Array, motion: Motion, condition: Array) -> Table:
    rows: tuple[tuple[Cell, ...], ...] = (
        ("largest torque, N m", *np.abs(torques).max(axis=0).tolist()),
        ("torque in the mean square, N m", *np.sqrt((torques**2).mean(axis=0)).tolist()),
        ("largest speed, rad/s", *np.abs(rates).max(axis=0).tolist()),
        ("largest power, W", *np.abs(torques * rates).max(axis=0).tolist()),
    )
    speed, a = (float(np.linalg.norm(x, axis=1).max()) for x in (motion.qd, motion.qdd))
    note = f"The platform reaches {speed:.2f} m/s and {a:.0f} m/s^2; the Jacobian's condition is at most"
    return Table(
        "The three motors over one cycle", ("", "1", "2", "3"), rows, f"{note} {condition.max():.2f}.", digits=3
    )


def _check_table(checks: dict[str, float]) -> Table:
    return Table("Checks", ("", "largest relative difference"), tuple(checks.items()), digits=2)


def _hexapod_picture(robot: Robot, motion: Motion) -> Picture:
    caption = "The machine at three moments of the motion, and the path of the platform's middle."
    poses = motion.q[[0, len(motion.t) // 3, 2 * len(motion.t) // 3]]
    return Picture(caption, inline_svg(machine_picture(robot, poses, motion.q), "hexapod", caption))


def _delta_picture(robot: Robot, motion: Motion) -> Picture:
    caption = "The machine where it picks, in the middle of its way, and where it places, and the path."
    poses = motion.q[[0, len(motion.t) // 4, len(motion.t) // 2]]
    return Picture(caption, inline_svg(machine_picture(robot, poses, motion.q), "delta", caption))


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


def _delta_curves(motion: Motion, torques: Array, empty: Array) -> Picture:
    caption = "Torques of the motors over a cycle, dotted without load; below, where the platform is on its way."
    place = np.stack([motion.q[:, :2] @ ACROSS, motion.q[:, 2]], axis=1)
    figure = curves(motion.t, torques, empty, 1000.0 * place)
    return Picture(caption, inline_svg(figure, "delta-torques", caption))


def _relative(a: Array, b: Array) -> float:
    return float(np.abs(a - b).max() / np.abs(b).max())
