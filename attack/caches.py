"""Entries and folders of the cache that someone has changed, and processes that share one.

What is read is what was written, or nothing; a kernel whose entry was changed is right; nothing stays open or behind.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from verdict import CLEAR, Verdict, same

import linkwise as lw
from linkwise.backend import arrays, cache, native
from support.arms import arm, states

TRIES, QUICK, LONGEST = 12_000, 120, 120.0
KEY, OTHER = "k" * 64, "m" * 64
SHARED = """
import sys, numpy as np
import linkwise as lw
from support.arms import arm, states
robot = arm(2, mass=float(sys.argv[1]))
found = lw.compile(robot).inverse_dynamics(*states(robot, 3))
print(found.tobytes().hex())
"""


class Stage:
    """A cache of its own with entries in it."""

    def __init__(self, folder: Path, quick: bool) -> None:
        self.folder = folder / "cache"
        os.environ["LINKWISE_CACHE"] = str(self.folder)
        native.backend()  # whose trial kernel has an entry too
        rng = np.random.default_rng(0)
        self.good = [rng.bytes(500), b"", rng.bytes(3)]
        cache.write(KEY, self.good)
        cache.write(OTHER, [b"another kernel's code"])
        self.entry = self.folder / f"{KEY}.bin"
        self.data = self.entry.read_bytes()
        self.other = (self.folder / f"{OTHER}.bin").read_bytes()
        self.rare = 0.02 if quick else 0.004


def prepare(folder: Path, quick: bool) -> Stage:
    return Stage(folder, quick)


def draw(stage: Stage, rng: random.Random) -> Callable[[], Verdict]:
    how = rng.random()
    if how < stage.rare:
        return lambda: changed_code(stage, rng)
    if how < 1.25 * stage.rare:
        return lambda: shared(stage, rng)
    if how < 2.0 * stage.rare:
        return lambda: swapped(stage, rng)
    if how < 0.1:
        return lambda: placed(stage, rng)
    return lambda: tampered(stage, rng)


def read() -> Any:
    cache._warned = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cache.CacheWarning)
        return cache.read(KEY)


def damaged(data: bytes, rng: random.Random) -> bytes:
    """One to three changes: bits, bytes, cuts, pieces put in, taken out or moved."""
    bad = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        at = rng.randrange(len(bad) + 1)
        how = rng.randrange(6)
        if how == 0 and at < len(bad):
            bad[at] ^= 1 << rng.randrange(8)
        elif how == 1:
            del bad[at:]
        elif how == 2:
            bad[at:at] = rng.randbytes(rng.randrange(1, 40))
        elif how == 3:
            del bad[at : at + rng.randrange(1, 40)]
        elif how == 4:
            bad[at : at + 8] = rng.choice((bytes(8), b"\xff" * 8, (2**62).to_bytes(8, "little")))
        else:
            bad += bad[at:]
    return bytes(bad)


def tampered(stage: Stage, rng: random.Random) -> Verdict:
    """An entry with other bytes is not used."""
    data = stage.other if rng.random() < 0.02 else damaged(stage.data, rng)
    stage.entry.write_bytes(data)
    found = read()
    if data == stage.data:
        return CLEAR if found == stage.good else Verdict("wrong", "a good entry was not read")
    return CLEAR if found is None else Verdict("wrong", "an entry that was changed is used")


def placed(stage: Stage, rng: random.Random) -> Verdict:
    """What is no file of the user alone is not used, and not waited for."""
    aside = stage.folder / "aside"
    aside.write_bytes(stage.data)
    stage.entry.unlink(missing_ok=True)
    how = rng.randrange(6)
    before = len(os.listdir("/proc/self/fd"))
    try:
        if how == 0:
            stage.entry.symlink_to(aside)
        elif how == 1:
            os.mkfifo(stage.entry)
        elif how == 2:
            stage.entry.mkdir()
        elif how == 3:
            stage.entry.write_bytes(stage.data)
            stage.entry.chmod(0o666)
        elif how == 4:
            stage.entry.symlink_to(stage.entry)
        else:
            stage.entry.write_bytes(stage.data)
            stage.folder.chmod(rng.choice((0o777, 0o750, 0o707)))
        found = read()
        left = len(os.listdir("/proc/self/fd")) - before
        if found is not None:
            return Verdict("wrong", "an entry that others could have written is used")
        return Verdict("wrong", f"{left} descriptors stay open") if left else CLEAR
    finally:
        stage.folder.chmod(0o700)
        if stage.entry.is_dir() and not stage.entry.is_symlink():
            stage.entry.rmdir()
        stage.entry.unlink(missing_ok=True)
        aside.unlink()


def changed_code(stage: Stage, rng: random.Random) -> Verdict:
    """A kernel whose entry is damaged, or another kernel's, is compiled again, and right."""
    robot = arm(2, mass=1.0 + rng.randrange(10**6) / 2**20)
    x = states(robot, 3)
    program = lw.compile(robot, lw.inverse_dynamics).program
    before = set(stage.folder.iterdir())
    native.function(program)
    made = set(stage.folder.iterdir()) - before
    if not made:
        return Verdict("wrong", "no entry was made of a kernel")
    for entry in made:
        entry.write_bytes(damaged(entry.read_bytes(), rng))
    native._functions.clear()
    cache._warned = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cache.CacheWarning)
        found = native.function(program)(*x)
    for entry in made:
        entry.unlink(missing_ok=True)
    return same(found, arrays.function(program)(*x), 1e-10)


def swapped(stage: Stage, rng: random.Random) -> Verdict:
    """A folder that is exchanged for one that others can write, again and again, while entries are read."""
    forged, aside = stage.folder.with_name("forged"), stage.folder.with_name("old")
    shutil.rmtree(forged, ignore_errors=True)
    forged.mkdir()
    forged.chmod(0o777)
    stage.entry.write_bytes(stage.data)
    (forged / stage.entry.name).write_bytes(cache._pack(KEY, [b"forged"]))
    (forged / stage.entry.name).chmod(0o666)
    ended = threading.Event()

    def swap() -> None:
        while not ended.is_set():
            for a, b in ((stage.folder, aside), (forged, stage.folder), (stage.folder, forged), (aside, stage.folder)):
                a.rename(b)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        found = [read() for _ in range(200)]
    finally:
        ended.set()
        thread.join()
    stray = stage.folder.with_name("forged")
    shutil.rmtree(stray, ignore_errors=True)
    return CLEAR if all(f in (None, stage.good) for f in found) else Verdict("wrong", "forged code is used")


def shared(stage: Stage, rng: random.Random) -> Verdict:
    """Processes that find an empty cache at once all answer the same."""
    folder = stage.folder.with_name(f"shared{rng.getrandbits(40)}")
    command = [sys.executable, "-W", "error", "-c", SHARED, str(1.0 + rng.random())]
    running = [
        subprocess.Popen(command, env={**os.environ, "LINKWISE_CACHE": str(folder)}, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(3)
    ]  # fmt: skip
    ends = [p.communicate(timeout=100.0) for p in running]
    left = [p.name for p in folder.iterdir() if not p.name.endswith(".bin")] if folder.exists() else []
    shutil.rmtree(folder, ignore_errors=True)
    for process, (_, err) in zip(running, ends, strict=True):
        if process.returncode:
            return Verdict("crash", f"exit code {process.returncode}: {err[-300:]}")
    if len({out for out, _ in ends}) != 1:
        return Verdict("wrong", "processes that share a cache answer differently")
    return Verdict("wrong", f"left in the cache: {left}") if left else CLEAR
