"""A part of what is drawn: a solid on a link, with its colour."""

from __future__ import annotations

from dataclasses import dataclass

from linkwise.spatial import Pose
from linkwise.view.solids import Solid

Colour = tuple[float, ...]  # red, green, blue, opacity, from 0 to 1, as files and screens have them (sRGB)

PLAIN: Colour = (0.80, 0.82, 0.85, 1.0)
METAL: Colour = (0.72, 0.74, 0.77, 1.0)
SHELL: Colour = (0.93, 0.94, 0.95, 1.0)
DARK: Colour = (0.27, 0.30, 0.34, 1.0)
RUBBER: Colour = (0.16, 0.16, 0.17, 1.0)


@dataclass(frozen=True, eq=False)
class Part:
    """A solid on a link.

    Args:
        link: name of the link.
        solid: in the part's own frame.
        origin: pose of that frame in the link's.
        colour: red, green, blue and opacity.
        finish: "paint", "metal" or "rubber".
    """

    link: str
    solid: Solid
    origin: Pose = Pose()
    colour: Colour = PLAIN
    finish: str = "paint"


def rgba(code: str) -> Colour:
    """The colour of a code such as "#0072b2"."""
    return (*(int(code[k : k + 2], 16) / 255.0 for k in (1, 3, 5)), 1.0)
