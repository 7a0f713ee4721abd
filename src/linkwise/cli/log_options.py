"""Options by which commands read files of measurements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from linkwise.motion.log import Log
    from linkwise.robot.robot import Robot

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


OPTIONS = (
    click.option(
        "--column",
        "columns",
        multiple=True,
        metavar="PATTERN=CHANNEL",
        help="What a column is: 'actual_q_*=q'. * runs over the joints; 'q7=none' leaves one out. May be repeated. For"
        " a file without a header all channels in their order: t,q,qd,tau; '...' at the end leaves the rest out.",
    ),
    click.option(
        "--unit",
        "units",
        multiple=True,
        metavar="CHANNEL=UNIT",
        help="The unit of a channel: 'q=deg', 'qd=rpm', 'current=mA', 't=ns', or a factor. May be repeated.",
    ),
    click.option("--counts", type=float, help="Ticks in a turn, where a unit is ticks."),
    click.option(
        "--gain",
        "gains",
        multiple=True,
        metavar="DRIVE=GAIN",
        help="Torque by current in N m/A, of one drive, or of all: '*=1.2'. May be repeated.",
    ),
    click.option("--rate", type=float, metavar="HZ", help="Samples a second, where the file has no times."),
    click.option("--gap", type=float, metavar="S", help="The longest pause that is filled."),
)


def log_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What `read_files` takes, as options of a command."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def read_files(
    files: Sequence[ChannelFile], robot: Robot | None, columns: Sequence[str], units: Sequence[str],
    gains: Sequence[str], **options: Any,
) -> Log:  # fmt: skip
    """The log in these files, by the options of a command."""
    from linkwise.motion import read_log

    named = _columns(columns)
    unit = {k: _number(v) for k, v in (_pair(u, "--unit") for u in units)}
    return read_log(_source(files), robot, columns=named, units=unit, gains=_gains(gains), **options)


def _columns(given: Sequence[str]) -> Any:
    """Which column is what, by pattern, or the channels in their order for a file without a header."""
    if len(given) == 1 and "=" not in given[0] and "," in given[0]:
        return [name.strip() for name in given[0].split(",")]
    pairs = dict(_pair(c, "--column") for c in given)
    return {pattern: None if target == "none" else target for pattern, target in pairs.items()} or None


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
