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
        files = [(p, Path(path)) for p, path in given if path]
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


class Lock(NamedTuple):
    """A joint to fix, and where."""

    joint: str
    at: float


class LockType(ParamType):
    """JOINT or JOINT=VALUE."""

    name = "JOINT[=VALUE]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Lock:
        if isinstance(value, Lock):
            return value
        joint, equals, at = value.rpartition("=")
        if not equals:
            return Lock(value, 0.0)
        return Lock(joint, numbers(self, at, (1,), param, ctx)[0])


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


ROBOT = RobotType()

robot_argument = click.argument("robot", type=ROBOT)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")


def robot_options(function: F) -> F:
    """The options that say how a robot is loaded; their values go to `load`."""
    for option in (
        click.option("--lock", "locks", type=LockType(), metavar=LockType.name, multiple=True,
                     help="Fix a joint, at zero or at a value (rad or m). May be repeated."),
        click.option("--rigid", is_flag=True, help="Take elastic drives as rigid."),
        click.option("--no-friction", is_flag=True, help="Leave out friction and damping."),
        click.option("--side", type=click.Path(), metavar="FILE",
                     help="A TOML file that adds what the robot file does not say: drives, limits, frames."),
        click.option("--base", type=click.Choice(["fixed", "floating"]), default="fixed", show_default=True,
                     help="Whether the root link is the world or flies."),
    ):  # fmt: skip
        function = option(function)
    return function


def load(source: str, *, base: str, side: str | None, no_friction: bool, rigid: bool, locks: Sequence[Lock]) -> Robot:
    """The robot of a file or a name, with the options of `robot_options` applied."""
    import linkwise as lw

    robot = lw.load(source, base=base, side=side)
    if locks:
        names = [lock.joint for lock in locks]
        for name in names:
            robot.joint(name)
        robot = robot.lock(names, at=robot.opened().q({lock.joint: lock.at for lock in locks if lock.at}))
    if no_friction:
        robot = robot.without_friction()
    return robot.rigid() if rigid else robot
