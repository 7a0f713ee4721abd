"""The joints of the skeleton: axes, ranges, strengths, and what is frozen when people walk.

x is forward, y up, z to the right; at zero a person stands upright with hanging arms. The three turns of the pelvis and
of compound joints follow each other. Joint names end in _r or _l where there are two; the axis of the left one is the
right one's mirrored, so that equal angles are mirrored postures. Ranges and strengths are choices of this project for
a man of 73 kg and 1.741 m; strengths of others are in proportion to mass times height.
"""

from __future__ import annotations

from math import pi
from typing import NamedTuple

DEGREE = pi / 180.0
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
BACK_X, BACK_Z = (-1.0, 0.0, 0.0), (0.0, 0.0, -1.0)


class Kind(NamedTuple):
    """What a joint can do: axis on the right side, range in degrees (m where it slides), strength in N m."""

    axis: tuple[float, float, float]
    lower: float
    upper: float
    effort: float | None = None
    slides: bool = False


GLOBAL = {
    "gx": Kind(X, -5.0, 5.0, slides=True),
    "gy": Kind(Y, -0.15, 0.05, slides=True),
    "gz": Kind(Z, -0.15, 0.15, slides=True),
    "gyaw": Kind(Y, -10.0, 10.0),
    "glist": Kind(X, -8.0, 8.0),
    "gtilt": Kind(Z, -12.0, 12.0),
}
SPINE = {
    f"sp{k}{part}": kind
    for k in (1, 2, 3, 4)
    for part, kind in {
        "_flex": Kind(BACK_Z, -10.0, 20.0, 200.0),
        "_lat": Kind(X, -12.0, 12.0, 150.0),
        "_ax": Kind(Y, -10.0, 10.0, 80.0),
    }.items()
}
NECK = {
    "nk_flex": Kind(BACK_Z, -30.0, 30.0, 40.0),
    "nk_lat": Kind(X, -30.0, 30.0, 40.0),
    "nk_ax": Kind(Y, -50.0, 50.0, 20.0),
    "hd_flex": Kind(BACK_Z, -30.0, 30.0, 30.0),
    "hd_lat": Kind(X, -30.0, 30.0, 30.0),
}
ARM = {
    "cl_pro": Kind(Y, -10.0, 10.0, 60.0),
    "cl_el": Kind(BACK_X, -10.0, 10.0, 60.0),
    "sh_flex": Kind(Z, -50.0, 120.0, 80.0),
    "sh_abd": Kind(BACK_X, -5.0, 60.0, 70.0),
    "sh_rot": Kind(Y, -45.0, 45.0, 40.0),
    "el_flex": Kind(Z, 0.0, 130.0, 60.0),
    "el_pro": Kind(Y, -60.0, 60.0, 10.0),
    "wr_flex": Kind(Z, -45.0, 45.0, 10.0),
    "wr_dev": Kind(BACK_X, -20.0, 20.0, 10.0),
}
LEG = {
    "hip_flex": Kind(Z, -25.0, 90.0, 180.0),
    "hip_abd": Kind(BACK_X, -20.0, 30.0, 120.0),
    "hip_rot": Kind(Y, -30.0, 30.0, 60.0),
    "knee": Kind(BACK_Z, 0.0, 130.0, 170.0),
    "ank_flex": Kind(Z, -40.0, 25.0, 150.0),
    "ank_inv": Kind(X, -20.0, 20.0, 45.0),
    "toe": Kind(Z, -10.0, 50.0, 30.0),
}
REFERENCE = (73.0, 1.741)  # mass and height of the body whose strengths these are

# what people call the main joints of limbs
CALLED = {"shoulder": "sh_flex", "elbow": "el_flex", "hip": "hip_flex", "ankle": "ank_flex"}

FROZEN = (
    "sp3_ax", "sp4_flex", "sp4_lat", "sp4_ax", "nk_flex", "nk_lat", "nk_ax", "hd_flex", "hd_lat",
    "cl_pro_r", "cl_el_r", "wr_flex_r", "wr_dev_r", "cl_pro_l", "cl_el_l", "wr_flex_l", "wr_dev_l",
)  # fmt: skip

# joints whose angle changes its sign in the mirrored posture
TURNED = ("gz", "gyaw", "glist", *(n for n in (*SPINE, *NECK) if n.endswith(("_lat", "_ax"))))


def mirrored_name(joint: str) -> str:
    """The joint that takes this one's part in the mirrored posture."""
    if joint.endswith("_r"):
        return f"{joint[:-2]}_l"
    return f"{joint[:-2]}_r" if joint.endswith("_l") else joint


def called(name: str) -> str:
    """A joint's name in the skeleton, for what people may call it: ankle_l is ank_flex_l."""
    if not isinstance(name, str):
        return name
    stem = name.removesuffix("_r").removesuffix("_l")
    return CALLED[stem] + name[len(stem) :] if stem in CALLED else name


def spoken() -> list[str]:
    """Names of joints that people look for first: the main joints of both sides and of one, and all of the legs."""
    main = [name for stem in (*CALLED, "knee") for name in (stem, f"{stem}_r", f"{stem}_l")]
    return main + [name for stem in LEG if stem != "knee" for name in (f"{stem}_r", f"{stem}_l")]


def mirror_axis(axis: tuple[float, float, float]) -> tuple[float, float, float]:
    """The axis of the same turn on the left side."""
    return tuple(-x if k < 2 and x else x for k, x in enumerate(axis))  # type: ignore[return-value]
