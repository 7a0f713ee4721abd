"""Compiled kernels of real arms, hands, quadrupeds and humanoids against Pinocchio and MuJoCo."""

import numpy as np
import pinocchio as pin
import pytest

import linkwise as lw
from support.mujoco_bridge import inverse as mujoco_inverse
from support.pinocchio_bridge import (
    ROBOTS,
    coupling,
    example,
    from_pin_matrix,
    from_pin_tau,
    model,
    random_states,
    rnea,
    to_pin_q,
    to_pin_v,
)

ARMS = ["panda.urdf", "ur5_robot.urdf", "z1.urdf", "xarm7.urdf", "kinova.urdf", "finger_edu.urdf", "so100.urdf"]
OTHERS = ["allegro_right_hand.urdf", "anymal.urdf", "go2.urdf", "solo12.urdf", "talos_reduced.urdf"]
STATES = 100


def there(names):
    known = [str(p) for p in ROBOTS.rglob("*.urdf")]
    return [n for n in names if sum(k.endswith(f"/{n}") for k in known) == 1]


FILES = there([*ARMS, *OTHERS, "romeo.urdf", "g1_29dof_rev_1_0.urdf", "b1.urdf", "tiago.urdf", "hyq_no_sensors.urdf"])
CASES = [(f, base) for f in FILES for base in (["fixed"] if f in ARMS else ["fixed", "floating"])]


def relative(ours, theirs):
    return np.abs(ours - theirs).max() / np.abs(theirs).max()


@pytest.fixture(scope="module", params=CASES, ids=[f"{f}-{b}" for f, b in CASES])
def both(request):
    """A robot, its kernels, Pinocchio's model, and states."""
    file, base = request.param
    robot = lw.load(example(file), base=base).without_friction()
    return robot, lw.compile(robot), model(example(file), floating=base == "floating"), random_states(robot, STATES)


def test_at_least_ten_robots():
    assert len(FILES) >= 10


def test_inverse_dynamics(both):
    robot, dyn, theirs, (q, qd, qdd) = both
    assert relative(dyn.inverse_dynamics(q, qd, qdd), rnea(robot, theirs, q, qd, qdd)) < 1e-13


def test_poses_and_jacobians(both):
    robot, dyn, theirs, (q, _, _) = both
    data, pq, G = theirs.createData(), to_pin_q(robot, theirs, q), coupling(robot, theirs)
    frames = [robot.links[-1].name, robot.moving_links[len(robot.moving_links) // 2]]
    for name in frames:
        frame = theirs.getFrameId(name, pin.BODY)
        T, J, local = dyn.pose(q, name), dyn.jacobian(q, name), dyn.jacobian(q, name, axes="local")
        for k in range(STATES):
            pin.forwardKinematics(theirs, data, pq[k])
            pin.computeJointJacobians(theirs, data)
            pin.updateFramePlacements(theirs, data)
            np.testing.assert_allclose(T[k], data.oMf[frame].homogeneous, atol=1e-13)
            world = pin.getFrameJacobian(theirs, data, frame, pin.LOCAL_WORLD_ALIGNED) @ G
            np.testing.assert_allclose(J[k], world, atol=1e-13 * max(1.0, np.abs(world).max()))
            own = pin.getFrameJacobian(theirs, data, frame, pin.LOCAL) @ G
            np.testing.assert_allclose(local[k], own, atol=1e-13 * max(1.0, np.abs(own).max()))


def test_mass_matrix_bias_and_gravity(both):
    robot, dyn, theirs, (q, qd, _) = both
    data, pq, pv = theirs.createData(), to_pin_q(robot, theirs, q), to_pin_v(robot, theirs, qd)
    zero = np.zeros(theirs.nv)
    units = np.eye(theirs.nv)
    rest = [pin.rnea(theirs, data, x, zero, zero) for x in pq]
    columns = [[pin.rnea(theirs, data, x, zero, e) - r for e in units] for x, r in zip(pq[:10], rest, strict=False)]
    M = from_pin_matrix(robot, theirs, np.array(columns).swapaxes(1, 2))
    assert relative(dyn.mass_matrix(q[:10]), M) < 1e-12
    assert relative(dyn.gravity_forces(q), from_pin_tau(robot, theirs, np.array(rest))) < 1e-13
    bias = [pin.nonLinearEffects(theirs, data, x, v) for x, v in zip(pq, pv, strict=True)]
    assert relative(dyn.bias_forces(q, qd), from_pin_tau(robot, theirs, np.array(bias))) < 1e-13


def test_forward_dynamics(both):
    """Both routes against `aba`, where every moving group has mass; Pinocchio cannot have mimic joints there."""
    robot, _, theirs, (q, qd, tau) = both
    if theirs.nv != robot.nv:
        return
    data, pq, pv = theirs.createData(), to_pin_q(robot, theirs, q), to_pin_v(robot, theirs, qd)
    G = coupling(robot, theirs)
    for route in ("inertia", "articulated"):
        if any("neither mass nor inertia" in d.message for d in robot.diagnostics):
            with pytest.raises(lw.LinkwiseError, match="no inertia"):
                lw.compile(robot, lw.forward_dynamics, route=route)
            continue
        ours = lw.compile(robot, lw.forward_dynamics, route=route)(q, qd, tau)
        expected = np.array([pin.aba(theirs, data, x, v, G @ t) for x, v, t in zip(pq, pv, tau, strict=True)]) @ G
        for k in range(STATES):
            if np.isfinite(expected[k]).all():
                assert relative(ours[k], expected[k]) < 1e-9


def test_energies_and_momentum(both):
    robot, dyn, theirs, (q, qd, _) = both
    data, pq, pv = theirs.createData(), to_pin_q(robot, theirs, q), to_pin_v(robot, theirs, qd)
    T, V, h = [], [], []
    for x, v in zip(pq, pv, strict=True):
        T.append(pin.computeKineticEnergy(theirs, data, x, v))
        V.append(pin.computePotentialEnergy(theirs, data, x))
        at_com = pin.computeCentroidalMomentum(theirs, data, x, v)
        h.append(np.concatenate([at_com.linear, at_com.angular + np.cross(data.com[0], at_com.linear)]))
    assert relative(dyn.kinetic_energy(q, qd), np.array(T)) < 1e-13
    assert relative(dyn.potential_energy(q), np.array(V)) < 1e-12
    assert relative(dyn.momentum(q, qd), np.array(h)) < 1e-12


def test_joint_wrenches(both):
    """Rows against the spatial forces that Pinocchio leaves at each joint (its joint frames are the links' own)."""
    robot, dyn, theirs, (q, qd, qdd) = both
    data = theirs.createData()
    _, wrench = dyn.joint_wrenches(q, qd, qdd)
    vectors = to_pin_q(robot, theirs, q), to_pin_v(robot, theirs, qd), to_pin_v(robot, theirs, qdd)
    moving = [j for j in robot.joints if not j.is_fixed]
    for k in range(0, STATES, 10):
        pin.rnea(theirs, data, *(x[k] for x in vectors))
        expected = np.array([data.f[theirs.getJointId(j.name)].vector for j in moving])
        assert relative(wrench[k], expected) < 1e-12


@pytest.mark.parametrize("file", ["panda.urdf", "ur5_robot.urdf", "talos_reduced.urdf", "z1.urdf"])
def test_inverse_dynamics_of_mujoco(file):
    robot = lw.load(example(file)).without_friction()
    robot = robot.lock([n for n in robot.names if "finger" in n])
    q, qd, qdd = random_states(robot, STATES)
    tau = lw.compile(robot).inverse_dynamics(q, qd, qdd)
    assert relative(tau, mujoco_inverse(robot, example(file), q, qd, qdd)) < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("file", sorted(p.name for p in ROBOTS.rglob("*.urdf")))
def test_every_robot(file, base):
    """Compiled inverse dynamics of every file that means something."""
    (path,) = [p for p in ROBOTS.rglob("*.urdf") if p.name == file][:1]
    try:
        robot = lw.load(path, base=base).without_friction()
    except lw.LinkwiseError:
        assert file in ("ur3.urdf", "alex_psyonic_hands.urdf")
        return
    q, qd, qdd = random_states(robot, STATES)
    tau = lw.compile(robot).inverse_dynamics(q, qd, qdd)
    if robot.nv == 0:  # a quadrotor that is bolted down
        assert tau.shape == (STATES, 0)
        return
    assert relative(tau, rnea(robot, model(path, floating=base == "floating"), q, qd, qdd)) < 1e-12


# ---- steps, the centre of mass, and inertia at a frame


def aligned(model, ours, theirs):
    """Pinocchio's configurations with the quaternions' signs of ours: it flips a sign beyond half a turn, we do not."""
    theirs = theirs.copy()
    for joint in list(model.joints)[1:]:
        if joint.nq == 7:
            k = slice(joint.idx_q + 3, joint.idx_q + 7)
            theirs[:, k] *= np.sign((ours[:, k] * theirs[:, k]).sum(axis=1, keepdims=True))
    return theirs


def test_integrate(both):
    """Small steps with their signs, large ones up to the sign of quaternions."""
    robot, dyn, theirs, (q, qd, _) = both
    pq, pv = to_pin_q(robot, theirs, q), to_pin_v(robot, theirs, qd)
    for dt in (0.0, 1e-9, 1e-3, 0.3, 5.0):
        ours = to_pin_q(robot, theirs, dyn.integrate(q, qd, dt))
        expected = np.array([pin.integrate(theirs, x, v * dt) for x, v in zip(pq, pv, strict=True)])
        assert relative(ours, expected if dt < 1.0 else aligned(theirs, ours, expected)) < 1e-14


def test_difference(both):
    robot, dyn, theirs, (q, qd, _) = both
    for other in (random_states(robot, STATES, seed=1)[0], dyn.integrate(q, qd, 1e-6), -q):
        ours = to_pin_v(robot, theirs, dyn.difference(q, other))
        pairs = zip(to_pin_q(robot, theirs, q), to_pin_q(robot, theirs, other), strict=True)
        expected = np.array([pin.difference(theirs, a, b) for a, b in pairs])
        for joint in list(theirs.joints)[1:]:
            if joint.nq == 2:  # whole turns of a continuous joint are counted here, and not there
                ours[:, joint.idx_v] -= 2 * np.pi * np.round((ours - expected)[:, joint.idx_v] / (2 * np.pi))
        assert np.abs(ours - expected).max() < 1e-13


def test_centre_of_mass_and_centroidal_matrix(both):
    robot, dyn, theirs, (q, qd, _) = both
    data, pq, pv = theirs.createData(), to_pin_q(robot, theirs, q), to_pin_v(robot, theirs, qd)
    com, J, A, h = [], [], [], []
    for x, v in zip(pq, pv, strict=True):
        com.append(pin.centerOfMass(theirs, data, x).copy())
        J.append(pin.jacobianCenterOfMass(theirs, data, x).copy())
        A.append(pin.ccrba(theirs, data, x, v).copy())
        h.append(data.hg.vector.copy())
    G = coupling(robot, theirs)
    assert relative(dyn.centre_of_mass(q), np.array(com)) < 1e-13
    assert relative(dyn.com_jacobian(q), np.array(J) @ G) < 1e-13
    assert relative(dyn.centroidal_matrix(q), np.array(A) @ G) < 1e-12
    assert relative(dyn.centroidal_momentum(q, qd), np.array(h)) < 1e-12


def test_operational_inertia(both):
    """Against Pinocchio's J and M, at a link that can move in all directions."""
    robot, dyn, theirs, (q, _, _) = both
    name, data, G = robot.moving_links[-1], theirs.createData(), coupling(robot, theirs)
    try:
        ours = dyn.operational_inertia(q[:10], name)
    except lw.LinkwiseError as error:
        if "no inertia" not in str(error):
            raise
        return
    frame = theirs.getFrameId(name, pin.BODY)
    for k, x in enumerate(to_pin_q(robot, theirs, q[:10])):
        M = np.array(pin.crba(theirs, data, x))
        J = pin.computeFrameJacobian(theirs, data, x, frame, pin.LOCAL_WORLD_ALIGNED) @ G
        mobility = J @ np.linalg.solve(G.T @ (np.triu(M) + np.triu(M, 1).T) @ G, J.T)
        if np.isnan(ours[k]).any():
            assert np.linalg.cond(mobility) > 1e10
        else:
            assert relative(ours[k], np.linalg.inv(mobility)) < 1e-13 + 1e-15 * np.linalg.cond(mobility)


@pytest.mark.parametrize(("file", "base"), [("panda.urdf", "fixed"), ("solo12.urdf", "floating")])
def test_terms_of_the_momentum_observer(file, base):
    robot = lw.load(example(file), base=base).without_friction()
    theirs = model(example(file), floating=base == "floating")
    data, G = theirs.createData(), coupling(robot, theirs)
    q, qd, _ = random_states(robot, 20)
    tau = np.random.default_rng(0).normal(size=(20, robot.nu))
    p, rate = lw.compile(robot, lw.control.generalised_momentum)(q, qd, tau)
    for k, (x, v) in enumerate(zip(to_pin_q(robot, theirs, q), qd @ G.T, strict=True)):
        upper = np.triu(pin.crba(theirs, data, x))
        C = pin.computeCoriolisMatrix(theirs, data, x, v).copy()
        g = pin.computeGeneralizedGravity(theirs, data, x)
        assert np.allclose(p[k], G.T @ (upper + np.triu(upper, 1).T) @ v, atol=1e-9)
        assert np.allclose(rate[k] - tau[k], G.T @ (C.T @ v - g), atol=1e-8 * np.abs(rate[k]).max())
