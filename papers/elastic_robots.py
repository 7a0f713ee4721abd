"""Robots with elastic drives for measurements, and what their dynamics cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from linkwise.algorithms.forward_by_columns import forward_by_columns
from linkwise.algorithms.forward_dynamics import forward_dynamics
from linkwise.formats.library import bundled
from linkwise.kernel.compile import compile
from linkwise.peers.times import interleaved, states
from linkwise.robot.drive import Drive, Motor
from linkwise.robot.robot import Robot
from linkwise.vector import Vec3
from papers.forward_routes import general_chain

CHAINS = (3, 6, 12, 24, 48)
ROWS = 1024
ROUTES: dict[str, tuple[Any, dict[str, Any]]] = {
    "free motors, O(N)": (forward_dynamics, {"route": "articulated"}),
    "inertia matrix": (forward_dynamics, {"route": "inertia"}),
    "A and zeta (Hua)": (forward_by_columns, {}),
}


def half_elastic_chain(joints: int) -> Robot:
    """A general chain whose even joints are driven through springs by geared motors, each one link before its joint."""
    chain = general_chain(joints)
    rng = np.random.default_rng(joints)
    links = [k.name for k in chain.links]
    changed = []
    for k, j in enumerate(chain.joints):
        if k % 2 == 0:
            changed.append(replace(j, armature=0.2))
            continue
        axis, com = rng.normal(size=3), rng.normal(size=3) * 0.05
        tensor = (2e-3, 0.0, 0.0, 2e-3, 0.0, 2e-3)
        unit = Vec3(*(axis / np.linalg.norm(axis)).tolist())
        motor = Motor(links[k - 1], 0.5, Vec3(*com.tolist()), tensor, 1e-3, unit)
        changed.append(replace(j, drive=Drive(motor, 20.0, 300.0)))
    return chain.replace(joints=changed)


def soft_arm() -> Robot:
    """The seven-axis arm of the library with an elastic drive at every joint, its motor on the link before it."""
    arm = bundled("arm7").without_friction()
    motor = Motor(mass=0.6, inertia=(6e-4, 6e-4, 4e-4), rotor=2e-4)
    drive = Drive(motor, gear=100.0, stiffness=5e3, damping=1.0)
    joints = [replace(j, armature=0.0, drive=drive) if j.nv else j for j in arm.joints]
    return arm.replace(joints=joints, name="soft arm7")


def forward_costs(joints: int) -> dict[str, int]:
    """Multiplications and additions of forward dynamics of a chain with every other joint elastic, by each route."""
    robot = half_elastic_chain(joints)
    found = {}
    for name, (algorithm, options) in ROUTES.items():
        count = compile(robot, algorithm, **options).count()
        found[name] = count["mul"] + count["add"]
    return found


def inverse_times(rounds: int = 15) -> dict[str, float]:
    """Nanoseconds a row of inverse dynamics of the arm with seven elastic joints, and of the same with rigid drives."""
    soft = soft_arm()
    rigid = soft.rigid()
    bare = rigid.replace(joints=[replace(j, drive=None) for j in rigid.joints])
    candidates: dict[str, Callable[[], object]] = {}
    for name, robot in {"elastic": soft, "rigid": rigid, "rigid, without motors": bare}.items():
        kernel, given, out = compile(robot).inverse_dynamics, states(robot, ROWS), np.empty((ROWS, robot.nv))
        candidates[name] = partial(kernel, *given, out=out)
    times = interleaved(candidates, rounds=rounds)
    return {name: 1e9 * t["best"] / ROWS for name, t in times.items()}
