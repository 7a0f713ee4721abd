"""`linkwise torque`: inverse dynamics along a motion in a file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linkwise.cli import show
from linkwise.cli.answers import answer
from linkwise.cli.arguments import (
    Command,
    Setting,
    around,
    json_option,
    load,
    output_option,
    plot_option,
    robot_argument,
    robot_options,
    surroundings,
)

if TYPE_CHECKING:
    from linkwise.motion.torques import Torques


@click.command(cls=Command, short_help="Compute the torques along a motion.")
@robot_argument
@click.argument("trajectory", type=click.Path(dir_okay=False))
@surroundings
@click.option("--wrenches", is_flag=True, help="Compute force and moment through every joint too.")
@click.option(
    "--rates", is_flag=True, help="Compute the rates of all these too, and check limits of jerk and effort rate."
)
@output_option
@plot_option
@click.option(
    "--cutoff",
    type=float,
    metavar="HZ",
    help="Smooth the positions before differentiating: take out what is faster than this.",
)
@click.option("--degrees", is_flag=True, help="Angles and their rates in the file are in degrees.")
@click.option("--ignore-extra", is_flag=True, help="Leave out columns that belong to no joint.")
@robot_options
@json_option
def torque(
    robot: str, trajectory: str, shakes: Sequence[Setting], externals: Sequence[Setting], wrenches: bool, rates: bool,
    output: Path | None, plot: Path | None, cutoff: float | None, degrees: bool, ignore_extra: bool, as_json: bool,
    **options: Any,
) -> int:  # fmt: skip
    """Compute the torques along a motion, and check the robot's limits: exit code 1 when one is exceeded.

    TRAJECTORY is a .csv file with a header, a .parquet file, or an .npz archive. Columns are `t` or `time`; `elbow` or
    `q.elbow` for the position of the joint elbow; and optionally `qd.elbow`, `qdd.elbow`, `qddd.elbow`. Numbers are in
    rad, m and s, unless a name ends in another unit, such as `elbow [deg]`, or you give --degrees. An archive has
    arrays t and q, optionally qd, qdd, qddd, and `names`, the joints in their order. A limit may be exceeded by a
    thousandth of it, as in plans.

    If the file has no velocities or accelerations, the command differentiates a quintic spline through the positions.
    That enlarges noise: where the torques are largely noise of measured positions or of their times, the command warns,
    with the share of noise and a cutoff. With --cutoff HZ it takes out of the positions what is faster than that, makes
    times even, and differentiates what remains; `linkwise log` shows more.

    Jerks come from a spline too; from them --rates computes columns `tau_dot.elbow` (N m/s, or N/s). Where a joint with
    Coulomb friction reverses, its torque jumps; --rates lists when. A floating joint root has the columns root.x .y .z
    .qx .qy .qz .qw, and qd.root.vx .vy .vz .wx .wy .wz.

    A robot with loops keeps them closed: columns of the joints that lead suffice, and torques are of the drives. If
    the file has all joints, they choose the assembly mode, and the command refuses rows that open the loops. Limits
    hold for joints that follow too. With --wrenches, columns `cut.tip.fx` have the wrench through the joint that was
    cut for the loop tip. The command lists rows that are out of reach or singular, and computes all others. With
    elastic drives columns of the joints suffice too: motors then move and push as that motion demands, by feed-forward
    with its fourth derivative, or with its sixth where elastic joints carry motors.

    The motion of a platform on legs is that of its joint: platform.x .y .z .qx .qy .qz .qw, and qd.platform.vx, ... in
    its own axes. A platform that only translates has .x .y .z, a planar one .x .y .angle. If nothing else leads, you
    may leave out the joint's name; then you may also give turns as a rotation vector rx ry rz or as roll pitch yaw, and
    velocities in world axes as velocity.vx to .wz and acceleration.vx to .wz.

    \b
    Examples:
      linkwise torque arm.urdf swing.csv
      linkwise torque arm.urdf swing.csv --output torques.csv --plot torques.png
      linkwise torque arm.urdf swing.csv --payload 2.5,0,0,0.1@tool
      linkwise torque arm.urdf swing.csv --rates --output rates.csv
      linkwise torque arm.urdf swing_in_degrees.csv --degrees
      linkwise torque arm.urdf measured.csv --cutoff 10
      linkwise torque arm.urdf swing.csv --external tool=0,0,-20,0,0,0 --wrenches -o all.npz
      linkwise torque arm.urdf swing.csv --side soft.toml -o feedforward.csv
      linkwise torque arm.urdf swing.csv --no-friction --base-motion z=0.05,1.5 --json
      linkwise torque hexapod.toml poses.csv --payload 20@platform --plot forces.png
    """
    from linkwise.figures import save_figure
    from linkwise.motion import read
    from linkwise.motion.plot import torque_figure
    from linkwise.motion.torques import torques_along

    model = load(robot, **options)
    unit = "degrees" if degrees else "radians"
    motion = read(trajectory, model, ignore_extra=ignore_extra, jerks=rates, angles=unit, cutoff=cutoff)
    surrounded = around(shakes, externals)
    result = torques_along(model, motion, **surrounded, wrenches=wrenches, rates=rates)
    payloads = [{"frame": frame, "mass": mass, "com": com} for frame, (mass, *com) in options["payloads"]]
    facts = {"trajectory": trajectory, "payloads": payloads, "external": surrounded.get("external", {})}
    result = replace(result, facts=facts | {"base motion": dict(shakes)})
    writers = {"output": (output, result.save), "plot": (plot, lambda path: save_figure(torque_figure(result), path))}
    answer(writers, _facts(result), partial(_print, result), as_json)
    return 0 if result.good else 1


SHOWN = 12  # rows of a table that are printed


def _facts(result: Torques) -> dict[str, Any]:
    """All that is known but the rows, as JSON has it."""
    motion, reach = result.motion, result.reach
    facts: dict[str, Any] = {
        "robot": result.robot.name,
        "rows": len(motion),
        "start": float(motion.t[0]),
        "end": float(motion.t[-1]),
        "timed": motion.timed,
        "origins": motion.origins,
        "notes": list(result.notes),
        "noise": dict(result.noise),
        "peaks": result.peaks(),
        "exceeded": [{**e._asdict(), "value": _finite(e.value)} for e in result.exceeded],
    }
    if reach:
        worst = reach.worst and {"worst": _finite(reach.worst[0]), "time": reach.worst[1]}
        facts |= {"condition": worst, "unreached": [u._asdict() for u in reach.unreached]}
        facts["singular"] = [c._asdict() for c in reach.crossings]
    if result.tau_dot is not None:
        facts["reversals"] = [r._asdict() for r in result.reversals]
    return facts


def _finite(x: float) -> float | None:
    return x if math.isfinite(x) else None


def _print(result: Torques, facts: Mapping[str, Any], output: Path | None, plot: Path | None) -> None:
    timed, rated = facts["timed"], result.tau_dot is not None
    span = f", {facts['start']:g} to {facts['end']:g} s" if timed else ", without times"
    show.line(f"{facts['robot']}: {show.plural(facts['rows'], 'row')}{span}")
    words = {"qd": "velocities", "qdd": "accelerations", "qddd": "jerks"}
    show.line(", ".join(f"{words[key]} from {origin}" for key, origin in facts["origins"].items()))
    for note in facts["notes"]:
        show.line(f"warning: {note}", fg="yellow") if note == result.warning else show.line(f"note: {note}")
    show.title(f"Torques (N m, or N){', rates (N m/s, or N/s)' if rated else ''}, speeds (rad/s, or m/s)")
    columns = {"joint": "joint", "lowest": "lowest", "highest": "highest", "rms": "rms", "limit": "limit"}
    columns |= {"rate": "top rate", "rate limit": "its limit"} if rated else {}
    columns |= {"speed": "top speed"}
    head, rows = [*columns.values()], [[_cell(peak[key]) for key in columns] for peak in facts["peaks"]]
    show.table(head, rows, right=head[1:])
    time = {"time": "time (s)" if timed else "row"}
    jump = {"joint": "joint", "what": "what", **time, "jump": "jump (N m, or N)"}
    _section("Jumps of torques by Coulomb friction, which no rate shows", jump, facts.get("reversals", ()))
    show.line()
    if worst := facts.get("condition"):
        at = f"at {'t =' if timed else 'row'} {worst['time']:g}"
        show.line(f"worst condition number of the drives' Jacobian {_cell(worst['worst']) or 'infinite'}, {at}")
    lost = [
        {"rows": _span(u["first"], u["last"]), "time": _span(u["start"], u["end"]), "loops": ", ".join(u["loops"])}
        for u in facts.get("unreached", ())
    ]
    _section("Out of reach", {"rows": "rows", **time, "loops": "loops"}, lost, fg="red")
    singular = "Singular positions on the way, where forces have no bound"
    _section(singular, {"row": "before row", **time}, facts.get("singular", ()), fg="red")
    over = {"joint": "joint", "what": "what", "value": "worst", "limit": "limit", **time, "rows": "rows"}
    _section("Limits exceeded", over, facts["exceeded"], fg="red")
    if not facts["exceeded"]:
        limits = [x for j in result.robot.joints for x in (j.limits.jerk, j.limits.effort_rate) if math.isfinite(x)]
        but = "" if rated or not limits else ", but those of jerk and effort rate were not checked: give --rates"
        show.line(f"All within the limits that the robot has{but}.")
    show.written({"results": output, "plot": plot})
    if not output:
        show.line("To keep all rows, give --output FILE.csv, FILE.npz or FILE.parquet.")


def _section(title: str, columns: Mapping[str, str], found: Sequence[Mapping[str, Any]], **style: Any) -> None:
    """A table with its title, the first rows of it; nothing where there is none."""
    if not found:
        return
    show.title(title, **style)
    head, rows = list(columns.values()), [[_cell(one[key]) for key in columns] for one in found[:SHOWN]]
    show.table(head, rows, right=[columns[key] for key in ("value", "limit", "jump", "time", "rows") if key in columns])
    if len(found) > SHOWN:
        show.line(f"and {len(found) - SHOWN} more; --json lists all.")


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else show.number(value)


def _span(first: float, last: float) -> str:
    return f"{first:g}" if first == last else f"{first:g} to {last:g}"
