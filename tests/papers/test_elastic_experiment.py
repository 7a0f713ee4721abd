"""The arm of mixed joints: errors, torques and stability as published or as they must be."""

import json

import numpy as np
import pytest

import linkwise as lw
from papers import elastic_arm, elastic_robots
from papers.experiments import run
from papers.html import page
from support.elastic import hua_arm


def test_the_arm_is_that_of_the_reference_numbers():
    """With lengths of 0.3 m, links and motors add up to the unified bodies of case 000."""
    state = np.random.default_rng(0).normal(size=(3, 4))
    ours, theirs = (lw.compile(r).inverse_dynamics(*state) for r in (elastic_arm.paper_arm((0.3, 0.3, 0.3)), hua_arm()))
    assert np.abs(ours - theirs).max() < 1e-13


@pytest.mark.parametrize(
    ("payload", "rms", "torques"),
    [
        (0.0, (0.0026556, 0.0036581, 0.052960), (16.45, 2.45)),
        (3.0, (0.0026810, 0.0061291, 0.052737), (13.75, 1.80)),
        (-3.0, None, (19.14, 3.09)),
    ],
)
def test_errors_and_torques_of_an_independent_simulation(payload, rms, torques):
    """Root mean squares over 10 s at 1 ms, and torques of motors 2 and 3 at 3 s, by another program."""
    times = np.arange(10_001) * 1e-3 if rms else np.arange(3_001) * 1e-3
    found = elastic_arm.tracked(elastic_arm.paper_arm(), payload, times)
    if rms:
        assert np.abs(found.rms / rms - 1.0).max() < 1e-4
    assert np.abs(found.tau[3000, 1:] - torques).max() < 6e-3
    if not payload:
        assert np.diff(found.V2).max() < 1e-12 * found.V2[0]


def test_stiff_springs_tend_to_the_rigid_arm():
    """To first order in 1/K: ten times the stiffness, a tenth of the difference."""
    off = elastic_arm.rigid_limit()
    assert np.abs(np.array(off[1:-1]) / off[2:] - 10.0).max() < 0.05


def test_costs_grow_with_the_number_of_joints_or_its_square():
    few, more = elastic_robots.forward_costs(6), elastic_robots.forward_costs(12)
    linear, _, columns = elastic_robots.ROUTES
    assert more[linear] / few[linear] < 2.5
    assert more[columns] / few[columns] > 3.5


@pytest.mark.slow
def test_the_experiment_agrees_and_makes_a_page():
    found = run("elastic-arm")
    assert found.agrees
    assert 'id="elastic-arm"' in page([found])
    json.dumps(found.as_data(), allow_nan=False)
