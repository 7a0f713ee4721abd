"""Errata of Barman."""

from __future__ import annotations

from functools import partial
from math import pi
from typing import Any, NamedTuple

from linkwise.algorithms.inverse_dynamics import inverse_dynamics, joint_wrenches
from linkwise.algorithms.kinematics import pose, velocity
from linkwise.formats.dh import standard_dh
from linkwise.formats.dh_rows import DHRow
from linkwise.robot.link import Frame
from linkwise.robot.robot import Robot
from linkwise.scalar import Scalar
from linkwise.spatial import Pose
from linkwise.vector import Mat3, Vec3
from papers.errata import barman
from papers.errata.barman import Load
from papers.errata.draw import Draw
from papers.errata.erratum import Erratum
from papers.errata.study import Printed, Study, relative

STEP = 1e-40  # of a complex step, which has no round-off
E = partial(Erratum, "Barman")


class Case(NamedTuple):
    """A robot, its state, gravity and loads."""

    rows: list[DHRow]
    x: tuple[list[float], list[float], list[float]]
    gravity: Vec3
    loads: list[Load]


def case(seed: int, kinds: str, *loaded: int) -> Case:
    draw, n = Draw(seed), len(kinds)
    rows = draw.dh(kinds)
    x = (draw.numbers(n, 2.0), draw.numbers(n, 2.0), draw.numbers(n, 3.0))
    loads = [Load(k, draw.vector(0.3), draw.vector(20.0), draw.vector(5.0)) for k in loaded]
    return Case(rows, x, draw.unit() * 9.81, loads)


def evaluate(case: Case, quantity: str, printed: Printed) -> Any:
    return getattr(barman.inverse_dynamics(case.rows, *case.x, case.gravity, case.loads, printed), quantity)


def truth(case: Case) -> dict[str, Any]:
    """The same by Linkwise, derivatives by complex steps."""
    n = len(case.rows)
    frames = [Frame(f"load{k}", f"link{w.k + 1}", Pose(p=w.r)) for k, w in enumerate(case.loads)]
    robot = standard_dh(case.rows, gravity=case.gravity, frames=frames)
    columns = [[tau_of(robot, case, _stepped(case.x, k, i)) for i in range(n)] for k in range(3)]
    dq, dqd, dqdd = ([[columns[k][i][j].imag / STEP for i in range(n)] for j in range(n)] for k in range(3))
    loads = on_robot(robot, case, case.x[0])
    tau, wrench = joint_wrenches.plain(robot, *case.x, external=loads)
    return {
        "tau": tau,
        "dtau_dq": dq,
        "dtau_dqd": dqd,
        "dtau_dqdd": dqdd,
        "F_p": [wrench[6 * j : 6 * j + 3] for j in range(n)],
        "dxd_dqd": velocities(robot, case),
    }


def tau_of(robot: Robot, case: Case, x: list[list[Scalar]]) -> Any:
    return inverse_dynamics.plain(robot, *x, external=on_robot(robot, case, x[0]))


def on_robot(robot: Robot, case: Case, q: list[Scalar]) -> dict[str, list[Scalar]]:
    """The loads, turned round and into the axes of their frames."""
    found = {}
    for k, load in enumerate(case.loads):
        T = pose.plain(robot, q, frame=f"load{k}")
        R = Mat3.of([T[4 * r : 4 * r + 3] for r in range(3)])
        found[f"load{k}"] = [*(R.T @ -load.F), *(R.T @ -load.N)]
    return found


def velocities(robot: Robot, case: Case) -> list[list[Vec3]]:
    """d(xd_j)/d(qd_i), xd_j in frame j: xd is linear in qd."""
    n = len(case.rows)
    unit = [[float(i == k) for k in range(n)] for i in range(n)]
    return [
        [Vec3(*velocity.plain(robot, case.x[0], e, frame=f"link{j + 1}", axes="local")[:3]) for e in unit]
        for j in range(n)
    ]


def _stepped(x: tuple[list[float], ...], k: int, i: int) -> list[list[Scalar]]:
    """The state with a complex step of variable i of q, qd or qdd."""
    return [[y + 1j * STEP * ((a, b) == (k, i)) for b, y in enumerate(ys)] for a, ys in enumerate(x)]


def study() -> Study[Case]:
    return Study([case(1, "RPRR", 3), case(2, "PPRPR", 2, 4), case(3, "RRPRRR", 3, 5)], evaluate, truth)


def upright() -> float:
    """Error of tau of the arm of Table 4.3 if gravity is along z0; its plane of motion is y0-z0."""
    I = (0.1, 0.1, 0.1)
    rows = [
        DHRow(pi / 2, 0.4, 0.0, pi / 2, "prismatic", mass=0.5, com=Vec3(0.0, -0.2, 0.0), inertia=I),
        DHRow(pi / 2, 0.0, 0.4, 0.0, "revolute", mass=0.5, com=Vec3(-0.2, 0.0, 0.0), inertia=I),
    ]
    state = ([0.25, -0.3], [0.8, -1.1], [2.0, 3.0])
    z0, x0 = (barman.inverse_dynamics(rows, *state, g).tau for g in (Vec3(0.0, 0.0, -9.81), Vec3(-9.81, 0.0, 0.0)))
    return relative(z0, x0)


def table() -> list[Erratum]:
    """The errata, in the order of the thesis."""
    error = study().error
    q, qd, qdd = "dtau_dq", "dtau_dqd", "dtau_dqdd"
    exact = max(error(x) for x in (q, qd, qdd))
    return [
        E(
            "nomenclature", "X", "F_jp is what link j exerts on j-1, F_jd what j+1 exerts on j",
            "by (2.1), (3.74) what j-1 exerts on j, and j on j+1", error("F_p", "nomenclature"),
            "force through the joints",
        ),
        E("page 7", "M", "z of frame j-1 lies along joint j+1", "z of frame j", None, "a sentence; (2.3) has it right"),
        E(
            "2.9, 3.2", "A", "com by l_j and d_Gj only", "three components, dx_j + c_j", error("tau", "2.9"),
            "tau, the third component left out",
        ),
        E(
            "3.2", "A", "dx_j and its sensitivity are not given",
            "[a, d sin(alpha), d cos(alpha)]; u for i = j prismatic", None, "nothing printed",
        ),
        E("3.1", "A", "d_Gj,i = 1 without condition", "1 for i = j, else 0", None, "(3.4) has the condition"),
        E("3.13", "X", "prismatic: w_j,i' = 0", "R^T w_(j-1),i' for i < j", error(qd, "3.13"), qd),
        E("3.18", "X", "i = j: jw x R_j,i^T z, which is 0", "jw x R_j^T z", error(qd, "3.18"), qd),
        E(
            "3.40", "X", "prismatic, i < j: xd_j,i' = R^T xd_(j-1),i'", "+ Delta xd_j,i'", error("dxd_dqd", "3.40"),
            "dxd/dqd, velocities of the origins; tau does not use it",
        ),
        E("3.51", "M/O", "Delta xdd_j,i'' = w_j,i'' x dx, which is 0", "wd_j,i'' x dx", error(qdd, "3.51"), qdd),
        E("3.52", "M/O", "i = j: w x u + w x Delta xd_j,i", "wd x u + w x Delta xd_j,i", error(q, "3.52"), q),
        E("3.55", "OK", "in doubt", "as printed", exact, f"{q}, {qd}, {qdd}"),
        E("3.56", "M/O", "last term d_dot_G u", "d_ddot_G u", error("tau", "3.56"), "tau"),
        E(
            "3.58", "M/O", "i = j: d_dot_G,i'' u, which is 0; d_dot_j in the brackets",
            "d_ddot_G,i'' u = u; d_dot_G, the same", error(qdd, "3.58"), qdd,
        ),
        E(
            "3.61", "O", "first line of velocities: xd_G,i = jxd,i + Delta xd_G,i", "of accelerations",
            error(q, "3.61"), q,
        ),
        E(
            "3.67, 3.68", "X/A", "m (xdd_G + R^T g)", "m (xdd_G - R^T g), g the acceleration of free fall",
            error("tau", "3.67"), f"tau; {q}: {error(q, '3.67'):.2g}. Right if g points upwards",
        ),
        E(
            "3.76", "M/O", "R_k,i^T F_e in the force itself", "R_k^T F_e", error("tau", "3.76"),
            f"tau; {q}: {error(q, '3.76'):.2g}. The free index i read as k",
        ),
        E(
            "3.78, 3.86, 3.90", "A", "load on the link added with +",
            "+ if the link exerts it, - if it acts on the link", error("tau", "3.78"),
            "tau, for a load that acts on the link as step 1c says",
        ),
        E(
            "3.72-3.91, order", "A", "one loop, the load added before the next link", "the load in a pass of its own",
            error("tau", "order"), "tau, if the steps are interleaved; the load then counts more than once",
        ),
        E(
            "3.79, 3.87, 3.91", "X", "F_p,i' = F_p,i'' = t_p,i' = t_p,i'' = 0", "unchanged by the load",
            error(qd, "3.79"), f"{qd}; {qdd}: {error(qdd, '3.79'):.2g}. Those of all links up to k are erased",
        ),
        E("3.83", "X", "no derivative of the lever arms", "i = j prismatic: - F_d x u - F_G x u", error(q, "3.83"), q),
        E("3.84, 3.85, 3.88", "O", "t^e_(j+1)d", "t^ef, t^em", None, "t^e is not defined"),
        E("3.85", "X", "j = k: dx x F_d,i", "(r_k + dx) x F_d,i", error(q, "3.85"), q),
        E("3.93, 3.95", "OK", "a term R_j,i^T z", "as printed: it is zero", error(q), q),
        E(
            "chapter 4", "M", "equations numbered from 4.13, cited from 4.1", "one count", None,
            "numbers of equations only",
        ),
        E(
            "Table 4.3", "A", "moves in a horizontal plane", "the table's plane is y0-z0, so gravity is along x0",
            upright(), "tau of that arm with gravity along z0, as for Table 4.1",
        ),
    ]  # fmt: skip
