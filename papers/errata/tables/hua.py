"""Errata of Hua, Poursina and Sanfilippo."""

from __future__ import annotations

from functools import partial
from math import cos, pi, sin
from typing import Any, NamedTuple

import numpy as np

from linkwise.algorithms.algorithm import World, external_on_bodies
from linkwise.algorithms.inverse_dynamics import inverse_dynamics
from linkwise.algorithms.mass_matrix import mass_matrix
from linkwise.robot.drive import Drive, Motor
from linkwise.robot.joint import Joint
from linkwise.robot.link import Link
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree
from linkwise.rotation import rot_x
from linkwise.spatial import Motion, Pose, Wrench
from linkwise.vector import EYE3, EZ, Mat3, Vec3
from papers.errata import hua
from papers.errata.draw import Draw
from papers.errata.erratum import Erratum
from papers.errata.hua import Arm, Body
from papers.errata.study import Printed, Study, relative

E = partial(Erratum, "Hua")


class Case(NamedTuple):
    """An arm, its state [q; theta], the motors' torques, and the world."""

    arm: Arm
    x: tuple[list[float], list[float], list[float]]
    tau: list[float]
    world: hua.World


def case(seed: int, joints: str, moving: bool = False) -> Case:
    """An arm with joints such as "RER", rigid and elastic, and motors on any link."""
    draw, n = Draw(seed), len(joints)
    bodies = []
    for _ in joints:
        m = draw.uniform(0.5, 3.0)
        bodies.append(Body(draw.rotation(), draw.vector(0.4), draw.vector(0.3), m, draw.tensor(m)))
    motors = [
        hua.Motor(
            draw.randrange(-1, n), draw.unit(), draw.uniform(20.0, 60.0), draw.uniform(5e-4, 1.5e-3),
            draw.uniform(50.0, 150.0) if kind == "E" else None,
        )
        for kind in joints
    ]  # fmt: skip
    size = n + joints.count("E")
    q = draw.numbers(n, 2.0)
    theta = [q[i] + draw.uniform(-0.2, 0.2) for i in range(n) if joints[i] == "E"]
    x = ([*q, *theta], draw.numbers(size, 2.0), [*draw.numbers(n, 4.0), *draw.numbers(size - n, 20.0)])
    world = hua.World((draw.vector(15.0), draw.vector(3.0)), draw.unit() * 9.81)
    if moving:
        world = world._replace(w=draw.vector(2.0), wd=draw.vector(3.0), pdd=draw.vector(5.0))
    return Case(Arm(bodies, motors), x, draw.numbers(n, 20.0), world)


def evaluate(case: Case, quantity: str, printed: Printed) -> Any:
    arm, (x, xd, xdd), tau, world = case
    if quantity == "tau":
        return hua.inverse_dynamics(arm, x, xd, xdd, world, printed).motor
    if quantity == "qdd":
        return hua.forward_dynamics(arm, x, xd, tau, world, printed)
    A, zeta = hua.coefficients(arm, x, xd, world, printed)
    return {"A": A, "zeta": zeta}[quantity]


def truth(case: Case) -> dict[str, Any]:
    """The same by Linkwise; the motor of an elastic joint drives a massless link that nothing hangs on."""
    arm, (x, xd, xdd), tau, world = case
    tree, n, elastic = Tree.of(robot_of(arm)), len(arm.bodies), arm.elastic
    around = World(
        gravity=world.gravity,
        base_velocity=Motion(angular=world.w),
        base_acceleration=Motion(world.pdd, world.wd),
        external=external_on_bodies(tree, {f"link{n}": Wrench(*world.load)}),
    )
    (rigid,), (bias,) = (inverse_dynamics.function(tree, x, xd, a, world=around) for a in (xdd, [0.0] * len(x)))
    springs = {i: arm.motors[i].stiffness * (x[n + k] - x[i]) for k, i in enumerate(elastic)}  # type: ignore[operator]
    zeta = np.array(bias) + np.array([0.0] * n + [*springs.values()])
    A = np.reshape(mass_matrix.function(tree, x)[0], (len(x), len(x)))
    rhs = [springs.get(i, t) for i, t in enumerate(tau)] + [tau[i] for i in elastic]
    motor = list(rigid[:n])
    for k, i in enumerate(elastic):
        motor[i] = springs[i] + rigid[n + k]
    return {"tau": motor, "A": A, "zeta": zeta, "qdd": np.linalg.solve(A, rhs - zeta)}


def robot_of(arm: Arm) -> Robot:
    """The arm with link k's frame at its far end, and a further joint for each motor of an elastic one."""
    name = ["base", *(f"link{k + 1}" for k in range(len(arm.bodies)))]
    links, chain, thetas = [Link("base")], [], []
    for k, (body, motor) in enumerate(zip(arm.bodies, arm.motors, strict=True)):
        drive = Drive(Motor(name[motor.link + 1], rotor=motor.Iz, axis=motor.axis), gear=motor.gear)
        soft = motor.stiffness is not None
        links.append(Link(name[k + 1], body.m, body.c - body.r, body.I))
        X = Pose(body.fixed, body.fixed @ body.r)
        axis = body.fixed.T @ EZ
        chain.append(Joint(f"q{k}", name[k], name[k + 1], "revolute", X, axis, -body.r, drive=None if soft else drive))
        if soft:
            links.append(Link(f"rotor{k}"))
            thetas.append(Joint(f"theta{k}", "base", f"rotor{k}", drive=drive))
    return Robot(links, chain + thetas)


def fixed() -> Study[Case]:
    return Study([case(1, "RER"), case(2, "RREE"), case(3, "EERR"), case(4, "RRE")], evaluate, truth)


def moving() -> Study[Case]:
    return Study([case(5, "RER", moving=True), case(6, "RREE", moving=True)], evaluate, truth)


# ---- the paper's own arm

TENSORS = (
    ((0.4, 0.0, 0.0), (0.0, 0.5, 0.0), (0.0, 0.0, 0.4)),
    ((0.35, 0.15, 0.1), (0.15, 0.4, 0.2), (0.1, 0.2, 0.3)),
    ((0.3, 0.15, 0.13), (0.15, 0.25, 0.2), (0.13, 0.2, 0.25)),
)


def excess() -> float:
    """How far the largest principal moment of Table I exceeds the sum of the other two, over itself."""
    moments = np.linalg.eigvalsh(np.array(TENSORS))
    return float(((moments[:, 2] - moments[:, 1] - moments[:, 0]) / moments[:, 2]).max())


def lowest(weight: float, printed: Printed = frozenset()) -> list[Any]:
    """Torques at 3 s, the lowest point of the path, under a load of that weight in N.

    Lengths (0.8 and 0.4 m), coms in the middle and the gear (10) are assumed, and joint 3 is taken as rigid.
    """
    I = [Mat3.of(x) for x in TENSORS]
    bodies = [
        Body(rot_x(pi / 2), Vec3(0.0, 0.3, 0.0), Vec3(0.0, 0.2, 0.0), 4.5, I[0]),
        Body(EYE3, Vec3(0.8, 0.0, 0.0), Vec3(0.4, 0.0, 0.0), 1.5, I[1]),
        Body(EYE3, Vec3(0.4, 0.0, 0.0), Vec3(0.2, 0.0, 0.0), 1.0, I[2]),
    ]
    arm = Arm(bodies, [hua.Motor(link, EZ, 10.0, 0.004) for link in (-1, 0, 0)])
    q, up = 0.5 * sin(1.5 * pi), -weight
    load = Vec3(up * sin(2.0 * q), up * cos(2.0 * q), 0.0)
    world = hua.World((load, load * 0.0), EZ * -9.81)
    return hua.inverse_dynamics(arm, [q] * 3, [0.0] * 3, [-q * (pi / 2) ** 2] * 3, world, printed).motor


def table() -> list[Erratum]:
    """The errata, in the order of the paper."""
    error, carried = fixed().error, moving().error
    without, true, printed = lowest(0.0), lowest(3.0), lowest(3.0, frozenset({"(20)"}))
    assumed = "inferred: tau at 3 s with assumed lengths; in N m tau_2 is "
    assumed += f"{without[1]:.1f} unloaded, {printed[1]:.1f} by (20), {true[1]:.1f} in truth"
    return [
        E(
            "(8), (9), (11), (12), (14)-(17), (22)-(25)", "O", "the operator [w]x printed as w or w_dot",
            "[w]x, as in pdd + wd x r + w x (w x r)", None, "a product of two vectors has no value",
        ),
        E(
            "(1), A2", "A", "rotor tensor diag(Imx, Imy, Imz)", "Imx = Imy, else I of the body is not constant", None,
            "an assumption, no equation",
        ),
        E(
            "(4), (5), text", "A", "frame i+1 is attached to frame i", "to link i; frame i is attached to link i-1",
            None, "a sentence",
        ),
        E(
            "(18)-(20), (26), Algorithm 1", "M/X", "f_b,N+1 = f_e, the force on the effector",
            "f_b,N+1 = -f_e, t_b,N+1 = -tau_e", error("tau", "(20)"), "tau under a load",
        ),
        E(
            "(19), (20)", "A", "frame N+2; n, m and N mixed", "f_e in frame N+1, no further rotation", None,
            "frame N+2 does not exist",
        ),
        E(
            "(21)", "M", "momenta of the rotors on the side of the torques, not derived", "d/dt (I w + sum eta s Iz z)",
            error("tau", "(21)"), "tau, moments of the forces kept; the units do not match",
        ),
        E(
            "(24), (25), lever arms", "OK", "- f_i x r(oi,ci) + f_i+1 x r(oi+1,ci)", "as printed, from o_i+1 to c_i",
            error("tau"), f"tau; with the opposite arm {error('tau', '(25) arm'):.2g}",
        ),
        E(
            "(27), (29)", "M", "wd_m and z_m in frame l_m", "in frame l_m + 1", None,
            "their scalar product is the same in any frame",
        ),
        E(
            "(27), (29), motor inertia", "OK", "t_b . z + eta Iz z . wd_m", "as printed, counted once", error("tau"),
            f"tau; with another eta^2 Iz {error('tau', '(29) twice'):.2g}",
        ),
        E(
            "(30)", "M", "C1(q, thetad) thetad", "C1(q, qd) thetad, bilinear in qd and thetad", error("zeta", "(30)"),
            "zeta; a term of q and thetad alone would be zero, as it is for qd = 0",
        ),
        E(
            "Algorithm 1", "M", "rigid joints by (8), elastic by (9)", "rigid by (9), elastic by (8)",
            error("tau", "Algorithm 1"),
            "tau, elastic joints by (9); for rigid ones (8) asks for a theta that does not exist",
        ),
        E(
            "text before (34)", "M", "[qdd thetadd] = 0 and = I_j", "velocities zero, accelerations I_j", None,
            "contradicts itself; Algorithm 2 has it right",
        ),
        E(
            "Algorithm 2, columns of A", "X", "passes w_0, wd_0, pdd_0", "zeros", carried("A", "Algorithm 2, base"),
            f"A, on a moving base; qdd {carried('qdd', 'Algorithm 2, base'):.2g}",
        ),
        E(
            "(33), (35), (36)", "OK", "zeta_N+k = tau_i; A_N+k,j = tau_i - K (theta - q)", "as printed",
            max(error(x) for x in ("A", "zeta", "qdd")), "A, zeta and qdd",
        ),
        E(
            "Algorithm 2, spring", "M", "K eta_l (theta - eta_l q)", "K (theta - q)",
            error("qdd", "Algorithm 2, spring"), "qdd with eta_l, which is not defined, as the gear ratio",
        ),
        E("section V", "M", "stiffness 100 N/m", "100 N m/rad", None, "a unit"),
        E(
            "Table I", "X", "tensors of links 2 and 3", "no rigid body has them: they break the triangle inequality",
            excess(), "excess of the largest principal moment over the sum of the others, over itself",
        ),
        E(
            "section V, payload", "X", "torques are lower because of the payload's weight",
            "higher; lower by the sign of (20)", relative(printed, true), assumed,
        ),
    ]  # fmt: skip
