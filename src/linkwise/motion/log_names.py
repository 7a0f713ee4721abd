"""Which columns of a log are which channel of a robot: by our names, by patterns, or guessed from common spellings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from linkwise.errors import InputError, UnknownNameError, listing
from linkwise.motion.columns import column_names
from linkwise.robot.robot import Robot
from linkwise.table import TIME, WRENCH

CHANNELS = ("q", "qd", "tau", "current")
WORDS = {
    "q": "q pos position positions angle angles theta",
    "qd": "qd dq qdot dtheta thetad thetadot vel velocity velocities speed speeds omega",
    "tau": "tau torque torques trq effort efforts moment moments",
    "current": "i current currents curr cur amp amps",
}
MEANS = {word: quantity for quantity, words in WORDS.items() for word in words.split()}
NEUTRAL, WISHED, ELSEWHERE = (
    frozenset(words.split())
    for words in (
        "joint joints jnt axis j a actual act measured meas msr state states read sensor robot arm m motor field data",
        "target desired des d c command commanded cmd ref reference goal set setpoint planned",
        "tcp tool ee cartesian cart pose flange base wrench temperature temperatures temp voltage error err limit",
    )
)
TOLD = {"deg": "deg", "degs": "deg", "degree": "deg", "degrees": "deg", "rpm": "rpm", "ma": "mA", "mnm": "mNm"}
STAMPS = re.compile(
    r"(?:.*[./ _%]|rosbag)?(?:t|ts|time|times|timestamp|timestamps|stamp|secs|seconds|elapsed|elapsed_time|clock|zeit)"
    r"(?:[ _(\[]+(s|sec|ms|us|ns|msec|usec|nsec)[)\]]?)?",
    flags=re.IGNORECASE,
)
SENSED = re.compile(rf"wrench\..+\.(?:{'|'.join(WRENCH)})")
PLAIN = ("rad", "nm", "s", "dot")  # units that need no factor, and what makes a rate
BARE = ("",)  # instead of words of a group that is named by joints alone, so that others are plainer
SHOWN = 3  # names of a group in a note


class Names(NamedTuple):
    """Which column is what.

    Attributes:
        found: for each channel's column the name in the table.
        notes: what was guessed, or left aside.
        units: of channels, where a name tells them.
        used: names in the table that are taken, or left out on request.
    """

    found: dict[str, str]
    notes: tuple[str, ...]
    units: dict[str, str]
    used: set[str]


def channel_names(robot: Robot, quantity: str) -> list[str]:
    """Names of the columns of a channel: of the coordinates for positions and their rates, else of the drives."""
    if quantity in ("q", "qd", "qdd"):
        return column_names(robot, quantity)
    return [f"{quantity}.{name.removeprefix('tau.')}" for name in column_names(robot, "tau")]


def match(names: Sequence[str], robot: Robot, given: Mapping[str, Any], quantity: str = "") -> Names:
    """Find the channels of a robot among the names of a table.

    Args:
        names: in the table.
        robot: whose joints and drives they may name.
        given: by name or pattern in the table, in which `*` runs over the joints, a channel such as "q", a column such
            as "q.elbow", "t", or None for what is to be left out.
        quantity: what columns are that do not say it.
    """
    found: dict[str, str] = {}
    used: set[str] = set()
    for pattern, target in given.items():
        for ours, theirs in _mapped(pattern, target, names, robot):
            if ours in found:
                raise InputError(f"columns: expected one column for {ours!r}, got {found[ours]!r} and {theirs!r}.")
            used.add(theirs)
            if target is not None:
                found[ours] = theirs
    valid = {ours for key in CHANNELS for ours in channel_names(robot, key)}
    for name in names:
        full = name if name in valid or name in TIME else f"{quantity or 'q'}.{name}"
        if name in CHANNELS and len(channel_names(robot, name)) == 1:
            full = channel_names(robot, name)[0]
        ours = "t" if name in TIME else full
        if name not in used and ours not in found and (ours == "t" or full in valid):
            found[ours] = name
            used.add(name)
    for name in names:
        if name not in used and name not in found and SENSED.fullmatch(name):
            found[name] = name
            used.add(name)
    rest = [name for name in names if name not in used]
    units: dict[str, str] = {}
    notes: list[str] = []
    if "t" not in found:
        for name in rest:
            if stamp := STAMPS.fullmatch(name):
                found["t"] = name
                used.add(name)
                units |= {"t": stamp[1].lower().removesuffix("ec")} if stamp[1] else {}
                notes.append(f"taken for the time: {name}")
                break
    wanted = [key for key in CHANNELS if not any(ours in found for ours in channel_names(robot, key))]
    groups = _groups([name for name in rest if name not in used], robot, quantity)
    for key in wanted:
        notes += _guess(key, groups, robot, found, units)
    return Names(found, tuple(notes), units, used | set(found.values()))


def joints_among(names: Sequence[str], given: Mapping[str, Any]) -> list[str]:
    """Names for the joints whose positions are among the columns of a table, where no robot says them."""
    for pattern, target in given.items():
        if target == "q" and "*" in pattern:
            before, after = pattern.split("*", 1)
            stars = [n[len(before) : len(n) - len(after)] for n in names if n.startswith(before) and n.endswith(after)]
            return [f"joint{star}" if star.isdigit() else star for star in sorted(stars, key=_natural)]
    if own := [name.removeprefix("q.") for name in names if name.startswith("q.")]:
        return [f"joint{name}" if name.isdigit() else name for name in own]
    for word in WORDS["q"].split():  # lists with names, as in messages
        if own := [name.split(f".{word}.", 1)[1] for name in names if f".{word}." in name]:
            return own
    groups: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        words = [w.lower() for w in re.findall(r"\d+|[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]
        if {MEANS.get(w) for w in words} == {"q", None} and words[-1].isdigit() | any(w.isdigit() for w in words):
            rest = tuple(w for w in words if not w.isdigit())
            if not (WISHED | ELSEWHERE) & set(rest):
                groups.setdefault(rest, []).append(next(w for w in reversed(words) if w.isdigit()))
    if groups:
        _, numbers = max((len(group), group) for group in groups.values())
        return [f"joint{n}" for n in sorted(numbers, key=int)]
    known = {f"{key}." for key in CHANNELS}
    return [n for n in names if not STAMPS.fullmatch(n) and not any(n.startswith(key) for key in known)]


def _mapped(pattern: Any, target: Any, names: Sequence[str], robot: Robot) -> Iterable[tuple[str, str]]:
    """Pairs of our name and the table's that a pattern stands for."""
    if not isinstance(pattern, str) or not (target is None or isinstance(target, str)):
        raise InputError(f"columns: expected names by pattern, as in {{'pos_*': 'q'}}, got {pattern!r}: {target!r}.")
    if "*" not in pattern:
        if pattern not in names:
            raise UnknownNameError("column", pattern, names)
        own = channel_names(robot, target) if target in CHANNELS else [target or pattern]
        if len(own) > 1:
            raise InputError(
                f"columns: expected for {pattern!r} one column, such as '{own[0]}', got {target!r}, which is"
                f" {len(own)}. Name it, or give a pattern, in which * runs over the joints."
            )
        return [(own[0], pattern)]
    form = re.compile("(.+)".join(map(re.escape, pattern.split("*", 1))).replace(r"\*", ".+"))
    hits = {hit[1]: name for name in names if (hit := form.fullmatch(name))}
    if not hits:
        raise UnknownNameError("column", pattern, names)
    if target is None:
        return [(name, name) for name in hits.values()]
    if "*" in target:
        return [(target.replace("*", star), name) for star, name in hits.items()]
    own = channel_names(robot, target)
    ours = {name.removeprefix(f"{target}."): name for name in own}
    if set(hits) <= set(ours):
        return [(ours[star], name) for star, name in hits.items()]
    if len(hits) != len(own):
        raise InputError(
            f"columns {pattern!r}: expected {len(own)} columns, for {listing(ours, 8)}, got {len(hits)}:"
            f" {listing(hits.values(), 8)}."
        )
    return list(zip(own, (hits[star] for star in sorted(hits, key=_natural)), strict=True))


def _natural(text: str) -> list[Any]:
    """By which q10 comes after q9."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.findall(r"\d+|\D+", text)]


class Group(NamedTuple):
    """Columns of one spelling, by joint or number."""

    quantity: str
    words: tuple[str, ...]
    columns: dict[str, str]
    named: bool
    unit: str


def _groups(names: Sequence[str], robot: Robot, quantity: str) -> list[Group]:
    """Columns that differ in a joint's name or a number alone."""
    found: dict[tuple[str, tuple[str, ...], bool, str], dict[str, str]] = {}
    forms = _spellings(robot)
    for name in names:
        joint, rest = next(((n, f.sub(" ", name, count=1)) for n, f in forms if f.search(name)), ("", name))
        tokens = [w.lower() for w in re.findall(r"\d+|mA|[A-Z]+(?![a-z])|[A-Z]?[a-z]+", rest)]
        label, named = joint, bool(joint)
        if not named:
            places = [k for k, word in enumerate(tokens) if word.isdigit()]
            if not places:
                continue
            label = tokens.pop(places[-1])
        unit = next((TOLD[word] for word in tokens if word in TOLD), "")
        both = pairwise([*tokens, ""])
        tokens = ["qd" if after == "dot" and MEANS.get(word) == "q" else word for word, after in both]
        means = [MEANS[word] for word in tokens if word in MEANS]
        words = tuple(word for word in tokens if word not in (*MEANS, *NEUTRAL, *TOLD, *PLAIN))
        what = means[-1] if means else quantity or ("q" if not words else "")
        if what and not (len(set(means)) > 1 and {"q", "qd"} >= set(means)):
            found.setdefault((what, words if means or quantity else BARE, named, unit), {})[label] = name
    return [Group(what, words, columns, named, unit) for (what, words, named, unit), columns in found.items()]


def numbered(names: Sequence[str], robot: Robot) -> list[dict[str, str]]:
    """Columns that may be positions of joints by number, whatever their count, the plainest first."""
    groups = [g for g in _groups(names, robot, "") if g.quantity == "q" and not g.named and len(g.columns) > 1]
    plain = [g for g in groups if not (WISHED | ELSEWHERE) & set(g.words)]
    return [g.columns for g in sorted(plain, key=lambda g: len(g.words))]


def _spellings(robot: Robot) -> list[tuple[str, re.Pattern[str]]]:
    """Joints by the forms that their names have in columns: whole, or without what all names have in common."""
    names = sorted({*robot.coordinates, *(j.name for j in robot.joints)}, key=len, reverse=True)
    words = [name.split("_") for name in robot.names]
    fewest = min(map(len, words), default=0) if len(words) > 1 else 0
    first = next((k for k in range(fewest) if len({w[k] for w in words}) > 1), 0)
    last = next((k for k in range(fewest - first) if len({w[-1 - k] for w in words}) > 1), 0)
    short = {"_".join(w[first : len(w) - last]): name for w, name in zip(words, robot.names, strict=True)}
    every = [(name, name) for name in names]
    every += [(name, s) for s, name in short.items() if s != name and s.strip("0123456789_")]
    every.sort(key=lambda pair: len(pair[1]), reverse=True)
    return [(n, re.compile(rf"(?<![A-Za-z0-9]){re.escape(s)}(?![A-Za-z0-9])", re.IGNORECASE)) for n, s in every]


def _guess(
    quantity: str, groups: Sequence[Group], robot: Robot, found: dict[str, str], units: dict[str, str]
) -> list[str]:
    """Take the plainest group of columns for a channel, and say so; its unit where names tell it."""
    own = channel_names(robot, quantity)
    fitting: list[tuple[int, Group, dict[str, str]]] = []
    doubtful = []
    for group in groups:
        if group.quantity != quantity or ELSEWHERE & set(group.words):
            continue
        by = {name.removeprefix(f"{quantity}."): name for name in own}
        if group.named:
            pairs = {by[label]: name for label, name in group.columns.items() if label in by}
        else:
            numbers = sorted(group.columns, key=int)
            fits = len(numbers) == len(own) and [int(n) - int(numbers[0]) for n in numbers] == list(range(len(own)))
            pairs = {ours: group.columns[n] for ours, n in zip(own, numbers, strict=True)} if fits else {}
        if not pairs:
            continue
        if WISHED & set(group.words):
            doubtful.append(group)
        else:
            fitting.append((len(group.words) - 10 * len(pairs), group, pairs))
    if fitting:
        _, group, pairs = min(fitting, key=lambda one: one[0])
        found |= pairs
        units |= {quantity: group.unit} if group.unit else {}
        return [f"taken for {quantity}: {_shown(group)}{f', in {group.unit}' if group.unit else ''}"]
    return [f"perhaps {quantity}, but not measured by its name, and not used: {_shown(group)}" for group in doubtful]


def _shown(group: Group) -> str:
    names = list(group.columns.values())
    return ", ".join(names) if len(names) <= SHOWN else f"{names[0]}, ..., {names[-1]}"
