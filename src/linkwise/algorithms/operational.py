"""The inertia that is felt at a frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from linkwise.algorithms.algorithm import REQUIRED, Outputs, algorithm
from linkwise.algorithms.inertia_route import light_coordinates, no_inertia_along
from linkwise.algorithms.kinematics import jacobian
from linkwise.algorithms.mass_matrix import mass_matrix
from linkwise.errors import LinkwiseError
from linkwise.mechanism import linear
from linkwise.scalar import Scalar, absolute, is_number, less, sqrt, tolerance, where

if TYPE_CHECKING:
    from linkwise.mechanism.machine import AnyMachine

# of a direction's own mobility: what is left below this, once the others are held, is round-off
STUCK = 1e-10, 1e-5  # in float64 and in float32


@algorithm(inputs="q", outputs={"inertia": (6, 6)}, torques_only=True, frame=REQUIRED)
def operational_inertia(machine: AnyMachine, q: Sequence[Scalar], frame: str) -> Outputs:
    """(J M^-1 J^T)^-1 at a frame's origin in world axes: the wrench that a unit acceleration of it takes, from rest.

    M = L^T D L gives J M^-1 J^T = W^T D^-1 W with L^T W = J^T, so M is never inverted. Where the frame cannot move in
    all six directions J loses rank and no such inertia exists: all 36 numbers are NaN, or, where it is known in
    advance, the frame is refused.

    Args:
        machine: the robot.
        q: positions (nq).
        frame: a frame or link.
    """
    n = machine.nv
    (flat_J,) = jacobian.function(machine, q, frame=frame, axes="world")
    rows = [flat_J[k : k + n] for k in range(0, 6 * n, n)]
    moving = sum(any(not is_number(r[k]) or r[k] != 0.0 for r in rows) for k in range(n))
    if moving < 6:
        raise LinkwiseError(
            f"frame {frame!r}: expected at least six coordinates that move it, got {moving}, so it has no inertia in"
            " some directions. Invert J M^-1 J^T of the rows that matter instead."
        )
    (flat_M,) = mass_matrix.function(machine, q)
    M = [flat_M[k : k + n] for k in range(0, n * n, n)]
    factors = linear.factorise(M, lambda k: no_inertia_along(machine, k), light_coordinates(machine))
    W = [linear.half_solve(factors, row) for row in rows]
    _, D = factors
    mobility: list[list[Scalar]] = [[0.0] * 6 for _ in range(6)]
    for i in range(6):
        for j in range(i + 1):
            mobility[i][j] = mobility[j][i] = sum(a * d * b for a, d, b in zip(W[i], D, W[j], strict=True))
    return (_inverse(mobility, frame),)


def _inverse(A: Sequence[Sequence[Scalar]], frame: str) -> list[Scalar]:
    """The inverse of a mobility, row after row; NaN where it has none."""

    def stuck(_: int) -> LinkwiseError:
        return LinkwiseError(f"frame {frame!r}: it cannot move in all six directions here, so it has no inertia.")

    factors = linear.factorise(A, stuck)
    _, inverse = factors
    sound: Scalar = 1.0  # -1 where a pivot is lost in round-off
    for k, pivot in enumerate(inverse):
        sound = where(less(absolute(A[k][k] * pivot), 1.0 / tolerance(pivot, *STUCK)), sound, -1.0)
    if is_number(sound) and sound < 0.0:
        raise stuck(0)
    columns = [linear.solve(factors, [1.0 if i == j else 0.0 for i in range(6)]) for j in range(6)]
    valid = sqrt(sound)
    return [columns[max(i, j)][min(i, j)] * valid for i in range(6) for j in range(6)]
