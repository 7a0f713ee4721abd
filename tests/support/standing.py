"""The rows of walking at any motion, however the body stands."""

from typing import NamedTuple

import numpy as np

from linkwise.planning.kernels import PointKernel
from linkwise.walking import Bounds
from linkwise.walking.instant import GLOBAL
from linkwise.walking.kernel import WIDTH, shared_kernel
from linkwise.walking.rows import FACETS, HEIGHTS, PLACES, rows_of
from linkwise.walking.skeleton_numbers import numbers

FACET = np.zeros((FACETS, 3))
FACET[:3] = np.diag([1.0, -1.0, 1.0])  # rows that are moments about z and x, and the vertical force


class Standing(NamedTuple):
    """The kernel of a skeleton, and the numbers that it is told of it."""

    kernel: PointKernel
    own: np.ndarray

    def first(self, z, support):
        """Rows by kind, and derivatives (entries, 3)."""
        parts = [np.zeros(1), FACET.ravel(), np.array(support), self.own]
        values, slopes = self.kernel.first(z, np.concatenate(parts))
        return values, slopes

    def by_label(self, values):
        ends = np.cumsum([len(r.names) for r in self.kernel.rows])[:-1]
        return {r.label: x for r, x in zip(self.kernel.rows, np.split(values, ends, axis=-1), strict=True)}


def standing(robot, tree=None) -> Standing:
    """Of a skeleton; with the numbers of a tree, if one is given."""
    rows = rows_of(None, dict.fromkeys(robot.names[GLOBAL:], 1.0), 1.0, Bounds())
    kernel = shared_kernel(robot, rows, lambda s: np.zeros((len(s), WIDTH)))
    own = kernel.around.numbers(np.zeros(1))[0, WIDTH:] if tree is None else np.array(list(numbers(tree)))
    return Standing(kernel, own)


def expected(v):
    """The same rows of an `Instant`."""
    heights = [v.places[PLACES.index(p)] for p in HEIGHTS]
    moments = [v.ground[5], v.ground[3], v.ground[1], *[0.0] * (FACETS - 3)]
    return [*v.places, *v.speeds, *heights, *moments, v.ground[1], *v.tau[GLOBAL:], *v.others]
