"""Parallel robots in TOML files: `[platform]`, and `[[leg]]` with the links, joints and frames of its chain."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from linkwise.errors import InputError, ModelError, UnknownNameError
from linkwise.files import replacing
from linkwise.parallel.builders import delta, gough_stewart, three_rrr
from linkwise.parallel.robot import Leg, ParallelRobot
from linkwise.robot import check
from linkwise.robot.library.parallel import PARALLEL
from linkwise.robot.link import Link
from linkwise.robot.source import PathOrText
from linkwise.robot.toml import built, parsed, placed, robot_of_tables, toml_source
from linkwise.robot.toml_tables import Origin, checked, table_of
from linkwise.robot.toml_writer import GROUPS, table_lines, value_text

BUILDERS: dict[str, Callable[[], ParallelRobot]] = {
    "delta": delta,
    "gough_stewart": gough_stewart,
    "three_rrr": three_rrr,
}
KEYS = ("name", "gravity", "mobility", "platform", "leg")
CHAIN = ("link", "joint", "frame")
LEG = ("name", "tip", "at", "actuated", "base", "home", *CHAIN)


def save(robot: ParallelRobot, path: str | PathLike[str]) -> None:
    """Write the file; every number reads back as the same float."""
    valid = isinstance(path, (str, PathLike))
    if not valid or Path(fspath(path)).suffix.lower() != ".toml":
        raise InputError(f"save: expected a path that ends in .toml, got {path!r}.")
    with replacing(path) as part:
        part.write_bytes(text_of(robot).encode())


def text_of(robot: ParallelRobot) -> str:
    """The text of the file."""
    lines = [f"{key} = {value_text(getattr(robot, key))}" for key in ("name", "mobility", "gravity")]
    lines += ["", "[platform]", *table_lines(robot.platform, "platform")]
    for leg in robot.legs:
        lines += ["", "[[leg]]", f"name = {value_text(leg.name)}", f"tip = {value_text(leg.tip)}"]
        lines += [f"at = {value_text(leg.at)}", f"actuated = {value_text(leg.actuated)}"]
        lines += [f"base.xyz = {value_text(leg.base.p)}", f"base.rotation = {value_text(leg.base.R)}"]
        lines += [f"home.{value_text(n)} = {value_text(x)}" for n, x in leg.home]
        for key in CHAIN:
            for item in getattr(leg.robot, GROUPS[key]):
                lines += ["", f"[[leg.{key}]]", *table_lines(item, f"leg.{key}")]
    return "\n".join(lines) + "\n"


def load(source: PathOrText) -> ParallelRobot:
    """The robot of a file, of the text of one, or of a name."""
    if isinstance(source, str) and source in PARALLEL:
        return BUILDERS[source]()
    if isinstance(source, str) and source.isidentifier() and not Path(source).exists():
        raise InputError(f"ParallelRobot.load {source!r}: {UnknownNameError('parallel robot', source, PARALLEL)}")
    file = toml_source(source)
    data = parsed(file)
    with placed(file.name):
        _known(data, KEYS, "key of a parallel robot")
        if not isinstance(data.get("platform"), dict):
            raise ModelError("expected a table [platform], got none.")
        if not isinstance(data.get("leg"), list):
            raise ModelError("expected tables [[leg]], got none.")
        fields = {key: data[key] for key in ("mobility", "gravity", "name") if key in data}
    platform = built(_table({"name": "platform", **data["platform"]}, Link, f"{file.name}: [platform]"), file.name)
    legs = [_leg(table, f"{file.name}: [[leg]] {k}") for k, table in enumerate(data["leg"], start=1)]
    with placed(file.name):
        return ParallelRobot(platform, legs, **fields)


def _leg(table: Any, where: str) -> Leg:
    with placed(where):
        if not isinstance(table, dict):
            raise ModelError(f"expected a table, got {table!r}.")
        _known(table, LEG, "key of a leg")
        for key in ("name", "tip"):
            check.name(table.get(key), key)
    where = f"{where} {table['name']!r}"
    chain = robot_of_tables({key: table[key] for key in CHAIN if key in table}, where)
    with placed(where):
        base = checked(table.get("base", {}), Origin).pose()
        home, actuated = table.get("home", {}), table.get("actuated", [])
        if not isinstance(home, dict) or not isinstance(actuated, (str, list)):
            raise ModelError("expected a list of names for 'actuated' and a table of positions for 'home'.")
        return Leg(table["name"], chain, table["tip"], table.get("at", (0, 0, 0)), actuated, base, home)


def _table(data: dict[str, Any], kind: Any, where: str) -> Any:
    with placed(where):
        return checked(data, table_of(kind))


def _known(data: dict[str, Any], keys: tuple[str, ...], what: str) -> None:
    for key in data:
        if key not in keys:
            raise UnknownNameError(what, key, keys)
