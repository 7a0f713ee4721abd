"""The moving picture of the README, docs/pictures/machines.webp: three machines side by side, from pages of `.view()`.

Run it with a Chromium on the path: `python examples/moving_picture.py`. The extras `test` and `view` have the rest.
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "benchmarks"), str(HERE.parent / "tests")]

from machines import ROBOTS  # noqa: E402
from PIL import Image  # noqa: E402
from scipy.interpolate import CubicSpline  # noqa: E402

import linkwise as lw  # noqa: E402
from linkwise.view.motion import Motion  # noqa: E402
from linkwise.view.page import written  # noqa: E402
from linkwise.view.payload import payload  # noqa: E402
from support.browser import Opened, browser  # noqa: E402

TARGET = HERE.parent / "docs" / "pictures" / "machines.webp"
WIDTH, HEIGHT = 320, 340  # pixels of each machine
RATE = 18  # pictures a second
LOOP = 3.6  # seconds until the picture begins again
QUALITY = 50
PREPARE = """(view, look) => {
  for (const part of view.root.children) if (part !== view.canvas) part.style.display = 'none';
  view.stage.from = look.from;
  view.follows = look.follow ?? false;
  view.resize();
  view.stage.frame(view.extent());
}"""
SHOW = """(view, share) => {
  view.seek(view.samples.start + share * (view.samples.end - view.samples.start));
  view.draw();
}"""

Look = dict[str, Any]


def panda() -> tuple[Any, Look]:
    """Computed torque along a closed path."""
    robot = lw.load(ROBOTS / "panda_description/urdf/panda.urdf")
    law = lw.compile(robot, lw.control.computed_torque, kp=400.0, kd=40.0)
    home = robot.q({"panda_joint2": 0.2, "panda_joint4": -1.9, "panda_joint6": 2.2})
    s = np.linspace(0.0, 2.0 * np.pi, 17)
    ways = home + np.outer(np.sin(s), [0.7, 0.0, 0.2, 0.0, 0.5, 0.0, 1.0, 0.0])
    ways += np.outer(np.cos(s), [0.0, -0.25, 0.0, 0.5, 0.0, 0.6, 0.0, 0.0])
    path = CubicSpline(s / (2.0 * np.pi) * LOOP, ways, bc_type="periodic")

    def control(t: float, q: Any, qd: Any) -> Any:
        return law(q, qd, path(t), path(t, 1), path(t, 2))

    swing = lw.simulate(robot, path(0.0), path(0.0, 1), LOOP, control=control)
    return swing, {"trace": "panda_hand", "from": [1, -0.45, 0.4]}


def walker() -> tuple[Any, Look]:
    """Three strides of the walk of least effort, with the forces of the ground."""
    return lw.walking.walk(speed=1.2), {"times": 3, "follow": True, "from": [0.6, -1, 0.2]}


def hexapod() -> tuple[Any, Look]:
    """A loop of poses as fast as 150 N in each leg allow, shown slowly."""
    robot = lw.gough_stewart()
    s = np.linspace(0.0, 2.0 * np.pi, 13)
    steps = np.outer(np.sin(s), [0.09, 0.0, 0.0, 0.22, 0.0, 0.3])
    steps += np.outer(np.cos(s) - 1.0, [0.0, 0.09, 0.03, 0.0, 0.18, 0.0])
    points = lw.compile(robot).integrate(robot.q(), steps, 1.0)
    return lw.retime(robot, points, effort=150.0, effort_rate=4000.0), {"from": [0.8, -1, 0.45]}


def pictures(running: Any, make: Callable[[], tuple[Any, Look]], count: int) -> list[Image.Image]:
    """A machine at even times of its motion, whose end is its beginning and left out."""
    result, look = make()
    given = result.shown() if hasattr(result, "shown") else result
    motion = replace(Motion.of(given.robot, given), wrench=None)
    options = {"trace": look["trace"]} if "trace" in look else {}
    shown = payload(motion.robot, motion, compact=True, **options)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        page = written(shown, Path(folder, "machine.html"))
        with Opened(running, page, WIDTH, HEIGHT, "fine=1&shadows=1&theme=light") as opened:
            opened.ask(f"linkwise.ready.then(() => ({PREPARE})(linkwise.views[0], {json.dumps(look)}))")
            for share in np.arange(count) * look.get("times", 1) / count % 1.0:
                opened.ask(f"({SHOW})(linkwise.views[0], {share})")
                found.append(Image.open(io.BytesIO(opened.page.screenshot())).convert("RGB"))
    return found


def side_by_side(columns: Sequence[Sequence[Image.Image]]) -> list[Image.Image]:
    """Pictures of several machines joined, instant by instant."""
    return [Image.fromarray(np.hstack([np.asarray(x) for x in row])) for row in zip(*columns, strict=True)]


def write(path: Path, frames: Sequence[Image.Image]) -> None:
    """Save pictures as one that moves, again and again."""
    first, *others = frames
    how = {"quality": QUALITY, "method": 6, "minimize_size": True}
    first.save(path, save_all=True, append_images=others, duration=round(1000 / RATE), loop=0, **how)


if __name__ == "__main__":
    with browser() as running:
        frames = side_by_side([pictures(running, make, round(LOOP * RATE)) for make in (panda, walker, hexapod)])
    write(TARGET, frames)
    print(f"{TARGET}: {len(frames)} pictures, {TARGET.stat().st_size / 1000:.0f} kB")
