"""What can be asked of a closed chain whose loops are closed: each question is traced and compiled by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from linkwise.algorithms.closed_chain import Linkage, Surroundings, forward, inverse
from linkwise.algorithms.closed_wrenches import closed_wrenches
from linkwise.algorithms.differentiate import along_motion, derivatives, time_derivative
from linkwise.algorithms.integration import integrate, q_dot
from linkwise.algorithms.inverse_dynamics import inverse_dynamics as inverse_dynamics_of_tree
from linkwise.algorithms.multipliers import Mobility, nearest
from linkwise.kernel.tracing import along, jacobian
from linkwise.mechanism.equations import gap
from linkwise.mechanism.loops import CLOSURES, cuts
from linkwise.mechanism.partition import Partition
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar, sqrt

Flat = Sequence[Scalar]
Shape = tuple[str | int, ...]
QUESTIONS: dict[str, Question] = {}


@dataclass(frozen=True)
class Question:
    """A function (tree, partition, surroundings, *inputs) of flat lists, with named inputs and outputs.

    Widths are those of algorithms, and ni (independent coordinates), nd (those of them that are driven), na (active
    ones), nc (all loop equations), nl (loops). Where its outputs are of `torques_only` bodies may be regrouped, and it
    needs so many `rates` of what surrounds the robot.
    """

    name: str
    function: Callable[..., Any]
    inputs: dict[str, Shape]
    outputs: dict[str, Shape]
    uses: frozenset[str]
    torques_only: bool = True
    rates: int = 0


STATE: dict[str, Shape] = {"q": ("nq",), "qd_active": ("ni",)}
MOTION: dict[str, Shape] = {**STATE, "qdd_active": ("nd",)}
WHOLE: dict[str, Shape] = {"q": ("nq",), "qd": ("nv",), "qdd": ("nv",)}
FORCES = "gravity external base_motion"


def question(
    inputs: dict[str, Shape], outputs: dict[str, Shape], uses: str = "", torques_only: bool = True, rates: int = 0
) -> Callable[[Any], Any]:
    """Enter a function among the questions, under its own name."""

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        name = function.__name__
        QUESTIONS[name] = Question(name, function, inputs, outputs, frozenset(uses.split()), torques_only, rates)
        return function

    return enter


# ---- kinematics


@question({"q": ("nq",)}, {"gap": ("nc",), "J": ("nc", "nv")})
def closure(tree: Tree, part: Partition, around: Surroundings, q: Flat) -> Any:
    """(q) -> what every loop equation is off by (m, and sines of angles), and their Jacobian (nc, nv)."""
    return gap(tree, q, part.loops)


@question({"q": ("nq",), "step": ("nv",), "length": ()}, {"q_next": ("nq",), "gap": (), "step": ("nv",)})
def newton(tree: Tree, part: Partition, around: Surroundings, q: Flat, step: Flat, length: Flat) -> Any:
    """(q, step, length) -> q moved along the step, how far the loops are open there, and Newton's next step.

    The gap is the root of the sum of squares of all equations, dependent ones among them, lengths measured by the
    mechanism's size. A step's length is bounded by one, which alters short ones only to third order.
    """
    (at,) = integrate.function(tree, q, step, length)
    linkage = Linkage(tree, at, part)
    full = linkage.factors.solve([-x for x in linkage.equations.gap()])
    scale = 1.0 / sqrt(1.0 + sum((x * x for x in full), 0.0))
    following = linkage.spread([0.0] * len(part.independent), [x * scale for x in full])
    return at, [_openness(linkage)], following


@question({"q": ("nq",), "step": ("nv",), "length": ()}, {"q_next": ("nq",), "gap": (), "step": ("nv",)})
def nearby(tree: Tree, part: Partition, around: Surroundings, q: Flat, step: Flat, length: Flat) -> Any:
    """As `newton`, by the shortest step of all joints that are not independent."""
    (at,) = integrate.function(tree, q, step, length)
    full = nearest(tree, at, part, part.independent)
    scale = 1.0 / sqrt(1.0 + sum((x * x for x in full), 0.0))
    every = cuts(tree, at, part.loops)
    values = [x * w for x, w in zip((x for c in every for x in c.gap()), part.weights, strict=True)]
    values += [CLOSURES[c.loop.kind].flipped(c.R) for c in every]
    return at, [sqrt(sum((x * x for x in values), 0.0))], [x * scale for x in full]


@question({"q": ("nq",)}, {"condition": (), "determinant": ()})
def hold(tree: Tree, part: Partition, around: Surroundings, q: Flat) -> Any:
    """(q) -> the condition number of the loop equations over the passive joints, and their determinant."""
    linkage = Linkage(tree, q, part)
    m = len(part.passive)
    unit = [[1.0 if i == k else 0.0 for i in range(m)] for k in range(m)]
    columns = [linkage.factors.solve(e) for e in unit]
    sizes = [sum((x * x for row in A for x in row), 0.0) for A in (linkage.J_p, columns)]
    return [sqrt(sizes[0] * sizes[1]) * (1.0 / m)], [linkage.factors.determinant()]


@question({"q": ("nq",)}, {"G": ("nv", "ni")})
def velocity_map(tree: Tree, part: Partition, around: Surroundings, q: Flat) -> Any:
    """(q) -> G (nv, ni), with qd = G qd_active."""
    columns = Linkage(tree, q, part).columns
    return ([column[v] for v in range(tree.nv) for column in columns],)


@question(STATE, {"qd": ("nv",)})
def rates(tree: Tree, part: Partition, around: Surroundings, q: Flat, qd_active: Flat) -> Any:
    """(q, qd_active) -> qd of the tree."""
    return (Linkage(tree, q, part).rates(qd_active),)


@question(STATE, {"qdd": ("nv",)})
def drift(tree: Tree, part: Partition, around: Surroundings, q: Flat, qd_active: Flat) -> Any:
    """(q, qd_active) -> G_dot qd_active: qdd of the tree where the independent coordinates do not accelerate."""
    linkage = Linkage(tree, q, part)
    return (linkage.accelerations(linkage.rates(qd_active), [0.0] * len(part.independent)),)


@question(MOTION, {"qd": ("nv",), "qdd": ("nv",)}, FORCES)
def motion(tree: Tree, part: Partition, around: Surroundings, q: Flat, qd_active: Flat, qdd_active: Flat) -> Any:
    """(q, qd_active, qdd_active) -> qd, qdd of the tree; springs accelerate what is free."""
    linkage = Linkage(tree, q, part)
    qd = linkage.rates(qd_active)
    world = around(q, qd)
    return qd, linkage.accelerations(qd, linkage.completed(qd, qdd_active, world))


@question({**STATE, "qdd_active": ("ni",), "qddd_active": ("ni",)}, {"qd": ("nv",), "qdd": ("nv",), "qddd": ("nv",)})
def jerks(
    tree: Tree, part: Partition, around: Surroundings, q: Flat, qd_active: Flat, qdd_active: Flat, qddd_active: Flat
) -> Any:
    """(q, and three derivatives of all independent coordinates) -> qd, qdd, qddd of the tree."""
    qd = Linkage(tree, q, part).rates(qd_active)
    values, rates_of = (q, qd_active, qdd_active), (q_dot.function(tree, q, qd)[0], qdd_active, qddd_active)
    (_, qdd), (_, qddd) = time_derivative(lambda *lead: Linkage(tree, lead[0], part).led(*lead[1:]), values, rates_of)
    return qd, qdd, qddd


# ---- dynamics


@question(MOTION, {"tau": ("na",)}, FORCES)
def inverse_dynamics(
    tree: Tree, part: Partition, around: Surroundings, q: Flat, qd_active: Flat, qdd_active: Flat
) -> Any:
    """(q, qd_active, qdd_active) -> tau of the active joints; of redundant ones the least in sum of squares.

    Gamma_c = G^T Gamma_tree. Source: [Khalil] (55)-(57), with the transpose in (57).
    """
    return (inverse(Linkage(tree, q, part), qd_active, qdd_active, around).tau,)


@question(MOTION, {"tau": ("na",), "wrench": ("nl", 6)}, FORCES)
def reactions(tree: Tree, part: Partition, around: Surroundings, q: Flat, qd_active: Flat, qdd_active: Flat) -> Any:
    """(q, qd_active, qdd_active) -> tau, and the wrench that link a exerts on b through each cut joint.

    Force then moment at the cut, in the axes of its frame a. Equations that depend on others, as those out of the plane
    of a planar mechanism, carry nothing.
    """
    found = inverse(Linkage(tree, q, part), qd_active, qdd_active, around)
    return found.tau, found.wrenches


@question(WHOLE, {"tau": ("na",)}, FORCES)
def drives(tree: Tree, part: Partition, around: Surroundings, q: Flat, qd: Flat, qdd: Flat) -> Any:
    """(q, qd, qdd of the tree, which keep the loops closed) -> tau, as `inverse_dynamics` has it."""
    return (_active(Linkage(tree, q, part), qd, qdd, around),)


@question(WHOLE, {"tau": ("na",), "wrench": ("nb", 6), "cut": ("nl", 6)}, FORCES, torques_only=False)
def joint_wrenches(tree: Tree, part: Partition, around: Surroundings, q: Flat, qd: Flat, qdd: Flat) -> Any:
    """(q, qd, qdd of the tree) -> tau, the wrench through every joint of the tree, and through every cut joint.

    Of the tree: what the parent exerts on the child, at the joint, in the axes of the child link. Of cuts as in
    `reactions`.
    """
    return closed_wrenches(Linkage(tree, q, part), qd, qdd, around(q, qd))


@question({**WHOLE, "qddd": ("nv",)}, {"tau": ("na",), "tau_dot": ("na",)}, FORCES, rates=1)
def force_rates(tree: Tree, part: Partition, around: Surroundings, q: Flat, qd: Flat, qdd: Flat, qddd: Flat) -> Any:
    """(q, qd, qdd, qddd of the tree) -> tau, and its rate."""
    at, *rest = along_motion(tree, (q, qd, qdd, qddd), 1)
    tau = [_active(Linkage(tree, at, part), rest[0], rest[1], around)]
    return *derivatives(tau, 0), *derivatives(tau, 1)


@question(
    {**WHOLE, "qddd": ("nv",)},
    {"tau": ("na",), "wrench": ("nb", 6), "cut": ("nl", 6),
     "tau_dot": ("na",), "wrench_dot": ("nb", 6), "cut_dot": ("nl", 6)},
    FORCES,
    torques_only=False,
    rates=1,
)  # fmt: skip
def joint_wrench_rates(
    tree: Tree, part: Partition, around: Surroundings, q: Flat, qd: Flat, qdd: Flat, qddd: Flat
) -> Any:
    """(q, qd, qdd, qddd of the tree) -> what `joint_wrenches` has, and the rates of its components."""
    at, *rest = along_motion(tree, (q, qd, qdd, qddd), 1)
    found = closed_wrenches(Linkage(tree, at, part), rest[0], rest[1], around(at, rest[0]))
    return *derivatives(found, 0), *derivatives(found, 1)


@question({"q": ("nq",)}, {"M": ("ni", "ni")})
def mass_matrix(tree: Tree, part: Partition, around: Surroundings, q: Flat) -> Any:
    """(q) -> A_c = G^T M G, the inertia of the independent coordinates."""
    return ([x for row in Linkage(tree, q, part).inertia for x in row],)


@question(STATE, {"h": ("ni",)}, FORCES)
def bias_forces(tree: Tree, part: Partition, around: Surroundings, q: Flat, qd_active: Flat) -> Any:
    """(q, qd_active) -> H_c, the forces at the independent coordinates where these do not accelerate."""
    linkage = Linkage(tree, q, part)
    qd = linkage.rates(qd_active)
    return (linkage.forces(qd, [0.0] * len(part.independent), around(q, qd)).force,)


@question({**STATE, "tau": ("na",)}, {"qdd_active": ("ni",), "qdd": ("nv",)}, FORCES)
def forward_dynamics(tree: Tree, part: Partition, around: Surroundings, q: Flat, qd_active: Flat, tau: Flat) -> Any:
    """(q, qd_active, tau) -> accelerations of the independent coordinates, and of the tree: A_c qdd = Gamma_c - H_c.

    Source: [Khalil] (58).
    """
    return forward(Linkage(tree, q, part), qd_active, tau, around)


@question({"q": ("nq",), "qd": ("nv",), "tau": ("nv",)}, {"qdd": ("nv",), "wrench": ("nl", 6)}, FORCES)
def multiplier_dynamics(tree: Tree, part: Partition, around: Surroundings, q: Flat, qd: Flat, tau: Flat) -> Any:
    """(q, qd, tau of the tree) -> qdd of the tree, and the wrenches of cut joints, by M qdd + h = tau + J^T lambda."""
    found = Mobility(tree, q, part).accelerations(qd, tau, around(q, qd))
    return found.qdd, found.wrenches


@question({"q": ("nq",), "force": ("ni",), "weights": ("na",)}, {"tau": ("na",)})
def share(tree: Tree, part: Partition, around: Surroundings, q: Flat, force: Flat, weights: Flat) -> Any:
    """(q, force at the independent coordinates, weights) -> tau of active joints, least in sum of weight tau^2."""
    return (Linkage(tree, q, part).shared(force, weights),)


@question(MOTION, {"dtau_dq": ("na", "ni"), "dtau_dqd": ("na", "ni"), "dtau_dqdd": ("na", "nd")}, FORCES)
def inverse_dynamics_derivatives(
    tree: Tree, part: Partition, around: Surroundings, q: Flat, qd_active: Flat, qdd_active: Flat
) -> Any:
    """(q, qd_active, qdd_active) -> derivatives of tau by independent positions, velocities and accelerations.

    tau is differentiated as a function of all positions, along the columns of G: the directions in which the implicit
    function theorem lets the closed chain go.
    """
    linkage = Linkage(tree, q, part)
    tau = inverse(linkage, qd_active, qdd_active, around).tau
    columns = [along(tau, q, q_dot.function(tree, q, g)[0]) for g in linkage.columns]
    by_rates = (jacobian(tau, list(x)) for x in (qd_active, qdd_active))
    dtau_dq = [column[k] for k in range(len(tau)) for column in columns]
    return dtau_dq, *([x for row in rows for x in row] for rows in by_rates)


def _active(linkage: Linkage, qd: Flat, qdd: Flat, around: Surroundings) -> list[Scalar]:
    """Torques of the active coordinates in a motion of the tree."""
    q = linkage.q
    (tau,) = inverse_dynamics_of_tree.function(linkage.tree, q, qd, qdd, world=around(q, qd))
    return linkage.shared(linkage.project(tau))


def _openness(linkage: Linkage) -> Scalar:
    """How far loops are open: over all equations, and the side of each axis."""
    every = linkage.equations.cuts
    values = [x * w for x, w in zip((x for c in every for x in c.gap()), linkage.part.weights, strict=True)]
    values += [CLOSURES[c.loop.kind].flipped(c.R) for c in every]
    return sqrt(sum((x * x for x in values), 0.0))
