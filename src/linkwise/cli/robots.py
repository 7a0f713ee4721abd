"""`linkwise robots`: the robots that come along."""

from __future__ import annotations

import click

from linkwise.cli import show
from linkwise.cli.arguments import json_option


@click.command(short_help="List the robots that come with Linkwise.")
@json_option
def robots(as_json: bool) -> None:
    """List the robots that come with Linkwise; a command takes their names for ROBOT.

    \b
    Examples:
      linkwise robots
      linkwise info puma560
      linkwise convert stanford stanford.urdf
      linkwise convert gough_stewart hexapod.toml
    """
    import linkwise as lw

    every = lw.list_robots()
    if as_json:
        show.as_json(every)
        return
    show.table(("name", "what it is"), every.items())
