"""The volumes that a robot's links carry, as functions of the numbers on splines: where they are, and how near."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from linkwise.kernel.tracing import Port, function, trace
from linkwise.kernel.volume_pairs import Form, numbers_of, volume_of
from linkwise.mechanism.scene import Bodies, Names
from linkwise.motion.environment import Environment
from linkwise.planning.chart import Chart
from linkwise.planning.curve import Array
from linkwise.planning.drives import drives_of
from linkwise.planning.kernels import PointKernel, surroundings
from linkwise.planning.point import Point
from linkwise.planning.rows import Rows
from linkwise.robot.distance import least
from linkwise.robot.volume import Volume
from linkwise.scalar import Scalar

KEPT = 16


@dataclass(frozen=True, eq=False)
class Carried:
    """Volumes of links.

    Args:
        chart: what the numbers on splines are.
        bodies: by link what carries volumes, and these.
        pairs: of links, whose distances count.
        exact: whether those of two boxes are exact.
        environment: how the base moves.
    """

    chart: Chart
    bodies: Bodies
    pairs: tuple[Names, ...]
    exact: bool
    environment: Environment

    @cached_property
    def places(self) -> PointKernel:
        """Where they are, with derivatives: the numbers of all volumes, one after the other."""

        def function(p: Point) -> list[Scalar]:
            return [x for volumes in self._placed(p).values() for v in volumes for x in numbers_of(v)]

        count = sum(len(numbers_of(v)) for _, _, volumes in self.bodies for v in volumes)
        rows = Rows("clearance", tuple(f"{k}" for k in range(count)), function).unbounded()
        return PointKernel(self.chart.robot, [rows], surroundings(self.environment, self.chart))

    def _placed(self, p: Point) -> dict[str, list[Volume]]:
        return {name: [v.seen_from(p.pose(carrier)) for v in volumes] for name, carrier, volumes in self.bodies}

    @cached_property
    def own(self) -> Callable[..., Array]:
        """(x, t) -> the distances of `pairs`."""

        def run(p: Point) -> list[Scalar]:
            at = self._placed(p)
            return [least(at[a], at[b], self.exact) for a, b in self.pairs]

        return self._made(run, len(self.pairs))

    def beside(self, form: Form) -> Callable[..., Array]:
        """(x, t, numbers and sizes) -> the distance of each link from a volume of this form that is an input."""
        if form not in self._beside:

            def run(p: Point) -> list[Scalar]:
                other = volume_of(form, p.data[: form.width], p.data[form.width :])
                return [least(volumes, [other], self.exact) for volumes in self._placed(p).values()]

            self._beside[form] = self._made(run, len(self.bodies), form.width + form.sizes)
        return self._beside[form]

    @cached_property
    def _beside(self) -> dict[Form, Callable[..., Array]]:
        return {}

    def _made(self, run: Callable[[Point], list[Scalar]], count: int, width: int = 0) -> Any:
        """The compiled function of an instant at rest."""
        robot, around = self.chart.robot, surroundings(self.environment, self.chart)
        zeros = [[0.0] * self.chart.n] * (drives_of(robot).orders - 1)

        def flat(x: list[Any], t: list[Any], data: Sequence[Any] = ()) -> Sequence[Any]:
            point = around.point(robot, [x, *zeros], 0.0, (), t[0])  # type: ignore[arg-type, list-item]
            point.data = list(data)
            return [run(point)]

        ports = [Port("x", (self.chart.n,)), Port("t", ()), *([Port("volume", (width,))] if width else [])]
        return function(trace("near", flat, ports, [Port("distances", (count,))]))


@lru_cache(maxsize=KEPT)
def _kept(chart: Chart, bodies: Bodies, pairs: tuple[Names, ...], exact: bool) -> Carried:
    return Carried(chart, bodies, pairs, exact, Environment())


def carried(chart: Chart, bodies: Bodies, pairs: tuple[Names, ...], exact: bool, environment: Environment) -> Carried:
    """The volumes of links; those of a robot whose base stands are kept, whatever is around it."""
    if environment.base is None:
        return _kept(chart, bodies, pairs, exact)
    return Carried(chart, bodies, pairs, exact, environment)
