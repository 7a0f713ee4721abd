"""The inertia matrix column by column: Walker and Orin's use of inverse dynamics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from linkwise.algorithms.algorithm import Outputs, World, algorithm
from linkwise.algorithms.inverse_dynamics import inverse_dynamics
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar


@algorithm(inputs="q", outputs={"M": ("nv", "nv")}, torques_only=True)
def unit_accelerations(tree: Tree, q: Sequence[Scalar]) -> Outputs:
    """M, whose column k is the force for a unit acceleration of coordinate k at rest, without gravity or springs.

    The same matrix as `mass_matrix` gives with fewer operations; kept because sources build on it.

    Source: Walker and Orin (1982), method 1, as in [Khalil] section 3.3.1 and [Hua] (34).
    """
    tree = tree.only_tree("unit_accelerations")
    bare, rest = replace(tree, bodies=tuple(b.without_forces() for b in tree.bodies)), [0.0] * tree.nv
    columns = []
    for k in range(tree.nv):
        unit = [1.0 if j == k else 0.0 for j in range(tree.nv)]
        columns.append(inverse_dynamics.function(bare, q, rest, unit, world=World())[0])
    return ([columns[k][row] for row in range(tree.nv) for k in range(tree.nv)],)
