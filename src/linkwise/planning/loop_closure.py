"""Rows that keep loops closed.

What leads moves on splines, and the rest follows in closed form. Joints that follow by loop equations alone move on
splines too: at as many instants as they have free control points the loops are closed exactly, so that what leads
determines their curves; between the instants the gap is bounded, and judged with all limits.
"""

from __future__ import annotations

import numpy as np

from linkwise.mechanism.structure import structure_of
from linkwise.planning.chart import Chart
from linkwise.planning.curve import Array, Basis
from linkwise.planning.rows import Rows, symmetric

OPEN = 1e-4  # rad, and in parts of the mechanism's size: how far loops may open between the instants that close them


def closure_rows(chart: Chart, basis: Basis, fixed: Array) -> list[Rows]:
    """Rows that close loops without a closed form: exactly where followers have a control point for it, else nearly."""
    if not chart.sought:
        return []
    structure = structure_of(chart.robot)
    free = np.isnan(fixed[:, chart.lead_n : chart.moving]).any(axis=1)
    names = tuple(structure.equations[r] for r in structure.part.blocks[-1].rows)
    zero, one = np.zeros(len(names)), np.ones(len(names))
    at = tuple(basis.abscissae[free].tolist())
    exact = Rows("closure", names, lambda p: p.gap, zero, zero, one, at=at)
    return [exact, symmetric("closure between", names, lambda p: p.gap, OPEN * one)]
