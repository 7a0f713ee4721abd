"""The code and the commands that documentation shows run."""

import importlib
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest
from PIL import Image

import linkwise as lw
from support.command import linkwise
from support.examples import ROBOTS

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(python|sh|\{code-cell\} python)\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)
BY_BUILD = {"docs/index.md", "docs/tutorials/"}  # notebooks, which `make docs` runs; a failure there fails the build
# tests/cli/test_five_minutes.py compares what is printed too, test_other_libraries.py what libraries compute
BY_OTHERS = {"docs/five_minutes.md", "docs/from_other_libraries.md"}


def blocks(page: str) -> list[tuple[str, str]]:
    return BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))


def pages() -> list[str]:
    every = sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").glob("**/*.md") if "_build" not in p.parts)
    shown = [p for p in ["README.md", *every] if blocks(p) and p not in BY_OTHERS]
    built = [p for p in shown if any(p.startswith(folder) for folder in BY_BUILD)]
    commands = [p for p in built if any("linkwise " in text for kind, text in blocks(p) if kind == "sh")]
    return [p for p in shown if p not in built or p in commands]


def run_cell(text: str, page: str, space: dict[str, object]) -> None:
    """Run a block of code; the one magic that notebooks of ours have writes a file."""
    if text.startswith("%%writefile "):
        first, rest = text.split("\n", 1)
        Path(first.split()[1]).write_text(rest, encoding="utf-8")
    else:
        exec(compile(text, page, "exec"), space)


def run_commands(text: str) -> None:
    """Run the lines that begin with our command; `pip` and `make` are not for tests."""
    for line in text.splitlines():
        command, _, remark = line.partition("#")
        if command.startswith("linkwise "):
            code = re.search(r"exit code (\d)", remark)
            result = linkwise(*shlex.split(command)[1:])
            assert result.exit_code == (int(code[1]) if code else 0), (line, result.output)


@pytest.mark.parametrize("page", pages())
def test_code_and_commands_run(page, monkeypatch, tmp_path):
    """All blocks of a page, one after the other, in a copy of the folder of examples."""
    monkeypatch.setattr("webbrowser.open", lambda address: True)
    monkeypatch.chdir(shutil.copytree(ROOT / "examples", tmp_path / "examples"))
    rows = "".join(f"{0.1 * k},0,0,0.8,0,0,{0.01 * k}\n" for k in range(9))
    Path("poses.csv").write_text("t,x,y,z,rx,ry,rz\n" + rows)  # of the README's hexapod
    shutil.copy(ROBOTS / "panda_description" / "urdf" / "panda.urdf", "panda.urdf")
    space: dict[str, object] = {}
    for kind, text in blocks(page):
        if kind == "sh":
            run_commands(text)
        else:
            run_cell(text, page, space)


def test_pages_are_found():
    assert {"README.md", "docs/guide.md", "docs/wheels.md", "docs/tutorials/your_urdf.md"} <= set(pages())
    assert len(pages()) > 15


def test_formulas_on_pages_are_those_that_are_printed(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "teaching.md").read_text()
    before, formula = re.search(r"```python\n([^`]*)```\n\n\$\$\n(.*?)\$\$", text, flags=re.DOTALL).groups()
    exec(before, {"lw": lw})
    assert capsys.readouterr().out == formula


def test_the_first_screen_of_the_readme():
    """One sentence, a picture that moves and stays small, ten lines; links to every page."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    sentence, picture, code = re.match(
        r"# Linkwise\n\n\*\*([^*]+)\*\*\n\n!\[[^]]+\]\(([\w/.]+)\)\n\n```python\n(.*?)```", text, flags=re.DOTALL
    ).groups()
    assert sentence.count(".") == 1
    assert len([line for line in code.splitlines() if line]) == 10
    assert (ROOT / picture).stat().st_size <= 600_000
    with Image.open(ROOT / picture) as shown:
        assert shown.n_frames > 40
        assert shown.info["loop"] == 0
    targets = set(re.findall(r"\]\(([^)#:]+)\)", text))
    assert [target for target in targets if not (ROOT / target).exists()] == []
    assert {f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md")} - {"docs/index.md"} <= targets


def test_the_moving_picture_can_be_made_again(monkeypatch, browser, tmp_path):
    monkeypatch.setattr(sys, "path", [str(ROOT / "examples"), *sys.path])
    made = importlib.import_module("moving_picture")
    turn = lw.simulate(lw.load("rr"), None, [2.0, 0.0], 0.5)
    instants = made.pictures(browser, lambda: (turn, {"from": [0, -1, 0.3], "trace": "link2"}), 2)
    made.write(tmp_path / "turn.webp", made.side_by_side([instants] * 3))
    with Image.open(tmp_path / "turn.webp") as shown:
        assert (shown.n_frames, shown.size) == (2, (3 * made.WIDTH, made.HEIGHT))
