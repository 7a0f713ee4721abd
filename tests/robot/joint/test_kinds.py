"""The contract of joint kinds: one suite, which every kind passes; and nothing outside asks a kind for its name."""

import ast
import math
import pickle
import random
from pathlib import Path

import numpy as np
import pytest

import linkwise
import linkwise as lw
from linkwise.jet import Jet
from linkwise.robot.joint import KINDS, Course, Curve
from linkwise.robot.joint.coupled import Coupled
from linkwise.robot.joint.screw import Screw
from linkwise.robot.joint.screw_steps import moved
from linkwise.spatial import Inertia, Motion, Pose
from linkwise.vector import Vec3

ROLLING = Coupled(Course(Curve((0.0, 0.1, -0.2)), turn_x=Curve((0.0, 0.3)), turn_z=Curve((0.0, 1.0, 0.1))))
EVERY = [*KINDS.values(), Screw(0.3), ROLLING]
MOVING = [kind for kind in EVERY if kind.nv]
SIMPLE = [kind for kind in MOVING if not kind.parts and not kind.follows]  # whose unit motions are constant


def draw(kind, seed):
    """A position and a velocity."""
    rng = random.Random(seed)
    v = [rng.uniform(-1.0, 1.0) for _ in range(kind.nv)]
    return kind.integrate(list(kind.home), v, 0.7), [rng.uniform(-1.0, 1.0) for _ in range(kind.nv)]


def place(kind, x):
    """The pose of the body at a position, as a matrix of numbers."""
    R, p = kind.moved(Pose.of((0.1, -0.2, 0.3), (0.4, 0.5, 0.6)), x)
    return np.array(Pose(R if hasattr(R, "x") else R.matrix(), p).matrix(), dtype=float)


@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.name)
def test_sizes_agree(kind):
    x, v = draw(kind, 0)
    assert type(KINDS[kind.name]) is type(kind)
    assert len(kind.home) == len(kind.positions) == kind.nq == len(x)
    assert len(kind.lengths) == len(kind.velocities) == len(kind.forces) == kind.nv == len(v)
    assert len(kind.units) == (0 if kind.parts or kind.follows else kind.nv)
    assert len(kind.parts) in (0, kind.nv)
    assert kind.is_single == (kind.nv == 1)
    assert kind.turns + kind.slides <= kind.is_single
    assert pickle.loads(pickle.dumps(kind)) == kind
    np.testing.assert_allclose(place(kind, kind.home), np.array(Pose.of((0.1, -0.2, 0.3), (0.4, 0.5, 0.6)).matrix()))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", SIMPLE, ids=lambda kind: kind.name)
def test_the_pose_moves_at_the_rate_of_its_velocity(kind, seed):
    """d pose / dt along q_dot is the motion that `rate` says, which is the sum of the unit motions."""
    x, v = draw(kind, seed)
    along = [Jet(pair) for pair in zip(x, kind.q_dot(x, v), strict=True)]
    R, p = kind.moved(Pose.of((0.1, -0.2, 0.3), (0.4, 0.5, 0.6)), along)
    T = Pose(R if hasattr(R, "x") else R.matrix(), p).matrix()
    rate = np.array([[e.c[1] if isinstance(e, Jet) else 0.0 for e in row] for row in T], dtype=float)
    own = np.linalg.inv(place(kind, x)) @ rate
    expected = kind.rate(v)
    np.testing.assert_allclose(own[:3, 3], list(expected.linear), atol=1e-14)
    np.testing.assert_allclose([own[2, 1], own[0, 2], own[1, 0]], list(expected.angular), atol=1e-14)
    summed = Motion()
    for unit, w in zip(kind.units, v, strict=True):
        summed = summed + unit * w
    np.testing.assert_allclose(list(summed), list(expected), atol=1e-15)
    np.testing.assert_allclose(kind.components(expected), v, atol=1e-15)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", MOVING, ids=lambda kind: kind.name)
def test_steps_undo_each_other(kind, seed):
    x, v = draw(kind, seed)
    there = kind.integrate(x, v, 1.0)
    np.testing.assert_allclose(kind.difference(x, there), v, atol=1e-13)
    np.testing.assert_allclose(kind.tangent(x, kind.q_dot(x, v)), v, atol=1e-14)
    halfway = kind.integrate(kind.integrate(x, v, 0.5), v, 0.5)
    np.testing.assert_allclose(place(kind, halfway), place(kind, there), atol=1e-13)
    np.testing.assert_allclose(kind.normalised(there), there, atol=1e-15)
    assert kind.curved == (kind.nq != kind.nv)


@pytest.mark.parametrize("kind", MOVING, ids=lambda kind: kind.name)
def test_the_link_moves_as_its_body_does(kind):
    """`pose` of the link and `moved` of the body's frame are the same motion."""
    x, _ = draw(kind, 1)
    axis, anchor = Vec3(0.6, 0.0, 0.8), Vec3(0.1, 0.2, -0.3)
    frame = kind.frame(axis, anchor)
    R, p = kind.moved(frame, x)
    body = np.array(Pose(R if hasattr(R, "x") else R.matrix(), p).matrix(), dtype=float)
    link = np.array(kind.pose(axis, anchor, x).matrix(), dtype=float)
    np.testing.assert_allclose(link @ np.array(frame.matrix()), body, atol=1e-14)


@pytest.mark.parametrize("kind", MOVING, ids=lambda kind: kind.name)
def test_what_is_movable_needs_no_force_of_the_joint(kind):
    """The part of the inertia that is given to the parent has none along the joint's own motion."""
    inertia = Inertia.of(2.0, Vec3(0.1, -0.2, 0.3), (0.5, 0.01, 0.02, 0.6, 0.03, 0.7))
    part = kind.movable(inertia)
    for unit in kind.units:
        assert abs(part.momentum(unit).power(unit)) < 1e-15


@pytest.mark.parametrize("kind", [k for k in SIMPLE if not isinstance(k, Screw)], ids=lambda kind: kind.name)
def test_light_is_what_has_no_inertia_along_the_joint(kind):
    heavy = Inertia.of(2.0, Vec3(0.1, -0.2, 0.3), (0.5, 0.0, 0.0, 0.6, 0.0, 0.7))
    assert not kind.is_light(heavy, 0.0, 0.0, 2.0, 1.0)
    assert kind.is_light(Inertia(), 0.0, 0.0, 2.0, 1.0)


def test_a_screw_is_the_exponential():
    """Against a thousand small steps."""
    x, v = [0.1, 0.2, 0.3, 0.1, 0.2, 0.3, math.sqrt(1.0 - 0.14)], Motion(Vec3(1.0, -2.0, 0.5), Vec3(0.3, 0.9, -0.4))
    step = list(x)
    for _ in range(1000):
        step = moved(step, v, 1e-3)
    np.testing.assert_allclose(step, moved(x, v, 1.0), atol=1e-13)


def test_nothing_outside_compares_a_kind_with_a_name():
    """A kind is asked what it can do: a comparison of it with a string would have to be found for each new kind."""
    names = set(KINDS)
    found = []
    root = Path(linkwise.__file__).parent
    for path in root.rglob("*.py"):
        if path.parent == root / "robot" / "joint":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare):
                texts = {c.value for c in ast.walk(node) if isinstance(c, ast.Constant) and isinstance(c.value, str)}
                asked = {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
                asked |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
                if texts & names and asked & {"kind", "kinds"}:
                    found.append(f"{path.relative_to(root)}:{node.lineno}")
    assert found == []


def test_a_pitch_belongs_to_a_screw():
    assert lw.Joint("j", "a", "b", "screw", pitch=0.1).freedom == Screw(0.1)
    with pytest.raises(lw.ModelError, match="pitch: expected a screw, got a revolute joint"):
        lw.Joint("j", "a", "b", "revolute", pitch=0.1)


def test_an_unknown_kind_is_answered_with_those_there_are():
    with pytest.raises(lw.ModelError, match=r"expected one of .*'revolute'.*got 'hinge'"):
        lw.Joint("j", "a", "b", "hinge")
