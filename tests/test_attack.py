"""The short form of `make attack`: the same campaigns, few tries, a fixed seed, and none may end badly."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

RUN = Path(__file__).parents[1] / "attack" / "run.py"
CAMPAIGNS = (
    "calls", "numerics", "signals", "forks", "threads", "files", "caches", "commands", "sizes", "pickles",
)  # fmt: skip

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are watched over by POSIX means")


def attack(*arguments, code=0):
    command = [sys.executable, str(RUN), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("campaign", CAMPAIGNS)
def test_no_try_ends_badly(campaign):
    heads, found, *_ = attack(campaign, "--quick", "--jobs", "1").splitlines()
    score = dict(zip(heads.split(), found.split(), strict=True))
    assert score["campaign"] == campaign
    assert int(score["tries"]) == int(score["clear"]) > 0


def test_help_names_every_campaign():
    text = attack("--help")
    assert all(f"\n  {name} " in text for name in CAMPAIGNS)


BROKEN = """
import os, signal, time
TRIES, QUICK, LONGEST = 6, 6, 2.0
def prepare(folder, quick): (folder / "left").write_text("behind")
def draw(stage, rng):
    from verdict import CLEAR, Verdict
    return rng.choice([lambda: os.kill(os.getpid(), signal.SIGSEGV), lambda: time.sleep(60), lambda: 1 / 0,
                       lambda: Verdict("wrong", "two and two"), lambda: CLEAR])
"""


def test_crashes_and_hangs_are_counted_and_the_rest_goes_on(tmp_path, monkeypatch):
    """Of a campaign that dies, hangs, raises and errs, each try is counted once, by its number."""
    monkeypatch.syspath_prepend(RUN.parent)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "broken_campaign.py").write_text(BROKEN)
    import arena

    monkeypatch.setattr(arena.tempfile, "tempdir", str(tmp_path))
    score = arena.Score()
    arena.run([arena.Part("broken_campaign", 3, 0, 12)], 1, {"broken_campaign": score})
    numbers = [number for number, _, _ in score.bad]
    assert score.tries == 12
    assert numbers == sorted(set(numbers))
    assert {"crash", "hang", "wrong"} <= set(score.counts)
    assert any("Segmentation fault" in why for _, _, why in score.bad)
    assert not [p for p in tmp_path.iterdir() if p.name.startswith("linkwise-attack-")]


def children(pid):
    """The numbers of the processes that one has started."""
    return [x for task in Path(f"/proc/{pid}/task").iterdir() for x in (task / "children").read_text().split()]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no list of processes here")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_of_a_run_that_is_stopped(tmp_path, how):
    """Neither a worker nor a folder."""
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [sys.executable, str(RUN), "forks", "--tries", "1000", "--jobs", "1"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    folders, limit = [], time.monotonic() + 60.0
    while len(folders) < 2 and time.monotonic() < limit:  # of the run, and of its worker
        time.sleep(0.1)
        folders = list(tmp_path.iterdir())
    time.sleep(1.0)
    mine = children(process.pid)
    assert mine
    process.send_signal(how)
    assert process.wait(timeout=60.0) != 0
    assert not [number for number in mine if Path(f"/proc/{number}").exists()]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("machine", "q", "judged"), [
    ("arm7", [0.3, -0.5, 0.2, 1.0, 0.1, 0.4, -0.2], True),
    ("gough_stewart", [0.05, 0.0, 0.6, 0.1, 0.0, 0.0, 1.0], True),
    ("fourbar", [0.4], True),
    ("delta", [0.0, 0.0, -9.0], True),  # out of reach
    ("gough_stewart", [0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0], False),  # drives hold nothing: 0 N or 1e18 N, by rounding
])  # fmt: skip
def test_a_wrong_number_is_seen_where_rounding_does_not_decide_it(monkeypatch, machine, q, judged):
    monkeypatch.syspath_prepend(RUN.parent)
    import random

    import calls
    import numpy as np
    from machines import Subject

    import linkwise as lw
    from linkwise.backend import arrays

    kernel = lw.compile(lw.load(machine)).inverse_dynamics
    subject = Subject(kernel, arrays.function(kernel.program))
    values = [np.array([q]), *np.random.default_rng(0).uniform(-1.0, 1.0, (2, 1, kernel.robot.nv))]
    wrong = np.asarray(subject.witness(*(x[0] for x in values)))[None] * (1.0 + 1e-4)
    if np.isnan(wrong).all():  # out of reach: a number is wrong there
        wrong = np.ones_like(wrong)
    verdict = calls.judged(subject, values, values, (1,), wrong, None, gross=False, rng=random.Random(0))
    assert verdict.kind == ("wrong" if judged else "clear")
