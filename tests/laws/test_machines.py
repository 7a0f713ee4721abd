"""Laws of every machine: the same functions, with one meaning, whatever leads and whatever follows."""

from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.spatial import Wrench
from support.backends import in_c
from support.every_machine import MIXTURES, SORTS, sort

every = pytest.mark.parametrize("name", SORTS)
HEAVY = {*MIXTURES, "hexapod + arm"}  # long programs: compiled when there is time
large = pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in HEAVY else n for n in SORTS])
H = 2e-3  # of differences, which are taken at H and at H / 2


def close(a, b, tolerance, what=""):
    size = max(1.0, np.abs(b).max(initial=0.0))
    assert np.abs(np.asarray(a) - np.asarray(b)).max(initial=0.0) <= tolerance * size, what


def difference(value):
    """The derivative of value(h) at zero, to fourth order."""
    wide, narrow = ((value(h) - value(-h)) / (2.0 * h) for h in (H, 0.5 * H))
    return (4.0 * narrow - wide) / 3.0


def along(dyn, motion, around, h):
    """The motion and what surrounds the robot a little later, as `inverse_dynamics` takes them, to second order."""
    q, qd, qdd, qddd = motion
    there = [dyn.integrate(q, h * qd + 0.5 * h * h * qdd, 1.0), qd + h * qdd + 0.5 * h * h * qddd, qdd + h * qddd]
    if not around:
        return there
    v, a, jerk, g = around
    w = v[:, 3:]

    def carried(x, x_dot):
        return x + h * (x_dot - np.hstack([np.cross(w, x[:, :3]), np.cross(w, x[:, 3:])]))

    return [*there, carried(v, a), carried(a, jerk), g - h * np.cross(w, g)]


@every
def test_forward_after_inverse(name):
    machine = sort(name)
    dyn, motion, around = machine.dynamics(), machine.states(), machine.surroundings()
    tau = dyn.inverse_dynamics(*motion, *around)
    assert tau.shape == (4, machine.robot.nu)
    assert np.isfinite(tau).all()
    close(dyn.forward_dynamics(*motion[:2], tau, *around), motion[2], 1e-9)


@every
def test_power_of_drives_is_the_rate_of_energy(name):
    machine = sort(name)
    robot = machine.robot.without_friction()
    dyn = lw.compile(robot)
    q, qd, qdd = machine.states()
    # with tau = M qdd + h at what leads: T_dot + V_dot = qd . force
    force = np.einsum("bij,bj->bi", dyn.mass_matrix(q), qdd) + dyn.bias_forces(q, qd)
    J = dyn.drive_jacobian(q)
    close(np.einsum("bij,bi->bj", J, dyn.inverse_dynamics(q, qd, qdd)), force, 1e-8)

    def energy(h):
        there, speed = dyn.integrate(q, h * qd + 0.5 * h * h * qdd, 1.0), qd + h * qdd
        return dyn.kinetic_energy(there, speed) + dyn.potential_energy(there)

    close(difference(energy), (force * qd).sum(axis=1), 1e-7)


@every
def test_external_wrenches_do_virtual_work(name):
    machine = sort(name)
    dyn = machine.dynamics(external=(machine.pushed,))
    motion, around = machine.states(), machine.surroundings()
    f = np.random.default_rng(2).uniform(-5.0, 5.0, (4, 1, 6))
    change = dyn.inverse_dynamics(*motion, f, *around) - dyn.inverse_dynamics(*motion, 0.0 * f, *around)
    J = lw.compile(machine.robot).jacobian(motion[0], machine.pushed, axes="local")
    at_leads = np.einsum("bij,bi->bj", dyn.drive_jacobian(motion[0]), change)
    close(at_leads, -np.einsum("bij,bi->bj", J, f[:, 0]), 1e-9)


@every
def test_force_laws_are_external_wrenches(name):
    machine = sort(name)

    def law(pose, velocity):
        return Wrench(pose.p * -30.0 + velocity.linear * -2.0, velocity.angular * -0.5)

    motion, around = machine.states(), machine.surroundings()
    by_law = machine.dynamics(forces={machine.pushed: law}).inverse_dynamics(*motion, *around)
    plain = machine.dynamics()
    base = around[:1]
    p = lw.compile(machine.robot).pose(motion[0], machine.pushed)[:, :3, 3]
    v = plain.velocity(*motion[:2], machine.pushed, *base, *(() if not base else around[1:2]), axes="local")
    f = np.concatenate([-30.0 * p - 2.0 * v[:, :3], -0.5 * v[:, 3:]], axis=1)
    pushed = machine.dynamics(external=(machine.pushed,)).inverse_dynamics(*motion, f[:, None], *around)
    close(by_law, pushed, 1e-9)


@every
def test_wrenches_leave_nothing_to_passive_joints(name):
    """Along axes of joints that nothing drives, wrenches are what friction and springs take; a platform floats free."""
    machine = sort(name)
    robot = machine.robot.replace(
        joints=[replace(j, friction=lw.Friction(), spring=None) for j in machine.robot.joints]
    )
    dyn = replace(machine, robot=robot).dynamics()
    motion, around = machine.states(), machine.surroundings()
    found = dyn.joint_wrenches(*motion, *around)
    close(found.tau, dyn.inverse_dynamics(*motion, *around), 1e-9)
    opened, active = robot.opened(), {n for loop in robot.loops for n in loop.active}
    if not robot.loops:
        return
    assert found.cut.shape == (4, len(robot.loops), 6)
    lead = set(robot.drives) | active
    for row, link in enumerate(robot.moving_links):
        joint = next(j for j in opened.joints if j.child == link)
        if joint.name in lead or joint.is_elastic:
            continue
        if joint.freedom.nv == 6:
            close(found.wrench[:, row], 0.0, 1e-8, joint.name)
        elif joint.freedom.is_single:
            axis = np.array([*joint.axis])
            part = found.wrench[:, row, 3:] if joint.freedom.turns else found.wrench[:, row, :3]
            close(part @ axis, 0.0, 1e-8, joint.name)


@every
def test_numbers_of_the_model_as_inputs(name):
    machine = sort(name)
    link = machine.robot.link(machine.pushed)
    path = f"{machine.pushed}.mass"
    motion, around = machine.states(), machine.surroundings()
    heavier = replace(machine, robot=machine.robot.replace(replace(link, mass=link.mass + 1.5)))
    extra = [np.array([link.mass + 1.5])]
    inputs = [*motion, *around[:2], *extra, *around[2:]]
    close(
        machine.dynamics(parameters=(path,)).inverse_dynamics(*inputs),
        heavier.dynamics().inverse_dynamics(*motion, *around),
        1e-9,
    )


@large
def test_rates_of_torques_and_wrenches(name):
    machine = sort(name)
    dyn, motion, around = machine.dynamics(), machine.states(order=3), machine.surroundings(order=1)
    found = dyn.force_rates(*motion, *around)
    close(found.tau_dot, difference(lambda h: dyn.inverse_dynamics(*along(dyn, motion, around, h))), 1e-6)
    rates = dyn.joint_wrench_rates(*motion, *around)
    close(rates.tau_dot, found.tau_dot, 1e-9)
    for field in ("wrench", "cut")[: 1 + bool(machine.robot.loops)]:
        slope = difference(lambda h: getattr(dyn.joint_wrenches(*along(dyn, motion, around, h)), field))  # noqa: B023
        close(getattr(rates, f"{field}_dot"), slope, 1e-6, field)


def moved(dyn, motion, which, k, h):
    """The state with one number of one vector changed, positions along a tangent vector."""
    unit = np.eye(motion[1].shape[1])[k] * h
    changed = list(motion)
    changed[which] = dyn.integrate(motion[0], unit, 1.0) if which == 0 else motion[which] + unit
    return changed


def by_differences(function, dyn, motion, which, width):
    columns = [difference(lambda h: function(*moved(dyn, motion, which, k, h))) for k in range(width)]  # noqa: B023
    return np.stack(columns, axis=-1)


@every
def test_derivatives_of_inverse_dynamics(name):
    machine = sort(name)
    dyn, motion, around = machine.dynamics(), machine.states(2), machine.surroundings(2)
    found = dyn.inverse_dynamics_derivatives(*motion, *around)

    def torques(*state):
        return dyn.inverse_dynamics(*state, *around)

    for which, x in enumerate(found):
        assert x.shape == (2, machine.robot.nu, machine.robot.nv)
        close(x, by_differences(torques, dyn, motion, which, machine.robot.nv), 1e-6, which)


@large
def test_derivatives_of_wrenches(name):
    machine = sort(name)
    dyn, motion, around = machine.dynamics(), machine.states(1), machine.surroundings(1)
    found = dyn.joint_wrench_derivatives(*motion, *around)
    for field in ("wrench", "cut")[: 1 + bool(machine.robot.loops)]:
        for which, x in enumerate(("q", "qd", "qdd")):

            def wrenches(*state):
                return getattr(dyn.joint_wrenches(*state, *around), field)  # noqa: B023

            slopes = by_differences(wrenches, dyn, motion, which, machine.robot.nv)
            close(getattr(found, f"d{field}_d{x}"), slopes, 1e-6, (field, x))


@large
def test_derivatives_of_forward_dynamics_and_linearization(name):
    machine = sort(name)
    dyn, motion, around = machine.dynamics(), machine.states(2), machine.surroundings(2)
    tau = dyn.inverse_dynamics(*motion, *around)
    state = [*motion[:2], tau]
    found = dyn.forward_dynamics_derivatives(*state, *around)

    def accelerations(*at):
        return dyn.forward_dynamics(*at, *around)

    widths = (machine.robot.nv, machine.robot.nv, machine.robot.nu)
    for which, x in enumerate(found):
        changed = [*motion[:2], tau]
        if which == 2:
            slopes = np.stack(
                [
                    difference(lambda h: accelerations(*motion[:2], tau + h * np.eye(widths[2])[k]))  # noqa: B023
                    for k in range(widths[2])
                ],
                axis=-1,
            )
        else:
            slopes = by_differences(accelerations, dyn, changed, which, widths[which])
        close(x, slopes, 2e-6, which)
    A, B = dyn.linearization(*state, *around)
    n = machine.robot.nv
    close(A[:, n:, :n], found[0], 1e-9)
    close(B[:, n:], found[2], 1e-9)


@every
def test_regressor_times_parameters(name):
    machine = sort(name)
    robot = machine.robot.replace(joints=[replace(j, spring=None) for j in machine.robot.joints])
    machine = replace(machine, robot=robot)
    motion, around = machine.states(), machine.surroundings()
    # springs of elastic drives are no parameters: what is left of a robot without inertia and friction
    joints = [replace(j, friction=lw.Friction(), armature=0.0) for j in robot.joints]
    bare = replace(machine, robot=robot.replace(joints=joints, links=[lw.Link(k.name) for k in robot.links]))
    dyn = machine.dynamics()
    torques = dyn.inverse_dynamics(*motion, *around) - bare.dynamics().inverse_dynamics(*motion, *around)
    close(dyn.regressor(*motion, *around) @ robot.parameters(), torques, 1e-9)


@large
def test_base_parameters_are_the_rank_of_a_stacked_regressor(name):
    machine = sort(name)
    robot = machine.robot
    base = lw.base_parameters(robot)
    wide = replace(machine, base_motion=False)
    motion = wide.states(60 + 4 * len(robot.parameter_names) // robot.nu)
    motion[1:] = [3.0 * x for x in motion[1:]]
    Y = lw.compile(robot).regressor(*motion)
    flat = Y.reshape(-1, Y.shape[-1])
    size = np.linalg.norm(flat, axis=0)
    scaled = flat / np.where(size > 1e-9 * size.max(), size, np.inf)
    steps = np.linalg.svd(scaled, compute_uv=False)
    gap = steps[: len(base) + 1]
    assert len(base) == len(steps) or gap[-1] < 1e-3 * gap[-2], gap[-3:]
    theta = robot.parameters()
    close(base.regressor(*motion) @ base.values, Y @ theta, 1e-6)


@pytest.mark.slow
@every
def test_c_source_computes_the_same(name, tmp_path):
    machine = sort(name)
    kernel = machine.dynamics().inverse_dynamics
    inputs = [*machine.states(3), *machine.surroundings(3)]
    close(in_c(tmp_path, kernel.program)(*inputs), kernel(*inputs), 1e-11)
