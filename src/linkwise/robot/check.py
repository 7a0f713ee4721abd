"""Checks of the numbers and names of a robot: each answers bad input with what, where, and what to do."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from linkwise.errors import ModelError
from linkwise.spatial import Pose
from linkwise.vector import EYE3, Mat3, Vec3, cross, dot

# products of five such numbers, as torques have them, are still far from the largest float
LARGEST = 1e50
LEVELS = ("error", "warning", "info")


def name(value: Any, what: str) -> str:
    if not isinstance(value, str) or not value:
        raise ModelError(f"{what}: expected a name (a string that is not empty), got {value!r}.")
    return value


def number(value: Any, what: str, *, least: float | None = None, above: float | None = None) -> float:
    """A float that can be computed with; `least` and `above` bound it from below."""
    x = value if type(value) is float and -LARGEST <= value <= LARGEST else _converted(value, what)
    if least is not None and x < least:
        raise ModelError(f"{what}: expected a number of at least {least:g}, got {x:g}.")
    if above is not None and x <= above:
        raise ModelError(f"{what}: expected a number above {above:g}, got {x:g}.")
    return x


def finite(value: Any, what: str) -> float:
    """A finite float of any size, for numbers that are compared but not computed with."""
    if isinstance(value, (bool, str, bytes, complex)) or value is None:
        raise ModelError(f"{what}: expected a number, got {value!r}.")
    try:
        x = float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelError(f"{what}: expected a number, got {value!r}.") from error
    if not math.isfinite(x):
        raise ModelError(f"{what}: expected a finite number, got {x}. Give the true value or leave it out.")
    return x


def _converted(value: Any, what: str) -> float:
    x = finite(value, what)
    if abs(x) > LARGEST:
        raise ModelError(f"{what}: expected a number of magnitude up to {LARGEST:g}, got {x:g}.")
    return x


def bound(value: Any, what: str) -> float:
    """A limit: a number that is not negative, or infinity for none."""
    if isinstance(value, float) and value == math.inf:
        return value
    x = finite(value, what)
    if x < 0.0:
        raise ModelError(f"{what}: expected a number of at least 0, got {x:g}.")
    return x


def numbers(values: Any, what: str, length: int) -> tuple[float, ...]:
    if isinstance(values, tuple) and len(values) == length and _are_sound(values):
        return values
    try:
        items = list(values)
    except TypeError as error:
        raise ModelError(f"{what}: expected {length} numbers, got {values!r}.") from error
    if len(items) != length or isinstance(values, (str, bytes)):
        raise ModelError(f"{what}: expected {length} numbers, got {len(items)}: {values!r}.")
    return tuple(number(x, f"{what}[{k}]") for k, x in enumerate(items))


def _are_sound(values: tuple[Any, ...]) -> bool:
    """Whether these are floats already, and of a size to compute with."""
    for x in values:  # noqa: SIM110 (twice as fast as all())
        if type(x) is not float or not -LARGEST <= x <= LARGEST:
            return False
    return True


def vector(value: Any, what: str) -> Vec3:
    found = numbers(value, what, 3)
    return found if isinstance(found, Vec3) else Vec3(*found)


def axis(value: Any, what: str) -> Vec3:
    """A direction, returned with length one; coordinate axes come out exact."""
    v = vector(value, what)
    length = math.sqrt(v.x * v.x + v.y * v.y + v.z * v.z)
    if not 1e-9 < length < 1e9:
        raise ModelError(
            f"{what}: expected a direction, got {tuple(v)}. Give a vector that is not zero, such as (0, 0, 1)."
        )
    if abs(length - 1.0) < 1e-15:
        return v
    return Vec3(*(x / length for x in v))


def tensor(value: Any, what: str) -> tuple[float, ...]:
    """xx, xy, xz, yy, yz, zz from a diagonal of 3, from those 6, or from a symmetric 3 by 3 matrix."""
    try:
        items = list(value)
    except TypeError as error:
        raise ModelError(f"{what}: expected 3, 6 or 3 by 3 numbers, got {value!r}.") from error
    if len(items) == 6:
        return numbers(items, what, 6)
    if len(items) == 3 and all(_is_row(r) for r in items):
        rows = [numbers(r, f"{what} row {k}", 3) for k, r in enumerate(items)]
        scale = max(abs(x) for r in rows for x in r)
        for i, j in ((0, 1), (0, 2), (1, 2)):
            if abs(rows[i][j] - rows[j][i]) > 1e-9 * scale:
                raise ModelError(
                    f"{what}: expected a symmetric tensor, got {rows[i][j]:g} and {rows[j][i]:g} at {i},{j}."
                )
        return (rows[0][0], rows[0][1], rows[0][2], rows[1][1], rows[1][2], rows[2][2])
    xx, yy, zz = numbers(items, what, 3)
    return (xx, 0.0, 0.0, yy, 0.0, zz)


def pose(value: Any, what: str) -> Pose:
    """A Pose, a 4 by 4 matrix, or a vector of three for a pose that is not turned; the rotation must be one."""
    if value is None:
        return Pose()
    if not isinstance(value, Pose):
        try:
            rows = [list(r) if _is_row(r) else r for r in value]
        except TypeError as error:
            raise ModelError(f"{what}: expected a Pose, a 4 by 4 matrix or 3 numbers, got {value!r}.") from error
        if len(rows) == 3 and not any(_is_row(r) for r in rows):
            return Pose(p=vector(rows, what))
        if len(rows) != 4 or any(not _is_row(r) or len(r) != 4 for r in rows):
            raise ModelError(f"{what}: expected a Pose, a 4 by 4 matrix or 3 numbers, got {value!r}.")
        value = Pose.of_matrix(rows)
    R = _rotation(value.R, what) if value.R is not EYE3 else EYE3
    return Pose(R, vector(value.p, f"{what}.p"))


def _rotation(value: Any, what: str) -> Mat3:
    R = Mat3(*(vector(r, f"{what}.R row {k}") for k, r in enumerate(value)))
    a, b, c = R
    error_of_R = max(
        abs(dot(a, a) - 1.0), abs(dot(b, b) - 1.0), abs(dot(c, c) - 1.0), abs(dot(a, b)), abs(dot(a, c)), abs(dot(b, c))
    )
    determinant = dot(a, cross(b, c))
    if error_of_R > 1e-6 or determinant < 0:
        raise ModelError(
            f"{what}.R: expected a rotation, got a matrix whose R R^T differs from 1 by {error_of_R:.1e}"
            f" and whose determinant is {determinant:.6g}."
        )
    return R


def note(value: Any) -> tuple[str, str, str]:
    """A remark for `robot.diagnostics`."""
    found = tuple(value) if isinstance(value, (tuple, list)) else ()
    if len(found) != 3 or not all(isinstance(x, str) for x in found) or found[0] not in LEVELS:
        raise ModelError(f"notes: expected (level, where, message) with a level among {LEVELS}, got {value!r}.")
    return found


def provenance(value: Any) -> tuple[tuple[str, str], ...]:
    """Where numbers come from, as pairs of texts: a text alone is a source."""
    entries = {"source": value} if isinstance(value, str) and value else value
    try:
        pairs = tuple((k, x) for k, x in (entries.items() if isinstance(entries, Mapping) else entries))
    except (TypeError, ValueError):
        pairs = (("", None),)
    for k, x in pairs:
        if not (isinstance(k, str) and k and isinstance(x, (str, int, float))):
            raise ModelError(f"provenance: expected a text, or texts and numbers by name, got {value!r}.")
    unique((k for k, _ in pairs), "entry of provenance")
    return tuple((k, str(x)) for k, x in pairs)


def unique(names: Iterable[str], kind: str) -> None:
    seen: set[str] = set()
    for n in names:
        if n in seen:
            raise ModelError(f"{kind} {n!r}: expected one {kind} of that name, got two. Rename one of them.")
        seen.add(n)


def _is_row(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, (str, bytes)) and getattr(value, "ndim", 1) > 0
