"""`linkwise convert`: another form of the same robot."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linkwise.cli import show
from linkwise.cli.arguments import (
    Command,
    OutputFile,
    json_option,
    load,
    robot_argument,
    robot_options,
)

if TYPE_CHECKING:
    from linkwise.formats.dh_writer import Table

COLUMNS = {
    "dh": {"alpha": "alpha (rad)", "a": "a (m)", "theta": "theta (rad)", "d": "d (m)"},
    "khalil": {"antecedent": "antecedent", "sigma": "sigma", "gamma": "gamma (rad)", "b": "b (m)",
               "alpha": "alpha (rad)", "d": "d (m)", "theta": "theta (rad)", "r": "r (m)"},
}  # fmt: skip


@click.command(cls=Command, short_help="Write a robot in another format, or as a table.")
@robot_argument
@click.argument("out", type=OutputFile(".urdf", ".toml"), required=False)
@click.option("--dh", "form", flag_value="dh", help="Print the modified Denavit-Hartenberg table.")
@click.option("--khalil", "form", flag_value="khalil", help="Print Khalil's table of a chain or tree.")
@robot_options
@json_option
def convert(robot: str, out: Path | None, form: str | None, as_json: bool, **options: Any) -> None:
    """Write a robot in another format, or print it as a table, and say what the format cannot store.

    OUT ends in .toml, which stores everything, or in .urdf.

    \b
    Examples:
      linkwise convert arm.urdf arm.toml
      linkwise convert stanford stanford.urdf
      linkwise convert arm.urdf --dh
      linkwise convert hand.urdf --khalil --lock thumb
      linkwise convert arm.urdf --dh --json
      linkwise convert gough_stewart hexapod.toml
    """
    import linkwise as lw

    if not out and not form:
        raise click.UsageError("expected OUT.urdf, OUT.toml, --dh or --khalil, got none of them")
    model = load(robot, **options)
    facts: dict[str, Any] = {"robot": model.name}
    table = None if not form else lw.dh.to_modified_dh(model) if form == "dh" else lw.dh.to_khalil(model)
    lost = lw.save(model, out) if out else ()
    if table and form:
        facts |= _facts(table)
        if not as_json:
            _print(table, form, model.name)
    if out:
        facts |= {"output": str(out), "lost": list(lost)}
        if not as_json:
            show.line(f"{model.name}: written to {out}" + ("" if lost else ", nothing lost"))
            _print_lost(lost, f"a {out.suffix} file")
    if as_json:
        show.as_json(facts)


def _facts(table: Table) -> dict[str, Any]:
    return {
        "rows": [_finite(dataclasses.asdict(row)) for row in table.rows],
        "base": [list(r) for r in table.base.matrix()],
        "tool": [list(r) for r in table.tool.matrix()],
        "gravity": list(table.gravity),
        "lost": list(table.lost),
    }


def _finite(value: Any) -> Any:
    """Data that JSON can say: infinite numbers are None."""
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(v) for v in value]
    return None if isinstance(value, float) and abs(value) == float("inf") else value


def _print(table: Table, form: str, name: str) -> None:
    columns = COLUMNS[form]
    if form == "dh" and any(row.antecedent is not None for row in table.rows):
        columns = {"antecedent": "antecedent"} | columns
    title = "modified DH parameters" if form == "dh" else "Khalil's parameters"
    show.line(f"{name}: {title}; a joint's variable is added to theta or {'d' if form == 'dh' else 'r'}", bold=True)
    rows = []
    for k, row in enumerate(table.rows, start=1):
        kind = getattr(row, "kind", None) or ("revolute", "prismatic", "fixed")[row.sigma]
        rows.append((str(k), row.name, kind, *(_shown(row, key, k) for key in columns)))
    show.table(("row", "joint", "kind", *columns.values()), rows, right=list(columns.values()))
    for what, X in (
        ("frame 0 in the root's frame", table.base),
        ("the last link's frame in the last row's", table.tool),
    ):
        turn = [[round(x, 9) + 0.0 for x in r] for r in X.R]
        if turn != [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] or any(X.p):
            at = " ".join(_number(x) for x in X.p)
            axes = "; ".join(" ".join(_number(x) for x in r) for r in turn)
            show.line(f"{what}: at {at}, rotation rows {axes}")
    show.line(f"gravity in frame 0: {' '.join(_number(x) for x in table.gravity)}")
    _print_lost(table.lost, "a table")


def _shown(row: Any, key: str, k: int) -> str:
    """A cell of row k; without an antecedent it hangs on the row before."""
    value = getattr(row, key)
    return str(k - 1) if value is None else _number(value)


def _number(x: Any) -> str:
    return f"{x:.6g}" if isinstance(x, float) else str(x)


def _print_lost(lost: tuple[str, ...], what: str) -> None:
    if lost:
        show.line(f"What {what} does not carry:")
    for sentence in lost:
        show.line(f"  {sentence}")
