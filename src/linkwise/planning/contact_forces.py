"""Wrenches of contacts along a planned motion."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from linkwise.algorithms.algorithm import wrench_of
from linkwise.errors import UnknownNameError
from linkwise.jet import part
from linkwise.kernel.compile import compile
from linkwise.kernel.tracing import Port, function, trace
from linkwise.motion.environment import Environment
from linkwise.planning.carrier import Carrier
from linkwise.planning.chart import Chart
from linkwise.planning.curve import Array, Curve
from linkwise.planning.point import Point
from linkwise.planning.stance import Stance
from linkwise.spatial import Wrench

KEPT = 64


def around(
    chart: Chart, curve: Curve, carrier: Carrier | None, t: Any, rates: int
) -> tuple[dict[str, Any], list[Array]]:
    """What surrounds a robot at times t (...,): options of `lw.compile`, and the inputs that they add.

    Wrenches of contacts come after those of the carrier, on the same frame they are added.
    """
    options = dict(carrier.options) if carrier else {}
    inputs = carrier.inputs(t, rates) if carrier else []
    if not chart.stances:
        return options, inputs
    loads = inputs[: rates + 1] if carrier and carrier.frames else []
    before = carrier.frames if carrier else ()
    frames = tuple(dict.fromkeys((*before, *(s.frame for s in chart.stances))))
    found = []
    for k, own in enumerate(wrenches(chart, curve, before, loads, t, rates)):
        every = np.zeros((*own.shape[:-2], len(frames), 6))
        if loads:
            every[..., : len(before), :] = loads[k]
        for stance, six in zip(chart.stances, np.moveaxis(own, -2, 0), strict=True):
            every[..., frames.index(stance.frame), :] += six
        found.append(every)
    return {**options, "external": frames}, found


def along(chart: Chart, curve: Curve, carrier: Carrier | None, t: Any) -> Array:
    """What contacts exert at times t, as `wrenches` has it."""
    inputs = carrier.inputs(t, 0)[:1] if carrier and carrier.frames else []
    return wrenches(chart, curve, carrier.frames if carrier else (), inputs, t)[0]


def wrenches(
    chart: Chart, curve: Curve, frames: Sequence[str], loads: Sequence[Array], t: Any, rates: int = 0
) -> list[Array]:
    """What contacts exert (..., contacts, 6), at the origins of their frames in their axes, and so many rates."""
    z = np.stack([curve(t, k) for k in range(5 + rates)], axis=-2)
    found = _kernel(chart, tuple(frames), rates)(z, *loads)
    return list(found) if rates else [found]


@lru_cache(maxsize=KEPT)
def _kernel(chart: Chart, frames: tuple[str, ...], rates: int) -> Any:
    """(numbers and derivatives (5 + rates, n), loads (frames, 6) and rates) -> wrenches of contacts, and rates."""
    count, n = 6 * len(frames), chart.n

    def run(z: list[Any], *loads: list[Any]) -> list[list[Any]]:
        rows = [z[k * n : (k + 1) * n] for k in range(5 + rates)]
        given = {name: _load([x[6 * k : 6 * k + 6] for x in loads]) for k, name in enumerate(frames)}
        six = Point(chart.robot, rows, chart=chart, environment=Environment(None, given)).contact_loads(rates)
        flat = [x for wrench in six for x in wrench]
        return [[part(x, k) for x in flat] for k in range(rates + 1)]

    inputs = [Port("z", (5 + rates, n)), *(Port(f"load{k}", (len(frames), 6)) for k in range(rates + 1) if count)]
    outputs = [Port(f"rate{k}", (len(chart.stances), 6)) for k in range(rates + 1)]
    return function(trace("contact_wrenches", run, inputs, outputs))


def _load(rows: Sequence[Sequence[Any]]) -> Any:
    """A load that is what it is, whatever the time."""
    wrench: Wrench = wrench_of(rows) if len(rows) > 1 else wrench_of([rows[0]])
    return lambda t: wrench


def stance_of(chart: Chart, name: Any) -> tuple[int, Stance]:
    """A contact by its name."""
    names = [s.name for s in chart.stances]
    if name not in names:
        raise UnknownNameError("contact", name, names)
    return names.index(name), chart.stances[names.index(name)]


def pressed(stance: Stance, chart: Chart, q: Array, six: Array) -> Array:
    """Where the force of a contact acts, and the force (..., 6), both in the world.

    The place is the centre of pressure of a sole, or the point; the middle of the sole where there is no force.
    """
    T = compile(chart.robot).pose(q, stance.frame)
    R, middle = T[..., :3, :3], np.array(stance.middle)
    force = np.einsum("...ij,...j->...i", R, six[..., :3])
    at = np.broadcast_to(middle, force.shape)
    if stance.is_sole:
        axes: Array = np.array(stance.axes)
        f, m = six[..., :3], six[..., 3:] - np.cross(middle, six[..., :3])
        f, m = f @ axes, m @ axes
        size = np.where(f[..., 2] > 1e-9 * stance.weight, f[..., 2], np.inf)
        flat = np.stack([-m[..., 1] / size, m[..., 0] / size, np.zeros_like(size)], axis=-1)
        at = middle + flat @ axes.T
    return np.concatenate([np.einsum("...ij,...j->...i", R, at) + T[..., :3, 3], force], axis=-1)
