"""How far apart the parts of a machine are from each other and from obstacles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from linkwise.algorithms.algorithm import REQUIRED, Derivation, Outputs, algorithm
from linkwise.algorithms.derivative_of import by_graph_alone
from linkwise.algorithms.kinematics import world_poses
from linkwise.mechanism.scene import SPHERES, WORLD, Bodies, Names
from linkwise.robot.distance import FAR, least
from linkwise.robot.volume import sphere
from linkwise.scalar import Scalar, less, minimum, where
from linkwise.spatial import Pose
from linkwise.vector import Mat3, Vec3

if TYPE_CHECKING:
    from linkwise.mechanism.machine import AnyMachine

Pairs = tuple[Names, ...]
STATIC: dict[str, Any] = dict.fromkeys(("bodies", "pairs", "moving", "spheres", "exact"), REQUIRED)


@algorithm(inputs="q obstacles spheres", outputs={"distance": (), "pair": ()}, **STATIC)
def clearance(
    machine: AnyMachine,
    q: Sequence[Scalar],
    *obstacles: Sequence[Scalar],
    bodies: Bodies,
    pairs: Pairs,
    moving: tuple[str, ...],
    spheres: int,
    exact: bool,
) -> Outputs:
    """The least signed distance of pairs of bodies, negative where they overlap, and which pair it is, from 0.

    Args:
        machine: the robot.
        q: positions (nq).
        obstacles: poses (k, 4, 4) in the world of those obstacles that are `moving`, and balls (k, 4) there, by centre
            and radius.
        bodies: volumes by name, with what carries them.
        pairs: of bodies, by name.
        moving: names of obstacles whose poses are an input.
        spheres: how many balls are an input.
        exact: whether the distance of two boxes is exact, or the quick lower bound of `linkwise.robot.distance`.
    """
    found = _distances(machine, q, obstacles, bodies, pairs, moving, spheres, exact)
    distance, pair = found[0], 0.0
    for k, x in enumerate(found[1:], 1):
        pair = where(less(x, distance), float(k), pair)
        distance = minimum(distance, x)
    known = less(distance, FAR)  # not NaN
    return [distance], [where(known, pair, -1.0)]


@algorithm(inputs="q obstacles spheres", outputs={"distances": ("pairs",)}, **STATIC)
def link_distances(
    machine: AnyMachine,
    q: Sequence[Scalar],
    *obstacles: Sequence[Scalar],
    bodies: Bodies,
    pairs: Pairs,
    moving: tuple[str, ...],
    spheres: int,
    exact: bool,
) -> Outputs:
    """The signed distance of each pair of bodies, with the arguments of `clearance`."""
    return (_distances(machine, q, obstacles, bodies, pairs, moving, spheres, exact),)


@algorithm(
    inputs="q obstacles spheres",
    outputs={"ddistances_dq": ("pairs", "nv")},
    derives=Derivation(link_distances, (("distances", "q"),), kind="rows"),
    **STATIC,
)
def link_distance_derivatives(*_: Sequence[Scalar], **__: object) -> Outputs:
    """The derivatives of `link_distances` by positions, along tangent vectors: those of the volumes nearest."""
    raise by_graph_alone("link_distance_derivatives")


def _distances(
    machine: AnyMachine,
    q: Sequence[Scalar],
    obstacles: Sequence[Sequence[Scalar]],
    bodies: Bodies,
    pairs: Pairs,
    moving: tuple[str, ...],
    spheres: int,
    exact: bool,
) -> list[Scalar]:
    tree, q = machine.complete(q)
    X_world, given, placed = world_poses(tree, q), iter(obstacles), {}
    poses = next(given) if moving else ()
    moved = {name: _pose(poses[16 * k : 16 * k + 16]) for k, name in enumerate(moving)}
    for name, carrier, volumes in bodies:
        if carrier == WORLD or carrier in moved:
            X_body, X = Pose(), moved.get(carrier, Pose())
        else:
            i, X_body = tree.place(carrier)
            X = X_world[i]
        placed[name] = [v.seen_from(X_body).seen_from(X) for v in volumes]
    if spheres:
        balls = next(given)
        placed[SPHERES] = [sphere(Vec3(*balls[k : k + 3]), balls[k + 3]) for k in range(0, 4 * spheres, 4)]
    return [least(placed[a], placed[b], exact) for a, b in pairs]


def _pose(sixteen: Sequence[Scalar]) -> Pose:
    """The pose of a 4 by 4 matrix, row after row."""
    rows = [sixteen[k : k + 4] for k in (0, 4, 8)]
    return Pose(Mat3.of(row[:3] for row in rows), Vec3(*(row[3] for row in rows)))
