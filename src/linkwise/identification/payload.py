"""A load that a robot carries, from what differs between the link with it and without."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwise.errors import InputError
from linkwise.identification.covariance import Covariance
from linkwise.identification.estimates import Estimate, Estimates
from linkwise.identification.structure import Structure
from linkwise.motion.trajectory import Array

PARTS = ("m", "mcx", "mcy", "mcz")


class Load(NamedTuple):
    """Mass and centre of a load.

    Attributes:
        frame: in whose axes the centre is.
        mass: kg, with its interval.
        com: x, y and z, m, with their intervals; NaN where the data do not determine it, as where nothing turns.
    """

    frame: str
    mass: Estimate
    com: tuple[Estimate, Estimate, Estimate]

    def __str__(self) -> str:
        at = ", ".join(f"{x.name} {x.value:.4g} ({x.lower:.4g} to {x.upper:.4g})" for x in self.com)
        m, centre = self.mass, f"centre {at} m" if self.com[0].determined else "centre not determined"
        return f"load at {self.frame!r}: mass {m.value:.4g} kg ({m.lower:.4g} to {m.upper:.4g}), {centre}"


def load_of(structure: Structure, base: Estimates, covariance: Covariance) -> Load:
    """The load at its frame; errors of the centre by linear propagation of those of mass and first moment."""
    known = [name for name, on in zip(base.names, base.determined, strict=True) if on]
    wanted = [f"{structure.link}.{part}" for part in PARTS]
    if wanted[0] not in known:
        raise InputError(
            f"payload at {structure.payload!r}: expected a log that determines its mass, got one that leaves it open."
            " Move the joints that carry it more, also against gravity."
        )
    if not all(name in known for name in wanted):  # of a platform that never turns torques tell no centre
        found, freedom = base[wanted[0]], covariance.dof[[known.index(wanted[0])]]
        value, error = np.array([found.value - found.prior]), np.array([found.error])
        mass, *_ = Estimates(("mass",), value, error, np.zeros(1), freedom)
        x, y, z = (Estimate(name, *[float("nan")] * 5) for name in "xyz")
        return Load(str(structure.payload), mass, (x, y, z))
    places = [known.index(name) for name in wanted]
    prior = np.array([base[name].prior for name in wanted])
    m, *mc = np.array([base[name].value for name in wanted]) - prior
    C = covariance.matrix[np.ix_(places, places)]
    dof = float(covariance.dof[places].min())
    R, p = _pose(structure)
    centre = R.T @ (np.array(mc) / m - p)
    J = np.zeros((4, 4))
    J[0, 0] = 1.0
    J[1:, 0], J[1:, 1:] = R.T @ (-np.array(mc) / m**2), R.T / m
    errors = np.sqrt(np.diag(J @ C @ J.T))
    names = ("mass", "x", "y", "z")
    rows = Estimates(names, np.array([m, *centre]), errors, np.zeros(4), np.full(4, dof))
    mass, *com = rows
    return Load(str(structure.payload), mass, (com[0], com[1], com[2]))


def _pose(structure: Structure) -> tuple[Array, Array]:
    """Rotation and origin of the payload's frame in the moving link that carries it."""
    robot = structure.machine
    frame = robot.frame(str(structure.payload))
    pose, at = frame.origin, frame.link
    while at != structure.link:
        joint = next(j for j in robot.joints if j.child == at)
        pose, at = joint.origin @ pose, joint.parent
    return np.array([list(row) for row in pose.R], dtype=float), np.array(list(pose.p), dtype=float)
