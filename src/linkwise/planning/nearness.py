"""How near pairs of volumes are along a motion: distances with first and second derivatives, by numbers on splines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from linkwise.kernel.size import check_pairs
from linkwise.kernel.volume_pairs import Form, PairDistance, form_of, numbers_of, pair_distance, sizes_of
from linkwise.mechanism.scene import WORLD, Names, Scene
from linkwise.mechanism.touching import has_end
from linkwise.motion.environment import Environment
from linkwise.planning.carried import Carried, carried
from linkwise.planning.chart import Chart
from linkwise.planning.curve import Array, Index
from linkwise.planning.kernels import PointKernel
from linkwise.robot.volume import Volume


class Side(NamedTuple):
    """Volumes of one form: where their numbers stand among those of the kernel, or if still these; and their sizes."""

    at: Index | None
    still: Array | None
    sizes: Array | None


class Group(NamedTuple):
    """Pairs of volumes of two forms: which of all pairs they are, and both sides."""

    places: Index
    function: PairDistance
    sides: tuple[Side, Side]


class Beside(NamedTuple):
    """Volumes of one form that obstacles have, and the pairs of a link and one of them.

    Args:
        data: their numbers and sizes, one in a row.
        chosen: the pairs, by their places among all of volumes and links.
        places: in `Nearness.pairs` that these belong to, rising.
        begins: where in `chosen` each of these begins.
    """

    data: Array
    chosen: Index
    places: Index
    begins: Index


@dataclass(frozen=True, eq=False)
class Nearness:
    """Pairs of volumes of a robot and of obstacles.

    Args:
        scene: the volumes, and the pairs to look at.
        chart: what the numbers on splines are.
        environment: how the base moves.
    """

    scene: Scene
    chart: Chart
    environment: Environment = Environment()

    @cached_property
    def carried(self) -> Carried:
        """The volumes of links."""
        links = tuple(body for body in self.scene.static["bodies"] if body[1] != WORLD)
        own = tuple(pair for pair in self.pairs if set(pair) <= {name for name, *_ in links})
        check_pairs("clearance", links, own, exact=self.scene.exact)
        return carried(self.chart, links, own, self.scene.exact, self.environment)

    @property
    def kernel(self) -> PointKernel:
        """Where volumes of links are, as functions of the numbers on splines."""
        return self.carried.places

    @property
    def pairs(self) -> tuple[Names, ...]:
        """The pairs of links and obstacles, by name."""
        return self.scene.pairs

    # ---- pairs of links

    def distances(self, x: Array, t: Any = 0.0) -> Array:
        """The signed distance of each of `pairs` (rows, pairs) at numbers on splines x (rows, n)."""
        found = np.full((len(x), len(self.pairs)), np.inf)
        own, others = self._order
        times = np.broadcast_to(np.asarray(t, dtype=float), len(x))
        if len(own):
            found[:, own] = self.carried.own(x, times)
        for form, (data, chosen, places, begins) in others.items():
            every = self.carried.beside(form)(x[:, None], times[:, None], data).reshape(len(x), -1)
            values = np.take(every, chosen, axis=1)
            least = values if len(places) == len(chosen) else np.minimum.reduceat(values, begins, axis=1)
            found[:, places] = np.minimum(found[:, places], least)
        return found

    @cached_property
    def _order(self) -> tuple[Index, dict[Form, Beside]]:
        """Places of the pairs of links, and by form of an obstacle's volumes what is known of those."""
        links = {name: k for k, (name, *_) in enumerate(self.carried.bodies)}
        volumes = {name: vs for name, carrier, vs in self.scene.bodies if carrier == WORLD}
        own = np.array([k for k, p in enumerate(self.pairs) if set(p) <= set(links)], dtype=int)
        found: dict[Form, tuple[list[Any], list[int], list[int]]] = {}
        known: dict[tuple[str, int], int] = {}
        for place, (link, obstacle) in enumerate(self.pairs):
            for k, v in enumerate(volumes.get(obstacle, ())):
                data, chosen, places = found.setdefault(form_of(v), ([], [], []))
                if (obstacle, k) not in known:
                    known[obstacle, k] = len(data)
                    data.append([*numbers_of(v), *sizes_of(v)])
                chosen.append(known[obstacle, k] * len(links) + links[link])
                places.append(place)
        return own, {
            form: Beside(np.array(data, dtype=float), np.array(chosen), *np.unique(places, return_index=True))
            for form, (data, chosen, places) in found.items()
        }

    def nearest(self, x: Array, t: Array, pairs: Index) -> Index:
        """For each row one of `pairs` of links (rows,): its nearest pair of volumes."""
        starts = self._starts
        counts = np.diff(np.append(starts, len(self.owner)))[pairs]
        rows = np.repeat(np.arange(len(x)), counts)
        begin = np.cumsum(counts) - counts
        which = starts[pairs][rows] + np.arange(len(rows)) - begin[rows]
        kernel = self.kernel
        z, told = np.zeros((len(x), kernel.orders, kernel.n)), np.zeros((len(x), kernel.width))
        z[:, 0] = x
        distances = self.chosen(kernel.values(z, told, *kernel.time(t))[rows], which)
        least = np.minimum.reduceat(distances, begin)
        hits = np.flatnonzero(distances == least[rows])
        found = np.zeros(len(x), dtype=int)
        found[rows[hits]] = which[hits]
        return found

    @cached_property
    def _starts(self) -> Index:
        return np.searchsorted(self.owner, np.arange(len(self.pairs)))

    # ---- pairs of volumes

    @cached_property
    def _pairs(self) -> tuple[list[tuple[int, int]], Index]:
        """Pairs of volumes, by their places among all, and for each which of `pairs` it belongs to."""
        begin, at = {}, 0
        for name, _, volumes in self.scene.bodies:
            begin[name], at = at, at + len(volumes)
        count = {name: len(volumes) for name, _, volumes in self.scene.bodies}
        found, owner = [], []
        for k, (a, b) in enumerate(self.scene.static["pairs"]):
            for i in range(begin[a], begin[a] + count[a]):
                for j in range(begin[b], begin[b] + count[b]):
                    if has_end(self._volumes[i][1]) or has_end(self._volumes[j][1]):
                        found.append((i, j))
                        owner.append(k)
        return found, np.array(owner)

    @cached_property
    def _volumes(self) -> list[tuple[str, Volume]]:
        return [(carrier, v) for _, carrier, volumes in self.scene.bodies for v in volumes]

    @property
    def owner(self) -> Index:
        """For each pair of volumes which of `pairs` it belongs to."""
        return self._pairs[1]

    @cached_property
    def groups(self) -> list[Group]:
        """The pairs by the forms of their volumes, and by which of them move."""
        begin, at = [], 0
        for carrier, v in self._volumes:
            begin.append(at)
            at += len(numbers_of(v)) if carrier != WORLD else 0
        found: dict[Any, list[tuple[int, int, int]]] = {}
        for place, (i, j) in enumerate(self._pairs[0]):
            (x, a), (y, b) = self._volumes[i], self._volumes[j]
            ground = "terrain" in (form_of(a).kind, form_of(b).kind)
            key = form_of(a, ground), form_of(b, ground), x == WORLD, y == WORLD
            found.setdefault(key, []).append((place, i, j))
        return [self._group(begin, key, pairs) for key, pairs in found.items()]

    def _group(
        self, begin: Sequence[int], key: tuple[Form, Form, bool, bool], pairs: list[tuple[int, int, int]]
    ) -> Group:
        a, b, a_still, b_still = key
        place, first, second = (np.array(x) for x in zip(*pairs, strict=True))
        function = pair_distance(a, b, self.scene.exact)
        sides = self._side(begin, a, first, a_still), self._side(begin, b, second, b_still)
        return Group(place, function, sides)

    def _side(self, begin: Sequence[int], form: Form, which: Index, still: bool) -> Side:
        volumes = [self._volumes[k][1] for k in which]
        sizes = np.array([sizes_of(v) for v in volumes]) if form.sizes else None
        if still:
            return Side(None, np.array([numbers_of(v) for v in volumes], dtype=float), sizes)
        return Side(np.array([begin[k] for k in which])[:, None] + np.arange(form.width), None, sizes)

    @cached_property
    def _where(self) -> tuple[Index, Index]:
        """For each pair of volumes its group, and its place there."""
        group, place = (np.zeros(len(self.owner), dtype=int) for _ in range(2))
        for k, g in enumerate(self.groups):
            group[g.places], place[g.places] = k, np.arange(len(g.places))
        return group, place

    # ---- one pair a row

    def chosen(self, places: Array, which: Index) -> Array:
        """The distance of one pair in each row (rows,)."""
        found = np.empty(len(which))
        for g, rows, x, sx, y, sy in self._split(places, which):
            found[rows] = g.function.value(x, sx, y, sy)
        return found

    def slopes(self, places: Array, which: Index) -> tuple[Array, Array]:
        """The same, and its derivatives by all places (rows, numbers)."""
        found, slopes = np.empty(len(which)), np.zeros(places.shape)
        for g, rows, x, sx, y, sy in self._split(places, which):
            found[rows], slope = g.function.first(x, sx, y, sy)
            for at, columns in self._columns(g, which[rows]):
                slopes[rows[:, None], columns] = slope[:, at]
        return found, slopes

    def bends(self, places: Array, which: Index, J: Array) -> Array:
        """J^T H J (rows, n, n), with the second derivatives H of each row by places, and those J of places."""
        found = np.zeros((len(which), J.shape[-1], J.shape[-1]))
        for g, rows, x, sx, y, sy in self._split(places, which):
            whole = np.zeros((len(rows), x.shape[-1] + y.shape[-1], J.shape[-1]))
            for at, columns in self._columns(g, which[rows]):
                whole[:, at] = J[rows[:, None], columns]
            late = [None if v is None else v[:, None] for v in (x, sx, y, sy)]
            _, change = g.function.second(*late, whole.transpose(0, 2, 1))
            found[rows] = np.einsum("rwi,rjw->rij", whole, change)
        return found

    def _split(self, places: Array, which: Index) -> Any:
        """By group: it, its rows, and numbers and sizes of both volumes there."""
        group, place = self._where
        for k in np.unique(group[which]):
            g, rows = self.groups[k], np.flatnonzero(group[which] == k)
            at, parts = place[which[rows]], []
            for s in g.sides:
                x = places[rows[:, None], s.at[at]] if s.at is not None else s.still[at]
                parts += [x, None if s.sizes is None else s.sizes[at]]
            yield g, rows, *parts

    def _columns(self, g: Group, which: Index) -> Any:
        """For each side that moves where its numbers stand among those of both, and (rows, width) among all places."""
        begin = 0
        for s in g.sides:
            wide = s.at.shape[1] if s.at is not None else s.still.shape[1]  # type: ignore[union-attr]
            if s.at is not None:
                yield slice(begin, begin + wide), s.at[self._where[1][which]]
            begin += wide
