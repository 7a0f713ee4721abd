"""Arguments that several commands share: robots, and what is done to them once they are loaded."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click
from click.shell_completion import CompletionItem

from linkwise.files import output

if TYPE_CHECKING:
    from linkwise.robot.robot import Robot

    ParamType = click.ParamType[Any]
else:
    ParamType = click.ParamType

INTERRUPTED = 130  # exit code of a command that Ctrl-C ended, as shells have it

F = TypeVar("F", bound=Callable[..., Any])


class RobotType(ParamType):
    """A robot file, or the name of a robot that comes with Linkwise; stays a string."""

    name = "robot"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        import linkwise as lw

        known = [CompletionItem(n, help=text) for n, text in lw.list_robots().items() if n.startswith(incomplete)]
        return [*known, CompletionItem(incomplete, type="file")]


class OutputFile(ParamType):
    """A file to be written, checked before any work is done: its suffix, and that its folder exists."""

    name = "file"

    def __init__(self, *suffixes: str) -> None:
        self.suffixes = suffixes

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        path = Path(value)
        if path.suffix.lower() not in self.suffixes:
            got = path.suffix or "no suffix"
            self.fail(f"{value!r}: expected a name that ends in {' or '.join(self.suffixes)}, got {got}.", param, ctx)
        if not path.parent.is_dir():
            self.fail(f"{value!r}: the folder {str(path.parent)!r} does not exist.", param, ctx)
        if path.is_dir():
            self.fail(f"{value!r} is a folder.", param, ctx)
        output(path)
        return path

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(incomplete, type="file")]


class Command(click.Command):
    """A command that writes over nothing that it reads, and each file once."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run it, unless an output is another file of the command line, by whatever name."""
        kinds = (OutputFile, RobotType, click.Path)
        given = [(p, ctx.params[p.name or ""]) for p in self.params if isinstance(p.type, kinds)]
        files = [(p, Path(x)) for p, path in given for x in (path if isinstance(path, tuple) else (path,)) if x]
        for k, (p, path) in enumerate(files):
            for other, there in files[:k]:
                if OutputFile in (type(p.type), type(other.type)) and _same(path, there):
                    remedy = "Give another name to write to."
                    message = f"expected another file than {str(there)!r} of {other.get_error_hint(ctx)}. {remedy}"
                    raise click.BadParameter(message, ctx, p)
        return super().invoke(ctx)


def _same(a: Path, b: Path) -> bool:
    """Whether two names are of one file, which may not exist yet."""
    return a.samefile(b) if a.exists() and b.exists() else os.path.realpath(a) == os.path.realpath(b)


def numbers(
    kind: ParamType, text: str, lengths: Sequence[int], param: click.Parameter | None, ctx: click.Context | None
) -> list[float]:
    """Numbers separated by commas, as many as one of `lengths`."""
    try:
        values = [float(x) for x in text.split(",")]
    except ValueError:
        values = []
    if len(values) not in lengths or not all(map(math.isfinite, values)):
        wanted = " or ".join(map(str, lengths))
        expected = "a number" if lengths == (1,) else f"{wanted} numbers separated by commas"
        kind.fail(f"expected {expected}, got {text!r}.", param, ctx)
    return values


class Setting(NamedTuple):
    """What is set, and its numbers."""

    name: str
    values: tuple[float, ...]


class SettingType(ParamType):
    """NAME=NUMBERS, as many as one of `lengths`, or NUMBERS@NAME by another `mark`.

    Args:
        name: how the option is written.
        example: of it.
        lengths: how many numbers there may be.
        mark: between name and numbers.
        alone: the numbers of a name that has none.
    """

    def __init__(self, name: str, example: str, *lengths: int, mark: str = "=", alone: tuple[float, ...] = ()) -> None:
        self.name, self.example, self.lengths, self.mark, self.alone = name, example, lengths, mark, alone

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Setting:
        if isinstance(value, Setting):
            return value
        if self.alone and self.mark not in value:
            return Setting(value, self.alone)
        name, mark, given = value.rpartition(self.mark) if self.mark == "=" else value.partition(self.mark)[::-1]
        if not mark or not name:
            self.fail(f"expected {self.name}, such as {self.example}, got {value!r}.", param, ctx)
        return Setting(name, tuple(numbers(self, given, self.lengths, param, ctx)))


def setting(flag: str, variable: str, kind: SettingType, text: str) -> Callable[[Any], Any]:
    """An option that may be repeated, once for each joint."""
    return click.option(flag, variable, type=kind, metavar=kind.name, multiple=True, help=f"{text} May be repeated.")


def once(flag: str, what: str, settings: Sequence[Setting]) -> dict[str, tuple[float, ...]]:
    """Numbers by name, each name once."""
    found: dict[str, tuple[float, ...]] = {}
    for name, values in settings:
        if name in found:
            raise click.UsageError(f"{flag}: expected each {what} once, got {name!r} twice")
        found[name] = values
    return found


ROBOT = RobotType()
PICTURE = OutputFile(".png", ".svg", ".pdf")
TABLE = OutputFile(".csv", ".npz", ".parquet")
PAGE = OutputFile(".html", ".htm")

robot_argument = click.argument("robot", type=ROBOT)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
plot_option = click.option("--plot", type=PICTURE, help="Where to draw a picture: .png, .svg or .pdf.")
output_option = click.option("--output", "-o", type=TABLE, help="Where to write all rows: .csv, .npz or .parquet.")


def robot_options(function: F) -> F:
    """The options that say how a robot is loaded; their values go to `load`."""
    for option in (
        setting("--payload", "payloads", SettingType("MASS[,x,y,z]@FRAME", "2.5@tool", 1, 4, mark="@"),
                "A mass (kg) welded to a frame or link, its centre in the frame's axes (m)."),
        setting("--lock", "locks", SettingType("JOINT[=VALUE]", "elbow=0.5", 1, alone=(0.0,)),
                "Fix a joint, at zero or at a value (rad or m)."),
        click.option("--rigid", is_flag=True, help="Take elastic drives as rigid."),
        click.option("--no-friction", is_flag=True, help="Leave out friction and damping."),
        click.option("--side", type=click.Path(), metavar="FILE",
                     help="A TOML file that adds drives, limits or frames to the robot file."),
        click.option("--base", type=click.Choice(["fixed", "floating"]), default="fixed", show_default=True,
                     help="Fix the root link to the world, or let it float."),
    ):  # fmt: skip
        function = option(function)
    return function


def load(
    source: str, *, base: str, side: str | None, no_friction: bool, rigid: bool, locks: Sequence[Setting],
    payloads: Sequence[Setting],
) -> Robot:  # fmt: skip
    """The robot of a file or a name, with the options of `robot_options` applied."""
    import linkwise as lw

    robot = lw.load(source, base=base, side=side)
    if locks:
        for lock in locks:
            robot.joint(lock.name)
        at = robot.opened().q({lock.name: lock.values[0] for lock in locks if lock.values[0]})
        robot = robot.lock([lock.name for lock in locks], at=at)
    if no_friction:
        robot = robot.without_friction()
    for k, (frame, (mass, *com)) in enumerate(payloads, start=1):
        name = "payload" if len(payloads) == 1 else f"payload{k}"
        robot = robot.with_payload(mass, com or (0.0, 0.0, 0.0), at=frame, name=name)
    return robot.rigid() if rigid else robot


WAYS = ("x", "y", "z", "roll", "pitch", "yaw")  # in which a base moves


base_motion_option = setting(
    "--base-motion",
    "shakes",
    SettingType("WAY=A,F[,PHASE]", "z=0.05,1.5", 2, 3),
    f"Move the base by A sin(2 pi F t + PHASE) in one of the ways {', '.join(WAYS)}: m or rad, Hz, rad.",
)


def surroundings(function: F) -> F:
    """The options that say what surrounds a robot; their values go to `around`."""
    for option in (
        base_motion_option,
        setting("--external", "externals",
                SettingType("FRAME=fx,fy,fz[,mx,my,mz]", "tool=0,0,-20,0,0,0", 3, 6),
                "A constant force (N) and moment (N m) of the environment on a frame or link, in its axes."),
    ):  # fmt: skip
        function = option(function)
    return function


def around(shakes: Sequence[Setting], externals: Sequence[Setting]) -> dict[str, Any]:
    """The arguments `external` and `base_motion` of the library; none for what does not surround the robot."""
    loads = {name: (*six, 0.0, 0.0, 0.0)[:6] for name, six in once("--external", "frame", externals).items()}
    waves = once("--base-motion", "way", shakes)
    if unknown := [way for way in waves if way not in WAYS]:
        raise click.UsageError(f"--base-motion: expected one of {', '.join(WAYS)}, got {unknown[0]!r}")

    def pose(t: Any) -> Any:
        from linkwise.scalar import sin
        from linkwise.spatial import Pose

        six = [0.0 * t] * len(WAYS)
        for way, (amplitude, frequency, *phase) in waves.items():
            six[WAYS.index(way)] = amplitude * sin(2.0 * math.pi * frequency * t + sum(phase))
        return Pose.of(six[:3], rpy=six[3:])

    return ({"external": loads} if loads else {}) | ({"base_motion": pose} if waves else {})
