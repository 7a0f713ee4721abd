"""The code that documentation shows is code that runs."""

import re
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    "README.md",
    "docs/guide.md",
    "docs/cache.md",
    "docs/simulation.md",
    "docs/rollouts.md",
    "docs/closed_loops.md",
    "docs/parallel_robots.md",
    "docs/torque_rates.md",
    "docs/elastic_drives.md",
    "docs/derivatives.md",
    "docs/planning.md",
    "docs/paths.md",
    "docs/walking.md",
]


@pytest.mark.parametrize("page", PAGES)
def test_code_blocks_run(page, monkeypatch, tmp_path):
    """All Python blocks of a page, one after the other, in a copy of the folder of examples."""
    text = (ROOT / page).read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert blocks
    monkeypatch.chdir(shutil.copytree(ROOT / "examples", tmp_path / "examples"))
    space = {}
    for block in blocks:
        exec(compile(block, page, "exec"), space)
