"""Forward dynamics by every route: operations beside Nasser's published counts, who wins when, a swinging Puma."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from linkwise.algorithms.algorithm import Algorithm, Outputs, World, algorithm
from linkwise.algorithms.forces import bias_forces
from linkwise.algorithms.forward_dynamics import forward_dynamics
from linkwise.algorithms.inbound_outbound import inbound_outbound
from linkwise.algorithms.inertia_route import no_inertia_along
from linkwise.algorithms.walker_orin import unit_accelerations
from linkwise.figures import COLOURS, style
from linkwise.formats.dh import modified_dh
from linkwise.formats.registry import load
from linkwise.kernel.compile import compile
from linkwise.mechanism import linear
from linkwise.motion.trajectory import Array
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar
from linkwise.simulation.result import Simulation
from linkwise.simulation.simulation import simulate
from papers.experiments import Cell, Experiment, Picture, Table
from papers.pictures import inline_svg

TOLERANCE = 1e-9  # of routes against each other, relative to the largest acceleration of a joint
DRIFT = 1e-8  # of the energy of the Puma, relative
SEARCHED = 24  # joints up to which a crossing is sought
PRINTED = range(2, 11)
PUBLISHED = "Nasser, published"
LINEAR = ("Nasser", PUBLISHED, "articulated bodies")  # routes whose cost grows linearly, and their rivals
SQUARE = ("unit accelerations", "composite bodies")


@algorithm(inputs="q qd tau", outputs={"qdd": ("nv",)}, uses="gravity external base_motion", torques_only=True)
def walker_orin(tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], tau: Sequence[Scalar], world: World) -> Outputs:
    """Accelerations by the inertia matrix whose columns are forces of unit accelerations.

    Source: Walker and Orin (1982), method 1, the rival of [Nasser].
    """
    (flat,) = unit_accelerations.function(tree, q)
    (h,) = bias_forces.function(tree, q, qd, world=world)
    n = tree.nv
    factors = linear.factorise([flat[k : k + n] for k in range(0, n * n, n)], lambda k: no_inertia_along(tree, k))
    return (linear.solve(factors, [a - b for a, b in zip(tau, h, strict=True)]),)


# the routes: an algorithm and its options
ROUTES: dict[str, tuple[Algorithm, dict[str, Any]]] = {
    "Nasser": (inbound_outbound, {}),
    "articulated bodies": (forward_dynamics, {"route": "articulated"}),
    "composite bodies": (forward_dynamics, {"route": "inertia"}),
    "unit accelerations": (walker_orin, {}),
}


def general_chain(joints: int, seed: int = 1) -> Robot:
    """A chain of revolute joints with nothing special: full inertias, no right angles, no zero offsets, tilted base."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(joints):
        spread = rng.normal(size=(3, 3)) * 0.1
        rows.append({
            "theta": rng.uniform(0.2, 1.3), "d": rng.uniform(0.1, 0.5), "a": rng.uniform(0.1, 0.5),
            "alpha": rng.uniform(0.2, 1.3), "mass": rng.uniform(1, 5), "com": rng.normal(size=3) * 0.1,
            "inertia": np.eye(3) * np.trace(spread @ spread.T) - spread @ spread.T,
        })  # fmt: skip
    return modified_dh(rows, name=f"general {joints}R", gravity=(3.0, -4.0, -8.0))


def published(links: int) -> tuple[int, int]:
    """Multiplications and additions that Nasser prints for so many links, section 3.3."""
    return 258 * links - 119, 191 * links - 83


def operations(robot: Robot, route: str) -> tuple[int, int]:
    """Multiplications and additions of a route, counted in the program that is compiled."""
    chosen, options = ROUTES[route]
    count = compile(robot, chosen, **options).count()
    return count["mul"], count["add"]


def by_all_routes(robot: Robot, states: Array) -> dict[str, Array]:
    """Accelerations by every route at states (rows, 3, nv): position, velocity, torque. In plain Python."""
    return {
        name: np.array([chosen.plain(robot, *state.tolist(), **options) for state in states])
        for name, (chosen, options) in ROUTES.items()
    }


def relative(a: Array, b: Array) -> float:
    """The largest difference over the largest of `b`, column by column, at worst."""
    return float((np.abs(a - b).max(axis=0) / np.abs(b).max(axis=0)).max())


def routes() -> Experiment:
    """Operations of four routes of forward dynamics beside Nasser's count; energy of a free Puma."""

    @cache
    def counted(n: int, route: str) -> tuple[int, int]:
        return published(n) if route == PUBLISHED else operations(general_chain(n), route)

    crossings = {(a, b): crossing(counted, a, b) for a in LINEAR for b in SQUARE}
    rivals = crossing(counted, LINEAR[2], "Nasser")
    six, printed = sum(counted(6, "Nasser")), sum(published(6))
    rng = np.random.default_rng(5)
    found = by_all_routes(general_chain(10), rng.normal(size=(3, 3, 10)))
    worst = max(relative(qdd, found["composite bodies"]) for qdd in found.values())
    swing = puma_swing()
    slope = np.array(counted(10, "Nasser")) - counted(9, "Nasser")
    return Experiment(
        name="routes",
        title="Forward dynamics: four routes and their costs",
        source="Nasser, abstract and section 3.3; Khalil, section 3.3",
        finding=f"Nasser's scheme takes {slope[0]} multiplications and {slope[1]} additions for each further joint; the"
        f" published numbers are 258 and 191. Counted so, it beats Walker and Orin's unit accelerations"
        f" {_from(crossings['Nasser', SQUARE[0]])} and composite bodies {_from(crossings['Nasser', SQUARE[1]])}."
        f" Routes agree to {worst:.0e}; a free Puma keeps its energy to {swing.energy.drift:.0e} over 10 s.",
        text=(
            "Nasser states that the cost of his scheme grows linearly with the number of joints, and that it is more"
            " efficient than the methods of Walker and Orin; he names no number of joints. The cost is linear here too."
            " When all are traced the statement itself holds for long chains alone: sharing common terms spares the"
            " inertia matrix more than his scheme. Unit accelerations, columns of the matrix by inverse dynamics, are"
            " the first of the methods of Walker and Orin; composite bodies are their third, and best.",
            f"Articulated bodies, Khalil's recursion (32)-(46) and the same elimination in other frames, are cheaper"
            f" than Nasser's scheme {_from(rivals)} and than composite bodies {_from(crossings[LINEAR[2], SQUARE[1]])}."
            " All counts are of the whole forward dynamics: bias forces, matrix, factorisation, solution.",
            "The source does not show how it counts. Ours has link frames placed as its Denavit-Hartenberg ones, turns"
            " matrices by one rotation about x and one about z, keeps them symmetric, leaves out the row and column of"
            " zeros of an axis that yields, and regroups inertias, as every route here does; for six joints it then"
            f" takes {six} operations where {printed} are printed.",
        ),
        tables=(_counts_table(counted), _crossings_table(crossings), _puma_table(swing)),
        pictures=(_picture(counted, swing),),
        assumptions=(
            "Chains are general: no right angles, no zero offsets, full inertias, a tilted base, drawn at random once."
            " Robots as built are cheaper by every route.",
            "Our counts are of the traced program after common terms are shared and constants folded; sines, negations"
            " and divisions are not among them. The base is at rest.",
            "N of the source is the number of links. Its outbound sweep runs over links 2 to N of a base with"
            " prescribed motion, so a chain of n joints may be meant to have n or n + 1 links: both are shown.",
        ),
        agrees=worst <= TOLERANCE and swing.energy.drift <= DRIFT,
    )


def crossing(counted: Callable[[int, str], tuple[int, int]], route: str, rival: str) -> int | None:
    """The least number of joints from which a route that grows slower takes fewer operations than its rival."""

    def wins(n: int) -> bool:
        return sum(counted(n, route)) < sum(counted(n, rival))

    low, high = 2, 3  # it wins from somewhere above low - 1 on; from high on, once that is found
    while not wins(high):
        low, high = high + 1, 2 * high
        if high > SEARCHED:
            return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if wins(middle) else (middle + 1, high)
    return low


def puma_swing() -> Simulation:
    """A Puma 560 without friction that falls from a raised, twisted position for ten seconds."""
    robot = load("puma560").without_friction()
    return simulate(robot, [0.0, 0.5, -0.4, 0.3, 0.2, 0.1], None, 10.0, rtol=1e-11, atol=1e-12, progress=False)


def _from(n: int | None) -> str:
    return f"from {n} joints on" if n else f"nowhere up to {SEARCHED} joints"


def _counts_table(counted: Callable[[int, str], tuple[int, int]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for n in PRINTED:
        printed = [f"{m} / {a}" for m, a in (published(n), published(n + 1))]
        ours = [f"{m} / {a}" for m, a in (counted(n, route) for route in ROUTES)]
        rows.append((f"{n}", *printed, *ours))
    head = ("n", "published, N = n", "published, N = n + 1", *ROUTES)
    note = "The published ones are of Nasser's scheme; the last four columns are ours."
    return Table("Multiplications / additions of forward dynamics, general chains of n joints", head, tuple(rows), note)


def _crossings_table(crossings: dict[tuple[str, str], int | None]) -> Table:
    rows = tuple((route, rival, _from(n)) for (route, rival), n in crossings.items())
    note = f"Multiplications and additions together, sought between 2 and {SEARCHED} joints; published with N = n."
    return Table("Which route wins", ("route", "takes fewer operations than", ""), rows, note)


def _puma_table(swing: Simulation) -> Table:
    e = swing.energy
    rows: tuple[tuple[Cell, ...], ...] = (
        ("largest kinetic energy, J", float(e.kinetic.max())),
        ("largest change of the total energy, J", float(np.abs(e.total - e.total[0]).max())),
        ("relative", e.drift),
        ("steps", swing.facts["steps"]),
    )
    note = f"{swing.facts['method']} with relative tolerance {swing.facts['rtol']:g}, no friction, no torques."
    return Table("A free Puma 560 over ten seconds", ("", "ours"), rows, note)


def _picture(counted: Callable[[int, str], tuple[int, int]], swing: Simulation) -> Picture:
    from matplotlib.figure import Figure

    caption = "Left: operations against the number of joints. Right: energies of the free Puma 560, and their sum."
    joints = (2, 3, 6, 9, 12, 18, SEARCHED)
    with style():
        figure = Figure(figsize=(9.6, 3.4), layout="constrained")
        costs, energy = figure.subplots(1, 2)
        for k, route in enumerate(ROUTES):
            shown = [n for n in joints if n <= 12 or route != SQUARE[0]]  # which would leave the picture
            costs.plot(shown, [sum(counted(n, route)) for n in shown], color=COLOURS[k], label=route)
        costs.plot(joints, [sum(published(n)) for n in joints], color=COLOURS[0], ls="--", label=PUBLISHED)
        costs.set(xlabel="joints", ylim=(0, 1.2 * sum(counted(SEARCHED, "Nasser"))))
        costs.set_title("multiplications and additions", fontweight="bold")
        costs.legend()
        e = swing.energy
        curves = {"kinetic": e.kinetic, "potential, from the start": e.potential - e.potential[0],
                  "sum": e.total - e.potential[0]}  # fmt: skip
        for colour, (name, values) in zip(COLOURS, curves.items(), strict=False):
            energy.plot(swing.t, values, color=colour, label=name)
        high = float(e.kinetic.max())
        energy.set(xlabel="time, s", ylabel="J", ylim=(-1.1 * high, 1.7 * high))  # room for the legend
        energy.set_title("a free Puma 560", fontweight="bold")
        energy.legend(loc="upper right")
    return Picture(caption, inline_svg(figure, "routes", caption))
