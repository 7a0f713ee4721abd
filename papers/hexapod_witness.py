"""The forces of a hexapod's cylinders by d'Alembert's principle: a program that shares nothing but the robot's numbers.

Every body is its centre and its axes as functions of the platform's x, y, z, roll, pitch and yaw. Along a periodic
motion their accelerations are those of Fourier series; virtual displacements are complex steps. No recursion, no
Jacobian of a joint, no velocity of an axis.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linkwise.motion.trajectory import Array
from linkwise.robot.link import Link
from linkwise.robot.robot import Robot
from linkwise.spatial import symmetric

STEP = 1e-40  # of complex steps, which have no round-off


class Bodies(NamedTuple):
    """Centres (..., 3) and axes (..., 3, 3) of all bodies, one after the other, and lengths of legs (..., 6)."""

    centres: list[Any]
    axes: list[Any]
    lengths: Any


def cylinder_forces(robot: Robot, x: Array, period: float) -> Array:
    """Forces (rows, 6) that move the platform through x (rows, 6), even samples of one period, its end left out."""
    parts = [robot.link("platform")]
    for loop in robot.loops:
        rod = robot.link(loop.b)
        parts += [robot.link(loop.b.replace("rod", "cylinder")), rod]
    here = place(robot, parts, x)
    ahead = [place(robot, parts, x + 1j * STEP * unit) for unit in np.eye(6)]
    gravity, motors = np.array(robot.gravity), np.array([robot.joint(name).armature for name in robot.drives])
    demand = np.zeros(x.shape)
    for k, moved in enumerate(ahead):
        for i, part in enumerate(parts):
            pull = part.mass * (second(here.centres[i], period) - gravity)
            demand[:, k] += (pull * moved.centres[i].imag / STEP).sum(axis=1)
            I: Array = np.array(symmetric(*part.inertia))
            spread = 0.5 * np.trace(I) * np.eye(3) - I  # of mass along the body's axes
            turned = second(here.axes[i], period) @ spread
            demand[:, k] += (turned * moved.axes[i].imag / STEP).sum(axis=(1, 2))
        demand[:, k] += (motors * second(here.lengths, period) * moved.lengths.imag / STEP).sum(axis=1)
    J = np.stack([moved.lengths.imag / STEP for moved in ahead], axis=1)  # (rows, 6 of x, 6 legs)
    return np.linalg.solve(J, demand[..., None])[..., 0]


def second(values: Any, period: float) -> Array:
    """The second derivative by time of even samples of one period, by their Fourier series."""
    n = len(values)
    rate = 2.0 * np.pi / period * np.fft.fftfreq(n, 1.0 / n)
    shape = (n,) + (1,) * (values.ndim - 1)
    return np.fft.ifft(-(rate**2).reshape(shape) * np.fft.fft(values.real, axis=0), axis=0).real


def place(robot: Robot, parts: list[Link], x: Any) -> Bodies:
    """All bodies where the platform is at x (rows, 6), real or complex."""
    p, R = x[:, :3], turned(x[:, 3:])
    centres, axes, lengths = [p + R @ np.array(parts[0].com)], [R], []
    mounts = {j.child: j.origin for j in robot.joints if j.is_fixed}
    for k, loop in enumerate(robot.loops):
        foot = mounts[f"{loop.name}.ground"]
        base: Array = np.array(foot.R)
        e = (p + R @ np.array(loop.origin_a.p) - np.array(foot.p)) @ base  # from foot to tip, in the axes of the foot
        across = np.sqrt(e[:, 1] ** 2 + e[:, 2] ** 2)
        length = np.sqrt(e[:, 0] ** 2 + across**2)
        # the universal joint: about x first, then about y, until z is along the leg
        s, c, S, C = -e[:, 1] / across, e[:, 2] / across, e[:, 0] / length, across / length
        o = np.zeros_like(s)
        leg = base @ np.moveaxis(np.array([[C, o, S], [s * S, c, -s * C], [-c * S, s, c * C]]), -1, 0)
        cylinder, rod = parts[2 * k + 1], parts[2 * k + 2]
        centres += [np.array(foot.p) + leg @ np.array(cylinder.com)]
        centres += [np.array(foot.p) + leg[:, :, 2] * length[:, None] + leg @ np.array(rod.com)]
        axes += [leg, leg]
        lengths.append(length)
    return Bodies(centres, axes, np.stack(lengths, axis=-1))


def turned(rpy: Any) -> Any:
    """Rotations (rows, 3, 3) of roll, pitch and yaw."""
    (a, b, c), (A, B, C) = np.sin(rpy).T, np.cos(rpy).T
    R = [
        [C * B, C * b * a - c * A, C * b * A + c * a],
        [c * B, c * b * a + C * A, c * b * A - C * a],
        [-b, B * a, B * A],
    ]
    return np.moveaxis(np.array(R), -1, 0)
