"""Command lines without sense: random commands, options, files and values; streams that are closed or full.

Most run inside the worker, some as processes of their own. A command ends with 0, 1 or 2; with 2 it says why in one
line that begins with `linkwise: error: `; never with a traceback. What it reads stays as it was.
"""

from __future__ import annotations

import os
import random
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
from click.testing import CliRunner
from verdict import CLEAR, Verdict

import linkwise as lw
from linkwise.cli.root import cli
from papers.two_link_plans import minimum_time

TRIES, QUICK, LONGEST = 6_000, 90, 120.0
LONG = ("bench", "walk")  # commands that take their time
ROBOTS = ("rr", "pr", "arm.urdf", "robot.toml", "delta", "three_rrr", "fourbar", "nasty.toml", "bad.urdf", "empty.toml")
WORDS = (
    "", " ", "0", "-1", "1", "0.1", "1e-9", "1e400", "-1e400", "nan", "inf", "1_000", "1,2,3", "1,,2", ",", "=",
    "a=b", "a=", "joint1", "joint1=0.1", "joint1=nan", "joint2=1e9", "joint1=1,2,3", "shoulder=0.5",
    "platform=0,0,-0.5", "--", "-", "-x", "1@tool", "1,0,0,0.1@link2", "@", "link2=1,2,3", "\x1b[31m", "é", "\udcff",
    "x" * 5000, "'", '"', "$(true)", "../..", "%s", "{0}", "\n", "fixed", "floating", "RK45", "scipy", "9" * 400,
    "0x10", "true", "*",
)  # fmt: skip
FILES = (
    "swing.csv", "motion.csv", "run.npz", "plan.npz", "problem.toml", "arm.urdf", "robot.toml", "no.csv", "bad.npz",
    "pipe.csv", "folder.npz", "loop.toml", "out.csv", "out.npz", "out.toml", "out.urdf", "out.png", "out.svg",
    "out.xyz", "no/out.csv", "read-only.csv", "empty.csv",
)  # fmt: skip
PROBLEM = "start = [0.0, -2.0]\ngoal = [1.0, -1.0]\n[minimize]\ntime = 1.0\n[limits]\neffort = true\n"
STREAMS = (">&-", "2>&-", ">&- 2>&- <&-", "> /dev/full", "2> /dev/full", "| true", "| head -1", "<&-", "> /dev/null")


class Stage:
    """A folder with files of all kinds, and what those that are read contain."""

    def __init__(self, folder: Path, quick: bool) -> None:
        self.folder = folder / "files"
        self.folder.mkdir()
        os.chdir(self.folder)
        for name in ("arm.urdf", "swing.csv"):
            shutil.copy(Path(__file__).parents[1] / "examples" / name, self.folder)
        robot = lw.load("rr")
        lw.save(robot, "robot.toml")
        run = lw.simulate(robot, [0.1, 0.2], None, 0.05)
        run.save("run.npz")
        run.save("motion.csv")
        minimum_time(8, progress=False).save("plan.npz")
        nasty = "a\x1b[31m\x07\n<&>"
        links = [lw.Link(f"base{nasty}"), lw.Link(f"link{nasty}", 1.0, (0.1, 0, 0), (1, 1, 5))]
        lw.save(lw.Robot(links, [lw.Joint(f"joint{nasty}", links[0].name, links[1].name)], name=nasty), "nasty.toml")
        for name, text in {"problem.toml": PROBLEM, "bad.urdf": "<robot><link/>", "empty.toml": "", "empty.csv": "",
                           "bad.npz": "PK", "read-only.csv": "t,q\n"}.items():  # fmt: skip
            Path(name).write_text(text)
        Path("read-only.csv").chmod(0o444)
        os.mkfifo("pipe.csv")
        Path("folder.npz").mkdir()
        Path("loop.toml").symlink_to("loop.toml")
        self.kept = {p.name: p.read_bytes() for p in self.folder.iterdir() if p.is_file() and not p.is_fifo()}
        self.rare = 0.05 if quick else 0.04

    def tidy(self) -> Verdict:
        """Whether what was there is as it was, but for what a line may have asked to be written over; then it is."""
        stray = []
        for p in self.folder.iterdir():
            if p.name.startswith("."):
                stray.append(p.name)
            if p.name not in self.kept and p.name not in ("pipe.csv", "folder.npz", "loop.toml"):
                shutil.rmtree(p) if p.is_dir() and not p.is_symlink() else p.unlink()
        for name, data in self.kept.items():
            path = self.folder / name
            if not path.exists() or path.read_bytes() != data:
                path.unlink(missing_ok=True)
                path.write_bytes(data)
        if not (self.folder / "pipe.csv").is_fifo() or (self.folder / "read-only.csv").stat().st_mode & 0o222:
            return Verdict("wrong", "a pipe or a read-only file was replaced")
        return Verdict("wrong", f"left behind {stray}") if stray else CLEAR


def prepare(folder: Path, quick: bool) -> Stage:
    return Stage(folder, quick)


def draw(stage: Stage, rng: random.Random) -> Callable[[], Verdict]:
    line = words(rng)
    if rng.random() < stage.rare:
        return lambda: process(stage, line, rng)
    return lambda: inside(stage, line)


def words(rng: random.Random) -> list[str]:
    """A command line: most often a command with arguments in their places, and some options."""
    if rng.random() < 0.05:
        return [value(rng) for _ in range(rng.randrange(4))]
    name = rng.choice([n for n in cli.commands if n not in LONG or rng.random() < 0.05])
    command, line = cli.commands[name], [name]
    for p in command.params:
        if isinstance(p, click.Argument):
            line += [rng.choice(ROBOTS) if p.name in ("robot", "robots") else rng.choice(FILES) for _ in range(1)]
            if rng.random() < 0.05:
                line[-1] = value(rng)
        elif rng.random() < 0.12:
            line.append(rng.choice([*p.opts, *p.secondary_opts]))
            if not p.is_flag:
                line.append(value(rng, p))
    if rng.random() < 0.1:
        line.insert(rng.randrange(1, len(line) + 1), rng.choice((*WORDS, *FILES, "--json", "--nonsense", "-q")))
    return bounded(command, name, line)


def value(rng: random.Random, p: click.Parameter | None = None) -> str:
    """A value for an option: one that fits its type, or anything."""
    how = rng.random()
    if p is not None and isinstance(p.type, click.Choice) and how < 0.7:
        return rng.choice([str(c) for c in p.type.choices])
    if how < 0.3:
        return rng.choice(FILES)
    if how < 0.5:
        return f"{rng.choice(('joint1', 'joint2', 'shoulder', 'ankle_l', 'tool'))}={rng.uniform(-2.0, 2.0):.2f}"
    return f"{rng.uniform(0.0, 3.0):.3f}" if how < 0.7 else rng.choice(WORDS)


def bounded(command: click.Command, name: str, line: list[str]) -> list[str]:
    """The line with a limit of time where the command knows one; long commands only look at their arguments."""
    known = [o for p in command.params for o in p.opts]
    if name == "bench":
        return [*line, "--nonsense"]
    if name == "show":
        return [*line, "--time", "0.3", "--no-browser"]
    if "--time-limit" in known:
        line += ["--time-limit", "0.2"]
    return [*line, "--solver", "scipy"] if name == "walk" else line


# ---- inside this process


def inside(stage: Stage, line: list[str]) -> Verdict:
    done = CliRunner().invoke(cli, line)
    said = shlex.join(line).encode(errors="replace").decode()[:300]
    tidy = stage.tidy()
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        return Verdict("crash", f"linkwise {said}: {type(done.exception).__name__}: {done.exception}")
    if done.exit_code not in (0, 1, 2):
        return Verdict("crash", f"linkwise {said}: exit code {done.exit_code}")
    if tidy.kind != "clear":
        return Verdict(tidy.kind, f"linkwise {said}: {tidy.why}")
    return clear(said, done.exit_code, done.stderr)


def clear(said: str, code: int, err: str) -> Verdict:
    """Whether bad usage is answered in one line that says what is wrong, and no usage by the help."""
    if "Traceback" in err or "Exception ignored" in err:
        return Verdict("crash", f"linkwise {said}: {err[-300:]}")
    lines = [text for text in err.split("\n") if text.startswith("linkwise: error: ")]
    helped = not said.strip(" |<>&-").startswith(tuple(cli.commands)) and err.startswith("Usage: linkwise [OPTIONS]")
    if code == 2 and not helped and (len(lines) != 1 or len(lines[0]) < 25):
        return Verdict("unclear", f"linkwise {said}: {err[-300:]!r}")
    if any(not text.isprintable() for text in err.split("\n")):
        return Verdict("unclear", f"linkwise {said}: an error with characters that terminals obey: {err[:300]!r}")
    return CLEAR


# ---- as a process


def process(stage: Stage, line: list[str], rng: random.Random) -> Verdict:
    """As a user's shell runs it, with streams of all kinds."""
    line = [w.replace("\0", "").encode(errors="replace").decode() for w in line]
    streams = rng.choice(STREAMS)
    said = f"{shlex.join(line)[:300]} {streams}"
    shell = f"{shlex.quote(sys.executable)} -m linkwise {shlex.join(line)} {streams}; exit ${{PIPESTATUS[0]}}"
    try:
        done = subprocess.run(["bash", "-c", shell], capture_output=True, timeout=100.0, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return Verdict("hang", f"linkwise {said}")
    tidy = stage.tidy()
    if done.returncode not in (0, 1, 2):
        return Verdict("crash", f"linkwise {said}: exit code {done.returncode}: {done.stderr[-300:]!r}")
    if tidy.kind != "clear":
        return Verdict(tidy.kind, f"linkwise {said}: {tidy.why}")
    if "2>" in streams:
        return CLEAR
    return clear(said, done.returncode, done.stderr.decode(errors="replace"))
