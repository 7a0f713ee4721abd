"""Segments of the human body: masses, lengths, mass centres and radii of gyration of men and women.

Source: P. de Leva, Adjustments to Zatsiorsky-Seluyanov's segment inertia parameters, Journal of Biomechanics 29(9),
1223-1230, 1996, Table 4: 100 men of 73.0 kg and 1.741 m, 15 women of 61.9 kg and 1.735 m on average. Masses are
fractions of the body's, lengths are of the average body, mass centres are fractions of the length from the proximal
end (of the head from its vertex, of the foot from the heel), radii of gyration fractions of the length about the
sagittal, transverse and longitudinal axes. The head reaches from the vertex to the seventh cervical vertebra.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from linkwise.check import positive
from linkwise.errors import InputError, UnknownNameError


@dataclass(frozen=True)
class Segment:
    """A segment of a body.

    Args:
        mass: kg; in the tables a fraction of the body's.
        length: m.
        com: where the mass centre is, as a fraction of the length from the proximal end.
        radii: of gyration as fractions of the length: sagittal, transverse, longitudinal.
    """

    mass: float
    length: float
    com: float
    radii: tuple[float, float, float]


@dataclass(frozen=True)
class Table:
    """The average body of a group of people."""

    height: float
    segments: Mapping[str, Segment]


MEN = Table(
    1.741,
    {
        "head": Segment(0.0694, 0.2429, 0.5002, (0.303, 0.315, 0.261)),
        "upper_trunk": Segment(0.1596, 0.1707, 0.2999, (0.716, 0.454, 0.659)),
        "middle_trunk": Segment(0.1633, 0.2155, 0.4502, (0.482, 0.383, 0.468)),
        "lower_trunk": Segment(0.1117, 0.1457, 0.6115, (0.615, 0.551, 0.587)),
        "upper_arm": Segment(0.0271, 0.2817, 0.5772, (0.285, 0.269, 0.158)),
        "forearm": Segment(0.0162, 0.2689, 0.4574, (0.276, 0.265, 0.121)),
        "hand": Segment(0.0061, 0.0862, 0.7900, (0.628, 0.513, 0.401)),
        "thigh": Segment(0.1416, 0.4222, 0.4095, (0.329, 0.329, 0.149)),
        "shank": Segment(0.0433, 0.4340, 0.4459, (0.255, 0.249, 0.103)),
        "foot": Segment(0.0137, 0.2581, 0.4415, (0.257, 0.245, 0.124)),
    },
)
WOMEN = Table(
    1.735,
    {
        "head": Segment(0.0668, 0.2437, 0.4841, (0.271, 0.295, 0.261)),
        "upper_trunk": Segment(0.1545, 0.1425, 0.2077, (0.746, 0.502, 0.718)),
        "middle_trunk": Segment(0.1465, 0.2053, 0.4512, (0.433, 0.354, 0.415)),
        "lower_trunk": Segment(0.1247, 0.1815, 0.4920, (0.433, 0.402, 0.444)),
        "upper_arm": Segment(0.0255, 0.2751, 0.5754, (0.278, 0.260, 0.148)),
        "forearm": Segment(0.0138, 0.2643, 0.4559, (0.261, 0.257, 0.094)),
        "hand": Segment(0.0056, 0.0780, 0.7474, (0.531, 0.454, 0.335)),
        "thigh": Segment(0.1478, 0.3685, 0.3612, (0.369, 0.364, 0.162)),
        "shank": Segment(0.0481, 0.4323, 0.4416, (0.271, 0.267, 0.093)),
        "foot": Segment(0.0129, 0.2283, 0.4014, (0.299, 0.279, 0.139)),
    },
)
TABLES = {"male": MEN, "female": WOMEN}
PAIRED = ("upper_arm", "forearm", "hand", "thigh", "shank", "foot")
SIDES = ("r", "l")
NAMES = tuple(n for n in MEN.segments if n not in PAIRED) + tuple(f"{n}_{s}" for n in PAIRED for s in SIDES)


def body(mass: float, height: float, sex: str, changes: Mapping[str, Any]) -> dict[str, Segment]:
    """The segments of a person by name, the paired ones with _r or _l.

    Lengths are in proportion to height, masses to the body's (the women's fractions add up to 0.9999, and are divided
    by that). `changes` has other numbers for some: a name without its
    side means both, such as {"thigh_l": {"length": 0.40}, "foot": {"mass": 1.3}}; the rest of the body stays as it is.
    """
    if sex not in TABLES:
        raise UnknownNameError("sex of a person", sex, TABLES)
    table = TABLES[sex]
    whole = sum(s.mass * (2 if name in PAIRED else 1) for name, s in table.segments.items())
    found = {}
    for name in NAMES:
        s = table.segments[name.removesuffix("_r").removesuffix("_l")]
        found[name] = replace(s, mass=s.mass * mass / whole, length=s.length * height / table.height)
    for key, change in _mapping(changes, "segments").items():
        for name in sides_of(key, found, "segment"):
            found[name] = _changed(name, found[name], change)
    return found


def sides_of(key: str, names: Any, kind: str) -> list[str]:
    """The names that a key stands for: itself, or both sides of it."""
    if key in names:
        return [key]
    both = [f"{key}_{side}" for side in SIDES]
    if not all(name in names for name in both):
        raise UnknownNameError(kind, key, names)
    return both


def _changed(name: str, segment: Segment, change: Any) -> Segment:
    known = [f.name for f in fields(Segment)]
    values: dict[str, Any] = {}
    for key, value in _mapping(change, f"segment {name!r}").items():
        if key not in known:
            raise UnknownNameError(f"number of the segment {name!r}", key, known)
        if key == "radii":
            radii = tuple(value) if isinstance(value, (tuple, list)) else ()
            if len(radii) != 3:
                raise InputError(f"segment {name!r} radii: expected three numbers, got {value!r}.")
            values[key] = tuple(positive(x, f"segment {name!r} radii") for x in radii)
        else:
            values[key] = positive(value, f"segment {name!r} {key}")
    return replace(segment, **values)


def _mapping(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(f"{what}: expected values by name, such as {{'length': 0.4}}, got {value!r}.")
    return value
