"""What pictures of pages are made of: diagrams of boxes and arrows, and robots as lines from joint to joint."""

from functools import cache

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import numpy as np

import linkwise as lw

INK = "#7b7b7d"  # of text and axes, as docs/matplotlibrc has it; pages exchange it for the colour of their text
OBLIQUE = np.array([[0.9, -0.4, 0.0], [0.25, 0.35, 0.9]])  # how a picture in the plane shows x, y and z
PLANES = {"xz": np.eye(3)[[0, 2]], "xy": np.eye(3)[:2], "oblique": OBLIQUE}


def diagram(width: float, height: float, xlim: float = 10.0, ylim: float = 4.0):
    """An empty picture with coordinates from 0 to xlim and ylim."""
    figure, ax = plt.subplots(figsize=(width, height))
    ax.set(xlim=(0, xlim), ylim=(0, ylim))
    ax.axis("off")
    return figure, ax


def box(ax, x: float, y: float, text: str, colour: str = "C0", **style) -> None:
    """A text in a box, centred at a place."""
    frame = {"boxstyle": "round,pad=0.45", "facecolor": "none", "edgecolor": colour, "linewidth": 1.4}
    ax.text(x, y, text, ha="center", va="center", bbox=frame, **{"size": 9, **style})


def arrow(ax, a, b, colour: str = INK, style: str = "->", **further) -> None:
    """An arrow from one place to another."""
    ax.annotate("", b, a, arrowprops={"arrowstyle": style, "color": colour, "lw": 1.4, **further})


def places(robot: lw.Robot, q=None) -> list[tuple[np.ndarray, np.ndarray]]:
    """Lines of a robot in one position: from each link's origin to those of its children, its frames and its cuts."""
    dyn, q = lw.compile(robot), robot.q() if q is None else q
    at = {link.name: dyn.pose(q, link.name) for link in robot.links}
    ends = [(j.parent, at[j.child][:3, 3]) for j in robot.joints]
    ends += [(f.link, dyn.pose(q, f.name)[:3, 3]) for f in robot.frames]
    for loop in robot.loops:
        for link, origin in ((loop.a, loop.origin_a), (loop.b, loop.origin_b)):
            ends.append((link, (at[link] @ [*origin.p, 1.0])[:3]))
    return [(at[link][:3, 3], end) for link, end in ends]


def sketch(ax, robot: lw.Robot, q=None, plane: str = "oblique", colour: str = "C0", alpha: float = 1.0, width=3.0):
    """A robot as lines from joint to joint."""
    for line in places(robot, q):
        x, y = PLANES[plane] @ np.array(line).T
        ax.plot(x, y, "-", color=colour, alpha=alpha, lw=width, solid_capstyle="round")
        ax.plot(x, y, "o", color=colour, alpha=alpha, ms=1.4 * width)
    ax.set_aspect("equal")
    ax.axis("off")
    return ax.figure


def table(robot: lw.Robot, t, q) -> dict[str, np.ndarray]:
    """A motion as columns, as `robot.view(motion=...)` takes it."""
    return {"t": t, **dict(zip(lw.motion.column_names(robot, "q"), q.T, strict=True))}


@cache
def predicted_walk():
    """One walk for all pages that show one."""
    return lw.walking.walk(lw.walking.Person(), speed=1.2, step=0.6, smooth=True, progress=False)


SHARED = (diagram, box, arrow, sketch, table, predicted_walk)
NAMES = {"lw": lw, "np": np, "plt": plt, "INK": INK, **{f.__name__: f for f in SHARED}}
