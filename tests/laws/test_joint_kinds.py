"""Laws and second routes on trees of joints of every kind."""

import numpy as np
import pytest

import linkwise as lw

KINDS = ("revolute", "spherical", "translation", "prismatic", "screw", "planar", "universal")


@pytest.fixture(scope="module", params=range(4))
def case(request):
    seed = request.param
    robot = lw.random_tree(seed + 20, 4, kinds=KINDS, floating=seed == 3, friction=0.3, armature=0.3)
    rng = np.random.default_rng(seed)
    q = rng.normal(size=robot.nq)
    for slot in robot.slots.values():
        if (at := slot.quaternion) is not None:
            q[at] /= np.linalg.norm(q[at])
    return robot, lw.compile(robot), q, *rng.normal(size=(3, robot.nv))


def close(a, b, relative=1e-10):
    np.testing.assert_allclose(a, b, rtol=0, atol=relative * max(1.0, np.abs(b).max()))


ROUTES = {
    "inverse_dynamics_derivatives": ("recursion", "graph"),
    "joint_wrench_derivatives": ("recursion", "graph"),
    "kinematics_derivatives": ("recursion", "graph"),
    "forward_dynamics": ("inertia", "articulated"),
    "forward_dynamics_derivatives": ("recursion", "graph"),
    "force_rates": ("recursion", "series"),
    "joint_wrench_rates": ("recursion", "series"),
}


@pytest.mark.parametrize("name", ROUTES)
def test_two_routes_agree(case, name):
    robot, dyn, q, qd, qdd, qddd = case
    given = {"q": q, "qd": qd, "qdd": qdd, "qddd": qddd, "tau": 10.0 * qdd}
    bound = max(1e-10, 1e-14 * np.linalg.cond(dyn.mass_matrix(q)))
    kernels = [lw.compile(robot, getattr(lw.algorithms, name), route=route) for route in ROUTES[name]]
    first, second = (k(*(given[x] for x in k.inputs)) for k in kernels)
    for a, b in zip(*((x if isinstance(x, tuple) else (x,)) for x in (first, second)), strict=True):
        close(a, b, bound)


def test_energy_and_power(case):
    """Kinetic energy is qd^T M qd / 2, gravity forces are the slope of potential energy, power in is its rate."""
    robot, dyn, q, qd, qdd, _ = case
    M = dyn.mass_matrix(q)
    close(dyn.kinetic_energy(q, qd), 0.5 * qd @ M @ qd)
    close(M, M.T)
    step = 1e-6
    ahead, behind = (dyn.integrate(q, qd, s) for s in (step, -step))
    slope = (dyn.potential_energy(ahead) - dyn.potential_energy(behind)) / (2.0 * step)
    close(dyn.gravity_forces(q) @ qd, slope, 1e-7)
    ideal = lw.compile(robot.without_friction())
    energy = [dyn.kinetic_energy(x, v) + dyn.potential_energy(x)
              for x, v in ((ahead, qd + step * qdd), (behind, qd - step * qdd))]  # fmt: skip
    close(ideal.inverse_dynamics(q, qd, qdd) @ qd, (energy[0] - energy[1]) / (2.0 * step), 1e-6)


def test_matrices_and_regressor(case):
    robot, dyn, q, qd, qdd, _ = case
    C = dyn.coriolis_matrix(q, qd)
    ideal = lw.compile(robot.without_friction())
    close(C @ qd + dyn.gravity_forces(q), ideal.bias_forces(q, qd))
    step = 1e-6
    ahead, behind = (dyn.mass_matrix(dyn.integrate(q, qd, s)) for s in (step, -step))
    skew = (ahead - behind) / (2.0 * step) - 2.0 * C
    if not any(s.kind.curved for s in robot.slots.values()):  # where M_dot is the rate of M's own components
        close(skew, -skew.T, 1e-6)
    parameters = robot.without_friction().parameters()
    close(ideal.regressor(q, qd, qdd) @ parameters, ideal.inverse_dynamics(q, qd, qdd))
    tau, wrench = dyn.joint_wrenches(q, qd, qdd)
    assert wrench.shape == (len(robot.moving_links), 6)
    assert dyn.poses(q).shape == (len(robot.moving_links), 4, 4)
    qdd_again, tau_again, _ = lw.compile(robot, lw.hybrid_dynamics, driven=robot.names[:2])(
        q, qd, np.where([v in driven(robot) for v in range(robot.nv)], qdd, tau)
    )
    close(qdd_again, qdd, 1e-7)
    close(tau_again, tau, 1e-7)


def driven(robot):
    slots = [robot.slots[name] for name in robot.names[:2]]
    return {v for s in slots for v in range(s.v, s.v + s.nv)}


def test_locking_keeps_the_place(case):
    """A joint locked where it stands leaves the links where they are."""
    robot, dyn, q, *_ = case
    name = robot.names[1]
    locked = robot.lock(name, at=q)
    keep = np.ones(robot.nq, dtype=bool)
    slot = robot.slots[name]
    keep[slot.q : slot.q + slot.nq] = False
    close(lw.compile(locked).pose(q[keep], "tool"), dyn.pose(q, "tool"), 1e-12)
