"""Values by their content: what differs is told apart, what is equal is one, in every process."""

import datetime
import functools
import sys
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import Enum
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import linkwise as lw
from linkwise.planning.content_digest import digest
from support.processes import run


class Colour(Enum):
    RED = 1
    BLUE = 2


@dataclass
class Case:
    goal: object
    notes: list = field(default_factory=list)


class Plain:
    def __init__(self, x):
        self.x = x

    def __repr__(self):
        return "the same for all"


class Silent(lw.Robot):
    """A robot that says nothing of itself."""

    def __repr__(self):
        return "robot"


def scaled(by):
    return lambda x: by * x


def slot(robot):
    return Silent(robot.links, robot.joints, robot.frames, robot.loops, robot.gravity, robot.name)


RR = lw.load("rr")
GOALS = np.full(1001, 0.3)
HEAVY = RR.replace(links=[*RR.links[:-1], replace(RR.links[-1], mass=RR.links[-1].mass * (1 + 1e-15))])


def changed(array, at, value):
    other = array.copy()
    other[at] = value
    return other


DIFFERENT = {
    "a large array, in its middle": (GOALS, changed(GOALS, 500, 2.0)),
    "the last digit": (0.3, np.nextafter(0.3, 1.0).item()),
    "1e-12 in an array": (GOALS, GOALS + 1e-12),
    "the sign of zero": (0.0, -0.0),
    "the sign of zero in an array": (np.array([0.0]), np.array([-0.0])),
    "shapes": (np.zeros((2, 3)), np.zeros((3, 2))),
    "kinds of numbers": (np.zeros(3), np.zeros(3, np.float32)),
    "list and tuple": ([1.0], (1.0,)),
    "texts that run together": (["ab", "c"], ["a", "bc"]),
    "nested alike": ([[1], 2], [[1, 2]]),
    "number and text": (1, "1"),
    "bytes and text": (b"a", "a"),
    "truth and number": (True, 1),
    "enums": (Colour.RED, Colour.BLUE),
    "data classes": (Case(GOALS), Case(GOALS + 1e-12)),
    "objects with one repr": (Plain(1), Plain(2)),
    "robots by the last digit of a mass": (RR, HEAVY),
    "robots with one repr": (slot(RR), slot(HEAVY)),
    "robots with loops": (lw.delta(), lw.delta(armature=1e-15)),
    "algorithms": (lw.inverse_dynamics, lw.forward_dynamics),
    "derivatives": tuple(lw.derivative(lw.inverse_dynamics, x, of="tau") for x in ("q", "qd")),
    "kernels": (lw.compile(RR, lw.mass_matrix), lw.compile(HEAVY, lw.mass_matrix)),
    "terms": (lw.cost.time() + 0.1 * lw.cost.effort(), lw.cost.time() + 0.1 * lw.cost.effort_rate()),
    "factors of terms": (lw.cost.time() + 0.1 * lw.cost.effort(), lw.cost.time() + (0.1 + 1e-16) * lw.cost.effort()),
    "constraints": (lw.limit.joints(velocity=GOALS), lw.limit.joints(velocity=GOALS + 1e-12)),
    "paths": (lw.planning.Path.through([[0, 0], [1, 1]], RR), lw.planning.Path.through([[0, 0], [1, 1 + 1e-12]], RR)),
    "splines": (CubicSpline([0, 1, 2], [0, 1, 4]), CubicSpline([0, 1, 2], [0, 1, 4 + 1e-12])),
    "functions by what they take along": (scaled(1.0), scaled(2.0)),
    "functions by their text": (lambda x: x + 1, lambda x: x + 2),
    "partial functions": (functools.partial(max, 1), functools.partial(max, 2)),
    "methods": (Plain(1).__repr__, Plain(2).__repr__),
    "names of files": (Path("a"), Path("b")),
    "decimals": (Decimal("0.1"), Decimal("0.10000000000000000000001")),
    "moments": (datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)),
    "masks": (np.ma.array([1.0, 2.0], mask=[0, 1]), np.ma.array([1.0, 2.0], mask=[1, 0])),
    "arrays of objects": (np.array([GOALS, None], dtype=object), np.array([GOALS + 1e-12, None], dtype=object)),
    "records": (np.zeros(2, "i4,f8"), np.zeros(2, "i4,f4")),
    "keys": ({"a": 1}, {"b": 1}),
    "sets": ({1, 2}, {1, 3}),
    "namespaces": (SimpleNamespace(a=1), SimpleNamespace(a=2)),
    "long numbers": (np.longdouble(1) / 3, np.longdouble(1) / 3 + np.longdouble(1e-19)),
}  # fmt: skip


@pytest.mark.parametrize("case", DIFFERENT)
def test_told_apart(case):
    one, other = DIFFERENT[case]
    assert digest(one) != digest(other)
    assert digest([one]) != digest([other])
    assert digest({"inside": one}) != digest({"inside": other})


SAME = {
    "the order of a mapping": ({"a": 1, "b": GOALS}, {"b": GOALS.copy(), "a": 1}),
    "the order of a set": (set("abcdefgh"), set("hgfedcba")),
    "NaN, however it came": (float("nan"), -float("nan")),
    "NaN in an array": (np.array([np.nan]), np.array([-np.nan])),
    "the order of memory": (np.arange(6.0).reshape(2, 3), np.asfortranarray(np.arange(6.0).reshape(2, 3))),
    "the order of bytes": (np.arange(6, dtype="<f8"), np.arange(6, dtype=">f8")),
    "robots made twice": (lw.load("rr"), RR.replace()),
    "a robot that has been used": (RR, lw.compile(RR.replace()).mass_matrix.robot),
    "functions made twice": (scaled(1.0), scaled(1.0)),
    "words made twice": (lw.cost.time() + lw.cost.effort(), lw.cost.time() + lw.cost.effort()),
    "kernels made twice": (lw.compile(RR, lw.mass_matrix), lw.compile(lw.load("rr"), lw.mass_matrix)),
}


@pytest.mark.parametrize("case", SAME)
def test_one_and_the_same(case):
    one, other = SAME[case]
    assert digest(one) == digest(other)


def test_the_same_in_other_processes():
    code = """
    import linkwise as lw, numpy as np
    from linkwise.planning.content_digest import digest
    aim = lw.cost.time() + 0.1 * lw.cost.effort()
    value = {"a": {"x", "y", "z"}, "b": [lw.load("rr"), np.linspace(0, 1, 2000), aim, -0.0]}
    print(digest([value, lw.compile(lw.load("rr"), lw.mass_matrix), lambda x: x + 1]))
    """
    assert run(code, PYTHONHASHSEED="1") == run(code, PYTHONHASHSEED="2")


def test_a_value_within_itself():
    one, other = [1], [1]
    one.append(one)
    other.append(other)
    assert digest(one) == digest(other) != digest([1, [1]])


@pytest.mark.parametrize("value", [(x for x in "ab"), sys.stdout, [OrderedDict(a=open)]])
def test_what_has_no_content(value):
    if isinstance(value, list):
        assert digest(value) == digest([OrderedDict(a=open)])
        return
    with pytest.raises(lw.InputError, match=r"sweep value 3: expected what can be known by its content.*Give key="):
        digest([value], "sweep value 3")


# ---- in a sweep

SOLVED = []


def to_goals(goals, guess):
    """A plan whose end is the middle one of many goals."""
    SOLVED.append(goals)
    end = goals[500] if isinstance(goals, np.ndarray) else 1.0
    return lw.plan(
        RR, [0.0, 0.0], [float(end), 0.0], lw.cost.time(), lw.limit.joints("effort"), control_points=8, iterations=30
    )


def test_a_folder_gives_the_plan_of_its_value(tmp_path):
    """Of an array too long to be shown in full, and of one that differs by 1e-12."""
    (near,) = lw.sweep(to_goals, [GOALS], folder=tmp_path)
    (far,) = lw.sweep(to_goals, [changed(GOALS, 500, 2.0)], folder=tmp_path)
    assert far.duration > 1.5 * near.duration
    before = len(SOLVED)
    (again,) = lw.sweep(to_goals, [GOALS.copy()], folder=tmp_path)
    assert again.duration == near.duration
    assert len(SOLVED) == before
    lw.sweep(to_goals, [GOALS + 1e-12], folder=tmp_path)
    assert len(SOLVED) == before + 1


def test_a_folder_of_older_plans_is_solved_again(tmp_path):
    """Files that were named by the `repr` of a value are not read, nor is the folder refused."""
    import hashlib
    import json

    (plan,) = lw.sweep(to_goals, [GOALS])
    old = tmp_path / f"0000-{hashlib.sha256(repr(GOALS).encode()).hexdigest()[:16]}.npz"
    plan.save(old)
    (tmp_path / "sweep.json").write_text(json.dumps({"function": "to_goals"}))
    before = len(SOLVED)
    lw.sweep(to_goals, [GOALS], folder=tmp_path)
    assert len(SOLVED) == before + 1
    assert old.exists()


def test_values_without_content_in_a_sweep(tmp_path):
    values = [(x for x in "ab"), (x for x in "cd")]
    with pytest.raises(lw.InputError, match=r"sweep value 1: expected what can be known by its content"):
        lw.sweep(to_goals, values, folder=tmp_path)
    assert not list(tmp_path.glob("*.npz"))
    found = lw.sweep(to_goals, values, folder=tmp_path, key=lambda v: v.gi_frame.f_locals[".0"].__reduce__()[1])
    assert len(found) == 2
    with pytest.raises(lw.InputError, match="sweep key: expected a function"):
        lw.sweep(to_goals, values, folder=tmp_path, key=3)


def test_attributes_of_an_object_that_solves(tmp_path):
    """A study with another weight is another study; what it writes into itself on the way does not matter."""

    class Study:
        def __init__(self, weight):
            self.weight, self.log = weight, []

        def solve(self, u, guess):
            self.log.append(u)
            self.last = u
            return to_goals(u, guess)

    one = Study(1.0)
    lw.sweep(one.solve, [0.5], folder=tmp_path)
    assert one.log == [0.5]
    lw.sweep(one.solve, [0.5], folder=tmp_path)
    assert one.log == [0.5]
    with pytest.raises(lw.InputError, match=r"attribute weight was 1\.0, now 2\.0"):
        lw.sweep(Study(2.0).solve, [0.5], folder=tmp_path)
