"""How several drives, and several wheels, share what one of them could carry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from linkwise.errors import LinkwiseError
from linkwise.jet import is_zero
from linkwise.mechanism import linear, square
from linkwise.mechanism.matrices import dot
from linkwise.mechanism.passed_forces import Group, Passed
from linkwise.scalar import Scalar

if TYPE_CHECKING:
    from linkwise.mechanism.linkage import Linkage

Vector = list[Scalar]


def shared(linkage: Linkage, passed: Passed, weights: Sequence[Scalar] | None = None) -> Vector:
    """Torques of the drives for forces at the leading coordinates that were passed on.

    Drives that lead take what is left at their own coordinates; those that follow must carry the others.
    """
    part = linkage.part
    beyond = [v for v in part.active if v not in part.independent]
    undriven = [v for v in part.independent if v not in part.active]
    if len(beyond) < len(undriven):
        raise LinkwiseError(
            f"loops: expected at least {len(undriven)} drives among the joints that follow, for as many leading"
            f" coordinates without one, got {len(beyond)}. Name more active joints in the loops."
        )
    rows = {v: linkage.passed([-1.0 if k == v else 0.0 for k in range(linkage.tree.nv)]) for v in beyond}
    if weights is None and len(beyond) == len(undriven):
        groups = _groups(linkage, undriven, [passed, *rows.values()])
        W = [-x for x in passed.components(linkage, groups)]
        K = [row.components(linkage, groups) for row in rows.values()]
        found = dict(zip(beyond, square.factorise(K, "drives of the platform").solve_transposed(W), strict=True))
        left = passed.own(linkage)
        for at, v in enumerate(part.independent):
            if v in part.active:
                pushed = [row.own(linkage)[at] * found[b] for b, row in rows.items()]
                found[v] = left[at] + sum(pushed, 0.0)
        return [found[v] for v in part.active]
    unit = {v: [1.0 if w == v else 0.0 for w in part.independent] for v in part.independent if v in part.active}
    G = [unit[v] if v in unit else [-x for x in rows[v].own(linkage)] for v in part.active]
    inverse = [1.0 / w for w in weights] if weights is not None else [1.0] * len(G)
    n = range(len(part.independent))
    S = [[sum((g[i] * w * g[j] for g, w in zip(G, inverse, strict=True)), 0.0) for j in n] for i in n]
    x = linear.solve(linear.factorise(S, _no_drive), passed.own(linkage))
    return [w * dot(g, x) for g, w in zip(G, inverse, strict=True)]


def _groups(linkage: Linkage, wanted: Sequence[int], passed: Sequence[Passed]) -> list[Group]:
    """The bodies whose coordinates are wanted, and whether forces on them may stay in axes that do not turn."""
    found, left = [], list(wanted)
    for k, body in enumerate(linkage.tree.bodies):
        places = [v for v, _ in body.axes if v in left]
        if not places:
            continue
        seen = {key[0] for p in passed for key in p.pending if key[1] == k}
        whole = len(places) == len(body.axes) >= 3 and len(seen) == 1
        found.append(Group(k, tuple(places), next(iter(seen)) if whole else None))
        left = [v for v in left if v not in places]
    return found


def spread_over_wheels(linkage: Linkage, multipliers: Vector) -> Vector:
    """Multipliers of wheels that do the same with the least sum of squares over all equations.

    Those of the chosen equations are x, the others follow as T times them: y = (1 + T T^T)^-1 T x is theirs, and
    x - T^T y is left.
    """
    if not any(cut.loop.is_wheel for cut in linkage.cuts):
        return multipliers
    chosen = {r for block in linkage.part.blocks for r in block.rows}
    rows = [row for cut in linkage.cuts for row in cut.jacobian()]
    T = {r: linkage.multipliers(row) for r, row in enumerate(rows) if r not in chosen}
    T = {r: row for r, row in T.items() if not all(map(is_zero, row))}
    S = [[dot(a, b) + float(i == j) for j, b in T.items()] for i, a in T.items()]
    share = linear.solve(linear.factorise(S, _no_drive), [dot(row, multipliers) for row in T.values()])
    spread = list(multipliers)
    for (r, row), y in zip(T.items(), share, strict=True):
        spread = [x - t * y for x, t in zip(spread, row, strict=True)]
        spread[r] = y
    return spread


def _no_drive(k: int) -> LinkwiseError:
    return LinkwiseError(f"loops: no active joint acts on independent coordinate {k}.")
