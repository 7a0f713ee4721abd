"""Every experiment agrees, makes a page, and is plain data."""

import json

import pytest

from papers.experiments import EXPERIMENTS, run
from papers.html import page

QUICK = ("routes", "shuttle", "moving-base", "snake", "five-bar", "two-links", "loaded-sensitivities")
ERRATA = "errata"  # which assumes nothing


@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in EXPERIMENTS])
def test_agrees_and_makes_a_page(name):
    found = run(name)
    assert found.agrees, found.finding
    assert found.name == name
    assert bool(found.assumptions) == (name != ERRATA)
    assert all(p.svg.startswith("<svg") for p in found.pictures)
    assert f'id="{name}"' in page([found])
    json.dumps(found.as_data(), allow_nan=False)
