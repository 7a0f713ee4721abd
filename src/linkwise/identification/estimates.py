"""Estimated numbers with their names, standard errors and intervals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from linkwise.errors import UnknownNameError
from linkwise.files import required
from linkwise.motion.trajectory import Array

LEVEL = 0.95  # of intervals, unless another is asked for


class Estimate(NamedTuple):
    """A number, its standard error, and its 95 % interval; NaN where the data do not determine it."""

    name: str
    value: float
    error: float
    lower: float
    upper: float
    prior: float

    @property
    def determined(self) -> bool:
        """Whether the data determine it; if not it has the robot's value."""
        return bool(np.isfinite(self.error))


@dataclass(frozen=True, eq=False)
class Estimates:
    """Estimated numbers; `estimates["elbow.viscous"]` is one of them.

    Attributes:
        names: of the numbers.
        values: the estimates, or the prior where the data do not determine a number.
        errors: standard errors, NaN where the data do not determine a number.
        prior: the robot's values.
        dof: degrees of freedom of Student's distribution of each number.
    """

    names: tuple[str, ...]
    values: Array
    errors: Array
    prior: Array
    dof: Array

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Estimate]:
        low, high = self.interval().T
        columns = zip(self.names, self.values, self.errors, low, high, self.prior, strict=True)
        return (Estimate(name, *map(float, numbers)) for name, *numbers in columns)

    def __getitem__(self, name: str) -> Estimate:
        if name not in self.names:
            raise UnknownNameError("parameter", name, self.names)
        return next(x for x in self if x.name == name)

    @property
    def determined(self) -> Array:
        """Whether the data determine each number."""
        return np.isfinite(self.errors)

    def interval(self, level: float = LEVEL) -> Array:
        """(n, 2) lower and upper ends."""
        from scipy.special import stdtrit

        half = stdtrit(self.dof, 0.5 + level / 2.0) * self.errors
        return np.stack([self.values - half, self.values + half], axis=1)

    def to_dataframe(self) -> Any:
        """A pandas DataFrame with a row for each number."""
        pandas = required("pandas", "to_dataframe")
        return pandas.DataFrame(list(self), columns=Estimate._fields).set_index("name")

    def cells(self) -> list[tuple[str, str, str, str, str]]:
        """Rows for reading: name, value, standard error, interval, prior."""
        found = []
        for x in self:
            known = f"{x.lower:.5g} to {x.upper:.5g}" if x.determined else "not determined"
            found.append((x.name, f"{x.value:.5g}", f"{x.error:.2g}" * x.determined, known, f"{x.prior:.5g}"))
        return found

    def __str__(self) -> str:
        rows = [("parameter", "value", "std. error", "95 % interval", "prior"), *self.cells()]
        wide = [max(len(row[k]) for row in rows) for k in range(5)]
        lines = ["  ".join(c.ljust(w) if not k else c.rjust(w) for k, (c, w) in enumerate(zip(row, wide, strict=True)))
                 for row in rows]  # fmt: skip
        return "\n".join(line.rstrip() for line in lines)

    def _repr_html_(self) -> str:
        """The card of a notebook."""
        import linkwise.card as card

        head = ("parameter", "value", "standard error", "95 % interval", "prior")
        return card.card(f"{len(self)} parameters", card.table(head, self.cells(), most=200))
