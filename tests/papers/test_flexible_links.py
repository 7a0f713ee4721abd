"""Beams of rigid pieces on a root that turns, against a solution of the continuous beam."""

import pytest

from papers import flexible_links as page


@pytest.mark.parametrize("speed", [0.0, 4.0, 12.0])
def test_centrifugal_forces_stiffen_a_beam_as_published(speed):
    assert abs(page.by_powers(speed)[0] - page.PUBLISHED[speed]) < 1e-4
    assert page.frequencies(20, speed)[0] == pytest.approx(page.PUBLISHED[speed], rel=3e-3)


def test_the_experiment_agrees():
    found = page.flexible_links()
    assert found.agrees, found.finding
    assert len(found.tables[0].rows) == len(page.SEGMENTS) + 1
