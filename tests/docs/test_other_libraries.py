"""The page of ten tasks: every block runs where its library is installed, and computes what Linkwise computes."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "benchmarks"))

import tasks  # noqa: E402

EXACT, NEAR = 1e-12, 1e-6  # parts: of rounding, and of finite differences and integrators
KEPT = ("tau", "M", "J", "dtau_dq", "dtau_dqd", "taus", "end", "q_found")
TOLERANCES = {
    "MuJoCo": {"dtau_dq": 1e-5, "dtau_dqd": 1e-5, "M": NEAR, "end": NEAR},  # differences to one side
    "Robotics Toolbox": {"dtau_dq": NEAR, "dtau_dqd": NEAR, "end": 1e-3, "pose": 1e-3},
    "Pinocchio": {"end": NEAR},
    "OpenSim": {"end": NEAR},
}


def computed(library):
    """What the blocks of a library leave behind, after each task."""
    found = {}
    with tasks.workplace(library) as space:
        q, qdd = space["q"].copy(), space["qdd"].copy()
        for task, code in tasks.blocks().items():
            if library in code:
                before = set(space)
                exec(compile(code[library], f"{library}: {task}", "exec"), space)
                names = set(space) - before | {"tau", "taus", "M", "J", "dtau_dq", "dtau_dqd", "end", "q_found"} & set(
                    space
                )
                found |= {n: np.array(space[n]) for n in names if isinstance(space[n], np.ndarray)}
        np.testing.assert_allclose(space["qdd"], qdd, rtol=1e-9)  # forward dynamics takes inverse dynamics back
        assert np.array_equal(space["q"], q)
        if "combinations" in space:
            found["rank"] = np.array(len([c for c in space["combinations"] if not own(c)]))
    if "q_found" in found:
        import linkwise as lw

        found["pose"] = lw.compile(lw.load(ROOT / "examples" / "six_axes.urdf")).pose(found.pop("q_found"), "hand")
    return found


def own(combination):
    """Whether a combination is one of friction or rotors alone, which only Linkwise counts."""
    return isinstance(combination, str) and bool(re.fullmatch(r"\w+\.(rotor|viscous|coulomb\w*|static)", combination))


@pytest.fixture(scope="module")
def ours():
    return computed("Linkwise")


@pytest.mark.parametrize("library", [name for name in tasks.NEEDS if name != "Linkwise"])
def test_libraries_agree(library, ours):
    if not tasks.installed(library):
        pytest.skip(f"{library} is not installed")
    theirs = computed(library)
    shared = theirs.keys() & ours.keys()
    assert shared >= {"tau", "M", "J"}
    for name in shared:
        size, part = np.abs(ours[name]).max(), TOLERANCES[library].get(name, 1e-5 if name == "pose" else EXACT)
        assert np.abs(theirs[name] - ours[name]).max() <= part * max(1.0, size), name


def test_lines_are_those_of_the_table():
    """And ours are never more than another's."""
    text = tasks.PAGE.read_text(encoding="utf-8")
    head, *rows = re.findall(r"^\| (lines of code|\[\d+\. [^|]*) \| (.*) \|$", text, re.MULTILINE)
    libraries = head[1].split(" | ")
    assert libraries == list(tasks.NEEDS)
    found = {task: code for task, code in tasks.blocks().items() if task != "shared"}
    assert len(found) == len(rows) == 10
    totals = dict.fromkeys(libraries, 0)
    for (task, code), (_, cells) in zip(found.items(), rows, strict=True):
        counted = [str(tasks.lines(code[name])) if name in code else "-" for name in libraries]
        assert cells.split(" | ") == counted, task
        assert all(tasks.lines(code["Linkwise"]) <= tasks.lines(x) for x in code.values()), task
        for name in libraries:
            totals[name] += tasks.lines(code.get(name, ""))
    assert f"rows = {totals}".replace("'", '"') in text


def test_lines_are_no_longer_than_lines_of_ours():
    for task, code in tasks.blocks().items():
        for library, text in code.items():
            assert max(map(len, text.splitlines())) <= 120, (task, library)
            assert ";" not in text, (task, library)


def test_peers_are_measured_with_the_same_lines(capsys, monkeypatch):
    monkeypatch.setattr(tasks, "SECONDS", 0.0)
    monkeypatch.setattr(tasks, "NEEDS", {"Linkwise": "linkwise"})
    rows = tasks.run()
    assert len(rows) == 10
    assert all(row["seconds"] > 0.0 for row in rows)
    assert "lines" in capsys.readouterr().out
