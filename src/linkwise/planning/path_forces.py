"""Forces along a path as functions of the speed along it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from linkwise.algorithms.algorithm import Outputs, World, algorithm
from linkwise.algorithms.inverse_dynamics import inverse_dynamics
from linkwise.jet import Jet, part
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar

NV = ("nv",)


@algorithm(
    inputs="q qd qdd qddd",
    outputs={"m": NV, "c": NV, "g": NV, "dm": NV, "dc": NV, "dg": NV},
    uses="gravity",
    torques_only=True,
)
def path_forces(
    tree: Tree,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    qddd: Sequence[Scalar],
    world: World,
) -> Outputs:
    """The parts of the torques along a path q(s), and their derivatives by s, friction left out.

        tau = m s_ddot + c s_dot^2 + g

    m = M q', c = M q'' + C(q, q') q', and g holds gravity and springs. Inverse dynamics is run on series in s, so that
    each part comes with its derivative.

    Args:
        q: positions (nq); joints of one degree of freedom only.
        qd: q' (nv), the first derivative by s.
        qdd: q''.
        qddd: q'''.
        world: gravity.
    """
    bare = replace(tree, bodies=tuple(b.without_forces() for b in tree.bodies))
    none = [0.0] * tree.nv
    at, first, second = (
        [Jet(pair) for pair in zip(x, x_prime, strict=True)] for x, x_prime in ((q, qd), (qd, qdd), (qdd, qddd))
    )
    (m,) = inverse_dynamics.function(bare, at, none, first, world=World())
    (c,) = inverse_dynamics.function(bare, at, first, second, world=World())
    (g,) = inverse_dynamics.function(tree, at, none, none, world=world)
    return tuple([part(x, k) for x in values] for k in (0, 1) for values in (m, c, g))


@algorithm(inputs="q qd qdd dt", outputs={"friction": NV, "by_speed": NV, "by_place": NV}, torques_only=True)
def path_friction(
    tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar], dt: Sequence[Scalar]
) -> Outputs:
    """The torques of friction and damping along a path at a speed s_dot, and their derivatives by s_dot and by s.

    Args:
        q: positions (nq).
        qd: q' (nv).
        qdd: q''.
        dt: the speed s_dot, 1/s.
    """
    (speed,) = dt
    fixed = [Jet([x, 0.0]) for x in q], [x * Jet([speed, 1.0]) for x in qd]
    moved = ([Jet(pair) for pair in zip(q, qd, strict=True)], [Jet(pair) * speed for pair in zip(qd, qdd, strict=True)])
    by_speed, by_place = _resistance(tree, *fixed), _resistance(tree, *moved)
    return [part(x) for x in by_speed], [part(x, 1) for x in by_speed], [part(x, 1) for x in by_place]


@algorithm(inputs="q qd qdd qddd", outputs={"rows": (11, "nv")}, uses="gravity", torques_only=True)
def path_parts(
    tree: Tree,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    qddd: Sequence[Scalar],
    world: World,
) -> Outputs:
    """The parts of the torques along a path with friction, as the rows m, c, g, a, b, their derivatives by s, and q'.

        tau = m s_ddot + c s_dot^2 + g + a + b s_dot

    a + b s_dot is friction: exactly at the speeds 1 and 2, at all others where it is viscous and Coulomb friction.
    """
    m, c, g, dm, dc, dg = path_forces.function(tree, q, qd, qdd, qddd, world)
    at = [Jet(pair) for pair in zip(q, qd, strict=True)]
    once, twice = (
        _resistance(tree, at, [Jet(pair) * speed for pair in zip(qd, qdd, strict=True)]) for speed in (1.0, 2.0)
    )
    b = [y - x for x, y in zip(once, twice, strict=True)]
    a = [x - y for x, y in zip(once, b, strict=True)]
    friction = [[part(x, k) for x in values] for k in (0, 1) for values in (a, b)]
    return ([*m, *c, *g, *friction[0], *friction[1], *dm, *dc, *dg, *friction[2], *friction[3], *qd],)


def _resistance(tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Scalar]:
    """What friction and damping take at each coordinate: the resistance less that at rest."""
    total: list[Scalar] = [0.0] * tree.nv
    none = [0.0] * tree.nv
    for body in tree.bodies[1:]:
        if body.is_single:
            total[body.v] += body.resistance(q, qd, none) - body.resistance(q, none, none)
    return total
