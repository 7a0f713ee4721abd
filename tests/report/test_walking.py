"""The experiment on walking agrees, and makes a page."""

import json

import pytest

from linkwise.report.experiments import run
from linkwise.report.html import page


@pytest.mark.slow
def test_walking_agrees_and_makes_a_page():
    found = run("walking")
    assert found.agrees
    assert found.assumptions
    assert 'id="walking"' in page([found])
    json.dumps(found.as_data(), allow_nan=False)
