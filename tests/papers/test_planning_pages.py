"""The planning experiments of the report find what they should."""

import pytest

from papers.experiments import run


@pytest.mark.slow
@pytest.mark.parametrize("name", ["minimum-time", "time-and-effort"])
def test_two_links(name):
    found = run(name)
    assert found.agrees, found.finding
    assert len(found.pictures) >= 3
    assert all(p.svg.startswith("<svg") for p in found.pictures)
