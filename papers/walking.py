"""Walking, predicted by least effort: the problem of Barman's chapter V, and what becomes of it with other persons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple
from typing import Any

import numpy as np

from linkwise.walking.features import EXTREME_TITLES
from linkwise.walking.norms import TITLES, norms, sources
from linkwise.walking.person import Person
from linkwise.walking.pictures import curves, film_strip
from linkwise.walking.result import Walk
from linkwise.walking.stride import Stride
from linkwise.walking.sweep import sweep
from linkwise.walking.walk import walk
from papers.experiments import Cell, Experiment, Picture, Table
from papers.pictures import inline_svg

SPEEDS = {0.8: 0.5, 1.0: 0.55, 1.2: 0.6, 1.4: 0.7, 1.6: 0.8}  # with lengths of steps
BACKPACKS = (10.0, 20.0)
PEOPLE = {"50 kg woman": (50.0, 1.60, "female"), "100 kg man": (100.0, 1.90, "male")}
WHOLE = "base case, size of the source"
PUBLISHED = (330, 1726, 244, 34.10)  # variables, constraints, active ones, seconds


def walking() -> Experiment:
    """The published walking problem from standing still, in its base and its smooth form, and a sweep."""
    base = walk(Person(), 1.2, 0.6, progress=False)
    whole = walk(Person(), 1.2, 0.6, whole=True, progress=False)
    smooth = walk(Person(), 1.2, 0.6, smooth=True, progress=False)
    others = _sweep()
    stride = smooth.stride()
    claims = _claims(stride)
    every = [base, whole, smooth, *others.values()]
    seconds = sum(p.seconds for p in base.phases)
    return Experiment(
        name="walking",
        title="Walking predicted by least effort",
        source="Barman, chapter V: figures 5.2 to 5.5",
        finding=f"From standing still a walk at 1.2 m/s is found in {seconds:.1f} s (published {PUBLISHED[3]:g} s on"
        f" another machine); the vertical force of the ground has two peaks,"
        f" {smooth.features()['vertical_first']:.2f} and {smooth.features()['vertical_second']:.2f} body weights.",
        text=(
            "A skeleton of 55 degrees of freedom, 38 of them free, takes one step whose successor is its mirror image."
            " Joint angles are cubic B-splines; constraints hold at 21 instants; ground reactions follow from the"
            " motion in two steps and are part of the torques whose squares are minimised.",
            "Net forces through joints are those of the rigid skeleton: muscles that pull against each other press the"
            " bones together harder, two to three body weights at the hip.",
        ),
        tables=(
            sizes({"base case": base, WHOLE: whole, "smooth case": smooth}),
            _audits(base, smooth),
            _features(smooth),
            _compared(smooth),
            _sweep_table(others),
            claims,
        ),
        pictures=_pictures(smooth),
        assumptions=(
            "The source's digital human is not public: proportions are de Leva's (1996), the split of the trunk, feet,"
            " ranges and strengths of joints are ours.",
            "Of the 55 degrees of freedom 17 are frozen. The source keeps them as variables that are fixed; so does the"
            f" row '{WHOLE}', with the source's {PUBLISHED[0]} variables and {PUBLISHED[1] - whole.size[1]} constraints"
            " less than printed, which the source does not list one by one. Elsewhere they are locked before anything"
            " is compiled, the same problem in fewer variables; the two minima that were found are"
            f" {abs(whole.objective / base.objective - 1.0):.1%} apart.",
            "Arm-leg coupling is along the forward axis; the vertical axis that is printed is always satisfied.",
            "A small posture term settles arms and pelvis, which effort alone leaves open.",
        ),
        agrees=all(w.converged for w in every) and all(row[1] == "true" for row in claims.rows),
    )


def _sweep() -> dict[str, Walk]:
    """Other speeds, loads and people."""
    cases: dict[str, dict[str, Any]] = {
        f"{v:g} m/s": {"speed": v, "step": step} for v, step in SPEEDS.items() if v != 1.2
    }
    cases |= {f"backpack of {m:g} kg": {"person": Person().with_backpack(m)} for m in BACKPACKS}
    cases |= {name: {"person": Person(*numbers)} for name, numbers in PEOPLE.items()}
    found = sweep(cases.values(), smooth=True)
    return dict(zip(cases, found, strict=True))


def sizes(walks: Mapping[str, Walk]) -> Table:
    """How large the problems are, and how long they took."""
    rows: list[tuple[Cell, ...]] = [("published", *PUBLISHED[:3], None, PUBLISHED[3], None, None)]
    for name, w in walks.items():
        count = sum(p.iterations for p in w.phases)
        seconds, inside = (sum(getattr(p, k) for p in w.phases) for k in ("seconds", "callbacks"))
        rows.append(
            (name, *w.size, w.active, count, round(seconds, 2), f"{100.0 * inside / seconds:.0f} %", w.objective)
        )
    head = ("", "variables", "constraints", "active", "iterations", "seconds", "in functions", "objective")
    return Table("Size and time", head, tuple(rows), digits=4)


def _audits(base: Walk, smooth: Walk) -> Table:
    rows = tuple((name, *astuple(w.audit())) for name, w in (("base case", base), ("smooth case", smooth)))
    head = ("", "instants", "drift, m", "slip, m/s", "below ground, m", "ZMP outside, m", "torque / limit",
            "force left on the pelvis", "effort")  # fmt: skip
    return Table("On a grid eight times finer", head, rows, digits=3)


def _features(w: Walk) -> Table:
    rows = []
    for key, value in w.features().items():
        known = norms()[key].text if key in norms() else None
        rows.append((EXTREME_TITLES[key], f"{value:.3g}", known))
    title = "Extremes of the smooth case"
    note = f"Published: mean and one standard deviation to each side. {'; '.join(sources())}."
    return Table(title, ("", "ours", "published"), tuple(rows), note)


def _compared(w: Walk) -> Table:
    rows = [
        (TITLES[k], f"{100.0 * m.inside:.0f} %", f"{m.rms:.2g}", f"{m.offset:.2g}") for k, m in w.compared().items()
    ]
    head = ("", "of the stride within", "rms distance from the mean", "mean distance")
    return Table("Curves of the smooth case against published bands", head, tuple(rows))


def _sweep_table(walks: dict[str, Walk]) -> Table:
    rows = []
    for name, w in walks.items():
        f = w.features()
        top = max(f["vertical_first"], f["vertical_second"])
        rows.append((name, w.status, f"{w.effort:.4f}", f"{top:.2f}", f"{f['knee_force']:.2f}"))
    head = ("", "", "effort", "peak vertical force, body weights", "peak knee force, body weights")
    return Table("Other speeds, loads and people", head, tuple(rows))


def _claims(stride: Stride) -> Table:
    """What the source says of its figures, judged on ours."""
    stance = stride.percent < 50.0
    F = stride.ground_force("r")[stance, 1]
    inner = (F[1:-1] > F[:-2]) & (F[1:-1] >= F[2:]) & (F[1:-1] > 0.9)
    rows: list[tuple[Cell, ...]] = []
    rows.append(("the vertical force has two peaks", str(int(inner.sum()) == 2).lower(), int(inner.sum())))
    for joint in ("hip", "knee", "ankle"):
        force = np.linalg.norm(stride.joint_force(f"{joint}_r"), axis=1)[stance]
        alike = float(np.corrcoef(force, F)[0, 1])
        rows.append((f"the {joint}'s force follows it in stance", str(alike > 0.9).lower(), round(alike, 4)))
    return Table("The source's claims", ("", "", "peaks, or correlation"), tuple(rows))


def _pictures(w: Walk) -> tuple[Picture, ...]:
    strip = "Figures of one stride with the forces of the ground, and the way of the zero-moment point (figure 5.2)."
    lines = (
        "Angles, torques, ground reactions and joint forces over the stride (figures 5.3 to 5.5), with published bands."
    )
    return (
        Picture(strip, inline_svg(film_strip(w), "walking-strip", strip)),
        Picture(lines, inline_svg(curves(w), "walking-curves", lines)),
    )
