"""The code that documentation shows is code that runs."""

import re
import shutil
from pathlib import Path

import pytest

import linkwise as lw

ROOT = Path(__file__).parents[2]
PAGES = [
    "README.md",
    "docs/guide.md",
    "docs/cache.md",
    "docs/simulation.md",
    "docs/view.md",
    "docs/rollouts.md",
    "docs/closed_loops.md",
    "docs/parallel_robots.md",
    "docs/torque_rates.md",
    "docs/elastic_drives.md",
    "docs/derivatives.md",
    "docs/planning.md",
    "docs/paths.md",
    "docs/walking.md",
    "docs/teaching.md",
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


def test_formulas_on_pages_are_those_that_are_printed(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "teaching.md").read_text()
    before, formula = re.search(r"```python\n([^`]*)```\n\n\$\$\n(.*?)\$\$", text, flags=re.DOTALL).groups()
    exec(before, {"lw": lw})
    assert capsys.readouterr().out == formula
