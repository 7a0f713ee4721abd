"""Curves of a leg over its own stride, their extremes, and how they compare with what is published."""

from __future__ import annotations

import numpy as np

from linkwise.planning.curve import Array
from linkwise.walking.norms import EXTREMES, Match, bands
from linkwise.walking.skeleton import GRAVITY
from linkwise.walking.stride import Stride

JOINTS = {"hip": "hip_flex", "knee": "knee", "ankle": "ank_flex"}
# of extremes, each with the condition under which it is read
EXTREME_TITLES = {key: extreme.title for key, extreme in EXTREMES.items()} | {
    f"{joint}_force": f"peak net force through the {joint}, body weights" for joint in JOINTS
}


def leg(stride: Stride, side: str) -> dict[str, Array]:
    """Curves of a leg from its own heel strike to its next, over `stride.percent`; keys are those of `norms.TITLES`.

    Torques are those that flex; a frozen joint has no torque, and its angle is zero.
    """
    F, mass = stride.ground_force(side), stride.weight / -GRAVITY[1]
    begin = 0 if side == "r" else (len(stride.t) - 1) // 2

    def own(values: Array) -> Array:
        turned = np.roll(values[:-1], -begin, axis=0)
        return np.concatenate([turned, turned[:1]])

    outward = F[:, 2] if side == "r" else -F[:, 2]
    found = {"ground_forward": own(F[:, 0]), "ground_up": own(F[:, 1]), "ground_outward": own(outward)}
    for name, stem in JOINTS.items():
        joint = f"{stem}_{side}"
        found[f"{name}_force"] = own(np.linalg.norm(stride.joint_force(f"{name}_{side}"), axis=1))
        if joint in stride.names:
            found[f"{name}_angle"] = own(np.rad2deg(stride.angle(joint)))
            found[f"{name}_torque"] = own(stride.torque(joint)) / mass
        else:
            found[f"{name}_angle"] = np.zeros(len(stride.t))
    return found


def features(stride: Stride, side: str = "r") -> dict[str, float]:
    """Extremes of a leg over its stride; what each is, and in which part of the stride, is in `EXTREME_TITLES`."""
    curves = leg(stride, side)
    found = {key: extreme.read(stride.percent, curves[extreme.curve])[0] for key, extreme in EXTREMES.items()}
    return found | {f"{joint}_force": float(curves[f"{joint}_force"].max()) for joint in JOINTS}


def compared(stride: Stride, side: str = "r") -> dict[str, Match]:
    """Every curve of a leg for which a band is published, compared with it."""
    curves = leg(stride, side)
    return {name: b.match(stride.percent, curves[name]) for name, b in bands().items() if name in curves}
