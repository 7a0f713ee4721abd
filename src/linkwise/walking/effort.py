"""What walking makes small."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from linkwise.planning.term_and_constraint import Term


@dataclass(frozen=True)
class Effort(Term):
    """The integral of squared torques over their limits, (5.1) of the source."""

    weights: Any = 1.0


def effort(weights: Any = 1.0) -> Effort:
    """The effort of walking: the integral of squared torques, each over its joint's strength.

    `weights` is a number, one a coordinate, or by joint's name, zero for those not named.
    """
    return Effort(weights)
