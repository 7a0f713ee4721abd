"""Derivatives of any algorithm by any input: against other algorithms, and against exact differences."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.vector import Vec3
from support.arms import two_link
from support.trees import error, hat, states, tree

SLOW = [pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 5)]
some = pytest.mark.parametrize("seed", [0, 1, 7, *SLOW])  # each kind of base and joint
EXACT = 1e-11


@pytest.fixture(autouse=True)
def back_end(monkeypatch):
    """The interpreter: that native code computes the same is tested for kernels in general."""
    monkeypatch.setenv("LINKWISE_BACKEND", "numpy")


def compiled(robot, algorithm, *wrt, of=None, **options):
    return lw.compile(robot, lw.derivative(algorithm, *wrt, of=of), **options)


@some
def test_by_external_wrenches(seed):
    """dtau/df = -J^T of the frame in its axes, and dqdd/df = M^-1 J^T."""
    robot = tree(seed)
    q, qd, qdd = states(robot, 3, seed)
    f = np.random.default_rng(seed).normal(size=(3, 2, 6))
    names = ("tool", "frame3")
    J = np.stack([lw.compile(robot).jacobian(q, name, axes="local") for name in names], axis=1)
    J_T = np.moveaxis(J, -1, 1)  # (row, nv, frame, 6)
    kernel = compiled(robot, lw.inverse_dynamics, "f_ext", external=names)
    assert kernel.outputs == {"dtau_df_ext": (robot.nv, 2, 6)}
    assert error(kernel(q, qd, qdd, f), -J_T) < EXACT
    found = compiled(robot, lw.forward_dynamics, "f_ext", external=names)(q, qd, qdd, f)
    M = lw.compile(robot).mass_matrix(q)
    assert error(np.einsum("bij,bjkl->bikl", M, found), J_T) < EXACT


@some
def test_by_numbers_of_links_and_joints(seed):
    """dtau/dp = Y d(parameters)/dp, where inertial parameters depend on mass, centre and tensor."""
    robot = tree(seed, friction=1.0, mimic=0.0)
    link, joint = robot.moving_links[-1], next(j.name for j in robot.joints if j.kind not in ("fixed", "floating"))
    state = states(robot, 3, seed)
    robot = robot.replace(replace(robot.joint(joint), friction=lw.Friction(0.3, 0.2)))
    paths = (f"{link}.mass", f"{link}.com", f"{link}.inertia", f"{joint}.viscous", f"{joint}.coulomb")
    kernel = compiled(robot, lw.inverse_dynamics, "parameters", parameters=paths)
    at = kernel.parameters
    found = kernel(*state, at)
    slope = np.array([(_parameters(robot, link, joint, at + e) - _parameters(robot, link, joint, at - e)) / 2.0
                      for e in np.eye(len(at))]).T  # fmt: skip
    assert error(found, lw.compile(robot).regressor(*state) @ slope) < EXACT


def _parameters(robot, link, joint, p):
    """robot.parameters() with those of one link and joint exchanged; at most of second degree in each number."""
    m, com, inertia, (viscous, coulomb) = p[0], p[1:4], p[4:10], p[10:]
    names = robot.parameter_names
    values = np.array(robot.parameters())
    old = next(k for k in robot.links if k.name == link)
    change = _inertial(m, com, inertia) - _inertial(old.mass, np.array(old.com), np.array(old.inertia))
    first = next(k for k, name in enumerate(names) if name.startswith(f"{link}."))
    values[first : first + 10] += change
    friction = robot.joint(joint).friction
    for name, new, before in (("viscous", viscous, friction.viscous), ("coulomb", coulomb, friction.coulomb)):
        values[names.index(f"{joint}.{name}")] += new - before
    return values


def _inertial(m, c, I):
    """m, mc, and the tensor about the link's origin."""
    W = hat(c)
    (xx, xy, xz), (_, yy, yz), (*_, zz) = np.array(
        [[I[0], I[1], I[2]], [I[1], I[3], I[4]], [I[2], I[4], I[5]]]
    ) - m * W @ W  # fmt: skip
    return np.array([m, *(m * c), xx, xy, xz, yy, yz, zz])


@some
def test_by_gravity_and_base_motion(seed):
    """Torques are linear in gravity and the base's acceleration, and of second degree in its velocity."""
    robot = tree(seed)
    q, qd, qdd = (x[0] for x in states(robot, 1, seed))
    rng = np.random.default_rng(seed)
    given = {
        "base_velocity": rng.normal(size=6),
        "base_acceleration": rng.normal(size=6),
        "gravity": rng.normal(size=3),
    }
    options = {"base_motion": True, "gravity": "input"}
    tau = lw.compile(robot, lw.inverse_dynamics, **options)
    found = compiled(robot, lw.inverse_dynamics, *given, **options)(q, qd, qdd, *given.values())
    for (name, x), ours in zip(given.items(), found, strict=True):
        unit = np.eye(len(x))
        up, down = (tau(q, qd, qdd, *{**given, name: x + s * unit}.values()) for s in (1.0, -1.0))
        assert error(ours, 0.5 * (up - down).T) < EXACT


@some
def test_the_point_where_a_force_acts(seed):
    """dtau/dp of a load at a frame's origin p, in which it is linear: the load's lever arm alone changes."""
    robot = tree(seed)
    state = [x[0] for x in states(robot, 1, seed)]
    f = np.random.default_rng(seed).normal(size=(1, 6)) * 10.0
    kernel = compiled(robot, lw.inverse_dynamics, "parameters", external="tool", parameters="tool.xyz")
    assert kernel.outputs == {"dtau_dparameters": (robot.nv, 3)}
    place = next(x for x in robot.frames if x.name == "tool")
    assert np.array_equal(kernel.parameters, place.origin.p)

    def torques(p):
        moved = robot.replace(replace(place, origin=lw.Pose(place.origin.R, Vec3(*p))))
        return lw.compile(moved, lw.inverse_dynamics, external="tool")(*state, f)

    expected = [(torques(kernel.parameters + e) - torques(kernel.parameters - e)) / 2.0 for e in np.eye(3)]
    assert np.abs(kernel(*state, f, kernel.parameters) - np.array(expected).T).max() < EXACT * np.abs(f).max()
    # by hand: moving the point by e in the link's axes adds the moment e x force
    R = np.array(place.origin.R)
    moments = [np.concatenate([np.zeros(3), R.T @ np.cross(e, R @ f[0, :3])]) for e in np.eye(3)]
    by_load = compiled(robot, lw.inverse_dynamics, "f_ext", external="tool")(*state, f)
    by_hand = np.stack([by_load[:, 0] @ m for m in moments], axis=-1)
    assert np.abs(by_hand - np.array(expected).T).max() < EXACT * np.abs(f).max()


@some
def test_energies(seed):
    """dT/dqd = M qd, and dV/dq = the torques that gravity and springs take."""
    robot = tree(seed, friction=0.0, motors=0.0)
    q, qd, _ = states(robot, 3, seed)
    dyn, rest = lw.compile(robot), np.zeros((3, robot.nv))
    assert (
        error(
            compiled(robot, lw.algorithms.kinetic_energy, "qd")(q, qd), np.einsum("bij,bj->bi", dyn.mass_matrix(q), qd)
        )
        < EXACT
    )
    assert error(compiled(robot, lw.algorithms.potential_energy, "q")(q), dyn.inverse_dynamics(q, rest, rest)) < EXACT


@some
def test_poses_and_differences(seed):
    """dT/dq has the columns of the Jacobian; a difference moves with its end, tangent in, tangent out."""
    robot = tree(seed)
    q = states(robot, 2, seed)[0]
    dT = compiled(robot, lw.pose, "q", frame="tool")(q)
    J = lw.compile(robot).jacobian(q, "tool")
    assert error(dT[:, :3, 3], J[:, :3]) < EXACT
    dR, R = dT[:, :3, :3], lw.compile(robot).pose(q, "tool")[:, :3, :3]
    turning = np.einsum("bacn,bdc->band", dR, R)  # hat(omega) = R_dot R^T
    spin = np.stack([turning[:, 2, :, 1], turning[:, 0, :, 2], turning[:, 1, :, 0]], axis=1)
    assert error(spin, J[:, 3:]) < EXACT
    end = compiled(robot, lw.algorithms.difference, "q0", "q1")(q, q)
    assert error(end.dv_dq1, np.broadcast_to(np.eye(robot.nv), end.dv_dq1.shape)) < EXACT
    assert error(end.dv_dq0, np.broadcast_to(-np.eye(robot.nv), end.dv_dq0.shape)) < EXACT


@pytest.mark.parametrize("seed", [0, 7, 9, *SLOW])
def test_second_derivatives(seed):
    """A derivative of a derivative = the Hessian: mixed parts on all robots, d2/dq2 where no joint floats."""
    robot = tree(seed)
    n = robot.nv
    q, qd, qdd = (x[0] for x in states(robot, 1, seed))
    weights = np.random.default_rng(seed).normal(size=n)
    H = lw.compile(robot).inverse_dynamics_hessian(q, qd, qdd, weights)
    twice = lw.derivative(lw.derivative(lw.inverse_dynamics, "q"), "q", "qd", "qdd")
    found = lw.compile(robot, twice)(q, qd, qdd)
    assert found._fields == ("ddtau_dq_dq", "ddtau_dq_dqd", "ddtau_dq_dqdd")
    by_q, by_qd, by_qdd = (np.einsum("i,ijk->jk", weights, x) for x in found)
    assert np.abs(by_qd - H[:n, n : 2 * n]).max() < EXACT * np.abs(H).max()
    assert np.abs(by_qdd - H[:n, 2 * n :]).max() < EXACT * np.abs(H).max()
    assert np.abs(0.5 * (by_q + by_q.T) - H[:n, :n]).max() < EXACT * np.abs(H).max()
    if not any(j.kind == "floating" for j in robot.joints):
        assert error(by_q, by_q.T) < EXACT


def test_of_one_output_alone():
    robot = two_link()
    alone = lw.derivative(lw.joint_wrenches, "q", "qdd", of="wrench")
    assert alone.outputs == {"dwrench_dq": ("nb", 6, "nv"), "dwrench_dqdd": ("nb", 6, "nv")}
    state = [x[0] for x in states(robot, 1)]
    full = lw.compile(robot).joint_wrench_derivatives(*state)
    for ours, expected in zip(lw.compile(robot, alone)(*state), (full.dwrench_dq, full.dwrench_dqdd), strict=True):
        assert error(ours, expected) < EXACT


@pytest.mark.parametrize(
    "algorithm",
    [
        lw.derivative(lw.inverse_dynamics, "q", "qd"),
        lw.derivative(lw.joint_wrenches, "q", of="wrench"),
        lw.derivative(lw.derivative(lw.inverse_dynamics, "q"), "qdd"),
        lw.algorithms.inverse_dynamics_hessian_vector,
    ],
    ids=lambda a: a.name,
)
def test_kernels_of_derivatives_can_be_pickled(algorithm):
    robot = two_link()
    kernel = lw.compile(robot, algorithm)
    again = pickle.loads(pickle.dumps(kernel))
    given = [np.linspace(-1.0, 1.0, shape[0]) for shape in kernel.inputs.values()]
    assert again.outputs == kernel.outputs
    for ours, expected in zip(np.atleast_1d(again(*given)), np.atleast_1d(kernel(*given)), strict=True):
        assert np.array_equal(ours, expected)


def test_mistakes_are_answered():
    robot, derivative = two_link(), lw.derivative
    with pytest.raises(lw.InputError, match=r"expected an algorithm such as linkwise\.inverse_dynamics, got 'tau'"):
        derivative("tau", "q")
    with pytest.raises(lw.InputError, match="expected names of inputs, got none"):
        derivative(lw.inverse_dynamics)
    with pytest.raises(lw.UnknownNameError, match=r"input of inverse_dynamics 'tau'.*'qdd', 'f_ext'.*'gravity'"):
        derivative(lw.inverse_dynamics, "tau")
    with pytest.raises(lw.UnknownNameError, match=r"input of pose 'f_ext'. Valid names: 'q', 'parameters'\."):
        derivative(lw.pose, "f_ext")
    with pytest.raises(lw.UnknownNameError, match="output of inverse_dynamics 'wrench'"):
        derivative(lw.inverse_dynamics, "q", of="wrench")
    with pytest.raises(lw.InputError, match=r"expected each input once, got \('q', 'q'\)"):
        derivative(lw.inverse_dynamics, "q", "q")
    with pytest.raises(lw.InputError, match="force_rates has rates of its inputs"):
        derivative(lw.force_rates, "q")
    with pytest.raises(
        lw.InputError, match=r"by f_ext: .* without that input. Add the option .* inputs are q, qd, qdd"
    ):
        lw.compile(robot, derivative(lw.inverse_dynamics, "f_ext"))
    with pytest.raises(lw.InputError, match=r"no plain form: compile it with lw\.compile"):
        derivative(lw.inverse_dynamics, "q").plain(robot, [0.0] * 2, [0.0] * 2, [0.0] * 2)
