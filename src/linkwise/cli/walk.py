"""`linkwise walk`: how a person walks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linkwise.cli import show
from linkwise.cli.arguments import INTERRUPTED, OutputFile, json_option
from linkwise.cli.simulate import Setting, SettingType, setting

if TYPE_CHECKING:
    from linkwise.gait.person import Person
    from linkwise.gait.result import Walk

POSITIVE = click.FloatRange(min=0.0, min_open=True)
PICTURE = OutputFile(".png", ".svg", ".pdf")
OPENSIM = OutputFile(".mot", ".sto")


@click.command(short_help="Predict how a person walks.")
@click.option("--speed", type=POSITIVE, default=1.2, show_default=True, help="m/s.")
@click.option("--step", type=POSITIVE, help="Length of a step, m; by speed and height if not given.")
@click.option("--mass", type=POSITIVE, default=73.0, show_default=True, help="Of the body, kg.")
@click.option("--height", type=POSITIVE, default=1.741, show_default=True, help="m.")
@click.option("--sex", type=click.Choice(["male", "female"]), default="male", show_default=True)
@click.option("--backpack", type=POSITIVE, help="A load on the back, kg.")
@setting("--hand-load", "hands", SettingType("SIDE=KG", "r=5", 1), "A load in a hand, r or l, kg.")
@setting("--limit", "limits", SettingType("JOINT=TORQUE", "ankle_l=60", 1), "Strength of a joint, N m.")
@click.option("--freeze", "frozen", metavar="JOINT", multiple=True, help="A joint that stands still. May be repeated.")
@click.option("--without", metavar="KIND", multiple=True, help="Constraints to leave out, such as arm_leg.")
@setting("--soft", "soft", SettingType("KIND=WEIGHT", "arm_leg=10", 1), "Constraints that may be broken, at a price.")
@click.option("--smooth/--coarse", default=True, show_default=True, help="8 control points and periodic accelerations.")
@click.option("--solver", type=click.Choice(["ipopt", "uno", "scipy"]), help="Ipopt where it is installed, else scipy.")
@click.option("--time-limit", type=POSITIVE, help="Seconds after which to stop.")
@click.option("--plot", type=PICTURE, help="Where to draw curves over the stride: .png, .svg or .pdf.")
@click.option("--film", type=PICTURE, help="Where to draw the figure at instants of the stride.")
@click.option("--html", type=OutputFile(".html"), help="Where to write the moving figure, one file.")
@click.option("--motion", type=OPENSIM, help="Where to write coordinates for OpenSim: .mot or .sto.")
@click.option("--table", type=OutputFile(".csv", ".npz"), help="Where to write all curves as columns: .csv or .npz.")
@click.option("--ground", type=OPENSIM, help="Where to write ground reactions for OpenSim.")
@json_option
def walk(
    speed: float, step: float | None, without: tuple[str, ...], soft: tuple[Setting, ...], smooth: bool,
    solver: str | None, time_limit: float | None, plot: Path | None, film: Path | None, html: Path | None,
    motion: Path | None, ground: Path | None, table: Path | None, as_json: bool, **someone: Any,
) -> int:  # fmt: skip
    """Predict how a person walks: the stride of least effort, with ground reactions and forces through joints.

    The skeleton has 55 degrees of freedom and the proportions of de Leva (1996). Where left and right differ, by a
    limit or a load of one side, a whole stride is sought instead of one step, which takes longer.

    The first prediction on a machine compiles for some seconds. Ctrl-C keeps the best motion so far. Exit code 1 means
    that no motion was found that keeps all constraints; those that are not kept are listed.

    \b
    Examples:
      linkwise walk --plot curves.png --film film.png
      linkwise walk --speed 1.4 --mass 60 --height 1.65 --sex female --html walk.html
      linkwise walk --speed 1.4 --backpack 15 --limit ankle_l=60 --table stride.csv
    """
    from linkwise.gait.opensim import write_ground, write_motion
    from linkwise.gait.walk import walk as predict

    result = predict(
        _person(**someone), speed, step, solver=solver, smooth=smooth, without=without,
        soft={kind: weight for kind, (weight,) in soft}, time_limit=time_limit,
    )  # fmt: skip
    stride = result.stride()
    writers: dict[str, tuple[Path | None, Callable[[Path], None]]] = {
        "curves": (plot, result.plot),
        "film strip": (film, result.film_strip),
        "animation": (html, result.animate),
        "motion": (motion, lambda path: write_motion(stride, path)),
        "ground reactions": (ground, lambda path: write_ground(stride, path)),
        "table": (table, stride.save),
    }
    files = {what: path for what, (path, _) in writers.items() if path}
    for path, write in writers.values():
        if path:
            write(path)
    if as_json:
        show.as_json({**_facts(result), "files": {k: str(v) for k, v in files.items()}})
    else:
        _print(result, files)
    return INTERRUPTED if result.status == "interrupted" else 0 if result.converged else 1


def _person(
    mass: float, height: float, sex: str, backpack: float | None, hands: tuple[Setting, ...],
    limits: tuple[Setting, ...], frozen: tuple[str, ...],
) -> Person:  # fmt: skip
    from linkwise.gait.joints import FROZEN
    from linkwise.gait.person import Person

    person = Person(mass, height, sex, limits={k: v[0] for k, v in limits}, frozen=(*FROZEN, *frozen))
    if backpack:
        person = person.with_backpack(backpack)
    for side, (load,) in hands:
        person = person.with_hand_load(load, side)
    return person


def _facts(result: Walk) -> dict[str, Any]:
    from linkwise.gait.norms import bands, norms

    seen = result.audit()
    return {
        "status": result.status,
        "speed": result.problem.speed,
        "step": result.problem.step,
        "steps": result.problem.steps,
        "mass": result.problem.person.total_mass,
        "effort": result.effort,
        "variables": result.size[0],
        "constraints": result.size[1],
        "active": result.active,
        "solves": [p._asdict() for p in result.phases],
        "not kept": [w._asdict() for w in result.worst()],
        "audit": {k: getattr(seen, k) for k in seen.__dataclass_fields__},
        "features": {side: result.features(side) for side in "rl"},
        "compared": {side: {k: m._asdict() for k, m in result.compared(side).items()} for side in "rl"},
        "published": {k: {"low": n.low, "high": n.high} for k, n in norms().items()},
        "sources": {b.short: b.source for b in bands().values()},
    }


def _print(result: Walk, files: dict[str, Path]) -> None:
    seconds = sum(p.seconds for p in result.phases)
    iterations = " + ".join(str(p.iterations) for p in result.phases)
    n, m = result.size
    click.echo(f"{result.status}: {result.problem.speed:g} m/s in steps of {result.problem.step:.3g} m, "
               f"{result.problem.person.total_mass:g} kg, effort {result.effort:.4f}")  # fmt: skip
    click.echo(
        f"{n} variables, {m} constraints, {result.active} of them active; {iterations} iterations in {seconds:.1f} s"
    )
    for w in result.worst():
        when = f" in the phase {w.phase!r}" if w.phase else ""
        click.secho(f"not kept: {w.kind} {w.name}{when} at {100.0 * w.s:.0f} %, by {w.beyond:.2g}", fg="red")
    _print_published(result)
    seen = result.audit()
    click.echo(f"between grid points: contacts drift {1e3 * seen.drift:.1f} mm and slip {seen.slip:.3f} m/s, "
               f"zero-moment point {1e3 * max(0.0, seen.zmp):.1f} mm outside")  # fmt: skip
    for what, path in files.items():
        click.echo(f"{what} in {path}")


def _print_published(result: Walk) -> None:
    """Extremes and curves of both legs beside what is published."""
    from linkwise.gait.features import TITLES
    from linkwise.gait.norms import norms, sources

    show.title("Extremes (degrees, and body weights)")
    known, sides = norms(), [result.features(side) for side in "rl"]
    rows: list[tuple[str, ...]] = [
        (key.replace("_", " "), *(f"{s[key]:.3g}" for s in sides), known[key].text if key in known else "")
        for key in sides[0]
    ]
    show.table(("", "right", "left", "published"), rows, right=("right", "left", "published"))
    show.title("Curves (share of the stride within the published band; rms distance from its mean)")
    matches = [result.compared(side) for side in "rl"]
    rows = []
    for name in dict.fromkeys(name for found in matches for name in found):
        pairs = [found.get(name) for found in matches]
        cells = [(f"{100.0 * m.inside:.0f} %", f"{m.rms:.2g}") if m else ("", "") for m in pairs]
        rows.append((TITLES[name], *(cell for pair in cells for cell in pair)))
    head = ("", "right", "rms, right", "left", "rms, left")
    show.table(head, rows, right=head[1:])
    click.echo()
    click.echo("published, mean and one standard deviation to each side:")
    for line in sources():
        click.echo(f"  {line}")
