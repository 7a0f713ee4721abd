"""The Gough-Stewart platform with massive legs of the golden cases."""

import numpy as np

import linkwise as lw
from linkwise.mechanism.machine import machine_of
from linkwise.vector import Mat3, Vec3
from support.sources import case, tree
from support.trees import error


def platform(c):
    """The robot of the case; each leg is one tree with a base of its own."""
    places = zip(c["platform_points_platform_frame"], c["leg_base_rotation_world"], c["base_points_world"], strict=True)
    legs = [
        lw.platforms.Leg(f"leg{k}", tree(c["leg"]), "link3", at, "joint3", lw.Pose(Mat3.of(R), Vec3(*p)))
        for k, (at, R, p) in enumerate(places, start=1)
    ]
    body = c["platform"]
    return lw.platforms.on_legs(lw.Link("platform", body["M"], body["com"], body["I_com"]), legs)


def motion(c):
    """Position, velocity and acceleration of the case in the platform's own axes, its turn as a quaternion."""
    roll, pitch, yaw = (0.5 * x for x in c["pose_p_rpy"][3:])
    sines, cosines = np.sin([roll, pitch, yaw]), np.cos([roll, pitch, yaw])
    (a, b, d), (A, B, D) = sines, cosines
    quaternion = [a * B * D - A * b * d, A * b * D + a * B * d, A * B * d - a * b * D, A * B * D + a * b * d]
    R = np.array(c["R"])
    v, w, v_dot, w_dot = (R.T @ c[key] for key in ("v", "w_world", "vd", "wd_world"))
    return [*c["pose_p_rpy"][:3], *quaternion], [*v, *w], [*(v_dot - np.cross(w, v)), *w_dot]


def test_golden_gough_stewart():
    """Leg coordinates, rates, accelerations and forces, without and with a wrench on the environment."""
    c = case("003_gough_stewart")
    robot, (q, qd, qdd) = platform(c), motion(c)
    dyn = lw.compile(robot)
    assert error(dyn.pose(q, "platform")[:3, :3], c["R"]) < 1e-15
    found = dyn.positions(q)
    assert error(found.q[7:], np.ravel(c["leg_q"])) < 1e-12
    rates, accelerations = machine_of(robot).at(q).led(qd, qdd)
    assert error(rates[6:], np.ravel(c["leg_qd"])) < 1e-12
    assert error(accelerations[6:], np.ravel(c["leg_qdd"])) < 1e-12
    assert error(dyn.inverse_dynamics(q, qd, qdd), c["forces"]) < 1e-12
    wrench, R = c["wrench_platform_on_environment_world"], np.array(c["R"])
    on_platform = [[*(-R.T @ wrench["F"]), *(-R.T @ wrench["N"])]]
    loaded = lw.compile(robot, external=("platform",))
    assert error(loaded.inverse_dynamics(q, qd, qdd, on_platform), c["forces_with_wrench"]) < 1e-12
    assert error(loaded.forward_dynamics(q, qd, c["forces_with_wrench"], on_platform), qdd) < 1e-11
    back = dyn.positions(drives=np.array(c["leg_q"])[:, 2])
    assert back.converged
    assert error(back.q[:7], q) < 1e-12
