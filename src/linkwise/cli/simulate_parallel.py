"""`linkwise simulate` of a parallel robot: how its platform moves under constant forces of its legs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linkwise.cli import show
from linkwise.cli.answers import simulation, simulation_facts

if TYPE_CHECKING:
    from linkwise.parallel.robot import ParallelRobot
    from linkwise.simulation.parallel import ParallelSimulation

Settings = Sequence[tuple[str, tuple[float, ...]]]  # names, each with its numbers


def parallel_simulate(
    robot: ParallelRobot,
    end: float,
    starts: Settings,
    speeds: Settings,
    torques: Settings,
    *,
    solver: Mapping[str, Any],
    output: Path | None,
    plot: Path | None,
    as_json: bool,
) -> int:
    """Simulate, write, draw and print; the exit code."""
    from linkwise.simulation.parallel import simulate_parallel

    pose = _of_platform(robot, "--start", starts, "pose")
    velocity = _of_platform(robot, "--speed", speeds, "velocity")
    forces = _forces(robot, torques)
    begin = _home(robot) if pose is None else pose

    def simulated() -> ParallelSimulation:
        return simulate_parallel(robot, begin, velocity, end, control=forces, **solver)

    return simulation(simulated, _facts, _print, output, plot, as_json)


def _home(robot: ParallelRobot) -> Any:
    """The pose at which the legs are at home."""
    import linkwise as lw
    from linkwise.parallel.home import home_pose

    pose = home_pose(robot)
    if not lw.compile(robot).workspace(pose).reachable:
        raise click.UsageError("expected --start platform=..., because the legs do not meet where they are at home")
    return pose


def _of_platform(robot: ParallelRobot, flag: str, settings: Settings, quantity: str) -> Any:
    """The numbers of a setting of the platform, or None."""
    from linkwise.errors import UnknownNameError
    from linkwise.motion.platform import platform_columns

    names = [n.partition(".")[2] for n in platform_columns(robot, quantity)]
    if len(settings) > 1:
        raise click.UsageError(f"{flag}: expected the platform once, got {len(settings)} of them")
    for name, values in settings:
        valid = dict.fromkeys(("platform", robot.platform.name))
        if name not in valid:
            raise UnknownNameError(f"part of a parallel robot for {flag}", name, valid)
        if len(values) != len(names):
            raise click.UsageError(f"{flag} {name}: expected {len(names)} numbers {','.join(names)}, got {len(values)}")
        return list(values)
    return None


def _forces(robot: ParallelRobot, settings: Settings) -> Any:
    """The constant forces of the actuated joints, or None where none is given."""
    import numpy as np

    from linkwise.errors import UnknownNameError

    forces = np.zeros(robot.na)
    given: set[str] = set()
    for name, values in settings:
        if name not in robot.names:
            raise UnknownNameError("actuated joint", name, robot.names)
        if name in given:
            raise click.UsageError(f"--torque: expected each joint once, got {name!r} twice")
        if len(values) != 1:
            raise click.UsageError(f"--torque {name}: expected one number, got {len(values)}")
        given.add(name)
        forces[robot.names.index(name)] = values[0]
    return forces if given else None


def _facts(result: ParallelSimulation, problem: str) -> dict[str, Any]:
    from linkwise.motion.platform import platform_columns

    names = [n.partition(".")[2] for n in platform_columns(result.robot, "pose")]
    return {
        **simulation_facts(result, problem),
        "notes": [*result.notes, *_beyond(result)],
        "pose": {n: {"start": float(x[0]), "end": float(x[-1])} for n, x in zip(names, result.pose.T, strict=True)},
        "joints": [
            {"joint": n, "start": float(x[0]), "end": float(x[-1]), "force": float(f[-1])}
            for n, x, f in zip(result.robot.names, result.positions.T, result.forces.T, strict=True)
        ],
    }


def _beyond(result: ParallelSimulation) -> list[str]:
    """Where actuated joints are when they first leave their limits, which do not act."""
    import numpy as np

    joints = dict(zip(result.robot.joint_names, result.robot.joints, strict=True))
    notes = []
    for name, x in zip(result.robot.names, result.positions.T, strict=True):
        out = (x < joints[name].limits.lower) | (x > joints[name].limits.upper)
        if out.any():
            notes.append(f"{name} leaves its limits, which do not act, at t = {result.t[int(np.argmax(out))]:g}")
    return notes


def _print(result: ParallelSimulation, problem: str, output: Path | None, plot: Path | None) -> None:
    facts = _facts(result, problem)
    work = f" in {facts['steps']} steps of {facts['method']}" if facts["steps"] else ""
    show.line(f"{facts['robot']}: {facts['status']}, {result.t[0]:g} to {result.t[-1]:g} s{work}")
    show.line(f"energy drift {facts['energy drift']:.1e}, {show.plural(len(result), 'row')}")
    for note in facts["notes"]:
        show.line(f"note: {note}")
    if problem:
        show.line(f"problem: {problem}", fg="red")
    show.title("Platform (m; rad, or numbers of a quaternion)")
    head = ("", "start", "end")
    rows = [(n, show.number(x["start"]), show.number(x["end"])) for n, x in facts["pose"].items()]
    show.table(head, rows, right=head[1:])
    show.title("Actuated joints (m, or rad; N, or N m)")
    columns = ("joint", "start", "end", "force")
    joints = [(j["joint"], *(show.number(j[key]) for key in columns[1:])) for j in facts["joints"]]
    show.table(columns, joints, right=columns[1:])
    show.line()
    show.written({"motion": output, "plot": plot}, show.TO_KEEP_A_MOTION)
