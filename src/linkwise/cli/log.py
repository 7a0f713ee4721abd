"""`linkwise log`: what is in a file of measurements."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linkwise.cli import show
from linkwise.cli.answers import answer
from linkwise.cli.arguments import ROBOT, Command, json_option, load, output_option, plot_option, robot_options

if TYPE_CHECKING:
    from linkwise.motion.log import Log
    from linkwise.motion.smoothing import Smoothed

CHANNELS = ("t", "q", "qd", "tau", "current")


class LogFile(click.Path):
    """A file, or CHANNEL=FILE for one that has a channel alone."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        key, mark, path = str(value).partition("=")
        return ChannelFile(path, key) if mark and key in CHANNELS else ChannelFile(value)


class ChannelFile(str):
    """The name of a file, and the channel that it has alone, if it does."""

    def __new__(cls, path: str, channel: str = "") -> ChannelFile:
        found = super().__new__(cls, path)
        found.channel = channel
        return found

    channel: str


def _pair(text: str, flag: str) -> tuple[str, str]:
    left, mark, right = text.rpartition("=")
    if not mark or not left or not right:
        raise click.UsageError(f"{flag}: expected two names with = between them, such as 'position_*=q', got {text!r}")
    return left, right


@click.command(cls=Command, short_help="Show a file of measurements, and clean it.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=LogFile())
@click.option("--robot", type=ROBOT, help="Whose joints the columns belong to.")
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="PATTERN=CHANNEL",
    help="What a column is: 'actual_q_*=q'. * runs over the joints. May be repeated.",
)
@click.option(
    "--unit",
    "units",
    multiple=True,
    metavar="CHANNEL=UNIT",
    help="The unit of a channel: 'q=deg', 'qd=rpm', 'current=mA', 't=ns', or a factor. May be repeated.",
)
@click.option("--counts", type=float, help="Ticks in a turn, where a unit is ticks.")
@click.option(
    "--gain",
    "gains",
    multiple=True,
    metavar="DRIVE=GAIN",
    help="Torque by current in N m/A, of one drive, or of all: '*=1.2'. May be repeated.",
)
@click.option("--rate", type=float, metavar="HZ", help="Samples a second, where the file has no times.")
@click.option("--gap", type=float, metavar="S", help="The longest pause that is filled.")
@click.option(
    "--cutoff", type=float, metavar="HZ", help="Above which positions are noise; found from the data if not given."
)
@output_option
@plot_option
@robot_options
@json_option
def log(
    files: Sequence[ChannelFile], robot: str | None, columns: Sequence[str], units: Sequence[str], counts: float | None,
    gains: Sequence[str], rate: float | None, gap: float | None, cutoff: float | None, output: Path | None,
    plot: Path | None, as_json: bool, **options: Any,
) -> None:  # fmt: skip
    """Show what a log of measurements has: channels, rate, jitter, gaps, noise, and what was guessed and mended.

    FILE is a .csv, .npz, .parquet, .txt or .dat table, a ROS bag (.bag, .db3, or its folder) or an MCAP file. Several
    files are runs of one log; files that have one channel each are given as q=positions.txt t=time.txt tau=torques.txt.
    Channels are t, q, qd, tau and current. Columns such as t, q.elbow, qd.elbow, tau.elbow are known, spellings such as
    actual_q_0, joint1_position, effort_2 are guessed, and --column says the rest. Without --robot, joints have the
    names of the file.

    The command puts rows in order, tells jitter of stamps from jitter of samples, fills short pauses, splits the log at
    long ones, and shifts measured velocities by their delay. It estimates the noise of each channel from its spectrum,
    and the cutoff by which accelerations are best. It changes no file; with -o it writes the cleaned log, not smoothed,
    with our names, in rad, m, s, N m and A.

    \b
    Examples:
      linkwise log measured.csv
      linkwise log measured.csv --robot arm.urdf --plot log.png
      linkwise log measured.csv --robot arm.urdf -o clean.parquet --json
      linkwise log odd.csv --robot arm.urdf --column 'angle_*=q' --unit q=deg
      linkwise log odd.csv --robot arm.urdf --column 'amp_*=current' --gain '*=1.5'
      linkwise log monday.csv tuesday.csv --robot arm.urdf --cutoff 12
      linkwise log t=time.txt q=positions.txt tau=torques.txt --robot arm.urdf
    """
    from linkwise.figures import save_figure
    from linkwise.motion import read_log, smooth
    from linkwise.motion.log_plot import log_figure

    model = load(robot, **options) if robot else None
    found = read_log(
        _source(files), model, columns=dict(_pair(c, "--column") for c in columns) or None,
        units={k: _number(v) for k, v in (_pair(u, "--unit") for u in units)}, counts=counts,
        gains=_gains(gains), rate=rate, gap=gap,
    )  # fmt: skip
    smoothed = smooth(found, cutoff)
    writers = {
        "output": (output, found.save),
        "plot": (plot, lambda path: save_figure(log_figure(found, cutoff), path)),
    }
    answer(writers, _facts(found, smoothed), _print, as_json)


def _source(files: Sequence[ChannelFile]) -> Any:
    """One file, several, or a file for each channel."""
    if all(file.channel for file in files):
        return {file.channel: str(file) for file in files}
    if odd := [file for file in files if file.channel]:
        raise click.UsageError(f"expected files, or CHANNEL=FILE for all of them, got both: {odd[0].channel}={odd[0]}")
    return str(files[0]) if len(files) == 1 else list(map(str, files))


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def _gains(given: Sequence[str]) -> Any:
    pairs = dict(_pair(g, "--gain") for g in given)
    try:
        values = {name: float(value) for name, value in pairs.items()}
    except ValueError as error:
        raise click.UsageError(f"--gain: expected a number in N m/A, got {given[0]!r}") from error
    if "*" in values and len(values) > 1:
        raise click.UsageError("--gain: expected '*' alone, or a gain for each drive")
    return values.get("*") if "*" in values else values or None


def _facts(log: Log, smoothed: Smoothed) -> dict[str, Any]:
    """All but the rows, as JSON has it."""
    import numpy as np

    from linkwise.motion.log_names import channel_names
    from linkwise.motion.spectrum import noise_of, spectrum

    channels = []
    for key in ("q", "qd", "tau", "current"):
        values = getattr(log, key)
        if values is None:
            continue
        found = spectrum(np.nan_to_num(values), log.rate, log.runs)
        noise = noise_of(found).level() if found else np.full(values.shape[1], np.nan)
        for k, name in enumerate(channel_names(log.robot, key)):
            x = values[:, k]
            channels.append({
                "channel": name, "lowest": _known(np.min(x)), "highest": _known(np.max(x)), "rms": _known(np.std(x)),
                "noise": _known(noise[k]),
            })  # fmt: skip
    rms = np.sqrt(np.mean(smoothed.qdd**2, axis=0))
    rates = [name.removeprefix("qd.") for name in channel_names(log.robot, "qd")]
    return {
        "robot": log.robot.name,
        "rows": len(log),
        "rate": log.rate,
        "jitter": log.jitter,
        "delays": dict(log.delays),
        "runs": [
            {"source": s, "rows": r.stop - r.start, "start": float(log.t[r.start]), "end": float(log.t[r.stop - 1])}
            for r, s in zip(log.runs, log.sources, strict=True)
        ],
        "channels": channels,
        "others": list(log.others),
        "wrenches": list(log.wrenches),
        "accelerations": [
            {"joint": n, "cutoff": float(c), "rms": float(r), "noise": _known(s)}
            for n, c, r, s in zip(rates, smoothed.cutoff, rms, smoothed.sd[2], strict=True)
        ],
        "notes": [*log.notes, *smoothed.notes],
    }


def _known(x: Any) -> float | None:
    return float(x) if math.isfinite(x) else None


def _print(facts: Mapping[str, Any], output: Path | None, plot: Path | None) -> None:
    runs = facts["runs"]
    seconds = sum(run["end"] - run["start"] for run in runs)
    show.line(
        f"{facts['robot']}: {show.plural(facts['rows'], 'row')} at {facts['rate']:.6g} Hz, {seconds:.4g} s", bold=True
    )
    show.line(f"jitter of the stamps {1e3 * facts['jitter']:.3g} ms")
    for name, late in facts["delays"].items():
        show.line(f"delay of {name} {1e3 * late:.3g} ms, taken out")
    for note in facts["notes"]:
        show.line(f"note: {note}")
    if len(runs) > 1:
        show.title("Runs")
        rows = [(r["source"], show.number(r["start"]), show.number(r["end"]), r["rows"]) for r in runs]
        show.table(("source", "start (s)", "end (s)", "rows"), rows, right=("start (s)", "end (s)", "rows"))
    show.title("Channels (rad, m, s, N m, N, A)")
    head = {"channel": "channel", "lowest": "lowest", "highest": "highest", "rms": "about mean", "noise": "noise"}
    cells = [[_cell(row[key]) for key in head] for row in facts["channels"]]
    show.table(list(head.values()), cells, right=list(head.values())[1:])
    if facts["others"] or facts["wrenches"]:
        names = [*(f"wrench.{frame}" for frame in facts["wrenches"]), *facts["others"]]
        more = f", ... and {len(names) - 24} more" if len(names) > 24 else ""
        show.line(f"also there: {', '.join(names[:24])}{more}")
    show.title("Accelerations of the smooth positions (rad/s^2, or m/s^2)")
    head = {"joint": "joint", "cutoff": "cutoff (Hz)", "rms": "rms", "noise": "noise"}
    cells = [[_cell(row[key]) for key in head] for row in facts["accelerations"]]
    show.table(list(head.values()), cells, right=list(head.values())[1:])
    show.written({"cleaned log": output, "plot": plot})
    if not output:
        show.line("To keep the cleaned log, give --output FILE.csv, FILE.npz or FILE.parquet.")


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else f"{value:.4g}"
