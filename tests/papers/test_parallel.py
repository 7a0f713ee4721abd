"""The Gough-Stewart platform with massive legs of the golden cases."""

import numpy as np

import linkwise as lw
from linkwise.vector import Mat3, Vec3
from support.sources import case, tree
from support.trees import error


def platform(c):
    """The robot of the case; each leg is one tree with a base of its own."""
    places = zip(c["platform_points_platform_frame"], c["leg_base_rotation_world"], c["base_points_world"], strict=True)
    legs = [
        lw.parallel.Leg(f"leg{k}", tree(c["leg"]), "link3", at, "joint3", lw.Pose(Mat3.of(R), Vec3(*p)))
        for k, (at, R, p) in enumerate(places, start=1)
    ]
    body = c["platform"]
    return lw.parallel.ParallelRobot(lw.Link("platform", body["M"], body["com"], body["I_com"]), legs)


def motion(c):
    """Pose, velocity and acceleration of the case, its turn as a quaternion."""
    roll, pitch, yaw = (0.5 * x for x in c["pose_p_rpy"][3:])
    sines, cosines = np.sin([roll, pitch, yaw]), np.cos([roll, pitch, yaw])
    (a, b, d), (A, B, D) = sines, cosines
    quaternion = [a * B * D - A * b * d, A * b * D + a * B * d, A * B * d - a * b * D, A * B * D + a * b * d]
    return [*c["pose_p_rpy"][:3], *quaternion], [*c["v"], *c["w_world"]], [*c["vd"], *c["wd_world"]]


def test_golden_gough_stewart():
    """Leg coordinates, rates, accelerations and forces, without and with a wrench on the environment."""
    c = case("003_gough_stewart")
    robot, (pose, v, a) = platform(c), motion(c)
    par = lw.compile(robot)
    assert error(np.array(robot.motion.pose(pose).R), c["R"]) < 1e-15
    assert error(par.inverse_kinematics(pose), np.ravel(c["leg_q"])) < 1e-12
    legs = par.leg_motion(pose, v, a)
    assert error(legs.qd, np.ravel(c["leg_qd"])) < 1e-12
    assert error(legs.qdd, np.ravel(c["leg_qdd"])) < 1e-12
    assert error(par.inverse_dynamics(pose, v, a), c["forces"]) < 1e-12
    wrench = c["wrench_platform_on_environment_world"]
    on_platform = [-x for x in (*wrench["F"], *wrench["N"])]
    loaded = lw.compile(robot, external=True)
    assert error(loaded.inverse_dynamics(pose, v, a, on_platform), c["forces_with_wrench"]) < 1e-12
    assert error(loaded.forward_dynamics(pose, v, c["forces_with_wrench"], on_platform), a) < 1e-11
    found = par.forward_kinematics(np.array(c["leg_q"])[:, 2], [0.0, 0.0, 0.7, 0.0, 0.0, 0.0, 1.0])
    assert found.converged
    assert error(found.pose, pose) < 1e-12
