"""Matrices turned plane by plane, and poses in steps, against plain products of matrices."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from linkwise.rotation import Turn, in_steps, turned
from linkwise.spatial import Inertia, Motion, Wrench
from linkwise.vector import Mat3, Vec3

SMALL = (0.0, 1e-17, 1e-15, 1e-12, 1e-8, 4e-8, 1e-4)


def rotations():
    """Random ones, right angles, and those that are nearly so."""
    yield from Rotation.random(20, 1).as_matrix()
    yield from Rotation.create_group("O").as_matrix().round()
    for x in SMALL:
        for axes in ("xyz", "zxz", "yzy"):
            yield Rotation.from_euler(axes, [x, 0.7, 0.0]).as_matrix()
            yield Rotation.from_euler(axes, [math.pi / 2, x, -0.4]).as_matrix()
            yield Rotation.from_euler(axes, [0.3, math.pi + x, 0.2]).as_matrix()


def mat(a):
    return Mat3.of(np.asarray(a).tolist())


@pytest.mark.parametrize("symmetric", [True, False])
def test_a_matrix_turned_by_planes_is_the_product(symmetric):
    """To a few roundings, also where a turn is nearly, but not quite, a right angle; complex numbers are not known."""
    rng = np.random.default_rng(3)
    for R in rotations():
        M = rng.normal(size=(3, 3)) + 1j * rng.normal(size=(3, 3))
        M = M + M.T if symmetric else M
        found = np.array(turned(mat(R), mat(M)))
        assert np.abs(found - R @ M @ R.T).max() < 2e-15 * np.abs(M).max()
        assert np.abs(found - found.T).max() == 0.0 or not symmetric


def test_right_angles_are_exact():
    M = np.arange(1.0, 10.0).reshape(3, 3) + 1j
    for R in Rotation.create_group("O").as_matrix().round():
        assert np.array_equal(np.array(turned(mat(R), mat(M))), R @ M @ R.T)


def test_steps_are_the_pose():
    """Moved by the steps, vectors, wrenches and inertias are as moved by the pose; Khalil's shift has two parts."""
    rng = np.random.default_rng(5)
    for fixed in rotations():
        p, angle = rng.normal(size=3), rng.normal()
        lever = np.array([0.3, 0.0, -0.2])
        for at in (p, fixed @ lever):
            c, s = math.cos(angle), math.sin(angle)
            R = fixed @ Rotation.from_rotvec([0, 0, angle]).as_matrix()
            turn, point = Turn(mat(fixed), c, s), Vec3(*at.tolist())
            f, m = rng.normal(size=(2, 3))
            wrench = Wrench(Vec3(*f), Vec3(*m)).seen_from(turn, point)
            assert np.allclose([*wrench], [*(R @ f), *(R @ m + np.cross(at, R @ f))], rtol=0, atol=1e-14)
            motion = Motion(Vec3(*f), Vec3(*m)).carried_to(turn, point)
            assert np.allclose([*motion], [*(R.T @ (f + np.cross(m, at))), *(R.T @ m)], rtol=0, atol=1e-14)
            body = Inertia.of(2.0, Vec3(*f), (0.5, 0.1, 0.2, 0.6, 0.05, 0.7))
            one, other = body.seen_from(turn, point), body.seen_from(mat(R), point)
            assert np.allclose(one.parameters(), other.parameters(), rtol=0, atol=2e-14)
        steps = in_steps(turn, Vec3(*(fixed @ lever).tolist()))
        assert sum(x != 0.0 for x in steps.lever) <= 2
