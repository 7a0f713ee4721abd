"""Laws of mechanics on random machines, at ordinary and at extreme states.

Most machines are new ones, whose algorithms run in plain Python; some are compiled. Tolerances come from the rounding
of numbers that are added, and from how badly a mass matrix is conditioned.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from machines import numbers, states, tree
from verdict import CLEAR, Verdict, same, worst

import linkwise as lw

TRIES, QUICK, LONGEST = 8_000, 60, 60.0
ROUNDING = 1e-10  # of the largest of the numbers that are added
STEP = 1e-6  # of differences, whose rounding and remainder are both about 1e-9


class Compiled:
    """Machines whose kernels are compiled."""

    def __init__(self, count: int) -> None:
        self.robots = [tree(seed) for seed in range(count)]
        self.kernels = [lw.compile(robot) for robot in self.robots]


def prepare(folder: Path, quick: bool) -> Compiled:
    return Compiled(2 if quick else 8)


def draw(stage: Compiled, rng: random.Random) -> Callable[[], Verdict]:
    if rng.random() < 0.5:
        robot = tree(rng.randrange(10**6), rng.randrange(1, 7))
        law = rng.choice((inverse_after_forward, symmetric, linear_in_acceleration))
        return lambda: law(robot, Plain(robot), numbers(rng))
    k = rng.randrange(len(stage.robots))
    law = rng.choice(LAWS)
    return lambda: law(stage.robots[k], stage.kernels[k], numbers(rng))


class Plain:
    """The algorithms of a robot in plain Python, called like kernels."""

    def __init__(self, robot: lw.Robot) -> None:
        self.robot = robot

    def __getattr__(self, name: str) -> Callable[..., Any]:
        algorithm = getattr(lw.algorithms, name)

        def call(*inputs: Any) -> Any:
            found = np.array(algorithm.plain(self.robot, *(np.asarray(x).tolist() for x in inputs)))
            return found.reshape(self.robot.nv, -1) if name == "mass_matrix" else found

        return call


# ---- laws


def inverse_after_forward(robot: lw.Robot, dyn: Any, rng: np.random.Generator) -> Verdict:
    q, qd, qdd = states(robot, rng, 10.0 ** rng.uniform(-3, 2))
    tau = dyn.inverse_dynamics(q, qd, qdd)
    size = np.abs(tau).max(initial=1.0) + np.abs(dyn.bias_forces(q, qd)).max(initial=1.0)
    M = dyn.mass_matrix(q)
    back = dyn.forward_dynamics(q, qd, tau)
    if not np.abs(back - qdd).max(initial=0.0) <= ROUNDING * size * np.linalg.norm(np.linalg.inv(M), 2):
        return Verdict(
            "wrong", f"{robot.name}: forward after inverse dynamics is off by {np.abs(back - qdd).max():.3g}"
        )
    return CLEAR


def symmetric(robot: lw.Robot, dyn: Any, rng: np.random.Generator) -> Verdict:
    q, _, _ = states(robot, rng)
    M = dyn.mass_matrix(q)
    if robot.nv and np.linalg.eigvalsh(M).min() <= 0.0:
        return Verdict("wrong", f"{robot.name}: the mass matrix is not positive definite")
    return same(M, M.T, ROUNDING, f"{robot.name}: M")


def linear_in_acceleration(robot: lw.Robot, dyn: Any, rng: np.random.Generator) -> Verdict:
    q, qd, qdd = states(robot, rng)
    tau, h, M = dyn.inverse_dynamics(q, qd, qdd), dyn.bias_forces(q, qd), dyn.mass_matrix(q)
    size = max(np.abs(x).max(initial=1e-3) for x in (tau, h, M))
    return same((tau - h) / size + 1.0, M @ qdd / size + 1.0, ROUNDING, f"{robot.name}: M qdd")


def inverse_of_M(robot: lw.Robot, dyn: Any, rng: np.random.Generator) -> Verdict:
    q, qd, qdd = states(robot, rng)
    M, Minv = dyn.mass_matrix(q), dyn.forward_dynamics_derivatives(q, qd, qdd).Minv
    return same(Minv @ M, np.eye(robot.nv), ROUNDING * np.linalg.cond(M), f"{robot.name}: Minv M")


def kinetic(robot: lw.Robot, dyn: Any, rng: np.random.Generator) -> Verdict:
    q, qd, _ = states(robot, rng, 10.0 ** rng.uniform(-3, 3))
    return same(dyn.kinetic_energy(q, qd), 0.5 * qd @ dyn.mass_matrix(q) @ qd, 1e-9, f"{robot.name}: kinetic energy")


def slopes(robot: lw.Robot, dyn: Any, rng: np.random.Generator) -> Verdict:
    """Derivatives by q and qd against differences, along a direction, where friction does not turn round."""
    q, qd, qdd = states(robot, rng)
    qd = np.where(np.abs(qd) < 0.05, 0.05, qd)
    d = rng.uniform(-1.0, 1.0, robot.nv)
    found = dyn.inverse_dynamics_derivatives(q, qd, qdd)
    ends = [dyn.inverse_dynamics(dyn.integrate(q, s * d, STEP), qd, qdd) for s in (1.0, -1.0)]
    speeds = [dyn.inverse_dynamics(q, qd + s * STEP * d, qdd) for s in (1.0, -1.0)]
    size = max(np.abs(x).max(initial=1.0) for x in (*ends, found.dtau_dq, found.dtau_dqd))
    verdicts = []
    for ours, (a, b), name in ((found.dtau_dq, ends, "dtau_dq"), (found.dtau_dqd, speeds, "dtau_dqd")):
        error = np.abs(ours @ d - (a - b) / (2.0 * STEP)).max(initial=0.0)
        if not error <= 1e-4 * size:  # friction's smooth laws bend within a width of 0.01
            verdicts.append(Verdict("wrong", f"{robot.name}: {name} is off by {error:.3g} of {size:.3g}"))
    return worst(verdicts)


def there_and_back(robot: lw.Robot, dyn: Any, rng: np.random.Generator) -> Verdict:
    q, qd, _ = states(robot, rng)
    return same(dyn.difference(q, dyn.integrate(q, qd, 1.0)), qd, 1e-9, f"{robot.name}: difference after integrate")


def full_turns(robot: lw.Robot, dyn: Any, rng: np.random.Generator) -> Verdict:
    """A turn more of each hinge changes nothing, up to the rounding of the angle."""
    q, qd, qdd = states(robot, rng)
    turned = q.copy()
    for j in robot.joints:
        alone = j.mimic is None and not any(i.mimic and i.mimic.joint == j.name for i in robot.joints)
        if j.kind in ("revolute", "continuous") and alone and not j.spring:
            turned[robot.slots[j.name].q] += 2.0 * math.pi * rng.integers(-1000, 1000)
    return same(
        dyn.inverse_dynamics(turned, qd, qdd), dyn.inverse_dynamics(q, qd, qdd), 1e-8, f"{robot.name}: tau after turns"
    )


def extreme(robot: lw.Robot, dyn: Any, rng: np.random.Generator) -> Verdict:
    """Numbers of any size: the same row gives the same result alone and among others, and NaN comes out as NaN."""
    x = [
        10.0 ** rng.uniform(-320, 300, (5, n)) * rng.choice((-1.0, 1.0), (5, n)) for n in (robot.nq, robot.nv, robot.nv)
    ]
    x[rng.integers(3)][rng.integers(5)] = rng.choice((0.0, np.nan, np.inf, 1e308, 5e-324, 1e15))
    for kernel in (dyn.inverse_dynamics, dyn.forward_dynamics):
        whole = kernel(*x)
        for k in range(5):
            alone = kernel(*(a[k] for a in x))
            if not np.array_equal(alone, whole[k], equal_nan=True):
                return Verdict("wrong", f"{robot.name}: a row of {kernel.program.name} depends on its neighbours")
    poisoned = dyn.inverse_dynamics(x[0][0], x[1][0], np.full(robot.nv, np.nan))
    return CLEAR if np.isnan(poisoned).all() else Verdict("wrong", f"{robot.name}: NaN got lost")


LAWS = (
    inverse_after_forward, symmetric, linear_in_acceleration, inverse_of_M, kinetic, slopes, there_and_back, full_turns,
    extreme,
)  # fmt: skip
