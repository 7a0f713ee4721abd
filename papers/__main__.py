"""Repeat the experiments of the sources into one page of HTML: python -m papers [NAME ...], from the repository."""

from __future__ import annotations

import time
from pathlib import Path

import click

from linkwise.cli import show
from linkwise.cli.arguments import OutputFile, json_option
from linkwise.errors import UnknownNameError
from papers.experiments import about, check_names, run
from papers.html import write

REPORT = Path("report.html")


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--output",
    "-o",
    type=OutputFile(".html", ".htm"),
    help=f"Where to write the report.  [default: {REPORT}, none with --json]",
)
@click.option("--list", "only_list", is_flag=True, help="List the experiments and what each shows; run nothing.")
@json_option
def papers(names: tuple[str, ...], output: Path | None, only_list: bool, as_json: bool) -> None:
    """Repeat the experiments of the sources, all or those named, and write one page of HTML that needs nothing else.

    It holds tables of what is published and what we find, plots, and what had to be assumed. Its first section is the
    errata: the error that each misprinted equation makes, computed. The exit code is 1 when a result is not what it
    should be.

    \b
    Examples:
      python -m papers
      python -m papers stanford --output stanford.html
      python -m papers errata --json
      python -m papers --list
    """
    try:
        chosen = check_names(names)
    except UnknownNameError as error:
        raise click.UsageError(str(error)) from error
    if only_list:
        listed = {name: about(name) for name in chosen}
        if as_json:
            show.as_json(listed)
        else:
            show.table(("name", "what it shows"), listed.items())
        return
    found = []
    for name in chosen:
        start = time.perf_counter()
        found.append(run(name))
        if not as_json:
            mark = click.style("agrees", fg="green") if found[-1].agrees else click.style("differs", fg="red")
            click.echo(f"{name}: {mark}. {found[-1].finding} ({time.perf_counter() - start:.1f} s)")
    if output or not as_json:
        write(found, output or REPORT)
    if as_json:
        show.as_json([experiment.as_data() for experiment in found])
    else:
        show.line(f"report in {(output or REPORT).resolve()}")
    if not all(experiment.agrees for experiment in found):
        raise SystemExit(1)


if __name__ == "__main__":
    papers(prog_name="python -m papers")
