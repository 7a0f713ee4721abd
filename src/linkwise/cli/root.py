"""The command `linkwise`: its commands, its errors, its exit codes."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import click

from linkwise._version import __version__
from linkwise.cli.arguments import INTERRUPTED
from linkwise.cli.bench import bench
from linkwise.cli.check import check
from linkwise.cli.completion import completion
from linkwise.cli.convert import convert
from linkwise.cli.excite import excite
from linkwise.cli.export import export
from linkwise.cli.formulas import formulas
from linkwise.cli.identify import identify
from linkwise.cli.info import info
from linkwise.cli.live import show
from linkwise.cli.log import log
from linkwise.cli.plan import plan
from linkwise.cli.robots import robots
from linkwise.cli.simulate import simulate
from linkwise.cli.streams import guard, unwritten
from linkwise.cli.torque import torque
from linkwise.cli.view import view
from linkwise.cli.walk import walk
from linkwise.errors import LinkwiseError, printable


class Root(click.Group):
    """A group whose errors are one line, and whose commands return their exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run, and leave: 0 fine, 1 something was found, 2 wrong usage or invalid input."""
        try:
            code = super().main(*args, **{**kwargs, "prog_name": "linkwise", "standalone_mode": False})
            sys.stdout.flush()
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            code = error.exit_code
        except click.UsageError as error:
            command = error.ctx.command_path if error.ctx else "linkwise"
            message = error.format_message().rstrip(".")
            end = "" if message.endswith("?") else "."
            code = fail(f"{message[:1].lower()}{message[1:]}{end} See `{command} --help`.")
        except click.ClickException as error:
            code = fail(error.format_message())
        except LinkwiseError as error:
            code = fail(str(error))
        except (click.Abort, KeyboardInterrupt):
            click.echo("linkwise: interrupted", err=True)
            code = INTERRUPTED
        except OSError as error:
            code = fail(": ".join(str(x) for x in (error.filename, error.strerror or error) if x))
        except MemoryError:
            code = fail("expected less data, got more than fits into memory.")
        if reason := unwritten():
            code = fail(f"standard output: expected that all can be written, got: {reason}.")
        sys.exit(code if isinstance(code, int) else 0)


def fail(message: str) -> int:
    """Say in one line what is wrong; the exit code of wrong usage."""
    click.echo(f"linkwise: error: {_line(message)}", err=True)
    return 2


def _line(message: object) -> str:
    return printable(" ".join(str(message).split()))


def run() -> None:
    """The command line of a process, where warnings too are one line, and nothing stops the output."""
    warnings.showwarning = lambda message, *_, **__: click.echo(f"linkwise: warning: {_line(message)}", err=True)
    guard()
    cli.main()


@click.group(cls=Root, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="linkwise %(version)s")
def cli() -> None:
    """Robot dynamics, link by link.

    ROBOT is a file (.urdf, .toml, .xml or .mjcf) or the name of a bundled robot (`linkwise robots`).

    \b
    Examples:
      linkwise info arm.urdf                           what is in this robot?
      linkwise torque arm.urdf swing.csv --plot a.png  torques along a motion
      linkwise log measured.csv --plot log.png         what did the sensors measure?
      linkwise identify arm.urdf measured.csv          its inertias and friction from a log
      linkwise simulate arm.urdf --plot fall.png       how does it move, left alone?
      linkwise plan rr fast.toml --plot fast.png       how should it move?
      linkwise excite arm.urdf -o excite.csv           which motion tells most about it?
      linkwise walk --speed 1.4 --film walk.png        how does a person walk?
      linkwise view arm.urdf swing.csv                 what does it look like?
      linkwise show arm.urdf --simulate                pull it with the mouse
      linkwise formulas rr mass_matrix --latex         its equations in symbols
      linkwise export arm.urdf inverse_dynamics        C for its controller
      linkwise convert arm.urdf arm.toml               another form of the same robot
      linkwise check robots/*.urdf                     for CI: exit code 1 when something is wrong

    \b
    Exit codes: 0 fine, 1 problems found or limits exceeded, 2 wrong usage or invalid input, 130 Ctrl-C.
    """


@click.command(hidden=True, context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1)
def reproduce(arguments: tuple[str, ...]) -> None:
    """Say where the experiments of the sources are now."""
    raise LinkwiseError("`linkwise reproduce` has left the command line. Run `make papers` in the repository.")


COMMANDS = (
    info, torque, log, identify, simulate, plan, excite, walk, view, show, formulas, export, check, convert, robots,
    bench, completion, reproduce,
)  # fmt: skip
for command in COMMANDS:
    cli.add_command(command)
