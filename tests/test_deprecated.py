"""Names of the last release: each works, warns where it is used, and names one that is there."""

import re
import subprocess
import sys
import warnings
from pathlib import Path
from pkgutil import resolve_name

import pytest

import linkwise as lw
from linkwise.deprecated import MOVED, RENAMED_KEYS, addresses
from linkwise.planning.problem_file import KEYS, TERMS, read_problem
from linkwise.walking.result import Walk

PAGE = Path(__file__).parents[1] / "docs" / "migration.md"
OWN = ("reaction", "tool_path", "ParallelRobot", "base_motion")  # what they were is no longer one thing
STEPS = ("classical_acceleration", "component_acceleration", "difference", "integrate", "q_dot")


@pytest.mark.parametrize("name", MOVED)
def test_an_old_name_is_the_new_one(name):
    with pytest.warns(DeprecationWarning, match=f"lw.{name} is now") as caught:
        old = getattr(lw, name)
    assert [str(w.message).partition(";")[0] for w in caught] == [f"lw.{name} is now {MOVED[name]}"]
    assert caught[0].filename == __file__
    new = [resolve_name(x) for x in addresses(name)]
    assert callable(old) if name in (*OWN, *STEPS) else old is new[0]
    assert name not in lw.__all__
    assert name not in dir(lw)


def test_closed_chains_say_where_their_functions_are():
    dyn = lw.compile(lw.load("fivebar"))
    with pytest.raises(lw.LinkwiseError, match=r"dyn itself has its functions now.*robot\.opened\(\)"):
        dyn.closed  # noqa: B018
    assert not hasattr(dyn, "closed")


def test_new_names_are_public():
    for name, new in MOVED.items():
        for each in new.split(" or "):
            head, *rest = each.split(".")
            assert head == "linkwise" or rest[0] in lw.__all__, name


USER = """
import linkwise
from linkwise import time
from linkwise import limits as some, effort
for _ in range(3):
    linkwise.time()
linkwise.time()
robot = linkwise.load("rr")
for _ in range(3):
    linkwise.inverse_dynamics(robot, [0, 0], [0, 0], [0, 0])
"""


def test_each_place_is_told_once(tmp_path):
    """As Python does for every warning, be it an attribute or an import."""
    (tmp_path / "user.py").write_text(USER)
    done = subprocess.run(
        [sys.executable, "-W", "default", tmp_path / "user.py"], capture_output=True, text=True, check=True
    )
    told = re.findall(r"user\.py:(\d+): DeprecationWarning: (\S+)", done.stderr)
    assert sorted(told) == sorted(
        [
            ("3", "lw.time"),
            ("4", "lw.limits"),
            ("4", "lw.effort"),
            ("6", "lw.time"),
            ("7", "lw.time"),
            ("10", "inverse_dynamics(robot,"),
        ]
    )


def test_new_names_are_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in lw.__all__:
            getattr(lw, name)


def test_words_that_were_a_cost_or_a_limit():
    robot = lw.load("rr")
    with pytest.warns(DeprecationWarning, match="is now lw.cost.* or lw.limit"):
        reaction, tool_path = lw.reaction, lw.tool_path
    line = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    assert reaction("joint2", "moment") == lw.cost.reaction("joint2", "moment")
    assert reaction("joint2", force=3.0) == lw.limit.reaction("joint2", force=3.0)
    for old, new in (
        (tool_path("link2", line=line), lw.cost.tool_path("link2", line=line)),
        (tool_path("link2", line=line, tolerance=0.1), lw.limit.tool_path("link2", line=line, tolerance=0.1)),
    ):
        assert type(old) is type(new)
        assert old.path.rows(robot, 0.1).names == new.path.rows(robot, 0.1).names


def test_steps_are_what_members_of_compiled_robots_give():
    robot = lw.load("arm7", base="floating")
    dyn, q, v = lw.compile(robot), robot.q(), [0.1] * robot.nv
    with pytest.warns(DeprecationWarning, match="is now lw.Dynamics.integrate"):
        integrate = lw.integrate
    assert (integrate(robot, q, v, 0.1) == dyn.integrate(q, v, 0.1)).all()


def test_algorithms_called_directly():
    robot, zero = lw.load("rr"), [0.0, 0.0]
    with pytest.warns(DeprecationWarning, match=r"inverse_dynamics\(robot, ...\) is now inverse_dynamics\.plain"):
        found = lw.inverse_dynamics(robot, zero, zero, zero, gravity=(0.0, -1.0, 0.0))
    assert found == lw.inverse_dynamics.plain(robot, zero, zero, zero, gravity=(0.0, -1.0, 0.0))


def test_keys_of_problem_files(tmp_path):
    file = tmp_path / "problem.toml"
    file.write_text(
        "[minimize]\njoint_jerk = 2.0\n[[keep_out]]\nframe = 'link2'\nsphere = [[0.0, 0.0, 0.0], 0.1]\nradius = 0.1\n"
    )
    with pytest.warns(DeprecationWarning, match="of problem files is now") as caught:
        found = read_problem(file)
    assert len(caught) == 2
    assert found["minimize"] == 2.0 * lw.cost.jerk()
    assert isinstance(found["subject_to"][0], type(lw.limit.clearance("link2", half_space=((0, 0, 1), 0))))
    assert set(RENAMED_KEYS.values()) <= {*KEYS, *TERMS}


def test_the_page_of_migration_has_the_table():
    rows = dict(re.findall(r"^\| `lw\.(\w+)` \| (.*?) \|$", PAGE.read_text(), flags=re.MULTILINE))
    assert {old: re.sub("`", "", new) for old, new in rows.items()} == MOVED


GONE = {"dyn.closed", "linkwise.report.torques"}  # which the page names as such


@pytest.mark.parametrize(("page", "least"), [(PAGE, 150), (PAGE.parents[1] / "CHANGELOG.md", 25)])
def test_names_on_the_page_are_there(page, least):
    """Of the library, of a compiled robot, and import paths."""
    text, dyn = page.read_text(encoding="utf-8"), lw.compile(lw.load("fivebar"))
    names = set(re.findall(r"`((?:lw|dyn|linkwise)\.[A-Za-z_][\w.]*)", text)) - GONE
    assert len(names) > least
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for name in names:
            head, rest = name.split(".", 1)
            found = getattr(dyn, rest) if head == "dyn" else resolve_name(f"linkwise.{rest}")
            assert found is not None, name


def test_violations_of_walks():
    class Kept:
        def violations(self, above, kind):
            return [above, kind]

    with pytest.warns(DeprecationWarning, match=r"walk\.worst is now walk\.violations") as caught:
        assert Walk.worst(Kept(), 0.1, "torque") == [0.1, "torque"]
    assert caught[0].filename == __file__
