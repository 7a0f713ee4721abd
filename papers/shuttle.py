"""The Space Shuttle's manipulator, on which Nasser tried his scheme: forward dynamics by all routes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwise.robot.joint import Joint
from linkwise.robot.link import Frame, Link
from linkwise.robot.robot import Robot
from linkwise.spatial import Pose
from linkwise.vector import Vec3
from papers.experiments import Cell, Experiment, Table
from papers.forward_routes import ROUTES, TOLERANCE, by_all_routes, operations, published, relative

MASS = 410.5  # kg, of the arm, 905 lb
RADIUS = 0.19  # m, half of 15 in
PAYLOAD = 29_484.0  # kg, 65,000 lb
BAY = (18.3, 4.6)  # m, length and diameter of the cargo bay, 60 ft by 15 ft
STATES = 8


class Segment(NamedTuple):
    """A joint and the tube beyond it."""

    joint: str
    axis: Vec3
    length: float  # m


YAW, PITCH, ROLL = Vec3(0.0, 0.0, 1.0), Vec3(0.0, 1.0, 0.0), Vec3(1.0, 0.0, 0.0)
SEGMENTS = (
    Segment("shoulder_yaw", YAW, 0.0),
    Segment("shoulder_pitch", PITCH, 6.4),
    Segment("elbow_pitch", PITCH, 7.0),
    Segment("wrist_pitch", PITCH, 0.5),
    Segment("wrist_yaw", YAW, 0.8),
    Segment("wrist_roll", ROLL, 0.6),
)


def shuttle_arm() -> Robot:
    """The arm stretched along x of the orbiter, without gravity: tubes of equal mass for each metre."""
    reach = sum(s.length for s in SEGMENTS)
    links, joints = [Link("orbiter")], []
    parent, offset = "orbiter", 0.0
    for s in SEGMENTS:
        name, mass = f"beyond_{s.joint}", MASS * s.length / reach
        across = mass * (s.length**2 / 12.0 + RADIUS**2 / 2.0)
        links.append(Link(name, mass, (s.length / 2.0, 0.0, 0.0), (mass * RADIUS**2, across, across)))
        joints.append(Joint(s.joint, parent, name, origin=_ahead(offset), axis=s.axis))
        parent, offset = name, s.length
    tip = Frame("tip", parent, _ahead(offset))
    return Robot(links, joints, [tip], gravity=(0.0, 0.0, 0.0), name="shuttle arm")


def loaded_arm() -> Robot:
    """The arm with the heaviest payload it may carry, a cylinder that fills the bay, held at the middle of its side."""
    length, radius = BAY[0], BAY[1] / 2.0
    along, across = PAYLOAD * radius**2 / 2.0, PAYLOAD * (radius**2 / 4.0 + length**2 / 12.0)
    load = Link("payload", PAYLOAD, (radius, 0.0, 0.0), (across, along, across))
    last = SEGMENTS[-1]
    hold = Joint("grapple", f"beyond_{last.joint}", "payload", "fixed", origin=_ahead(last.length))
    return shuttle_arm().add(load, hold)


def shuttle() -> Experiment:
    """Joint accelerations of the Space Shuttle's arm by every route, with and without a payload."""
    robots = {"arm alone": shuttle_arm(), f"with {PAYLOAD:.0f} kg": loaded_arm()}
    rng = np.random.default_rng(4)
    states = rng.uniform(-1.0, 1.0, size=(STATES, 3, 6)) * np.array([2.0, 0.05, 500.0])[:, None]
    found = {name: by_all_routes(robot, states) for name, robot in robots.items()}
    rival = "unit accelerations"
    errors = {name: {r: relative(qdd[r], qdd[rival]) for r in ROUTES} for name, qdd in found.items()}
    worst = max(max(row.values()) for row in errors.values())
    counts = {route: operations(robots["arm alone"], route) for route in ROUTES}
    return Experiment(
        name="shuttle",
        title="The Space Shuttle's manipulator",
        source="Nasser, abstract: tried against Walker and Orin's method with data of the Shuttle's arm; dimensions"
        " from NASA's public description of the Remote Manipulator System",
        finding=f"All routes give the same accelerations of the joints to {worst:.0e}, as the source says of its two.",
        text=(
            "The source reports that its scheme and Walker and Orin's method gave identical accelerations of the"
            " joints with data of the Shuttle's arm. It prints neither the data nor a result, so the statement can be"
            " tried, and no number compared.",
            "The payload is seventy times heavier than the arm, which makes the system badly"
            " conditioned, and costs some digits.",
        ),
        tables=(_errors_table(errors), _counts_table(counts), _data_table()),
        assumptions=(
            "Public figures: six joints and their order, 50 ft 3 in long, 15 in in diameter, 905 lb, payloads up to"
            " 65,000 lb, a cargo bay of 60 ft by 15 ft.",
            "Rounded public figures: booms of about 6.4 m and 7.0 m, and wrist segments of about 0.5, 0.8 and 0.6 m,"
            " which add up to the length of the arm.",
            "Assumed: mass spread evenly over the length, inertias of thin tubes of that diameter, a payload that is a"
            " uniform cylinder as large as the bay, shoulder axes that cross, no offset at the elbow, rigid booms, and"
            " neither motors nor gears, although their rotors matter in the real arm. The orbiter is at rest.",
            f"States are random: {STATES} of them, angles up to 2 rad, speeds up to 0.05 rad/s, torques up to 500 N m.",
        ),
        agrees=worst <= TOLERANCE,
    )


def _ahead(x: float) -> Pose:
    return Pose(p=Vec3(x, 0.0, 0.0))


def _errors_table(errors: dict[str, dict[str, float]]) -> Table:
    rows: list[tuple[Cell, ...]] = [(route, *(errors[name][route] for name in errors)) for route in ROUTES]
    note = "Relative to the largest acceleration of the joint. Unit accelerations are Walker and Orin's method, with"
    note += " which the others are compared."
    return Table("Largest difference of joint accelerations", ("route", *errors), tuple(rows), note, digits=2)


def _counts_table(counts: dict[str, tuple[int, int]]) -> Table:
    rows: list[tuple[Cell, ...]] = [(route, *count) for route, count in counts.items()]
    rows.append(("Nasser, published for N = 6", *published(6)))
    note = "Right angles and zero offsets of this arm make it cheaper than the general chains that were published for."
    return Table("Operations", ("route", "multiplications", "additions"), tuple(rows), note)


def _data_table() -> Table:
    robot = shuttle_arm()
    rows: list[tuple[Cell, ...]] = []
    for s in SEGMENTS:
        link = robot.link(f"beyond_{s.joint}")
        axis = "xyz"[[abs(x) for x in s.axis].index(1.0)]
        rows.append((s.joint, axis, s.length, link.mass, link.inertia[0], link.inertia[3]))
    head = ("joint", "axis", "length beyond it, m", "mass, kg", "inertia along, kg m^2", "inertia across, kg m^2")
    return Table("The arm as modelled, stretched along x", head, tuple(rows), "Inertias about the centre of mass.", 4)
