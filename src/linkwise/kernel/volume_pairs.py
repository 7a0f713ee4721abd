"""Signed distances of pairs of volumes whose numbers are inputs: one small function for each pair of kinds.

A kernel of clearance is compiled for its obstacles. These functions are compiled once for all robots and obstacles,
and called for all pairs at once; so another scene costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from linkwise.kernel.tracing import Graph, Node, Port, along, finish, function, gradient, lift
from linkwise.robot.distance import distance
from linkwise.robot.volume import HalfSpace, Rounded, Terrain, Volume
from linkwise.spatial import Pose
from linkwise.vector import Mat3, Vec3

KEPT = 256


class Form(NamedTuple):
    """What a volume is but for where it is and how large: its kind, with a terrain its shape."""

    kind: str
    fixed: tuple[Any, ...] = ()

    @property
    def width(self) -> int:
        """How many numbers say where it is."""
        return {"sphere": 3, "capsule": 6, "plane": 6}.get(self.kind, 12)

    @property
    def sizes(self) -> int:
        """How many numbers say how large it is."""
        return {"sphere": 1, "capsule": 2, "box": 4}.get(self.kind, 0) if not self.fixed else 0


KINDS = {0: "sphere", 1: "capsule", 3: "box"}


def form_of(volume: Volume, fixed: bool = False) -> Form:
    """The form of a volume, if `fixed` with its sizes in it."""
    if isinstance(volume, Rounded):
        return Form(KINDS[len(volume.axes)], (*volume.half, volume.radius) if fixed else ())
    if isinstance(volume, Terrain):
        return Form("terrain", tuple(volume[1:]))
    return Form("plane")


def numbers_of(volume: Volume) -> list[Any]:
    """Where a volume is."""
    if isinstance(volume, Rounded):
        return [x for v in (volume.centre, *volume.axes) for x in v]
    if isinstance(volume, Terrain):
        return [x for v in (volume.frame.p, *volume.frame.R) for x in v]
    return [*volume.point, *volume.normal]


def sizes_of(volume: Volume) -> list[float]:
    """How large a volume is."""
    return [*volume.half, float(volume.radius)] if isinstance(volume, Rounded) else []


def volume_of(form: Form, numbers: Sequence[Any], sizes: Sequence[Any]) -> Volume:
    """The volume of a form, with these numbers and sizes."""
    first, *more = (Vec3(*numbers[k : k + 3]) for k in range(0, len(numbers), 3))
    if form.kind == "plane":
        return HalfSpace(first, more[0])
    if form.kind == "terrain":
        return Terrain(Pose(Mat3(*more), first), *form.fixed)
    *half, radius = form.fixed or sizes
    return Rounded(first, tuple(more), tuple(half), radius)


class PairDistance:
    """The signed distance of volumes of two forms, as functions of arrays whose leading axes broadcast.

    Args:
        first, second: their forms.
        exact: whether the distance of two boxes is exact.
    """

    def __init__(self, first: Form, second: Form, exact: bool) -> None:
        self._forms, self._exact = (first, second), exact

    @cached_property
    def _traced(self) -> tuple[Graph, list[list[Node]], Node]:
        graph, inputs = Graph(), []
        for k, form in enumerate(self._forms):
            inputs.append([graph.input(f"x{k}_{i}") for i in range(form.width)])
            inputs.append([graph.input(f"size{k}_{i}") for i in range(form.sizes)])
        a, b = (volume_of(form, *inputs[2 * k : 2 * k + 2]) for k, form in enumerate(self._forms))
        return graph, inputs, lift(graph, distance(a, b, self._exact))

    def _made(self, name: str, ports: list[Port], results: list[list[Any]], more: list[Node] | None = None) -> Any:
        graph, leaves, _ = self._traced
        inputs = [Port(f"input{k}", (len(x),)) for k, x in enumerate(leaves) if x]
        given = [tuple(x) for x in leaves if x]
        if more:
            inputs.append(Port("direction", (len(more),)))
            given.append(tuple(more))
        made = function(finish(name, graph, inputs, ports, given, results))

        def call(*arrays: Any) -> Any:
            return made(*(x for x in arrays if x is not None))

        return call

    @cached_property
    def operations(self) -> int:
        """How many operations the distance takes."""
        graph, leaves, value = self._traced
        inputs = [Port(f"input{k}", (len(x),)) for k, x in enumerate(leaves)]
        return len(finish("size", graph, inputs, [Port("distance", ())], [*map(tuple, leaves)], [[value]]).schedule)

    @property
    def _numbers(self) -> list[Node]:
        return [*self._traced[1][0], *self._traced[1][2]]

    @cached_property
    def value(self) -> Callable[..., Any]:
        """(numbers, sizes of the first, of the second) -> distance; sizes are None where there are none."""
        return self._made("pair_distance", [Port("distance", ())], [[self._traced[2]]])

    @cached_property
    def first(self) -> Callable[..., Any]:
        """-> distance, and its derivative by the numbers of both."""
        slope = gradient(self._traced[2], self._numbers)
        ports = [Port("distance", ()), Port("slope", (len(slope),))]
        return self._made("pair_distance_slope", ports, [[self._traced[2]], slope])

    @cached_property
    def second(self) -> Callable[..., Any]:
        """(..., a direction) -> the derivative by the numbers of both, and how it changes along the direction."""
        x = self._numbers
        direction = [self._traced[0].input(f"direction{k}") for k in range(len(x))]
        slope = gradient(self._traced[2], x)
        ports = [Port("slope", (len(x),)), Port("change", (len(x),))]
        return self._made("pair_distance_bend", ports, [slope, along(slope, x, direction)], direction)


@lru_cache(maxsize=KEPT)
def pair_distance(first: Form, second: Form, exact: bool = False) -> PairDistance:
    """The functions of two forms, which are kept."""
    return PairDistance(first, second, exact)
