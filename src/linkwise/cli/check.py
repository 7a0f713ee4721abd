"""`linkwise check`: diagnostics as an exit code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from linkwise.cli import show
from linkwise.cli.arguments import ROBOT, json_option, load, robot_options
from linkwise.errors import LinkwiseError, printable


@click.command(short_help="Check robot files, for continuous integration.")
@click.argument("robots", nargs=-1, required=True, metavar="ROBOT...", type=ROBOT)
@click.option("--strict", is_flag=True, help="Warnings count as problems too.")
@click.option("--quiet", "-q", is_flag=True, help="Print problems only.")
@robot_options
@json_option
def check(robots: tuple[str, ...], strict: bool, quiet: bool, as_json: bool, **options: Any) -> int:
    """Check robot files, for continuous integration: exit code 1 when one of them has a problem.

    A file that cannot be loaded is a problem, and so is an error among its diagnostics, such as an inertia that no
    rigid body has. Warnings are listed; with --strict they are problems.

    \b
    Examples:
      linkwise check arm.urdf
      linkwise check --strict --quiet robots/*.urdf
      linkwise check arm.urdf --base floating --json
    """
    reports = [_report(source, options) for source in robots]
    levels = ("error", "warning") if strict else ("error",)
    for report in reports:
        report["good"] = not any(d["level"] in levels for d in report["diagnostics"])
    if as_json:
        show.as_json(reports)
    else:
        for report in reports:
            _print(report, quiet, levels)
    bad = sum(not report["good"] for report in reports)
    if not as_json and len(reports) > 1 and not (quiet and not bad):
        show.line(f"{show.plural(len(reports), 'robot')}: {bad or 'none'} with problems")
    return 1 if bad else 0


def _report(source: str, options: dict[str, Any]) -> dict[str, Any]:
    if Path(source).suffix and not Path(source).exists():
        raise click.UsageError(f"there is no file {source!r}")
    try:
        found = [d._asdict() for d in load(source, **options).diagnostics]
    except LinkwiseError as error:
        found = [{"level": "error", "where": "file", "message": str(error)}]
    return {"robot": source, "diagnostics": found}


def _print(report: dict[str, Any], quiet: bool, levels: tuple[str, ...]) -> None:
    found, robot = report["diagnostics"], printable(report["robot"])
    if quiet:
        found = [d for d in found if d["level"] in levels]
    elif report["good"]:
        click.echo(f"{robot}: {click.style('good', fg='green')}" + (", with remarks" if found else ""))
    if not report["good"]:
        click.echo(f"{robot}: {click.style('problems', fg='red')}")
    colours = {"error": "red", "warning": "yellow"}
    for d in found:
        where = "" if d["where"] == "file" else f"{d['where']} "
        level = click.style(d["level"], fg=colours.get(d["level"]))
        click.echo(f"  {level}: {printable(where + d['message'])}")
