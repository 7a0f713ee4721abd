"""How every moving link moves: origins, mass centres, angular momenta."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from linkwise.algorithms.algorithm import Outputs, World, algorithm
from linkwise.algorithms.inverse_dynamics import Accelerations, accelerations
from linkwise.algorithms.kinematics import link_velocities, world_poses
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar
from linkwise.spatial import Motion, Pose
from linkwise.vector import EYE3, ZERO3, Mat3, Vec3, cross

if TYPE_CHECKING:
    from linkwise.mechanism.machine import AnyMachine

OUTPUTS: dict[str, tuple[str | int, ...]] = {
    "p": ("nb", 3), "v": ("nb", 6), "a": ("nb", 6),
    "p_com": ("nb", 3), "v_com": ("nb", 3), "a_com": ("nb", 3), "L": ("nb", 3),
}  # fmt: skip


@algorithm(inputs="q qd qdd", outputs=OUTPUTS, uses="base_motion")
def link_motions(
    machine: AnyMachine, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar], world: World
) -> Outputs:
    """Positions, velocities and accelerations of all moving links and their mass centres, and angular momenta.

    One row for each of `robot.moving_links`, in world axes. What is welded to a link belongs to it; the centre of a
    link without mass is its origin. Gravity is not counted.

    Returns:
        p (nb, 3), v and a (nb, 6) of the link's origin, linear then angular, a classical; p_com, v_com and a_com
        (nb, 3) of its mass centre; L (nb, 3), its angular momentum about that, spinning rotors included.
    """
    tree, q, qd, qdd = machine.complete(q, qd, qdd)
    moving = moving_links(tree, q, qd, qdd, world)
    rows: dict[str, list[Scalar]] = {name: [] for name in OUTPUTS}
    for i in tree.linked:
        R, (origin, centre) = moving.X_world[i].R, moving.points(i)
        for suffix, x in (("", origin), ("_com", centre)):
            rows[f"p{suffix}"] += moving.X_world[i].point(x)
            rows[f"v{suffix}"] += R @ moving.velocity(i, x)
            rows[f"a{suffix}"] += R @ moving.acceleration(i, x)
            if not suffix:
                rows["v"] += R @ moving.v[i].angular
                rows["a"] += R @ moving.motion.omega_dot[i]
        rows["L"] += R @ moving.angular_momentum(i)
    return tuple(rows.values())


class MovingLinks(NamedTuple):
    """How bodies move, each in its own axes; gravity is not counted."""

    tree: Tree
    qd: Sequence[Scalar]
    X_world: list[Pose]
    v: list[Motion]
    motion: Accelerations

    def points(self, i: int) -> tuple[Vec3, Vec3]:
        """The origin of the link and the mass centre of the body, in the body's frame."""
        body = self.tree.bodies[i]
        return body.of_link.inverse().p, body.centre

    def velocity(self, i: int, x: Vec3) -> Vec3:
        return self.v[i].linear + cross(self.v[i].angular, x)

    def acceleration(self, i: int, x: Vec3) -> Vec3:
        return self.motion.v_dot[i] + self.motion.U[i] @ x

    def tensor(self, i: int) -> Mat3:
        """The inertia tensor about the mass centre."""
        body = self.tree.bodies[i]
        return body.inertia.seen_from(EYE3, -body.centre).I_o

    def angular_momentum(self, i: int) -> Vec3:
        """About the mass centre, with the spin of rotors on the body."""
        total = self.tensor(i) @ self.v[i].angular
        for r in self.tree.rotors:
            if r.on == i:
                total = total + r.axis * (self.qd[r.v] * r.ratio * r.inertia)
        return total


def moving_links(
    tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar], world: World
) -> MovingLinks:
    """The motion of all bodies, gravity left out."""
    motion = accelerations(tree, q, qd, qdd, replace(world, gravity=ZERO3))
    return MovingLinks(tree, qd, world_poses(tree, q), link_velocities(tree, q, qd, world), motion)
