"""`linkwise bench`: times beside those of other libraries."""

from __future__ import annotations

from typing import Any

import click

from linkwise.cli import show
from linkwise.cli.arguments import ROBOT, json_option, load, robot_options

DEFAULT = "puma560"


@click.command(short_help="Time inverse dynamics beside other libraries.")
@click.argument("robot", type=ROBOT, default=DEFAULT)
@click.option("--rows", type=click.IntRange(1, 10_000_000), default=4096, show_default=True, help="States in a batch.")
@robot_options
@json_option
def bench(robot: str, rows: int, as_json: bool, **options: Any) -> None:
    """Time batched inverse dynamics beside Pinocchio and MuJoCo, whichever are installed, on one core.

    Friction is left out, because Pinocchio does not model it. Times are CPU time for a row, the median of many rounds
    taken in turns; the difference is the largest of the batch, relative to the largest torque.

    \b
    Examples:
      linkwise bench
      linkwise bench arm.urdf --rows 100000
      linkwise bench panda.urdf --lock panda_finger_joint1
    """
    from linkwise.peers.times import measure

    result = measure(load(robot, **options), rows)
    if as_json:
        show.as_json(result)
        return
    count = result["operations"]
    kinds = ", ".join(f"{count[k]} {k}" for k in ("mul", "add", "sincos") if count.get(k))
    show.line(f"{result['robot']}: inverse dynamics, nv = {result['nv']}, batch of {result['batch']}", bold=True)
    show.line(f"one evaluation: {kinds or 'nothing to compute'}")
    head = ("way", "ns a row", "best", "times slower", "difference")
    lines = []
    for way, time in result["ns a row"].items():
        ratio, difference = result["ratio"].get(way), result["difference"].get(way)
        lines.append((
            way, f"{time['median']:.1f}", f"{time['best']:.1f}",
            f"{ratio['median']:.1f}" if ratio else "", "" if difference is None else f"{difference:.1e}",
        ))  # fmt: skip
    show.table(head, lines, right=head[1:])
    for peer, reason in result["left out"].items():
        show.line(f"without {peer}: {reason}")
