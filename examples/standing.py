"""Robots and persons on their feet: `python examples/standing.py squat shift trot lift push sit climb` writes views.

Squat, shift and trot need the package example-robot-data, all of them a solver for sparse problems: pip install
"linkwise[ipopt]". Each takes about a minute.
"""

import sys
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import linkwise as lw
from linkwise.planning import Plan, State
from linkwise.vector import Vec3, dot
from linkwise.walking import Person

FOOT = [(-0.05, -0.075, -0.03), (-0.05, -0.075, 0.03), (0.13, -0.075, 0.04), (0.13, -0.075, -0.04),
        (0.2, -0.075, 0.02), (0.2, -0.075, -0.02)]  # fmt: skip
SEAT = [(-0.12, -0.09, -0.12), (-0.12, -0.09, 0.12), (0.05, -0.09, 0.12), (0.05, -0.09, -0.12)]
EDGE, RISE = 0.4, 0.17  # of a step: where and how high, m
FEET = ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT")
SOLES = ("left_sole_link", "right_sole_link")
STILL = ("gripper_left_joint", "gripper_right_joint", "head_1_joint", "head_2_joint")
LOADED = 0.01  # weights: from which force on a centre of pressure tells something
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
    return lw.plan(robot, start, start, easy(robot), limits, duration=2.0, control_points=12)


def shift(robot: lw.Robot, start: Any) -> Plan:
    """Solo12 moves its body to one side and forwards, on four feet."""
    there = lw.limit.via(1.0, frame="base_link", position=start[:3] + np.array([0.04, 0.05, -0.03]))
    limits = [lw.limit.joints(velocity=20.0, effort=3.0), *(lw.limit.contact(name) for name in FEET), there]
    cost = lw.cost.effort() + 1e-4 * lw.cost.jerk()
    return lw.plan(robot, start, State(), cost, limits, duration=0.6, control_points=12)


def trot(robot: lw.Robot, start: Any, step: float = 0.08, lift: float = 0.03, *limits: Any) -> Plan:
    """Solo12 makes a step with each diagonal pair of feet."""
    dyn, feet = lw.compile(robot), []
    for names, lifted, landed in ((("FL_FOOT", "HR_FOOT"), 0.15, 0.45), (("FR_FOOT", "HL_FOOT"), 0.55, 0.85)):
        for name in names:
            there = dyn.pose(start, name)[:3, 3] + np.array([step, 0.0, 0.0])
            feet.append(lw.limit.contact(name, during=[(0.0, lifted), (landed, 1.0)], at=[None, there], lift=lift))
    goal = start.copy()
    goal[0] += step
    own, cost = lw.limit.joints(velocity=20.0, effort=3.0), lw.cost.effort() + 1e-4 * lw.cost.jerk()
    return lw.plan(robot, start, goal, cost, [own, *feet, *limits], duration=1.2, control_points=36)


def body(person: Person) -> lw.Robot:
    """A person whose pelvis floats, with stiff toes."""
    return person.floating(lock=(*person.frozen, "toe_r", "toe_l"))


def foot(side: str, **options: Any) -> Any:
    return lw.limit.contact(f"foot_{side}", sole=FOOT, **options)


def moved(robot: lw.Robot, start: Any, limits: Any, duration: float, count: int) -> Plan:
    """The easiest motion of a person to somewhere, at rest there."""
    return lw.plan(robot, start, State(), easy(robot), [OWN, *limits], duration=duration, control_points=count)


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


def above_step(side: str, share: float) -> list[Any]:
    """At a share of the time the toes are above the step, and not yet beyond its edge."""

    def toes(p: Any) -> Any:
        return p.pose(f"foot_{side}").point(Vec3(0.2, -0.075, 0.0))

    return [
        lw.limit.function(lambda p: toes(p).x, upper=EDGE - 0.02, label=f"edge {side}", at=share),
        lw.limit.function(lambda p: toes(p).y, lower=RISE + 0.02, label=f"step {side}", at=share),
    ]


def climb() -> Plan:
    """A person climbs a step of 0.17 m, whose edge is 0.4 m before the ankles, with one foot after the other."""
    robot = body(Person())
    start, up = robot.q(), np.array([0.48, RISE, 0.0])
    limits: list[Any] = [OWN, lw.limit.joints(position={f"sh_flex_{side}": (-0.2, 0.4) for side in "rl"})]
    goal = start.copy()
    goal[:3] += up
    for side, lifted, over, landed in (("r", 0.2, 0.3, 0.45), ("l", 0.55, 0.65, 0.8)):
        there = lw.compile(robot).pose(start, f"foot_{side}")[:3, 3] + up
        limits.append(foot(side, during=[(0.0, lifted), (landed, 1.0)], at=[None, there], lift=0.15))
        limits += above_step(side, over)
    return lw.plan(robot, start, goal, easy(robot), limits, duration=4.0, control_points=36)


MOTIONS: dict[str, Callable[[], Plan]] = {
    "squat": lambda: squat(*talos()), "shift": lambda: shift(*solo()), "trot": lambda: trot(*solo()), "lift": lift,
    "push": push, "sit": sit, "climb": climb,
}  # fmt: skip


class Kept(NamedTuple):
    """How well a plan keeps what contacts ask for, on a fine grid.

    Args:
        momentum: what wrenches of contacts leave of the rate of momentum, forces and moments, in weights.
        cone: the least room to the cone of friction, in weights.
        pull: the least normal force, in weights.
        edge: m, the least distance of the centre of pressure from the edges of soles, within them.
        slip: m, the largest distance of a contact from its place.
    """

    momentum: float
    cone: float
    pull: float
    edge: float
    slip: float


def kept(plan: Plan, count: int = 2001) -> Kept:
    """How well a plan keeps what its contacts ask for."""
    t, dyn = np.linspace(0.0, plan.duration, count), lw.compile(plan.robot)
    cone, pull, edge, slip = [], [], [np.inf], []
    for s in plan.chart.stances:
        stands, n = s.stands(t / plan.duration), np.array(s.normal)
        pushed = plan.contact_force(s.name, t)
        up = pushed[:, 3:] @ n
        across = np.linalg.norm(pushed[:, 3:] - up[:, None] * n, axis=1)
        cone.append(float((s.friction * up - across).min() / s.weight))
        pull.append(float(up.min() / s.weight))
        T, place = dyn.pose(plan.q(t), s.frame)[stands], s.reference(t[stands] / plan.duration)
        at = T[:, :3, :3] @ s.middle + T[:, :3, 3]
        slip.append(float(np.linalg.norm(at - place[:, :9].reshape(-1, 3, 3) @ s.middle - place[:, 9:], axis=1).max()))
        if s.is_sole:
            own = np.einsum("nji,nj->ni", T[:, :3, :3], pushed[stands, :3] - at) @ np.array(s.axes)
            corners = np.array(s.corners)
            sides = np.roll(corners, -1, axis=0) - corners
            sides /= np.linalg.norm(sides, axis=1)[:, None]
            away = sides[:, 0] * (own[:, 1:2] - corners[:, 1]) - sides[:, 1] * (own[:, :1] - corners[:, 0])
            edge.append(float(away[up[stands] > LOADED * s.weight].min(initial=np.inf)))
    momentum = float(np.abs(plan.base_wrench(t)).max() / plan.chart.stances[0].weight)
    return Kept(momentum, min(cone), min(pull), min(edge), max(slip))


CHAIR = [[(-0.2, 0.0), (0.35, 0.0)], [(-0.52, 0.45), (-0.22, 0.45), (-0.22, 0.0)]]
STAIR = [[(-0.25, 0.0), (EDGE, 0.0), (EDGE, RISE), (0.8, RISE)]]
SOLIDS = {
    "sit": [lw.Shape("chair", "box", (0.3, 0.45, 0.4), lw.Pose.of((-0.37, 0.225, 0.0)))],
    "climb": [lw.Shape("step", "box", (0.5, RISE, 0.8), lw.Pose.of((EDGE + 0.25, 0.5 * RISE, 0.0)))],
}


def strip(plan: Plan, axes: Any, ground: Any, shares: Sequence[float], apart: float) -> None:
    """A person in a plan, seen from the right at some shares of its time, side by side, with forces of contacts."""
    robot, dyn = plan.robot, lw.compile(plan.robot)
    names = [link.name for link in robot.links if link is not robot.root]
    colours = {"l": "tab:red", "r": "tab:blue"}
    for k, share in enumerate(shares):
        t, aside = share * plan.duration, np.array([apart * k, 0.0])
        T = {name: dyn.pose(plan.q(t), name)[:2] for name in names}
        lines = [(np.array(x), "0.7") for x in ground]
        for joint in robot.joints:
            if joint.parent in names:
                ends = [T[joint.parent][:, 3], T[joint.child][:, 3]]
                lines.append((np.array(ends), colours.get(joint.child.rpartition("_")[2], "0.4")))
        for side, colour in colours.items():
            X = T[f"foot_{side}"]
            corners = [X[:, :3] @ (x, y, 0.0) + X[:, 3] for x, y in ((0, 0), (-0.05, -0.075), (0.2, -0.075), (0, 0))]
            lines.append((np.array(corners), colour))
        for line, colour in lines:
            axes.plot(*(line + aside).T, color=colour, lw=2.0, solid_capstyle="round")
        for name in plan.contacts:
            force = plan.contact_force(name, t)
            at, f = force[:2] + aside, 6e-4 * force[3:5]
            if np.hypot(*f) > 0.01:
                arrow = {"arrowstyle": "->", "color": "tab:green", "lw": 1.5}
                axes.annotate("", at, at - f, arrowprops=arrow)
        axes.text(aside[0], 1.9, f"{t:.1f} s", ha="center")
    axes.set_aspect("equal")
    axes.axis("off")


def main(names: list[str]) -> None:
    for name in names or list(MOTIONS):
        plan = MOTIONS[name]()
        print(name, plan, plan.view(f"{name}.html", obstacles=SOLIDS.get(name, ())))


if __name__ == "__main__":
    main(sys.argv[1:])
