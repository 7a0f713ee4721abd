"""Derivatives of inverse dynamics, joint wrenches and forward dynamics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING

from linkwise.algorithms.algorithm import Cheapest, Derivation, Outputs, World, algorithm
from linkwise.algorithms.derivative_of import by_graph_alone, derivation
from linkwise.algorithms.forward_dynamics import forward_dynamics
from linkwise.algorithms.inertia_route import equations_of_motion
from linkwise.algorithms.inverse_dynamics import at_joint, inverse_dynamics, joint_wrenches
from linkwise.algorithms.sensitivities import Disturbed, Matrix, disturbed, torque_derivatives, wrench_derivatives
from linkwise.mechanism import linear
from linkwise.scalar import Scalar
from linkwise.spatial import Wrench
from linkwise.vector import ZERO3

if TYPE_CHECKING:
    from linkwise.mechanism.machine import AnyMachine


@algorithm(
    inputs="q qd qdd",
    outputs={"dtau_dq": ("nu", "nv"), "dtau_dqd": ("nu", "nv"), "M": ("nu", "nv")},
    uses="gravity external base_motion",
    torques_only=True,
    derives=derivation(inverse_dynamics, ("tau", "q"), ("tau", "qd"), ("tau", "qdd")),
    route=Cheapest("recursion", "graph", ranked=5000),
)
def inverse_dynamics_derivatives(
    machine: AnyMachine, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar], world: World, route: str
) -> Outputs:
    """Derivatives of the generalised forces with respect to positions, velocities and accelerations.

    Row i has the derivatives of tau_i. With a floating joint, dtau_dq is with respect to its tangent vector: a small
    motion of the body in its own axes, linear then angular, in place of the seven numbers of its pose.

    Args:
        machine: the robot.
        q: positions (nq).
        qd: velocities (nv).
        qdd: accelerations (nv).
        world: gravity, base motion, and external wrenches, which stay fixed in the axes of their frames.
        route: "recursion" (see `sensitivities`), "graph" (the traced inverse dynamics, differentiated), or the cheaper.

    Returns:
        dtau_dq, dtau_dqd and M = dtau_dqdd (nu, nv each).

    Source: [Barman] (3.1)-(3.95) for the moving-coordinate form; see `sensitivities` for ours.
    """
    d = disturbed(machine.only_tree("route 'recursion'"), q, qd, qdd, world)
    by_q, by_qd, M = torque_derivatives(d, q, qdd)
    return _flat(by_q), _flat(by_qd), _flat(M)


@algorithm(
    inputs="q qd qdd",
    outputs={
        "dtau_dq": ("nu", "nv"),
        "dtau_dqd": ("nu", "nv"),
        "M": ("nu", "nv"),
        "dwrench_dq": ("nb", 6, "nv"),
        "dwrench_dqd": ("nb", 6, "nv"),
        "dwrench_dqdd": ("nb", 6, "nv"),
        "dcut_dq": ("nc", 6, "nv"),
        "dcut_dqd": ("nc", 6, "nv"),
        "dcut_dqdd": ("nc", 6, "nv"),
    },
    uses="gravity external base_motion",
    derives=derivation(joint_wrenches, *product(("tau", "wrench", "cut"), ("q", "qd", "qdd"))),
    route=Cheapest("recursion", "graph", ranked=0),
)
def joint_wrench_derivatives(
    machine: AnyMachine, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar], world: World, route: str
) -> Outputs:
    """Derivatives of generalised forces and of the reaction through every joint.

    The reactions are those of `joint_wrenches`: force then moment that the parent exerts on the child at the joint's
    anchor, in the child's axes, one for each of `robot.moving_links`; a derivative is that of these six components.

    Returns:
        dtau_dq, dtau_dqd, M (nu, nv each), then dwrench_dq, dwrench_dqd and dwrench_dqdd (nb, 6, nv each); with loops
        the same of `cut`.

    Source: [Barman] (3.1)-(3.95) calls the reactions F_jp and tau_jp; see `sensitivities` for our recursion.
    """
    tree = machine.only_tree("route 'recursion'")
    d = disturbed(tree, q, qd, qdd, world)
    changes = wrench_derivatives(d)
    rows = []
    for change in changes:
        flat: list[Scalar] = []
        for i in tree.linked:
            columns = [list(at_joint(tree, i, wrench)) for wrench in change[i]]
            flat.extend(x for component in zip(*columns, strict=True) for x in component)
        rows.append(flat)
    return (*map(_flat, torque_derivatives(d, q, qdd)), *rows, [], [], [])


@algorithm(
    inputs="q qd tau",
    outputs={"dqdd_dq": ("nv", "nv"), "dqdd_dqd": ("nv", "nv"), "Minv": ("nv", "nu")},
    uses="gravity external base_motion",
    torques_only=True,
    derives=derivation(forward_dynamics, ("qdd", "q"), ("qdd", "qd"), ("qdd", "tau")),
    route=Cheapest("recursion", "graph", ranked=2000),
)
def forward_dynamics_derivatives(
    machine: AnyMachine, q: Sequence[Scalar], qd: Sequence[Scalar], tau: Sequence[Scalar], world: World, route: str
) -> Outputs:
    """Derivatives of the accelerations with respect to positions, velocities and generalised forces.

    At the accelerations that `tau` causes, those of inverse dynamics: dqdd_dq = -M^-1 dtau_dq, and so on, with M^-1 as
    a product of factors that have the zeros of the tree. What only accelerates a free body with all it carries, as
    gravity does when the body turns, is undone by the opposite acceleration of that body alone. Tangent vectors of
    floating joints are as in `inverse_dynamics_derivatives`.

    Returns:
        dqdd_dq, dqdd_dqd (nv, nv each) and Minv = dqdd_dtau (nv, nu).
    """
    tree = machine.only_tree("route 'recursion'")
    factors, rest = equations_of_motion(tree, q, qd, tau, world)
    qdd, Minv = linear.solve(factors, rest), linear.Inverse(factors)
    d = disturbed(tree, q, qd, qdd, world)
    by_q, by_qd, _ = torque_derivatives(d, q, qdd)
    rows = [_minus_solved(Minv, A, known) for A, known in zip((by_q, by_qd), _free_columns(d), strict=True)]
    return (*map(_flat, rows), _flat(Minv.matrix()))


@algorithm(
    inputs="q qd qdd weights",
    outputs={"H": ("nx", "nx")},
    uses="gravity external base_motion",
    torques_only=True,
    derives=Derivation(inverse_dynamics, (("tau", "weights"),), kind="hessian"),
)
def inverse_dynamics_hessian(*_: Sequence[Scalar], **__: object) -> Outputs:
    """Second derivatives of weights . tau with respect to (q, qd, qdd), one after the other: what an optimiser needs.

    With a floating joint they are those of the value at q moved along a tangent vector, and so symmetric.

    Returns:
        H (3 nv, 3 nv), symmetric.
    """
    raise by_graph_alone("inverse_dynamics_hessian")


@algorithm(
    inputs="q qd qdd weights direction",
    outputs={"Hv": ("nx",)},
    uses="gravity external base_motion",
    torques_only=True,
    derives=Derivation(inverse_dynamics, (("tau", "weights"),), kind="hessian_vector"),
)
def inverse_dynamics_hessian_vector(*_: Sequence[Scalar], **__: object) -> Outputs:
    """The product of `inverse_dynamics_hessian` with a direction (3 nv), at a few times the cost of tau.

    Returns:
        Hv (3 nv).
    """
    raise by_graph_alone("inverse_dynamics_hessian_vector")


def _minus_solved(Minv: linear.Inverse, A: Matrix, known: Mapping[int, Sequence[Scalar]]) -> Matrix:
    """-M^-1 A, of which some columns are known."""
    columns = [known[k] if k in known else [-x for x in Minv.times(c)] for k, c in enumerate(zip(*A, strict=True))]
    return [list(row) for row in zip(*columns, strict=True)]


def _free_columns(d: Disturbed) -> tuple[dict[int, list[Scalar]], dict[int, list[Scalar]]]:
    """Columns of dqdd_dq and dqdd_dqd whose disturbance is an acceleration of a free body with all it carries."""
    by_q: dict[int, list[Scalar]] = {}
    by_qd: dict[int, list[Scalar]] = {}
    for body, columns in zip(d.tree.bodies, d.columns, strict=True):
        for c in columns if not body.parent and len(columns) == 6 and not body.light else ():
            for known, field in ((by_q, c.by_q), (by_qd, c.by_qd)):
                if field.turning == ZERO3:
                    known[c.k] = [0.0] * d.tree.nv
                    for k, x in body.project(Wrench(field.linear, field.angular)):
                        known[c.k][k] = -x
    return by_q, by_qd


def _flat(rows: Iterable[Iterable[Scalar]]) -> list[Scalar]:
    return [x for row in rows for x in row]
