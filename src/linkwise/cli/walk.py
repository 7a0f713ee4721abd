"""`linkwise walk`: how a person walks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linkwise.cli import show
from linkwise.cli.answers import Writers, written
from linkwise.cli.arguments import (
    INTERRUPTED,
    PICTURE,
    TABLE,
    Command,
    OutputFile,
    Setting,
    SettingType,
    json_option,
    setting,
)

if TYPE_CHECKING:
    from linkwise.walking.person import Person
    from linkwise.walking.reason import Reason
    from linkwise.walking.result import Walk

SHARE = click.FloatRange(0.0, 1.0, min_open=True, max_open=True)
POSITIVE = click.FloatRange(min=0.0, min_open=True)
FAR, FINE = 2e-3, 41  # how far outside, m, a finer grid is worth it, and that grid
OPENSIM = OutputFile(".mot", ".sto")


@click.command(cls=Command, short_help="Predict how a person walks.")
@click.option("--speed", type=POSITIVE, default=1.2, show_default=True, help="Speed of walking, m/s.")
@click.option("--step", type=POSITIVE, help="Length of a step, m; by speed and height if not given.")
@click.option("--mass", type=POSITIVE, default=73.0, show_default=True, help="Mass of the body, kg.")
@click.option("--height", type=POSITIVE, default=1.741, show_default=True, help="Height of the body, m.")
@click.option("--sex", type=click.Choice(["male", "female"]), default="male", show_default=True)
@click.option("--backpack", type=POSITIVE, help="A load on the back, kg.")
@setting("--hand-load", "hands", SettingType("SIDE=KG", "r=5", 1), "A load in a hand, r or l, kg.")
@setting("--limit", "limits", SettingType("JOINT=TORQUE", "ankle_l=60", 1), "Strength of a joint, N m.")
@setting("--range", "ranges", SettingType("JOINT=LOW,HIGH", "knee_l=0,0.4", 2), "Range of a joint, rad.")
@setting("--length", "lengths", SettingType("SEGMENT=LENGTH", "shank_l=0.41", 1), "Length of a segment, m.")
@click.option("--freeze", "frozen", metavar="JOINT", multiple=True, help="A joint that does not move. May be repeated.")
@click.option("--without", metavar="KIND", multiple=True, help="Constraints to leave out, such as arm_leg.")
@setting("--soft", "soft", SettingType("KIND=WEIGHT", "arm_leg=10", 1), "Constraints that may be broken, at a price.")
@click.option("--track", type=POSITIVE, metavar="WEIGHT", help="Follow published angles, not forces; 0.02 is a little.")
@click.option("--double", type=SHARE, default=0.2, show_default=True, help="Share of a step while both feet carry.")
@click.option("--points", type=click.IntRange(3, 1001), default=21, show_default=True, help="Grid points of a step.")
@click.option("--smooth/--coarse", default=True, show_default=True, help="8 control points and periodic accelerations.")
@click.option("--solver", type=click.Choice(["uno", "ipopt", "scipy"]), help="The first that is there, if not given.")
@click.option("--time-limit", type=POSITIVE, help="Seconds after which to stop.")
@click.option("--plot", type=PICTURE, help="Where to draw curves over the stride: .png, .svg or .pdf.")
@click.option("--film", type=PICTURE, help="Where to draw the figure at instants of the stride.")
@click.option("--html", type=OutputFile(".html"), help="Where to write the moving figure, one file.")
@click.option("--motion", type=OPENSIM, help="Where to write coordinates for OpenSim: .mot or .sto.")
@click.option("--table", type=TABLE, help="Where to write all curves as columns: .csv, .npz or .parquet.")
@click.option("--ground", type=OPENSIM, help="Where to write ground reactions for OpenSim.")
@click.option("--torques", type=OPENSIM, help="Where to write torques of joints for OpenSim.")
@json_option
def walk(
    speed: float, step: float | None, without: tuple[str, ...], soft: tuple[Setting, ...], track: float | None,
    double: float, points: int, smooth: bool, solver: str | None, time_limit: float | None, plot: Path | None,
    film: Path | None, html: Path | None, motion: Path | None, ground: Path | None, torques: Path | None,
    table: Path | None, as_json: bool, **someone: Any,
) -> int:  # fmt: skip
    """Predict how a person walks: the stride of least effort, with ground reactions and forces through joints.

    The skeleton has 55 degrees of freedom and the proportions of de Leva (1996). Where left and right differ, by a
    limit or a load of one side, a whole stride is sought instead of one step, which takes longer.

    The first prediction on a machine compiles for some seconds. Ctrl-C keeps the best motion so far. Exit code 1 means
    that no motion was found that keeps all constraints; those that are not kept are listed, and another solve tells
    whether strength is what is missing.

    \b
    Examples:
      linkwise walk --plot curves.png --film film.png
      linkwise walk --speed 1.4 --mass 60 --height 1.65 --sex female --html walk.html
      linkwise walk --speed 1.4 --backpack 15 --limit ankle_l=60 --table stride.csv
    """
    from linkwise.walking.effort import effort
    from linkwise.walking.opensim import write_ground, write_motion, write_torques
    from linkwise.walking.tracking import tracking
    from linkwise.walking.walk import KEPT
    from linkwise.walking.walk import walk as predict

    result = predict(
        _person(**someone), speed, step, solver=solver, smooth=smooth, double=double, points=points, without=without,
        soft={kind: weight for kind, (weight,) in soft}, minimize=effort() + track * tracking() if track else None,
        time_limit=time_limit,
    )  # fmt: skip
    stride = result.stride()
    writers: Writers = {
        "curves": (plot, result.plot),
        "film strip": (film, result.film_strip),
        "animation": (html, result.animate),
        "motion": (motion, lambda path: write_motion(stride, path)),
        "ground reactions": (ground, lambda path: write_ground(stride, path)),
        "torques": (torques, lambda path: write_torques(stride, path)),
        "table": (table, stride.save),
    }
    lost = result.status == "gave up" and result.violation > KEPT
    reason = result.reason() if lost else None
    with written(writers) as files:
        if as_json:
            show.as_json({**_facts(result, reason), "files": {k: str(v) for k, v in files.items() if v}})
        else:
            _print(result, reason)
            show.written(files)
    return INTERRUPTED if result.status == "interrupted" else 0 if result.converged else 1


def _person(
    mass: float, height: float, sex: str, backpack: float | None, hands: tuple[Setting, ...],
    limits: tuple[Setting, ...], ranges: tuple[Setting, ...], lengths: tuple[Setting, ...], frozen: tuple[str, ...],
) -> Person:  # fmt: skip
    from linkwise.walking.joints import FROZEN
    from linkwise.walking.person import Person

    person = Person(
        mass, height, sex, {name: {"length": x} for name, (x,) in lengths}, {name: x for name, (x,) in limits},
        {name: (low, high) for name, (low, high) in ranges}, (*FROZEN, *frozen),
    )  # fmt: skip
    if backpack:
        person = person.with_backpack(backpack)
    for side, (load,) in hands:
        person = person.with_hand_load(load, side)
    return person


def _facts(result: Walk, reason: Reason | None) -> dict[str, Any]:
    from linkwise.walking.norms import bands, norms

    seen = result.audit()
    return {
        "status": result.status,
        "speed": result.problem.speed,
        "step": result.problem.step,
        "steps": result.problem.steps,
        "mass": result.problem.person.total_mass,
        "body mass": result.problem.person.body_mass,
        "effort": result.effort,
        "variables": result.size[0],
        "constraints": result.size[1],
        "active": result.active,
        "solves": [p._asdict() for p in result.phases],
        "not kept": [w._asdict() for w in result.violations()],
        "reason": reason and {"strength": reason.strength, "rows": [w._asdict() for w in reason.rows]},
        "audit": {k: getattr(seen, k) for k in seen.__dataclass_fields__},
        "features": {side: result.features(side) for side in "rl"},
        "compared": {side: {k: m._asdict() for k, m in result.compared(side).items()} for side in "rl"},
        "published": {k: {"low": n.low, "high": n.high} for k, n in norms().items()},
        "sources": {b.short: b.source for b in bands().values()},
    }


def _print(result: Walk, reason: Reason | None) -> None:
    from linkwise.walking.walk import KEPT

    seconds = sum(p.seconds for p in result.phases)
    iterations = " + ".join(str(p.iterations) for p in result.phases)
    n, m = result.size
    of = " of both steps" if result.problem.steps == 2 else ""
    show.line(f"{result.status}: {result.title}, effort {result.effort:.4f}{of}")
    show.line(
        f"{n} variables, {m} constraints, {result.active} of them active; {iterations} iterations in {seconds:.1f} s"
    )
    for w in result.violations():
        show.line(f"{'broken at a price' if w.soft else 'not kept'}: {w}", fg="yellow" if w.soft else "red")
    if reason:
        for line in str(reason).split("\n"):
            show.line(line)
    if result.violation > KEPT:
        show.line("its curves are not those of a walk, and not compared; --plot and --html show them all the same")
        return
    if not result.converged:
        show.line("all constraints are kept, but another walk may take less effort")
    _print_published(result)
    _print_loads(result)
    seen = result.audit()
    show.line(f"between grid points: contacts drift {1e3 * seen.drift:.1f} mm and slip {seen.slip:.3f} m/s, "
               f"zero-moment point {1e3 * max(0.0, seen.zmp):.1f} mm outside")  # fmt: skip
    if result.converged and seen.zmp > FAR and result.problem.points < FINE:
        show.line(f"a finer grid keeps more of it inside, in about twice the time: --points {FINE}")


def _print_loads(result: Walk) -> None:
    """The largest net force through each joint, and when in the stride of its leg."""
    from linkwise.walking.features import JOINTS, leg

    stride, rows = result.stride(), []
    for joint in JOINTS:
        row = [joint]
        for side in "rl":
            force = leg(stride, side)[f"{joint}_force"]
            at = int(force.argmax())
            row += [f"{force[at] * stride.weight:.0f} N", f"{stride.percent[at]:.0f} %"]
        rows.append(tuple(row))
    show.title(f"Largest net forces through joints (a body weight is {stride.weight:.0f} N)")
    head = ("", "right", "at, right", "left", "at, left")
    show.table(head, rows, right=head[1:])
    show.line()


def _print_published(result: Walk) -> None:
    """Extremes and curves of both legs beside what is published."""
    from linkwise.walking.features import EXTREME_TITLES
    from linkwise.walking.norms import TITLES, norms, sources

    show.title("Extremes")
    known, sides = norms(), [result.features(side) for side in "rl"]
    rows: list[tuple[str, ...]] = [
        (EXTREME_TITLES[key], *(f"{s[key]:.3g}" for s in sides), known[key].text if key in known else "")
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
    show.line()
    show.line("published, mean and one standard deviation to each side:")
    for line in sources():
        show.line(f"  {line}")
