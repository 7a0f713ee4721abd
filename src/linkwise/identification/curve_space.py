"""Spaces of closed motions: Fourier series and splines that end as they begin, as control points of one spline.

A motion of every form is a spline, so that limits, clearance, files and pictures are those of every plan; a form only
says which of its control points are free together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.check import whole
from linkwise.errors import UnknownNameError
from linkwise.planning.curve import Array, Basis

FORMS = ("fourier", "spline")
FOURIER_DEGREE, SPANS = 7, 8  # of the spline in place of a series, and its spans in a period of the fastest harmonic
SPLINE_DEGREE = 5
EXACT = 1e4  # times as heavy as the rest: derivatives at both ends
ORDERS = 3  # position, velocity and acceleration, which agree at both ends


def basis_of(form: Any, harmonics: Any, control_points: Any, degree: int) -> Basis:
    """The basis of the spline of a form; `degree` is the least that torques and limits need."""
    if form not in FORMS:
        raise UnknownNameError("form of an exciting motion", form, FORMS)
    if form == "fourier":
        whole(harmonics, "harmonics", 2, 50)
        order = max(FOURIER_DEGREE, degree)
        return Basis.uniform(order, SPANS * harmonics + order)
    order = max(SPLINE_DEGREE, degree)
    least = order + 2 * ORDERS
    whole(control_points, "control_points", least, expected=f"a whole number of at least {least}")
    return Basis.uniform(order, control_points)


def space_of(form: str, basis: Basis, harmonics: int, rest: bool, started: bool) -> Array:
    """The directions (count, k) of control points that are free together.

    Args:
        form: "fourier" or "spline".
        basis: of the spline.
        harmonics: of the series.
        rest: whether velocities and accelerations vanish at both ends.
        started: whether it is given where the motion begins; directions vanish there.
    """
    shapes = _series(basis, harmonics) if form == "fourier" else np.eye(basis.count)
    first, last = (np.concatenate([basis.matrix([s], d) @ shapes for d in range(ORDERS)]) for s in (0.0, 1.0))
    rows = [first - last] if form == "spline" else []
    rows += [first[1:]] if rest else []
    rows += [first[:1]] if started else []
    return shapes @ _null(np.concatenate([*rows, np.zeros((0, shapes.shape[1]))]))


def _series(basis: Basis, harmonics: int) -> Array:
    """Control points of 1, cos(2 pi k s) and sin(2 pi k s), with the derivatives at both ends as they are."""
    s, k = np.linspace(0.0, 1.0, 8 * basis.count), 2.0 * np.pi * np.arange(harmonics + 1)

    def waves(s: Any, order: int = 0) -> Array:
        phase = np.outer(s, k) + 0.5 * np.pi * order
        return np.hstack([np.cos(phase), np.sin(phase)[:, 1:]]) * np.concatenate([k, k[1:]]) ** order

    size = [float(k[-1]) ** -d for d in range(ORDERS)]
    ends = [EXACT * size[d] * basis.matrix([0.0, 1.0], d) for d in range(ORDERS)]
    exact = [EXACT * size[d] * waves([0.0, 1.0], d) for d in range(ORDERS)]
    left, right = np.concatenate([basis.matrix(s), *ends]), np.concatenate([waves(s), *exact])
    return np.asarray(np.linalg.lstsq(left, right, rcond=None)[0])


def _null(rows: Array) -> Array:
    """Orthonormal directions that rows do not see."""
    if not len(rows):
        return np.eye(rows.shape[1])
    scaled = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    _, sizes, V = np.linalg.svd(scaled)
    return np.asarray(V[np.count_nonzero(sizes > 1e-10) :].T)
