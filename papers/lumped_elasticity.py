"""Khalil's section 6: driven joints move as they are told, elastic ones as they must."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import pairwise
from math import pi
from typing import Any, NamedTuple

import numpy as np

from linkwise.algorithms import elastic_inverse, hybrid_dynamics
from linkwise.dh import KhalilRow
from linkwise.dh import khalil as tree_of
from linkwise.figures import COLOURS, style
from linkwise.kernel.compile import compile
from linkwise.motion.trajectory import Array
from linkwise.robot import Robot
from linkwise.robot.drive import Spring
from linkwise.simulation.simulation import simulate
from linkwise.vector import Vec3
from papers.errata import khalil as literal
from papers.experiments import Cell, Experiment, Picture, Table
from papers.pictures import inline_svg
from papers.stanford import quintic

TOLERANCE = 1e-10
TIME, REST = 0.8, 0.4  # s, of the motion and after it
SOFT = (False, False, True, False, True, True)
STIFFNESS = np.array([0.0, 0.0, 2500.0, 0.0, 400.0, 30.0])  # N m/rad
START, GOAL = np.array([0.0, -0.5, 0.9]), np.array([1.4, -1.0, 0.3])  # of the driven joints
STIFFER = (1.0, 5.0, 25.0)
GRAVITY = (0.0, 0.0, -9.81)


def _rod(antecedent: int, alpha: float, d: float, length: float, mass: float, **more: Any) -> KhalilRow:
    """A revolute joint with a slender rod along x."""
    across = mass * length**2 / 12.0
    com, inertia = Vec3(0.5 * length, 0.0, 0.0), (1e-3 * mass, across, across)
    return KhalilRow(antecedent, 0, 0.0, 0.0, alpha, d, 0.0, 0.0, mass=mass, com=com, inertia=inertia, **more)


# a waist, an upper arm and a forearm that each give way in their middle, and an antenna on the waist
ROWS = (
    KhalilRow(0, 0, 0, 0, 0, 0, 0, 0.3, mass=8.0, inertia=(0.1, 0.1, 0.1), armature=0.4),
    _rod(1, -pi / 2, 0.1, 0.35, 4.0, armature=0.3),
    _rod(2, 0.0, 0.35, 0.35, 3.5),
    _rod(3, 0.0, 0.35, 0.3, 2.0, armature=0.1),
    _rod(4, 0.0, 0.3, 0.3, 1.5),
    _rod(1, 0.0, 0.0, 0.5, 0.4),
)


class Course(NamedTuple):
    """Samples of a motion: all positions, velocities and accelerations, and torques of the driven joints."""

    t: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array


def lumped_robot(stiffness: Array = STIFFNESS) -> Robot:
    """The tree, with springs in its elastic joints that rest at zero."""
    robot = tree_of(ROWS, gravity=GRAVITY, name="arm with lumped elasticity")
    soft = [n for n, s in zip(robot.names, SOFT, strict=True) if s]
    kept = dict(zip(robot.names, stiffness, strict=True))
    return robot.replace(*(replace(robot.joint(n), spring=Spring(float(kept[n]))) for n in soft))


def driven_motion(t: Array) -> tuple[Array, ...]:
    """Positions, velocities and accelerations of the driven joints: from rest to rest, and then still."""
    return quintic(START, GOAL, TIME, np.minimum(t, TIME))[:3]


def course(robot: Robot, samples: int = 241) -> Course:
    """What the elastic joints do, by integrating the accelerations that Khalil's three passes give them."""
    from scipy.integrate import solve_ivp
    from scipy.optimize import fsolve

    kernel, soft = compile(robot, elastic_inverse), np.array(SOFT)
    n, m = len(SOFT), int(soft.sum())

    def whole(t: Any, x: Array) -> list[Array]:
        rows = [np.zeros((len(t), n)) for _ in range(3)]
        for row, of_driven, of_soft in zip(rows, driven_motion(t), (x[:, :m], x[:, m:], 0.0 * x[:, m:]), strict=True):
            row[:, ~soft], row[:, soft] = of_driven, of_soft
        return rows

    def rate(t: float, x: Array) -> Array:
        return np.concatenate([x[m:], kernel(*whole(np.array([t]), x[None])).qdd[0, soft]])

    sag = fsolve(lambda x: rate(0.0, np.concatenate([x, np.zeros(m)]))[m:], np.zeros(m), xtol=1e-13)
    t = np.linspace(0.0, TIME + REST, samples)
    start = np.concatenate([sag, np.zeros(m)])
    found = solve_ivp(rate, (0.0, t[-1]), start, "DOP853", t, rtol=1e-11, atol=1e-12, max_step=TIME / 8).y.T
    q, qd, qdd = whole(t, found)
    result = kernel(q, qd, qdd)
    return Course(t, q, qd, np.asarray(result.qdd), np.asarray(result.tau)[:, ~soft])


def checks(robot: Robot, run: Course) -> dict[str, float]:
    """Relative differences of accelerations and torques from those of other ways, along the course."""
    soft, dyn = np.array(SOFT), compile(robot)
    forces = -STIFFNESS * run.q
    given = np.where(soft, forces, run.qdd)
    states = [literal.State(q, qd, np.zeros((6, 6)), np.array(GRAVITY)) for q, qd in zip(run.q, run.qd, strict=True)]
    printed = [literal.hybrid(ROWS, x, row, SOFT) for x, row in zip(states, given, strict=True)]
    # (67) and (68), of the tree without springs
    bare = compile(tree_of(ROWS, gravity=GRAVITY))
    A, H = np.asarray(bare.mass_matrix(run.q)), np.asarray(bare.bias_forces(run.q, run.qd))
    right = (forces - H)[:, soft] - np.einsum("kij,kj->ki", A[:, soft][:, :, ~soft], run.qdd[:, ~soft])
    free = np.linalg.solve(A[:, soft][:, :, soft], right[..., None])[..., 0]  # (71)
    tau = np.zeros_like(run.q)
    tau[:, ~soft] = run.tau
    names = [n for n, s in zip(robot.names, SOFT, strict=True) if not s]
    mixed = compile(robot, hybrid_dynamics, driven=names)(run.q, run.qd, np.where(soft, 0.0, run.qdd))
    return {
        "Khalil's equations (72) to (82) as corrected: accelerations": _off([x.qdd for x in printed], run.qdd),
        "the same: torques": _off([x.Gamma[~soft] for x in printed], run.tau),
        "the matrices of (67) to (71): accelerations": _off(free, run.qdd[:, soft]),
        "the direct model, from these torques (6.2): accelerations": _off(
            dyn.forward_dynamics(run.q, run.qd, tau), run.qdd
        ),
        "hybrid dynamics of the library: torques": _off(np.asarray(mixed.tau)[:, ~soft], run.tau),
    }


def simulated(robot: Robot, run: Course) -> float:
    """How far the library's simulation with driven joints ends from the course, rad."""
    motions = {
        name: partial(_one, k) for k, name in enumerate(n for n, s in zip(robot.names, SOFT, strict=True) if not s)
    }
    found = simulate(robot, run.q[0], run.qd[0], run.t, driven=motions, rtol=1e-10, atol=1e-12, progress=False)
    return float(np.abs(found.q - run.q).max())


def _one(k: int, t: float) -> tuple[float, float, float]:
    q, qd, qdd = (float(x[0, k]) for x in driven_motion(np.array([t])))
    return q, qd, qdd


def lumped_elasticity() -> Experiment:
    """Torques of driven joints and accelerations of elastic ones of a tree, by Khalil's three passes."""
    robot = lumped_robot()
    run = course(robot)
    found = checks(robot, run)
    apart = simulated(robot, run)
    stiffer = {1.0: run} | {scale: course(lumped_robot(scale * STIFFNESS)) for scale in STIFFER[1:]}
    rigid = _rigid_torques(run.t)
    softness = {scale: float(np.abs(x.tau - rigid).max()) for scale, x in stiffer.items()}
    falls = all(softness[b] < softness[a] for a, b in pairwise(STIFFER))
    worst = max(found.values())
    return Experiment(
        name="lumped-elasticity",
        title="A tree with lumped elasticity",
        source="Khalil, section 6: inverse dynamics of robots with elastic joints, equations 67 to 82",
        finding=f"Torques and elastic accelerations agree with Khalil's equations as corrected, with the matrices and"
        f" with the direct model to {worst:.0e}. Rigid links would put the torques off by"
        f" {softness[1.0] / np.abs(rigid).max():.0%} of their largest.",
        text=(
            "An arm of three motors, whose upper arm and forearm give way in their middles, carries an antenna on a"
            " spring. The motors' motion is given; accelerations of the elastic joints cannot be, so that inverse"
            " dynamics returns them together with the torques, in three passes. Integrated, they are the swing of the"
            " elastic joints.",
            f"Started in its sag, the arm swings on after the motors stop at {TIME:g} s. The library's own simulation"
            f" with driven joints stays within {apart:.0e} rad of it.",
        ),
        tables=(_check_table(found), _stiffness_table(softness, rigid)),
        pictures=(_picture(robot, run, rigid),),
        assumptions=(
            "The source gives no robot and no numbers: all are invented.",
            "Springs rest at zero, and nothing damps them.",
        ),
        agrees=worst <= TOLERANCE and apart < 1e-6 and falls,
    )


def _rigid_torques(t: Array) -> Array:
    """Torques of the driven joints where the elastic ones are locked at zero."""
    robot = lumped_robot()
    stiff = robot.lock([n for n, s in zip(robot.names, SOFT, strict=True) if s])
    return np.asarray(compile(stiff).inverse_dynamics(*driven_motion(t)))


def _off(a: Any, b: Array) -> float:
    return float(np.abs(np.asarray(a) - b).max() / np.abs(b).max())


def _check_table(found: Mapping[str, float]) -> Table:
    return Table("Against other ways", ("", "largest relative difference"), tuple(found.items()), digits=2)


def _stiffness_table(softness: Mapping[float, float], rigid: Array) -> Table:
    rows: list[tuple[Cell, ...]] = [
        ("as they are" if scale == 1.0 else f"{scale:g} times as stiff", x, f"{x / np.abs(rigid).max():.1%}")
        for scale, x in softness.items()
    ]
    head = ("springs", "torques differ from those of rigid links, N m", "of the largest")
    return Table("Towards rigid links", head, tuple(rows), digits=3)


def _picture(robot: Robot, run: Course, rigid: Array) -> Picture:
    from matplotlib.figure import Figure

    caption = (
        "Left, torques of the three motors, dotted with rigid links; right, the angles of the elastic joints, of"
        f" which the last is the antenna's. The motors stop at {TIME:g} s."
    )
    driven, soft = ([n for n, s in zip(robot.names, SOFT, strict=True) if s == which] for which in (False, True))
    with style():
        figure = Figure(figsize=(9.6, 3.4), layout="constrained")
        left, right = figure.subplots(1, 2)
        for k, (name, colour) in enumerate(zip(driven, COLOURS, strict=False)):
            left.plot(run.t, run.tau[:, k], color=colour, label=name)
            left.plot(run.t, rigid[:, k], color=colour, ls=":", lw=1.1)
        left.set(xlabel="time, s", ylabel="torque, N m")
        left.legend()
        angles = 1e3 * run.q[:, np.array(SOFT)]
        for k, (name, colour) in enumerate(zip(soft, COLOURS, strict=False)):
            right.plot(run.t, angles[:, k], color=colour, label=name)
        right.set(xlabel="time, s", ylabel="angle, mrad")
        right.legend()
    return Picture(caption, inline_svg(figure, "lumped-elasticity", caption))
