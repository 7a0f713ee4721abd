"""The torque regressor: generalised forces as a linear function of the inertial and friction parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from linkwise.algorithms.algorithm import Outputs, World, algorithm
from linkwise.algorithms.inverse_dynamics import Accelerations, accelerations
from linkwise.robot.tree import Body, Elastic, Rotor, Tree
from linkwise.scalar import Scalar, sign
from linkwise.spatial import Inertia, Wrench
from linkwise.vector import cross, dot

if TYPE_CHECKING:
    from linkwise.mechanism.machine import AnyMachine


@algorithm(inputs="q qd qdd", outputs={"Y": ("nu", "np")}, uses="gravity base_motion")
def regressor(
    machine: AnyMachine, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar], world: World
) -> Outputs:
    """Y with tau = Y @ robot.parameters(), columns as in `Robot.parameters`.

    Column k is the torque of a robot whose parameters are all zero but the k-th, which is one: the inertial wrench of a
    unit parameter, carried inwards to every joint it hangs on. Springs, those of elastic drives among them, and
    constant torques (`Friction.offset`) are not parameters; their torque is not in Y. A motor's mass and tensor are
    part of the link that carries it. Friction counts as viscous and Coulomb's, whatever its law.

    Source: [Khalil] section 3.2 recalls that the model is linear in these parameters.
    """
    at = machine.at(q)
    tree, (qd, qdd) = at.tree, at.led(qd, qdd)
    motion = accelerations(tree, at.q, qd, qdd, world)
    columns: list[list[Scalar]] = []
    for i in tree.linked:
        body = tree.bodies[i]
        back = body.of_link.inverse()
        for unit in UNIT_INERTIAS:
            wrench = unit.seen_from(back.R, back.p).force(motion.v_dot[i], motion.U[i])
            columns.append(carried_inwards(tree, motion, i, wrench))
    for i in tree.linked:
        body = tree.bodies[i]
        spinning = [r for r in tree.rotors if r.drives == i]
        if spinning:
            columns.append(_rotor_column(tree, motion, spinning[0], qd, qdd))
        else:
            columns.append(_own(tree, body.elastic or body, qdd, _same))
        columns.append(_own(tree, body, qd, _same))
        columns.append(_own(tree, body, qd, sign))
    for _, e in tree.elastic_bodies:
        columns.append(_own(tree, e, qd, _same))
        columns.append(_own(tree, e, qd, sign))
    driven = [at.drives(column) for column in columns]
    return ([x for row in zip(*driven, strict=True) for x in row],)


UNIT_INERTIAS = [Inertia.of_parameters(*(1.0 if j == k else 0.0 for j in range(10))) for k in range(10)]


def carried_inwards(tree: Tree, motion: Accelerations, i: int, wrench: Wrench) -> list[Scalar]:
    """Generalised forces of a wrench on body i alone."""
    tau: list[Scalar] = [0.0] * tree.nv
    while i:
        for k, x in tree.bodies[i].project(wrench):
            tau[k] += x
        wrench, i = wrench.seen_from(*motion.poses[i]), tree.bodies[i].parent
    return tau


def _own(tree: Tree, at: Body | Elastic, rates: Sequence[Scalar], law: Callable[[Scalar], Scalar]) -> list[Scalar]:
    """A column with one entry: a law of the own rate of a joint, or of a motor behind a spring."""
    column: list[Scalar] = [0.0] * tree.nv
    if isinstance(at, Elastic):
        column[at.v] = law(rates[at.v])
    elif at.is_single and not at.part:
        column[at.v] = law(rates[at.v] * at.ratio) * at.ratio
    return column


def _same(x: Scalar) -> Scalar:
    return x


def _rotor_column(
    tree: Tree, motion: Accelerations, r: Rotor, qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> list[Scalar]:
    """Torques of a rotor of unit inertia, spinning on its link."""
    spin, spin_dot = qd[r.v] * r.ratio, qdd[r.v] * r.ratio
    moment = r.axis * spin_dot + cross(motion.omega[r.on], r.axis) * spin
    column = carried_inwards(tree, motion, r.on, Wrench(moment=moment))
    column[r.v] += (dot(r.axis, motion.omega_dot[r.on]) + spin_dot) * r.ratio
    return column
