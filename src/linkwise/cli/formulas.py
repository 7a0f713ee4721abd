"""`linkwise formulas`: the model of a robot in symbols."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from linkwise.cli import show
from linkwise.cli.arguments import json_option, load, robot_argument, robot_options

if TYPE_CHECKING:
    from linkwise.kernel.symbolic import Symbolic

FUNCTIONS = (
    "mass_matrix", "coriolis_matrix", "gravity_forces", "bias_forces", "inverse_dynamics", "forward_dynamics",
    "kinetic_energy", "potential_energy", "joint_wrenches", "regressor", "centre_of_mass", "poses", "pose", "jacobian",
    "jacobian_dot", "velocity",
)  # fmt: skip


@click.command(short_help="Write a robot's equations in symbols.")
@robot_argument
@click.argument("function", type=click.Choice(FUNCTIONS))
@click.option("--frame", help="The frame or link of pose, jacobian, jacobian_dot and velocity.")
@click.option("--latex", "form", flag_value="latex", help="Write LaTeX.")
@click.option("--listing", "form", flag_value="listing", help="Write one assignment a line, as the kernel computes.")
@click.option(
    "--symbols",
    default="all",
    show_default=True,
    metavar="NAMES",
    help="Which numbers become symbols: all, none, or names separated by commas, as mass,com,hand.inertia.",
)
@click.option("--names", is_flag=True, help="Call symbols by links and joints, m_upper, instead of by numbers, m_1.")
@robot_options
@json_option
def formulas(
    robot: str, function: str, frame: str | None, form: str | None, symbols: str, names: bool, as_json: bool,
    **options: Any,
) -> None:  # fmt: skip
    """Write a robot's equations in symbols: masses m, centres c, inertias I, lengths l, gravity g, positions q.

    Without --latex and --listing, each entry that is not zero has a line as Python writes it, and below them stands
    which number of the robot each symbol is. Formulas need SymPy, a listing does not.

    \b
    Examples:
      linkwise formulas rr mass_matrix
      linkwise formulas rr mass_matrix --latex
      linkwise formulas scara inverse_dynamics --listing
      linkwise formulas stanford gravity_forces --symbols mass,gravity
      linkwise formulas arm.urdf jacobian --frame tool --symbols none
      linkwise formulas arm.urdf mass_matrix --lock turn --no-friction --json
    """
    import linkwise as lw

    model = load(robot, **options)
    algorithm = getattr(lw.algorithms, function)
    if bool(frame) != ("frame" in algorithm.static):
        raise click.UsageError(f"--frame: expected {'none for' if frame else 'the frame or link of'} {function}")
    chosen: Any = {"all": True, "none": False}.get(symbols, [name.strip() for name in symbols.split(",")])
    static: dict[str, Any] = {"frame": frame} if frame else {}
    found = lw.compile(model, algorithm, **static).symbolic(chosen, names=names)
    if as_json:
        show.as_json(_facts(found, model.name, form))
    elif form:
        click.echo((found.latex() if form == "latex" else found.listing()).rstrip("\n"))
    else:
        click.echo(found.text().rstrip("\n"))
        if found.numbers:
            show.line()
            rows = [(n.symbol, n.meaning, f"{n.value:g}") for n in found.numbers]
            show.table(("symbol", "number of the robot", "value"), rows, right=["value"])


def _facts(found: Symbolic, robot: str, form: str | None) -> dict[str, Any]:
    """What was asked for, and what its symbols are."""
    text = {"latex": found.latex, "listing": found.listing}.get(form or "", found.text)()
    symbols = {n.symbol: {"meaning": n.meaning, "value": n.value} for n in found.numbers}
    return {"robot": robot, form or "formulas": text, "symbols": symbols}
