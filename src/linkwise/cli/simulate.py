"""`linkwise simulate`: how a robot moves under torques and driven joints."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linkwise.cli import show
from linkwise.cli.answers import Writers, answer
from linkwise.cli.arguments import (
    INTERRUPTED,
    Command,
    Setting,
    SettingType,
    around,
    json_option,
    load,
    once,
    output_option,
    plot_option,
    robot_argument,
    robot_options,
    setting,
    surroundings,
)
from linkwise.errors import SimulationError, UnknownNameError

if TYPE_CHECKING:
    from linkwise.robot.robot import Robot
    from linkwise.simulation.result import Simulation

MODES = ("note", "saturate", "stop")
FLOATING = {"--start": "x,y,z,qx,qy,qz,qw", "--speed": "vx,vy,vz,wx,wy,wz", "--torque": "fx,fy,fz,mx,my,mz"}


@click.command(cls=Command, short_help="Simulate a motion.")
@robot_argument
@click.option(
    "--time", "end", type=click.FloatRange(min=0.0, min_open=True), default=2.0, show_default=True, help="How long, s."
)
@setting(
    "--start",
    "starts",
    SettingType("JOINT=VALUE", "elbow=0.5", 1, 2, 3, 4, 7),
    "Position at the start, rad or m; zero if not given, or where loops close."
    f" A floating joint has {FLOATING['--start']}.",
)
@setting(
    "--speed",
    "speeds",
    SettingType("JOINT=VALUE", "elbow=0.5", 1, 2, 3, 6),
    f"Speed at the start, rad/s or m/s. A floating joint has {FLOATING['--speed']}.",
)
@setting(
    "--torque",
    "torques",
    SettingType("JOINT=VALUE", "elbow=0.5", 1, 2, 3, 6),
    f"A constant torque or force, N m or N. A floating joint has {FLOATING['--torque']}.",
)
@setting(
    "--drive",
    "drives",
    SettingType("JOINT=A,F[,PHASE]", "elbow=0.4,1.5", 2, 3),
    "Make a joint follow start + A sin(2 pi F t + PHASE): amplitude in rad or m, frequency in Hz, phase in rad.",
)
@click.option(
    "--hold",
    "holds",
    metavar="JOINT",
    multiple=True,
    help="Keep a joint where it starts, whatever torque that takes. May be repeated.",
)
@surroundings
@click.option(
    "--method",
    type=click.Choice(["DOP853", "RK45", "RK23", "LSODA", "Radau", "BDF", "auto"]),
    default="auto",
    show_default=True,
    help="SciPy's solver; LSODA, Radau and BDF are for stiff robots. auto is DOP853, or LSODA where a motion is stiff.",
)
@click.option(
    "--limits",
    type=click.Choice([*MODES, "none"]),
    default="note",
    show_default=True,
    help="Limits of joints and drives: say which are exceeded; clip torques and hold joints at stops; end the motion at"
    " the first one; or do not look.",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0.0, min_open=True),
    help="Stop after so many seconds, write what was computed, and return exit code 1.",
)
@click.option(
    "--max-steps",
    type=click.IntRange(min=1),
    help="Stop in the same way after so many steps of the solver; 500,000 if not given.",
)
@output_option
@plot_option
@robot_options
@json_option
def simulate(
    robot: str, end: float, starts: tuple[Setting, ...], speeds: tuple[Setting, ...], torques: tuple[Setting, ...],
    drives: tuple[Setting, ...], holds: tuple[str, ...], shakes: Sequence[Setting], externals: Sequence[Setting],
    method: str, limits: str, time_limit: float | None, max_steps: int | None, output: Path | None, plot: Path | None,
    as_json: bool, **options: Any,
) -> int:  # fmt: skip
    """Simulate how a robot moves from a start, under torques, with some joints driven.

    Joints without torque swing freely, so that the robot falls unless something holds it. A driven or held joint
    follows its motion exactly, and the result has the torque that this takes. The energy drift is the error of the
    energy balance, relative to the largest energy or work in it.

    Loops stay closed. You can name joints that lead and joints that follow; joints that you do not name go where they
    close the loops.

    A platform on legs starts where the machine is assembled, or at --start platform=x,y,z,qx,qy,qz,qw. A platform that
    only translates has x,y,z, a planar one x,y,angle. --speed platform=vx,vy,vz,wx,wy,wz is in its own axes, and
    --torque is for actuated joints.

    An .npz file of results stores the robot too; `linkwise torque` takes any file of results as a motion. Exit code 1
    means that the simulation could not go on or used up its time or steps, 130 that Ctrl-C stopped it; the command
    keeps what was computed.

    \b
    Examples:
      linkwise simulate arm.urdf --start shoulder=0.5 --plot fall.png
      linkwise simulate arm.urdf --time 5 --torque turn=2 --hold shoulder --hold elbow
      linkwise simulate arm.urdf --drive elbow=0.4,1.5 --drive shoulder=0.2,1.5,1.57 -o wave.npz
      linkwise simulate puma560 --time 10 --no-friction --json
      linkwise simulate arm7 --torque joint2=400 --limits saturate
      linkwise simulate arm.urdf --base floating --hold turn --speed root_joint=0,0,1,0,0,2
      linkwise simulate fourbar --start crank=1 --torque crank=0.2
      linkwise simulate arm.urdf --external tool=0,0,-20 --base-motion x=0.02,2 -o shaken.csv
      linkwise simulate delta --start platform=0,0,-0.5 --torque leg1.motor=-1.2 --time 0.3
    """
    from linkwise.simulation.simulation import simulate as run
    from linkwise.simulation.start import start_of

    model = load(robot, **options)
    tree, surrounded = model.opened(), around(shakes, externals)
    start, speed = _by_joint(tree, "--start", starts), _by_joint(tree, "--speed", speeds)
    tau = _by_joint(tree, "--torque", torques)
    driven = _motions(tree, start_of(model, start, None).q, drives, holds) if drives or holds else {}
    if both := [joint for joint in tau if joint in driven]:
        raise click.UsageError(f"--torque {both[0]}: expected a joint that is free, got one that is driven or held")
    problem = ""
    try:
        result = run(
            model, start, speed, end, control=tau or None, driven=driven or None, **surrounded, method=method,
            limits=None if limits == "none" else limits, time_limit=time_limit, max_steps=max_steps,
        )  # fmt: skip
    except SimulationError as error:
        if error.result is None:
            raise
        result, problem = error.result, " ".join(str(error).split())
    writers: Writers = {"output": (output, result.save), "plot": (plot, result.plot)}
    answer(writers, _facts(result, problem), partial(_print, result), as_json)
    return INTERRUPTED if result.status == "interrupted" else 1 if problem else 0


def _by_joint(robot: Robot, flag: str, settings: Sequence[Setting]) -> dict[str, Any]:
    """Numbers by joint, each joint once and with as many numbers as it has coordinates."""
    found: dict[str, Any] = {}
    for joint, values in once(flag, "joint", settings).items():
        slot = _slot(robot, joint)
        parts = {"--start": slot.kind.positions, "--speed": slot.kind.velocities}.get(flag, slot.kind.forces)
        width = len(parts)
        if len(values) != width:
            wanted = f"{width} numbers {','.join(parts)}" if width > 1 else "one number"
            raise click.UsageError(f"{flag} {joint}: expected {wanted}, got {len(values)}")
        found[joint] = values if width > 1 else values[0]
    return found


def _slot(robot: Robot, joint: str) -> Any:
    if joint not in robot.slots:
        raise UnknownNameError("joint", joint, robot.coordinates)
    return robot.slots[joint]


def _motions(robot: Robot, q0: Any, drives: Sequence[Setting], holds: Sequence[str]) -> dict[str, Any]:
    """The prescribed motions by joint."""
    motions: dict[str, Any] = {}
    for joint, wave in (*drives, *((joint, ()) for joint in holds)):
        slot = _slot(robot, joint)
        if joint in motions:
            raise click.UsageError(f"--drive and --hold: expected each joint once, got {joint!r} twice")
        if wave and slot.nq != 1:
            raise click.UsageError(f"--drive {joint}: expected a joint of one coordinate, got {slot.nq}")
        at = q0[slot.q : slot.q + slot.nq]
        motions[joint] = sine(float(at[0]), *wave) if wave else at
    return motions


def sine(middle: float, amplitude: float, frequency: float, phase: float = 0.0) -> Callable[[float], Any]:
    """The motion middle + amplitude sin(2 pi frequency t + phase), with its two derivatives."""
    rate = 2.0 * math.pi * frequency

    def motion(t: float) -> tuple[float, float, float]:
        s, c = amplitude * math.sin(rate * t + phase), amplitude * math.cos(rate * t + phase)
        return middle + s, rate * c, -rate * rate * s

    return motion


def _facts(result: Simulation, problem: str) -> dict[str, Any]:
    from linkwise.simulation.limits import LimitMet

    joints = []
    for name in result.robot.opened().coordinates:
        c = result[name]
        joints.append({
            "joint": name, "start": c.q[0].tolist(), "end": c.q[-1].tolist(),
            "top speed": float(abs(c.qd).max()), "top torque": float(abs(c.tau).max()),
        })  # fmt: skip
    return {
        "robot": result.robot.name,
        "status": result.status,
        "problem": problem,
        "end": float(result.t[-1]),
        "rows": len(result),
        **{key: result.facts.get(key) for key in ("method", "steps", "evaluations")},
        "energy drift": result.energy.drift,
        "notes": list(result.notes),
        "limits met": [dict(zip(LimitMet._fields[:-1], x, strict=False)) for x in result.limits_met],
        "joints": joints,
    }


def _print(result: Simulation, facts: Mapping[str, Any], output: Path | None, plot: Path | None) -> None:
    work = f" in {facts['steps']} steps of {facts['method']}" if facts["steps"] else ""
    show.line(f"{facts['robot']}: {facts['status']}, {result.t[0]:g} to {result.t[-1]:g} s{work}")
    show.line(f"energy drift {facts['energy drift']:.1e}, {show.plural(len(result), 'row')}")
    for note in facts["notes"]:
        show.line(f"note: {note}")
    if facts["problem"]:
        show.line(f"problem: {facts['problem']}", fg="red")
    show.title("Positions (rad, or m), top speeds and torques")
    head = ("joint", "start", "end", "top speed", "top torque")
    rows = [
        (j["joint"], *(_position(j[key]) for key in ("start", "end")),
         *(show.number(j[key]) for key in ("top speed", "top torque")))
        for j in facts["joints"]
    ]  # fmt: skip
    show.table(head, rows, right=head[1:])
    show.line()
    show.written({"motion": output, "plot": plot}, show.TO_KEEP_A_MOTION)


def _position(value: Any) -> str:
    return " ".join(f"{x:.3g}" for x in value) if isinstance(value, list) else show.number(value)
