"""How large the program of an algorithm would be, and which kind of kernel suits it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from linkwise.algorithms.algorithm import Algorithm
from linkwise.errors import InputError
from linkwise.kernel.kernel import Kernel
from linkwise.kernel.options import Options
from linkwise.kernel.robot_tracing import ports, robot_depths
from linkwise.kernel.volume_pairs import Form, form_of, pair_distance
from linkwise.robot.robot import Robot
from linkwise.robot.volume import Terrain, Volume

if TYPE_CHECKING:
    from linkwise.mechanism.scene import Bodies, Names

EACH = 50  # operations for an entry of a matrix, as measured on chains
SOLVED = 25  # operations for a pair of coordinates on the way to a third, where a matrix is solved with
LARGE = 400_000  # operations from which columns are computed one after the other: more take many seconds to compile
MOST = 3_000_000  # operations of a program that are still worth starting on
DERIVED = 4  # times the operations of distances, with their derivatives
PACE = 40_000  # operations that are traced and compiled in a second, or a few more

# what to ask for instead of what is too large
INSTEAD = {
    "linearization": "Use forward_dynamics_derivatives, which has its parts.",
    "inverse_dynamics_hessian": "Use inverse_dynamics_hessian_vector, which has its products with directions.",
    "coriolis_matrix": "Use bias_forces, which has its product with qd.",
    "regressor": "Turn the numbers that you look for into an input, parameters=..., and differentiate.",
}


def kernel_of(robot: Robot, algorithm: Algorithm, options: Options, static: dict[str, Any]) -> Kernel:
    """The kernel of an algorithm for one robot: one program, or where that would be too large, column by column."""
    arguments = algorithm.arguments(robot, static)
    if "bodies" in arguments:
        told = {key: arguments[key] for key in ("bodies", "pairs", "spheres", "exact")}
        check_pairs(algorithm.name, **told, factor=DERIVED if algorithm.derives else 1)
    size = expected_operations(robot, algorithm, options, arguments)
    if size > LARGE and algorithm.columns and not robot.follows:
        from linkwise.kernel.columns import columns_of  # small robots need nothing of it

        found = columns_of(robot, algorithm, options, static, algorithm.columns)
        if found:
            return found
    if size > MOST:
        raise InputError(
            f"{algorithm.name}: expected a program of at most {MOST:,} operations, got a robot with {robot.nv} degrees"
            f" of freedom, for which it would have about {size:,.0f}."
            f" {INSTEAD.get(algorithm.name, 'Hold joints with robot.lock(names), or ask for a part of the robot.')}"
        )
    return Kernel.of(robot, algorithm, options, static)


def expected_operations(robot: Robot, algorithm: Algorithm, options: Options, arguments: dict[str, Any]) -> float:
    """About how many operations the matrices among an algorithm's outputs take, before anything is traced.

    An entry counts where one coordinate moves the other: of a chain half of them, of a robot with many short arms few.
    Derivatives of accelerations are solved for besides, column by column.
    """
    depths = robot_depths(robot)
    share = sum(depths) / max(1, len(depths)) ** 2
    shapes = algorithm.signature(arguments)[1]
    found = ports(robot, algorithm, options, arguments)[2]
    grown = [port.size for port in found if sum(isinstance(axis, str) for axis in shapes[port.name]) > 1]
    total = EACH * share * sum(grown)
    if algorithm.derives and algorithm.derives.base.name == "forward_dynamics":
        total += SOLVED * sum(d * d for d in depths)
    return total


def check_pairs(
    what: str, bodies: Bodies, pairs: Sequence[Names], spheres: int = 0, exact: bool = False, factor: int = 1
) -> None:
    """Refuse pairs of bodies whose distances would be too large a program, before anything of it is traced.

    Args:
        what: asks for them.
        bodies: volumes by name.
        pairs: of bodies, by name.
        spheres: how many balls are an input.
        exact: whether the distance of two boxes is exact.
        factor: by which operations are more than those of distances.
    """
    volumes = {name: own for name, _, own in bodies}
    rough = {name for name, own in volumes.items() if any(isinstance(v, Terrain) for v in own)}
    found: Counter[tuple[Form, Form]] = Counter()
    for a, b in pairs:  # above a terrain the number of balls in a volume depends on its sizes
        sides = [_forms(volumes.get(name, ()), bool(rough & {a, b})) or {Form("sphere"): spheres} for name in (a, b)]
        for (x, m), (y, n) in product(*(side.items() for side in sides)):
            found[min(x, y), max(x, y)] += m * n
    each = {forms: factor * pair_distance(*forms, exact).operations for forms in found}
    size = sum(each[forms] * count for forms, count in found.items())
    if size <= MOST:
        return
    forms, count = max(found.items(), key=lambda item: each[item[0]] * item[1])
    raise InputError(
        f"{what}: expected pairs whose distances take at most {MOST:,} operations, got {sum(found.values()):,} pairs of"
        f" volumes in {len(pairs):,} pairs of links and obstacles, which take about {size:,}, and some {size // PACE:,}"
        f" s to compile. Most of that are {count:,} pairs of a {forms[0].kind} and a {forms[1].kind}, {each[forms]:,}"
        " operations each. Leave pairs out by ignore=..., or name those to look at by pairs=...; and let fewer or"
        " simpler volumes stand for links: capsules or spheres in place of boxes, parts=1 for meshes"
        f"{', exact=False for boxes' if exact else ''}."
    )


def _forms(volumes: Sequence[Volume], fixed: bool) -> Counter[Form]:
    return Counter(form_of(v, fixed) for v in volumes)
