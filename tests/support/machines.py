"""Platforms on legs of all families, well-known and random, with states that they reach."""

from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

import linkwise as lw
from linkwise import Drive, Frame, Friction, Joint, Link, Motor, Pose, Robot, Spring, Vec3
from linkwise.platforms import Leg, on_legs
from linkwise.rotation import axis_angle
from linkwise.vector import Mat3


class Machine(NamedTuple):
    """A robot whose platform leads, and a position in the middle of its motion."""

    robot: Robot
    home: np.ndarray

    @property
    def dyn(self) -> Any:
        return compiled(self.robot)

    def states(self, rows: int, seed: int = 0, spread: float = 0.03) -> tuple[np.ndarray, ...]:
        """Positions around the home where neither machine nor legs are nearly singular, velocities, accelerations."""
        rng = np.random.default_rng(seed)
        q = self.home + spread * rng.uniform(-1.0, 1.0, (2 * rows + 20, self.robot.nq))
        if self.robot.nq == 7:
            q[:, 3:] /= np.linalg.norm(q[:, 3:], axis=1, keepdims=True)
        v, a = rng.uniform(-1.0, 1.0, (2, len(q), self.robot.nv))
        space = self.dyn.workspace(q)
        sound = np.flatnonzero((space.drive_condition < 50.0) & (space.condition < 200.0))[:rows]
        assert len(sound) == rows
        return q[sound], v[sound], a[sound]


@cache
def compiled(robot: Robot, **options: Any) -> Any:
    return lw.compile(robot, **options)


# letters of the joints below the platform, U being two revolute joints whose axes cross; legs, motion, and a seed
# that soon gives a machine far from singular poses
RANDOM = {
    "6-UPS": ("UP", 6, "floating", 0),
    "6-RUS": ("RU", 6, "floating", 2),
    "6-PUS": ("PU", 6, "floating", 1),
    "6-URS": ("UR", 6, "floating", 3),
    "8-UPS": ("UP", 8, "floating", 3),
    "3-UPS, translation": ("UP", 3, "translation", 3),
    "3-RUS, translation": ("RU", 3, "translation", 2),
    "3-PUS, translation": ("PU", 3, "translation", 3),
    "3-URS, translation": ("UR", 3, "translation", 0),
    "3-RRR": ("RR", 3, "planar", 1),
    "3-RPR": ("RP", 3, "planar", 4),
    "3-PRR": ("PR", 3, "planar", 3),
}
NAMES = ("Gough-Stewart", "Delta", "3-RRR upright", *RANDOM)


@cache
def machine(name: str) -> Machine:
    """One of `NAMES`."""
    if name in RANDOM:
        return random_machine(*RANDOM[name])
    if name == "Gough-Stewart":
        robot = lw.gough_stewart(armature=0.4, friction=Friction(20.0, 3.0), spring=Spring(500.0, 5.0, 0.8))
        return Machine(robot, np.array([0.02, 0.03, 0.75, 0.05, -0.04, 0.03, 1.0]))
    if name == "Delta":
        return Machine(lw.delta(armature=0.01, friction=Friction(0.1)), np.array([0.03, -0.02, -0.5]))
    return Machine(lw.three_rrr(gravity=(1.0, -9.0, 2.0), elbow=-1), np.array([0.03, -0.04, 0.1]))


def random_machine(letters: str, legs: int, motion: str, seed: int) -> Machine:
    """A machine with random legs that meet the platform at a home pose, drawn again while that is nearly singular."""
    home = np.array({"floating": [0.1, -0.2, 0.8, 0.1, 0.05, -0.1, 0.95]}.get(motion, [0.1, -0.2, 0.3]))
    home[3:] /= np.linalg.norm(home[3:])
    for attempt in range(100):
        rng = np.random.default_rng([seed, attempt])
        parts = [random_leg(f"leg{k}", letters, motion, pose_of(home, motion), rng) for k in range(legs)]
        gravity = rng.uniform(-9.0, 9.0, 3)
        platform = random_link("platform", rng, 5.0)
        robot = on_legs(platform, parts, motion, home=home, gravity=gravity, name=f"{legs} {letters}")
        J = lw.algorithms.drive_jacobian.plain(robot, list(home))
        if np.linalg.cond(np.reshape(J, (legs, -1))) < 15.0:
            return Machine(robot, home)
    raise AssertionError("no machine far from singular poses was found")


def pose_of(x: np.ndarray, motion: str) -> tuple[np.ndarray, np.ndarray]:
    """Rotation and position of a platform."""
    if motion == "floating":
        return Rotation.from_quat(x[3:]).as_matrix(), x[:3]
    if motion == "planar":
        return Rotation.from_euler("z", x[2]).as_matrix(), np.array([x[0], x[1], 0.0])
    return np.eye(3), np.asarray(x)


def random_link(name: str, rng: np.random.Generator, mass: float) -> Link:
    """A body of random mass points."""
    points = 0.1 * rng.normal(size=(6, 3))
    masses = mass * rng.dirichlet(np.ones(6))
    centre = masses @ points
    d = points - centre
    I = sum(m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(masses, d, strict=True))
    return Link(name, mass, centre, I)


def random_leg(name: str, letters: str, motion: str, platform: tuple[np.ndarray, np.ndarray], rng: Any) -> Leg:
    """A leg that moves its tip easily, whose tip at its home is on the platform."""
    plane = motion == "planar"
    kinds = letters.replace("U", "RR")
    while True:
        chain = random_chain(letters, plane, rng)
        home = [float(rng.uniform(-1.0, 1.0) if kind == "R" else rng.uniform(0.5, 1.0)) for kind in kinds]
        J = np.reshape(lw.jacobian.plain(chain, home, frame="tip"), (6, -1))
        if np.linalg.cond(J[: 2 if plane else 3]) < 8.0:
            break
    turn, at = random_turn(rng, plane), 0.4 * rng.normal(size=3)
    tip = np.reshape(lw.pose.plain(chain, home, frame="tip"), (4, 4))[:3, 3]
    base = Pose(turn, Vec3(*(platform[1] + platform[0] @ at - np.array(turn) @ tip)))
    actuated = chain.names[-1 if kinds[-1] == "P" else 0]
    return Leg(name, chain, "tip", at, actuated, base, dict(zip(chain.names, home, strict=True)))


def random_chain(letters: str, plane: bool, rng: Any) -> Robot:
    """Joints with skew placements, friction, motors on other links and rotor inertia."""
    motor = Motor("ground", 0.3, (0.1, 0.0, 0.0), (1e-3, 0.0, 0.0, 2e-3, 0.0, 1e-3), 1e-4, Vec3(0.0, 0.6, 0.8))
    links, joints = [Link("ground")], []
    for k, kind in enumerate(letters.replace("U", "RR")):
        crossing = "U" in letters and k == letters.index("U") + 1
        place = Pose(random_turn(rng, plane), Vec3(*(rng.uniform(0.2, 0.5, 3) if k and not crossing else np.zeros(3))))
        axis = Vec3(0.0, 0.0, 1.0) if kind == "R" else Vec3(1.0, 0.3, 0.0) if plane else Vec3(0.2, 0.3, 1.0)
        given: dict[str, Any] = {"friction": Friction(0.3 * k, 0.05, "tanh")}
        given |= (
            {"armature": 0.02} if k == 1 else {"drive": Drive(motor if k == 0 else replace(motor, link="link1"), 20.0)}
        )
        kind = "revolute" if kind == "R" else "prismatic"
        joints.append(Joint(f"joint{k}", links[-1].name, f"link{k}", kind, place, axis, **given))
        links.append(random_link(f"link{k}", rng, 0.5))
    tip = Frame("tip", links[-1].name, Pose(p=Vec3(*rng.uniform(0.2, 0.5, 3))))
    return Robot(links, joints, [tip])


def random_turn(rng: Any, about_z: bool) -> Mat3:
    axis = np.array([0.0, 0.0, 1.0]) if about_z else rng.normal(size=3)
    return axis_angle(Vec3(*(axis / np.linalg.norm(axis))), float(rng.uniform(-3.0, 3.0)))
