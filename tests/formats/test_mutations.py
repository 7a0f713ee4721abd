"""Damaged files: each loads as a robot whose inverse dynamics is finite, or is refused with a LinkwiseError."""

import math
import random
import signal
from collections import Counter
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest

from linkwise.algorithms.inverse_dynamics import inverse_dynamics
from linkwise.errors import LinkwiseError
from linkwise.formats.registry import load
from linkwise.formats.toml import load_toml
from linkwise.formats.toml_writer import to_toml
from linkwise.formats.urdf import load_urdf
from support.mjcf import BODY, body, mjcf
from support.mutate import Damaged
from support.pinocchio_bridge import ROBOTS

LONGEST = 5.0  # seconds
SIZE = 60_000  # bytes of the largest file that is damaged


def readable(path: Path) -> bool:
    return path.stat().st_size < SIZE and path.name not in ("ur3.urdf", "alex_psyonic_hands.urdf")


URDFS = [p for p in sorted(ROBOTS.rglob("*.urdf")) if readable(p)]
MJCF = mjcf(
    body(
        "a", BODY, '<joint name="i" axis="1 0 0" ref="20" range="-90 90"/>', '<joint name="j" type="slide"/>',
        '<frame pos="1 0 0" euler="10 20 30"><site name="s" zaxis="1 1 1"/></frame>',
        body("b", BODY, '<joint class="soft" name="k" stiffness="1" damping="2"/>', attributes='quat="1 2 3 4"'),
        attributes='axisangle="1 1 1 30" childclass="soft"',
    ),
    body("c", '<inertial pos="1 0 0" mass="2" fullinertia="1 1 1 0.1 0.1 0.1"/>', "<freejoint/>"),
    head=[
        '<compiler angle="degree" eulerseq="xyz" balanceinertia="true"/><option gravity="0 0 -9"/>',
        '<default><joint armature="0.1"/><default class="soft"><joint frictionloss="0.1"/></default></default>',
    ],
    tail=['<equality><joint joint1="k" joint2="i" polycoef="0.1 2 0 0 0"/></equality>'],
)  # fmt: skip


@cache
def sources(form: str) -> list[tuple[str, Damaged]]:
    """Files of a form, by name: all that are not too large."""
    if form == "urdf":
        return [(p.name, Damaged(p.read_text(errors="replace"), "xml")) for p in URDFS]
    if form == "mjcf":
        return [("inline", Damaged(MJCF, "xml"))]
    bundled = [f for f in files("linkwise.formats.library").iterdir() if f.name.endswith(".toml")]
    made = [(p.name, to_toml(load_urdf(p))) for p in URDFS[::6]]
    return [(n, Damaged(t, "toml")) for n, t in [*((f.name, f.read_text()) for f in bundled), *made]]


READERS = {"urdf": load, "mjcf": load, "toml": load_toml}


@contextmanager
def time_limit():
    def stop(*_):
        raise TimeoutError(f"longer than {LONGEST} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def outcome(form: str, data: bytes) -> str:
    """What becomes of a file: "robot" or "refused"; everything else raises."""
    with time_limit():
        try:
            robot = READERS[form](data)
        except LinkwiseError:
            return "refused"
        tree = robot.opened()  # loops of a damaged file need not close
        q = (tree.q() + 0.3).tolist()
        v = [0.7] * tree.nv
        tau = inverse_dynamics.plain(tree, q, v, v)
        assert all(map(math.isfinite, tau)), tau
        assert all(d.level in ("error", "warning", "info") for d in robot.diagnostics)
        return "robot"


def survive(form: str, seed: int, count: int) -> Counter[str]:
    rng = random.Random(f"{form} {seed}")
    found: Counter[str] = Counter()
    for k in range(count):
        name, file = rng.choice(sources(form))
        data = file.copy(rng)
        try:
            found[outcome(form, data)] += 1
        except Exception as error:
            error.add_note(f"edit {k} of seed {form} {seed}, of {name}; {len(data)} bytes")
            raise
    return found


@pytest.mark.parametrize(("form", "count"), [("urdf", 100), ("toml", 50), ("mjcf", 50)])
def test_some_damaged_files(form, count):
    found = survive(form, seed=0, count=count)
    assert min(found["robot"], found["refused"]) > count // 10, found


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 11))
@pytest.mark.parametrize(("form", "count"), [("urdf", 200), ("toml", 100), ("mjcf", 100)])
def test_many_damaged_files(form, count, seed):
    survive(form, seed, count)
