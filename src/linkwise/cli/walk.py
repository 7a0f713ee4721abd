"""`linkwise walk`: how a person walks."""

from __future__ import annotations

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
@click.option("--smooth/--coarse", default=True, show_default=True, help="8 control points and periodic accelerations.")
@click.option("--solver", type=click.Choice(["ipopt", "uno", "scipy"]), help="Ipopt where it is installed, else scipy.")
@click.option("--time-limit", type=POSITIVE, help="Seconds after which to stop.")
@click.option("--plot", type=PICTURE, help="Where to draw curves over the stride: .png, .svg or .pdf.")
@click.option("--film", type=PICTURE, help="Where to draw the figure at instants of the stride.")
@click.option("--html", type=OutputFile(".html"), help="Where to write the moving figure, one file.")
@click.option("--motion", type=OPENSIM, help="Where to write coordinates for OpenSim: .mot or .sto.")
@click.option("--ground", type=OPENSIM, help="Where to write ground reactions for OpenSim.")
@json_option
def walk(
    speed: float, step: float | None, without: tuple[str, ...], smooth: bool, solver: str | None,
    time_limit: float | None, plot: Path | None, film: Path | None, html: Path | None, motion: Path | None,
    ground: Path | None, as_json: bool, **someone: Any,
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
      linkwise walk --backpack 15 --limit ankle_l=60 --json
    """
    from linkwise.gait.opensim import write_ground, write_motion
    from linkwise.gait.walk import walk as predict

    result = predict(
        _person(**someone), speed, step, solver=solver, smooth=smooth, without=without, time_limit=time_limit
    )
    files = {"curves": plot, "film strip": film, "animation": html, "motion": motion, "ground reactions": ground}
    writers = (result.plot, result.film_strip, result.animate)
    for write, path in zip(writers, (plot, film, html), strict=True):
        if path:
            write(path)
    if motion:
        write_motion(result.stride(), motion)
    if ground:
        write_ground(result.stride(), ground)
    if as_json:
        show.as_json({**_facts(result), "files": {k: str(v) for k, v in files.items() if v}})
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
    }


def _print(result: Walk, files: dict[str, Path | None]) -> None:
    from linkwise.gait.norms import NORMS, SOURCE

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
    show.title("Extremes (degrees, and body weights)")
    sides = [result.features(side) for side in "rl"]
    rows = []
    for key in sides[0]:
        known = NORMS[key].text if key in NORMS else ""
        rows.append((key.replace("_", " "), *(f"{s[key]:.3g}" for s in sides), known))
    show.table(("", "right", "left", "published"), rows, right=("right", "left", "published"))
    click.echo()
    click.echo(f"published: {SOURCE}")
    seen = result.audit()
    click.echo(f"between grid points: contacts drift {1e3 * seen.drift:.1f} mm and slip {seen.slip:.3f} m/s, "
               f"zero-moment point {1e3 * max(0.0, seen.zmp):.1f} mm outside")  # fmt: skip
    for what, path in files.items():
        if path:
            click.echo(f"{what} in {path}")
