"""Robots with elastic drives: motors with coordinates of their own, on any link."""

from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.algorithms.coriolis import reference_forces
from linkwise.robot.tree import Tree
from support.elastic import elastic_tree, hua_arm, ideal_elastic_tree, tied, with_free_motors
from support.trees import STEP, dynamics, error, gradient, rate_along, states

SEEDS = range(6)


def sprung(robot, q, qd):
    """For each elastic drive: places of joint and motor, ratio, spring torque, its damping and stretch rates."""
    for j in robot.joints:
        if j.is_elastic:
            joint, motor = robot.slots[j.mimic.joint if j.mimic else j.name], robot.slots[j.motor_name]
            ratio, offset = (j.mimic.ratio, j.mimic.offset) if j.mimic else (1.0, 0.0)
            stretch = q[..., motor.q] - ratio * q[..., joint.q] - offset
            slip = qd[..., motor.v] - ratio * qd[..., joint.v]
            yield j, joint, motor, ratio, stretch, slip


# ---- coordinates


def test_coordinates_are_joints_then_motors():
    robot = hua_arm()
    assert robot.names == ("joint1", "joint2", "joint3")
    assert robot.coordinates == ("joint1", "joint2", "joint3", "joint3.motor")
    assert (robot.nq, robot.nv) == (4, 4)
    assert robot.motors.tolist() == [0, 1, 3]
    assert robot.rigid().coordinates == robot.names


def test_vectors_by_name():
    """Motors go with their joints unless named; torques of drives act on motors."""
    robot = hua_arm()
    assert robot.q({"joint3": 0.2}).tolist() == [0.0, 0.0, 0.2, 0.2]
    assert robot.q({"joint3": 0.2, "joint3.motor": 0.3}).tolist() == [0.0, 0.0, 0.2, 0.3]
    assert robot.q([0.1, 0.2, 0.3]).tolist() == [0.1, 0.2, 0.3, 0.3]
    assert robot.v([0.1, 0.2, 0.3]).tolist() == [0.1, 0.2, 0.3, 0.3]
    assert robot.tau({"joint3": 5.0}).tolist() == [0.0, 0.0, 0.0, 5.0]
    assert robot.tau([[1.0, 2.0, 3.0]]).tolist() == [[1.0, 2.0, 0.0, 3.0]]
    with pytest.raises(lw.InputError, match="expected 3 torques"):
        robot.tau([1.0, 2.0, 3.0, 4.0])
    with pytest.raises(lw.InputError, match=r"'joint3' and 'joint3\.motor' are the same drive\. Name it once"):
        robot.tau({"joint3": 5.0, "joint3.motor": 1.0})
    for odd in ("much", None, [[1.0], [2.0, 3.0]]):
        with pytest.raises(lw.InputError, match="expected 3 torques"):
            robot.tau(odd)
    with pytest.raises(lw.UnknownNameError, match=r"'joint3\.motor'"):
        robot.q({"joint3.motr": 0.0})


def test_motors_of_mimicking_joints_follow_what_they_drive():
    robot = elastic_tree(5, mimic=0.5, elastic=1.0)
    follower = next(j for j in robot.joints if j.mimic and j.is_elastic)
    q, v = robot.q({follower.mimic.joint: 0.4}), robot.v({follower.mimic.joint: 0.4})
    slot = robot.slots[follower.motor_name]
    assert q[slot.q] == pytest.approx(0.4 * follower.mimic.ratio + follower.mimic.offset)
    assert v[slot.v] == pytest.approx(0.4 * follower.mimic.ratio)


def test_a_joint_named_as_a_motor_is_refused():
    links = [lw.Link("a"), lw.Link("b", 1.0), lw.Link("c", 1.0)]
    joints = [
        lw.Joint("elbow", "a", "b", armature=0.1, drive=lw.Drive(stiffness=10.0)),
        lw.Joint("elbow.motor", "b", "c"),
    ]
    with pytest.raises(lw.ModelError, match=r"'elbow\.motor'.*Rename"):
        lw.Robot(links, joints)


@pytest.mark.parametrize("seed", SEEDS)
def test_steps_between_configurations(seed):
    robot = elastic_tree(seed)
    q, qd, _ = states(robot)
    moved = dynamics(robot).integrate(q, qd, 0.1)
    assert error(dynamics(robot).difference(q, moved), 0.1 * qd) < 1e-12
    motors = [robot.slots[n].q for n in robot.coordinates[len(robot.names) :]]
    assert error(dynamics(robot).q_dot(q, qd)[:, motors], qd[:, -len(motors) :]) < 1e-15


# ---- inertia, energy, power


@pytest.mark.parametrize("seed", SEEDS)
def test_torque_is_affine_in_acceleration(seed):
    robot = elastic_tree(seed)
    dyn, (q, qd, qdd) = dynamics(robot), states(robot)
    M = dyn.mass_matrix(q)
    assert error(np.einsum("bij,bj->bi", M, qdd) + dyn.bias_forces(q, qd), dyn.inverse_dynamics(q, qd, qdd)) < 1e-13
    assert error(lw.compile(robot, lw.algorithms.unit_accelerations)(q), M) < 1e-13
    assert np.linalg.eigvalsh(M).min() > 1e-6
    assert error(dyn.kinetic_energy(q, qd), 0.5 * np.einsum("bi,bij,bj->b", qd, M, qd)) < 1e-13


@pytest.mark.parametrize("seed", SEEDS)
def test_coriolis_matrix_leaves_a_skew_matrix(seed):
    robot = ideal_elastic_tree(seed)
    q, qd, _ = states(robot, 2)
    C = dynamics(robot).coriolis_matrix(q, qd)
    for k in range(len(q)):
        M_dot = rate_along(robot, lambda q: lw.mass_matrix.plain(robot, q), q[k], qd[k]).reshape(C[k].shape)
        assert error(C[k] + C[k].T, M_dot) < 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_forces_at_rest_are_the_gradient_of_potential_energy(seed):
    """Gravity, passive springs and springs of drives."""
    robot = elastic_tree(seed, friction=0.0)
    q, qd, _ = states(robot, 3)
    at_rest = dynamics(robot).bias_forces(q, 0.0 * qd)
    for k in range(len(q)):
        slope = gradient(robot, lambda q: [lw.algorithms.potential_energy.plain(robot, q)[0]], q[k])[0]
        assert error(at_rest[k], slope) < 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_power_is_the_rate_of_energy(seed):
    """tau . qd = d/dt (T + V) without losses."""
    robot = ideal_elastic_tree(seed)
    q, qd, qdd = states(robot, 3)
    power = np.einsum("bi,bi->b", dynamics(robot).inverse_dynamics(q, qd, qdd), qd)
    for k in range(len(q)):
        T = rate_along(robot, lambda q, qd: [lw.algorithms.kinetic_energy.plain(robot, q, qd)[0]], q[k], qd[k], qdd[k])
        V = rate_along(robot, lambda q: [lw.algorithms.potential_energy.plain(robot, q)[0]], q[k], qd[k])
        assert abs(power[k] - T[0] - V[0]) < 1e-11 * (abs(power[k]) + abs(T[0]) + abs(V[0]))


@pytest.mark.parametrize("seed", SEEDS)
def test_losses_of_drives(seed):
    """The robot with losses needs the power of the ideal one, and what dampers and friction of both sides take."""
    robot, (q, qd, qdd) = elastic_tree(seed, springs=0.0), states(elastic_tree(seed, springs=0.0))
    more = dynamics(robot).inverse_dynamics(q, qd, qdd) - dynamics(robot.without_friction()).inverse_dynamics(
        q, qd, qdd
    )
    expected = np.zeros_like(more)
    for j, joint, motor, ratio, _, slip in sprung(robot, q, qd):
        expected[:, motor.v] += j.drive.damping * slip
        expected[:, joint.v] -= j.drive.damping * slip * ratio
    for j in robot.joints:
        if j.kind in ("revolute", "prismatic"):
            joint, ratio = robot.slots[j.mimic.joint if j.mimic else j.name], j.mimic.ratio if j.mimic else 1.0
            expected[:, joint.v] += ratio * np.vectorize(j.friction.torque)(ratio * qd[:, joint.v])
            if j.drive:
                on, scale = (robot.slots[j.motor_name], 1.0) if j.is_elastic else (joint, ratio)
                shaft = np.vectorize(j.drive.friction.torque)(j.drive.gear * scale * qd[:, on.v])
                expected[:, on.v] += j.drive.gear * scale * shaft
    assert np.abs(more - expected).max() < 1e-12 * np.abs(dynamics(robot).inverse_dynamics(q, qd, qdd)).max()


@pytest.mark.parametrize("seed", SEEDS)
def test_momentum_is_that_of_the_columns(seed):
    robot = elastic_tree(seed)
    dyn, (q, qd, _) = dynamics(robot), states(robot)
    assert error(np.einsum("bij,bj->bi", dyn.centroidal_matrix(q), qd), dyn.centroidal_momentum(q, qd)) < 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_torque_is_linear_in_the_parameters(seed):
    """Y @ parameters, with friction of motors behind springs; springs are not in it."""
    robot = elastic_tree(seed, springs=0.0)
    joints = [
        replace(
            j,
            friction=replace(j.friction, law="coulomb"),
            drive=j.drive and replace(j.drive, damping=0.0, friction=replace(j.drive.friction, law="coulomb")),
        )
        for j in robot.joints
    ]
    robot = robot.replace(joints=joints)
    dyn, (q, qd, qdd) = dynamics(robot), states(robot)
    tau = dyn.inverse_dynamics(q, qd, qdd)
    for j, joint, motor, ratio, stretch, _ in sprung(robot, q, qd):
        tau[:, motor.v] -= j.drive.stiffness * stretch
        tau[:, joint.v] += j.drive.stiffness * stretch * ratio
    assert len(robot.parameter_names) == len(robot.parameters()) == dyn.regressor.outputs["Y"][1]
    assert error(dyn.regressor(q, qd, qdd) @ robot.parameters(), tau) < 1e-11


# ---- against the rigid robot


@pytest.mark.parametrize("seed", SEEDS)
def test_motors_tied_to_their_joints_make_the_rigid_robot(seed):
    """P^T tau(P q, P qd, P qdd) and P^T M P, P = [1; which joint], are those of robot.rigid()."""
    robot = elastic_tree(seed)
    rigid, P = robot.rigid(), tied(robot)
    q, qd, qdd = states(rigid)
    full = np.array([robot.q(x) for x in q]), qd @ P.T, qdd @ P.T
    for found, expected in (
        (dynamics(robot).inverse_dynamics(*full) @ P, dynamics(rigid).inverse_dynamics(q, qd, qdd)),
        (P.T @ dynamics(robot).mass_matrix(full[0]) @ P, dynamics(rigid).mass_matrix(q)),
        (dynamics(robot).kinetic_energy(*full[:2]), dynamics(rigid).kinetic_energy(q, qd)),
        (dynamics(robot).potential_energy(full[0]), dynamics(rigid).potential_energy(q)),
        (dynamics(robot).joint_wrenches(*full).wrench, dynamics(rigid).joint_wrenches(q, qd, qdd).wrench),
    ):
        assert error(found, expected) < 1e-12


@pytest.mark.parametrize("seed", range(3))
def test_stiffness_to_infinity_is_the_rigid_robot(seed):
    """The torques of a motion of the links differ from the rigid robot's by a term of first order in 1/K."""
    soft = with_free_motors(seed, mount="base", floating=False, friction=0.0)
    rng = np.random.default_rng(seed)
    motion = rng.normal(size=(5, len(soft.names)))
    rigid = dynamics(soft.rigid()).inverse_dynamics(*motion[:3])
    errors = []
    for scale in (1e2, 1e3, 1e4, 1e5):
        joints = [
            replace(j, drive=replace(j.drive, stiffness=j.drive.stiffness * scale)) if j.is_elastic else j
            for j in soft.joints
        ]
        tau = lw.compile(soft.replace(joints=joints)).elastic_feedforward(*motion).tau
        errors.append(np.abs(tau - rigid).max())
    ratios = np.array(errors[:-1]) / np.array(errors[1:])
    assert np.abs(ratios - 10.0).max() < 0.01


# ---- forward and mixed dynamics


@pytest.mark.parametrize("seed", SEEDS)
def test_forward_after_inverse(seed):
    """Motors of rigid drives on links, joints that mimic: by the inertia matrix, and by Hua's columns."""
    robot = elastic_tree(seed)
    q, qd, qdd = states(robot)
    tau = dynamics(robot).inverse_dynamics(q, qd, qdd)
    assert error(dynamics(robot).forward_dynamics(q, qd, tau), qdd) < 1e-9
    found = lw.compile(robot, lw.algorithms.forward_by_columns)(q, qd, tau)
    assert error(found.qdd, qdd) < 1e-9
    assert error(found.zeta, dynamics(robot).inverse_dynamics(q, qd, 0.0 * qdd)) < 1e-13


@pytest.mark.parametrize("seed", SEEDS)
def test_forward_after_inverse_with_base_motion_and_wrenches(seed):
    robot = with_free_motors(seed)
    q, qd, qdd = states(robot)
    rng = np.random.default_rng(seed)
    extra = rng.normal(size=(1, 6)) * 10.0, *rng.normal(size=(2, 6))
    options = {"external": ("tool",), "base_motion": True}
    tau = lw.compile(robot, lw.inverse_dynamics, **options)(q, qd, qdd, *extra)
    for route in ("inertia", "articulated"):
        back = lw.compile(robot, lw.forward_dynamics, route=route, **options)(q, qd, tau, *extra)
        assert error(back, qdd) < 1e-9, route
    found = lw.compile(robot, lw.algorithms.forward_by_columns, **options)(q, qd, tau, *extra)
    assert error(found.qdd, qdd) < 1e-9
    assert error(found.zeta, lw.compile(robot, lw.inverse_dynamics, **options)(q, qd, 0.0 * qdd, *extra)) < 1e-13


@pytest.mark.parametrize("mount", ["any", "parent", "base"])
@pytest.mark.parametrize("seed", range(4))
def test_every_mix_of_known_and_unknown(seed, mount):
    """Joints and motors driven or free, by both routes; the recursion over bodies knows motors on any link."""
    robot = with_free_motors(seed, mount=mount)
    q, qd, qdd = states(robot)
    tau, wrench = dynamics(robot).joint_wrenches(q, qd, qdd)
    for driven in ((), robot.coordinates, robot.coordinates[::2], robot.names):
        places = [robot.slots[n].v + k for n in driven for k in range(robot.slots[n].nv)]
        given = tau.copy()
        given[:, places] = qdd[:, places]
        for route in ("articulated", "inertia"):
            found = lw.compile(robot, lw.hybrid_dynamics, driven=driven, route=route)(q, qd, given)
            assert error(found.qdd, qdd) < 1e-10
            assert error(found.tau, tau) < 1e-10
            assert error(found.wrench, wrench) < 1e-10


def test_a_motor_without_inertia_is_named():
    links = [lw.Link("ground"), lw.Link("arm", 1.0, (0.1, 0, 0), (1, 1, 1))]
    robot = lw.Robot(links, [lw.Joint("elbow", "ground", "arm", drive=lw.Drive(stiffness=100.0))])
    for route in ("inertia", "articulated"):
        with pytest.raises(lw.LinkwiseError, match="joint 'elbow': the motor of its elastic drive has no inertia"):
            lw.compile(robot, lw.forward_dynamics, route=route)
    with pytest.raises(lw.LinkwiseError, match="motor of its elastic drive"):
        lw.compile(robot, lw.algorithms.forward_by_columns)
    assert np.isfinite(lw.compile(robot).inverse_dynamics(*np.ones((3, 2)))).all()
    driven = lw.compile(robot, lw.hybrid_dynamics, driven=("elbow.motor",))  # its motion known, nothing is missing
    assert np.isfinite(driven(*np.ones((3, 2))).qdd).all()


def test_a_link_that_has_its_rotor_only():
    """A body whose inertia about its joint is all in a rotor that turns freely on it has none to itself."""
    motor = lw.Motor("hub", mass=1.0, inertia=(1e-3, 1e-3, 2e-3), rotor=2e-3)
    links = [lw.Link("ground"), lw.Link("hub"), lw.Link("arm", 1.0, (0.0, 0.0, 0.2), (0.02, 0.02, 0.0))]
    joints = [
        lw.Joint("turn", "ground", "hub"),
        lw.Joint("roll", "hub", "arm", drive=lw.Drive(motor, gear=3.0, stiffness=50.0)),
    ]
    robot = lw.Robot(links, joints)
    for route in ("inertia", "articulated"):
        with pytest.raises(lw.LinkwiseError, match=r"joint '(turn|roll)': the free link .* no inertia along"):
            lw.compile(robot, lw.forward_dynamics, route=route)


def test_schemes_without_elastic_drives_say_so():
    for algorithm in (lw.algorithms.inbound_outbound, lw.algorithms.elastic_inverse):
        with pytest.raises(lw.LinkwiseError, match=r"elastic|rigid"):
            lw.compile(with_free_motors(0, floating=False, springs=0.0), algorithm)


# ---- parts of the equations


@pytest.mark.parametrize("seed", SEEDS)
def test_blocks_are_the_equations(seed):
    """[M S; S^T B] xdd + [c + g; c_motor] = tau without springs and losses; B diagonal, C1 bilinear and powerless."""
    robot = ideal_elastic_tree(seed)
    dyn, (q, qd, qdd) = dynamics(robot), states(robot)
    b = dyn.elastic_blocks(q, qd)
    n = b.M.shape[-1]
    A = np.concatenate([np.concatenate([b.M, b.S], -1), np.concatenate([b.S.swapaxes(1, 2), b.B], -1)], 1)
    tau = np.einsum("bij,bj->bi", A, qdd) + np.concatenate([b.c + b.g, b.c_motor], 1)
    for j, joint, motor, ratio, stretch, _ in sprung(robot, q, qd):
        tau[:, motor.v] += j.drive.stiffness * stretch
        tau[:, joint.v] -= j.drive.stiffness * stretch * ratio
    assert error(tau, dyn.inverse_dynamics(q, qd, qdd)) < 1e-12
    assert np.abs(b.B - np.einsum("bii->bi", b.B)[:, None, :] * np.eye(b.B.shape[-1])).max() == 0.0
    still = qd * (np.arange(robot.nv) < n)  # motors at rest
    more = b.c - dyn.elastic_blocks(q, still).c  # D(q, thetad) qd
    assert np.abs(np.einsum("bi,bi->b", more, qd[:, :n])).max() < 1e-11 * max(1.0, np.abs(b.c).max())


def test_blocks_are_of_elastic_robots():
    for algorithm in (lw.algorithms.elastic_blocks, lw.algorithms.elastic_feedforward):
        with pytest.raises(lw.LinkwiseError, match="expected a robot with elastic drives"):
            lw.compile(hua_arm().rigid(), algorithm)


@pytest.mark.parametrize("seed", SEEDS)
def test_reference_forces(seed):
    """A acc_r + C vel_r + g, evaluated by one recursion."""
    robot = ideal_elastic_tree(seed)
    q, qd, qdd = states(robot, 1)
    reference = states(robot, 1, seed=7)[1]
    dyn = dynamics(robot)
    expected = dyn.mass_matrix(q)[0] @ qdd[0] + dyn.coriolis_matrix(q, qd)[0] @ reference[0] + dyn.gravity_forces(q)[0]
    felt = lw.Vec3(*(-x for x in robot.gravity))
    found = reference_forces(Tree.of(robot), *(x[0].tolist() for x in (q, qd, reference, qdd)), felt=felt)
    assert error(found, expected) < 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_motor_torques_are_rows_of_the_inverse(seed):
    robot = elastic_tree(seed)
    dyn, state = dynamics(robot), states(robot)
    assert error(dyn.motor_torques(*state), dyn.inverse_dynamics(*state)[:, robot.motors]) < 1e-13


# ---- derivatives


@pytest.mark.parametrize("seed", range(4))
def test_derivatives_by_complex_step(seed):
    """Torques and joint wrenches with respect to joints, motors and their rates, springs and rotors on any link."""
    robot = elastic_tree(seed, 4, floating=False)
    dyn, state = dynamics(robot), [x[0] for x in states(robot, 1)]
    d, w = dyn.inverse_dynamics_derivatives(*state), dyn.joint_wrench_derivatives(*state)
    f = dyn.forward_dynamics_derivatives(*state[:2], dyn.inverse_dynamics(*state))
    slopes = []
    for k in range(3 * robot.nv):
        step = np.concatenate(state).astype(complex)
        step[k] += 1j * STEP
        tau, wrench = lw.joint_wrenches.plain(robot, *(list(x) for x in np.split(step, 3)))
        slopes.append(np.imag([*tau, *wrench]) / STEP)
    tau, wrench = np.split(np.transpose(slopes), [robot.nv])
    for found, expected in zip(d, np.split(tau, 3, axis=1), strict=True):
        assert error(found, expected) < 1e-10
    by_wrench = [getattr(w, name) for name in ("dwrench_dq", "dwrench_dqd", "dwrench_dqdd")]
    for found, expected in zip(by_wrench, np.split(wrench, 3, axis=1), strict=True):
        assert error(found.reshape(expected.shape), expected) < 1e-10
    M = np.split(tau, 3, axis=1)[2]
    backward = (*(-np.linalg.solve(M, x) for x in np.split(tau, 3, axis=1)[:2]), np.linalg.inv(M))
    for found, expected in zip(f, backward, strict=True):
        assert error(found, expected) < 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_rates_of_torques_along_a_motion(seed):
    """tau_dot = d/dt tau, by a complex step along the motion."""
    robot = elastic_tree(seed, 4)
    q, qd, qdd = (x[0] for x in states(robot, 1))
    qddd = states(robot, 1, seed=5)[1][0]
    found = dynamics(robot).force_rates(q, qd, qdd, qddd)
    step = 1j * STEP
    moved = q + step * dynamics(robot).q_dot(q, qd), qd + step * qdd, qdd + step * qddd
    tau = lw.inverse_dynamics.plain(robot, *(list(x) for x in moved))
    assert error(found.tau_dot, np.imag(tau) / STEP) < 1e-11


def test_odd_drives_are_remarked_on():
    robot = hua_arm()
    assert not any("joint" in d.where for d in robot.diagnostics)
    elbow = robot.joint("joint3")
    bare = robot.replace(replace(elbow, drive=replace(elbow.drive, motor=None)))
    assert [d.where for d in bare.diagnostics if "without inertia" in d.message] == ["joint 'joint3'"]
    heavy = replace(elbow.drive.motor, inertia=(1e-3, 1e-3, 1e-3))
    odd = robot.replace(replace(elbow, drive=replace(elbow.drive, motor=heavy)))
    assert any("rotor inertia 0.004 exceeds the motor's 0.001" in d.message for d in odd.diagnostics)


@pytest.mark.parametrize("seed", range(3))
def test_a_row_of_a_batch_is_the_plain_algorithm(seed):
    robot = elastic_tree(seed)
    state = states(robot, 5)
    for algorithm in (
        lw.inverse_dynamics,
        lw.forward_dynamics,
        lw.algorithms.motor_torques,
        lw.algorithms.elastic_blocks,
    ):
        inputs = state[: len(algorithm.inputs)]
        found = lw.compile(robot, algorithm)(*inputs)
        plain = algorithm.plain(robot, *(x[3].tolist() for x in inputs))
        pairs = [(found, plain)] if len(algorithm.outputs) == 1 else zip(found, plain, strict=True)
        for whole, expected in pairs:
            assert error(whole[3].reshape(-1), expected) < 1e-11, algorithm.name


def test_damping_needs_a_spring_beside_it():
    with pytest.raises(lw.ModelError, match="drive damping: expected a stiffness beside it, got none"):
        lw.Drive(damping=1.0)


def test_a_drives_spring_is_not_the_joints():
    with pytest.raises(lw.InputError, match=r"it has no spring; its drive has: use joint3\.drive_stiffness"):
        lw.compile(hua_arm(), lw.inverse_dynamics, parameters="joint3.stiffness")
