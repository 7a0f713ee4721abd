"""Base parameters: inertia that acts like a part of the parent is moved there, which empties the moving bodies.

About a revolute joint's z axis, mass, first moment along z and second moment along z look the same from the parent
whatever the angle; along a prismatic joint all second moments do. Generalised forces do not change; joint wrenches and
energies of single bodies do.

Source: [Khalil] and Gautier's regrouping relations, written for second moments instead of the tensor: the rule
"Iyy is taken from Ixx and Iyy" becomes "Ezz is taken away".
"""

from __future__ import annotations

from dataclasses import replace

from linkwise.robot.round_off import snapped_inertia
from linkwise.robot.tree import Tree
from linkwise.scalar import is_number
from linkwise.spatial import Inertia


def regrouped(tree: Tree) -> Tree:
    """The same tree with as little inertia on each body as its torques need.

    Nothing is moved to a massless parent, which would make it cost more than the child saves.
    """
    inertias = [b.inertia for b in tree.bodies]
    empty = [_is_empty(I) for I in inertias]
    for i in range(len(inertias) - 1, 0, -1):
        body = tree.bodies[i]
        moved = body.kind.movable(inertias[i])
        if body.parent and empty[body.parent]:
            continue
        X = body.placement
        inertias[i] = inertias[i] - moved
        inertias[body.parent] = inertias[body.parent] + moved.seen_from(X.R, X.p)
    bodies = tuple(replace(b, inertia=snapped_inertia(I)) for b, I in zip(tree.bodies, inertias, strict=True))
    return replace(tree, bodies=bodies)


def _is_empty(I: Inertia) -> bool:
    return all(is_number(x) and x == 0.0 for x in I.parameters())
