"""The short form of `make attack`: the same campaigns, few tries, a fixed seed, and none may end badly."""

import os
import subprocess
import sys
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
