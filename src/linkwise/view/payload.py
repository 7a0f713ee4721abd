"""A scene and its motion as one text that a page carries: numbers and names, compressed, and the robot's kinematics."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from linkwise.errors import InputError
from linkwise.kernel.compile import compile
from linkwise.motion.columns import column_names
from linkwise.robot.geometry import PACKAGE, Shape
from linkwise.robot.robot import Robot
from linkwise.spatial import Pose
from linkwise.view.motion import PLOTTED, Motion
from linkwise.view.packed import Packed
from linkwise.view.scene import COLOURS, TRIANGLES, Scene, colour_of

UNITS = {"q": ("rad", "m"), "qd": ("rad/s", "m/s"), "tau": ("N m", "N")}
TITLES = {"q": "position", "qd": "velocity", "tau": "torque", "distance": "clearance"}


@dataclass(frozen=True)
class Payload:
    """What `linkwise.mount(element, payload)` of a page takes.

    Args:
        title: of the robot, as it is: whoever writes it into a page escapes it.
        text: the data, in the letters of base64.
        code: the script inside that computes poses, which a page's policy has to allow; see `digest`.
        notes: what a user should know of what is drawn.
    """

    title: str
    text: str
    code: str
    notes: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Of the code, as a Content-Security-Policy names it."""
        return digest(self.code)


def digest(script: str) -> str:
    """By which a policy allows a script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def payload(
    robot: Robot,
    motion: Any = None,
    *,
    ghost: Any = None,
    wrenches: bool = False,
    base_motion: Any = None,
    obstacles: Sequence[Shape] = (),
    trace: str | Sequence[str] = (),
    meshes: bool = True,
    triangles: int = TRIANGLES,
    title: str | None = None,
    compact: bool = False,
) -> Payload:
    """The data of one view.

    Args:
        robot: what is drawn.
        motion: what `Motion.of` takes; without one the robot stands where it starts.
        ghost: another motion of the same robot, drawn pale beside the first.
        wrenches: carry forces and moments through joints too; computed where the motion has none.
        base_motion: the base's `Pose` in the world as a function of time.
        obstacles: shapes in the world, whatever link they name, beside those that the motion knows; the base stands.
        trace: name of a frame or link, or several, whose way is drawn as a line.
        meshes: draw meshes; else shapes made from joints and links in their place.
        triangles: of all meshes together; where there are more, meshes are made coarser.
        title: in place of the robot's name.
        compact: show no panel at first, for pages that have several views.
    """
    if not isinstance(robot, Robot):
        raise InputError(f"view: expected a Robot, got {robot!r}.")
    given: Any = triangles
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise InputError(f"view triangles: expected a whole number above 0, got {triangles!r}.")
    moving = Motion.of(robot, motion, wrenches=wrenches, base_motion=base_motion)
    scene = Scene.of(moving.robot, use_meshes=meshes, triangles=triangles)
    if any(not isinstance(s, Shape) for s in obstacles) or (len(obstacles) and base_motion):
        what = "a base that stands still" if base_motion else "lw.Shape(...), in the world"
        raise InputError(f"view obstacles: expected {what}, got {obstacles!r}.")
    scene = scene.among(() if base_motion else (*getattr(motion, "obstacles", ()), *obstacles))
    beside = None if ghost is None else Motion.of(moving.robot, ghost)
    if beside is not None and beside.robot.nq != moving.robot.nq:
        raise InputError("view ghost: expected positions of the same coordinates as those of the motion, got others.")
    packed = Packed()
    name, code = robot.name if title is None else title, kinematics(moving.robot)
    lost = [f"mesh not found: {file}" for file in scene.missing]
    if any(file.startswith(PACKAGE) for file in scene.missing):
        lost.append("packages of meshes: name the folder that holds them in ROS_PACKAGE_PATH")
    notes = (*scene.notes, *lost, *moving.notes)
    head = {
        "title": name,
        "compact": compact,
        "notes": notes,
        "code": code,
        "key": _key(code),
        **_of_scene(scene, packed),
        "traces": [_trace(scene, name) for name in ((trace,) if isinstance(trace, str) else trace)],
        "motion": _of_motion(moving, packed) if motion is not None else None,
        "ghost": _of_motion(beside, packed) if beside is not None else None,
    }
    return Payload(name, packed.text(head), code, notes)


def kinematics(robot: Robot) -> str:
    """A script that gives pages the function (q, T) of a robot, where T are the matrices of `dyn.poses`.

    Nothing of it comes from names: those of the robot are left out.
    """
    nameless = robot.replace(name="robot", shapes=())
    source = compile(nameless).poses.javascript_source("poses") if robot.moving_links else "function poses(q, T) {}\n"
    return f"linkwise.kinematics['{_key(source)}'] = (() => {{\n{source}return poses; }})();"


def _key(code: str) -> str:
    """By which a page finds the function of a script; that of the script itself is the one of its source."""
    if code.startswith("linkwise.kinematics['"):
        return code[len("linkwise.kinematics['") :].partition("'")[0]
    return hashlib.sha256(code.encode()).hexdigest()[:24]


def _of_scene(scene: Scene, packed: Packed) -> dict[str, Any]:
    links = {place.link: k for k, place in enumerate(scene.places)}
    robot = scene.robot
    joints = {j.name: j for j in robot.joints}
    return {
        "up": list(scene.up),
        "size": scene.size,
        "nq": robot.nq,
        "rows": len(robot.moving_links),
        "home": robot.q().tolist(),
        "quaternions": [s.quaternion.start for s in robot.slots.values() if s.quaternion is not None],
        "links": [{"name": p.link, "row": p.row, "offset": matrix(p.offset)} for p in scene.places],
        "parts": [
            {
                "link": links[p.link],
                "solid": packed.solid(p.solid),
                "origin": matrix(p.origin),
                "colour": list(p.colour),
                "finish": p.finish,
            }
            for p in scene.parts
        ],
        "axes": [
            {
                "joint": a.joint,
                "link": links[a.link],
                "point": list(a.point),
                "direction": list(a.direction),
                "slides": a.slides,
                "colour": colour_of(robot, a.joint),
                "kind": joints[a.joint].kind,
            }
            for a in scene.axes
        ],
        "bodies": [
            {
                "link": links[b.link],
                "mass": b.mass,
                "com": list(b.com),
                "half": list(b.half_axes),
                "origin": matrix(Pose(b.axes, b.com)),
            }
            for b in scene.bodies
        ],
        "sliders": [{**s._asdict(), "colour": colour_of(robot, s.coordinate)} for s in scene.sliders],
    }


def _trace(scene: Scene, frame: str) -> dict[str, Any]:
    """The point that leaves a line behind: its link, and where it is in the link's frame."""
    found = scene.robot.frame(frame)
    link = next(k for k, place in enumerate(scene.places) if place.link == found.link)
    return {"link": link, "point": list(found.origin.p)}


def _of_motion(motion: Motion, packed: Packed) -> dict[str, Any]:
    q = column_names(motion.robot, "q"), motion.q
    curves = {"q": q, **motion.curves}
    return {
        "t": packed.array(motion.t, "<f8"),
        "q": packed.array(motion.q, "<f8"),
        "base": None if motion.base is None else packed.array(motion.base, "<f8"),
        "wrench": None if motion.wrench is None else packed.array(motion.wrench, "<f4"),
        "timed": motion.timed,
        "forces": [{"name": name, "values": packed.array(x, "<f4")} for name, x in motion.forces.items()],
        "curves": [
            {
                "key": key,
                "title": TITLES[key],
                "units": _units(motion.robot, key),
                "names": [name.partition(".")[2] for name in curves[key][0]],
                "colours": _colours(motion.robot, curves[key][0]),
                "values": packed.array(curves[key][1], "<f4"),
            }
            for key in PLOTTED
            if key in curves
        ],
    }


def _colours(robot: Robot, columns: list[str]) -> list[str]:
    """The colours of columns: those of their joints, and the next ones where a joint has several."""
    joints = [j.name for j in robot.joints]
    found: list[str] = []
    before = ""
    for column in columns:
        joint = column.partition(".")[2]
        while joint and joint not in joints:
            joint = joint.rpartition(".")[0]
        again = bool(found) and joint == before and not column.endswith(".motor")
        found.append(COLOURS[(COLOURS.index(found[-1]) + 1) % len(COLOURS)] if again else colour_of(robot, joint))
        before = joint
    return found


def _units(robot: Robot, key: str) -> list[str]:
    """The units of a quantity of this robot: of angles, of lengths, or of both."""
    if key == "distance":
        return ["m"]
    tree = robot.opened().slots
    slots = [tree[name] for name in robot.drives] if key == "tau" else robot.slots.values()
    lengths = {x for slot in slots for x in slot.kind.lengths}
    return [unit for unit, slides in zip(UNITS[key], (False, True), strict=True) if slides in lengths]


def matrix(pose: Pose) -> list[float]:
    """A pose as 16 numbers, row after row."""
    return [float(x) for row in pose.matrix() for x in row]
