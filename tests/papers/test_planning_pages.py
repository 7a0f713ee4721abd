"""The planning experiments of the report find what they should."""

import numpy as np
import pytest

from papers import planning
from papers.experiments import run
from papers.two_link_plans import minimum_time


@pytest.mark.slow
@pytest.mark.parametrize("name", ["minimum-time", "time-and-effort"])
def test_two_links(name):
    found = run(name)
    assert found.agrees, found.finding
    assert len(found.pictures) >= 3
    assert all(p.svg.startswith("<svg") for p in found.pictures)


def test_internal_forces_are_those_of_a_horizontal_plane():
    """Figure 4.3: both norms have two peaks and merge around the end, which gravity across the plane would hide."""
    plan = minimum_time(20, progress=False)
    assert all(good for good, _ in planning.force_claims(plan).values())
    first, second = planning.force_norms(plan)(np.array([plan.duration]))[0]
    assert abs(first - second) < 0.05 * second
