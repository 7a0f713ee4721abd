"""Commands whose reader leaves, whose disk is full, or whose streams are closed; and what may stand in their lines."""

import json
import os
import shlex
import subprocess
import sys
from xml.etree import ElementTree

import pytest

import linkwise as lw
from support.command import error, linkwise

LINKWISE = f"{shlex.quote(sys.executable)} -m linkwise"
NASTY = "a\x1b[31m\x07\n\r\x9b2J\u202eb\u2028\x00<&>"  # colours, a bell, lines, a screen wiped, text turned round


def shell(command, **options):
    """Run a line of the shell that says linkwise; no traceback may come of it."""
    line = command.replace("linkwise", LINKWISE)
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=300, **options)
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    return done


# ---- streams

TORQUE = "torque arm.urdf swing.csv -o out.csv"
FULL = "No space left on device"


@pytest.mark.parametrize(
    ("command", "to", "code", "words"),
    [
        (TORQUE, ">&-", 0, ""),
        (TORQUE, "> >(true)", 0, ""),
        (TORQUE, "> /dev/full", 2, FULL),
        (f"{TORQUE} --plot out.png", ">&- 2>&- <&-", 0, ""),
        ("simulate arm.urdf --time 0.1 -o out.npz", "> /dev/full", 2, FULL),
        ("convert arm.urdf out.toml --khalil", "> >(true)", 0, ""),
    ],
)
def test_files_are_written_whoever_reads(folder, command, to, code, words):
    done = shell(f"linkwise {command} {to}")
    assert done.returncode == code, done.stderr
    assert words in done.stderr
    assert done.stderr.count("\n") == (1 if words else 0)
    outputs = [word for word in command.split() if word.startswith("out.")]
    assert all((folder / name).stat().st_size > 100 for name in outputs)
    assert not [p for p in folder.iterdir() if p.name.startswith(".")]


def test_a_film_is_written_though_its_reader_has_left(folder):
    done = shell("linkwise walk --solver scipy --time-limit 0.001 --film film.png --table t.csv | head -1")
    assert done.stdout.startswith("out of time")
    assert (folder / "film.png").stat().st_size > 1000
    assert (folder / "t.csv").stat().st_size > 1000


def test_the_exit_code_is_the_command_s_though_its_reader_has_left(folder):
    """What `check` finds counts, and is no less true because `head` has read enough."""
    for to in ("| true", "| cat", ">&-"):
        found = shell(f"linkwise check rr arm.urdf {to}; exit ${{PIPESTATUS[0]}}")
        assert found.returncode == 1, to
    assert shell("linkwise check arm.urdf | true; exit ${PIPESTATUS[0]}").returncode == 0


def test_an_error_that_nobody_can_read(folder):
    for to in ("2>&-", "2> /dev/full", "2> >(true)"):
        assert shell(f"linkwise info no.urdf {to}").returncode == 2


def test_help_to_a_full_disk():
    done = shell("linkwise --help > /dev/full")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_a_file_that_cannot_be_written_takes_no_answer_away(folder):
    for command in (TORQUE, "simulate arm.urdf --time 0.1 -o out.csv"):
        arguments = command.replace("out.csv", "/proc/a.csv").split()
        done = linkwise(*arguments)
        assert done.exit_code == 2
        assert "arm: " in done.stdout
        assert "/proc/a.csv" not in done.stdout
        assert "'/proc/a.csv': expected a file that can be written" in done.stderr
    facts = json.loads(linkwise(*arguments, "--plot", "out.svg", "--json").stdout)
    assert (facts["output"], facts["plot"]) == (None, "out.svg")
    assert (folder / "out.svg").exists()


# ---- files that are read and written


def test_no_command_writes_over_what_it_reads(folder):
    problem = "start = [0.0, -2.0]\ngoal = [1.0, -1.0]\n[minimize]\ntime = 1.0\n"
    (folder / "side.toml").write_text("gravity = [0, 0, -1]\n")
    (folder / "problem.csv").write_text(problem)
    lw.save(lw.load("arm.urdf"), "arm.toml")
    (folder / "link.csv").symlink_to("swing.csv")
    os.link(folder / "swing.csv", folder / "hard.csv")
    (folder / "sub").mkdir()
    before = {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}
    for command in (
        *(f"torque arm.urdf swing.csv -o {name}" for name in ("swing.csv", "link.csv", "hard.csv", "sub/../swing.csv")),
        "torque arm.urdf link.csv -o swing.csv",
        "convert arm.toml ./arm.toml",
        "convert arm.urdf side.toml --side side.toml",
        "plan arm.urdf problem.csv -o problem.csv",
        "plan arm.urdf problem.csv --guess a.npz -o ./a.npz",
    ):
        assert "expected another file than" in error(*command.split())
    assert before == {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}


def test_no_command_writes_two_results_to_one_file(folder):
    assert "expected another file than 'a.png' of '--plot'" in error("walk", "--plot", "a.png", "--film", "./a.png")


@pytest.mark.parametrize("name", ["pipe.csv", "old.csv"])
def test_outputs_are_looked_at_before_the_work(folder, name, monkeypatch):
    monkeypatch.setattr("linkwise.cli.torque.load", None)
    os.mkfifo(folder / "pipe.csv")
    (folder / "old.csv").touch(0o444)
    assert "expected a file that can be written" in error("torque", "arm.urdf", "swing.csv", "-o", name)


def test_inputs_that_are_pipes_are_not_waited_for(folder):
    for name in ("a.csv", "a.npz", "a.urdf", "a.toml"):
        os.mkfifo(folder / name)
    for command in (
        "torque arm.urdf a.csv", "torque arm.urdf a.npz", "info a.urdf", "info a.toml", "plan arm.urdf a.toml",
        "info arm.urdf --side a.toml", "simulate a.urdf",
    ):  # fmt: skip
        assert "expected a file that can be read, got: a named pipe" in error(*command.split())


def test_a_problem_comes_through_a_pipe(folder):
    problem = "start = [0.0, -2.0]\ngoal = [1.0, -1.0]\n[minimize]\ntime = 1.0\n[limits]\neffort = true\n"
    (folder / "p.toml").write_text(problem)
    assert "converged" in shell("linkwise plan rr <(cat p.toml)").stdout


# ---- names


@pytest.fixture
def nasty(folder):
    """A robot of which every name has characters that terminals obey."""
    links = [lw.Link(f"base{NASTY}"), lw.Link(f"link{NASTY}", 1.0, (0.1, 0, 0), (1, 1, 5))]
    joint = lw.Joint(f"joint{NASTY}", links[0].name, links[1].name, limits=lw.Limits(-1, 1, effort=1))
    frame = lw.Frame(f"frame{NASTY}", links[1].name)
    robot = lw.Robot(links, [joint], [frame], name=f"robot{NASTY}", notes=[("warning", f"link{NASTY}", f"x{NASTY}")])
    lw.save(robot, folder / "nasty.toml")
    return robot


def sound(text):
    return all(line.isprintable() for line in text.split("\n"))


def test_names_are_printed_as_what_they_are(folder, nasty):
    (folder / "still.csv").write_text("t,\x1b[31mx\n0,0\n")
    for command in (
        ["info", "nasty.toml"], ["check", "nasty.toml"], ["simulate", "nasty.toml", "--time", "0.1"],
        ["convert", "nasty.toml", "a.toml"], ["convert", "nasty.toml", "--khalil"], ["info", f"no{NASTY[:9]}.urdf"],
        ["check", "nasty.toml", "--json"], ["torque", "nasty.toml", "still.csv"],
        ["torque", "nasty.toml", "still.csv", "--ignore-extra"], ["info", "nasty.toml", "--lock", "\x1b[31m"],
        ["simulate", "nasty.toml", "--time", "0.1", "-o", "a\x1b[31m\nb.csv"], ["no\x1b[31m"],
    ):  # fmt: skip
        done = linkwise(*command)
        assert sound(done.stdout), command
        assert sound(done.stderr), command
    lines = linkwise("check", "nasty.toml").stdout.split("\n")
    assert lines[0] == "nasty.toml: problems"
    assert all(line.startswith("  ") for line in lines[1:-1])  # none that a name has made
    assert (folder / "a\x1b[31m\nb.csv").exists()


def test_pictures_of_such_robots_are_well_formed(folder, nasty):
    lw.simulate(nasty, [0.1], None, 0.1).plot(folder / "a.svg")
    ElementTree.parse(folder / "a.svg")
    text = (folder / "a.svg").read_text(encoding="utf-8")
    assert r"joint" in text
    assert r"\x1b[31m\x07" in text
