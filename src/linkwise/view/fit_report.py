"""A page on an identified model: how well it explains torques, its parameters with intervals, what stays unknown."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from linkwise._version import __version__
from linkwise.card import text
from linkwise.figures import COLOURS, INK, LIMIT, style
from linkwise.files import replacing
from linkwise.identification.measurements import measured as measurements
from linkwise.identification.statistics import Error
from linkwise.motion.trajectory import Array
from linkwise.view.motion import Motion
from linkwise.view.page import ASSETS, Page, checked, policy, viewer
from linkwise.view.payload import payload

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from linkwise.identification.estimates import Estimates
    from linkwise.identification.fit import Fit
    from linkwise.motion.log import Log

POINTS = 500  # columns of a plot, in each of which a curve has its lowest and its highest point
LAGS = 60  # of autocorrelations
MOST = 40  # intervals in a picture
TICKS = (1.0, 10.0, 100.0)  # percent
ROWS = 1500  # of the motion that is shown
START = """
const asked = linkwise.options(location.hash.slice(1));
const element = document.getElementById('motion');
linkwise.mount(element, document.getElementById('payload').textContent, { compact: true, ...asked });
"""


def report(fit: Fit, path: str | PathLike[str], log: Log, validation: Log | None = None) -> Path:
    """Write one HTML file on a fit, which needs nothing else.

    Args:
        fit: what `identify` gave.
        path: of the page, ending in .html.
        log: that the model was identified from.
        validation: another log, to predict.
    """
    file = checked(path)
    css = (ASSETS / "report.css").read_text(encoding="utf-8")
    robot = fit.structure.robot
    shown = payload(robot, _motion(log), meshes=True, compact=True)
    parts = [
        f"<h1>Identified model of {text(robot.name)}</h1>",
        f'<p class="lead">{text(fit.summary[:1].upper() + fit.summary[1:])}.</p>',
        f'<p class="soft">From {text(_sources(log))}. Written by Linkwise {text(__version__)}.</p>',
        _section("errors", "Torque errors", _errors(fit, log, validation)),
        _section("torques", "Measured and predicted torques", _torques(fit, log, validation)),
        _section("parameters", "Base parameters", _intervals(fit.base)),
        _section("unknown", "What the data do not determine", _unknown(fit)),
        _section("residuals", "Residuals", _residuals(fit)),
        _section("all", "All parameters of the robot", _every(fit.parameters)),
        _section("motion-shown", "The motion", '<div id="motion"></div>'),
        _section("notes", "Notes", _notes(fit)),
    ]
    page = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"{policy([shown], [START], [css])}\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Identified model of {text(robot.name)}</title>\n<style>{css}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(parts)
        + f"\n</main>\n{viewer()}\n"
        f'<script type="text/plain" id="payload">{shown.text}</script>\n<script>{START}</script>\n</body>\n</html>\n'
    )
    with replacing(file) as part:
        part.write_text(page, encoding="utf-8")
    return Page(file)


def _section(name: str, title: str, body: str) -> str:
    return f'<section id="{name}">\n<h2>{title}</h2>\n{body}\n</section>'


def _sources(log: Log) -> str:
    names = list(dict.fromkeys(Path(s).name for s in log.sources))
    seconds = sum(float(log.t[run][-1] - log.t[run][0]) for run in log.runs)
    return f"{', '.join(names)}: {len(log)} rows at {log.rate:.6g} Hz, {seconds:.4g} s"


def _motion(log: Log) -> Motion:
    """The first run of the log, for looking at."""
    run = max(log.runs, key=lambda r: r.stop - r.start)
    step = max(1, -(-(run.stop - run.start) // ROWS))
    rows = slice(run.start, run.stop, step)
    return Motion(log.robot, log.t[rows] - log.t[run.start], log.q[rows])


# ---- tables


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1) -> str:
    """Rows under a head, the first columns words and the others numbers."""

    def cells(row: Sequence[str], tag: str) -> str:
        return "".join(
            f"<{tag}{'' if k < words else ' class=number'}>{text(x)}</{tag}>" for k, x in enumerate(row)
        )  # fmt: skip

    body = "\n".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{cells(head, "th")}</tr></thead><tbody>{body}</tbody></table></div>'


def _errors(fit: Fit, log: Log, validation: Log | None) -> str:
    """Relative errors by drive: of the robot as it was given, and of the identified one."""
    values = replace(fit.parameters, values=fit.parameters.prior)
    given = replace(fit, parameters=values, delay=replace(fit.delay, values=0.0 * fit.delay.values))
    columns: dict[str, Error] = {"as given": given.error(log), "identified": fit.error(log)}
    columns["identified, low-passed"] = fit.training
    if fit.cross_validation is not None:
        columns["parts left out, low-passed"] = fit.cross_validation
    if validation is not None:
        columns |= {"as given, other log": given.error(validation), "other log": fit.error(validation)}
    rows = []
    for drive in fit.drives:
        found = [dict(zip(e.drives, e.relative, strict=True)).get(drive) for e in columns.values()]
        rows.append((drive, *("" if x is None else f"{100.0 * x:.2f} %" for x in found)))
    rows.append(("mean", *(f"{100.0 * e.mean:.2f} %" for e in columns.values())))
    said = (
        "Root mean square of measured less predicted torque, over that of the measured torque. The robot as given is"
        " the file that the identification began with, with its own friction and no offsets. Low-passed errors leave"
        " out noise that is faster than any motion; parts left out were predicted by a model of the other parts."
    )
    return _table(("drive", *columns), rows) + f'<p class="soft">{said}</p>'


def _intervals(base: Estimates) -> str:
    head = ("group of parameters", "value", "standard error", "95 % interval", "as given")
    said = (
        "Torques depend on these sums of masses, moments and inertias, and on friction. An interval covers the true"
        " value in 95 of 100 such experiments, if the structure of the model is right."
    )
    return f'<p class="soft">{said}</p>{_picture(_interval_figure(base), "intervals")}' + _folded(
        f"{len(base)} base parameters", _table(head, base.cells())
    )


def _every(parameters: Estimates) -> str:
    head = ("parameter", "value", "standard error", "95 % interval", "as given")
    said = (
        "The robot's own numbers, with which torques are the same. Those that torques cannot tell apart follow the"
        " robot as given, as near as bodies of positive density can."
    )
    return f'<p class="soft">{said}</p>' + _folded(f"{len(parameters)} parameters", _table(head, parameters.cells()))


def _folded(title: str, body: str) -> str:
    return f"<details><summary>{text(title)}</summary>{body}</details>"


def _unknown(fit: Fit) -> str:
    if not fit.undetermined:
        return "<p>Nothing: the motion excites every base parameter.</p>"
    items = "".join(f"<li>{text(name)}</li>" for name in fit.undetermined)
    return (
        "<p>The motion does not excite these, or noise hides them. They keep the values of the robot as given. A motion"
        f" of <code>linkwise excite</code> determines more.</p><ul>{items}</ul>"
    )


def _notes(fit: Fit) -> str:
    late = [f"{x.name} {1e3 * x.value:.3g} ms" for x in fit.delay if x.value]
    said = [
        f"Columns and torques went through a low-pass of {fit.cutoff:.4g} Hz, positions through one of"
        f" {fit.smoothing:.4g} Hz.",
        f"Torques were measured later than positions: {', '.join(late)}." if late else "",
        *fit.notes,
    ]
    return "<ul>" + "".join(f"<li>{text(x)}</li>" for x in said if x) + "</ul>"


# ---- pictures


def _torques(fit: Fit, log: Log, validation: Log | None) -> str:
    shown = [("the log that was identified from", log)]
    shown += [("the other log, predicted", validation)] if validation is not None else []
    return "".join(
        f"<h3>{words[:1].upper() + words[1:]}</h3>{_picture(_torque_figure(fit, one), f'torques along {words}')}"
        for words, one in shown
    )


def _torque_figure(fit: Fit, log: Log) -> Figure:
    """For each drive what was measured, what the model predicts, and the difference."""
    from matplotlib.figure import Figure

    measured, predicted = measurements(fit.structure, log, fit.gains).values, fit.predict(log)
    t = _continued(log)
    with style():
        figure = Figure(figsize=(9.2, 0.6 + 1.35 * len(fit.drives)), layout="constrained")
        grid = figure.subplots(len(fit.drives), 1, sharex=True, squeeze=False)[:, 0]
        for k, (axes, drive) in enumerate(zip(grid, fit.drives, strict=True)):
            curves = (
                ("measured", measured[:, k], INK, 0.8),
                ("predicted", predicted[:, k], COLOURS[0], 0.9),
                ("difference", measured[:, k] - predicted[:, k], LIMIT, 0.6),
            )
            for name, values, colour, width in curves:
                axes.plot(*_outline(t, values), color=colour, lw=width, label=name)
            axes.set_ylabel(f"{drive}\nN m, or N")
        grid[0].legend(ncols=3, loc="lower left", bbox_to_anchor=(0.0, 1.0))
        grid[-1].set_xlabel("time, s")
    return figure


def _continued(log: Log) -> Array:
    """Times of all runs one after the other."""
    t: Array = np.linspace(0.0, (len(log) - 1) / log.rate, len(log))
    return t


def _outline(t: Array, x: Array) -> tuple[Array, Array]:
    """A curve of many points by the lowest and highest one of each piece, which look the same."""
    size = max(1, -(-len(t) // POINTS))
    if size < 3:
        return t, x
    whole = len(t) // size * size
    pieces = x[:whole].reshape(-1, size)
    low = np.where(np.isnan(pieces), np.inf, pieces).argmin(axis=1)
    high = np.where(np.isnan(pieces), -np.inf, pieces).argmax(axis=1)
    places = np.sort(np.stack([low, high], axis=1), axis=1) + size * np.arange(len(pieces))[:, None]
    return t[places.ravel()], x[places.ravel()]


def _interval_figure(base: Estimates) -> Figure:
    """Intervals over their standard errors: how many of these a number is away from zero."""
    from matplotlib.figure import Figure

    known = [x for x in base if x.determined]
    known.sort(key=lambda x: -abs(x.value / x.error) if x.error else 0.0)
    known = known[:MOST]
    with style():
        figure = Figure(figsize=(9.2, 0.8 + 0.2 * max(len(known), 1)), layout="constrained")
        axes = figure.subplots()
        for k, x in enumerate(known):
            size = max(abs(x.value), 1e-300)
            axes.plot([100.0 * (x.lower - x.value) / size, 100.0 * (x.upper - x.value) / size], [k, k],
                      color=COLOURS[0], lw=3.0, solid_capstyle="butt")  # fmt: skip
        axes.plot([0.0] * len(known), range(len(known)), "|", color=INK)
        names = [x.name if len(x.name) < 48 else x.name[:45] + "..." for x in known]
        axes.set_yticks(range(len(known)), [f"{n} = {x.value:.4g}" for n, x in zip(names, known, strict=True)])
        axes.set_ylim(len(known) - 0.3, -0.7)
        axes.set_xscale("symlog", linthresh=1.0)
        axes.set_xticks([*(-x for x in TICKS[::-1]), 0.0, *TICKS], [*(f"-{x:g}" for x in TICKS[::-1]), "0",
                        *(f"{x:g}" for x in TICKS)])  # fmt: skip
        axes.minorticks_off()
        axes.set_xlabel("95 % interval, percent of the value")
    return figure


def _residuals(fit: Fit) -> str:
    rows = []
    for w in fit.whiteness:
        verdict = "may be white" if w.white else "not white: the model lacks something"
        rows.append((w.drive, verdict, f"{w.probability:.2g}", f"{w.correlation:.2f}", f"{w.lag:.3g} s"))
    head = ("drive", "Ljung and Box's test", "probability", "largest correlation", "at a lag of")
    said = (
        "Intervals allow for residuals that are correlated in time. Correlation shows what the model does not explain."
    )
    picture = _picture(_correlation_figure(fit), "autocorrelation of residuals")
    return _table(head, rows, words=2) + picture + f'<p class="soft">{said}</p>'


def _correlation_figure(fit: Fit) -> Figure:
    from matplotlib.figure import Figure

    step = float(np.median(np.diff(fit.times))) if len(fit.times) > 1 else 1.0
    with style():
        figure = Figure(figsize=(9.2, 2.4), layout="constrained")
        axes = figure.subplots()
        for k, drive in enumerate(fit.drives):
            e = np.nan_to_num(fit.residuals[:, k])
            lags = min(LAGS, len(e) - 1)
            r = [1.0, *(float(e[j:] @ e[: len(e) - j]) for j in range(1, lags + 1))]
            size = float(e @ e) or 1.0
            axes.plot(step * np.arange(lags + 1), [1.0, *(x / size for x in r[1:])], label=drive,
                      color=COLOURS[k % len(COLOURS)], lw=1.0)  # fmt: skip
        axes.set_xlabel("lag, s")
        axes.set_ylabel("autocorrelation")
        axes.legend(ncols=4)
    return figure


def _picture(figure: Figure, caption: str) -> str:
    """A picture inside of the page."""
    data = io.BytesIO()
    with style():
        figure.savefig(data, format="svg", facecolor="white", metadata={"Date": None})
    source = base64.b64encode(data.getvalue()).decode()
    return f'<figure><img src="data:image/svg+xml;base64,{source}" alt="{text(caption)}"></figure>'
