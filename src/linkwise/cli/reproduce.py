"""`linkwise reproduce`: the experiments of the sources, repeated into a report."""

from __future__ import annotations

import time
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from linkwise.cli import show
from linkwise.cli.arguments import OutputFile, ParamType, json_option

REPORT = Path("report.html")


class NameType(ParamType):
    """The name of an experiment; stays a string."""

    name = "name"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from linkwise.report.experiments import EXPERIMENTS

        return [CompletionItem(n) for n in EXPERIMENTS if n.startswith(incomplete)]


@click.command(short_help="Repeat the experiments of the sources.")
@click.argument("names", nargs=-1, type=NameType(), metavar="[NAME]...")
@click.option(
    "--output",
    "-o",
    type=OutputFile(".html", ".htm"),
    help=f"Where to write the report.  [default: {REPORT}, none with --json]",
)
@click.option("--list", "only_list", is_flag=True, help="List the experiments and what each shows; run nothing.")
@json_option
def reproduce(names: tuple[str, ...], output: Path | None, only_list: bool, as_json: bool) -> int:
    """Repeat the experiments of the sources, all or those named, and write one page of HTML that needs nothing else.

    It holds tables of what is published and what we find, plots, and what had to be assumed. Its first section is the
    errata: the error that each misprinted equation makes, computed. The exit code is 1 when a result is not what it
    should be.

    \b
    Examples:
      linkwise reproduce
      linkwise reproduce stanford --output stanford.html
      linkwise reproduce errata --json
      linkwise reproduce --list
    """
    from linkwise.report.experiments import about, check_names, run

    if only_list:
        listed = {name: about(name) for name in check_names(names)}
        if as_json:
            show.as_json(listed)
        else:
            show.table(("name", "what it shows"), listed.items())
        return 0
    found = []
    for name in check_names(names):
        start = time.perf_counter()
        found.append(run(name))
        if not as_json:
            mark = click.style("agrees", fg="green") if found[-1].agrees else click.style("differs", fg="red")
            click.echo(f"{name}: {mark}. {found[-1].finding} ({time.perf_counter() - start:.1f} s)")
    if output or not as_json:
        from linkwise.report.html import write

        write(found, output or REPORT)
    if as_json:
        show.as_json([experiment.as_data() for experiment in found])
    else:
        show.line(f"report in {(output or REPORT).resolve()}")
    return 0 if all(experiment.agrees for experiment in found) else 1
