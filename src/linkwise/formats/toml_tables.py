"""The tables of a robot file, as msgspec structs that refuse what they do not know.

They are made from the model's own dataclasses: the keys of `[joint.drive]` are the fields of `Drive`, and what a field
may leave out, a table may.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import GenericAlias, NoneType, UnionType
from typing import Any, ClassVar, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import UNSET, UnsetType

from linkwise.errors import ModelError, UnknownNameError, listing
from linkwise.formats.dh_rows import DHRow, KhalilRow
from linkwise.robot import check
from linkwise.robot.geometry import Shape
from linkwise.robot.joint import Joint
from linkwise.robot.link import Frame, Link
from linkwise.robot.loop import Loop
from linkwise.rotation import from_quaternion, rpy
from linkwise.spatial import Pose
from linkwise.vector import EYE3, Mat3, Vec3

Three = tuple[float, float, float]
FORMS = ("link", "dh", "khalil")  # the three ways to say what a robot is made of
PATCH = ("friction", "armature", "spring", "drive", "limits")  # what a [[joint]] may add to a joint that is there
WORDS = {"array": "a list", "object": "a table", "float": "a number", "int": "a whole number", "str": "a text"}


class Table(msgspec.Struct, forbid_unknown_fields=True):
    """A table of a robot file; `builds` is the dataclass whose fields are its keys."""

    builds: ClassVar[Any] = None

    def given(self) -> Iterator[tuple[str, Any]]:
        """The keys that the file has, with their values."""
        for key in self.__struct_fields__:
            value = getattr(self, key)
            if value is not UNSET:
                yield key, value


class Origin(Table):
    """A pose: where, and turned by angles, by a quaternion x, y, z, w or by a matrix."""

    xyz: Three = (0.0, 0.0, 0.0)
    rpy: Three | UnsetType = UNSET
    quaternion: tuple[float, float, float, float] | UnsetType = UNSET
    rotation: tuple[Three, Three, Three] | UnsetType = UNSET

    def pose(self) -> Pose:
        turns = [key for key, _ in self.given() if key != "xyz"]
        if len(turns) > 1:
            raise ModelError(f"expected one of 'rpy', 'quaternion' and 'rotation', got {listing(turns)}. Keep one.")
        R = EYE3
        if self.rpy is not UNSET:
            R = rpy(*check.numbers(self.rpy, "rpy", 3))
        elif self.quaternion is not UNSET:
            x = check.numbers(self.quaternion, "quaternion", 4)
            size = math.hypot(*x)
            if not 1e-9 < size < 1e9:
                raise ModelError(f"quaternion: expected x, y, z, w of length one, got {list(x)}.")
            R = from_quaternion(*(value / size for value in x))
        elif self.rotation is not UNSET:
            R = Mat3.of(self.rotation)
        return check.pose(Pose(R, check.vector(self.xyz, "xyz")), "rotation")


class Note(Table):
    """A remark that `robot.diagnostics` repeats."""

    level: str
    where: str
    message: str


@cache
def table_of(kind: Any, only: tuple[str, ...] = ()) -> type[Table]:
    """The table of a dataclass; with `only`, one that names an item and sets some of its fields."""
    hints = get_type_hints(kind)
    columns: list[Any] = []
    for f in fields(kind):
        if only and f.name not in ("name", *only):
            continue
        T = _in_file(hints[f.name])
        columns.append((f.name, T) if f.default is MISSING else (f.name, T | UnsetType, UNSET))
    return _struct(kind.__name__, columns, builds=kind)


@cache
def document(form: str) -> type[Table]:
    """The whole file: in one of `FORMS`, or "side" for what is added to a robot of another file."""
    tables = {
        "joint": table_of(Joint, () if form == "link" else PATCH),
        "frame": table_of(Frame),
        "loop": table_of(Loop),
        "shape": table_of(Shape),
    }
    columns: list[Any] = [
        ("gravity", Three | UnsetType, UNSET),
        ("leads", list[str] | str | UnsetType, UNSET),
        ("reference", dict[str, float | list[float]] | UnsetType, UNSET),
        ("provenance", dict[str, str | int | float] | UnsetType, UNSET),
    ]
    if form != "side":
        tables[form] = table_of({"link": Link, "dh": DHRow, "khalil": KhalilRow}[form])
        tables["note"] = Note
        columns.append(("name", str | UnsetType, UNSET))
    if form in ("dh", "khalil"):
        columns.append(("angles", str | UnsetType, UNSET))
    if form == "dh":
        columns.append(("convention", str))
    columns += [(key, GenericAlias(list, T), []) for key, T in tables.items()]
    return _struct("Document", columns)


def keys_of(form: str) -> list[str]:
    """The keys of the whole file; with form "", those of any form."""
    forms = (form,) if form else FORMS
    return list(dict.fromkeys(key for f in forms for key in document(f).__struct_fields__))


def checked(data: dict[str, Any], kind: type[Table]) -> Any:
    """The data as a `kind`, or an error that names table and key."""
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise ModelError(_explained(str(error), data, kind)) from error


def header(key: str, k: int, table: Any) -> str:
    """How messages call a table: `[[joint]] 2 'elbow'`."""
    name = table.get("name") if isinstance(table, dict) else getattr(table, "name", None)
    return f"[[{key}]] {k} {name!r}" if name and isinstance(name, str) else f"[[{key}]] {k}"


def _struct(name: str, columns: list[Any], builds: Any = None) -> type[Table]:
    made: Any = msgspec.defstruct(
        name, columns, bases=(Table,), namespace={"builds": builds}, kw_only=True, forbid_unknown_fields=True
    )
    return made


def _in_file(hint: Any) -> Any:
    """The type that a field of the model has in a file."""
    if get_origin(hint) in (Union, UnionType) and NoneType in get_args(hint):
        hint = Union[tuple(T for T in get_args(hint) if T is not NoneType)]  # noqa: UP007, of how many is open
    if hint is Pose:
        return Origin
    if hint is Vec3:
        return Three
    if hint == tuple[float, ...]:  # a tensor: 3 or 6 numbers, or three rows
        return list[float | list[float]]
    kind: Any = hint
    return table_of(kind) if is_dataclass(hint) else hint


# ---- what msgspec says, in the words of the file


class _Spot(NamedTuple):
    """A place in a file: how messages call it, the table that it is in, and the last key and value on the way."""

    where: str
    table: dict[str, Any]
    kind: type[Table]
    key: str
    value: Any


def _explained(error: str, data: dict[str, Any], kind: type[Table]) -> str:
    """Where and what is wrong, from msgspec's "Expected `float`, got `str` - at `$.joint[1].drive.gear`"."""
    message, found, path = error.rpartition(" - at `$")
    if not found:
        message, path = error, ""
    spot = _spot(path, data, kind)
    keys = msgspec.structs.fields(spot.kind)
    unknown = [key for key in spot.table if key not in spot.kind.__struct_fields__]
    if "unknown field" in message and unknown:
        return f"{spot.where}{UnknownNameError('key', unknown[0], spot.kind.__struct_fields__)}"
    if "missing required field" in message:
        missing = [key.name for key in keys if key.required and key.name not in spot.table]
        return f"{spot.where}expected a value for {listing(missing)}."
    return f"{spot.where}expected {_expected(message, spot.key, spot.value)}."


def _spot(path: str, data: dict[str, Any], kind: type[Table]) -> _Spot:
    """The place at the end of a path such as `.joint[1].drive.gear`."""
    value: Any = data
    table = data
    inner: type[Table] | None = kind
    tables: list[str] = []
    key = rest = ""
    for name, index in re.findall(r"\.(\w+)|\[(\d+)\]", path):
        if name:
            inner = _table_in({f.name: f.type for f in msgspec.structs.fields(kind)}[name])
            value, rest, key = value[name], f"{rest}.{name}", name
        else:
            value, rest = value[int(index)], f"{rest}[{index}]"
        if inner is not None and isinstance(value, dict) and (tables or index):
            table, kind, rest = value, inner, ""
            tables.append(name or header(key, int(index) + 1, value))
    nested = f" [{'.'.join(tables[1:])}]" if tables[1:] else ""
    parts = (f"{''.join(tables[:1])}{nested}", rest.lstrip("."))
    return _Spot("".join(f"{part}: " for part in parts if part), table, kind, key, value)


def _expected(message: str, key: str, value: Any) -> str:
    if isinstance(value, dict) and "`array`" in message:
        return f"a list of tables [[{key}]], got one table [{key}]"
    match = re.match(r"Expected `(.*?)`(.*), got ", message)
    wanted = " or ".join(WORDS.get(w, w) for w in match[1].split(" | ")) + match[2] if match else "a number in range"
    got = repr(value)
    return f"{wanted}, got {got if len(got) < 80 else got[:76] + ' ...'}"


def _table_in(T: Any) -> Any:
    """The table inside a type such as `list[Table]` or `Table | UnsetType`, if any."""
    if isinstance(T, type) and issubclass(T, Table):
        return T
    return next((found for arg in get_args(T) if (found := _table_in(arg)) is not None), None)
