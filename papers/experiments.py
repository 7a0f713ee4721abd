"""Experiments of the sources, repeated: what each finds, and where to find them all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any

from linkwise.errors import UnknownNameError

# where each experiment lives, in the order of the report; a new one needs a line here and nothing else
EXPERIMENTS = {
    "errata": "papers.errata_page:errata_page",
    "stanford": "papers.stanford:stanford",
    "torque-rates": "papers.torque_rates:torque_rates",
    "sensitivities": "papers.sensitivities:sensitivities",
    "loaded-sensitivities": "papers.loaded_sensitivities:loaded_sensitivities",
    "routes": "papers.forward_routes:routes",
    "two-links": "papers.two_links:two_links",
    "shuttle": "papers.shuttle:shuttle",
    "moving-base": "papers.moving_base:moving_base",
    "snake": "papers.snake:snake",
    "elastic-arm": "papers.elastic_arm:elastic_arm",
    "lumped-elasticity": "papers.lumped_elasticity:lumped_elasticity",
    "flexible-links": "papers.flexible_links:flexible_links",
    "four-bar": "papers.closed_loops:four_bar",
    "five-bar": "papers.closed_loops:five_bar",
    "palletiser": "papers.closed_loops:palletiser",
    "hexapod": "papers.hexapod:hexapod",
    "delta": "papers.delta:pick_and_place",
    "minimum-time": "papers.planning:fastest",
    "time-and-effort": "papers.planning:trade_off",
    "planned-arms": "papers.planning_arms:planned_arms",
    "planned-platforms": "papers.planning_platforms:planned_platforms",
    "retiming": "papers.retiming:retiming",
    "walking": "papers.walking:walking",
}

Cell = str | float | int | None


@dataclass(frozen=True)
class Table:
    """Rows of cells under a head; numbers are shown with so many digits, None as a dash."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    digits: int = 6


@dataclass(frozen=True)
class Picture:
    """A drawing as inline SVG, and what it shows."""

    caption: str
    svg: str


@dataclass(frozen=True)
class Experiment:
    """What an experiment found.

    Args:
        name: by which it is asked for.
        title: for people.
        source: what it repeats.
        finding: the result in one sentence.
        text: paragraphs.
        tables: such as "published / ours".
        pictures: drawings.
        assumptions: what the source leaves open, and what was taken.
        agrees: whether the result is what it should be.
    """

    name: str
    title: str
    source: str
    finding: str
    text: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    pictures: tuple[Picture, ...] = ()
    assumptions: tuple[str, ...] = ()
    agrees: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "agrees", bool(self.agrees))  # comparisons of NumPy have a kind of their own

    def as_data(self) -> dict[str, Any]:
        """All but the drawings, as plain data."""
        data = asdict(self)
        data["pictures"] = [picture.caption for picture in self.pictures]
        return data


def check_names(names: Iterable[str]) -> list[str]:
    """The names of experiments, all of them when none is given."""
    chosen = list(dict.fromkeys(names))
    for name in chosen:
        if name not in EXPERIMENTS:
            raise UnknownNameError("experiment", name, EXPERIMENTS)
    return chosen or list(EXPERIMENTS)


def run(name: str) -> Experiment:
    """Run one experiment."""
    return _function(name)()


def about(name: str) -> str:
    """What an experiment shows, in one sentence: the first line of its docstring."""
    return (_function(name).__doc__ or "").strip().partition("\n")[0]


def _function(name: str) -> Callable[[], Experiment]:
    module, function = EXPERIMENTS[check_names([name])[0]].split(":")
    experiment: Callable[[], Experiment] = getattr(import_module(module), function)
    return experiment
