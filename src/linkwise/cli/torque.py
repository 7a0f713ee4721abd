"""`linkwise torque`: inverse dynamics along a motion in a file."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from linkwise.cli import show
from linkwise.cli.answers import torque_facts, torques
from linkwise.cli.arguments import (
    Command,
    OutputFile,
    ParamType,
    json_option,
    load,
    numbers,
    robot_argument,
    robot_options,
)

if TYPE_CHECKING:
    from linkwise.motion.reach import Reach
    from linkwise.motion.torques import Torques
    from linkwise.robot.robot import Robot


class Payload(NamedTuple):
    """A point mass on a frame."""

    mass: float
    com: tuple[float, ...]
    frame: str


class PayloadType(ParamType):
    """MASS@FRAME, or MASS,x,y,z@FRAME with the centre of mass in the frame's axes."""

    name = "MASS[,x,y,z]@FRAME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Payload:
        if isinstance(value, Payload):
            return value
        given, at, frame = value.partition("@")
        if not at or not frame:
            self.fail(f"expected MASS@FRAME or MASS,x,y,z@FRAME, such as 2.5@tool, got {value!r}.", param, ctx)
        mass, *com = numbers(self, given, (1, 4), param, ctx)
        return Payload(mass, tuple(com) or (0.0, 0.0, 0.0), frame)


class External(NamedTuple):
    """A wrench of the environment on a frame, in its axes."""

    frame: str
    wrench: tuple[float, ...]


class ExternalType(ParamType):
    """FRAME=fx,fy,fz or FRAME=fx,fy,fz,mx,my,mz."""

    name = "FRAME=fx,fy,fz[,mx,my,mz]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> External:
        if isinstance(value, External):
            return value
        frame, equals, given = value.rpartition("=")
        if not equals or not frame:
            self.fail(f"expected FRAME=fx,fy,fz,mx,my,mz, such as tool=0,0,-20,0,0,0, got {value!r}.", param, ctx)
        wrench = numbers(self, given, (3, 6), param, ctx)
        return External(frame, (*wrench, 0.0, 0.0, 0.0)[:6])


@click.command(cls=Command, short_help="Compute the torques along a motion.")
@robot_argument
@click.argument("trajectory", type=click.Path(dir_okay=False))
@click.option(
    "--payload",
    "payloads",
    type=PayloadType(),
    metavar=PayloadType.name,
    multiple=True,
    help="A mass (kg) welded to a frame or link, its centre in the frame's axes (m). May be repeated.",
)
@click.option(
    "--external",
    "externals",
    type=ExternalType(),
    metavar=ExternalType.name,
    multiple=True,
    help="A constant force (N) and moment (N m) of the environment on a frame or link, in its axes. May be repeated.",
)
@click.option("--wrenches", is_flag=True, help="Compute force and moment through every joint too.")
@click.option(
    "--rates", is_flag=True, help="Compute the rates of all these too, and check limits of jerk and effort rate."
)
@click.option("--output", "-o", type=OutputFile(".csv", ".npz"), help="Where to write the results: .csv or .npz.")
@click.option("--plot", type=OutputFile(".png", ".svg", ".pdf"), help="Where to draw them: .png, .svg or .pdf.")
@click.option("--ignore-extra", is_flag=True, help="Leave out columns that belong to no joint.")
@robot_options
@json_option
def torque(
    robot: str, trajectory: str, payloads: tuple[Payload, ...], externals: tuple[External, ...], wrenches: bool,
    rates: bool, output: Path | None, plot: Path | None, ignore_extra: bool, as_json: bool, **options: Any,
) -> int:  # fmt: skip
    """Compute the torques along a motion, and check the robot's limits: exit code 1 when one is exceeded.

    TRAJECTORY is a .csv file with a header, or an .npz archive. Columns are `t` or `time`; `elbow` or `q.elbow` for
    the position of the joint elbow; and perhaps `qd.elbow`, `qdd.elbow`, `qddd.elbow`. An archive has arrays t, q and
    perhaps qd, qdd, qddd, and `names`, the joints in their order.

    Velocities and accelerations that the file does not have are those of a quintic spline through the positions, so
    smooth noisy measurements first; so are jerks, from which --rates computes columns `tau_dot.elbow` (N m/s, or N/s).
    Where a joint with Coulomb friction reverses its torque jumps; --rates lists when. A floating joint root has the
    columns root.x .y .z .qx .qy .qz .qw, and qd.root.vx .vy .vz .wx .wy .wz.

    A robot with loops keeps them closed: columns of the joints that lead suffice, and torques are of the drives. Where
    the file has all joints they choose the assembly mode, and rows that open the loops are refused. Limits hold for
    joints that follow too. With --wrenches columns `cut.tip.fx` have what the joint that was cut for the loop tip
    carries. Rows of what leads that are out of reach, and singular ones, are listed; all others are computed.
    With elastic drives columns of the joints suffice too: motors then move and push as that motion demands, by
    feed-forward with its fourth derivative.

    The motion of a platform on legs is that of its joint: platform.x .y .z .qx .qy .qz .qw, and qd.platform.vx, ... in
    its own axes; .x .y .z alone or .x .y .angle where it moves so. Where nothing else leads the joint's name may be
    left out; turns may then be given as a rotation vector rx ry rz or as roll pitch yaw, and velocities in world axes
    as velocity.vx to .wz and acceleration.vx to .wz.

    \b
    Examples:
      linkwise torque arm.urdf swing.csv
      linkwise torque arm.urdf swing.csv --output torques.csv --plot torques.png
      linkwise torque arm.urdf swing.csv --payload 2.5,0,0,0.1@tool
      linkwise torque arm.urdf swing.csv --rates --output rates.csv
      linkwise torque arm.urdf swing.csv --external tool=0,0,-20,0,0,0 --wrenches -o all.npz
      linkwise torque arm.urdf swing.csv --side soft.toml -o feedforward.csv
      linkwise torque arm.urdf swing.csv --no-friction --json
      linkwise torque hexapod.toml poses.csv --payload 20@platform --plot forces.png
    """
    from linkwise.motion.elastic import read_elastic
    from linkwise.motion.loops import read_closed
    from linkwise.motion.plot import torque_figure
    from linkwise.motion.torques import torques_along

    loads = {}
    for external in externals:
        if external.frame in loads:
            raise click.UsageError(f"--external: expected each frame once, got {external.frame!r} twice")
        loads[external.frame] = external.wrench
    model = _loaded(load(robot, **options), payloads)
    if model.follows:
        model, motion = read_closed(trajectory, model, ignore_extra=ignore_extra, jerks=rates)
    else:
        motion = read_elastic(trajectory, model, ignore_extra=ignore_extra, jerks=rates)
    result = torques_along(model, motion, external=loads, wrenches=wrenches, rates=rates)
    facts = {"trajectory": trajectory, "payloads": [p._asdict() for p in payloads], "external": loads}
    torques(result, torque_figure, _facts, _print, output, plot, as_json, facts)
    return 0 if result.good else 1


SHOWN = 12  # rows of a table that are printed


def _print_reversals(result: Torques) -> None:
    """Where friction makes torques jump, the first of them."""
    show.line()
    show.line("Jumps of torques by Coulomb friction, which no rate shows", bold=True)
    when = "time (s)" if result.motion.timed else "row"
    head = ("joint", "what", when, "jump (N m, or N)")
    rows = [(r.joint, r.what, f"{r.time:g}", show.number(r.jump)) for r in result.reversals[:SHOWN]]
    show.table(head, rows, right=head[2:])
    _more(len(result.reversals))


def _print_problems(reach: Reach, timed: bool) -> None:
    """Rows out of reach and singular positions, the first of them."""
    when = "t =" if timed else "row"
    if reach.worst:
        show.line(f"worst condition number of the drives' Jacobian {reach.worst[0]:.4g}, at {when} {reach.worst[1]:g}")
    if reach.unreached:
        show.line("Out of reach", bold=True, fg="red")
        head = ("rows", "time (s)" if timed else "", "loops")
        spans = [((u.first, u.last), (u.start, u.end), u.loops) for u in reach.unreached[:SHOWN]]
        show.table(head, [(_span(*rows), _span(*times), ", ".join(loops)) for rows, times, loops in spans])
        _more(len(reach.unreached))
    if reach.crossings:
        show.line("Singular positions on the way, where forces have no bound", bold=True, fg="red")
        show.table(("before row", "time (s)"), [(str(c.row), f"{c.time:g}") for c in reach.crossings[:SHOWN]])
        _more(len(reach.crossings))


def _more(count: int) -> None:
    if count > SHOWN:
        show.line(f"and {count - SHOWN} more; --json lists all.")


def _span(first: float, last: float) -> str:
    return f"{first:g}" if first == last else f"{first:g} to {last:g}"


def _loaded(robot: Robot, payloads: tuple[Payload, ...]) -> Robot:
    for k, payload in enumerate(payloads, start=1):
        name = "payload" if len(payloads) == 1 else f"payload{k}"
        robot = robot.with_payload(payload.mass, payload.com, at=payload.frame, name=name)
    return robot


def _facts(result: Torques) -> dict[str, Any]:
    return {
        **torque_facts(result),
        "exceeded": [{**e._asdict(), "value": _finite(e.value)} for e in result.exceeded],
        **(_reach_facts(result.reach) if result.reach else {}),
        **({"reversals": [r._asdict() for r in result.reversals]} if result.tau_dot is not None else {}),
    }


def _reach_facts(reach: Reach) -> dict[str, Any]:
    worst = reach.worst
    return {
        "condition": {"worst": _finite(worst[0]), "time": worst[1]} if worst else None,
        "unreached": [u._asdict() for u in reach.unreached],
        "singular": [c._asdict() for c in reach.crossings],
    }


def _finite(x: float) -> float | None:
    return x if math.isfinite(x) else None


def _print(result: Torques, output: Path | None, plot: Path | None) -> None:
    motion = result.motion
    span = f", {motion.t[0]:g} to {motion.t[-1]:g} s" if motion.timed else ", without times"
    show.line(f"{result.robot.name}: {show.plural(len(motion), 'row')}{span}")
    words = {"qd": "velocities", "qdd": "accelerations", "qddd": "jerks"}
    show.line(", ".join(f"{words[key]} from {origin}" for key, origin in motion.origins.items()))
    for note in motion.notes:
        show.line(f"note: {note}")
    with_rates = result.tau_dot is not None
    rates = ", rates (N m/s, or N/s)" if with_rates else ""
    show.title(f"Torques (N m, or N){rates}, speeds (rad/s, or m/s)")
    columns = {"lowest": "lowest", "highest": "highest", "rms": "rms", "limit": "limit"}
    columns |= {"rate": "top rate", "rate limit": "its limit"} if with_rates else {}
    columns |= {"speed": "top speed"}
    head = ("joint", *columns.values())
    rows = [(p["joint"], *(show.number(p[key]) for key in columns)) for p in result.peaks()]
    show.table(head, rows, right=head[1:])
    if result.reversals:
        _print_reversals(result)
    show.line()
    if result.reach:
        _print_problems(result.reach, motion.timed)
    if result.exceeded:
        show.line("Limits exceeded", bold=True, fg="red")
        when = "time (s)" if motion.timed else "row"
        head = ("joint", "what", "worst", "limit", when, "rows")
        worst = [
            (e.joint, e.what, show.number(e.value), show.number(e.limit), f"{e.time:g}", str(e.rows))
            for e in result.exceeded
        ]
        show.table(head, worst, right=head[2:])
    else:
        rated = [x for j in result.robot.joints for x in (j.limits.jerk, j.limits.effort_rate) if math.isfinite(x)]
        but = "" if with_rates or not rated else ", but those of jerk and effort rate were not checked: give --rates"
        show.line(f"All within the limits that the robot has{but}.")
    show.written({"results": output, "plot": plot})
    if not output:
        show.line("To keep all rows, give --output FILE.csv or FILE.npz.")
