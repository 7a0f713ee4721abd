"""Published values of level walking at a comfortable speed, to compare predictions with.

Angles are textbook values: J. Perry, J. Burnfield, Gait Analysis, 2nd edition, 2010, and D. Winter, The Biomechanics
and Motor Control of Human Gait, 2nd edition, 1991. Ground reactions are averages of healthy adults: C. Fukuchi, R.
Fukuchi, M. Duarte, A public dataset of overground and treadmill walking kinematics and kinetics in healthy individuals,
PeerJ 6:e4640, 2018. They are single numbers of groups, not bands of one person.
"""

from __future__ import annotations

from typing import NamedTuple


class Norm(NamedTuple):
    """A published extreme: degrees or body weights, and where in the stride of that leg it is, per cent."""

    low: float
    high: float
    start: float
    end: float

    @property
    def text(self) -> str:
        """The value, or the range of values."""
        return f"{self.low:g}" if self.low == self.high else f"{self.low:g} to {self.high:g}"


SOURCE = "Perry and Burnfield 2010, Winter 1991 (angles); Fukuchi et al. 2018 (ground reactions)"
NORMS = {
    "hip_flexion": Norm(30.0, 30.0, 80.0, 100.0),
    "hip_extension": Norm(10.0, 10.0, 45.0, 55.0),
    "knee_stance": Norm(15.0, 20.0, 8.0, 20.0),
    "knee_swing": Norm(60.0, 60.0, 66.0, 80.0),
    "ankle_dorsiflexion": Norm(10.0, 10.0, 35.0, 52.0),
    "ankle_plantarflexion": Norm(15.0, 20.0, 58.0, 68.0),
    "vertical_first": Norm(1.17, 1.17, 8.0, 20.0),
    "vertical_between": Norm(0.76, 0.76, 25.0, 36.0),
    "vertical_second": Norm(1.19, 1.19, 42.0, 54.0),
    "braking": Norm(0.18, 0.18, 8.0, 20.0),
    "propulsion": Norm(0.18, 0.18, 46.0, 58.0),
}
# extremes that are shown below zero
DOWNWARDS = ("hip_extension", "ankle_plantarflexion", "braking")


def deviation(key: str, value: float) -> float:
    """How far a value is outside of what is published, with sign."""
    norm = NORMS[key]
    return max(0.0, value - norm.high) - max(0.0, norm.low - value)
