"""Kinematics and dynamics of parallel robots in the coordinates of the platform, over any scalar.

Velocities, accelerations (classical) and wrenches of the platform are of its origin, in world axes.
"""

from __future__ import annotations

from collections.abc import Sequence

from linkwise.algorithms.algorithm import Outputs, World
from linkwise.algorithms.energy import kinetic_energy as tree_kinetic
from linkwise.algorithms.energy import potential_energy as tree_potential
from linkwise.algorithms.mass_matrix import mass_matrix as tree_mass
from linkwise.errors import LinkwiseError
from linkwise.mechanism.angle import Angle
from linkwise.mechanism.linear import LDL, factorise, solve
from linkwise.mechanism.matrices import Matrix, product, times, transposed
from linkwise.mechanism.square import factorise as factorise_square
from linkwise.parallel.mechanics import LegMotion, Machine, Place, bracket, jacobian_rows, leg_motions, platform_wrench
from linkwise.parallel.quantity import quantity
from linkwise.scalar import Scalar, cos, sin
from linkwise.spatial import Motion, Pose
from linkwise.vector import ZERO3, cross, dot

Flat = Sequence[Scalar]


# ---- kinematics


@quantity(inputs="pose", outputs={"places": ("nj", 2)})
def inverse_kinematics(machine: Machine, pose: Flat) -> Outputs:
    """For each joint of the legs the cosine and sine of its angle, or its length and zero."""
    _, places = machine.places(pose)
    return ([x for place in places for q in place.q for x in _pair(q)],)


@quantity(inputs="pose", outputs={"places": ("na", 2)})
def actuators(machine: Machine, pose: Flat) -> Outputs:
    """For each actuated joint the cosine and sine of its angle, or its length and zero."""
    _, places = machine.places(pose)
    return ([x for place in places for k in place.model.active for x in _pair(place.q[k])],)


@quantity(inputs="pose velocity acceleration", outputs={"qd": ("nj",), "qdd": ("nj",)})
def leg_motion(machine: Machine, pose: Flat, velocity: Flat, acceleration: Flat) -> Outputs:
    """Rates and accelerations of all joints of the legs.

    Source: [Khalil] (63)-(65).
    """
    _, places = machine.places(pose)
    motions = leg_motions(machine, places, velocity, acceleration)
    return [x for m in motions for x in m.qd], [x for m in motions for x in m.qdd]


@quantity(inputs="pose", outputs={"K": ("na", "nv")})
def inverse_jacobian(machine: Machine, pose: Flat) -> Outputs:
    """K = J_p^-1 (na, nv) with rates of the actuated joints = K velocity; the platform feels K^T forces.

    Source: [Khalil] (62).
    """
    K = jacobian_rows(machine, machine.places(pose)[1])
    return ([x for row in K for x in row],)


@quantity(inputs="pose", outputs={"J": ("nv", "na")})
def jacobian(machine: Machine, pose: Flat) -> Outputs:
    """J_p (nv, na) with velocity = J_p rates of the actuated joints; with more joints than that, the pseudo-inverse.

    Source: [Khalil] (60), (62), where the inverse is printed as J_r.
    """
    K = jacobian_rows(machine, machine.places(pose)[1])
    columns = _followed(K, [[float(i == j) for j in range(len(K))] for i in range(len(K))])
    return ([x for row in transposed(columns) for x in row],)


@quantity(inputs="pose positions", outputs={"rate": ("nq",), "residual": ("na",)})
def forward_kinematics(machine: Machine, pose: Flat, positions: Flat) -> Outputs:
    """How far actuated joints are from given positions, and the change of the pose's numbers that would close that.

    The residual of an angle is 2 tan of half of it.
    """
    _, places = machine.places(pose)
    now = [place.q[k] for place in places for k in place.model.active]
    residual = [_difference(x, q) for x, q in zip(positions, now, strict=True)]
    (step,) = _followed(jacobian_rows(machine, places), [residual])
    return machine.motion.rate(pose, step), residual


@quantity(inputs="pose velocity", outputs={"pose_dot": ("nq",)})
def pose_rate(machine: Machine, pose: Flat, velocity: Flat) -> Outputs:
    """Rates of the numbers of a pose, for solvers that know nothing of quaternions."""
    return (machine.motion.rate(pose, velocity),)


# ---- dynamics


@quantity(inputs="pose velocity acceleration", outputs={"forces": ("na",)}, uses="gravity external")
def inverse_dynamics(machine: Machine, pose: Flat, velocity: Flat, acceleration: Flat) -> Outputs:
    """Forces of the actuated joints that move the platform so.

        Gamma = J_p^T (F_p + sum J_vi^T J_i^-T Gamma_i)

    F_p moves the platform alone, Gamma_i each leg alone. With more actuated joints than degrees of freedom, the forces
    of least squares.

    Args:
        machine: platform and legs.
        pose: of the platform (nq).
        velocity: (nv), of its origin and angular, in world axes.
        acceleration: (nv), classical, in world axes.

    Source: [Khalil] (59)-(66). We depart in the sign of the wrench on the platform, which is what the environment
    exerts, and solve for J_p^T instead of inverting.
    """
    W, places, _ = _model(machine, pose, velocity, acceleration)
    return (_shared(jacobian_rows(machine, places), W),)


@quantity(inputs="pose velocity acceleration", outputs={"wrench": ("nv",)}, uses="gravity external")
def platform_forces(machine: Machine, pose: Flat, velocity: Flat, acceleration: Flat) -> Outputs:
    """The dynamics in the platform's coordinates, M acceleration + bias: what actuators must exert on the platform.

    Source: [Khalil] (66), the bracket.
    """
    return (_model(machine, pose, velocity, acceleration)[0],)


@quantity(inputs="pose velocity", outputs={"h": ("nv",)}, uses="gravity external")
def bias_forces(machine: Machine, pose: Flat, velocity: Flat) -> Outputs:
    """h, the platform's forces at zero acceleration, friction, springs and the external wrench included."""
    return (_model(machine, pose, velocity, [0.0] * machine.motion.nv)[0],)


@quantity(inputs="pose", outputs={"g": ("nv",)}, uses="gravity")
def gravity_forces(machine: Machine, pose: Flat) -> Outputs:
    """What holds platform and legs against gravity, on the platform: the gradient of the masses' potential energy."""
    X, places = machine.places(pose)
    rest = [0.0] * machine.motion.nv
    motions = [LegMotion([], [], place.held(machine.gravity)) for place in places]
    return (bracket(machine, places, motions, platform_wrench(machine, X, rest, rest)),)


@quantity(inputs="pose", outputs={"M": ("nv", "nv")})
def mass_matrix(machine: Machine, pose: Flat) -> Outputs:
    """M in the platform's coordinates, legs included: kinetic energy = velocity^T M velocity / 2."""
    return ([x for row in _inertia(machine, *machine.places(pose)) for x in row],)


@quantity(inputs="pose velocity forces", outputs={"acceleration": ("nv",)}, uses="gravity external")
def forward_dynamics(machine: Machine, pose: Flat, velocity: Flat, forces: Flat) -> Outputs:
    """Acceleration of the platform (nv), classical in world axes, under forces of the actuated joints."""
    return (accelerated(machine, pose, velocity, forces)[0],)


@quantity(inputs="pose velocity acceleration", outputs={"force": ("nl", 3)}, uses="gravity external")
def leg_forces(machine: Machine, pose: Flat, velocity: Flat, acceleration: Flat) -> Outputs:
    """The force that each leg exerts on the platform at its point, in world axes; in the plane of a planar machine.

    f_i = J_i^-T (motor forces of the leg - Gamma_i).
    """
    W, places, motions = _model(machine, pose, velocity, acceleration)
    motors = iter(_shared(jacobian_rows(machine, places), W))
    found: list[Scalar] = []
    for place, moving in zip(places, motions, strict=True):
        f = ZERO3
        for k, (n, needed) in enumerate(zip(place.rows, moving.forces, strict=True)):
            f = f + n * ((next(motors) if k in place.model.active else 0.0) - needed)
        found.extend(f)
    return (found,)


@quantity(inputs="pose velocity", outputs={"T": ()})
def kinetic_energy(machine: Machine, pose: Flat, velocity: Flat) -> Outputs:
    """Kinetic energy of platform and legs, J."""
    X, places = machine.places(pose)
    v = machine.motion.motion(velocity)
    own = Motion(X.R.T @ v.linear, X.R.T @ v.angular)
    total = 0.5 * machine.inertia.momentum(own).power(own)
    for place in places:
        qd = place.rates(v.linear + cross(v.angular, place.lever))
        ((T,),) = tree_kinetic.function(place.model.own, place.q, qd, world=World())
        total = total + T
    return ([total],)


@quantity(inputs="pose", outputs={"V": ()}, uses="gravity")
def potential_energy(machine: Machine, pose: Flat) -> Outputs:
    """Potential energy of platform and legs in gravity, zero at the world's origin, and of springs, J."""
    X, places = machine.places(pose)
    total = -dot(machine.gravity, X.p * machine.inertia.m + X.R @ machine.inertia.mc)
    for place in places:
        ((V,),) = tree_potential.function(place.model.own, place.q, world=World(gravity=machine.gravity))
        total = total + V
    return ([total],)


def accelerated(
    machine: Machine, pose: Flat, velocity: Flat, forces: Flat
) -> tuple[list[Scalar], list[Place], list[LegMotion]]:
    """The platform's acceleration, and the legs at rates without it."""
    rest = [0.0] * machine.motion.nv
    h, places, motions = _model(machine, pose, velocity, rest)
    M = _inertia(machine, machine.motion.pose(pose), places)
    driven = times(transposed(jacobian_rows(machine, places)), forces)
    right = [f - x for f, x in zip(driven, h, strict=True)]
    return solve(factorise(M, _refuse), right), places, motions


# ---- parts


def _model(
    machine: Machine, pose: Flat, velocity: Flat, acceleration: Flat
) -> tuple[list[Scalar], list[Place], list[LegMotion]]:
    """The platform's forces, and the legs as they move then."""
    X, places = machine.places(pose)
    motions = leg_motions(machine, places, velocity, acceleration)
    W = bracket(machine, places, motions, platform_wrench(machine, X, velocity, acceleration))
    return W, places, motions


def _inertia(machine: Machine, X: Pose, places: Sequence[Place]) -> Matrix:
    """M: of the platform, and of each leg by K_i^T A_i K_i with its joints' rates K_i velocity."""
    motion, n = machine.motion, machine.motion.nv
    turned = machine.inertia.seen_from(X.R, ZERO3)
    units = [motion.motion([float(i == j) for i in range(n)]) for j in range(n)]
    M = [motion.force(turned.momentum(unit)) for unit in units]
    for place in places:
        K = [motion.force(w) for w in place.wrenches]
        flat, size = tree_mass.function(place.model.tree, place.q)[0], len(K)
        AK = product([flat[size * k : size * (k + 1)] for k in range(size)], K)
        for i in range(n):
            for j in range(i + 1):
                M[i][j] = M[i][j] + sum((K[k][i] * AK[k][j] for k in range(size)), 0.0)
    return [[M[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]


def _shared(K: Matrix, W: Flat) -> list[Scalar]:
    """Gamma with K^T Gamma = W; the shortest one where there are many."""
    if len(K) == len(W):
        return factorise_square(K, "inverse Jacobian").solve_transposed(W)
    return times(K, solve(_squared(K), W))


def _followed(K: Matrix, rates: Sequence[Flat]) -> Matrix:
    """For each set of rates of actuated joints the platform's velocity; the nearest one where none has them all."""
    if len(K) == len(K[0]):
        factors = factorise_square(K, "inverse Jacobian")
        return [factors.solve(r) for r in rates]
    squared, T = _squared(K), transposed(K)
    return [solve(squared, times(T, r)) for r in rates]


def _squared(K: Matrix) -> LDL:
    """K^T K, factorised."""
    return factorise(product(transposed(K), K), lambda k: LinkwiseError(f"inverse Jacobian: column {k + 1} is zero."))


def _pair(q: object) -> tuple[Scalar, Scalar]:
    return (q.c, q.s) if isinstance(q, Angle) else (q, 0.0)


def _difference(x: Scalar, q: object) -> Scalar:
    """What is left from a joint at `q` to the position x."""
    if not isinstance(q, Angle):
        return x - q
    c, s = cos(x), sin(x)
    return 2.0 * (s * q.c - c * q.s) / (1.0 + c * q.c + s * q.s)


def _refuse(k: int) -> Exception:
    return LinkwiseError(
        "forward_dynamics: expected a platform or legs with inertia in every direction, got none in direction"
        f" {k + 1}. Give the platform a mass and a tensor."
    )
