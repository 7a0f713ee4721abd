"""The sweep of designs of the examples on Dask: designs a second with one worker and with more, in processes."""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ALONE: dict[str, Any] = {"threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": None}
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def run(count: int = 2000, repeats: int = 3) -> list[dict[str, Any]]:
    from distributed import Client, LocalCluster

    sys.path.insert(0, str(EXAMPLES))
    os.environ["PYTHONPATH"] = os.pathsep.join([str(EXAMPLES), os.environ.get("PYTHONPATH", "")])  # of the workers
    sweep: Any = importlib.import_module("sweep")
    results: list[dict[str, Any]] = []
    for workers in (1, os.cpu_count() or 1):
        with (
            tempfile.TemporaryDirectory() as folder,
            LocalCluster(n_workers=workers, local_directory=folder, **ALONE) as cluster,
            Client(cluster) as client,
        ):
            client.wait_for_workers(workers)
            client.run(sweep.torques)
            times = []
            for k in range(repeats):
                begin = time.perf_counter()
                sweep.sweep(client, Path(folder, f"run{k}"), count, 25, told=lambda *_: None)
                times.append(time.perf_counter() - begin)
        rate = count / min(times)
        times_one = rate / results[0]["designs a second"] if results else 1.0
        results.append({"workers": workers, "designs a second": rate, "times one": times_one})
        print(f"{workers} workers: {count:,} designs in {min(times):.2f} s, {rate:,.0f} a second, {times_one:.2f} fold")
    return results
