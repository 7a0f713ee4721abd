"""Khalil's robots with a moving base: two identities of section 7, and its treatments of the base beside each other."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np

from linkwise.algorithms.classical import classical_acceleration, component_acceleration
from linkwise.algorithms.hybrid_dynamics import hybrid_dynamics
from linkwise.algorithms.inverse_dynamics import inverse_dynamics
from linkwise.algorithms.kinematics import poses
from linkwise.algorithms.mass_matrix import mass_matrix
from linkwise.formats.dh import khalil
from linkwise.formats.dh_rows import KhalilRow, Row
from linkwise.motion.trajectory import Array
from linkwise.robot.joint import Joint
from linkwise.robot.link import Link
from linkwise.robot.robot import Robot
from linkwise.rotation import from_quaternion
from papers.errata import khalil as literal
from papers.errata.draw import Draw
from papers.experiments import Cell, Experiment, Table

TOLERANCE = 1e-11
GRAVITY = np.array([0.0, 0.0, -9.81])
ROOT = "root"


@dataclass(frozen=True)
class Case:
    """A robot of Khalil's table on a base that moves, its state, and what is asked.

    Args:
        rows: the table.
        base: the body of the base.
        quaternion: of the base in the world, x, y, z, w.
        v: velocity of the base's origin, in its axes.
        omega: its angular velocity, in its axes.
        q, qd: of the joints, in the table's order.
        qdd: accelerations given to the inverse model.
        Gamma: torques given to the direct model.
        reference: independent results, if there are any: V_dot and Gamma of "inverse", V_dot and qdd of "direct".
    """

    rows: Sequence[KhalilRow]
    base: Row
    quaternion: Array
    v: Array
    omega: Array
    q: Array
    qd: Array
    qdd: Array
    Gamma: Array
    reference: dict[str, Any]

    @property
    def gravity(self) -> Array:
        """In the axes of the base."""
        return GRAVITY @ np.array(from_quaternion(*self.quaternion.tolist()))


class OnFloatingJoint:
    """A case with its base on a floating joint, all vectors in the robot's own order."""

    def __init__(self, case: Case) -> None:
        tree, base = khalil(case.rows), case.base
        self.order = [int(name.removeprefix("joint")) - 1 for name in tree.names]
        body = Link("base", base.mass, base.com, base.inertia)
        self.robot: Robot = tree.replace(body).add(Link("world"), Joint(ROOT, "world", "base", "floating"))
        self.q = [0.0, 0.0, 0.0, *case.quaternion.tolist(), *case.q[self.order].tolist()]
        self.qd = [*case.v.tolist(), *case.omega.tolist(), *case.qd[self.order].tolist()]

    def table_order(self, x: Array) -> Array:
        """Values of the joints in the order of the table's rows."""
        found = np.empty(len(self.order))
        found[self.order] = x
        return found

    def hybrid(self, given: Array, driven: Sequence[str]) -> tuple[Array, Array, Array]:
        """The base's classical acceleration, and accelerations and forces of the joints in the table's order."""
        free = [0.0] * 6
        qdd, tau, _ = hybrid_dynamics.plain(
            self.robot, self.q, self.qd, [*free, *given[self.order].tolist()], driven=tuple(driven)
        )
        a = np.array(classical_acceleration.plain(self.robot, self.qd, qdd))
        return a[:6], self.table_order(a[6:]), self.table_order(np.array(tau[6:]))

    def matrices(self) -> tuple[Array, Array]:
        """A and H of (83) with classical accelerations of the base and without gravity, in the table's order."""
        n = self.robot.nv
        still = component_acceleration.plain(self.robot, self.qd, [0.0] * n)
        H = np.array(inverse_dynamics.plain(self.robot, self.q, self.qd, still, gravity=(0.0, 0.0, 0.0)))
        A = np.array(mass_matrix.plain(self.robot, self.q)).reshape(n, n)
        places = [*range(6), *(6 + self.order.index(k) for k in range(n - 6))]
        return A[np.ix_(places, places)], H[places]


def composite_inertia(case: Case) -> Array:
    """J0^c, the inertia of all links as one body at the base's frame: the sum of T^T J T over them."""
    on = OnFloatingJoint(case)
    still = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, *on.q[7:]]  # the world's frame is then the base's
    J = literal.inertia(case.base)
    for X, k in zip(np.reshape(poses.plain(on.robot, still), (-1, 4, 4))[1:], on.order, strict=True):
        R, p = X[:3, :3].T, X[:3, 3]
        T = np.block([[R, -R @ literal.hat(p)], [np.zeros((3, 3)), R]])
        J = J + T.T @ literal.inertia(case.rows[k]) @ T
    return J


def reference_case() -> Case:
    """A tree of eight joints whose accelerations were computed by independent means."""
    data = json.loads((files("papers") / "data" / "moving_base.json").read_text())
    keys = ("antecedent", "sigma", "placement", "mass", "com", "inertia", "armature")
    rows = [
        KhalilRow(a, s, *placement, mass=m, com=c, inertia=I, armature=Ia)
        for a, s, placement, m, c, I, Ia in zip(*(data["rows"][key] for key in keys), strict=True)
    ]
    R = np.array(data["R_world_base"])
    w = np.sqrt(1.0 + np.trace(R)) / 2.0
    quaternion = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1], 4.0 * w * w]) / (4.0 * w)
    v, omega, q, qd = (np.array(data[key]) for key in ("v", "omega", "q", "qd"))
    asked = np.array(data["inverse"]["qdd"]), np.array(data["direct"]["Gamma"])
    return Case(rows, _body(**data["base"]), quaternion, v, omega, q, qd, *asked, data)


def random_case(seed: int) -> Case:
    """A branched tree of nine joints, revolute and prismatic, with everything drawn at random."""
    draw = Draw(seed)
    rows = draw.khalil("RPRRPRRRP", (0, 1, 2, 2, 4, 1, 0, 7, 7), armature=0.05)
    body = draw.body()
    quaternion = np.array([draw.gauss(0.0, 1.0) for _ in range(4)])
    v, omega = (np.array(draw.numbers(3, 1.0)) for _ in range(2))
    q, qd, qdd, Gamma = (np.array(draw.numbers(len(rows), size)) for size in (1.0, 2.0, 2.0, 5.0))
    base = _body(body["mass"], body["com"], body["inertia"])
    return Case(rows, base, quaternion / np.linalg.norm(quaternion), v, omega, q, qd, qdd, Gamma, {})


def _body(mass: float, com: Any, inertia: Any) -> KhalilRow:
    return KhalilRow(0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, mass=mass, com=com, inertia=inertia)


def differences(case: Case) -> dict[str, float]:
    """What section 7 says to be equal, as relative differences."""
    on = OnFloatingJoint(case)
    joints = [name for name in on.robot.names if name != ROOT]
    state = literal.State(case.q, case.qd, np.zeros((len(case.rows), 6)), case.gravity, case.omega)
    A, H = on.matrices()
    felt = np.concatenate([case.gravity, np.zeros(3)])
    found, base_force = literal.free_base_inverse(case.rows, state, case.qdd, case.base)
    V_dot, _, Gamma = on.hybrid(case.qdd, joints)
    by_matrix = felt - np.linalg.solve(A[:6, :6], H[:6] + A[:6, 6:] @ case.qdd)  # (86)
    direct = literal.hybrid(case.rows, state, case.Gamma, [True] * len(case.rows), case.base)
    V_dot_free, qdd_free, _ = on.hybrid(case.Gamma, ())
    solved = np.linalg.solve(A, np.concatenate([-H[:6], case.Gamma - H[6:]]))  # (88)
    solved[:6] += felt
    rows = {
        "A11 = J0^c": (A[:6, :6], composite_inertia(case)),
        "-(H1 + A12 qdd) = beta0^c": (H[:6] + A[:6, 6:] @ case.qdd, base_force),
        "7.2, base acceleration: (97), floating joint": (V_dot, found.V_dot_0),
        "7.2, base acceleration: (86), floating joint": (V_dot, by_matrix),
        "7.2, torques: (100), floating joint": (Gamma, found.Gamma),
        "7.3, base acceleration: (109), floating joint": (V_dot_free, direct.V_dot_0),
        "7.3, joint accelerations: (110), floating joint": (qdd_free, direct.qdd),
        "7.3, all accelerations: (88), floating joint": (np.concatenate([V_dot_free, qdd_free]), solved),
    }
    if case.reference:
        given = case.reference
        rows |= {
            "7.2, independent base acceleration and torques": (
                np.concatenate([V_dot, Gamma]), np.concatenate([given["inverse"]["V_dot"], given["inverse"]["Gamma"]]),
            ),
            "7.3, independent accelerations": (
                np.concatenate([V_dot_free, qdd_free]),
                np.concatenate([given["direct"]["V_dot"], given["direct"]["qdd"]]),
            ),
        }  # fmt: skip
    return {name: float(np.abs(a - b).max() / np.abs(b).max()) for name, (a, b) in rows.items()}


def moving_base() -> Experiment:
    """Khalil's identities for moving bases, and his ways to treat the base, on a reference robot and random trees."""
    cases = {"reference robot": reference_case(), **{f"random tree {k}": random_case(k) for k in (1, 2, 3)}}
    found = {name: differences(case) for name, case in cases.items()}
    worst = max(max(row.values()) for row in found.values())
    names = list(found["reference robot"])
    rows: tuple[tuple[Cell, ...], ...] = tuple((name, *(row.get(name) for row in found.values())) for name in names)
    return Experiment(
        name="moving-base",
        title="Robots with a moving base",
        source="Khalil, section 7: (83)-(112)",
        finding=f"A11 = J0^c and beta0^c = -(H1 + A12 qdd), and the base as the start of the recursion or as a floating"
        f" joint are the same, to {worst:.0e} relative.",
        text=(
            "The source names two ways to take a base that moves into account: its motion starts the recursion, which"
            " then ends in the six equations of the base, or a virtual link without mass carries the base by a joint"
            " of six degrees of freedom. The first is taken here as the source writes it, equations (89)-(112) as"
            " corrected in the errata; the second is the floating joint of the library, by hybrid dynamics with the"
            " joints driven (7.2, inverse) or free (7.3, direct). Matrices A and H are a third way, (86) and (88).",
            "The source has beta0^c = H1 + A12 qdd after (97), with the sign lost; the errata tell.",
        ),
        tables=(
            Table(
                "Relative differences", ("what is equal", *found), rows, digits=2,
                note="The largest difference over the largest value. The reference robot's independent numbers were"
                " computed outside of this library.",
            ),
        ),
        assumptions=(
            "Gravity, of which the source does not speak in section 7, is added to the acceleration of the base; A and"
            " H are without it.",
            "V_dot is the acceleration of the base's origin and its angular acceleration in the base's axes, not the"
            " rate of the velocity's components.",
        ),
        agrees=worst <= TOLERANCE,
    )  # fmt: skip
