"""What runs elsewhere for every change: files and names that are there, and actions that nobody can exchange."""

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "benchmarks"))

from compare import differences, table  # noqa: E402

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.stem)
def test_workflows(path):
    text = path.read_text(encoding="utf-8")
    for used in re.findall(r"uses: (\S+.*)", text):
        assert re.fullmatch(r"[\w/.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+|\./\.github/workflows/\w+\.yml", used), used
    assert "\npermissions:\n  contents: read\n" in text
    jobs = text.partition("\njobs:\n")[2]
    runners, limits = re.findall(r"^    runs-on:", jobs, re.MULTILINE), re.findall(r"timeout-minutes: \d+", jobs)
    assert len(runners) == len(limits)
    assert "${{ github.event." not in re.sub(r"^ *(if|cancel-in-progress): .*$", "", text, flags=re.MULTILINE)
    targets = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"run: make ([a-z-]+)", text)) <= targets
    for name in re.findall(r"(?:python|@)\s?((?:tests|attack|benchmarks)/[\w/]+\.\w+)", text):
        assert (ROOT / name).exists(), name
    for sections in re.findall(r"benchmarks/run\.py ([\w ]+) --json", text):
        known = re.findall(r'^        "(\w+)": \w+\.run,$', (ROOT / "benchmarks/run.py").read_text(), re.MULTILINE)
        assert set(sections.split()) <= set(known)


def test_portable_tests_are_there():
    names = (ROOT / "tests" / "portable.txt").read_text().split()
    assert all((ROOT / name).exists() for name in names)
    assert len(names) == len(set(names)) > 20


def test_portable_tests_need_no_other_library():
    """But where a test skips itself; a missing module would end all of them before the first."""
    names = [ROOT / name for name in (ROOT / "tests" / "portable.txt").read_text().split()]
    files = [f for p in names for f in (p.glob("**/test_*.py") if p.is_dir() else [p])]
    known = {"linkwise", "support", "numpy", "scipy", "llvmlite", "msgspec", "click", "rich", "matplotlib"}
    known |= {"pytest", "hypothesis", "mpmath", "pandas", "pyarrow"} | set(sys.stdlib_module_names)
    seen = set()
    while files:
        file = files.pop()
        seen.add(file)
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            for name in imported(node):
                root, *rest = name.split(".")
                assert root in known, (file.name, name)
                other = ROOT / "tests" / "support" / f"{rest[0]}.py" if root == "support" else file
                files += [other] if other not in seen else []


def imported(node: ast.stmt) -> list[str]:
    """The modules that a statement imports."""
    if isinstance(node, ast.ImportFrom):
        return [node.module or ""]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


def test_records_are_compared():
    last = {"machine": "a", "speed": [{"robot": "UR5", "ns": 15.0, "ok": True}, {"robot": "Panda", "ns": 23.0}], "x": 1}
    now = {"machine": "a", "speed": [{"robot": "Panda", "ns": 46.0}, {"robot": "UR5", "ns": 16.0, "ok": False}], "y": 2}
    assert differences(last, now) == [("speed / Panda / ns", 23.0, 46.0)]
    assert differences(last, now, 0.01)[1] == ("speed / UR5 / ns", 15.0, 16.0)
    assert "1 of 2 numbers differ by more than 20%" in table(last, now)
    assert "| speed / Panda / ns | 23 | 46 | 2.00 |" in table(last, now)
    assert "first" in table(None, now)
    assert "now it is b" in table(last, {**now, "machine": "b"})
    assert differences({"t": [0.0]}, {"t": [1.0]}) == [("t / 0", 0.0, 1.0)]
