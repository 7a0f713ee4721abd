"""Physically consistent parameters: those that fit the data best among the ones that bodies can have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from numpy.typing import ArrayLike, NDArray

from linkwise.check import positive as above_zero
from linkwise.errors import InputError
from linkwise.identification import log_cholesky, semidefinite
from linkwise.identification.scaled_parameters import Bounds, Boxes, Scaled
from linkwise.robot.robot import Robot

Array = NDArray[Any]

METRICS = ("pullback", "entropic", "euclidean")
METHODS = ("sdp", "cholesky")


@dataclass(frozen=True)
class Consistent:
    """Parameters that bodies can have, and how they were found.

    Args:
        parameters: in the order of `robot.parameters()`, then of the further columns.
        objective: 1/2 x^T H x - g^T x + gamma d(x, prior).
        iterations: of the solver.
        status: "solved", or in words why not.
        margin: the least eigenvalue of all links' pseudo-inertias; above zero, a body has them.
        method: "sdp" or "cholesky", by which it was found.
        notes: what was assumed on the way.
    """

    parameters: Array
    objective: float
    iterations: int
    status: str
    margin: float
    method: str
    notes: tuple[str, ...] = field(default=())


def consistent(
    robot: Robot,
    H: ArrayLike,
    g: ArrayLike,
    *,
    prior: ArrayLike | None = None,
    gamma: float = 1.0,
    metric: str = "pullback",
    mass: Bounds | None = None,
    boxes: Boxes | None = None,
    positive: Iterable[str | int] = (),
    fixed: Iterable[str] = (),
    names: Sequence[str] | None = None,
    method: str = "sdp",
) -> Consistent:
    """The x that minimises 1/2 x^T H x - g^T x + gamma d(x, prior) among parameters that bodies can have.

    x are the parameters of the robot, then those of further columns. The pseudo-inertia of every moving link is
    positive definite, by a margin; rotor inertias and friction are not negative. What the data do not determine, so
    that H is of low rank, stays near the prior.

    d is a sum over links with P, P0 their 4 by 4 pseudo-inertias, and of the squares of relative changes of all else:

        pullback    1/2 norm(P0^-1/2 (P - P0) P0^-1/2)^2, the same in all frames and units
        entropic    -log det(P P0^-1) + tr(P P0^-1) - 4, which is about that near the prior, and never lets go
        euclidean   1/2 sum ((x - x0) / scale)^2, with mass and radius of gyration of the link as scales

    Args:
        robot: whose parameters; its own are the prior where none is given.
        H: information of the data, (n, n), Y^T W Y of a regressor Y with weights W.
        g: Y^T W tau, (n,).
        prior: parameters, of the robot alone or with further columns, which else count as zero.
        gamma: weight of the prior: 1 means that parameters of the prior may be wrong by about themselves, where H is in
            units of the noise.
        metric: "pullback", "entropic" or "euclidean".
        mass: by link the least and the largest mass, or one number, kg; of all that is lumped in the link.
        boxes: by link the lower and the upper corner of a box that holds all its mass, in the link's axes, m. That is a
            necessary condition on mass, centre and inertia along each axis.
        positive: further columns that are not negative, by name or place in x.
        fixed: names of links, of parameters of joints or of further columns that keep their priors.
        names: of the further columns.
        method: "sdp", a semidefinite program by Clarabel (the extra `identify`; without it the other method is taken),
            or "cholesky", Newton's method on log-Cholesky coordinates.

    Source: P. M. Wensing, S. Kim, J.-J. E. Slotine, Linear matrix inequalities for physically consistent inertial
    parameter identification, RA-L 3(1), 2018; T. Lee, P. M. Wensing, F. C. Park, Geometric robot dynamic
    identification, T-RO 36(2), 2020 (metrics). The margin and the scales of joints' parameters are ours.
    """
    for given, known, what in ((metric, METRICS, "metric"), (method, METHODS, "method")):
        if given not in known:
            raise InputError(f"consistent {what}: expected one of {known}, got {given!r}.")
    weight = above_zero(gamma, "consistent gamma")
    model = Scaled(robot, H, g, prior, weight, metric, names, positive, fixed, mass, boxes)
    program = model.program()
    if method == "sdp" and find_spec("clarabel") is None:
        model.notes.append(
            'Clarabel is not installed: found by log-Cholesky coordinates. pip install "linkwise[identify]" brings it.'
        )
        method = "cholesky"
    if method == "sdp":
        found = semidefinite.solve(program)
        if found.status != "solved" or not model.is_inside(found.z):
            ended = found.status if found.status != "solved" else "not quite inside"
            model.notes.append(f"The semidefinite program ended {ended!r}: log-Cholesky coordinates took over.")
            method = "cholesky"
    if method == "cholesky":
        found = log_cholesky.solve(program, model.start())
    x = model.parameters(found.z)
    value, margin = model.objective(x), model.margin(x)
    return Consistent(x, value, found.iterations, found.status, margin, method, tuple(model.notes))
