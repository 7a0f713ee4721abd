"""A dozen machines in motion, a function each: the gallery runs it and shows its code."""

import sys
from pathlib import Path

import numpy as np
from gallery import Card
from scipy.interpolate import CubicSpline, PchipInterpolator

import linkwise as lw

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "benchmarks")]

from robots import ROBOTS  # noqa: E402

from linkwise.simulation import GroundContact  # noqa: E402

RED = (0.85, 0.25, 0.15, 1.0)


def panda():
    robot = lw.load(ROBOTS / "panda_description/urdf/panda.urdf")
    law = lw.compile(robot, lw.control.computed_torque, kp=80.0, kd=16.0)
    home = robot.q({"panda_joint2": 0.2, "panda_joint4": -1.9, "panda_joint6": 2.2})
    ways = home + np.outer([0, 1, 0, -1, 0], [0.9, 0.4, 0.3, 0.6, 0.6, 0.5, 1.0, 0.02])
    path = CubicSpline(range(5), ways, bc_type="periodic")

    def control(t, q, qd):
        return law(q, qd, path(t), path(t, 1), path(t, 2))

    return lw.simulate(robot, home, None, 4.0, control=control), {"trace": "panda_hand"}


def walker():
    return lw.walking.walk(speed=1.2)


def hexapod():
    robot = lw.gough_stewart()
    turn = np.array([0.08, -0.05, 0.06, 0.15, -0.1, 0.2])
    goal = lw.compile(robot).integrate(robot.q(), turn, 1.0)
    limits = lw.limit.joints(effort=150.0, effort_rate=4000.0)
    return lw.plan(robot, robot.q(), goal, subject_to=limits, control_points=12)


def ur5():
    ball = (0.0, -0.55, 0.3), 0.16
    robot = lw.load(ROBOTS / "ur_description/urdf/ur5_robot.urdf")
    robot = robot.add(lw.Shape("base_link", "sphere", ball[1], lw.Pose.of(ball[0]), colour=RED))
    limits = [lw.limit.clearance(f"wrist_{k}_link", 0.1, sphere=ball) for k in (1, 3)]
    limits += [lw.limit.joints("position", "velocity", "effort", effort_rate=1500.0)]
    start, goal = ([turn, -0.9, 1.3, -0.4, 1.6, 0.0] for turn in (-2.6, -0.6))
    plan = lw.plan(robot, start, goal, subject_to=limits, control_points=12)
    return plan, {"trace": "tool0"}


def solo():
    robot = lw.load(ROBOTS / "solo_description/robots/solo12.urdf", base="floating")
    legs = np.outer([1, 1, -1, -1], [0, 1, -2]).ravel()  # front and hind; hip out, hip, knee
    bend = PchipInterpolator([0.0, 0.5, 0.7, 0.82, 1.0, 1.2], [0.8, 1.2, 1.2, 0.5, 0.9, 0.8])
    foot = GroundContact(4e3, 1.0, friction=0.8, radius=0.016, onset=4e-3)

    def control(t, q, qd):
        return np.append(np.zeros(6), 8.0 * (bend(min(t, 1.2)) * legs - q[7:]) - 0.25 * qd[6:])

    forces = {f"{leg}_FOOT": foot for leg in ("FL", "FR", "HL", "HR")}
    start = np.append([0.0, 0.0, 0.236, 0.0, 0.0, 0.0, 1.0], bend(0.0) * legs)
    return lw.simulate(robot, start, None, 1.8, control=control, forces=forces, method="LSODA")


def delta():
    robot = lw.delta()
    low, high = robot.q()[2] + [-0.04, 0.02]
    over = {0.3: (-0.06, 0.0, high), 0.7: (0.06, 0.0, high)}
    limits = [lw.limit.via(s, frame="platform", position=p) for s, p in over.items()]
    limits += [lw.limit.joints(effort=6.0, effort_rate=400.0)]
    start, goal = [-0.08, 0.0, low], [0.08, 0.0, low]
    return lw.plan(robot, start, goal, subject_to=limits), {"trace": "platform"}


def elastic():
    arm = lw.load(HERE / "arm.urdf", side=HERE / "soft.toml").with_payload(4.0, at="tool")
    way = {
        "turn": [0.0, 1.2, 0.6, -0.8, 0.0, 0.0],
        "shoulder.motor": [1.0, 0.3, 1.2, 0.5, 1.0, 1.0],
        "elbow.motor": [-1.2, 0.0, -1.6, -0.4, -1.2, -1.2],
    }
    motors = {name: PchipInterpolator([0.0, 0.7, 1.4, 2.1, 2.8, 4.0], x) for name, x in way.items()}
    swing = lw.simulate(arm, {"shoulder": 1.0, "elbow": -1.2}, None, 4.0, driven=motors)
    stiff = {f"q.{name}": swing[f"{name}.motor"].q for name in ("shoulder", "elbow")}
    return swing, {"ghost": swing.columns() | stiff}


def fivebar():
    robot = lw.load("fivebar")
    s = np.linspace(0.0, 2.0 * np.pi, 81)
    eight = np.stack([0.16 * np.sin(s), 0.0 * s, 0.26 + 0.08 * np.sin(2.0 * s)], axis=1)
    points = lw.inverse_kinematics(robot, "tool", eight).q
    return lw.retime(robot, points, effort=6.0, effort_rate=400.0), {"trace": "tool"}


def snake():
    from papers.snake import laws, snake_robot, wave

    driven = {f"bend{k}": wave(k) for k in range(1, 13)}
    ground = laws()["crawling"]
    return lw.simulate(snake_robot(), None, None, 6.0, driven=driven, forces=ground)


def arm7():
    robot = lw.load("arm7")
    home = robot.q({"joint2": 0.5, "joint4": 1.2, "joint6": 0.6})
    poses, s = lw.compile(robot).pose([home] * 61, "tool"), np.linspace(0.0, 2.0 * np.pi, 61)
    poses[:, 0, 3] += 0.1 * np.sin(2.0 * s)
    poses[:, 1, 3] += 0.3 * np.sin(s)
    poses[:, 2, 3] += 0.1 * np.cos(3.0 * s) - 0.1
    points = lw.inverse_kinematics(robot, "tool", poses, guess=home).q
    return lw.retime(robot, points, effort_rate=1500.0), {"trace": "tool"}


def mobile():
    robot = lw.load("differential_drive")
    dyn, w = lw.compile(robot), 2.0 * np.pi / 8.0

    def speeds(t):
        turn = 2.0 * 2.4048 * w * np.cos(w * t)  # J0(2.4048) = 0: an eight
        return np.array([5.0 - turn, 5.0 + turn, np.cos(2.0 * w * t), np.sin(3.0 * w * t)])

    def drive(t, q, qd):
        return dyn.inverse_dynamics(q, qd, 20.0 * (speeds(t) - qd))

    return lw.simulate(robot, None, speeds(0.0), 8.0, control=drive), {"trace": "base"}


def hybrid():
    robot = lw.gough_stewart().attach(lw.load("arm7"), "platform", "arm_")
    home = robot.q({"arm_joint2": 0.7, "arm_joint4": 1.3, "arm_joint6": 0.6})
    s, steps = np.linspace(0.0, 2.0 * np.pi, 9), np.zeros((9, 13))
    steps[:, [0, 3, 5, 6]] = np.outer(np.sin(s), [0.06, 0.15, 0.2, 0.9])
    steps[:, [1, 9]] = np.outer(1.0 - np.cos(s), [-0.06, 0.39])
    points = lw.compile(robot).integrate(home, steps, 1.0)
    return lw.retime(robot, points, effort=300.0), {"trace": "arm_tool"}


def most(result):
    """The largest torque or force of a result's drives."""
    return max(np.abs(x).max() for name, x in result.columns().items() if name.startswith("tau."))


def lag(result):
    """How far springs let joints lag, degrees."""
    return np.degrees(max(np.abs(result[x].q - result[f"{x}.motor"].q).max() for x in ("shoulder", "elbow")))


CARDS = [
    Card(
        panda,
        "Panda on a path",
        "A URDF with its meshes under computed torque: it begins at rest and catches up with a path in motion.",
        lambda r: f"Largest torque: {most(r):.0f} N m.",
        {"rest": 0},
    ),
    Card(
        walker,
        "A person walks",
        "A stride of 55 degrees of freedom at 1.2 m/s, the one of least effort; no one was measured.",
        lambda w: f"The hip carries {w.features()['hip_force']:.2f} body weights.",
        {"rest": 0, "follow": True, "from": [0.6, -1, 0.25]},
    ),
    Card(
        hexapod,
        "A hexapod in a hurry",
        "The fastest motion between two poses with 150 N in each leg and 4 kN/s.",
        lambda p: f"{p.duration:.3f} s, shown at a tenth of the speed.",
        {"speed": 0.1},
    ),
    Card(
        ur5,
        "Around a ball",
        "The fastest way that keeps the wrist 0.1 m clear of a ball, within limits of speeds, torques and their rates.",
        lambda p: f"{p.duration:.2f} s, shown at a quarter of the speed.",
        {"speed": 0.25, "from": [0.9, 0.55, 0.75]},
    ),
    Card(
        solo,
        "A quadruped jumps",
        "Springs pull the joints after a rhythm of bending; gravity and compliant ground do the rest.",
        lambda r: (
            f"It jumps {100 * (r.q[:, 2].max() - r.q[0, 2]):.0f} cm high with {most(r):.1f} N m, shown at half speed."
        ),
        {"speed": 0.5, "from": [0.9, -1, 0.25]},
    ),
    Card(
        delta,
        "Pick and place",
        "A Delta robot goes up, across and down as fast as 6 N m and 400 N m/s allow.",
        lambda p: f"{p.duration:.3f} s, shown at a tenth of the speed.",
        {"speed": 0.1},
    ),
    Card(
        elastic,
        "Springs in the joints",
        "The motors of both arms make the same motion; the links of one swing behind springs, the pale one is stiff.",
        lambda r: f"The joints lag by up to {lag(r):.0f} degrees.",
    ),
    Card(
        fivebar,
        "A five-bar draws an eight",
        "The fastest timing of a curve by two motors of 6 N m and 400 N m/s.",
        lambda r: f"{r.duration:.2f} s, shown at a quarter of the speed.",
        {"speed": 0.25, "from": [0.35, -1, 0.3]},
    ),
    Card(
        snake,
        "A snake crawls",
        "A wave runs through twelve bends; the links slide along easily and across hardly.",
        lambda r: f"{np.hypot(*(r.q[-1, :2] - r.q[0, :2])):.1f} m in {r.t[-1]:.0f} s.",
        {"follow": True, "from": [-0.3, -1, 1.0]},
    ),
    Card(
        arm7,
        "Seven axes along a curve",
        "From a curve of the tool to joints by inverse kinematics, and to the fastest timing within the arm's limits.",
        lambda r: f"Once around in {r.duration:.2f} s.",
    ),
    Card(
        mobile,
        "Wheels that do not slip",
        "Two driven wheels and a caster roll without slip along an eight, while an arm swings on top.",
        lambda r: f"Energy is balanced to {r.energy.drift:.0e}.",
        {"rest": 0, "from": [0.8, -1, 0.7]},
    ),
    Card(
        hybrid,
        "An arm on a hexapod",
        "Six legs and seven joints in one machine of 13 drives, on a path as fast as they allow.",
        lambda r: f"{r.duration:.2f} s, shown at half speed.",
        {"speed": 0.5},
    ),
]
