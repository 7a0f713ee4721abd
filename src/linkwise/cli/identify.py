"""`linkwise identify`: the parameters of a robot from logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linkwise.cli import show
from linkwise.cli.answers import answer
from linkwise.cli.arguments import (
    INTERRUPTED,
    PAGE,
    Command,
    OutputFile,
    Setting,
    SettingType,
    json_option,
    load,
    robot_argument,
    setting,
)
from linkwise.cli.log_options import ChannelFile, LogFile, log_options, read_files

if TYPE_CHECKING:
    from linkwise.identification.fit import Fit
    from linkwise.identification.statistics import Error

ROBOT_FILE = OutputFile(".toml", ".urdf")
SHORTEST = 60  # characters of a group's name that are printed


@click.command(cls=Command, short_help="Identify inertias, friction and loads from measured motion.")
@robot_argument
@click.argument("logs", nargs=-1, required=True, metavar="LOG...", type=LogFile())
@click.option(
    "--friction",
    default="viscous,coulomb,presliding",
    show_default=True,
    help="Laws of friction, separated by commas: viscous, coulomb, presliding, stribeck, root, asymmetric, load,"
    " temperature; or none.",
)
@click.option("--payload", metavar="FRAME", help="Identify only a load at this frame or link, and friction.")
@click.option("--no-rotors", is_flag=True, help="Keep the robot's rotor inertias.")
@click.option("--no-offsets", is_flag=True, help="Take no constant torque of the drives.")
@click.option("--hold", multiple=True, metavar="PARAMETER", help="Keep the robot's value. May be repeated.")
@click.option(
    "--coupled",
    multiple=True,
    metavar="JOINT+JOINT",
    help="Two joints with coupled motors: the second motor turns with both. May be repeated.",
)
@click.option(
    "--sensor",
    "sensors",
    multiple=True,
    metavar="LINK",
    help="A force sensor in the fixed joint before this link measured the columns wrench.LINK. May be repeated.",
)
@click.option("--no-springs", is_flag=True, help="Keep the robot's springs, of elastic drives too.")
@click.option(
    "--drift", metavar="line|SECONDS", help="Offsets change with time: a line along each file, or knots so far apart."
)
@click.option(
    "--estimator",
    default="reweighted",
    show_default=True,
    type=click.Choice(["ordinary", "weighted", "reweighted", "total", "instrumental"]),
    help="Which least squares.",
)
@click.option(
    "--cutoff", type=float, metavar="HZ", help="Of the low-pass for columns and torques; by the data if not given."
)
@click.option("--no-delay", is_flag=True, help="Take torques as measured at the instants of the positions.")
@click.option("--not-physical", is_flag=True, help="Do not ask for parameters that bodies can have.")
@click.option(
    "--validate", multiple=True, type=LogFile(), metavar="LOG", help="Predict the torques of this log. May be repeated."
)
@click.option("--output", "-o", type=ROBOT_FILE, help="Where to write the identified robot: .toml or .urdf.")
@click.option("--report", type=PAGE, help="Where to write a page on the fit: .html.")
@setting(
    "--lock", "locks", SettingType("JOINT[=VALUE]", "elbow=0.5", 1, alone=(0.0,)), "Fix a joint, at zero or at a value."
)
@click.option(
    "--side", type=click.Path(), metavar="FILE", help="A TOML file that adds drives or frames to the robot file."
)
@click.option("--base", type=click.Choice(["fixed", "floating"]), default="fixed", show_default=True,
              help="Fix the root link to the world, or let it float.")  # fmt: skip
@log_options
@json_option
def identify(
    robot: str, logs: Sequence[ChannelFile], friction: str, payload: str | None, no_rotors: bool, no_offsets: bool,
    hold: Sequence[str], coupled: Sequence[str], sensors: Sequence[str], no_springs: bool, drift: str | None,
    estimator: str, cutoff: float | None, no_delay: bool, not_physical: bool,
    validate: Sequence[ChannelFile], output: Path | None, report: Path | None,
    locks: Sequence[Setting], side: str | None, base: str, as_json: bool, **reading: Any,
) -> int:  # fmt: skip
    """Identify the inertias, rotors and friction of a robot from logs of positions and torques.

    ROBOT has the geometry; its masses and friction are where the search begins, and stay where the logs tell nothing.
    LOG is what `linkwise log` reads, with positions q.elbow and torques tau.elbow, or currents current.elbow and
    --gain; several files are runs of one log. A good log has 20 s or more of a motion that turns all joints, fast and
    slow, in both directions.

    The command smooths positions, and sends the columns of the linear model and the torques through one low-pass. It
    finds the delay between positions and torques, takes off what noise of positions adds, and prints each group of
    parameters that torques tell apart, with its 95 % interval. Intervals allow for residuals that are alike from one
    instant to the next, and for motions that are repeated. Errors are the root mean square of torques that the
    model does not explain, as a part of that of the torques: on the log itself after the low-pass, on blocks (or files)
    left out in turn, and on every --validate log, as measured.

    Columns wrench.hand.fx to wrench.hand.mz push the robot at the frame hand; with --sensor hand they are what a force
    sensor before the link hand measured, so that the command finds what lies beyond. A log of a floating robot
    (--base floating) needs no torques where it has all wrenches on the feet. A log of elastic drives with positions
    q.elbow and q.elbow.motor tells stiffness and damping.

    With --payload FRAME all of the robot is known but friction, offsets and a load there, of which the command finds
    mass and centre. The robot that -o writes has parameters that bodies of positive density can have, nearest to what
    was found. The page of --report shows torques, residuals and intervals. Exit code 1 says that the data leave some
    parameters open; they are listed.

    \b
    Examples:
      linkwise identify arm.urdf measured.csv
      linkwise identify arm.urdf measured.csv -o new.toml --validate other.csv --report fit.html
      linkwise identify arm.urdf monday.csv tuesday.csv --friction viscous,coulomb,stribeck --json
      linkwise identify arm.urdf with_load.csv --payload tool
      linkwise identify arm.urdf with_sensor.csv --sensor tool --drift 60
      linkwise identify walker.urdf plates.csv --base floating
      linkwise identify arm.urdf odd.csv --column 'angle_*=q' --column 'amp_*=current' --gain '*=1'
      linkwise identify arm.urdf q=positions.txt tau=torques.txt --rate 250 --coupled shoulder+elbow
    """
    import linkwise as lw

    model = load(robot, base=base, side=side, no_friction=False, rigid=False, locks=locks, payloads=())
    pairs = [_two(pair) for pair in coupled]
    measured = read_files(logs, model, **reading)
    others = {str(path): read_files([path], model, **reading) for path in validate}
    fit = lw.identify(
        model, measured, friction=None if friction == "none" else friction, rotors=not no_rotors,
        offsets=not no_offsets, payload=payload, coupled=pairs, hold=hold, delays=not no_delay, cutoff=cutoff,
        sensors=sensors, springs=not no_springs, drift=_drift(drift), estimator=estimator, physical=not not_physical,
    )  # fmt: skip
    errors = {path: fit.error(other) for path, other in others.items()}
    facts = fit.facts() | {"validation": {path: _error(error) for path, error in errors.items()}}
    other = next(iter(others.values()), None)
    page = (report, lambda path: fit.report(path, measured, other))
    answer({"output": (output, fit.save), "report": page}, facts, partial(_print, fit, errors), as_json)
    return INTERRUPTED if fit.status == "interrupted" else 1 if fit.undetermined else 0


def _drift(text: str | None) -> bool | float:
    if text is None or text == "line":
        return text is not None
    try:
        return float(text)
    except ValueError:
        raise click.UsageError(f"--drift: expected 'line', or seconds between knots, got {text!r}") from None


def _two(text: str) -> tuple[str, str]:
    first, mark, second = text.partition("+")
    if not mark or not first or not second:
        raise click.UsageError(f"--coupled: expected two joints, such as wrist1+wrist2, got {text!r}")
    return first, second


def _error(error: Error) -> dict[str, Any]:
    return {"mean": error.mean, "drives": dict(zip(error.drives, error.relative.tolist(), strict=True))}


def _print(
    fit: Fit,
    errors: Mapping[str, Error],
    facts: Mapping[str, Any],
    output: Path | None,
    report: Path | None,
) -> None:
    show.line(f"{facts['robot']}: {fit.summary}")
    for note in fit.notes:
        show.line(f"note: {note}")
    show.title("Groups of parameters (SI units)")
    head = ["group", "value", "std. error", "95 % interval", "before"]
    rows = [[_short(name), *rest] for name, *rest in fit.base.cells()]
    show.table(head, rows, right=head[1:])
    if fit.structure.payload:
        show.line()
        show.line(str(fit.payload))
    show.title("Torques that are not explained, as a part of the torques")
    columns = {"this log": fit.training}
    columns |= {"left out": fit.cross_validation} if fit.cross_validation else {}
    columns |= dict(errors)
    table = {name: dict(zip(e.drives, e.relative, strict=True)) | {"mean": e.mean} for name, e in columns.items()}
    drives = [*fit.training.drives, "mean"]
    cells = [[d, *(f"{100 * x[d]:.3g} %" if d in x else "" for x in table.values())] for d in drives]
    show.table(["drive", *table], cells, right=list(table))
    if fit.gains is not None:
        each = [f"{name} {x:.4g}" for name, x in zip(fit.drives, fit.gains, strict=True)]
        show.line(f"gains of the drives (N m/A): {', '.join(each)}")
    late, sure = fit.delay.values[fit.delay.determined], fit.delay.errors[fit.delay.determined]
    if late.any():
        shared = len(set(late.tolist())) == 1
        which = f"{1e3 * late[0]:.3g} +- {1e3 * sure[0]:.2g} ms" if shared else "differs by drive (--json)"
        show.line(f"torques come after positions by {which}")
    show.written({"robot": output, "page": report}, "To keep the robot, give --output FILE.toml or FILE.urdf.")


def _short(name: str) -> str:
    return name if len(name) <= SHORTEST else f"{name[: SHORTEST - 4]} ..."
