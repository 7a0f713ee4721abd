"""Tables from ROS bags and MCAP files: one for each topic, with the numbers of its messages by their path."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.errors import InputError, LinkwiseError
from linkwise.files import reading, required
from linkwise.table.table import Table
from linkwise.table.writing import Array

SUFFIXES = (".bag", ".db3", ".mcap")
STATE = ("position", "velocity", "effort")  # lists of a message that has a list `name` of what they belong to
WIDEST = 64  # numbers of an array in a message; pictures and clouds of points have more and are left out
Decode = Callable[[bytes], Any]


def is_bag(source: Any) -> bool:
    """Whether a path is that of a bag: a file by its suffix, or the folder of a ROS 2 bag."""
    path = Path(source)
    return path.suffix.lower() in SUFFIXES or os.path.isfile(path / "metadata.yaml")  # False of impossible names


def read_bag(source: Any, topics: Sequence[str] = ()) -> list[Table]:
    """The tables of a bag's topics; columns are `t`, in s since 1970, and `/topic.field.part` for each number.

    Lists of a message that has names, as sensor_msgs/JointState, become `/topic.position.elbow`, ... A message's own
    stamp is its time if it has one, else when it was recorded.

    Args:
        source: a ROS 1 bag, an MCAP file, or the folder or .db3 file of a ROS 2 bag.
        topics: to read; all if not given.
    """
    path = Path(source)
    otherwise = "expected a ROS bag or an MCAP file, got something else, or a part of it."
    rows: dict[str, list[tuple[int, dict[str, float]]]] = {}
    with ExitStack() as stack:
        if not os.path.isdir(path):  # a pipe or a device is refused before it is opened
            stack.enter_context(reading(path, otherwise))
        try:
            messages = _mcap(path, topics) if path.suffix.lower() == ".mcap" else _rosbags(path, topics)
            for topic, recorded, message in messages:
                numbers = dict(_numbers(message, topic))
                if numbers:
                    rows.setdefault(topic, []).append((_stamp(message) or recorded, numbers))
        except LinkwiseError:
            raise
        except Exception as error:  # damage has no bounds
            raise InputError(f"{path.name}: {otherwise}") from error
    if not rows:
        raise InputError(f"{path.name}: expected messages with numbers, got none.")
    return [_table(f"{path.name} {topic}", found) for topic, found in rows.items()]


def _table(source: str, rows: Sequence[tuple[int, dict[str, float]]]) -> Table:
    names = list(dict.fromkeys(name for _, numbers in rows for name in numbers))
    values: Array = np.array([[numbers.get(name, np.nan) for name in names] for _, numbers in rows])
    t = np.array([stamp for stamp, _ in rows], dtype=np.int64)
    start = int(t[0])  # in ns, of which a float keeps too few
    columns = {"t": (t - start) * 1e-9} | dict(zip(names, values.T, strict=True))
    return Table(columns, source, {"start": start * 1e-9})


def _rosbags(path: Path, topics: Sequence[str]) -> Iterator[tuple[str, int, Any]]:
    anyreader, typesys = required("rosbags.highlevel", "read_log"), required("rosbags.typesys", "read_log")
    store = typesys.get_typestore(typesys.Stores.LATEST)
    with anyreader.AnyReader([path], default_typestore=store) as reader:
        wanted = [c for c in reader.connections if not topics or c.topic in topics]
        if not wanted:
            return
        for connection, recorded, data in reader.messages(connections=wanted):
            yield connection.topic, recorded, reader.deserialize(data, connection.msgtype)


def _mcap(path: Path, topics: Sequence[str]) -> Iterator[tuple[str, int, Any]]:
    make_reader = required("mcap.reader", "read_log").make_reader
    decoders: dict[int, Decode | None] = {}
    with path.open("rb") as file:
        for schema, channel, message in make_reader(file).iter_messages(topics=list(topics) or None):
            if channel.id not in decoders:
                decoders[channel.id] = _decoder(schema, channel.message_encoding)
            if decode := decoders[channel.id]:
                yield channel.topic, message.log_time, decode(message.data)


def _decoder(schema: Any, encoding: str) -> Decode | None:
    """How messages of a channel are read: JSON, ROS 1 or ROS 2; None where that is not known."""
    if encoding == "json":
        return json.loads
    if encoding not in ("cdr", "ros1") or schema is None:
        return None
    typesys = required("rosbags.typesys", "read_log")
    store, kind = typesys.get_typestore(typesys.Stores.EMPTY), schema.name
    parts = kind.split("/")
    full = kind if len(parts) == 3 else f"{parts[0]}/msg/{parts[-1]}"
    store.register(typesys.get_types_from_msg(schema.data.decode(), full))
    one = store.deserialize_cdr if encoding == "cdr" else store.deserialize_ros1
    return lambda data: one(data, full)


def _stamp(message: Any) -> int:
    """The time in a message's header in ns, 0 where there is none."""
    stamp = _parts(_parts(message).get("header")).get("stamp")
    parts = _parts(stamp)
    whole, rest = parts.get("sec", parts.get("secs")), parts.get("nanosec", parts.get("nsec", parts.get("nsecs", 0)))
    return int(whole) * 1_000_000_000 + int(rest) if isinstance(whole, int) and isinstance(rest, int) else 0


def _parts(message: Any) -> Mapping[str, Any]:
    """The fields of a message by name."""
    if isinstance(message, Mapping):
        return message
    return {k: getattr(message, k) for k in getattr(message, "__dataclass_fields__", {}) if not k.startswith("_")}


def _numbers(message: Any, path: str) -> Iterator[tuple[str, float]]:
    """All numbers in a message by their path; of arrays, those that are short."""
    parts = _parts(message)
    names = parts.get("name")
    if not isinstance(names, (list, tuple)) or not all(isinstance(n, str) for n in names):
        names = ()
    for key, value in parts.items():
        if key == "header":
            continue
        where = f"{path}.{key}"
        if isinstance(value, (bool, int, float, np.number)):
            yield where, float(value)
        elif isinstance(value, (list, tuple, np.ndarray)):
            if len(value) > WIDEST:
                continue
            same = key in STATE and len(value) == len(names)
            for k, item in enumerate(value):
                place = f"{where}.{names[k] if same else k}"
                if isinstance(item, (bool, int, float, np.number)):
                    yield place, float(item)
                elif _parts(item):
                    yield from _numbers(item, place)
        elif _parts(value):
            yield from _numbers(value, where)
