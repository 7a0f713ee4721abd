"""What `compile` needs to know of an algorithm: its inputs and outputs, and what it depends on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from linkwise.errors import InputError, UnknownNameError
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar
from linkwise.spatial import Motion, Pose, Wrench
from linkwise.vector import ZERO3, Vec3

# widths that a shape may name
Shape = tuple[str | int, ...]
Outputs = tuple[Sequence[Scalar], ...]
INPUTS: dict[str, Shape] = {
    "q": ("nq",), "qd": ("nv",), "qdd": ("nv",), "tau": ("nv",), "given": ("nv",),
    "dt": (), "q0": ("nq",), "q1": ("nq",), "a": ("nv",),
}  # fmt: skip


@dataclass(frozen=True)
class World:
    """What surrounds the robot: gravity, the motion of its base, and wrenches on its bodies.

    `base_velocity` and `base_acceleration` (classical) are of the base frame's origin, in its axes. `external` is what
    the environment exerts on each body, in the body's frame about its origin.
    """

    gravity: Vec3 = ZERO3
    base_velocity: Motion = Motion()
    base_acceleration: Motion = Motion()
    external: Mapping[int, Wrench] = field(default_factory=dict)

    @property
    def felt_acceleration(self) -> Motion:
        """The base's acceleration less gravity, from which a recursion starts."""
        return Motion(self.base_acceleration.linear - self.gravity, self.base_acceleration.angular)


@dataclass(frozen=True)
class Algorithm:
    """A function of a tree, with its signature.

    `function(tree, *inputs, world=..., **static)` takes flat sequences of scalars and returns one flat sequence for
    each output. Call the algorithm itself with a robot and sequences of numbers to run it in plain Python.
    """

    name: str
    function: Callable[..., Any]
    inputs: tuple[str, ...]
    outputs: dict[str, Shape]
    uses: frozenset[str]
    torques_only: bool
    static: dict[str, Any]
    doc: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "__module__", self.function.__module__)

    def __reduce__(self) -> str:
        return self.name  # pickled as a global of the module that defines it

    def __call__(
        self,
        robot: Robot,
        *inputs: Sequence[Scalar] | Scalar,
        gravity: Sequence[Scalar] | None = None,
        external: Mapping[str, Sequence[Scalar]] | None = None,
        **static: Any,
    ) -> Any:
        """Run in plain Python on any scalars; slow, and the definition of what compiled kernels compute."""
        arguments = {k: v[0] if isinstance(v, Cheapest) else v for k, v in self.arguments(robot, static).items()}
        if len(inputs) != len(self.inputs):
            raise InputError(
                f"{self.name}: expected {len(self.inputs)} inputs ({', '.join(self.inputs)}), got {len(inputs)}."
            )
        widths, flat = sizes(robot), []
        for name, given in zip(self.inputs, inputs, strict=True):
            single = not INPUTS[name]
            flat.append([given] if single and not isinstance(given, Sequence) else list(given))
            width = 1 if single else widths[str(INPUTS[name][0])]
            if len(flat[-1]) != width:
                raise InputError(f"{self.name}: expected {width} numbers for {name}, got {len(flat[-1])}.")
        tree = Tree.of(robot, keep=arguments.pop("keep", ()))
        field_ = Vec3(*gravity) if gravity is not None else tree.gravity
        wrenches = {n: Wrench(Vec3(*w[:3]), Vec3(*w[3:])) for n, w in (external or {}).items()}
        world = World(gravity=field_, external=external_on_bodies(tree, wrenches))
        extra = {"world": world} if self.uses else {}
        result = self.function(tree, *flat, **extra, **arguments)
        return result[0] if len(result) == 1 else result

    def arguments(self, robot: Robot, static: Mapping[str, Any]) -> dict[str, Any]:
        """The static arguments with their defaults, checked."""
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


REQUIRED = object()


class Cheapest(tuple[str, ...]):
    """The values of a static option among which `compile` takes the one with the fewest operations."""

    def __new__(cls, *options: str) -> Cheapest:
        return super().__new__(cls, options)


def algorithm(
    *, inputs: str, outputs: dict[str, Shape], uses: str = "", torques_only: bool = False, **static: Any
) -> Callable[[Callable[..., Any]], Algorithm]:
    """Describe an algorithm.

    Args:
        inputs: names among those of `INPUTS`: q, qd, qdd, tau, ...; dt is one number.
        outputs: name and shape of each, with widths nq, nv, nb (moving bodies), np (parameters) or numbers.
        uses: which of "gravity external base_motion" it takes from its `world`.
        torques_only: its outputs depend on the base parameters only, so bodies may be realigned and regrouped.
        static: further arguments that are fixed when compiled, with their defaults.
    """

    def describe(function: Callable[..., Any]) -> Algorithm:
        doc = function.__doc__ or ""
        return Algorithm(
            function.__name__,
            function,
            tuple(inputs.split()),
            outputs,
            frozenset(uses.split()),
            torques_only,
            static,
            doc,
        )

    return describe


def sizes(robot: Robot) -> dict[str, int]:
    """The widths that shapes may name."""
    moving = len(robot.moving_links)
    return {"nq": robot.nq, "nv": robot.nv, "nb": moving, "np": 13 * moving}


def external_on_bodies(tree: Tree, wrenches: Mapping[str, Wrench]) -> dict[int, Wrench]:
    """Wrenches given at frames, summed for each body in its own frame."""
    total: dict[int, Wrench] = {}
    for name, wrench in wrenches.items():
        i, X = tree.place(name)
        on_body = wrench.seen_from(X.R, X.p)
        total[i] = total[i] + on_body if i in total else on_body
    return total


def flat_pose(X: Pose) -> list[Scalar]:
    """The 4 by 4 matrix of a pose, row after row."""
    return [x for row in X.matrix() for x in row]
