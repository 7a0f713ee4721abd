"""What closed chains answer: each result knows, row by row, whether its loops could be closed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


class Positions(NamedTuple):
    """Positions of the whole tree (..., nq), NaN where the loops cannot be closed.

    `condition` is |J_p| |J_p^-1| / m by Frobenius norms, of the m loop equations over the passive joints: 1 at best,
    large near a configuration in which the active joints lose hold of the mechanism. `mode` is the sign of det J_p,
    which changes only across such configurations, so that it tells assembly modes apart.
    """

    q: Array
    converged: Flags
    condition: Array
    mode: Array


class Motion(NamedTuple):
    """Positions, velocities and accelerations of the whole tree."""

    q: Array
    qd: Array
    qdd: Array
    converged: Flags
    condition: Array


class Torques(NamedTuple):
    """Torques of the active joints, and the motion of the tree that needs them."""

    tau: Array
    q: Array
    qd: Array
    qdd: Array
    converged: Flags
    condition: Array


class Reactions(NamedTuple):
    """Torques of the active joints, and for each loop the wrench (6) that its link a exerts on b through the cut."""

    tau: Array
    wrench: Array
    q: Array
    converged: Flags
    condition: Array


class Wrenches(NamedTuple):
    """Torques of the active joints, and the wrenches through all joints.

    `wrench` (..., nb, 6) is what the parent exerts on each moving link of the tree, at the joint, in the link's axes;
    `cut` (..., nl, 6) what link a of each loop exerts on b, at the cut, in the axes of frame a.
    """

    tau: Array
    wrench: Array
    cut: Array
    q: Array
    converged: Flags
    condition: Array


class Rates(NamedTuple):
    """Torques of the active joints and their rates, and the motion of the tree that needs them."""

    tau: Array
    tau_dot: Array
    q: Array
    qd: Array
    qdd: Array
    qddd: Array
    converged: Flags
    condition: Array


class Accelerations(NamedTuple):
    """Accelerations of the independent coordinates, and of the whole tree."""

    qdd_active: Array
    q: Array
    qd: Array
    qdd: Array
    converged: Flags
    condition: Array


class Matrix(NamedTuple):
    """A matrix or vector of the independent coordinates, at the positions found."""

    value: Array
    q: Array
    converged: Flags
    condition: Array


class Derivatives(NamedTuple):
    """Derivatives of the active torques by independent positions, velocities and accelerations."""

    dtau_dq: Array
    dtau_dqd: Array
    dtau_dqdd: Array
    q: Array
    converged: Flags
    condition: Array
