"""Published curves of level walking at a comfortable speed, to compare predictions with.

A band is the mean over a group of people, and one standard deviation to each side. Who they are, how fast they walked,
and how signs and zeros were brought to ours is in data/bands.toml, beside the numbers.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from linkwise.errors import UnknownNameError
from linkwise.planning.curve import Array

DATA = Path(__file__).with_name("data") / "bands.toml"
QUIET = 0.005  # body weights below which a foot does not carry
TITLES = {  # of curves
    "hip_angle": "hip flexion, deg", "knee_angle": "knee flexion, deg", "ankle_angle": "ankle dorsiflexion, deg",
    "hip_torque": "hip torque, N m/kg", "knee_torque": "knee torque, N m/kg", "ankle_torque": "ankle torque, N m/kg",
    "ground_forward": "forward ground reaction, body weights", "ground_up": "vertical ground reaction, body weights",
    "ground_outward": "outward ground reaction, body weights",
    "hip_force": "net force through the hip, body weights", "knee_force": "net force through the knee, body weights",
    "ankle_force": "net force through the ankle, body weights",
}  # fmt: skip


class Match(NamedTuple):
    """How a curve compares with a band, in the band's unit.

    Args:
        inside: the share of the stride in which it is within the band, 0 to 1; of forces while the foot carries.
        rms: root mean square of the distance from the band's mean.
        offset: mean of the curve minus the mean of the band's mean: of angles it depends on where zero is.
    """

    inside: float
    rms: float
    offset: float


@dataclass(frozen=True, eq=False)
class Band:
    """A published curve over the stride of a leg, from its heel strike to its next.

    Args:
        name: of the curve, such as "knee_angle".
        unit: of mean, low and high.
        people: who walked.
        speed: how fast.
        source: the citation.
        short: people and source in a few words.
        note: signs, and how published numbers were brought to our zero.
        percent: of the stride, 0 to 100 (n).
        mean: over the people (n).
        low, high: one standard deviation below and above it (n).
    """

    name: str
    unit: str
    people: str
    speed: str
    source: str
    short: str
    note: str
    percent: Array
    mean: Array
    low: Array
    high: Array

    def match(self, percent: Array, values: Array) -> Match:
        """How a curve over the same stride compares."""
        mean, low, high = (np.interp(percent, self.percent, x) for x in (self.mean, self.low, self.high))
        counted = np.ones(len(mean), dtype=bool)
        if self.unit == "body weights":
            counted = (np.abs(values) > QUIET) | (np.abs(mean) > QUIET)
        off = (values - mean)[counted]
        within = ((low <= values) & (values <= high))[counted]
        return Match(float(within.mean()), float(np.sqrt((off**2).mean())), float(off.mean()))


def band(name: str) -> Band:
    """The published band of a curve.

    Args:
        name: "hip_angle", "knee_angle" or "ankle_angle" (flexion, degrees); "hip_torque", "knee_torque" or
            "ankle_torque" (N m/kg); "ground_forward" or "ground_up" (reaction, body weights).
    """
    if name not in bands():
        raise UnknownNameError("band", name, bands())
    return bands()[name]


@cache
def bands() -> dict[str, Band]:
    """All bands by name."""
    with DATA.open("rb") as file:
        data = tomllib.load(file)
    return {name: _band(name, entry, data) for name, entry in data["band"].items()}


def _band(name: str, entry: dict[str, Any], data: dict[str, Any]) -> Band:
    source = data["source"][entry["source"]]
    mean = entry.get("factor", 1.0) * np.array(entry["mean"]) + entry.get("shift", 0.0)
    sd = np.array(entry["sd"])
    curves = (data["percent"] * np.arange(len(mean)), mean, mean - sd, mean + sd)
    for curve in curves:
        curve.setflags(write=False)
    words = (source["people"], source["speed"], source["citation"], source["short"], entry["note"])
    return Band(name, entry["unit"], *words, *curves)


def sources() -> list[str]:
    """Whose curves the bands are, a line for each group of people."""
    groups: dict[str, list[str]] = {}
    for b in bands().values():
        groups.setdefault(b.short, []).append(TITLES[b.name].split(",")[0])
    return [f"{', '.join(names)}: {short}" for short, names in groups.items()]


class Extreme(NamedTuple):
    """A number that gait laboratories read off a curve: its greatest or least value in a part of the stride."""

    title: str
    curve: str
    start: float = 0.0
    end: float = 100.0
    least: bool = False
    below: bool = False  # shown without its sign

    def read(self, percent: Array, values: Array) -> tuple[float, int]:
        """The number, and at which instant it is."""
        sign = -1.0 if self.least else 1.0
        part = (percent >= self.start) & (percent <= self.end)
        at = int(np.argmax(np.where(part, sign * values, -np.inf)))
        return float(-values[at] if self.below else values[at]), at


EXTREMES = {
    "hip_flexion": Extreme("peak hip flexion, deg", "hip_angle"),
    "hip_extension": Extreme("peak hip extension, deg", "hip_angle", least=True, below=True),
    "knee_stance": Extreme("peak knee flexion in stance, deg", "knee_angle", 0.0, 40.0),
    "knee_swing": Extreme("peak knee flexion in swing, deg", "knee_angle", 50.0, 100.0),
    "ankle_dorsiflexion": Extreme("peak ankle dorsiflexion in stance, deg", "ankle_angle", 0.0, 60.0),
    "ankle_plantarflexion": Extreme("peak ankle plantarflexion, deg", "ankle_angle", least=True, below=True),
    "vertical_first": Extreme("vertical force, first peak, body weights", "ground_up", 0.0, 30.0),
    "vertical_between": Extreme("vertical force, mid-stance minimum, body weights", "ground_up", 15.0, 45.0, True),
    "vertical_second": Extreme("vertical force, second peak, body weights", "ground_up", 30.0, 60.0),
    "braking": Extreme("peak braking force, body weights", "ground_forward", least=True, below=True),
    "propulsion": Extreme("peak propulsive force, body weights", "ground_forward"),
}


class Norm(NamedTuple):
    """A published extreme: that of the mean curve, less and plus one standard deviation."""

    low: float
    high: float

    @property
    def text(self) -> str:
        """The range of values."""
        return f"{self.low:.3g} to {self.high:.3g}"


@cache
def norms() -> dict[str, Norm]:
    """What is published of each extreme, degrees or body weights."""
    found = {}
    for key, extreme in EXTREMES.items():
        b = band(extreme.curve)
        value, at = extreme.read(b.percent, b.mean)
        sd = 0.5 * float(b.high[at] - b.low[at])
        found[key] = Norm(value - sd, value + sd)
    return found
