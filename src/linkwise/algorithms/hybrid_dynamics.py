"""One recursion for every mix of known and unknown: accelerations of free axes, forces of driven ones."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from linkwise.algorithms.algorithm import Cheapest, Outputs, World, algorithm
from linkwise.algorithms.articulated import ArticulatedInertia
from linkwise.algorithms.free_motors import FreeMotors
from linkwise.algorithms.inertia_route import inverse_along, solve_by_inertia
from linkwise.algorithms.inverse_dynamics import at_joint, reactions
from linkwise.algorithms.mass_matrix import composites
from linkwise.errors import InputError, LinkwiseError, UnknownNameError
from linkwise.mechanism.machine import AnyMachine
from linkwise.robot.tree import Body, Tree
from linkwise.rotation import in_steps
from linkwise.scalar import Scalar, is_number, note
from linkwise.spatial import Motion, Wrench
from linkwise.vector import Vec3, cross


@algorithm(
    inputs="q qd given",
    outputs={"qdd": ("nv",), "tau": ("nv",), "wrench": ("nb", 6), "cut": ("nc", 6)},
    uses="gravity external base_motion",
    driven=(),
    route=Cheapest("inertia", "articulated", deep="articulated"),
)
def hybrid_dynamics(
    machine: AnyMachine,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    given: Sequence[Scalar],
    world: World,
    driven: Sequence[str],
    route: str,
) -> Outputs:
    """Accelerations, generalised forces and joint wrenches, when some joints are driven and the others free.

    All driven is inverse dynamics, none is forward dynamics. With a floating joint free and the others driven it is
    inverse dynamics of a moving base: the base's acceleration and the joints' torques come out together.

    Args:
        machine: the robot; with loops, forces are those at the coordinates that lead, not of drives that follow.
        q: positions (nq).
        qd: velocities (nv).
        given: for each coordinate its acceleration where its joint is driven, else its force (nv).
        world: gravity, base motion, and external wrenches.
        driven: names of the joints whose accelerations are given, and of motors ("elbow.motor") of elastic drives.
        route: "articulated" (one recursion, linear in the number of joints), "inertia" (inertia matrix, then the
            wrenches by inverse dynamics; for robots with rigid drives' motors on links or joints that mimic the only
            one), or the cheaper of the two by counted operations.

    Source: see `solve`; [Khalil] 3.2, 3.3.2, 6 and 7 are its cases.
    """
    places = driven_places(machine, driven)
    cut: list[Scalar] = []
    if route == "articulated":
        tree = machine.only_tree("route 'articulated'")
        qdd, tau, wrench, _ = solve(tree, q, qd, given, places, world)
    else:
        qdd, tau = solve_by_inertia(machine, q, qd, given, places, world)
        tree, _, through, cut = reactions(machine, q, qd, qdd, world)
        wrench = through.wrench
    rows = [at_joint(tree, i, wrench[i]) for i in tree.linked]
    return qdd, tau, [x for row in rows for x in row], cut


def driven_places(machine: AnyMachine, driven: Collection[str]) -> set[int]:
    """The coordinates of the joints named, and of motors behind springs, named as "elbow.motor"."""
    names = machine.named_coordinates
    if isinstance(driven, str):
        driven = (driven,)
    if not isinstance(driven, Collection):
        raise InputError(f"driven: expected names of joints, got {driven!r}.")
    for name in driven:
        if name not in names:
            raise UnknownNameError("joint", name, names)
    return {k for name in driven for k in names[name]}


class Answer(NamedTuple):
    """Accelerations and forces of all coordinates, the wrench through every joint, and accelerations of all bodies."""

    qdd: list[Scalar]
    tau: list[Scalar]
    wrench: list[Wrench]
    v_dot: list[Motion]


def solve(
    tree: Tree,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    given: Sequence[Scalar],
    driven: Collection[int],
    world: World,
) -> Answer:
    """The dynamics with `given[k]` the acceleration of coordinate k where it is driven, else its force.

    Outwards the velocities, inwards the inertia and force that each body seems to have, a free axis yielding and a
    driven one not, outwards the accelerations. Every vector of body i is in frame i at its origin; `v_dot` is
    classical, gravity taken as an acceleration of the base.

    Source: [Khalil] (32)-(46), (68)-(82) and (94)-(112), all of them cases of this. We depart by taking a joint's axes
    one by one, so that a floating joint is six of them.
    """
    _refuse_couplings(tree)
    bodies = tree.bodies
    poses = [b.pose(q) for b in bodies]
    omega, bias = _velocities(tree, qd, poses, world)
    J = [ArticulatedInertia.of(b.inertia) for b in bodies]
    beta = [gyroscopic(b, w) for b, w in zip(bodies, omega, strict=True)]
    for i, load in world.external.items():
        beta[i] = beta[i] + -load
    motors = FreeMotors(tree, q, qd, given, driven)
    motors.load(omega, J, beta)

    composite = composites(tree, poses) if any(b.light for b in bodies) else []

    # inwards: apparent inertia J* and force beta* of each body; axes yield from the last to the first
    steps: list[list[_Axis]] = [[] for _ in bodies]
    for i in range(len(bodies) - 1, 0, -1):
        body, K, alpha = bodies[i], J[i], beta[i]
        bare = is_number(body.own_inertia) and body.own_inertia == 0.0
        for k, s in reversed(body.axes):
            if k not in driven:
                Ks, net = K @ s, given[k] - _resistance(body, q, qd)
                inverse = inverse_along(body, s, Ks.power(s) + body.own_inertia, composite, i)
                steps[i].append(_Axis(k, s, Ks, inverse, net - alpha.power(s)))
                K, alpha = steps[i][-1].yielded(K, alpha)
                if bare and s.is_coordinate:  # no force but its own is felt along the axis
                    K, alpha = K.beside(s), alpha.beside(s) + s.pushed(net)
        for k, s in body.axes:
            if k in driven:
                bias[i] = bias[i] + s * given[k]
        alpha = alpha + K @ bias[i]
        J[i] = K
        beta[i] = alpha
        a = body.parent
        if a or body.kind.nv < 6:
            J[a] = J[a] + K.seen_from(*poses[i])
            beta[a] = beta[a] + alpha.seen_from(*poses[i])

    # outwards: accelerations, and the wrench through each joint
    qdd: list[Scalar] = [0.0] * tree.nv
    tau: list[Scalar] = [0.0] * tree.nv
    v_dot = [world.felt_acceleration]
    wrench = [J[0] @ v_dot[0] + beta[0]]
    for i, body in enumerate(bodies[1:], start=1):
        moved = v_dot[body.parent].carried_to(*poses[i])
        wrench.append(J[i] @ moved + beta[i])
        moved = moved + bias[i]
        for axis in reversed(steps[i]):
            qdd[axis.k] = (axis.rest - axis.Ks.power(moved)) * axis.inverse
            tau[axis.k] = given[axis.k]
            moved = moved + axis.s * qdd[axis.k]
        for k, s in body.axes:
            if k in driven:
                qdd[k] = given[k]
                tau[k] += wrench[i].power(s) + body.own_inertia * given[k] + _resistance(body, q, qd)
        v_dot.append(moved)
        note(i, v_dot=v_dot[i].linear, omega_dot=v_dot[i].angular)
    motors.answer(v_dot, qdd, tau)
    return Answer(qdd, tau, wrench, v_dot)


class _Axis(NamedTuple):
    """A free axis: its place, its unit motion, J* s, 1 / (s^T J* s + Ia), and the force left for it."""

    k: int
    s: Motion
    Ks: Wrench
    inverse: Scalar
    rest: Scalar

    def yielded(self, K: ArticulatedInertia, alpha: Wrench) -> tuple[ArticulatedInertia, Wrench]:
        """Apparent inertia and force of the body once this axis yields."""
        return K.without(self.Ks, self.inverse), alpha + self.Ks * (self.rest * self.inverse)


def _velocities(
    tree: Tree, qd: Sequence[Scalar], poses: Sequence[tuple[Any, Vec3]], world: World
) -> tuple[list[Vec3], list[Motion]]:
    """Angular velocities, and the accelerations that velocities alone cause: gamma of (34)."""
    omega, bias = [world.base_velocity.angular], [Motion()]
    for body, (R, p) in zip(tree.bodies[1:], poses[1:], strict=True):
        up, s = omega[body.parent], body.rate(qd)
        fixed, turn, lever = in_steps(R, p)
        between = fixed.T @ up
        omega_a = turn.T @ between
        w = omega_a + s.angular
        swing = turn.T @ cross(between, cross(between, lever)) + cross(omega_a + w, s.linear)
        omega.append(w)
        bias.append(Motion(swing, cross(omega_a, s.angular)))
    return omega, bias


def gyroscopic(body: Body, omega: Vec3) -> Wrench:
    """What keeps a body turning at a steady omega: [w x (w x mc); w x I w]."""
    I = body.inertia
    return Wrench(cross(omega, cross(omega, I.mc)), cross(omega, I.I_o @ omega))


def _resistance(body: Body, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Scalar:
    """Friction and springs of a joint, at its coordinate."""
    return body.resistance(q, qd, [0.0] * len(qd)) if body.is_single else 0.0


def _refuse_couplings(tree: Tree) -> None:
    if any(r.inertia != 0.0 and r.v not in tree.motor_coordinates for r in tree.rotors):
        raise LinkwiseError(
            'motors on links of rigid drives couple joints beyond the tree, which only route="inertia" knows.'
        )
    places = [k for b in tree.bodies for k, _ in b.axes]
    if len(set(places)) < len(places):
        raise LinkwiseError('joints that mimic couple bodies beyond the tree, which only route="inertia" knows.')
