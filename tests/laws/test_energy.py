"""Inertia, gravity and energy."""

import numpy as np
import pytest

import linkwise as lw
from support.trees import SEEDS, dynamics, error, gradient, ideal, moving, rate_along, states, tree

pytestmark = pytest.mark.parametrize("seed", SEEDS)


def test_torque_is_affine_in_acceleration(seed):
    """tau = M qdd + h."""
    robot = tree(seed)
    dyn, (q, qd, qdd) = dynamics(robot), states(robot)
    tau = np.einsum("bij,bj->bi", dyn.mass_matrix(q), qdd) + dyn.bias_forces(q, qd)
    assert error(dyn.inverse_dynamics(q, qd, qdd), tau) < 1e-13


def test_slope_of_torque_is_the_mass_matrix(seed):
    """dtau/dqdd = M, column by column."""
    robot = tree(seed)
    dyn, (q, qd, qdd) = dynamics(robot), states(robot)
    q, qd, qdd = (x[:, None, :] for x in (q, qd, qdd))
    step = dyn.inverse_dynamics(q, qd, qdd + 100.0 * np.eye(robot.nv)) - dyn.inverse_dynamics(q, qd, qdd)
    assert error(step.swapaxes(1, 2) / 100.0, dyn.mass_matrix(q[:, 0])) < 1e-13


def test_mass_matrix_is_symmetric_and_positive(seed):
    """M = M^T > 0."""
    robot = tree(seed)
    q, _, _ = states(robot, 64)
    M = dynamics(robot).mass_matrix(q)
    assert error(M.swapaxes(1, 2), M) < 1e-15
    assert np.linalg.eigvalsh(M).min() > 1e-6


def test_kinetic_energy_is_the_form_of_the_mass_matrix(seed):
    """T = qd^T M qd / 2, with motors, armatures and mimic joints."""
    robot = tree(seed)
    dyn, (q, qd, _) = dynamics(robot), states(robot)
    form = 0.5 * np.einsum("bi,bij,bj->b", qd, dyn.mass_matrix(q), qd)
    assert error(dyn.kinetic_energy(q, qd), form) < 1e-13


def test_coriolis_matrix_leaves_a_skew_matrix(seed):
    """M_dot - 2 C is skew-symmetric along the motion."""
    robot = tree(seed)
    q, qd, _ = states(robot, 3)
    C = dynamics(robot).coriolis_matrix(q, qd)
    for k in range(len(q)):
        M_dot = rate_along(robot, lambda q: lw.mass_matrix.plain(robot, q), q[k], qd[k]).reshape(C[k].shape)
        assert error(C[k] + C[k].T, M_dot) < 1e-12


def test_coriolis_and_gravity_are_the_bias(seed):
    """C qd + g = h without friction and springs."""
    robot = ideal(seed)
    dyn, (q, qd, _) = dynamics(robot), states(robot)
    h = np.einsum("bij,bj->bi", dyn.coriolis_matrix(q, qd), qd) + dyn.gravity_forces(q)
    assert error(h, dyn.bias_forces(q, qd)) < 1e-13


def test_gravity_torque_is_the_gradient_of_potential_energy(seed):
    """g = dV/dq, of the masses; springs add theirs to the torque at rest."""
    free, sprung = ideal(seed), tree(seed, friction=0.0)
    q, _, _ = states(free, 3)
    rest = np.zeros((3, free.nv))
    for robot, tau in (
        (free, dynamics(free).gravity_forces(q)),
        (sprung, dynamics(sprung).inverse_dynamics(q, rest, rest)),
    ):
        dV = [gradient(robot, lambda q, r=robot: lw.algorithms.potential_energy.plain(r, q), x)[0] for x in q]
        assert error(tau, dV) < 1e-13


def test_power_is_the_rate_of_energy_and_losses(seed):
    """tau . qd = d/dt (T + V) + what friction and dampers take."""
    robot = tree(seed)
    dyn, (q, qd, qdd) = dynamics(robot), states(robot, 5)
    tau = dyn.inverse_dynamics(q, qd, qdd)

    def energy(q, qd):
        return lw.algorithms.kinetic_energy.plain(robot, q, qd)[0] + lw.algorithms.potential_energy.plain(robot, q)[0]

    for k in range(len(q)):
        taken = float(rate_along(robot, energy, q[k], qd[k], qdd[k])) + losses(robot, qd[k])
        assert abs(tau[k] @ qd[k] - taken) < 1e-13 * np.abs(tau[k] * qd[k]).sum()


def losses(robot, qd):
    """Power that friction and dampers take, from the laws as they are written."""
    total = 0.0
    for joint, slot, ratio, _ in moving(robot):
        if slot.nv == 1:
            v = ratio * qd[slot.v]
            total += friction_torque(joint.friction, v) * v
            if joint.spring:
                total += joint.spring.damping * v * v
            if joint.drive:
                spin = joint.drive.gear * v
                total += friction_torque(joint.drive.friction, spin) * spin
    return total


def friction_torque(law, v):
    level, step = law.coulomb, np.tanh(v / law.width)
    if law.law == "coulomb":
        step = np.sign(v)
    if law.law == "stribeck":
        level += (law.static - law.coulomb) * np.exp(-((v / law.stribeck) ** 2))
    return law.viscous * v + level * step
