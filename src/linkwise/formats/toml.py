"""Robots from TOML files, which can say all that a robot is, and what other forms leave out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from typing import Any

from linkwise.errors import LinkwiseError, ModelError, UnknownNameError, listing
from linkwise.formats.dh import khalil, modified_dh, standard_dh
from linkwise.formats.source import PathOrText, Source
from linkwise.robot.robot import Robot

WHOLE = ("gravity", "leads", "reference", "provenance")  # what a file, or a side file, says of the whole robot
PARTS = ("link", "joint", "frame", "loop", "shape")
CONVENTIONS = {"standard": standard_dh, "modified": modified_dh}
DEEPEST = 64  # parts of a dotted key; our own have six, and the cost of reading one grows with their square
WIDEST = 2000  # bits of a whole number that can still be shown in a message; of floats there are none so large
_PART = r"""(?:[\w-]++|"(?:[^"\\\n]|\\[^\n])*+"?+|'[^'\n]*+'?+)"""
_DOT = r"[ \t]*+\.[ \t]*+"
_TOKENS = (
    r"#[^\n]*+",  # comments
    r'"{3}(?:[^"\\]|\\.|"{1,2}+(?!"))*+"*+',  # strings of several lines
    r"'{3}(?:[^']|'{1,2}+(?!'))*+'*+",
    rf"{_PART}(?:{_DOT}{_PART}){{0,{DEEPEST - 1}}}+(?!{_DOT}{_PART})",  # keys and values
    r"""[^\w"'#-]""",
)
SHORT_KEYS = re.compile(f"(?:{'|'.join(_TOKENS)})*+", re.DOTALL)  # a text up to its first key of more parts


def load_toml(source: PathOrText) -> Robot:
    """The robot of a TOML file: links and joints, or rows of a DH or Khalil table, and frames, loops and gravity.

    Args:
        source: a path, or the text itself (bytes, or a string of several lines).
    """
    return read(toml_source(source))


def with_side(robot: Robot, source: PathOrText) -> Robot:
    """The robot with what a side file adds: drives, springs, friction and limits of joints, frames, loops, gravity.

    Args:
        robot: to add to.
        source: a TOML file with `[[joint]]` tables that name joints of the robot and hold only what is to be set,
            `[[frame]]`, `[[loop]]`, and `gravity`.
    """
    from linkwise.formats.toml_tables import checked, document, keys_of

    file = toml_source(source)
    data = parsed(file)
    with placed(file.name):
        for key in data:
            if key not in keys_of("side"):
                raise UnknownNameError("key of a side file", key, keys_of("side"))
        doc = checked(data, document("side"))
    return _patched(robot, doc, file)


def read(file: Source) -> Robot:
    """The robot of a file that has been opened."""
    from linkwise.formats.toml_tables import checked, document

    data = parsed(file)
    if "platform" in data or "leg" in data:
        from linkwise.formats.platform_toml import on_legs_of_tables

        return on_legs_of_tables(data, file.name)
    with placed(file.name):
        form = _form(data)
        doc = checked(data, document(form))
    if form != "link":
        return _patched(_of_rows(doc, form, file), doc, file)
    return _of_links(doc, file.name)


def robot_of_tables(data: dict[str, Any], where: str) -> Robot:
    """The robot of `[[link]]`, `[[joint]]`, ... that stand inside another table, which `where` names in messages."""
    from linkwise.formats.toml_tables import checked, document

    with placed(where):
        doc = checked(data, document("link"))
    return _of_links(doc, where)


def _of_links(doc: Any, where: str) -> Robot:
    parts: dict[str, Any] = {f"{key}s": _built_all(doc, key, where) for key in PARTS}
    with placed(where):
        return Robot(**parts, **_given(doc, "name", *WHOLE), notes=_notes(doc))


def _of_rows(doc: Any, form: str, file: Source) -> Robot:
    """The robot of a table's rows, still without what stands beside them."""
    rows = _built_all(doc, form, file.name)
    with placed(file.name):
        if form == "dh" and doc.convention not in CONVENTIONS:
            raise ModelError(f"convention: expected one of {listing(CONVENTIONS)}, got {doc.convention!r}.")
        build = CONVENTIONS[doc.convention] if form == "dh" else khalil
    with placed(f"{file.name}: [[{form}]]"):
        robot = build(rows, **_given(doc, "name", "gravity", "angles"))
        return robot.replace(notes=(*robot.notes, *_notes(doc)))


def _patched(robot: Robot, doc: Any, file: Source) -> Robot:
    """The robot with joints changed, and frames, loops and gravity added."""
    from linkwise.formats.toml_tables import header

    joints = {j.name: j for j in robot.joints}
    seen: set[str] = set()
    for k, table in enumerate(doc.joint, start=1):
        where = f"{file.name}: {header('joint', k, table)}"
        with placed(where):
            if table.name not in joints:
                raise UnknownNameError("joint", table.name, joints)
            if table.name in seen:
                raise ModelError("expected one [[joint]] of that name, got two. Put them into one.")
        seen.add(table.name)
        joints[table.name] = built(table, where, joints[table.name])
    further = [item for key in ("frame", "loop", "shape") for item in _built_all(doc, key, file.name)]
    with placed(file.name):
        patched = robot.replace(*(joints[name] for name in seen)).add(*further)
        return patched.replace(**_given(doc, *WHOLE))


# ---- tables to dataclasses


def _built_all(doc: Any, key: str, where: str) -> list[Any]:
    from linkwise.formats.toml_tables import header

    return [built(t, f"{where}: {header(key, k, t)}") for k, t in enumerate(getattr(doc, key), start=1)]


def built(table: Any, where: str, old: Any = None, path: tuple[str, ...] = ()) -> Any:
    """What a table builds; with `old`, that with the table's fields exchanged."""
    from linkwise.formats.toml_tables import Origin, Table

    values = {}
    for key, value in table.given():
        if isinstance(value, Table) and not isinstance(value, Origin):
            value = built(value, where, getattr(old, key, None), (*path, key))
        elif isinstance(value, Origin):
            with placed(f"{where} [{'.'.join((*path, key))}]"):
                value = value.pose()
        values[key] = value
    name = getattr(table, "name", None)
    plain = (f"{path[-1]} ", f"{path[-1]}: ") if path else (f"{table.builds.__name__.lower()} {name!r} ",)
    with placed(f"{where} [{'.'.join(path)}]" if path else where, *plain):
        return table.builds(**values) if old is None else replace(old, **values)


def _given(doc: Any, *keys: str) -> dict[str, Any]:
    """What the file says of the whole robot."""
    return {key: value for key, value in doc.given() if key in keys}


def _notes(doc: Any) -> Iterable[tuple[str, str, str]]:
    return [(note.level, note.where, note.message) for note in doc.note]


@contextmanager
def placed(where: str, *said: str) -> Iterator[None]:
    """Say where before errors raised inside; what they repeat of it, one of `said`, is cut."""
    try:
        yield
    except LinkwiseError as error:
        message = str(error)
        for start in said:
            message = message.removeprefix(start)
        raise ModelError(f"{where}: {message}") from error


# ---- files to tables


def toml_source(source: PathOrText) -> Source:
    """A file to read, or the text of one."""
    if isinstance(source, str) and "\n" in source:
        source = source.encode(errors="replace")
    if not isinstance(source, (str, bytes, PathLike)):
        raise LinkwiseError(f"TOML file: expected a path or a text, got {source!r}.")
    return Source.of(source, "TOML text")


def parsed(file: Source) -> dict[str, Any]:
    """The file as nested dictionaries."""
    import tomllib

    try:
        text = file.data.decode("utf-8-sig").replace("\r\n", "\n")
        short = SHORT_KEYS.match(text)
        if short and short.end() < len(text):
            line = text.count("\n", 0, short.end()) + 1
            raise file.error(line, f"expected keys of at most {DEEPEST} parts, got one of more.")
        data = tomllib.loads(text)
        check_whole_numbers(data, file.name, WIDEST)
        return data
    except ModelError:
        raise
    except RecursionError:
        raise ModelError(f"{file.name}: expected a robot, got lists or tables nested too deeply.") from None
    except UnicodeDecodeError as error:
        line = file.data.count(b"\n", 0, error.start) + 1
        raise file.error(line, "expected TOML, got bytes that are no UTF-8 text.") from error
    except ValueError as error:
        reason, _, place = str(error).partition(" (at ")
        number = re.search(r"line (\d+)", place)
        line = int(number[1]) if number else file.data.count(b"\n") + 1
        raise file.error(line, f"expected TOML, got something that cannot be read: {reason}.") from error


def check_whole_numbers(data: dict[str, Any], name: str, bits: int) -> None:
    """Refuse those that are longer; TOML knows 63 bits and a sign, but Python reads, if not prints, any."""
    rest: list[Any] = [data]
    while rest:
        item = rest.pop()
        if isinstance(item, (dict, list)):
            rest.extend(item.values() if isinstance(item, dict) else item)
        elif type(item) is int and item.bit_length() > bits:
            raise ModelError(f"{name}: expected whole numbers of 64 bits, got one of {item.bit_length()}.")


def _form(data: dict[str, Any]) -> str:
    """Which of the forms the file has."""
    from linkwise.formats.toml_tables import FORMS, keys_of

    for key in data:
        if key not in keys_of(""):
            raise UnknownNameError("key", key, keys_of(""))
    found = [key for key in FORMS if key in data]
    if len(found) != 1:
        remedy = "Rows of a table stand for both links and joints." if found else "A robot has at least one link."
        got = " and ".join(f"[[{key}]]" for key in found) or "none"
        raise ModelError(f"expected one of {', '.join(f'[[{key}]]' for key in FORMS)}, got {got}. {remedy}")
    return found[0]
