"""Rows of tables of geometric parameters, and their checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, MISSING, dataclass, fields, replace
from math import radians
from typing import Any, ClassVar, NamedTuple, TypeVar

from linkwise.errors import LinkwiseError, ModelError, UnknownNameError, listing
from linkwise.robot import check
from linkwise.robot.drive import Friction, Limits
from linkwise.robot.joint import Joint
from linkwise.robot.link import Link
from linkwise.spatial import Pose
from linkwise.vector import EZ, ZERO3, Vec3

BASE = "base"
UNITS = ("radians", "degrees")
SIGMA = {0: "revolute", 1: "prismatic", 2: "fixed"}

T = TypeVar("T")
R = TypeVar("R", "DHRow", "KhalilRow")


@dataclass(frozen=True, kw_only=True)
class Row:
    """The link that a row carries, and its joint but for the geometry.

    `name` names both joint and link; without one, those of row 3 are "joint3" and "link3". `com` and
    `inertia` (about the com) are in the link's frame, as in `Link`. `friction` and `limits` may be mappings.
    """

    mass: float = 0.0
    com: Vec3 = ZERO3
    inertia: tuple[float, ...] = (0.0, 0.0, 0.0)
    name: str | None = None
    armature: float = 0.0
    friction: Friction = Friction()
    limits: Limits = Limits()

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        for f in fields(self):
            if f.type == "float":
                least = 0.0 if f.name in ("mass", "armature") else None
                set_(self, f.name, check.number(getattr(self, f.name), f.name, least=least))
        set_(self, "com", check.vector(self.com, "com"))
        set_(self, "inertia", check.tensor(self.inertia, "inertia"))
        set_(self, "friction", _made(Friction, self.friction, "friction"))
        set_(self, "limits", _made(Limits, self.limits, "limits"))
        if self.name is not None:
            check.name(self.name, "name")

    def link_name(self, k: int) -> str:
        return self.name or f"link{k}"

    def joint_name(self, k: int) -> str:
        return self.name or f"joint{k}"

    def link(self, k: int) -> Link:
        return Link(self.link_name(k), self.mass, self.com, self.inertia)

    def joint(self, k: int, parent: str, kind: str, X: Pose, axis: Vec3 = EZ, anchor: Vec3 = ZERO3) -> Joint:
        return Joint(
            self.joint_name(k), parent, self.link_name(k), kind, X, axis, anchor,
            self.friction, self.armature, limits=self.limits,
        )  # fmt: skip


@dataclass(frozen=True)
class DHRow(Row):
    """A row of a Denavit-Hartenberg table: angles in rad, lengths in m; by keyword, the link it carries.

    `DHRow(theta, d, a, alpha, "revolute", mass=1.0, com=(-0.2, 0, 0), inertia=(0.1, 0.1, 0.1), name="elbow")`

    `antecedent`, by keyword too, is 0 for the base, or the number (from 1) or name of the row that this one hangs on;
    without one, that is the row before.
    """

    ANGLES: ClassVar = ("theta", "alpha")
    LENGTHS: ClassVar = ("d", "a")

    theta: float
    d: float
    a: float
    alpha: float
    kind: str = "revolute"
    _: KW_ONLY
    antecedent: int | str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.antecedent is not None:
            object.__setattr__(self, "antecedent", _checked_antecedent(self.antecedent))
        if self.kind not in tuple(SIGMA.values())[:2]:
            raise ModelError(f"kind: expected 'revolute' or 'prismatic', got {self.kind!r}.")


@dataclass(frozen=True)
class KhalilRow(Row):
    """A row of Khalil's table of a tree: angles in rad, lengths in m; by keyword, the link it carries.

    `antecedent` is 0 for the base, or the number (from 1) or name of the row that this one hangs on; `sigma`
    is 0 for a revolute joint, 1 for a prismatic one, 2 for a fixed one.
    """

    ANGLES: ClassVar = ("gamma", "alpha", "theta")
    LENGTHS: ClassVar = ("b", "d", "r")

    antecedent: int | str
    sigma: int
    gamma: float
    b: float
    alpha: float
    d: float
    theta: float
    r: float

    def __post_init__(self) -> None:
        super().__post_init__()
        set_ = object.__setattr__
        if check.number(self.sigma, "sigma") not in SIGMA:
            raise ModelError(f"sigma: expected 0 (revolute), 1 (prismatic) or 2 (fixed), got {self.sigma!r}.")
        set_(self, "sigma", int(self.sigma))
        set_(self, "antecedent", _checked_antecedent(self.antecedent))


def _checked_antecedent(given: Any) -> int | str:
    """A row's name, or its number as a whole one."""
    if isinstance(given, str):
        return given
    if check.number(given, "antecedent") % 1:
        raise ModelError(f"antecedent: expected a row's number or name, got {given!r}.")
    return int(given)


AnyRow = Row | Mapping[str, Any] | Sequence[Any]


@contextmanager
def in_row(k: int) -> Iterator[None]:
    """Name the row in errors raised inside."""
    try:
        yield
    except LinkwiseError as error:
        raise ModelError(f"row {k}: {error}") from error


class Reading(NamedTuple):
    """How the numbers of a table are to be read.

    `angles` are "radians" or "degrees"; `order` names the columns of rows that are sequences: "alpha a d theta".
    """

    angles: str = UNITS[0]
    order: str | Sequence[str] | None = None

    def columns(self, kind: type[Any]) -> list[str]:
        """The names of a sequence's numbers: those of the order, then the others that a row has a place for."""
        if self.angles not in UNITS:
            raise ModelError(f"angles: expected one of {listing(UNITS)}, got {self.angles!r}.")
        places = [f.name for f in fields(kind) if f.init and not f.kw_only]
        needed = [f.name for f in fields(kind) if f.default is MISSING]
        if self.order is None:
            return places
        first = self.order.replace(",", " ").split() if isinstance(self.order, str) else list(self.order)
        for name in first:
            if name not in places:
                raise UnknownNameError("column in order", name, places)
        if len(set(first)) < len(first) or not set(needed) <= set(first):
            raise ModelError(f"order: expected {listing(needed)}, each once, got {listing(first)}.")
        return [*first, *(name for name in places if name not in first)]

    def turned(self, row: R) -> R:
        """A row with its angles in rad."""
        if self.angles == UNITS[0]:
            return row
        angles: dict[str, Any] = {name: radians(getattr(row, name)) for name in row.ANGLES}
        return replace(row, **angles)


def table_of(kind: type[R], rows: Any, reading: Reading = Reading()) -> tuple[list[R], bool]:
    """The rows of a table as `kind`, each with a name of its own; and whether they were sequences of numbers."""
    columns = reading.columns(kind)
    if isinstance(rows, (str, bytes, Mapping)) or not isinstance(rows, Iterable):
        raise ModelError(f"rows: expected a list of {kind.__name__}, got {rows!r}.")
    table: list[R] = []
    owner = {BASE: "the base"}
    listed = True
    for k, given in enumerate(rows, start=1):
        with in_row(k):
            row: Any = _made(kind, given, "", columns)
            names = {row.joint_name(k), row.link_name(k)}
            for name in names & owner.keys():
                raise ModelError(f"name: expected a name of its own, got {name!r}, that of {owner[name]}.")
        owner.update(dict.fromkeys(names, f"row {k}"))
        listed = listed and not isinstance(given, (Row, Mapping))
        table.append(reading.turned(row))
    if not table:
        raise ModelError("rows: expected at least one row, got none.")
    return table, listed


def _made(kind: type[T], given: Any, what: str, places: Sequence[str] = ()) -> T:
    """A `kind` from itself, from a mapping with its fields, or from a sequence of those that have a place."""
    if isinstance(given, kind):
        return given
    known = fields(kind)  # type: ignore[arg-type]
    places = places or [f.name for f in known if f.init and not f.kw_only]
    start = f"{what}: " if what else ""
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise ModelError(f"{start}expected a {kind.__name__} or a mapping, got {given!r}.")
    if not isinstance(given, Mapping):
        given = list(given)
        if len(given) > len(places):
            raise ModelError(f"{start}expected at most {len(places)} values ({listing(places)}), got {len(given)}.")
        given = dict(zip(places, given, strict=False))
    for key in given:
        if key not in {f.name for f in known}:
            raise UnknownNameError(f"{what} key".strip(), key, [f.name for f in known])
    missing = [f.name for f in known if f.default is MISSING and f.name not in given]
    if missing:
        raise ModelError(f"{start}expected a value for {listing(missing)}, got none.")
    return kind(**given)


def antecedents(table: Sequence[DHRow | KhalilRow], names: Sequence[str]) -> list[int]:
    """The number of the row that each row hangs on, 0 for the base, to which all ways must lead."""
    number = {BASE: 0, **{name: k for k, name in enumerate(names, start=1)}}
    parents: list[int] = []
    for k, row in enumerate(table, start=1):
        a = k - 1 if row.antecedent is None else row.antecedent
        if isinstance(a, str):
            if a not in number:
                raise ModelError(f"row {k}: antecedent: {UnknownNameError('row', a, number)}")
            a = number[a]
        if not 0 <= a <= len(table):
            raise ModelError(f"row {k}: antecedent: expected 0 (the base) to {len(table)}, got {a}.")
        parents.append(a)
    grounded = {0}
    for k in range(1, len(table) + 1):
        path: dict[int, None] = {}  # in order
        while k not in grounded:
            if k in path:
                cycle = ", ".join(str(j) for j in [*path][[*path].index(k) :])
                raise ModelError(f"row {k}: antecedent: expected a way to the base, got a cycle of rows {cycle}.")
            path[k] = None
            k = parents[k - 1]
        grounded.update(path)
    return parents
