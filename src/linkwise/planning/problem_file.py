"""Planning problems as TOML files, with the words of the library; errors name the key."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from linkwise.check import number, vector
from linkwise.deprecated import RENAMED_KEYS, warn
from linkwise.errors import InputError, LinkwiseError, UnknownNameError
from linkwise.files import contents
from linkwise.formats.source import LARGEST, Source
from linkwise.formats.toml import check_whole_numbers, parsed
from linkwise.planning import constraints, contact, terms, tool
from linkwise.planning.clearance import Clearance, clearance
from linkwise.planning.ends import State
from linkwise.planning.information import information
from linkwise.planning.joint_limits import KINDS, joints
from linkwise.planning.term_and_constraint import Sum, Term
from linkwise.robot.geometry import Shape
from linkwise.spatial import Pose

TERMS: dict[str, Callable[..., Term]] = {
    "time": terms.time,
    "effort": terms.effort,
    "effort_rate": terms.effort_rate,
    "power": terms.power,
    "energy": terms.energy,
    "jerk": terms.jerk,
    "information": information,
    "reaction": terms.reaction,
    "tool_path": terms.tool_path,
}
LISTS: dict[str, Callable[..., Any]] = {
    "reaction": constraints.reaction,
    "via": tool.via,
    "tool_path": tool.tool_path,
    "clearance": clearance,
    "contact": contact.contact,
    "passive": constraints.passive,
    "cyclic": constraints.cyclic,
    "mirrored": constraints.mirrored,
}
OBSTACLE = ("name", "shape", "size", "xyz", "rpy", "file")
OPTIONS = (
    "duration", "control_points", "degree", "points", "knots", "guess", "solver", "tolerance", "refine",
    "time_limit", "iterations", "external",
)  # fmt: skip
KEYS = ("start", "goal", "minimize", "limits", "obstacle", *LISTS, *OPTIONS)


def read_problem(path: str | PathLike[str], margin: float | None = None) -> dict[str, Any]:
    """The arguments of `plan` that a TOML file says, all but the robot.

    `minimize` has terms by name, each with a factor or a table of arguments with its `factor`; `limits` kinds, each
    `true` for the robot's own or with a value, or is `true` for all that the robot has, as without it, or `false`;
    constraints of other kinds are lists of tables, [[reaction]], [[via]]. An [[obstacle]] is kept clear of, by the
    margin of a [[clearance]] or by the one that is given here.
    """
    file = Source(Path(path).name, contents(path, LARGEST))
    try:
        data = parsed(file)
        check_whole_numbers(data, file.name, 63)
    except LinkwiseError as error:
        raise InputError(str(error)) from error
    try:
        return _arguments(_renamed(data), margin)
    except LinkwiseError as error:
        raise InputError(f"{file.name}: {error}") from error


def _renamed(data: Mapping[str, Any]) -> dict[str, Any]:
    """The same with old names of keys exchanged for new ones, of the problem and of what it minimises."""
    for old, new in RENAMED_KEYS.items():
        if old in data:
            warn(f"key {old!r} of problem files", repr(new))
    found = {RENAMED_KEYS.get(key, key): value for key, value in data.items()}
    if isinstance(found.get("minimize"), Mapping):
        found["minimize"] = _renamed(found["minimize"])
    return found


def _arguments(data: Mapping[str, Any], margin: float | None = None) -> dict[str, Any]:
    for key in data:
        if key not in KEYS:
            raise UnknownNameError("key", key, KEYS)
    found: dict[str, Any] = {key: data[key] for key in OPTIONS if key in data}
    for key in ("start", "goal"):
        if key in data:
            found[key] = _state(key, data[key])
    if "minimize" in data:
        found["minimize"] = _objective(data["minimize"])
    rows = [_limits(data["limits"])] if "limits" in data else []
    obstacles = obstacles_of(data.get("obstacle", []))

    def among(key: str, table: Any) -> Any:
        """The arguments of a clearance of all links with the obstacles among them."""
        whole = key == "clearance" and isinstance(table, Mapping) and "frame" not in table
        return {"obstacles": obstacles, **table} if whole else table

    for key, make in LISTS.items():
        group = data.get(key, [])
        if not isinstance(group, list):
            raise InputError(f"{key}: expected tables, [[{key}]], got {group!r}.")
        rows += [_made(f"{key}[{k}]", make, among(key, table)) for k, table in enumerate(group)]
    if margin is not None or (obstacles and not any(isinstance(r, Clearance) for r in rows)):
        rows = [r for r in rows if not isinstance(r, Clearance)]
        rows.append(clearance(obstacles, 0.0 if margin is None else margin))
    return {**found, "subject_to": rows or None}


def obstacles_of(tables: Any) -> list[Shape]:
    """The shapes of [[obstacle]] tables: name, shape, size, and perhaps xyz, rpy and file."""
    if not isinstance(tables, list) or not all(isinstance(t, Mapping) for t in tables):
        raise InputError(f"obstacle: expected tables, [[obstacle]], got {tables!r}.")
    found = []
    for k, table in enumerate(tables):
        for name in table:
            if name not in OBSTACLE:
                raise UnknownNameError(f"key of obstacle[{k}]", name, OBSTACLE)
        if "shape" not in table:
            raise InputError(f'obstacle[{k}]: expected shape = "box" or another, got none.')
        size = table.get("size", [])
        at = [vector(table.get(key, (0.0, 0.0, 0.0)), f"obstacle[{k}].{key}").tolist() for key in ("xyz", "rpy")]
        try:
            found.append(Shape(table.get("name", f"obstacle{k + 1}"), table["shape"],
                               tuple(size) if isinstance(size, list) else (size,), Pose.of(*at),
                               file=table.get("file", "")))  # fmt: skip
        except (LinkwiseError, TypeError) as error:
            raise InputError(f"obstacle[{k}]: {error}") from error
    return found


def _state(key: str, value: Any) -> Any:
    """Positions as a list or by joint; a table with q, qd, ... is a state."""
    fields = set(inspect.signature(State).parameters)
    if isinstance(value, Mapping) and value and set(value) <= fields:
        return State(**value)
    if not isinstance(value, (list, Mapping)):
        raise InputError(f"{key}: expected positions as a list or by joint, got {value!r}.")
    return value


def _objective(table: Any) -> Sum:
    if not isinstance(table, Mapping) or not table:
        raise InputError(f"minimize: expected terms with factors, time = 1.0, got {table!r}.")
    total = Sum(())
    for key, given in table.items():
        if key not in TERMS:
            raise UnknownNameError("term in minimize", key, TERMS)
        for one in given if isinstance(given, list) else [given]:
            arguments = dict(one) if isinstance(one, Mapping) else {"factor": one}
            factor = arguments.pop("factor", 1.0)
            number(factor, f"minimize.{key}", "a number as the factor")
            total = total + factor * _made(f"minimize.{key}", TERMS[key], arguments)
    return total


def _limits(table: Any) -> Any:
    if table is True:
        return joints()
    if table is False:
        return joints(position={})
    if not isinstance(table, Mapping) or not table:
        raise InputError(f"limits: expected kinds with true or a value, effort = true, or true for all, got {table!r}.")
    own, given = [], {}
    for kind, value in table.items():
        if kind not in KINDS:
            raise UnknownNameError("kind of limits", kind, KINDS)
        if value is True:
            own.append(kind)
        elif value is not False:
            given[kind] = value
    return joints(*own, **given)


def _made(key: str, make: Callable[..., Any], table: Any) -> Any:
    """A word from the table of its arguments."""
    if not isinstance(table, Mapping):
        raise InputError(f"{key}: expected a table of arguments, got {table!r}.")
    parameters = inspect.signature(make).parameters
    arguments, names = dict(table), [n for n, p in parameters.items() if p.kind is not p.VAR_KEYWORD]
    if make is constraints.passive:
        joints = arguments.pop("joints", [])
        names = ["joints", "tolerance"]
        positional = tuple(joints) if isinstance(joints, list) else (joints,)
    else:
        positional = ()
    open_ended = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    for name in arguments:
        if name not in names and not open_ended:
            raise UnknownNameError(f"argument of {key}", name, names)
    missing = [n for n, p in parameters.items()
               if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD and n not in arguments]  # fmt: skip
    if missing:
        raise InputError(f"{key}: expected {missing[0]} = ..., got none.")
    try:
        return make(*positional, **arguments)
    except LinkwiseError as error:
        raise InputError(f"{key}: {error}") from error
