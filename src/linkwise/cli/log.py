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
from linkwise.cli.log_options import ChannelFile, LogFile, log_options, read_files

if TYPE_CHECKING:
    from linkwise.motion.log import Log
    from linkwise.motion.smoothing import Smoothed


@click.command(cls=Command, short_help="Show a file of measurements, and clean it.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=LogFile())
@click.option("--robot", type=ROBOT, help="Whose joints the columns belong to.")
@log_options
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
    from linkwise.motion import smooth
    from linkwise.motion.log_plot import log_figure

    model = load(robot, **options) if robot else None
    found = read_files(files, model, columns, units, gains, counts=counts, rate=rate, gap=gap)
    smoothed = smooth(found, cutoff)
    writers = {
        "output": (output, found.save),
        "plot": (plot, lambda path: save_figure(log_figure(found, cutoff), path)),
    }
    answer(writers, _facts(found, smoothed), _print, as_json)


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
