"""Where the energy of a simulated robot is, and where it went."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from linkwise.simulation.motions import Array


@dataclass(frozen=True)
class Energies:
    """Energies and works over time, J, one number a row.

        kinetic + potential = their sum at the start + control + drives + environment - friction

    Args:
        kinetic: of links, rotors and armatures.
        potential: of masses in gravity, and of springs.
        control: work of the torques on free joints.
        drives: work of the torques on driven joints.
        environment: work of external wrenches, force laws and stops.
        friction: what friction and dampers of joints took away.
    """

    kinetic: Array
    potential: Array
    control: Array
    drives: Array
    environment: Array
    friction: Array

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The parts, in their order."""
        return tuple(f.name for f in fields(cls))

    @property
    def total(self) -> Array:
        """Kinetic and potential energy."""
        return self.kinetic + self.potential

    @property
    def balance(self) -> Array:
        """The total less what it should be: all that the integration gained or lost."""
        work = self.control + self.drives + self.environment - self.friction
        return self.total - self.total[0] - work

    @property
    def drift(self) -> float:
        """The largest |balance|, relative to the largest energy or work that came about on the way."""
        moved = [self.kinetic, self.potential - self.potential[0], self.control, self.drives, self.environment]
        size = max(float(np.abs(x).max()) for x in (*moved, self.friction))
        worst = float(np.abs(self.balance).max())
        return worst / size if size > 0.0 else worst
