"""A Delta robot that picks and places."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.kernel.compile import compile
from linkwise.motion.trajectory import Array
from linkwise.platforms import delta
from linkwise.robot.link import Link
from linkwise.robot.robot import Robot
from papers.experiments import Cell, Experiment, Picture, Table
from papers.hexapod import TOLERANCE, Motion, check_table, relative, work_error
from papers.pictures import inline_svg
from papers.platform_pictures import curves, machine_picture

CYCLE = 0.5  # s, there and back
LIFT, REACH = 0.025, 0.305  # m, of the gate-shaped path
FLOOR = -0.52  # m
ACROSS = np.array([np.cos(0.4), np.sin(0.4)])  # direction of the way, in x and y
LOAD = 0.5  # kg, carried on the way there


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
            relative(dyn.forward_dynamics(*motion[1:3], tau), motion.qdd) for dyn, tau in zip(dyns, each, strict=True)
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
        tables=(_delta_table(torques, rates, motion, space.drive_condition), check_table(checks)),
        pictures=(_delta_picture(empty, motion), _delta_curves(motion, torques, each[1])),
        assumptions=(
            "The source gives no numbers: arms of 0.25 m and 0.5 kg, rods of 0.6 m and 0.2 kg a pair, a platform of"
            " 0.3 kg and 0.012 kg m^2 for each motor are invented, and so is the course of time.",
            "The two rods of a parallelogram move alike; they are one slender rod between the middles of its short"
            " sides.",
        ),
        agrees=max(checks.values()) < TOLERANCE and bool(space.reached.all()),
    )


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


def _delta_picture(robot: Robot, motion: Motion) -> Picture:
    caption = "The machine where it picks, in the middle of its way, and where it places, and the path."
    poses = motion.q[[0, len(motion.t) // 4, len(motion.t) // 2]]
    return Picture(caption, inline_svg(machine_picture(robot, poses, motion.q), "delta", caption))


def _delta_curves(motion: Motion, torques: Array, empty: Array) -> Picture:
    caption = "Torques of the motors over a cycle, dotted without load; below, where the platform is on its way."
    place = np.stack([motion.q[:, :2] @ ACROSS, motion.q[:, 2]], axis=1)
    figure = curves(motion.t, torques, empty, 1000.0 * place)
    return Picture(caption, inline_svg(figure, "delta-torques", caption))
