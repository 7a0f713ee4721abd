"""`linkwise show`: a robot in a live page, to slide, drag and push."""

from __future__ import annotations

import math
from typing import Any

import click

from linkwise.cli.arguments import load, robot_argument, robot_options
from linkwise.cli.show import line


@click.command(short_help="Show a robot in a live page.")
@robot_argument
@click.argument("motion", type=click.Path(exists=True, dir_okay=False), required=False)
@robot_options
@click.option("--tool", metavar="FRAME", help="A frame or link to drag; the joints follow.")
@click.option("--simulate", is_flag=True, help="Let the robot move by itself; pull its links with the mouse.")
@click.option("--speed", type=click.FloatRange(min=0.0, min_open=True), default=1.0, show_default=True,
              help="Of the motion or the simulation; 1 is real time.")  # fmt: skip
@click.option("--time", "seconds", type=click.FloatRange(min=0.0, min_open=True), help="End after so many seconds.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Of the server; any that is free if not given.")
@click.option("--no-meshes", is_flag=True, help="Draw shapes made from joints and links in place of meshes.")
@click.option("--no-browser", is_flag=True, help="Print the page's address without opening it.")
def show(
    robot: str, motion: str | None, tool: str | None, simulate: bool, speed: float, seconds: float | None, port: int,
    no_meshes: bool, no_browser: bool, **options: Any,
) -> None:  # fmt: skip
    """Show a robot in a page of the browser that stays alive, until Ctrl-C or until the page is closed.

    MOTION is a table of positions (.csv, .npz, .parquet), which is played. The server listens on this machine alone
    (127.0.0.1). It needs the extra `view`: pip install "linkwise[view]".

    \b
    Examples:
      linkwise show arm.urdf --tool tool               drag the tool, move sliders
      linkwise show arm.urdf swing.csv --speed 0.5     play a motion
      linkwise show snake --simulate                   watch it swing, and pull it
    """
    import linkwise as lw

    if motion and simulate:
        raise click.UsageError("--simulate: expected no MOTION beside it")
    model = load(robot, **options)
    with lw.show(model, tool=tool, meshes=not no_meshes, port=port, open_browser=not no_browser) as shown:
        line(f"page at {shown.address}; Ctrl-C ends it")
        for note in shown.scene.notes:
            line(note)
        if simulate:
            shown.simulate(speed=speed, duration=seconds and seconds * speed)
            return
        if motion:
            shown.play(motion, speed)
        shown.wait(seconds or math.inf)
