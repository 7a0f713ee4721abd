"""Numbers, vectors, rotations and notes of a model: what is taken, and what is refused."""

import math
from fractions import Fraction

import numpy as np
import pytest

from linkwise.errors import ModelError
from linkwise.robot import Friction, Joint, Limits, Link, Mimic, Robot, Spring, check
from linkwise.spatial import Pose
from linkwise.vector import Mat3, Vec3


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.int64(2), np.array(2.0), Fraction(2)])
def test_numbers_become_floats(value):
    assert (check.number(value, "x"), type(check.number(value, "x"))) == (2.0, float)
    assert check.vector([value] * 3, "x") == Vec3(2.0, 2.0, 2.0)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (math.nan, "expected a finite number, got nan"),
        (np.float64("nan"), "expected a finite number, got nan"),
        (-math.inf, "expected a finite number, got -inf"),
        (1e51, r"expected a number of magnitude up to 1e\+50, got 1e\+51"),
        (-1e308, r"expected a number of magnitude up to 1e\+50, got -1e\+308"),
        (10**400, "expected a number, got 1000"),
        (True, "expected a number, got True"),
        ("1", "expected a number, got '1'"),
        (None, "expected a number, got None"),
        (1j, "expected a number, got 1j"),
        ([1.0], r"expected a number, got \[1.0\]"),
    ],
)
def test_what_is_no_number(value, message):
    for refuse in (
        lambda: check.number(value, "x"),
        lambda: check.vector((0.0, value, 0.0), "x"),
        lambda: Link("a", mass=value),
        lambda: Link("a", com=(0.0, 0.0, value)),
        lambda: Link("a", inertia=(1.0, 1.0, value)),
        lambda: Joint("j", "a", "b", origin=Pose(p=Vec3(value, 0.0, 0.0))),
        lambda: Joint("j", "a", "b", origin=Pose(R=Mat3.of([[value, 0, 0], [0, 1, 0], [0, 0, 1]]))),
        lambda: Joint("j", "a", "b", axis=Vec3(0.0, 1.0, value)),
        lambda: Joint("j", "a", "b", anchor=Vec3(0.0, 1.0, value)),
        lambda: Joint("j", "a", "b", armature=value),
        lambda: Friction(viscous=value),
        lambda: Spring(rest=value),
        lambda: Mimic("j", ratio=value),
        lambda: Robot([Link("a")], gravity=(0.0, value, 0.0)),
    ):
        with pytest.raises(ModelError, match=message):
            refuse()


def test_limits_may_be_as_large_as_they_like():
    assert Limits(-1e308, 1e308, effort=1e308) == Limits(-1e308, 1e308, math.inf, effort=1e308)
    for bad in (math.nan, 10**400, "1"):
        for field in ("lower", "upper", "velocity", "effort"):
            with pytest.raises(ModelError, match=f"limits {field}: expected a"):
                Limits(**{field: bad})
    with pytest.raises(ModelError, match="limits effort: expected a number of at least 0, got -1"):
        Limits(effort=-1)


@pytest.mark.parametrize(
    "R",
    [
        [[1, 0, 0], [0, 1, 0], [0, 0, -1]],
        [[1, 0, 0], [0, 1, 0], [0, 0.1, 1]],
        [[2, 0, 0], [0, 1, 0], [0, 0, 0.5]],
        [[0, 0, 0], [0, 0, 0], [0, 0, 0]],
        [[1e50, 0, 0], [0, 1, 0], [0, 0, 1]],
    ],
)
def test_what_is_no_rotation(R):
    with pytest.raises(ModelError, match=r"x\.R: expected a rotation"):
        check.pose(Pose(R=Mat3.of(R)), "x")


@pytest.mark.parametrize("note", ["info", ("info", "a"), ("fatal", "a", "b"), ("info", 1, "b"), None])
def test_what_is_no_note(note):
    with pytest.raises(ModelError, match="notes: expected"):
        Robot([Link("a")], notes=[note])
