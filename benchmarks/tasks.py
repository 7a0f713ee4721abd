"""Ten tasks in Linkwise and in other libraries: blocks of docs/from_other_libraries.md, their lines and their times.

Libraries that are not installed are left out. A time is the shortest of several runs of a block, after a first one in
which Linkwise compiles.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "from_other_libraries.md"
NEEDS = {
    "Linkwise": "linkwise",
    "Pinocchio": "pinocchio",
    "MuJoCo": "mujoco",
    "Robotics Toolbox": "roboticstoolbox",
    "OpenSim": "opensim",
}
SECONDS = 0.3  # for the runs of a block, unless the first took longer
MOST = 2000  # runs


def blocks() -> dict[str, dict[str, str]]:
    """Code by task and library, in the order of the page; what all share is the task "shared"."""
    found: dict[str, dict[str, str]] = {}
    task = "shared"
    text, either = PAGE.read_text(encoding="utf-8"), r"^## ([^\n]+)$|^```python\n# (\w[\w ]*)\n(.*?)^```$"
    for line, label, code in re.findall(either, text, re.MULTILINE | re.DOTALL):
        task = line or task
        if label:
            found.setdefault(task if label != "shared" else "shared", {})[label] = code
    return found


def lines(code: str) -> int:
    """How many lines of code there are, without blank ones and comments."""
    return sum(1 for line in code.splitlines() if line.strip() and not line.lstrip().startswith("#"))


def installed(library: str) -> bool:
    return find_spec(NEEDS[library]) is not None


@contextmanager
def workplace(library: str) -> Iterator[dict[str, Any]]:
    """A folder with the robot, and the names that all blocks share."""
    space: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Robotics Toolbox calls its own function deprecated
        shutil.copy(ROOT / "examples" / "six_axes.urdf", folder)
        if library == "OpenSim":
            write_osim("six_axes.urdf", "six_axes.osim")
        exec(blocks()["shared"]["shared"], space)
        yield space


def write_osim(urdf: str, path: str) -> None:
    """The arm of a URDF file, whose joints turn about axes of their frames, as a file of OpenSim."""
    import opensim as osim

    import linkwise as lw

    turns = {(0, 0, 1): osim.Vec3(0), (0, 1, 0): osim.Vec3(-1.5707963267948966, 0, 0)}  # of z, about which pins turn
    robot, model = lw.load(urdf), osim.Model()
    model.setGravity(osim.Vec3(*robot.gravity))
    bodies = {robot.links[0].name: model.getGround()}
    for joint in robot.joints:
        link = robot.link(joint.child)
        xx, xy, xz, yy, yz, zz = link.inertia
        body = osim.Body(link.name, link.mass, osim.Vec3(*link.com), osim.Inertia(xx, yy, zz, xy, xz, yz))
        model.addBody(body)
        turn = turns[tuple(round(x) for x in joint.axis)]
        place = osim.Vec3(*joint.origin.p)
        pin = osim.PinJoint(joint.name, bodies[joint.parent], place, turn, body, osim.Vec3(0), turn)
        model.addJoint(pin)
        bodies[link.name] = body
    model.finalizeConnections()
    model.printToXML(path)


def measure(code: str, space: dict[str, Any]) -> float:
    """Seconds of the quickest run of a block, after a first one."""
    compiled = compile(code, "block", "exec")
    begin = time.perf_counter()
    exec(compiled, space)
    shortest, count, end = time.perf_counter() - begin, 0, time.perf_counter() + SECONDS
    while time.perf_counter() < end and count < MOST:
        begin = time.perf_counter()
        exec(compiled, space)
        shortest, count = min(shortest, time.perf_counter() - begin), count + 1
    return shortest


def run() -> list[dict[str, Any]]:
    import matplotlib

    matplotlib.use("agg")  # which some libraries would choose by a screen
    every, results = blocks(), []
    times: dict[str, dict[str, float]] = {}
    for library in NEEDS:
        if installed(library):
            with workplace(library) as space:
                times[library] = {
                    task: measure(found[library], space) for task, found in every.items() if library in found
                }
    print(f"{'':24}" + "".join(f"{library:>26}" for library in NEEDS))
    for task, found in every.items():
        if task == "shared":
            continue
        cells = []
        for library in NEEDS:
            took = times.get(library, {}).get(task)
            words = f"{lines(found[library])} lines" if library in found else "-"
            cells.append(words + ("" if took is None else f", {took * 1e6:12,.1f} us"))
            results.append({"task": task, "library": library, "seconds": took, "lines": lines(found.get(library, ""))})
        print(f"{task:24}" + "".join(f"{cell:>26}" for cell in cells))
    return results
