"""Where tries are made: in worker processes that may crash or hang, each try known by its campaign, seed and number.

A campaign is a module with `TRIES` and `QUICK` (how many there are, and in the short form), `LONGEST` (seconds that one
may take), `prepare(folder, quick)`, which makes what tries share, and `draw(stage, rng)`, which draws one try: a
function that makes it and returns its verdict. A worker reports after each try; when it dies or falls silent, that is
the verdict on the try under way, and another worker goes on behind it.
"""

from __future__ import annotations

import faulthandler
import json
import os
import queue
import random
import resource
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PREPARING = 300.0  # seconds that a worker may take before its first try
PATIENCE = 20  # dead or silent workers after which a part of a campaign is given up
MEMORY = 8 << 30  # bytes of address space that a worker may take

_stopped = threading.Event()


@dataclass
class Part:
    """Some tries of a campaign, one after the other in one process."""

    name: str
    seed: int
    first: int
    last: int  # not included
    quick: bool = False


@dataclass
class Score:
    """How the tries of a campaign ended."""

    counts: dict[str, int] = field(default_factory=dict)
    bad: list[tuple[int, str, str]] = field(default_factory=list)  # number, kind, why
    seconds: float = 0.0

    def add(self, number: int, kind: str, why: str) -> None:
        self.counts[kind] = self.counts.get(kind, 0) + 1
        if kind != "clear":
            self.bad.append((number, kind, why))

    @property
    def tries(self) -> int:
        return sum(self.counts.values())


# ---- in the worker


def work(part: Part, report: int, folder: Path) -> None:
    """Make the tries, and report each."""
    faulthandler.enable()
    _bound(MEMORY)
    warnings.simplefilter("ignore", DeprecationWarning)  # of forks in processes with threads
    campaign = import_module(part.name)
    os.chdir(folder)
    stage = campaign.prepare(folder, part.quick)
    os.write(report, b"ready\n")
    for number in range(part.first, part.last):
        kind, why = attempt(campaign, stage, part.seed, number)
        os.write(report, f"{json.dumps([number, kind, why[:1000]])}\n".encode())


def attempt(campaign: Any, stage: Any, seed: int, number: int) -> tuple[str, str]:
    """One try; an error that comes out of it was not expected by its judge."""
    from verdict import crashed

    rng = random.Random(f"{campaign.__name__} {seed} {number}")
    try:
        return campaign.draw(stage, rng)()
    except Exception as error:
        return crashed(error)


def _bound(most: int) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


# ---- around workers


def run(parts: list[Part], lanes: int, scores: dict[str, Score], told: Any = None) -> None:
    """Make all parts, `lanes` at a time."""
    waiting: queue.SimpleQueue[Part] = queue.SimpleQueue()
    for part in parts:
        waiting.put(part)
    lock, failures, ended = threading.Lock(), [], []

    def lane() -> None:
        try:
            all_parts()
        finally:
            ended.append(True)

    def all_parts() -> None:
        while not failures:
            try:
                part = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                begin = time.perf_counter()
                found = _supervised(part, cache)
                with lock:
                    for row in found:
                        scores[part.name].add(*row)
                    scores[part.name].seconds += time.perf_counter() - begin
                    if told:
                        told(part)
            except BaseException as error:
                failures.append(error)

    _stopped.clear()
    with tempfile.TemporaryDirectory(prefix="linkwise-attack-") as cache:
        threads = [threading.Thread(target=lane) for _ in range(lanes)]
        for t in threads:
            t.start()
        while len(ended) < lanes:  # a join that is interrupted takes its thread for ended
            try:
                time.sleep(0.05)
            except BaseException as error:  # Ctrl-C, or SIGTERM: workers are ended too
                failures.append(error)
                _stopped.set()
    if failures:
        raise failures[0]


def _supervised(part: Part, cache: str) -> list[tuple[int, str, str]]:
    """The verdicts on the tries of a part, from as many workers as it takes."""
    found: list[tuple[int, str, str]] = []
    longest, lost, first = import_module(part.name).LONGEST, 0, part.first
    while first < part.last:
        rows, end = _worker(Part(part.name, part.seed, first, part.last, part.quick), longest, cache)
        found += rows
        first += len(rows)
        if end is not None:
            found.append((first, *end))
            first, lost = first + 1, lost + 1
            if lost == PATIENCE:
                found.append((first, "crash", f"{lost} workers lost; {part.last - first} further tries are not made"))
                break
    return found


def _worker(part: Part, longest: float, cache: str) -> tuple[list[tuple[int, str, str]], tuple[str, str] | None]:
    """What one worker reports, and the kind and words of its end if that was none to expect."""
    ours, theirs = os.pipe()
    with tempfile.TemporaryDirectory(prefix="linkwise-attack-", ignore_cleanup_errors=True) as folder:
        log = Path(folder) / "stderr"
        inner = Path(folder) / "work"
        inner.mkdir()
        command = [sys.executable, str(HERE / "run.py"), "--worker", json.dumps(vars(part)), str(theirs), str(inner)]
        path = os.pathsep.join([str(HERE.parent / "src"), str(HERE.parent / "tests"), os.environ.get("PYTHONPATH", "")])
        environment = {**os.environ, "LINKWISE_CACHE": cache, "PYTHONPATH": path, "TMPDIR": str(inner),
                       "OMP_NUM_THREADS": "1", "COLUMNS": "80"}  # fmt: skip
        with log.open("wb") as stderr:
            process = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr,
                pass_fds=(theirs,), start_new_session=True,
            )  # fmt: skip
        os.close(theirs)
        silent = True
        try:
            rows, silent = _read(ours, longest)
        finally:
            os.close(ours)
            code = _ended(process, silent)
        if silent:
            return rows, ("hang", f"no end within {longest:g} s")
        if code:
            words = " | ".join(log.read_text(errors="replace").strip().splitlines()[-12:])
            return rows, ("crash", f"the process ended with {code}: {words[-900:]}")
        return rows, None


def _read(report: int, longest: float) -> tuple[list[tuple[int, str, str]], bool]:
    """The rows that come through a pipe until it is closed, and whether it fell silent before."""
    rows, text, wait, begin = [], b"", PREPARING, time.monotonic()
    while True:
        if _stopped.is_set():
            raise InterruptedError("stopped")
        if not select.select([report], [], [], 0.2)[0]:
            if time.monotonic() - begin > wait:
                return rows, True
            continue
        begin = time.monotonic()
        data = os.read(report, 1 << 16)
        if not data:
            return rows, False
        *lines, text = (text + data).split(b"\n")
        for line in lines:
            wait = longest
            if line != b"ready":
                number, kind, why = json.loads(line)
                rows.append((number, kind, why))


def _ended(process: subprocess.Popen[bytes], silent: bool) -> int:
    """The exit code of a worker; what is left of its session is ended, while its number is still its own."""
    limit = time.monotonic() + (0.0 if silent else 30.0)
    while not os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) and time.monotonic() < limit:
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGKILL)
    return process.wait()
