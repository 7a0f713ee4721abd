"""A base whose pose is a function of time: velocities, accelerations and the turning of gravity follow."""

import math

import numpy as np
import pytest

import linkwise as lw
from linkwise.jet import part
from linkwise.motion.base_motion import BaseMotion
from linkwise.scalar import cos, sin
from support.base_motion import BasePose

GRAVITY = (0.3, -1.0, -9.6)
RATES = 3


def pose(t):
    return lw.Pose.of((0.3 * sin(2.0 * t), 0.1 * t * t, 0.2), rpy=(0.4 * cos(t), 0.3 * t, 0.5 * sin(3.0 * t)))


def test_inputs_are_those_of_an_analytic_motion():
    class Analytic(BasePose):
        def series(self, t):
            X = pose(lw.jet.Jet([t, 1.0, *[0.0] * 5]))
            p = [x if isinstance(x, lw.jet.Jet) else lw.jet.Jet([x, *[0.0] * 6]) for x in X.p]
            return lw.Vec3(*p), X.R

    times, exact = np.linspace(0.0, 1.5, 4), Analytic(0)
    found = BaseMotion(pose).inputs(times, GRAVITY, 2 + RATES)
    assert [x.shape for x in found] == [(4, 6)] * 5 + [(4, 3)]
    for k, t in enumerate(times):
        for a, b in zip(found, exact.inputs(t, RATES, GRAVITY), strict=True):
            assert a[k] == pytest.approx(b, abs=1e-10)


def test_the_world_carries_the_rates_of_its_components():
    base, t, h = BaseMotion(pose), 0.7, 1e-4

    def numbers(at, k=0):
        w = base.world(at, GRAVITY, RATES)
        return np.array([part(x, k) for x in (*w.gravity, *w.base_velocity, *w.base_acceleration)])

    v, a, g = base.inputs(t, GRAVITY)
    assert numbers(t) == pytest.approx(np.concatenate([g, v, a]), abs=1e-12)
    for k in range(RATES):
        slope = (numbers(t + h, k) - numbers(t - h, k)) / (2.0 * h)
        assert numbers(t, k + 1) == pytest.approx(slope, abs=1e-5)


def test_a_base_that_only_slides_or_stands():
    v, a, g = BaseMotion(lambda t: lw.Pose.of((0.0, 0.5 * t * t, 0.0))).inputs([0.0, 2.0], GRAVITY)
    assert v[1] == pytest.approx([0, 2, 0, 0, 0, 0])
    assert a[0] == pytest.approx([0, 1, 0, 0, 0, 0])
    assert g == pytest.approx(np.tile(GRAVITY, (2, 1)))
    v, a, g = BaseMotion(lambda t: lw.Pose.of(rpy=(math.pi, 0.0, 0.0))).inputs(1.0, GRAVITY)
    assert not v.any()
    assert not a.any()
    assert g == pytest.approx([0.3, 1.0, 9.6])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (3, "expected a function of time that returns a Pose"),
        (lambda t: (0, 0, 0), "returns a Pose, such as"),
        (lambda t: lw.Pose(lw.Vec3(1, 2, 3), 0), "returns a Pose"),
        (lambda t: lw.Pose(R=lw.rotation.Mat3.of([[2.0, 0, 0], [0, 1, 0], [0, 0, 1]])), "R is a rotation"),
        (lambda t: lw.Pose.of((1.0 / t, 0, 0)), "can be traced"),
    ],
)
def test_what_is_no_motion(given, words):
    with pytest.raises(lw.InputError, match=words):
        BaseMotion(given)


def test_functions_that_cannot_be_traced():
    base = BaseMotion(lambda t: lw.Pose.of((math.sin(t), 0.0, 0.0)))
    with pytest.raises(lw.InputError, match=r"base_motion: .* Use the functions of linkwise.scalar"):
        base.inputs([0.0, 1.0], GRAVITY)
    with pytest.raises(lw.InputError, match=r"got none at t = 0 s"):
        BaseMotion(lambda t: lw.Pose.of((lw.scalar.sqrt(t), 0.0, 0.0))).inputs([1.0, 0.0], GRAVITY)
