"""Platforms on legs in TOML files of their own form: `[platform]`, and `[[leg]]` with links, joints and frames."""

from __future__ import annotations

from typing import Any

from linkwise.errors import ModelError, UnknownNameError
from linkwise.formats.toml import built, placed, robot_of_tables
from linkwise.formats.toml_tables import Origin, checked, table_of
from linkwise.platforms.former import MOBILITIES
from linkwise.platforms.legs import Leg, on_legs
from linkwise.robot import check
from linkwise.robot.link import Link
from linkwise.robot.robot import Robot

KEYS = ("name", "gravity", "mobility", "platform", "leg")
CHAIN = ("link", "joint", "frame")
LEG = ("name", "tip", "at", "actuated", "base", "home", *CHAIN)


def on_legs_of_tables(data: dict[str, Any], where: str) -> Robot:
    """The robot of a file's tables, which `where` names in messages."""
    with placed(where):
        _known(data, KEYS, "key of a platform on legs")
        if not isinstance(data.get("platform"), dict):
            raise ModelError("expected a table [platform], got none.")
        if not isinstance(data.get("leg"), list):
            raise ModelError("expected tables [[leg]], got none.")
        mobility = data.get("mobility", "spatial")
        if mobility not in MOBILITIES:
            raise ModelError(f"{UnknownNameError('mobility', mobility, MOBILITIES)}")
        fields = {key: data[key] for key in ("gravity", "name") if key in data}
    platform = built(_table({"name": "platform", **data["platform"]}, Link, f"{where}: [platform]"), where)
    legs = [_leg(table, f"{where}: [[leg]] {k}") for k, table in enumerate(data["leg"], start=1)]
    with placed(where):
        return on_legs(platform, legs, MOBILITIES[mobility], **fields)


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
