"""Robots and persons on their feet: `python examples/standing.py squat trot lift push sit step` writes views.

Squat and trot need the package example-robot-data, all of them a solver for sparse problems: pip install
'linkwise[ipopt]'. Each takes about a minute.
"""

import sys
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import numpy as np

import linkwise as lw
from linkwise.planning import Plan, State
from linkwise.vector import dot
from linkwise.walking import Person

FOOT = [(-0.05, -0.075, -0.03), (-0.05, -0.075, 0.03), (0.13, -0.075, 0.04), (0.13, -0.075, -0.04),
        (0.2, -0.075, 0.02), (0.2, -0.075, -0.02)]  # fmt: skip
SEAT = [(-0.12, -0.09, -0.12), (-0.12, -0.09, 0.12), (0.05, -0.09, 0.12), (0.05, -0.09, -0.12)]
FEET = ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT")
SOLES = ("left_sole_link", "right_sole_link")
STILL = ("gripper_left_joint", "gripper_right_joint", "head_1_joint", "head_2_joint")
OWN = lw.limit.joints("position", "effort")


def easy(robot: lw.Robot) -> Any:
    """Efforts as shares of their limits, and a little of the jerk."""
    strengths = [robot.joint(name).limits.effort for name in robot.names[1:]]
    return lw.cost.effort(weights=[1.0 / x**2 for x in strengths]) + 1e-3 * lw.cost.jerk()


def described(name: str) -> str:
    """The URDF of a robot in the package example-robot-data."""
    folder = Path(str(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")))
    return str(next(folder.rglob(name)))


@cache
def solo() -> tuple[lw.Robot, np.ndarray]:
    """Solo12 on its feet."""
    robot = lw.load(described("solo12.urdf"), base="floating").without_friction()
    legs = {"root_joint": (0.0, 0.0, 0.25, 0.0, 0.0, 0.0, 1.0)}
    for leg, bend in (("FL", 0.8), ("FR", 0.8), ("HL", -0.8), ("HR", -0.8)):
        legs |= {f"{leg}_HFE": bend, f"{leg}_KFE": -2.0 * bend}
    return robot, robot.q(legs)


@cache
def talos() -> tuple[lw.Robot, np.ndarray]:
    """TALOS on its soles, with head and grippers locked and without dry friction."""
    robot = lw.load(described("talos_reduced.urdf"), base="floating").lock(STILL).without_friction()
    q = {"root_joint": (0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), "torso_2_joint": 0.006761}
    for side, s in (("left", 1.0), ("right", -1.0)):
        q |= {f"leg_{side}_3_joint": -0.411354, f"leg_{side}_4_joint": 0.859395, f"leg_{side}_5_joint": -0.448041}
        q |= {f"arm_{side}_1_joint": 0.25847 * s, f"arm_{side}_2_joint": 0.173046 * s, f"arm_{side}_4_joint": -0.525366}
    start = robot.q(q)
    start[2] -= lw.compile(robot).pose(start, SOLES[0])[2, 3]
    return robot, start


def squat(robot: lw.Robot, start: Any) -> Plan:
    """TALOS bends its knees by a quarter of a metre, and comes up again."""
    soles = [lw.limit.contact(sole, sole=(0.2, 0.12), friction=0.6) for sole in SOLES]
    low = lw.limit.via(0.5, frame="base_link", position=start[:3] - np.array([0.0, 0.0, 0.25]))
    limits = [lw.limit.joints("position", "velocity", "effort"), *soles, low]
    return lw.plan(robot, start, start, easy(robot), limits, duration=2.0, control_points=12, solver="ipopt")


def trot(robot: lw.Robot, start: Any, step: float = 0.08) -> Plan:
    """Solo12 makes a step with each diagonal pair of feet."""
    dyn, feet = lw.compile(robot), []
    for names, lifted, landed in ((("FL_FOOT", "HR_FOOT"), 0.15, 0.45), (("FR_FOOT", "HL_FOOT"), 0.55, 0.85)):
        for name in names:
            there = dyn.pose(start, name)[:3, 3] + np.array([step, 0.0, 0.0])
            feet.append(lw.limit.contact(name, during=[(0.0, lifted), (landed, 1.0)], at=[None, there], lift=0.03))
    goal = start.copy()
    goal[0] += step
    limits, cost = lw.limit.joints(velocity=20.0, effort=3.0), lw.cost.effort() + 1e-4 * lw.cost.jerk()
    return lw.plan(robot, start, goal, cost, [limits, *feet], duration=1.2, control_points=36, solver="ipopt")


def body(person: Person) -> lw.Robot:
    """A person whose pelvis floats, with stiff toes."""
    return person.floating(lock=(*person.frozen, "toe_r", "toe_l"))


def foot(side: str, **options: Any) -> Any:
    return lw.limit.contact(f"foot_{side}", sole=FOOT, **options)


def moved(robot: lw.Robot, start: Any, limits: Any, duration: float, count: int) -> Plan:
    """The easiest motion of a person to somewhere, at rest there."""
    return lw.plan(robot, start, State(), easy(robot), [OWN, *limits], duration=duration, control_points=count,
                   solver="ipopt")  # fmt: skip


def lift() -> Plan:
    """A person lifts a box of 10 kg, 0.4 m wide, from near the floor to the height of the elbows."""
    robot = body(Person().with_hand_load(5.0, "r").with_hand_load(5.0, "l"))

    def width(p: Any) -> Any:
        d = p.pose("hand_r").p - p.pose("hand_l").p
        return dot(d, d)

    feet = [foot(s, at=lw.Pose.of((0.0, 0.075, z))) for s, z in (("r", 0.12), ("l", -0.12))]
    box = lw.limit.function(width, lower=0.395**2, upper=0.405**2, label="width of the box")
    places = [
        lw.limit.via(s, frame=f"hand_{side}", position=(x, y, z), tolerance=2e-3)
        for s, x, y in ((0.0, 0.35, 0.25), (1.0, 0.3, 1.05))
        for side, z in (("r", 0.2), ("l", -0.2))
    ]
    return moved(robot, State(), [*feet, box, *places], 1.6, 11)


def push() -> Plan:
    """A person puts a hand against a wall and pushes it with 100 N."""
    robot = body(Person())
    hand = lw.limit.contact("hand_r", at=(0.45, 1.25, 0.2), normal=(-1.0, 0.0, 0.0), during=(0.5, 1.0))
    force = lw.limit.function(lambda p: p.contact("hand_r").force.z, lower=100.0, label="push", at=1.0)
    return moved(robot, robot.q(), [foot("r"), foot("l"), hand, force], 2.0, 16)


def sit() -> Plan:
    """A person sits down on a chair of 0.45 m, and puts 400 N on it."""
    robot = body(Person())
    seat = lw.limit.contact("pelvis", sole=SEAT, at=lw.Pose.of((-0.33, 0.54, 0.0)), during=(0.6, 1.0))
    force = lw.limit.function(lambda p: p.contact("pelvis").force.z, lower=400.0, label="seat", at=1.0)
    return moved(robot, robot.q(), [foot("r"), foot("l"), seat, force], 2.0, 18)


def step() -> Plan:
    """A person climbs a step of 0.17 m."""
    robot = body(Person())
    dyn = lw.compile(robot)
    feet = []
    for side, lifted, landed in (("r", 0.2, 0.45), ("l", 0.55, 0.8)):
        up = dyn.pose(robot.q(), f"foot_{side}")[:3, 3] + np.array([0.3, 0.17, 0.0])
        feet.append(foot(side, during=[(0.0, lifted), (landed, 1.0)], at=[None, up], lift=0.1))
    return moved(robot, robot.q(), feet, 2.5, 36)


def main(names: list[str]) -> None:
    makers = {"squat": lambda: squat(*talos()), "trot": lambda: trot(*solo()), "lift": lift, "push": push, "sit": sit,
              "step": step}  # fmt: skip
    for name in names or list(makers):
        plan = makers[name]()
        print(name, plan, plan.view(f"{name}.html"))


if __name__ == "__main__":
    main(sys.argv[1:])
