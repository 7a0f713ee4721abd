"""Pictures of pages that show robots, as numbers."""

import io
from typing import Any

import numpy as np


def picture(page: Any) -> np.ndarray:
    """What a page looks like: rows of pixels of red, green and blue from 0 to 255."""
    from matplotlib.image import imread

    found = imread(io.BytesIO(page.page.screenshot()), format="png")
    return (found[..., :3] * 255.0).round().astype(int)


def covered(page: Any) -> float:
    """The share of a picture that a robot covers: what changes when it is left out."""
    whole = picture(page)
    page.ask("(linkwise.views[0].machine.group.visible = false, linkwise.views[0].draw())")
    page.page.wait_for_timeout(50)
    without = picture(page)
    page.ask("(linkwise.views[0].machine.group.visible = true, linkwise.views[0].draw())")
    return float((np.abs(whole - without).max(axis=-1) > 12).mean())


def poses_apart(page: Any, robot: Any, t: Any, q: Any) -> float:
    """The largest difference between poses that a page shows and those of the compiled function."""
    import linkwise as lw

    if not robot.moving_links:
        return 0.0
    expected, worst = lw.compile(robot).poses(np.asarray(q)), 0.0
    for k, time in enumerate(t):
        found = page.ask(f"linkwise.poses({float(time)})")
        shown = np.array([found[name] for name in robot.moving_links])
        worst = max(worst, float(np.abs(shown - expected[k]).max()))
    return worst
