"""What `compile` needs to know of an algorithm: its inputs and outputs, and what it depends on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from math import inf, prod
from typing import Any

from linkwise.errors import InputError, UnknownNameError
from linkwise.expressions import entries
from linkwise.jet import Jet, with_rate
from linkwise.robot.leading import refuse_wheels
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar
from linkwise.spatial import Motion, Pose, Wrench
from linkwise.vector import ZERO3, Vec3, cross

# widths that a shape may name: those of `sizes`, and static arguments that are tuples or whole numbers
Shape = tuple[str | int, ...]
Outputs = tuple[Sequence[Scalar], ...]
INPUTS: dict[str, Shape] = {
    "q": ("nq",), "qd": ("nv",), "qdd": ("nv",), "tau": ("nu",), "given": ("nv",),
    "dt": (), "force": ("nv",), "q0": ("nq",), "q1": ("nq",), "a": ("nv",), "weights": ("nu",), "direction": ("nx",),
}  # fmt: skip
MOTION = ("q", "qd", "qdd", "qddd", "qdddd", "qddddd", "qdddddd")  # a position and its derivatives
INPUTS |= dict.fromkeys(MOTION[1:], ("nv",))
# the same of the joints alone, where motors behind springs have coordinates too
LOADS = ("q_load", "qd_load", "qdd_load", "qddd_load", "qdddd_load", *(f"q{k}_load" for k in range(5, 10)))
INPUTS |= {"q_load": ("nl",), **dict.fromkeys(LOADS[1:], ("nj",))}
# what a controller is to follow, of the joints alone
REFERENCES = ("q_ref", "qd_ref", "qdd_ref", "qddd_ref", "qdddd_ref")
INPUTS |= {"q_ref": ("nl",), **dict.fromkeys(REFERENCES[1:], ("nj",))}
# obstacles that move: their poses, and balls by centre and radius
INPUTS |= {"obstacles": ("moving", 4, 4), "spheres": ("spheres", 4)}
# what may be given on wheels, where positions have no velocities of their own
ROLLING = {"q", "qd", "qdd", "tau", "given", "force", "weights"}


@dataclass(frozen=True)
class World:
    """What surrounds the robot: gravity, the motion of its base, and wrenches on its bodies.

    `base_velocity` and `base_acceleration` (classical) are of the base frame's origin, in its axes. `external` is what
    the environment exerts on each body, in the body's frame about its origin, `by_laws` where that depends on the
    state. For an algorithm with rates all numbers are jets: components with their rates.
    """

    gravity: Vec3 = ZERO3
    base_velocity: Motion = Motion()
    base_acceleration: Motion = Motion()
    external: Mapping[int, Wrench] = field(default_factory=dict)
    by_laws: bool = False

    @property
    def felt_acceleration(self) -> Motion:
        """The base's acceleration less gravity, from which a recursion starts."""
        return Motion(self.base_acceleration.linear - self.gravity, self.base_acceleration.angular)

    @property
    def seen_by_reference(self) -> tuple[Vec3, tuple[Vec3, Vec3]]:
        """The same as `reference_forces` takes it: linear, then the base's angular velocity and acceleration."""
        felt = self.felt_acceleration
        return felt.linear, (self.base_velocity.angular, felt.angular)

    def each(self, function: Callable[[Scalar], Scalar]) -> World:
        """The same with a function applied to every number."""

        def pair(x: Iterable[Scalar]) -> tuple[Vec3, Vec3]:
            six = [function(c) for c in x]
            return Vec3(*six[:3]), Vec3(*six[3:])

        return replace(
            self,
            gravity=Vec3(*map(function, self.gravity)),
            base_velocity=Motion(*pair(self.base_velocity)),
            base_acceleration=Motion(*pair(self.base_acceleration)),
            external={i: Wrench(*pair(w)) for i, w in self.external.items()},
        )


Signature = tuple[tuple[str, ...], dict[str, Shape]]


@dataclass(frozen=True)
class Derivation:
    """Which derivatives of which algorithm, taken by the graph.

    For a "jacobian", pairs of output and input; of "rows" too, each of which depends on a part of the algorithm alone.
    For the "hessian" of a weighted sum by q, qd and qdd, or the "hessian_vector" of it, one pair: the output and the
    input that has the weights. For a "linearization" the pairs of forward dynamics. `asked` are the arguments of
    `derivative` that made it, where that did.
    """

    base: Algorithm
    pairs: tuple[tuple[str, str], ...]
    asked: tuple[str | None, ...] = ()
    kind: str = "jacobian"

    @property
    def varies_positions(self) -> bool:
        """Whether positions are varied one by one."""
        return self.kind != "jacobian" or any(INPUTS.get(x) == INPUTS["q"] for _, x in self.pairs)


@dataclass(frozen=True)
class Algorithm:
    """A function of a tree, with its signature.

    `function(tree, *inputs, world=..., **static)` takes flat sequences of scalars and returns one flat sequence for
    each output. `plain` takes a robot and sequences of numbers and runs it in plain Python.

    An algorithm with rates needs so many `rates` of what surrounds the robot, of a base that moves at least
    `base_rates`; one whose number is open has a static argument `order`, and `grown` gives its inputs and outputs for
    each. One that `derives` is the derivative of
    another, by its route "graph" or where it has no other. `columns` says which derivatives its outputs are, where they
    can be had column by column.
    """

    name: str
    function: Callable[..., Any]
    inputs: tuple[str, ...]
    outputs: dict[str, Shape]
    uses: frozenset[str]
    torques_only: bool
    static: dict[str, Any]
    doc: str
    rates: int = 0
    grown: Callable[[Any], Signature] | None = None
    derives: Derivation | None = None
    columns: Derivation | None = None
    base_rates: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "__module__", self.function.__module__)
        object.__setattr__(self, "__doc__", self.doc)  # what help() shows

    def __repr__(self) -> str:
        return f"<Algorithm {self.name}({', '.join(self.inputs)}) -> {', '.join(self.outputs)}>"

    def __reduce__(self) -> Any:
        if self.derives and self.derives.asked:
            return _derived_again, (self.derives.base, *self.derives.asked)
        if self.__module__ == "__main__":  # of a script or notebook: what other processes have under its name, if any
            return _described_again, tuple(getattr(self, f.name) for f in fields(self))
        return self.name  # pickled as a global of the module that defines it

    def __call__(self, robot: Robot, *inputs: Sequence[Scalar] | Scalar, **options: Any) -> Any:
        """What `plain` gives, by a name that goes with the next release."""
        from linkwise.deprecated import warn

        warn(f"{self.name}(robot, ...)", f"{self.name}.plain(robot, ...)")
        return self.plain(robot, *inputs, **options)

    def plain(
        self,
        robot: Robot,
        *inputs: Sequence[Scalar] | Scalar,
        gravity: Sequence[Scalar] | None = None,
        external: Mapping[str, Sequence[Scalar]] | None = None,
        **static: Any,
    ) -> Any:
        """Run in plain Python on any scalars; slow, and the definition of what compiled kernels compute.

        Scalars are numbers, complex ones too, SymPy's and CasADi's expressions, and mpmath's numbers and intervals.
        An external wrench has six numbers; for an algorithm with rates those of its rates may follow.
        """
        arguments = {k: v[0] if isinstance(v, Cheapest) else v for k, v in self.arguments(robot, static).items()}
        names = self.signature(arguments)[0]
        if len(inputs) != len(names):
            raise InputError(f"{self.name}: expected {len(names)} inputs ({', '.join(names)}), got {len(inputs)}.")
        widths, flat = widths_of(robot, arguments), []
        for name, given in zip(names, inputs, strict=True):
            single = not INPUTS[name]
            flat.append([given] if single and not isinstance(given, Sequence) else entries(given))
            width = prod(widths[axis] if isinstance(axis, str) else axis for axis in INPUTS[name])
            if len(flat[-1]) != width:
                raise InputError(f"{self.name}: expected {width} numbers for {name}, got {len(flat[-1])}.")
        from linkwise.mechanism.machine import machine_of  # for a call that is slow anyway

        machine = machine_of(robot, Tree.of(robot, arguments.pop("keep", ())))
        tree = machine.tree
        field_ = Vec3(*gravity) if gravity is not None else tree.gravity
        wrenches = {n: wrench_of([w[k : k + 6] for k in range(0, len(w), 6)]) for n, w in (external or {}).items()}
        world = World(gravity=field_, external=external_on_bodies(tree, wrenches))
        extra = {"world": world} if self.uses else {}
        result = self.function(machine, *flat, **extra, **arguments)
        if not robot.loops:
            shapes = self.signature({**self.static, **static})[1].values()
            result = tuple(x for x, shape in zip(result, shapes, strict=True) if "nc" not in shape)
        return result[0] if len(result) == 1 else result

    def signature(self, arguments: Mapping[str, Any]) -> Signature:
        """Names of the inputs, and names and shapes of the outputs; an input as long as an empty argument is none."""
        if self.grown:
            return self.grown(arguments["order"])
        return tuple(n for n in self.inputs if all(arguments.get(str(axis), True) for axis in INPUTS[n])), self.outputs

    def order(self, arguments: Mapping[str, Any]) -> int:
        """How many rates of what surrounds the robot it needs."""
        return int(arguments["order"]) if self.grown else self.rates

    def arguments(self, robot: Robot, static: Mapping[str, Any]) -> dict[str, Any]:
        """The static arguments with their defaults, checked."""
        if robot.rolls and (set(self.inputs) - ROLLING or (self.derives and self.derives.varies_positions)):
            refuse_wheels(robot, self.name)
        for key in static:
            if key not in self.static:
                raise UnknownNameError(f"option of {self.name}", key, [*self.static, *sorted(self.uses)])
        merged = {**self.static, **static}
        for key, value in merged.items():
            if value is REQUIRED:
                raise InputError(f"{self.name}: expected {key}=..., got nothing.")
        for key, value in self.static.items():
            if isinstance(value, Cheapest) and merged[key] is not value and merged[key] not in value:
                raise InputError(f"{self.name} {key}: expected one of {tuple(value)}, got {merged[key]!r}.")
        if "frame" in merged:
            robot.frame(merged["frame"])
        if "axes" in merged and merged["axes"] not in ("world", "local"):
            raise InputError(f"{self.name} axes: expected 'world' or 'local', got {merged['axes']!r}.")
        return merged


def _derived_again(base: Algorithm, *asked: str | None) -> Algorithm:
    from linkwise.algorithms.derivative_of import derivative

    *wrt, of = asked
    return derivative(base, *wrt, of=of)  # type: ignore[arg-type]


def _described_again(*parts: Any) -> Algorithm:
    return Algorithm(*parts)


class REQUIRED:
    """Stands for a static argument without a default."""


class Cheapest(tuple[str, ...]):
    """The values of a static option among which `compile` takes the one with the fewest operations.

    Where the first is known to have the fewest once it has more than `ranked` of them, the others need not be traced;
    nor where a robot is a long chain and one is known to be the cheapest for those, `deep`.
    """

    ranked: float
    deep: str | None

    def __new__(cls, *options: str, ranked: float = inf, deep: str | None = None) -> Cheapest:
        made = super().__new__(cls, options)
        made.ranked, made.deep = ranked, deep
        return made

    @property
    def deepest(self) -> Cheapest:
        """The same for a long chain: what is known to be cheapest there alone, unless it refuses the robot."""
        others = (option for option in self if option != self.deep)
        return Cheapest(*([self.deep] if self.deep else []), *others, ranked=0.0)

    def __getnewargs_ex__(self) -> tuple[tuple[str, ...], dict[str, Any]]:
        return tuple(self), {"ranked": self.ranked, "deep": self.deep}


def algorithm(
    *,
    inputs: str,
    outputs: dict[str, Shape],
    uses: str = "",
    torques_only: bool = False,
    rates: int = 0,
    grown: Callable[[Any], Signature] | None = None,
    derives: Derivation | None = None,
    columns: Derivation | None = None,
    base_rates: int = 0,
    **static: Any,
) -> Callable[[Callable[..., Any]], Algorithm]:
    """Describe an algorithm.

    Args:
        inputs: names among those of `INPUTS`: q, qd, qdd, tau, ...; dt is one number.
        outputs: name and shape of each, with widths nq, nv, nu (of tau), nb (moving bodies), nt and nr (positions and
            velocities of all joints, those that follow too), nc (cut joints; left out of the results of an open tree),
            np (parameters), nm (drives), ne (motors behind springs), nl and nj (positions and velocities of joints
            without those), static arguments (as many as a tuple has) or numbers.
        uses: which of "gravity external base_motion" it takes from its `world`.
        torques_only: its outputs depend on the base parameters only, so bodies may be realigned and regrouped.
        rates: how many rates of what it takes from its `world` it needs.
        grown: instead, where that is left to its static argument `order`: its inputs and outputs for each.
        derives: what its route "graph" differentiates.
        columns: which derivatives its outputs are, if not those; inputs that it does not have are zero there.
        base_rates: how many rates of the base's motion it needs, where those are more.
        static: further arguments that are fixed when compiled, with their defaults.
    """

    def describe(function: Callable[..., Any]) -> Algorithm:
        name, doc = function.__name__, function.__doc__ or ""
        function.__qualname__ = f"{function.__qualname__}.function"  # where pickle finds what the algorithm hides
        return Algorithm(
            name,
            function,
            tuple(inputs.split()),
            outputs,
            frozenset(uses.split()),
            torques_only,
            static,
            doc,
            rates,
            grown,
            derives,
            columns or (derives if derives and derives.kind == "jacobian" else None),
            base_rates,
        )

    return describe


def sizes(robot: Robot) -> dict[str, int]:
    """The widths that shapes may name."""
    elastic = sum(j.is_elastic for j in robot.joints)
    widths = {
        "nq": robot.nq,
        "nv": robot.nv,
        "nu": robot.nu,
        "nc": len(robot.loops),
        "nt": robot.opened().nq,
        "nr": robot.opened().nv,
        "nx": 3 * robot.nv,
        "ns": 2 * robot.nv,
        "nb": len(robot.moving_links),
        "np": len(robot.parameter_names),
    }
    return widths | {"nm": len(robot.motors), "ne": elastic, "nl": robot.nq - elastic, "nj": robot.nv - elastic}


def widths_of(robot: Robot, arguments: Mapping[str, Any]) -> dict[str, int]:
    """The widths that shapes may name, those of static arguments among them."""
    counts = {k: len(v) if isinstance(v, tuple) else v for k, v in arguments.items() if isinstance(v, (tuple, int))}
    return sizes(robot) | counts


def external_on_bodies(tree: Tree, wrenches: Mapping[str, Wrench]) -> dict[int, Wrench]:
    """Wrenches given at frames, summed for each body in its own frame."""
    total: dict[int, Wrench] = {}
    for name, wrench in wrenches.items():
        i, X = tree.place(name)
        on_body = wrench.seen_from(X.R, X.p)
        total[i] = total[i] + on_body if i in total else on_body
    return total


def dotted(name: str, k: int) -> str:
    """The name of the k-th rate of a quantity: tau, tau_dot, tau_ddot, ..."""
    return f"{name}_{'d' * k}ot" if k else name


def wrench_of(rows: Sequence[Sequence[Scalar]]) -> Wrench:
    """The wrench of six numbers, with its rates where more rows of six follow."""
    six = [Jet.of(x) for x in zip(*rows, strict=True)]
    return Wrench(Vec3(*six[:3]), Vec3(*six[3:]))


def moving_base(gravity: Vec3, v: Motion = Motion(), a: Motion = Motion(), *further: Motion) -> World:
    """The world of a base with this velocity and classical acceleration, in its axes; all with a rate for each further.

    Those are the jerk, the snap, ...: derivatives of the acceleration in the world, in the base's axes too. The rate of
    a vector's components is its derivative in the world less omega x the vector: for gravity, which stands still in the
    world, -omega x g.
    """
    given = (v, a, *further)
    linear, angular = [x.linear for x in given], [x.angular for x in given]
    falls = [gravity, *[ZERO3] * len(further)]
    turns, moves, pulls = angular, linear, falls  # with no rate, then with one more each time, and one less of them
    for order in range(1, len(further) + 1):
        omega = turns[0]
        turns, moves, pulls = (
            [
                _with_rate(x, x_dot - cross(omega, below), order)
                for x, (below, x_dot) in zip(values, pairwise(known), strict=False)
            ]
            for values, known in ((angular, turns), (linear, moves), (falls, pulls))
        )
    return World(pulls[0], Motion(moves[0], turns[0]), Motion(moves[1], turns[1]))


def _with_rate(x: Vec3, x_dot: Vec3, order: int) -> Vec3:
    """The components x with so many rates, from themselves and the rates of their rate."""
    return Vec3(*(with_rate(a, b, order) for a, b in zip(x, x_dot, strict=True)))


def flat_pose(X: Pose) -> list[Scalar]:
    """The 4 by 4 matrix of a pose, row after row."""
    return [x for row in X.matrix() for x in row]
