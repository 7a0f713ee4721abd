"""Inverse dynamics with analytic sensitivities after Barman, with the printed forms of his equations.

Standard DH, steps 1-10, (3.1)-(3.95). Frame j is at the far end of link j; u = R^T z is the axis of joint j there. The
right sensitivities are those of the product rule, which `Sensed` carries along; FORMS holds what is printed instead.
For short, `turn` is u for a revolute joint and `slide` is u for a prismatic one, and the other is zero, so that one
formula serves both kinds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from linkwise.formats.dh_rows import DHRow
from linkwise.robot.joint import KINDS
from linkwise.rotation import rot_x, rot_z
from linkwise.scalar import Scalar
from linkwise.spatial import symmetric
from linkwise.vector import EZ, ZERO3, Mat3, Vec3, cross, dot, hat
from papers.errata.sensed import Sensed
from papers.errata.study import NOTHING, Form, Forms, Printed, chosen, minus, same, second

Wrench = tuple[Sensed, Sensed]  # force and torque


class Joint(NamedTuple):
    """Joint j and its link at a position."""

    j: int
    R: Mat3
    dR: Mat3  # to q_j
    u: Vec3
    turn: Vec3
    slide: Vec3
    dx: Sensed  # O_j-1 to O_j, in frame j
    dxG: Sensed  # O_j-1 to the com, in frame j

    @property
    def turns(self) -> bool:
        return self.slide == ZERO3

    def inner(self, x: Sensed) -> Sensed:
        """A vector of link j-1 in frame j."""
        return x.turned(self.R.T, self.dR.T, self.j)

    def outer(self, x: Sensed) -> Sensed:
        """A vector of frame j in frame j-1."""
        return x.turned(self.R, self.dR, self.j)


class Motion(NamedTuple):
    """Angular velocity and acceleration of a link, velocity and acceleration of O_j, acceleration of its com."""

    w: Sensed
    wd: Sensed
    xd: Sensed
    xdd: Sensed
    xGdd: Sensed


@dataclass(frozen=True)
class Load:
    """A force and moment that link k (from 0) exerts on the environment, in world axes, at point r of frame k."""

    k: int
    r: Vec3
    F: Vec3
    N: Vec3


class Result(NamedTuple):
    """Generalised forces and their derivatives, forces through the joints, and d(xd_j)/d(qd_i).

    `through` has force and torque through each joint, about O_j-1 in frame j, with their sensitivities.
    """

    tau: list[Scalar]
    dtau_dq: list[list[Scalar]]
    dtau_dqd: list[list[Scalar]]
    dtau_dqdd: list[list[Scalar]]
    F_p: list[Vec3]
    dxd_dqd: list[list[Vec3]]
    through: list[Wrench]


def _no_own_part(xd: Sensed, jxd: Sensed, j: int) -> Sensed:
    return xd._replace(qd=[x if i == j else y for i, (x, y) in enumerate(zip(xd.qd, jxd.qd, strict=True))])


FORMS: Forms = {
    "nomenclature": (same, minus),  # F_p
    "2.9": (same, lambda x, u: Vec3(x.x, 0.0, 0.0) + u * dot(u, x)),
    "3.13": (same, lambda w, at: w if at.turns else w.without("qd")),
    "3.18": (same, lambda wd, at, jw: wd.depending("qd", at.j, cross(jw.value, at.dR.T @ EZ - at.turn))),
    "3.40": (same, lambda xd, at, jxd: xd if at.turns else _no_own_part(xd, jxd, at.j)),
    "3.51": (same, lambda a, at: a.without("qdd") if at.turns else a),
    "3.52": (same, lambda a, at, w, wd: a.depending("q", at.j, cross(w.value - wd.value, at.slide))),
    "3.56": (same, second),  # qdd, qd
    "3.58": (same, lambda a, at: a.depending("qdd", at.j, -at.slide)),
    "3.61": (same, lambda xGdd, at, xGd: xGdd if at.turns else xGdd._replace(q=xGd.q)),
    "3.67": (minus, same),  # gravity
    "3.76": (same, lambda F, k: F._replace(value=F.q[k])),
    "3.78": (same, minus),  # the load
    "order": (same, second),  # handed to the parent: the wrench of inertia, the wrench with the load
    "3.79": (same, lambda x, loaded: x.without("qd", "qdd") if loaded else x),
    "3.83": (same, lambda t, at, F: t.depending("q", at.j, -cross(at.slide, F.value))),
    "3.85": (same, lambda t, r, F: t._replace(q=[x - cross(r, y) for x, y in zip(t.q, F.q, strict=True)])),
}


def inverse_dynamics(
    rows: Sequence[DHRow],
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    gravity: Vec3,
    loads: Sequence[Load] = (),
    printed: Printed = NOTHING,
) -> Result:
    """Generalised forces and their sensitivities to q, qd, qdd.

    Source: [Barman] (3.1)-(3.95). `gravity` is the acceleration of free fall; loads are exerted by the links.
    """
    form, n = chosen(FORMS, printed), len(rows)
    rest = Sensed.constant(ZERO3, n)
    at = [_joint(j, row, x, n, form) for j, (row, x) in enumerate(zip(rows, q, strict=True))]

    # outwards: motion, then force and torque of inertia, (3.67)-(3.71)
    m, g = Motion(rest, rest, rest, rest, rest), Sensed.constant(gravity, n)
    inertial, velocity = [], []
    for row, here, v, a in zip(rows, at, qd, qdd, strict=True):
        m, g = _motion(here, m, v, a, form), here.inner(g)
        I = symmetric(*row.inertia)
        F_G = (m.xGdd + form["3.67"](g)) * row.mass  # (3.67), (3.68)
        inertial.append((F_G, m.wd.times(I) + m.w.cross(m.w.times(I))))  # (3.69)-(3.71)
        velocity.append(m.xd.qd)

    # inwards, then the part along each axis, (3.92)-(3.95)
    through = _inwards(at, inertial, [_load(at, load, n, form) for load in loads], form)
    along = [(t_p if here.turns else F_p, here.u) for here, (F_p, t_p) in zip(at, through, strict=True)]
    dq, dqd, dqdd = ([[dot(x, u) for x in getattr(w, of)] for w, u in along] for of in ("q", "qd", "qdd"))
    F = [form["nomenclature"](F_p.value) for F_p, _ in through]
    return Result([dot(w.value, u) for w, u in along], dq, dqd, dqdd, F, velocity, through)


def _inwards(
    at: Sequence[Joint], inertial: Sequence[Wrench], loads: Sequence[dict[int, Wrench]], form: dict[str, Form]
) -> list[Wrench]:
    """Force and torque through each joint, (3.72)-(3.91)."""
    n, outermost = len(at), max((max(load) for load in loads), default=-1)
    F, t = Sensed.constant(ZERO3, n), Sensed.constant(ZERO3, n)
    through: list[Wrench] = []
    for here in reversed(at):
        if here.j < n - 1:
            F, t = at[here.j + 1].outer(F), at[here.j + 1].outer(t)  # (3.72), (3.80)
        F_G, t_G = inertial[here.j]
        t = t + t_G + here.dx.cross(F) + here.dxG.cross(F_G)  # (3.82)
        t = form["3.83"](t, here, F + F_G)  # (3.83)
        F = F + F_G  # (3.74)
        F_p, t_p = F, t
        for F_e, t_e in (load[here.j] for load in loads if here.j in load):
            F_p, t_p = F_p + form["3.78"](F_e), t_p + form["3.78"](t_e)  # (3.78), (3.86), (3.90)
        F, t = form["order"](F, F_p), form["order"](t, t_p)
        F_p, t_p = (form["3.79"](x, here.j <= outermost) for x in (F_p, t_p))  # (3.79), (3.87), (3.91)
        through.insert(0, (F_p, t_p))
    return through


def _joint(j: int, row: DHRow, q: Scalar, n: int, form: dict[str, Form]) -> Joint:
    """(2.10), (3.1)-(3.4). The thesis does not give dx; its com (2.9) has two parameters instead of three."""
    turns = KINDS[row.kind].turns
    theta, d = (row.theta + q, row.d) if turns else (row.theta, row.d + q)
    R, u = rot_z(theta) @ rot_x(row.alpha), rot_x(row.alpha).T @ EZ
    turn, slide = (u, ZERO3) if turns else (ZERO3, u)
    x = Vec3(row.a, 0.0, 0.0) + u * d
    dx, dxG = (Sensed.constant(y, n).depending("q", j, slide) for y in (x, form["2.9"](x + row.com, u)))
    return Joint(j, R, hat(EZ) @ R * float(turns), u, turn, slide, dx, dxG)


def _motion(at: Joint, before: Motion, qd: Scalar, qdd: Scalar, form: dict[str, Form]) -> Motion:
    """Steps 2-7 of one link."""
    j, n = at.j, len(before.w.q)
    jw, jwd, jxd, jxdd = (at.inner(x) for x in before[:4])
    dw, s = (Sensed.constant(x * qd, n).depending("qd", j, x) for x in (at.turn, at.slide))
    dwd, sd = (Sensed.constant(x * qdd, n).depending("qdd", j, x) for x in (at.turn, at.slide))
    w = form["3.13"](jw + dw, at)  # (3.11)-(3.13)
    wd = form["3.18"](jwd + dwd + jw.cross(dw), at, jw)  # (3.17)-(3.22)
    v, vG = (w.cross(X) + s for X in (at.dx, at.dxG))  # (3.35)-(3.37), (3.41)-(3.43)
    a, aG = (wd.cross(X) + w.cross(y + s) for X, y in ((at.dx, v), (at.dxG, vG)))
    a = form["3.52"](form["3.51"](a + sd, at), at, w, wd)  # (3.50)-(3.52)
    aG = aG + sd._replace(value=at.slide * form["3.56"](qdd, qd))
    aG = form["3.58"](aG, at)  # (3.56)-(3.58)
    xd = form["3.40"](jxd + v, at, jxd)  # (3.38)-(3.40)
    return Motion(w, wd, xd, jxdd + a, form["3.61"](jxdd + aG, at, jxd + vG))  # (3.53)-(3.55), (3.59)-(3.61)


def _load(at: Sequence[Joint], load: Load, n: int, form: dict[str, Form]) -> dict[int, Wrench]:
    """Force and torque of a load on each joint from k inwards, (3.76), (3.77), (3.84), (3.85), (3.88), (3.89)."""
    F, N = Sensed.constant(load.F, n), Sensed.constant(load.N, n)
    for here in at[: load.k + 1]:
        F, N = here.inner(F), here.inner(N)
    F = form["3.76"](F, load.k)
    arm = at[load.k].dx + Sensed.constant(load.r, n)
    t = form["3.85"](arm.cross(F), load.r, F) + N
    through = {load.k: (F, t)}
    for j in reversed(range(load.k)):
        F, t = at[j + 1].outer(F), at[j + 1].outer(t)
        t = t + at[j].dx.cross(F)
        through[j] = (F, t)
    return through
