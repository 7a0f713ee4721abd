"""Derivatives of how links move: the fields of `sensitivities`, carried outwards and read at points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from linkwise.algorithms.algorithm import Cheapest, Outputs, World, algorithm
from linkwise.algorithms.derivative_of import derivation
from linkwise.algorithms.link_motions import OUTPUTS, MovingLinks, link_motions, moving_links
from linkwise.algorithms.sensitivities import Column, Disturbed, Field, disturbed
from linkwise.scalar import Scalar
from linkwise.spatial import Motion
from linkwise.vector import ZERO3, Vec3, cross

if TYPE_CHECKING:
    from linkwise.mechanism.machine import AnyMachine

# which inputs each quantity depends on
PAIRS = [
    (output, x)
    for output in OUTPUTS
    for x in ("q", "qd", "qdd")[: {"p": 1, "v": 2, "a": 3, "L": 2}[output.removesuffix("_com")]]
]


@algorithm(
    inputs="q qd qdd",
    outputs={f"d{output}_d{x}": (*OUTPUTS[output], "nv") for output, x in PAIRS},
    uses="base_motion",
    derives=derivation(link_motions, *PAIRS),
    route=Cheapest("recursion", "graph", ranked=0),
)
def kinematics_derivatives(
    machine: AnyMachine, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar], world: World, route: str
) -> Outputs:
    """Derivatives of the positions, velocities and accelerations of links and mass centres, and of angular momenta.

    Those of the components of `link_motions`, in world axes, one block for each of `robot.moving_links`; by q along
    tangent vectors. dp_dq, the linear rows of dv_dqd and those of da_dqdd are the Jacobian of the link's origin.

    Returns:
        dp_dq (nb, 3, nv); dv_dq, dv_dqd, da_dq, da_dqd, da_dqdd (nb, 6, nv), linear rows first; the same of mass
        centres, dp_com_dq to da_com_dqdd (nb, 3, nv); dL_dq, dL_dqd (nb, 3, nv).

    Source: [Barman] (3.5)-(3.61), (3.69)-(3.71), which give them in link axes, component by component; ours are the
    fields of `sensitivities`, turned into the world, where a vector y of the link also turns with it: unit x y.
    """
    tree = machine.only_tree("route 'recursion'")
    moving = moving_links(tree, q, qd, qdd, world)
    state = disturbed(tree, q, qd, qdd, replace(world, gravity=ZERO3, external={}, by_laws=False))
    found: dict[str, list[Scalar]] = {f"d{output}_d{x}": [] for output, x in PAIRS}
    changes: list[list[Change]] = [[]]
    for i, body in enumerate(tree.bodies[1:], start=1):
        own = [Change.of(state, moving, i, column) for column in state.columns[i]]
        changes.append([*(c.carried(state, i) for c in changes[body.parent]), *own])
        for name, rows in _blocks(moving, i, changes[i]).items() if body.link else ():
            found[name].extend(rows)
    return tuple(found.values())


class Change(NamedTuple):
    """How a body's motion changes with coordinate `k`, in its axes at its origin.

    `unit` is its velocity for a unit of qd, `speed` the change of its velocity by q, fields those of its acceleration.
    """

    k: int
    unit: Motion
    speed: Motion
    by_q: Field
    by_qd: Field

    @classmethod
    def of(cls, state: Disturbed, moving: MovingLinks, i: int, column: Column) -> Change:
        """The change by a coordinate of body i itself: the parent's motion as the body sees it turns with the joint."""
        a, (R, p) = state.tree.bodies[i].parent, state.motion.poses[i]
        omega_a = R.T @ moving.v[a].angular
        shared = R.T @ (moving.v[a].linear + cross(moving.v[a].angular, p))
        unit = column.unit
        linear = cross(shared, unit.angular) + cross(omega_a, unit.linear)
        return cls(column.k, unit, Motion(linear, cross(omega_a, unit.angular)), column.by_q, column.by_qd)

    def carried(self, state: Disturbed, i: int) -> Change:
        """The same on body i, for its parent's change."""
        step = state.step(i)
        return Change(
            self.k,
            self.unit.carried_to(*step[:2]),
            self.speed.carried_to(*step[:2]),
            self.by_q.carried(*step),
            self.by_qd.carried(*step),
        )


def _blocks(moving: MovingLinks, i: int, changes: Sequence[Change]) -> dict[str, list[Scalar]]:
    """The rows of body i in each output, flat."""
    n, R, omega = moving.tree.nv, moving.X_world[i].R, moving.v[i].angular
    origin, centre = moving.points(i)
    I_c, L = moving.tensor(i), moving.angular_momentum(i)
    columns: dict[str, list[list[Scalar]]] = {}

    def add(name: str, k: int, *parts: Vec3) -> None:
        block = columns.setdefault(name, [[0.0] * (3 * len(parts)) for _ in range(n)])
        block[k] = [a + b for a, b in zip(block[k], (x for part in parts for x in R @ part), strict=True)]

    for c in changes:
        around, turned = c.unit.angular, c.speed.angular
        for suffix, x in (("", origin), ("_com", centre)):
            moved = c.unit.linear + cross(around, x)
            v, a, swing = moving.velocity(i, x), moving.acceleration(i, x), cross(omega, x) * 2.0
            by_v = c.speed.linear + cross(turned, x) + cross(around, v)
            by_a = [f.linear + cross(f.angular, x) + cross(f.turning, swing) for f in (c.by_q, c.by_qd)]
            by_a[0] = by_a[0] + cross(around, a)
            if suffix:
                angular: list[tuple[Vec3, ...]] = [()] * 4
            else:
                alpha = moving.motion.omega_dot[i]
                spun = [f.angular + cross(f.turning, omega) for f in (c.by_q, c.by_qd)]
                angular = [(around,), (turned + cross(around, omega),), (spun[0] + cross(around, alpha),), (spun[1],)]
            add(f"dp{suffix}_dq", c.k, moved)
            add(f"dv{suffix}_dq", c.k, by_v, *angular[1])
            add(f"dv{suffix}_dqd", c.k, moved, *angular[0])
            add(f"da{suffix}_dq", c.k, by_a[0], *angular[2])
            add(f"da{suffix}_dqd", c.k, by_a[1], *angular[3])
            add(f"da{suffix}_dqdd", c.k, moved, *angular[0])
        add("dL_dq", c.k, I_c @ turned + cross(around, L))
        add("dL_dqd", c.k, I_c @ around)
    for r in moving.tree.rotors:
        if r.on == i:
            add("dL_dqd", r.v, r.axis * (r.ratio * r.inertia))
    return {name: [x for row in zip(*block, strict=True) for x in row] for name, block in columns.items()}
