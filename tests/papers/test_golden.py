"""Numbers of the sources, from compiled kernels: every entry of golden/sources.json that rigid trees can answer."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.robot import Drive, Frame, Joint, Link, Motor, Robot
from linkwise.vector import Vec3
from support.sources import case, in_order, planar, serial, stanford, tree
from support.trees import error

PLANAR = ("001_RR_table4.1", "001_RR_vertical_payload", "001_PR_table4.3")
GRAVITY = np.array([0.0, 0.0, -9.81])


def column(rows, key):
    return np.array([row[key] for row in rows])


def test_stanford_arm_at_three_states():
    states = case("002_stanford")["states"]
    q, qd, qdd, tau = (column(states, key) for key in ("q", "qd", "qdd", "tau"))
    assert error(lw.compile(stanford()).inverse_dynamics(q, qd, qdd), tau) < 1e-12


def test_stanford_arm_along_the_trajectory():
    samples = case("002_stanford")["trajectory"]["samples"]
    q, qd, qdd, tau = (column(samples, key) for key in ("q", "qd", "qdd", "tau"))
    assert error(lw.compile(stanford()).inverse_dynamics(q, qd, qdd), tau) < 1e-12


def loaded(name):
    """A planar arm with a frame where its load acts, and the load on the robot in that frame's axes."""
    c, robot = case(name), planar(name)
    if not c["ext"]:
        return robot, (), np.empty((0, 6))
    (load,) = c["ext"]
    robot = robot.add(Frame("grip", f"link{load['k']}", lw.Pose(p=Vec3(*load["r"]))))
    R = lw.compile(robot).pose(c["q"], "grip")[:3, :3]
    return robot, ("grip",), -np.array([[*(R.T @ load["F"]), *(R.T @ load["N"])]])


@pytest.mark.parametrize("name", PLANAR)
def test_planar_arms(name):
    """Torques with the load, and dtau/dqdd = M."""
    c = case(name)
    robot, at, f_ext = loaded(name)
    load = (f_ext,) if at else ()
    tau = lw.compile(robot, lw.inverse_dynamics, external=at)(c["q"], c["qd"], c["qdd"], *load)
    assert error(tau, c["tau"]) < 1e-12
    assert error(lw.compile(robot).mass_matrix(c["q"]), c["dtau_dqdd"]) < 1e-12


@pytest.mark.parametrize("name", PLANAR)
def test_joint_forces_of_planar_arms(name):
    """F_p, the force of link j-1 on link j in frame j; against the file's note it holds the load."""
    c = case(name)
    robot, at, f_ext = loaded(name)
    load = (f_ext,) if at else ()
    wrench = lw.compile(robot, lw.joint_wrenches, external=at)(c["q"], c["qd"], c["qdd"], *load).wrench
    assert error(wrench[:, :3], c["Fp"]) < 1e-12


def test_joint_force_of_the_loaded_arm_is_its_weight_and_load():
    """The same by hand: F_p of the first joint = sum of m (c_ddot - g) + the load, in frame 1."""
    c = case("001_RR_vertical_payload")
    (q1, q2), (w1, w2), (a1, a2) = c["q"], c["qd"], c["qdd"]

    def swing(length, angle, rate, acceleration):
        along = np.exp(1j * angle) * length
        return along * (1j * acceleration - rate**2)

    first, second = swing(0.2, q1, w1, a1), swing(0.2, q1 + q2, w1 + w2, a1 + a2)
    F = 0.5 * (first + 2.0 * first + second + 2 * 9.81j) + complex(*c["ext"][0]["F"][:2])
    F = F * np.exp(-1j * q1)
    assert error([F.real, F.imag, 0.0], c["Fp"][0]) < 1e-12


def test_elastic_inverse():
    """The accelerations that the elastic joints were found to have need the torques of their springs."""
    c = case("003_elastic_inverse")
    robot = tree(c["robot"])
    q, qd, qdd, tau = (in_order(robot, c[key]) for key in ("q", "qd", "qdd", "Gamma"))
    found = lw.compile(robot).inverse_dynamics(q, qd, qdd)
    assert error(found, tau) < 1e-12
    spring = [
        -K * x if soft else g for K, x, soft, g in zip(c["K"], c["Delta_q"], c["elastic"], c["Gamma"], strict=True)
    ]
    assert error(found, in_order(robot, spring)) < 1e-12


@pytest.mark.parametrize("part", ["id", "fd"])
def test_moving_base(part):
    """Joint torques with the base's motion prescribed; that motion leaves no force on a base that floats."""
    c = case("003_moving_base")
    robot = tree(c["robot"])
    q, qd, qdd = (in_order(robot, x) for x in (c["q"], c["qd"], c[part]["qdd"]))
    tau = in_order(robot, c["Gamma"] if part == "fd" else c[part]["Gamma"])
    v, omega, a = (
        np.array(c["v0_base_axes"]),
        np.array(c["w0_base_axes"]),
        np.array(c[part]["V0dot_classical_base_axes"]),
    )
    R = np.array(c["R"])
    moved = lw.compile(robot, lw.inverse_dynamics, base_motion=True, gravity="input")
    assert error(moved(q, qd, qdd, [*v, *omega], a, GRAVITY @ R), tau) < 1e-12

    body = c["base"]
    base = Link("base", body["M"], np.array(body["MS"]) / body["M"], body["I_com"])
    floating = robot.replace(base).add(Link("world"), Joint("root", "world", "base", "floating"))
    quaternion = from_matrix(R)
    a[:3] -= np.cross(omega, v)
    found = lw.compile(floating).inverse_dynamics([0, 0, 0, *quaternion, *q], [*v, *omega, *qd], [*a, *qdd])
    assert error(found, [*np.zeros(6), *tau]) < 1e-12


def from_matrix(R):
    """The quaternion x, y, z, w of a rotation by less than a half turn."""
    w = np.sqrt(1.0 + np.trace(R)) / 2.0
    return [*(np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4.0 * w)), w]


def test_four_bar():
    """The torques of the tree, and those of the loop by its transposed Jacobian."""
    c = case("003_fourbar")
    tau = lw.compile(tree(c["robot"], c["g"])).inverse_dynamics(c["q"], c["qd"], c["qdd"])
    assert error(tau, c["Gamma_tree"]) < 1e-12
    assert error(np.array(c["G"]).T @ tau, c["Gamma_c"]) < 1e-12


def test_legs_of_the_gough_stewart_platform():
    """Each leg in its own base frame, in which gravity is turned."""
    c = case("003_gough_stewart")
    legs = lw.compile(tree(c["leg"]), lw.inverse_dynamics, gravity="input")
    felt = GRAVITY @ np.array(c["leg_base_rotation_world"])
    assert error(legs(c["leg_q"], c["leg_qd"], c["leg_qdd"], felt), c["leg_Gamma"]) < 1e-12


def test_serial_robot_with_rotor_inertia():
    """The accelerations found by forward dynamics need the torques it was given."""
    c = case("004_serial_RRPRRR")
    assert error(lw.compile(serial()).inverse_dynamics(c["q"], c["qd"], c["qdd"]), c["tau"]) < 1e-12


def test_mass_matrix_with_motors():
    """A of the elastic arm with its motor angle tied to the joint: M = P^T A P, P = [1; 0 0 1]."""
    c = case("000_arm3_table1")
    P = np.vstack([np.eye(3), [0.0, 0.0, 1.0]])
    assert error(lw.compile(arm(c)).mass_matrix(c["q"]), P.T @ c["A"] @ P) < 1e-12


def arm(c):
    """Hua's arm with a rigid third joint: joint i turns about z of frame i, link i is given in frame i+1."""
    links, joints = [Link("link0")], []
    for k, motor in enumerate(c["motors"]):
        R, r = np.array(c["Rfix"][k]), np.array(c["r_oi_oi1"][k])
        com = np.array(c["r_oi_ci"][k]) - r
        links.append(Link(f"link{k + 1}", c["m"][k], com, c["Ibar"][k]))
        T = np.block([[R, (R @ r)[:, None]], [np.zeros(3), 1.0]])
        drive = Drive(Motor(f"link{motor['link']}", rotor=motor["Iz"], axis=Vec3(*motor["z"])), gear=motor["eta"])
        joints.append(Joint(f"joint{k + 1}", f"link{k}", f"link{k + 1}", origin=T, axis=R[2], anchor=-r, drive=drive))
    return Robot(links, joints)
