"""Times of competitors measured side by side, so that a busy machine slows them alike."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

import numpy as np


def interleaved(candidates: dict[str, Callable[[], object]], rounds: int = 25, least: float = 2e-3) -> dict[str, dict]:
    """CPU seconds of one call of each candidate: the median and the best of `rounds`, taken in turns.

    A measurement repeats a call until it lasts `least` seconds.
    """
    repeats = {}
    for name, call in candidates.items():
        call()
        start = time.process_time()
        call()
        once = max(time.process_time() - start, 1e-7)
        repeats[name] = max(1, int(least / once))
    samples: dict[str, list[float]] = {name: [] for name in candidates}
    gc.disable()
    try:
        for _ in range(rounds):
            for name, call in candidates.items():
                start = time.process_time()
                for _ in range(repeats[name]):
                    call()
                samples[name].append((time.process_time() - start) / repeats[name])
    finally:
        gc.enable()
    return {name: {"median": float(np.median(s)), "best": float(np.min(s))} for name, s in samples.items()}
