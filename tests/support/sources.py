"""Numbers of the sources and of independent computations, and the robots they belong to."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from linkwise.dh import DHRow, KhalilRow, khalil, modified_dh, standard_dh
from linkwise.robot import Friction, Robot

FILE = Path(__file__).parents[1] / "golden" / "sources.json"
KINDS = ("revolute", "prismatic")
GRAVITY = (0.0, 0.0, -9.81)


@cache
def _all() -> dict[str, Any]:
    return json.loads(FILE.read_text())


def case(name: str) -> dict[str, Any]:
    """One case of golden/sources.json."""
    return _all()[name]


def stanford() -> Robot:
    """The Stanford arm of case 002, by modified DH parameters."""
    c = case("002_stanford")
    columns = (c[key] for key in ("theta", "d", "a", "alpha", "sigma", "m", "com", "Idiag"))
    return modified_dh(
        DHRow(theta, d, a, alpha, KINDS[int(sigma)], mass=m, com=com, inertia=I)
        for theta, d, a, alpha, sigma, m, com, I in zip(*columns, strict=True)
    )


def planar(name: str) -> Robot:
    """An arm of two links of the 001 cases, by standard DH parameters."""
    c = case(name)
    columns = (c[key] for key in ("theta", "d", "a", "alpha", "sigma", "m", "com_in_frame_j_from_Oj", "I_com"))
    rows = [
        DHRow(theta, d, a, alpha, KINDS[int(sigma)], mass=m, com=com, inertia=I)
        for theta, d, a, alpha, sigma, m, com, I in zip(*columns, strict=True)
    ]
    return standard_dh(rows, gravity=c["g"])


def serial(name: str = "004_serial_RRPRRR") -> Robot:
    """The serial robot of the 004 cases, by standard DH parameters."""
    c = case(name)
    columns = (c[key] for key in ("geom_theta_s_a_phi", "sigma", "m", "com_frame_i_from_Oi", "I_com", "Ja"))
    return standard_dh(
        DHRow(*geometry, KINDS[sigma], mass=m, com=com, inertia=I, armature=armature)
        for geometry, sigma, m, com, I, armature in zip(*columns, strict=True)
    )


def tree(robot: dict[str, Any], gravity: Any = GRAVITY) -> Robot:
    """A tree of the 003 cases, by Khalil's parameters; `robot` is the part of the case that describes it."""
    keys = ("ant", "sigma", "geo_gamma_b_alpha_d_theta_r", "M", "com", "I_com", "Ia", "Fv", "Fs")
    rows = [
        KhalilRow(a, sigma, *geometry, mass=m, com=com, inertia=I, armature=Ia, friction=Friction(Fv, Fs))
        for a, sigma, geometry, m, com, I, Ia, Fv, Fs in zip(*(robot[key] for key in keys), strict=True)
    ]
    return khalil(rows, gravity=gravity)


def in_order(robot: Robot, values: list[float]) -> list[float]:
    """Values by row of a table in the order of the robot's joints, which are named joint1, joint2, ..."""
    return [values[int(name.removeprefix("joint")) - 1] for name in robot.names]
