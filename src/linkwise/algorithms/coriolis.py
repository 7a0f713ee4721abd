"""The Coriolis matrix, by inverse dynamics with a second, reference velocity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from linkwise.algorithms.algorithm import Outputs, algorithm
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar
from linkwise.spatial import Wrench
from linkwise.vector import ZERO3, Mat3, Vec3, cross, dot, hat

if TYPE_CHECKING:
    from linkwise.mechanism.machine import AnyMachine


@algorithm(inputs="q qd", outputs={"C": ("nv", "nv")}, torques_only=True)
def coriolis_matrix(machine: AnyMachine, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Outputs:
    """C with C qd = Coriolis and centrifugal forces, and M_dot - 2 C skew-symmetric.

    Column k is the force of `reference_forces` for the reference velocity e_k. It is the sum over mass points of
    J^T J_dot dm, which has the property but is not the matrix of Christoffel symbols. For a floating joint the
    derivative of M is along the motion, with qd in body axes.

    Source: the rule of [Hua] (37)-(50) as derived for the passivity-based controller: reference acceleration, actual
    velocity on reference velocity.
    """
    at, n = machine.at(q), machine.nv
    tree, q, qd = machine.complete(q, qd)
    columns = [at.project(reference_forces(tree, q, qd, u, u_dot)) for u, u_dot in at.moving_columns(qd)]
    return ([columns[k][row] for row in range(n) for k in range(n)],)


def reference_forces(
    tree: Tree,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qd_r: Sequence[Scalar],
    qdd_r: Sequence[Scalar],
    felt: Vec3 = ZERO3,
    turning: tuple[Vec3, Vec3] = (ZERO3, ZERO3),
) -> list[Scalar]:
    """M qdd_r + C(q, qd) qd_r + g, with felt = -gravity for the last term: what passivity-based control evaluates.

    Where the base moves, `felt` is its acceleration less gravity and `turning` its angular velocity and acceleration,
    in its axes; its reference motion is its own, so that the property of C stays.

    Each body's point x has the reference velocity v_r + omega_r x x; its inertial time derivative is a + U x with
    U = hat(alpha) + hat(omega) hat(omega_r), where alpha is the rate of the body components of omega_r.
    """
    bodies = tree.bodies
    omega, omega_r, alpha, a = [turning[0]], [turning[0]], [turning[1]], [felt]
    U = [hat(turning[1]) + product(turning[0], turning[0])]
    poses = [bodies[0].pose(q)]
    wrench = [Wrench()]
    for i, body in enumerate(bodies[1:], start=1):
        up = body.parent
        R, p = body.pose(q)
        s, s_r, s_r_dot = body.rate(qd), body.rate(qd_r), body.rate(qdd_r)
        in_, in_r = R.T @ omega[up], R.T @ omega_r[up]
        w, w_r = in_ + s.angular, in_r + s_r.angular
        al = R.T @ alpha[up] + cross(in_r, s.angular) + s_r_dot.angular
        swing = cross(in_r, s.linear) + cross(w, s_r.linear)
        a_i = R.T @ (a[up] + U[up] @ p) + swing + s_r_dot.linear
        poses.append((R, p))
        omega.append(w)
        omega_r.append(w_r)
        alpha.append(al)
        a.append(a_i)
        U.append(hat(al) + product(w, w_r))
        wrench.append(body.inertia.force(a_i, U[i]))

    for r in tree.rotors:
        i = r.on
        spin, spin_dot = (x[r.v] * r.ratio * r.inertia for x in (qd, qdd_r))
        wrench[i] += Wrench(moment=r.axis * spin_dot + cross(omega_r[i], r.axis) * spin)
    tau: list[Scalar] = [0.0] * tree.nv
    for i in range(len(bodies) - 1, 0, -1):
        for k, x in bodies[i].project(wrench[i]):
            tau[k] += x
        if bodies[i].is_single:
            tau[bodies[i].v] += bodies[i].armature * bodies[i].ratio * bodies[i].ratio * qdd_r[bodies[i].v]
        wrench[bodies[i].parent] += wrench[i].seen_from(*poses[i])
    for _, e in tree.elastic_bodies:
        tau[e.v] += e.armature * qdd_r[e.v]
    for r in tree.rotors:
        tau[r.v] += (dot(r.axis, alpha[r.on]) + qdd_r[r.v] * r.ratio) * r.inertia * r.ratio
    return tau


def product(a: Vec3, b: Vec3) -> Mat3:
    """hat(a) hat(b) = b a^T - (a . b) 1."""
    ab = [[x * y for x in a] for y in b]
    return Mat3.of(
        [
            [-(ab[1][1] + ab[2][2]), ab[0][1], ab[0][2]],
            [ab[1][0], -(ab[0][0] + ab[2][2]), ab[1][2]],
            [ab[2][0], ab[2][1], -(ab[0][0] + ab[1][1])],
        ]
    )
