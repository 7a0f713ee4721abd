"""Parallel robots at work: a Gough-Stewart platform that moves in six directions, a Delta that picks and places."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linkwise.figures import COLOURS, style
from linkwise.kernel.compile import compile
from linkwise.motion.trajectory import Array
from linkwise.parallel.builders import delta, gough_stewart
from linkwise.parallel.dynamics import ParallelDynamics
from linkwise.parallel.robot import ParallelRobot
from linkwise.report.experiments import Cell, Experiment, Picture, Table
from linkwise.report.parallel_pictures import curves, machine_picture
from linkwise.report.plots import inline_svg
from linkwise.robot.link import Link
from linkwise.simulation.parallel import ParallelSimulation, simulate_parallel

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
    """A motion of a platform: times, poses, velocities, accelerations."""

    t: Array
    pose: Array
    velocity: Array
    acceleration: Array


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
    return Motion(t, *(np.concatenate([y[..., :3], z], axis=-1) for y, z in parts))


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


def hexapod_robot() -> ParallelRobot:
    """The machine of the experiment: 40 kg on six electric cylinders."""
    platform = Link("platform", 40.0, (0.0, 0.0, 0.1), (1.6, 1.6, 2.4))
    return gough_stewart(platform=platform, armature=8.0, height=HEIGHT, name="hexapod")


def tracked(robot: ParallelRobot, par: ParallelDynamics) -> ParallelSimulation:
    """The platform under computed forces, started 2 cm and 3 degrees off the motion."""

    def control(t: float, pose: Array, velocity: Array) -> Array:
        goal = six_directions(t)
        a = goal.acceleration + DAMPING * (goal.velocity - velocity) + STIFFNESS * apart(goal.pose, pose)
        return par.inverse_dynamics(pose, velocity, a)

    start = six_directions(0.0)
    pose = start.pose + np.array([0.02, 0.0, 0.0, 0.026, 0.0, 0.0, 0.0])
    times = np.linspace(0.0, PERIOD / 4.0, 201)
    return simulate_parallel(robot, pose, start.velocity, times, control=control, progress=False)


def apart(goal: Array, pose: Array) -> Array:
    """The shift and the small turn from a pose to a goal, in world axes."""
    a, b = goal[..., 3:], pose[..., 3:] / np.linalg.norm(pose[..., 3:], axis=-1, keepdims=True)
    vector = a[..., :3] * b[..., 3:] - b[..., :3] * a[..., 3:] - np.cross(a[..., :3], b[..., :3])
    sign = np.where((a * b).sum(axis=-1, keepdims=True) < 0.0, -2.0, 2.0)
    return np.concatenate([goal[..., :3] - pose[..., :3], sign * vector], axis=-1)


def hexapod() -> Experiment:
    """Leg forces of a Gough-Stewart platform along a motion, and the same motion under control."""
    robot = hexapod_robot()
    par = compile(robot)
    motion = six_directions(np.linspace(0.0, PERIOD, 2001))
    forces, lengths = par.inverse_dynamics(*motion[1:]), par.actuators(motion.pose)
    light = compile(without_leg_masses(robot)).inverse_dynamics(*motion[1:])
    found = par.forward_kinematics(lengths, motion.pose[0])
    checks = {
        "acceleration from the forces, by forward dynamics": _relative(
            par.forward_dynamics(*motion[1:3], forces), motion.acceleration
        ),
        "pose from the lengths, by forward kinematics": float(np.abs(par.actuators(found.pose) - lengths).max()),
        "work of the cylinders against the change of energy": work_error(par, motion, forces),
    }
    run = tracked(robot, par)
    off = np.linalg.norm(apart(six_directions(run.t).pose, run.pose), axis=1)
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


def without_leg_masses(robot: ParallelRobot) -> ParallelRobot:
    """The robot with a platform alone that weighs anything."""
    none = Link("part")
    return gough_stewart(platform=robot.platform, cylinder=none, rod=none, height=HEIGHT)


def work_error(par: ParallelDynamics, motion: Motion, forces: Array) -> float:
    """How far the work of the motors is from the change of energy, relative to the largest energy on the way."""
    from scipy.integrate import cumulative_simpson

    power = np.einsum("ti,tij,tj->t", forces, par.inverse_jacobian(motion.pose), motion.velocity)
    work = cumulative_simpson(power, x=motion.t, initial=0.0)
    energy = par.kinetic_energy(motion.pose, motion.velocity) + par.potential_energy(motion.pose)
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


def delta_robot() -> ParallelRobot:
    """The machine of the experiment."""
    return delta(armature=0.012, platform=Link("platform", 0.3))


def pick_and_place() -> Experiment:
    """Torques of a Delta over a cycle, with a load on the way there."""
    empty = delta_robot()
    loaded = empty.with_payload(LOAD)
    motion = gate(np.linspace(0.0, CYCLE, 2001))
    there = motion.t <= CYCLE / 2.0
    pars = [compile(robot) for robot in (loaded, empty)]
    each = [par.inverse_dynamics(*motion[1:]) for par in pars]
    torques = np.where(there[:, None], *each)
    parts = [Motion(*(x[mask] for x in motion)) for mask in (there, ~there)]
    checks = {
        "acceleration from the torques, by forward dynamics": max(
            _relative(par.forward_dynamics(*motion[1:3], tau), motion.acceleration)
            for par, tau in zip(pars, each, strict=True)
        ),
        "work of the motors, loaded": work_error(pars[0], parts[0], each[0][there]),
        "work of the motors, empty": work_error(pars[1], parts[1], each[1][~there]),
    }
    rates = np.einsum("tij,tj->ti", pars[1].inverse_jacobian(motion.pose), motion.velocity)
    space = pars[1].workspace(motion.pose)
    return Experiment(
        name="delta",
        title="A Delta robot that picks and places",
        source="Khalil, section 5, for a machine of reduced mobility",
        finding=f"A cycle of {CYCLE:g} s over {1000 * LIFT:g}, {1000 * REACH:g} and {1000 * LIFT:g} mm and back takes"
        f" {np.abs(torques).max():.1f} N m at the motors, {np.sqrt((torques**2).mean()):.1f} N m in the mean square,"
        f" and {np.abs(torques * rates).max():.0f} W.",
        text=(
            "Three arms with motors hold a platform by parallelograms, so that it never turns; its pose is x, y, z. The"
            f" load of {LOAD:g} kg is carried on the way there. Of the equations for six degrees of freedom the three"
            " of translation are left, and a leg's own three joints follow from the place of its end in closed form.",
        ),
        tables=(_delta_table(torques, rates, motion, space.condition), _check_table(checks)),
        pictures=(_delta_picture(empty, motion), _delta_curves(motion, torques, each[1])),
        assumptions=(
            "The source gives no numbers: arms of 0.25 m and 0.5 kg, rods of 0.6 m and 0.2 kg a pair, a platform of"
            " 0.3 kg and 0.012 kg m^2 for each motor are invented, and so is the course of time.",
            "The two rods of a parallelogram move alike; they are one slender rod between the middles of its short"
            " sides.",
        ),
        agrees=max(checks.values()) < TOLERANCE and bool(space.reachable.all()),
    )


# ---- tables and pictures


def _leg_table(robot: ParallelRobot, forces: Array, light: Array, lengths: Array) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for k, name in enumerate(robot.names):
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
    speed, a = (float(np.linalg.norm(x, axis=1).max()) for x in (motion.velocity, motion.acceleration))
    note = f"The platform reaches {speed:.2f} m/s and {a:.0f} m/s^2; the Jacobian's condition is at most"
    return Table(
        "The three motors over one cycle", ("", "1", "2", "3"), rows, f"{note} {condition.max():.2f}.", digits=3
    )


def _check_table(checks: dict[str, float]) -> Table:
    return Table("Checks", ("", "largest relative difference"), tuple(checks.items()), digits=2)


def _hexapod_picture(robot: ParallelRobot, motion: Motion) -> Picture:
    caption = "The machine at three moments of the motion, and the path of the platform's middle."
    poses = motion.pose[[0, len(motion.t) // 3, 2 * len(motion.t) // 3]]
    return Picture(caption, inline_svg(machine_picture(robot, poses, motion.pose), "hexapod", caption))


def _delta_picture(robot: ParallelRobot, motion: Motion) -> Picture:
    caption = "The machine where it picks, in the middle of its way, and where it places, and the path."
    poses = motion.pose[[0, len(motion.t) // 4, len(motion.t) // 2]]
    return Picture(caption, inline_svg(machine_picture(robot, poses, motion.pose), "delta", caption))


def _hexapod_curves(
    robot: ParallelRobot, motion: Motion, forces: Array, light: Array, run: ParallelSimulation, off: Array
) -> Picture:
    from matplotlib.figure import Figure

    caption = (
        "Forces of the cylinders, dotted with legs that weigh nothing; and under control, how far from the motion the"
        " platform is."
    )
    with style():
        figure = Figure(figsize=(9.6, 3.6), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(2.0, 1.0))
        for k, (name, colour) in enumerate(zip(robot.names, COLOURS, strict=False)):
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
    place = np.stack([motion.pose[:, :2] @ ACROSS, motion.pose[:, 2]], axis=1)
    figure = curves(motion.t, torques, empty, 1000.0 * place)
    return Picture(caption, inline_svg(figure, "delta-torques", caption))


def _relative(a: Array, b: Array) -> float:
    return float(np.abs(a - b).max() / np.abs(b).max())
