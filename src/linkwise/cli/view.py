"""`linkwise view`: a page that shows a robot and its motion."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from linkwise.cli import show
from linkwise.cli.arguments import (
    PAGE,
    Command,
    Setting,
    around,
    base_motion_option,
    load,
    robot_argument,
    robot_options,
)


@click.command(cls=Command, short_help="Show a robot, and its motion, in the browser.")
@robot_argument
@click.argument("motion", type=click.Path(dir_okay=False), required=False)
@click.option("--output", "-o", type=PAGE, help="Where to write the page: .html. Without it the browser opens.")
@click.option("--ghost", type=click.Path(dir_okay=False), metavar="MOTION", help="Another motion, drawn pale.")
@click.option("--wrenches", is_flag=True, help="Show force and moment through every joint as arrows.")
@click.option("--no-meshes", is_flag=True, help="Draw links from joints and lengths instead of their meshes.")
@click.option("--triangles", type=click.IntRange(1), help="Of all meshes together; beyond, they are made coarser.")
@click.option("--title", help="In place of the robot's name.")
@base_motion_option
@robot_options
def view(
    robot: str, motion: str | None, output: Path | None, ghost: str | None, wrenches: bool, no_meshes: bool,
    triangles: int | None, title: str | None, shakes: Sequence[Setting], **options: Any,
) -> None:  # fmt: skip
    """Write a page of one HTML file that shows a robot, and open it in the browser unless --output names it.

    MOTION is a .csv, .npz or .parquet file, as `simulate`, `plan` and `torque` write them: columns `t` and `q.elbow`,
    perhaps `qd.elbow`, `tau.elbow` and others. The page needs no network and no server: it can be sent by mail. It has
    a timeline, sliders for the joints, plots, frames, centres of mass, ellipsoids of inertia, and arrows for torques.

    Meshes (.stl, .dae, .obj, ...) need the packages of `pip install "linkwise[view]"`. Where they are not found, and
    for robots without shapes, links are drawn from their joints.

    \b
    Examples:
      linkwise view arm.urdf
      linkwise view arm.urdf -o arm.html
      linkwise view arm.urdf fall.npz --wrenches -o fall.html
      linkwise view scara fast.csv --ghost slow.csv
    """
    import linkwise.view.page as page
    from linkwise.view.payload import payload
    from linkwise.view.scene import TRIANGLES

    model = load(robot, **options)
    made = payload(
        model, motion, ghost=ghost, wrenches=wrenches, meshes=not no_meshes, triangles=triangles or TRIANGLES,
        title=title, **around(shakes, ()),
    )  # fmt: skip
    file = page.written(made, output)
    for note in made.notes:
        show.line(f"note: {note}")
    show.line(f"page in {file}")
