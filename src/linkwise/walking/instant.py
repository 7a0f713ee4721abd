"""What the walking problem asks of one instant: torques after ground reactions, points of the body, their velocities.

All of it over any scalar, so that the same lines give numbers, digits for tests, and traced programs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from linkwise.algorithms.algorithm import World
from linkwise.algorithms.inverse_dynamics import body_wrenches, torques
from linkwise.algorithms.kinematics import world_poses
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar
from linkwise.spatial import Motion, Pose, Wrench
from linkwise.vector import Vec3, cross, dot
from linkwise.walking.ground import Support, right_share

# points of the feet with the components that rows use, and the order of `Instant.places` and `Instant.speeds`
FOOT_POINTS = {"heel": "xyz", "ball": "xyz", "ballm": "y", "tip": "y"}
PLACES = tuple(f"{p}_{s}.{c}" for s in "rl" for p, axes in FOOT_POINTS.items() for c in axes)
ARM_LEG = ("l", "r"), ("r", "l")  # arms with the legs they swing with
COUPLING = 100.0  # products of swings in square decimetres
OTHERS = tuple(f"arm_{a}_leg_{b}" for a, b in ARM_LEG) + tuple(f"wrist_hip_{s}" for s in "rl")
GLOBAL = 6  # coordinates of the pelvis in the world


class Instant(NamedTuple):
    """What holds at an instant.

    Args:
        tau: generalised forces of all coordinates after ground reactions (nv); the first six vanish.
        ground: force and moment about the world's origin that the ground exerts on the body (6).
        places: coordinates of points of the feet, in the order of `PLACES`.
        others: two products of arm and leg swings (arm_leg), and two squares of wrist-hip distances.
        speeds: the velocities of `places`.
    """

    tau: list[Scalar]
    ground: list[Scalar]
    places: list[Scalar]
    others: list[Scalar]
    speeds: list[Scalar]


def instant(tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar], support: Support) -> Instant:
    """The values, by two passes of inverse dynamics' results: without ground reactions, then with them."""
    through = body_wrenches(tree, q, qd, qdd, World(gravity=tree.gravity))
    poses = world_poses(tree, q)
    W = through.wrench[0]
    tau = torques(tree, q, qd, qdd, through)
    right = right_share(W, support)
    for side, share, toe in (("r", right, support.toe_r), ("l", W + -right, support.toe_l)):
        for i, k in leg(tree, side):
            J = axis_in_world(tree, poses, i)
            part = share.power(J)
            tau[k] -= part * toe if moves_toes(tree, i) else part
    for i, k in pelvis(tree):
        tau[k] -= W.power(axis_in_world(tree, poses, i))
    v = world_velocities(tree, poses, qd)
    places, speeds = [], []
    for name in PLACES:
        point, c = name.split(".")
        p, dp = at_point(tree, poses, v, point)
        places.append(p["xyz".index(c)])
        speeds.append(dp["xyz".index(c)])
    return Instant(tau, list(W), places, others(tree, poses), speeds)


def others(tree: Tree, poses: Sequence[Pose]) -> list[Scalar]:
    """Swings of arms along x times those of the legs they go with, and squares of distances of wrists from hips."""

    def at(name: str) -> Vec3:
        i, X = tree.place(name)
        return poses[i].point(X.p)

    found: list[Scalar] = []
    for a, b in ARM_LEG:
        arm = at(f"wrist_{a}").x - at(f"shoulder_{a}").x
        found.append(arm * (at(f"ankle_{b}").x - at(f"hip_{b}").x) * COUPLING)
    for s in "rl":
        apart = at(f"wrist_{s}") - at(f"hip_{s}")
        found.append(dot(apart, apart))
    return found


def toe_body(tree: Tree, side: str) -> int:
    """The body that carries the toes: where their joint is frozen, that of the foot or a body above it."""
    return tree.place(f"tip_{side}")[0]


def moves_toes(tree: Tree, i: int) -> bool:
    """Whether a body hangs on the joint of the toes, through which the load passes only while the heel is off."""
    return tree.bodies[i].name.startswith("toe_")


def leg(tree: Tree, side: str) -> list[tuple[int, int]]:
    """Bodies of a leg with their places in `tau`, from the hip to the toes."""
    chain = [i for i in reversed(tree.ancestors(toe_body(tree, side))) if tree.bodies[i].v >= GLOBAL]
    return [(i, tree.bodies[i].v) for i in chain]


def pelvis(tree: Tree) -> list[tuple[int, int]]:
    """Bodies between the world and the pelvis, with their places in `tau`."""
    return [(i, b.v) for i, b in enumerate(tree.bodies[1:], start=1) if b.v < GLOBAL]


def axis_in_world(tree: Tree, poses: Sequence[Pose], i: int) -> Motion:
    """How a unit of body i's coordinate moves the point of that body which is at the world's origin."""
    ((_, unit),) = tree.bodies[i].axes
    R, p = poses[i].R, poses[i].p
    angular = R @ unit.angular
    return Motion(R @ unit.linear + cross(p, angular), angular)


def world_velocities(tree: Tree, poses: Sequence[Pose], qd: Sequence[Scalar]) -> list[Motion]:
    """Velocities of all bodies, each as of its point at the world's origin, in world axes."""
    found = [Motion()]
    for i, body in enumerate(tree.bodies[1:], start=1):
        found.append(found[body.parent] + axis_in_world(tree, poses, i) * qd[body.v])
    return found


def at_point(tree: Tree, poses: Sequence[Pose], v: Sequence[Motion], name: str) -> tuple[Vec3, Vec3]:
    """Position and velocity of a named point."""
    i, X = tree.place(name)
    p = poses[i].point(X.p)
    return p, v[i].linear + cross(v[i].angular, p)


def foot_wrenches(W: Wrench, support: Support) -> tuple[Wrench, Wrench]:
    """What the ground exerts on the right and on the left foot, about the world's origin."""
    right = right_share(W, support)
    return right, W + -right
