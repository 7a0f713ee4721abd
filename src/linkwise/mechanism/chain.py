"""The way around a loop, from one side of its cut joint to the other, with the joints on it that are not known."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from linkwise.mechanism.angle import Angle, Position
from linkwise.robot.body import Body
from linkwise.robot.joint import Kind
from linkwise.robot.loop import Loop
from linkwise.robot.tree import Tree
from linkwise.spatial import Pose


class Step(NamedTuple):
    """A joint that the way goes along: from the parent to the body, outwards, or back."""

    body: int
    outwards: bool

    @property
    def back(self) -> Step:
        """The same step the other way."""
        return Step(self.body, not self.outwards)


class Placed(NamedTuple):
    """A chain between two frames: `target` = X[0] M[0] X[1] M[1] ... `tip`, each M a turn about z or a slide along it.

    Args:
        kinds: of the joints, which turn or slide.
        X: each joint's frame in that of the joint before, or where the chain begins.
        tip: the frame of the cut joint at the chain's end, in that of the last joint.
        target: the frame of the cut joint that the tip is to meet, where the chain begins.
    """

    kinds: tuple[Kind, ...]
    X: tuple[Pose, ...]
    tip: Pose
    target: Pose


@dataclass(frozen=True)
class Chain:
    """The way around a loop, cut where joints are not known.

    A loop has no beginning: it is the same chain of unknown joints wherever it was cut, and a cut joint between two of
    them turns some of the steps around.

    Args:
        unknown: steps along joints that are not known.
        known: steps before the first of these, between them, and after the last, by which they are one more.
        swapped: whether the way leads from side b of the cut joint to side a.
    """

    unknown: tuple[Step, ...]
    known: tuple[tuple[Step, ...], ...]
    swapped: bool

    @classmethod
    def around(cls, tree: Tree, loop: Loop, known: Collection[int]) -> Chain:
        """The way around a loop where the coordinates at places `known` in q are known."""
        path_a, path_b = tree.paths(tree.places[loop.a][0], tree.places[loop.b][0])
        way = [*(Step(k, False) for k in reversed(path_a)), *(Step(k, True) for k in path_b)]
        unknown = [step for step in way if not _is_known(tree.bodies[step.body], known)]
        # joints on one side are best seen from where they stand, not from their end
        swapped = bool(unknown) and not any(step.outwards for step in unknown)
        if swapped:
            way, unknown = _backwards(way), _backwards(unknown)
        parts: list[list[Step]] = [[]]
        for step in way:
            if step in unknown:
                parts.append([])
            else:
                parts[-1].append(step)
        return cls(tuple(unknown), tuple(map(tuple, parts)), swapped)

    @property
    def bodies(self) -> tuple[int, ...]:
        """The bodies of the unknown joints."""
        return tuple(step.body for step in self.unknown)

    def placed(self, tree: Tree, loop: Loop, q: Sequence[Any]) -> Placed:
        """The chain where the known joints are at q."""
        begin, end = _sides(tree, loop)
        if self.swapped:
            begin, end = end, begin
        bodies = tree.bodies
        target = _seen(tree, q, _backwards(self.known[0]), begin)
        X, behind = [], Pose()
        for part, step in zip(((), *self.known[1:]), (*self.unknown, None), strict=True):
            placement = bodies[step.body].placement if step else end
            ahead = placement if step is None or step.outwards else Pose()
            X.append(behind @ _seen(tree, q, part, ahead))
            behind = placement.inverse() if step and not step.outwards else Pose()
        return Placed(tuple(bodies[k].kind for k in self.bodies), tuple(X[:-1]), X[-1], target)

    def own(self, tree: Tree, moves: Sequence[Position]) -> list[Position]:
        """The joints' own positions, where they move by so much along the way."""
        found = []
        for step, move in zip(self.unknown, moves, strict=True):
            twist = tree.bodies[step.body].twist
            x = move if step.outwards else move * -1.0
            found.append(x + -twist if twist else x)
        return found

    def given(self, tree: Tree, q: Sequence[float]) -> list[Position]:
        """The joints' own positions in q, in the form in which they are found."""
        bodies = [tree.bodies[k] for k in self.bodies]
        return [Angle.of(q[b.q]) if b.kind.turns else q[b.q] for b in bodies]


def _is_known(body: Body, known: Collection[int]) -> bool:
    return all(k in known for k in range(body.q, body.q + body.kind.nq))


def _backwards(steps: Sequence[Step]) -> list[Step]:
    return [step.back for step in reversed(steps)]


def _sides(tree: Tree, loop: Loop) -> tuple[Pose, Pose]:
    """The two frames of a cut joint in the bodies that carry them."""
    return tree.places[loop.a][1] @ loop.origin_a, tree.places[loop.b][1] @ loop.origin_b


def _seen(tree: Tree, q: Sequence[Any], steps: Sequence[Step], X: Pose) -> Pose:
    """A frame at the end of steps, as seen from their beginning."""
    for step in reversed(steps):
        R, p = tree.bodies[step.body].pose(q)
        X = Pose(R @ X.R, p + R @ X.p) if step.outwards else Pose(R.T @ X.R, R.T @ (X.p - p))
    return X
