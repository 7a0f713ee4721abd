"""`linkwise robots`: the robots that come along."""

from __future__ import annotations

import click

from linkwise.cli import show
from linkwise.cli.arguments import json_option


@click.command(short_help="List the robots that come with Linkwise.")
@json_option
def robots(as_json: bool) -> None:
    """List the robots that come with Linkwise; their names stand wherever ROBOT does.

    \b
    Examples:
      linkwise robots
      linkwise info puma560
      linkwise convert stanford stanford.urdf
    """
    import linkwise as lw

    known = lw.list_robots()
    if as_json:
        show.as_json(known)
        return
    show.table(("name", "what it is"), known.items())
