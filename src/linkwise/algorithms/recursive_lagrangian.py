"""Inverse dynamics by the recursive Lagrangian method with 4 by 4 matrices, to which Newton-Euler is compared."""

from __future__ import annotations

from collections.abc import Sequence

from linkwise.algorithms.algorithm import Outputs, World, algorithm
from linkwise.errors import LinkwiseError
from linkwise.mechanism.matrices import dot, product, transposed
from linkwise.robot.tree import Body, Tree
from linkwise.rotation import rot_z
from linkwise.scalar import Scalar
from linkwise.spatial import Inertia, Pose
from linkwise.vector import ZERO33, Mat3

Mat4 = list[list[Scalar]]


@algorithm(inputs="q qd qdd", outputs={"tau": ("nv",)}, uses="gravity", torques_only=True)
def recursive_lagrangian(
    tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar], world: World
) -> Outputs:
    """Generalised forces by Lagrange's equations in recursive form: the same tau as `inverse_dynamics`.

        tau_i = tr(dW_i/dq_i D_i) - g^T dW_i/dq_i c_i,   D_i = J_i W_ddot_i^T + A_k D_k,   c_i = J_i e_4 + A_k c_k

    W_i is the pose of body i in the world, A_k that of its child k in it, J_i the integral of x x^T dm over homogeneous
    points. Joints of one degree of freedom, without rotors on links; wrenches through joints do not appear.

    Source: Hollerbach (1980), which [Barman] compares with.
    """
    tree = tree.only_tree("recursive_lagrangian")
    known = all(b.kind.turns or b.kind.slides or not b.kind.nv for b in tree.bodies)
    if tree.rotors or tree.elastic_bodies or not known:
        raise LinkwiseError("recursive_lagrangian: expected revolute and prismatic joints without motors on links.")
    bodies, zero = tree.bodies, Pose(ZERO33).matrix()
    zero[3][3] = 0.0
    W, W_dot, W_ddot = [Pose().matrix()], [zero], [zero]
    A, dW = [W[0]], [zero]
    for body in bodies[1:]:
        a, rate = body.parent, qd[body.v] * body.ratio
        acceleration, square = qdd[body.v] * body.ratio, rate * rate
        A_i, dA, ddA = _derivatives(body, q)
        dW_i, drift = product(W[a], dA), product(W_dot[a], dA)
        W.append(product(W[a], A_i))
        W_dot.append(_sum(product(W_dot[a], A_i), _scaled(dW_i, rate)))
        turning = _sum(_scaled(drift, 2.0 * rate), _scaled(product(W[a], ddA), square))
        W_ddot.append(_sum(_sum(product(W_ddot[a], A_i), turning), _scaled(dW_i, acceleration)))
        A.append(A_i)
        dW.append(dW_i)

    tau: list[Scalar] = [0.0] * tree.nv
    J = [_pseudo_inertia(b.inertia) for b in bodies]
    D = [product(J_i, transposed(W_i)) for J_i, W_i in zip(J, W_ddot, strict=True)]
    c = [[row[3] for row in J_i] for J_i in J]
    for i in range(len(bodies) - 1, 0, -1):
        a = bodies[i].parent
        moment = sum(dot(dW[i][r], [row[r] for row in D[i]]) for r in range(3))
        weight = sum(world.gravity[r] * dot(dW[i][r], c[i]) for r in range(3))
        if bodies[i].is_single:
            tau[bodies[i].v] += (moment - weight) * bodies[i].ratio + bodies[i].resistance(q, qd, qdd)
        D[a] = _sum(D[a], product(A[i], D[i]))
        c[a] = [x + dot(row, c[i]) for x, row in zip(c[a], A[i], strict=True)]
    return (tau,)


def _derivatives(body: Body, q: Sequence[Scalar]) -> tuple[Mat4, Mat4, Mat4]:
    """The pose of a body in its parent, and its first and second derivative by the joint's position."""
    R, p = body.placement.R, body.placement.p
    first, second = Pose(ZERO33).matrix(), Pose(ZERO33).matrix()
    first[3][3] = second[3][3] = 0.0
    if body.kind.turns:
        turn = rot_z(body.position(q) + body.twist)
        x, y = (R @ turn.column(k) for k in (0, 1))
        for r in range(3):
            first[r][:2], second[r][:2] = [y[r], -x[r]], [-x[r], -y[r]]
        return Pose(Mat3(x, y, R.column(2)).T, p).matrix(), first, second
    if body.kind.slides:
        z = R.column(2)
        for r in range(3):
            first[r][3] = z[r]
        return Pose(R, p + z * body.position(q)).matrix(), first, second
    return Pose(R, p).matrix(), first, second


def _pseudo_inertia(I: Inertia) -> Mat4:
    rows = [[*E_row, x] for E_row, x in zip(I.E, I.mc, strict=True)]
    return [*rows, [*I.mc, I.m]]


def _sum(a: Mat4, b: Mat4) -> Mat4:
    return [[x + y for x, y in zip(r, s, strict=True)] for r, s in zip(a, b, strict=True)]


def _scaled(a: Mat4, k: Scalar) -> Mat4:
    return [[x * k for x in row] for row in a]
