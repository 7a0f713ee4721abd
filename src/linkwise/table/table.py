"""A table of samples, and results that are such tables."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.errors import InputError, LinkwiseError, UnknownNameError
from linkwise.files import required
from linkwise.table.writing import Array, Columns, write

if TYPE_CHECKING:
    from linkwise.card import Lines

TIME = ("t", "time")


@dataclass(frozen=True, eq=False)
class Table:
    """Columns by name, with a row for each sample, and where they come from.

    Args:
        columns: of numbers.
        source: file, or what else it is, for messages.
        facts: what is kept beside the columns, as JSON has it.
        lines: of the rows in a text, where `header` is the line of the names.
        faults: for columns with a cell that is no number the first such row, and what is there.
        notes: in words, what was left out.
    """

    columns: Columns
    source: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    lines: Sequence[int] = ()
    header: int = 0
    faults: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __contains__(self, name: str) -> bool:
        return name in self.columns

    def error(self, message: str, name: str = "", row: int = 0) -> LinkwiseError:
        """The error `message`, placed at the head of the table, or at a value of a column."""
        quantity = name.partition(".")[0]
        if self.header:
            return InputError(f"{self.source}:{self.lines[row] if name else self.header}: {message}")
        return InputError(f"{self.source}, {quantity}[{row}]: {message}" if name else f"{self.source}: {message}")

    def column(self, name: str) -> Array:
        """A column, all of it finite numbers."""
        if name in self.faults:
            row, cell = self.faults[name]
            raise self.error(f"column {name!r}: expected a number, got {cell!r}.", name, row)
        column = self.columns[name]
        bad = np.flatnonzero(~np.isfinite(column))
        if len(bad):
            message = f"column {name!r}: expected a finite number, got {column[bad[0]]}. Remove or repair the row."
            raise self.error(message, name, int(bad[0]))
        return column

    def stacked(self, names: Sequence[str]) -> Array:
        """Columns side by side, all finite."""
        if not names:
            raise self.error("expected a robot with joints that move, got one that cannot.")
        found = np.stack([self.column(name) for name in names], axis=1)
        if not len(found):
            raise self.error("expected at least one row, got none.")
        return found

    def times(self) -> Array | None:
        """The rising times, or None where there are none."""
        found = [name for name in TIME if name in self.columns]
        if not found:
            return None
        if len(found) > 1:
            raise self.error("expected one column of times, got 't' and 'time'. Remove one.")
        t = self.stacked(found)[:, 0]
        back = np.flatnonzero(np.diff(t) <= 0.0)
        if len(back):
            k = int(back[0]) + 1
            message = f"expected rising times, got {t[k]:g} after {t[k - 1]:g}. Sort the rows, each time once."
            raise self.error(message, found[0], k)
        return t

    def group(self, quantity: str) -> Array:
        """All columns of a quantity (rows, n), whatever they are numbers of."""
        found = [column for name, column in self.columns.items() if name.split(".")[0] == quantity]
        if not found:
            raise KeyError(quantity)
        return np.stack(found, axis=1)


class Sampled:
    """A result that is a table: a column by its name, all of them as a data frame or in a file."""

    @abstractmethod
    def columns(self) -> dict[str, Array]:
        """Everything as named columns, t among them."""

    def kept(self) -> dict[str, Any]:
        """What .npz and .parquet files keep beside the columns, for JSON."""
        return {}

    def __getitem__(self, name: str) -> Any:
        columns = self.columns()
        if name not in columns:
            raise UnknownNameError("column", name, columns)
        return columns[name]

    def save(self, path: str | PathLike[str]) -> None:
        """Write the columns to a .csv, .npz or .parquet file."""
        write(path, self.columns(), self.kept())

    def to_dataframe(self) -> Any:
        """The columns as a pandas DataFrame, with the time as its index."""
        return required("pandas", "to_dataframe").DataFrame(self.columns()).set_index("t")

    def curves(self) -> tuple[Array, dict[str, Lines]]:
        """Times, and what a notebook plots over them: positions and torques, by name."""
        columns = self.columns()
        found: dict[str, Lines] = {}
        for title, prefix in (("position", "q."), ("torque", "tau.")):
            names = [name for name in columns if name.startswith(prefix)]
            if names:
                columns_of = np.stack([columns[name] for name in names], axis=1)
                found[title] = [name.removeprefix(prefix) for name in names], columns_of
        return columns["t"], found

    def _repr_html_(self) -> str:
        """The card of a notebook: what `repr` says, plots, notes."""
        import linkwise.card as card

        return card.card(repr(self).strip("<>"), card.plots(*self.curves()), card.lines(getattr(self, "notes", ())))
