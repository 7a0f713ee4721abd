"""Beams of rigid segments against Euler and Bernoulli's."""

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.optimize import brentq

import linkwise as lw

LENGTH, MASS, RIGIDITY = 1.3, 0.8, 25.0


def frequencies(robot, count):
    """The lowest frequencies about the straight beam without gravity, rad/s."""
    M = lw.compile(robot).mass_matrix(robot.q())
    K = np.diag([robot.joint(n).spring.stiffness for n in robot.names])
    return np.sqrt(eigh(K, M, eigvals_only=True))[:count]


def cantilever(count):
    """Euler and Bernoulli: cos x cosh x = -1."""
    roots = [brentq(lambda x: np.cos(x) + 1.0 / np.cosh(x), a, a + np.pi) for a in np.pi * np.arange(count)]
    return np.square(roots) * np.sqrt(RIGIDITY / (MASS * LENGTH**3))


def test_frequencies_of_a_cantilever():
    """Three lowest frequencies of a plane beam; the error falls with the square of the segment's length."""
    true = cantilever(3)
    errors = []
    for segments in (10, 20, 40):
        robot = lw.beam(LENGTH, MASS, bending=(0.0, RIGIDITY), segments=segments)
        errors.append(np.abs(frequencies(robot, 3) / true - 1.0))
    assert errors[0][0] < 5e-3
    assert errors[2].max() < 5e-3
    assert np.abs(np.array(errors[:-1]) / np.array(errors[1:]) - 4.0).max() < 0.3


def test_both_planes_have_their_own_frequencies():
    robot = lw.beam(LENGTH, MASS, bending=(RIGIDITY, 4.0 * RIGIDITY), segments=12)
    assert len(robot.names) == 24
    single = [frequencies(lw.beam(LENGTH, MASS, bending=(0.0, k * RIGIDITY), segments=12), 2) for k in (1.0, 4.0)]
    assert np.abs(np.sort(np.concatenate(single))[:3] / frequencies(robot, 4)[:3] - 1.0).max() < 1e-9


def test_torsion_of_a_rod():
    """Quarter waves: (2k - 1) pi / 2 sqrt(GJ / (m r^2 L))."""
    robot = lw.beam(LENGTH, MASS, bending=0.0, torsion=3.0, radius=0.02, segments=20)
    true = np.pi / 2 * np.array([1, 3]) * np.sqrt(3.0 / (MASS * 0.02**2 * LENGTH))
    assert np.abs(frequencies(robot, 2) / true - 1.0).max() < 3e-3


def test_deflection_under_a_load():
    """A small force at the tip: F L^3 / 3 EI."""
    robot = lw.beam(LENGTH, MASS, bending=RIGIDITY, segments=40, gravity=(0, 0, 0))
    dyn = lw.compile(robot)
    force = 1e-3
    stiffness = np.array([robot.joint(n).spring.stiffness for n in robot.names])
    bent = dyn.jacobian(robot.q(), "tip")[2] * force / stiffness
    sag = dyn.pose(bent, "tip")[2, 3]
    assert sag == pytest.approx(force * LENGTH**3 / (3.0 * RIGIDITY), rel=1e-3)


def test_a_beam_swings_with_its_first_frequency():
    """Simulated with both planes free, massless hinges between them."""
    robot = lw.beam(LENGTH, MASS, bending=RIGIDITY, segments=5, gravity=(0, 0, 0))
    first = frequencies(robot, 1)[0]
    M = lw.compile(robot).mass_matrix(robot.q())
    K = np.diag([robot.joint(n).spring.stiffness for n in robot.names])
    shape = eigh(K, M)[1][:, 0]
    start = 1e-4 * shape / np.abs(shape).max()
    result = lw.simulate(robot, start, None, np.linspace(0.0, 2.0 * np.pi / first, 41), progress=False)
    assert np.abs(result.q[20] + start).max() < 1e-7  # half a period later, turned round
    assert np.abs(result.q[40] - start).max() < 1e-7


def test_a_beam_is_a_link_of_another_robot():
    arm = lw.load("rr").attach(lw.beam(0.5, 0.2, bending=5.0, segments=3), at="link2", prefix="beam_")
    assert "beam_bend_z3" in arm.names
    assert "beam_tip" in [f.name for f in arm.frames]
    assert np.isfinite(lw.compile(arm).forward_dynamics(*np.full((3, arm.nv), 0.1))).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bending": 0.0}, "expected a rigidity above 0"),
        ({"bending": -1.0}, "beam bending"),
        ({"bending": (1.0, 2.0, 3.0)}, "beam bending"),
        ({"bending": 1.0, "torsion": 1.0}, "radius of gyration"),
        ({"bending": 1.0, "segments": 0}, "segments: expected a whole number from 1 to 1000, got 0"),
        ({"bending": 1.0, "segments": 2.5}, "segments"),
        ({"bending": 1.0, "damping": -1.0}, "beam damping"),
        ({"bending": "stiff"}, "beam bending"),
    ],
)
def test_wrong_beams_are_named(options, message):
    with pytest.raises(lw.ModelError, match=message):
        lw.beam(1.0, 1.0, **options)
