"""Numbers of a robot as symbols: which of them, what they are called, and the model that has them as inputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from itertools import chain, count
from typing import TYPE_CHECKING, Any, NamedTuple

from linkwise.algorithms.algorithm import Algorithm, World
from linkwise.errors import InputError, ModelError, UnknownNameError
from linkwise.graph.program import Port
from linkwise.kernel.latex import below, plain
from linkwise.kernel.options import Options
from linkwise.robot import parameters
from linkwise.robot.joint import Joint
from linkwise.robot.robot import Robot
from linkwise.robot.round_off import ROUND_OFF
from linkwise.robot.tree import Tree
from linkwise.vector import ZERO3, Vec3

if TYPE_CHECKING:
    from linkwise.mechanism.structure import Structure

# the letter of each quantity that `symbols=True` makes a symbol
LETTERS = {
    "mass": "m", "com": "c", "inertia": "I", "xyz": "l", "anchor": "b", "armature": "J", "viscous": "F_v",
    "coulomb": "F_c", "static": "F_s", "stribeck": "v_s", "width": "w",
    "friction_offset": "F_o", "stiffness": "k", "damping": "d", "rest": "r",
    "drive_stiffness": "K", "drive_damping": "D", "gear": "n", "rotor": "J_r", "motor_mass": "m_m", "motor_com": "c_m",
    "motor_inertia": "I_m", "motor_viscous": "F_vm", "motor_coulomb": "F_cm",
}  # fmt: skip
GRAVITY, XYZ = "gravity", parameters.XYZ


class Number(NamedTuple):
    """A number of the model that is a symbol, which stands for `value`.

    `path` is that of `robot.parameters`, such as "hand.com", `component` which of its numbers it is, named `label`.
    The number is the symbol times `sign`: g is positive, whichever way things fall.
    """

    symbol: str
    latex: str
    path: str
    component: int
    label: str
    value: float
    sign: float = 1.0

    @property
    def meaning(self) -> str:
        """The path with its component, such as "hand.com.x"."""
        return f"{'-' if self.sign < 0 else ''}{self.path}{'.' if self.label else ''}{self.label}"

    @property
    def is_mass(self) -> bool:
        """Whether it is one of those by which formulas are grouped."""
        return self.path.endswith("mass")


@dataclass(frozen=True)
class Symbols(Options):
    """Options that have numbers of the model as inputs, each by its symbol."""

    numbers: tuple[Number, ...] = ()

    @classmethod
    def of(cls, robot: Robot, options: Options, symbols: Any, names: bool) -> Symbols:
        """The options of a kernel, with symbols for what is asked and for what is an input already."""
        own = {f.name: getattr(options, f.name) for f in fields(Options)}
        field = robot.gravity if options.gravity is None else options.gravity
        field = ZERO3 if isinstance(field, str) else field  # an input already
        wanted = _wanted(robot, field, (*_words(symbols), *options.parameters))
        return cls(**{**own, "parameters": ()}, numbers=tuple(Naming(robot, names).numbers(wanted, field)))

    def ports(self, robot: Robot, algorithm: Algorithm, order: int = 0) -> list[Port]:
        return [*super().ports(robot, algorithm, order), *(Port(n.symbol, ()) for n in self.numbers)]

    def structure(self, robot: Robot) -> Structure:
        """How a robot with loops moves; where Newton's method has to find it there is no formula."""
        found = Options.structure(replace(self, parameters=tuple(n.path for n in self.numbers)), robot)
        if found.sought:
            raise InputError(
                f"symbolic: expected a robot whose positions have formulas, got {robot.name!r} with loops that Newton's"
                " method closes. Leave lengths as numbers if the loops have a closed form, symbols=('mass', ...)."
            )
        return found

    def model(self, robot: Robot, given: dict[str, list[Any]]) -> Robot:
        """The robot with symbols in place of its numbers; a joint's axis through its parent's origin stays there."""
        values: dict[str, list[Any]] = {}
        for n in self.numbers:
            if n.path != GRAVITY:
                values.setdefault(n.path, list(parameters.read(robot, n.path)))[n.component] = given[n.symbol][0]
        for j in robot.joints:
            path = f"{j.name}.xyz"
            if path in values and is_distal(j):
                values[f"{j.name}.anchor"] = list(-(j.origin.R.T @ Vec3(*values[path])))
        return parameters.substitute(robot, {path: tuple(x) for path, x in values.items()})

    def world(self, tree: Tree, given: dict[str, list[Any]], *state: Any) -> World:
        """What surrounds the robot, with gravity in symbols."""
        falls: list[Any] = list(self.gravity if isinstance(self.gravity, Vec3) else tree.gravity)
        for n in self.numbers:
            if n.path == GRAVITY:
                falls[n.component] = given[n.symbol][0] * n.sign
        return super().world(tree, {"gravity": falls} | given, *state)


def is_distal(joint: Joint) -> bool:
    """Whether a joint's axis goes through its parent's origin, so that what lies between moves with the child."""
    X = joint.origin
    off = joint.anchor + X.R.T @ X.p
    return any(X.p) and all(abs(x) <= ROUND_OFF * max(map(abs, X.p)) for x in off)


Wanted = dict[tuple[str, str], list[int]]  # components by quantity and name of the item


def _words(symbols: Any) -> tuple[str, ...]:
    """The quantities and paths that are asked for."""
    if isinstance(symbols, bool):
        return (*LETTERS, GRAVITY) if symbols else ()
    words = (symbols,) if isinstance(symbols, str) or not isinstance(symbols, Iterable) else tuple(symbols)
    for word in words:
        if not isinstance(word, str):
            raise InputError(f"symbols: expected True, False or names such as 'mass' or 'hand.mass', got {word!r}.")
    return words


def _wanted(robot: Robot, gravity: Vec3, words: Iterable[str]) -> Wanted:
    """The numbers that quantities and paths ask for; zeros are left out unless they are named themselves."""
    found: Wanted = {}
    for word in words:
        if word == GRAVITY:
            found[GRAVITY, ""] = [k for k, x in enumerate(gravity) if x]
        elif word in LETTERS:
            for name in _items(robot, word):
                values = parameters.read(robot, f"{name}.{word}")
                found.setdefault((word, name), []).extend(k for k, x in enumerate(values) if x)
        elif "." not in word:
            raise UnknownNameError("quantity in symbols", word, (*LETTERS, GRAVITY))
        else:
            key, name, components = _of_path(robot, word)
            found.setdefault((key, name), []).extend(components)
    return {key: sorted(set(components)) for key, components in found.items()}


def _items(robot: Robot, key: str) -> list[str]:
    """The names of all that have a quantity; where an axis goes through the parent's origin it has no anchor."""
    found: dict[str, None] = {}
    for quantity in parameters.QUANTITIES[key]:
        for item in getattr(robot, quantity.group):
            if key == "anchor" and is_distal(item):
                continue
            with suppress(ModelError):
                quantity.read(item)
                found[item.name] = None
    return list(found)


def _of_path(robot: Robot, path: str) -> tuple[str, str, list[int]]:
    """Quantity, name and components of a path."""
    place, values = parameters.find(robot, path), parameters.read(robot, path)
    key = next(key for key, kinds in parameters.QUANTITIES.items() if place.quantity in kinds)
    if key not in LETTERS:
        raise InputError(f"symbols {path!r}: expected a quantity among {', '.join(LETTERS)}, got {key!r}.")
    single = place.component is not None or not place.quantity.components
    return key, place.name, [place.component or 0] if single else [k for k, x in enumerate(values) if x]


class Naming:
    """What the numbers of a robot are called.

    The index of a link and of its joint counts the joints that move; 0 is the base. Links that do not move on their
    parents have their names, and with `names` all have. A length has the index of the link that it moves with.
    """

    def __init__(self, robot: Robot, names: bool) -> None:
        self.robot = robot
        moving = [] if names else [j for j in robot.joints if not j.is_fixed]
        self.link = {} if names else {robot.root.name: "0"}
        self.link |= {j.child: str(k) for k, j in enumerate(moving, start=1)}
        self.joint = {j.name: str(k) for k, j in enumerate(moving, start=1)}
        self.taken: set[str] = set()

    def numbers(self, wanted: Wanted, gravity: Vec3) -> Iterator[Number]:
        """The symbols of these numbers, one quantity after the other."""
        for key in LETTERS:
            for (quantity, name), components in wanted.items():
                if quantity == key:
                    path = f"{name}.{key}"
                    labels = parameters.find(self.robot, path).quantity.components
                    values = parameters.read(self.robot, path)
                    for k in components:
                        label = labels[k] if labels else ""
                        shown = label if sum(map(bool, values)) > 1 or not values[k] else ""
                        yield Number(*self.symbol(key, name, shown), path, k, label, values[k])
        falls = wanted.get((GRAVITY, ""), [])
        for k in falls:
            symbol = "g" if len(falls) == 1 else f"g_{XYZ[k]}"
            sign = -1.0 if len(falls) == 1 and gravity[k] < 0.0 else 1.0
            yield Number(symbol, below("g", *symbol[2:]), GRAVITY, k, XYZ[k], sign * gravity[k], sign)

    def symbol(self, key: str, name: str, label: str) -> tuple[str, str]:
        """Name and LaTeX of a symbol that no other has."""
        head, _, tail = LETTERS[key].partition("_")
        owner, second = self.owners(key, name)
        which = tail + label
        for more in chain([()], [(second,)], ((second, str(k)) for k in count(2))):
            parts = (f"{which}{owner}",) if owner.isdigit() else (which, owner) if which else (owner,)
            symbol = "_".join([head, *map(plain, (*parts, *more))])
            if symbol not in self.taken:
                break
        self.taken.add(symbol)
        return symbol, below(head, *parts, *more)

    def owners(self, key: str, name: str) -> tuple[str, str]:
        """The index of what a number belongs to, and a second one for where that is not enough."""
        group = parameters.find(self.robot, f"{name}.{key}").quantity.group
        if group == "links":
            return self.link.get(name, name), name
        if group == "frames":
            return self.link.get(link := self.robot.frame(name).link, link), name
        joint = self.robot.joint(name)
        if key == "xyz":
            carrier = joint.child if is_distal(joint) else joint.parent
            return self.link.get(carrier, carrier), self.joint.get(name, name)
        return self.joint.get(name, name), name
