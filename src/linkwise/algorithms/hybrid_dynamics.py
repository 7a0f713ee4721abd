"""One recursion for every mix of known and unknown: accelerations of free axes, forces of driven ones."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from linkwise.algorithms.algorithm import Cheapest, Outputs, World, algorithm
from linkwise.algorithms.articulated import ArticulatedInertia, Known, Seeming, articulated, together
from linkwise.algorithms.embedding import Aggregate
from linkwise.algorithms.free_motors import FreeMotors
from linkwise.algorithms.inertia_route import inverse_along, solve_by_inertia
from linkwise.algorithms.inverse_dynamics import BodyWrenches, at_joint, reactions, torques
from linkwise.algorithms.mass_matrix import composites
from linkwise.errors import InputError, LinkwiseError, UnknownNameError
from linkwise.robot.tree import Body, Tree
from linkwise.scalar import Scalar, is_number, note
from linkwise.spatial import Inertia, Motion, Wrench
from linkwise.vector import Vec3, cross

if TYPE_CHECKING:
    from linkwise.mechanism.machine import AnyMachine


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
    if route == "articulated":
        at = machine.at(q)
        qdd, tau, wrench, v_dot = solve(machine, q, qd, given, places, world)
        tree, wrench, cut = _with_cuts(at, *at.led(qd, qdd), BodyWrenches(wrench, [a.angular for a in v_dot]))
    else:
        qdd, tau = solve_by_inertia(machine, q, qd, given, places, world)
        tree, _, through, cut = reactions(machine, q, qd, qdd, world)
        wrench = through.wrench
    rows = [at_joint(tree, i, wrench[i]) for i in tree.linked]
    return qdd, tau, [x for row in rows for x in row], cut


def _with_cuts(
    at: Any, qd: Sequence[Scalar], qdd: Sequence[Scalar], through: BodyWrenches
) -> tuple[Tree, list[Wrench], list[Scalar]]:
    """The tree, the wrench through each of its joints, and what cut joints carry, in a motion of the tree.

    Args:
        at: the machine in its configuration.
        qd: velocities of the tree.
        qdd: accelerations of the tree.
        through: what the joints of the tree would carry if cut joints did not.
    """
    tau = torques(at.tree, at.q, qd, qdd, through)
    cut = at.cut_wrenches(tau, at.drives(tau))
    wrench = list(through.wrench)
    for i, share in at.cut_shares(cut).items():
        wrench[i] = wrench[i] + -share
    return at.tree, wrench, cut


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
    """Accelerations and forces of what leads, the wrench through every joint, and accelerations of all bodies.

    Wrenches through joints in loops are those of the tree, as if cut joints carried nothing.
    """

    qdd: list[Scalar]
    tau: list[Scalar]
    wrench: list[Wrench]
    v_dot: list[Motion]


def solve(
    machine: AnyMachine,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    given: Sequence[Scalar],
    driven: Collection[int],
    world: World,
) -> Answer:
    """The dynamics with `given[k]` the acceleration of leading coordinate k where it is driven, else its force.

    Outwards the velocities, inwards the inertia and force that each body seems to have, a free axis yielding and a
    driven one not, outwards the accelerations. Every vector of body i is in frame i at its origin; `v_dot` is
    classical, gravity taken as an acceleration of the base. Bodies that loops tie together are taken as one.

    Source: [Khalil] (32)-(46), (68)-(82) and (94)-(112), all of them cases of this. We depart by taking a joint's axes
    one by one, so that a floating joint is six of them; for loops see `Aggregate`.
    """
    known = Known.of(machine, q, qd, given, driven, world)
    tree, bodies = known.tree, known.tree.bodies
    _refuse_couplings(tree)
    J: list[Seeming] = [b.inertia for b in bodies]
    beta = [gyroscopic(b, w) for b, w in zip(bodies, known.omega, strict=True)]
    for i, load in world.external.items():
        beta[i] = beta[i] + -load
    motors = FreeMotors(tree, known.q, known.qd, known.given, known.driven)
    motors.load(known.omega, J, beta)
    composite = composites(tree, known.poses) if any(b.light for b in bodies) else []

    # inwards: apparent inertia J* and force beta* of each body
    steps: list[Aggregate | _Alone] = []
    for unit in reversed(known.at.units):
        a = unit.carrier
        step = Aggregate(known, unit, J, beta) if unit.looped else _Alone(known, unit.bodies[0], J, beta, composite)
        steps.append(step)
        if step.is_felt:
            J[a] = together(J[a], step.K)
            beta[a] = beta[a] + step.alpha

    # outwards: accelerations, and the wrench through each joint
    qdd: list[Scalar] = [0.0] * tree.nv
    tau: list[Scalar] = [0.0] * tree.nv
    v_dot = [world.felt_acceleration, *([Motion()] * (len(bodies) - 1))]
    wrench = [J[0].momentum(v_dot[0]) + beta[0], *([Wrench()] * (len(bodies) - 1))]
    for step in reversed(steps):
        step.answer(v_dot, wrench, qdd, tau)
    motors.answer(v_dot, qdd, tau)
    leads = known.at.leads
    return Answer([qdd[v] for v in leads], [tau[v] for v in leads], wrench, v_dot)


class _Alone:
    """A body in no loop on its way through the recursion.

    `K` and `alpha` are the inertia and the force that it adds to its carrier, about its origin in its axes.
    """

    def __init__(
        self, known: Known, i: int, J: Sequence[Seeming], beta: Sequence[Wrench], composite: Sequence[Inertia]
    ) -> None:
        """Inwards: axes yield from the last to the first."""
        self._known, self._i, self._body = known, i, known.tree.bodies[i]
        body, K, alpha = self._body, articulated(J[i]), beta[i]
        bare = is_number(body.own_inertia) and body.own_inertia == 0.0
        self._axes: list[_Axis] = []
        for k, s in reversed(body.axes):
            if k not in known.driven:
                Ks, net = K @ s, known.given[k] - _resistance(body, known.q, known.qd)
                inverse = inverse_along(body, s, Ks.power(s) + body.own_inertia, composite, i)
                self._axes.append(_Axis(k, s, Ks, inverse, net - alpha.power(s)))
                K, alpha = self._axes[-1].yielded(K, alpha)
                if bare and s.is_coordinate:  # no force but its own is felt along the axis
                    K, alpha = K.beside(s), alpha.beside(s) + s.pushed(net)
        self._K, self._alpha = K, alpha + K @ known.bias[i]

    @property
    def is_felt(self) -> bool:
        """Whether its carrier feels more of it than what is given: not the ground below a floating joint."""
        return self._body.parent > 0 or self._body.kind.nv < 6

    @property
    def K(self) -> ArticulatedInertia:
        return self._K.seen_from(*self._known.poses[self._i])

    @property
    def alpha(self) -> Wrench:
        return self._alpha.seen_from(*self._known.poses[self._i])

    def answer(self, v_dot: list[Motion], wrench: list[Wrench], qdd: list[Scalar], tau: list[Scalar]) -> None:
        """Outwards: accelerations, the wrench through the joint, and forces where accelerations were given."""
        known, i, body = self._known, self._i, self._body
        moved = v_dot[body.parent].carried_to(*known.poses[i])
        wrench[i] = self._K @ moved + self._alpha
        moved = moved + known.bias[i]
        for axis in reversed(self._axes):
            qdd[axis.k] = (axis.rest - axis.Ks.power(moved)) * axis.inverse
            tau[axis.k] = known.given[axis.k]
            moved = moved + axis.s * qdd[axis.k]
        for k, s in body.axes:
            if k in known.driven:
                qdd[k] = known.given[k]
                tau[k] += wrench[i].power(s) + body.own_inertia * qdd[k] + _resistance(body, known.q, known.qd)
        v_dot[i] = moved
        note(i, v_dot=v_dot[i].linear, omega_dot=v_dot[i].angular)


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
