"""How far a machine is off the motion that it should follow, in the coordinates that lead.

The error of a position is the difference of its numbers, of a quaternion the turn from where the joint is to where it
should be, s = 4 tan(angle / 4) along its axis: the rotation vector for small angles, without a singular place within a
full turn. A body free in space moves and turns by errors of their own, in the axes of what carries it and in its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from linkwise.jet import Jet, part
from linkwise.mechanism.machine import AnyMachine
from linkwise.mechanism.series import along_motion
from linkwise.robot.joint import Kind
from linkwise.rotation import from_quaternion
from linkwise.scalar import Scalar, less, where
from linkwise.vector import EYE3, Mat3, Vec3, cross, dot, hat

Vector = Sequence[Scalar]


def reference_velocity(machine: AnyMachine, q: Vector, q_ref: Vector, qd_ref: Vector, slope: Vector) -> list[Scalar]:
    """The velocity at which every error would decay by e' = -slope e: qd_ref + slope (q_ref - q) of single joints."""
    found: list[Scalar] = [0.0] * machine.nv
    for kind, at, to in machine.coordinates:
        x, x_ref, v_ref, s = q[at], q_ref[at], qd_ref[to], slope[to]
        if not kind.curved:
            found[to] = [v + k * (b - a) for v, k, b, a in zip(v_ref, s, x_ref, x, strict=True)]
            continue
        moves, off = _Moves.of(kind, x), _Turn.of(kind, x, x_ref)
        goes = [v + k * e for v, k, e in zip(moves.rates(x_ref, v_ref), s, moves.off(x_ref), strict=False)]
        decay = off.inverse @ Vec3(*(k * e for k, e in zip(s[moves.width :], off.turn, strict=True)))
        found[to] = [*moves.velocity(goes), *(off.R @ (Vec3(*v_ref[moves.width :]) + decay))]
    return found


def errors(machine: AnyMachine, q: Vector, q_ref: Vector) -> list[Scalar]:
    """How far what leads is off where it should be, as many numbers as `q_ref` has velocities."""
    found: list[Scalar] = []
    for kind, at, _ in machine.coordinates:
        if at.stop > len(q_ref) or not kind.nv:
            continue
        moves = _Moves.of(kind, q[at])
        off = _Turn.of(kind, q[at], q_ref[at]).turn if kind.curved else ()
        found += (
            [*moves.off(q_ref[at]), *off] if kind.curved else [b - a for a, b in zip(q[at], q_ref[at], strict=True)]
        )
    return found


def wanted_accelerations(
    machine: AnyMachine, state: Sequence[Vector], wanted: Sequence[Vector], kp: Vector, kd: Vector
) -> list[Scalar]:
    """The accelerations with which every error obeys e'' + kd e' + kp e = 0.

    Args:
        machine: what moves.
        state: q and qd.
        wanted: where it should be, and two derivatives.
        kp, kd: a number for each velocity.
    """
    (q, qd), (q_ref, qd_ref, qdd_ref) = state, wanted
    found: list[Scalar] = [0.0] * machine.nv
    curved = any(kind.curved for kind, _, _ in machine.coordinates)
    series = along_motion(machine, (q, qd, [0.0] * machine.nv), 1) if curved else []
    goal = along_motion(machine, wanted, 1) if curved else []
    for kind, at, to in machine.coordinates:
        p, d = kp[to], kd[to]
        if not kind.curved:
            parts = zip(qdd_ref[to], qd_ref[to], q_ref[at], qd[to], q[at], d, p, strict=True)
            found[to] = [a + y * (b - v) + k * (c - x) for a, b, c, v, x, y, k in parts]
            continue
        x, x_ref, v_ref = series[0][at], goal[0][at], goal[1][to]
        moves, off = _Moves.of(kind, x), _Turn.of(kind, x, x_ref)
        n, here = moves.width, moves.rates(x, [Jet([v, 0.0]) for v in qd[to]])
        goes: list[Scalar] = []
        for e, e_dot, k, y in zip(moves.off(x_ref), moves.rates(x_ref, v_ref), p, d, strict=False):
            now = here[len(goes)]
            goes.append(part(e_dot, 1) - part(now, 1) + y * (part(e_dot) - part(now)) + k * part(e))
        # s' = B w, with w the angular velocity of the wanted body on this one
        w = [a - b for a, b in zip(v_ref[n:], off.R.T @ Vec3(*qd[to][n:]), strict=True)]
        still, rate = Vec3(*map(part, w)), Vec3(*(part(a, 1) for a in w))
        s, s_dot = ([part(a, k) for a in off.turn] for k in (0, 1))
        bend = _each(off.B, lambda a: part(a, 1)) @ still
        push = [-(y * b + k * a) - c for y, b, k, a, c in zip(d[n:], s_dot, p[n:], s, bend, strict=True)]
        turned = rate - _each(off.inverse, part) @ Vec3(*push)
        found[to] = [*(part(a) for a in moves.velocity(goes)), *(_each(off.R, part) @ turned)]
    return found


class _Moves(NamedTuple):
    """The numbers of a position before its quaternion: a place, in the axes of what carries the joint."""

    kind: Kind
    x: Vector
    width: int

    @classmethod
    def of(cls, kind: Kind, x: Vector) -> _Moves:
        return cls(kind, x, kind.quaternion.start if kind.quaternion else 0)

    def off(self, x_ref: Vector) -> list[Scalar]:
        return [b - a for a, b in zip(self.x[: self.width], x_ref, strict=False)]

    def rates(self, x: Vector, v: Vector) -> list[Scalar]:
        return self.kind.q_dot(x, v)[: self.width]

    def velocity(self, rates: Vector) -> list[Scalar]:
        """The velocity in the joint's own axes at which these numbers change at such rates."""
        if not self.width:
            return []
        return self.kind.tangent(self.x, [*rates, *[0.0] * (self.kind.nq - self.width)])[: self.width]


class _Turn(NamedTuple):
    """From one quaternion to another: the rotation R, the turn s, and B with s' = B w for the angular velocity w."""

    R: Mat3
    turn: Vec3
    B: Mat3
    inverse: Mat3

    @classmethod
    def of(cls, kind: Kind, x: Vector, x_ref: Vector) -> _Turn:
        own = kind.quaternion or slice(0)
        (ax, ay, az, a_w), (bx, by, bz, b_w) = (kind.normalised(y)[own] for y in (x, x_ref))
        a, b = Vec3(ax, ay, az), Vec3(bx, by, bz)
        v, w = b * a_w - a * b_w - cross(a, b), a_w * b_w + dot(a, b)
        sign = where(less(part(w), 0.0), -1.0, 1.0)
        s = v * (sign / (1.0 + w * sign))
        square = dot(s, s)
        B = EYE3 * (1.0 - square) + hat(s) * 2.0 + _outer(s) * 2.0
        scale = 1.0 + square
        return cls(from_quaternion(v.x, v.y, v.z, w), s * 4.0, B, B.T * (1.0 / (scale * scale)))


def _outer(v: Vec3) -> Mat3:
    return Mat3.of([[a * b for b in v] for a in v])


def _each(M: Mat3, function: Callable[[Scalar], Scalar]) -> Mat3:
    return Mat3.of([[function(x) for x in row] for row in M])
