"""Ten thousand arms, and which of them is best: a sweep of designs on Dask, which can be killed and goes on.

    python examples/sweep.py out/sweep                           10,000 designs, one worker for each core
    python examples/sweep.py out/sweep --designs 500 --workers 1
    python examples/sweep.py out/sweep --scheduler tcp://...     on a cluster that is there already

Each task computes some designs and writes them into a Parquet file of its own; what is there is not computed again. The
page "Ten thousand robots on Dask" of the documentation explains it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import time
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.stats import qmc

import linkwise as lw

HERE = Path(__file__).resolve().parent
# what is chosen: two lengths and two radii of tubes in m, and three gear ratios
NAMES = ("upper", "fore", "upper_radius", "fore_radius", "gear_turn", "gear_shoulder", "gear_elbow")
LEAST, MOST = (0.25, 0.25, 0.02, 0.015, 30, 30, 30), (0.55, 0.55, 0.06, 0.05, 160, 160, 160)
WALL, DENSITY = 2.5e-3, 1600.0  # m, kg/m^3: tubes of carbon fibre
ROTOR, TORQUE, SPEED = 6e-5, 0.9, 420.0  # of each motor: kg m^2, N m, rad/s
# what the arm has to do: carry things along lines, from and to, in m
LINES = np.array([[(0.5, -0.2, z), (x, 0.3, 0.4)] for z in (0.15, 0.25, 0.35, 0.45) for x in (0.3, 0.5)])
DURATIONS = np.geomspace(0.1, 2.0, 48)  # s; the shortest that motors can do is looked for
GRID, INSTANTS = np.linspace(0.0, 1.0, 41), np.linspace(0.0, 1.0, 61)
S = INSTANTS**3 * (10 - 15 * INSTANTS + 6 * INSTANTS**2)  # the part of the way at each instant, and its derivatives
S1 = (30 * INSTANTS**2 * (1 - INSTANTS) ** 2)[:, None]
S2 = (60 * INSTANTS * (1 - INSTANTS) * (1 - 2 * INSTANTS))[:, None]
INPUTS = (
    "elbow.xyz", "sensor.xyz", "upper_arm.mass", "upper_arm.com", "upper_arm.inertia", "forearm.mass", "forearm.com",
    "forearm.inertia", "turn.armature", "shoulder.armature", "elbow.armature",
)  # fmt: skip


# ---- one design


@cache
def torques() -> Any:
    """Torques of the arm, whose lengths, masses and rotors are inputs: one function for all designs of a process."""
    return lw.compile(lw.load(HERE / "arm.urdf"), lw.inverse_dynamics, parameters=INPUTS)


def designs(count: int, seed: int = 0) -> np.ndarray:
    """Designs that fill the space of choices evenly, one a row; the first ones are the same for every count."""
    unit = qmc.Halton(len(NAMES), seed=seed).random(count)
    return qmc.scale(unit, LEAST, MOST)


def numbers(design: np.ndarray) -> np.ndarray:
    """What the function takes as `parameters`: the arm that a design means."""
    upper, fore, R1, R2, *gears = design
    found: list[float] = [upper, 0.0, 0.0, fore, 0.0, 0.0]
    for length, radius in ((upper, R1), (fore, R2)):
        mass = DENSITY * 2.0 * np.pi * radius * WALL * length
        across = mass * (length**2 / 12.0 + radius**2 / 2.0)
        found += [mass, length / 2.0, 0.0, 0.0, mass * radius**2, 0.0, 0.0, across, 0.0, across]
    return np.array([*found, *(ROTOR * n**2 for n in gears)])


def positions(points: np.ndarray, upper: float, fore: float) -> np.ndarray:
    """Joint positions with the elbow up, NaN beyond reach."""
    r, z = np.hypot(points[..., 0], points[..., 1]), points[..., 2] - 0.3
    cosine = (r**2 + z**2 - upper**2 - fore**2) / (2.0 * upper * fore)
    with np.errstate(invalid="ignore"):
        elbow = -np.arccos(np.where(np.abs(cosine) < 0.985, cosine, np.nan))
    shoulder = np.arctan2(z, r) - np.arctan2(fore * np.sin(elbow), upper + fore * np.cos(elbow))
    return np.stack([np.arctan2(points[..., 1], points[..., 0]), shoulder, elbow], axis=-1)


def judged(design: np.ndarray) -> dict[str, float]:
    """How long a design takes for all lines, what work it does, and what it weighs; NaN where it cannot do them."""
    given = numbers(design)
    row = dict(zip(NAMES, design.tolist(), strict=True)) | {"mass": float(given[6] + given[16])}
    cycle, work = np.sum([along(line, design, given) for line in LINES], axis=0)  # each line alone fits into the cache
    return row | {"cycle": float(cycle), "work": float(work)}


def along(line: np.ndarray, design: np.ndarray, given: np.ndarray) -> tuple[float, float]:
    """The shortest time in which a design does a line, and the work for it; NaN where it cannot."""
    q = positions(line[0] + GRID[:, None] * (line[1] - line[0]), *design[:2])
    if not np.isfinite(q).all():
        return np.nan, np.nan
    path, gears = CubicSpline(GRID, q), design[4:]  # by the part of the way s, which is a polynomial of time
    q, q1, q2 = path(S), path(S, 1), path(S, 2)
    T = DURATIONS[:, None, None]
    qd, qdd = q1 * S1 / T, (q2 * S1**2 + q1 * S2) / T**2
    tau = torques()(np.broadcast_to(q, qd.shape), qd, qdd, given)
    able = (np.abs(tau) <= TORQUE * gears).all(axis=(1, 2)) & (np.abs(qd) <= SPEED / gears).all(axis=(1, 2))
    if not able.any():
        return np.nan, np.nan
    first = able.argmax()
    power = np.abs(tau[first] * qd[first]).sum(axis=-1)
    return DURATIONS[first], np.trapezoid(power, INSTANTS) * DURATIONS[first]


# ---- many of them


def part(folder: str, k: int, rows: np.ndarray) -> str:
    """Compute some designs and write them as part k; the file is there as a whole or not at all."""
    import pandas as pd

    path = Path(folder, f"part-{k:05d}.parquet")
    new = path.with_name(f".{path.name}-{os.getpid()}")
    pd.DataFrame([judged(row) for row in rows]).to_parquet(new)
    os.replace(new, path)
    return path.name


def claim(folder: Path, question: dict[str, Any]) -> None:
    """Write down what the parts in a folder are answers to; refuse a folder whose parts answer something else."""
    folder.mkdir(parents=True, exist_ok=True)
    note = folder / "_question.json"  # readers of Parquet leave out what begins with "_"
    if note.exists() and json.loads(note.read_text()) != question:
        raise SystemExit(f"{folder}: its parts are of other designs or of another version of this file. Take another.")
    note.write_text(json.dumps(question))


def sweep(client: Any, folder: str | Path, count: int, size: int = 50, told: Any = print) -> Any:
    """All designs as a table, computed by the workers of a Dask client as far as the folder does not have them."""
    import pandas as pd
    from distributed import as_completed

    folder = Path(folder).resolve()
    source = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    claim(folder, {"designs": count, "size": size, "source": source, "linkwise": lw.__version__})
    rows = designs(count)
    chunks = {k: rows[k * size : (k + 1) * size] for k in range(-(-count // size))}
    missing = [k for k in chunks if not (folder / f"part-{k:05d}.parquet").exists()]
    told(f"{len(chunks)} parts of {size} designs, {len(chunks) - len(missing)} of them done before")
    begin = time.perf_counter()
    futures = [client.submit(part, str(folder), k, chunks[k], pure=False, retries=2) for k in missing]
    for done, future in enumerate(as_completed(futures), 1):
        future.result()  # an error of a worker is raised here; what is written stays
        if done % max(1, len(missing) // 10) == 0:
            rate = done * size / (time.perf_counter() - begin)
            told(f"{done:5} of {len(missing)} parts, {rate:,.0f} designs a second")
    return pd.concat([pd.read_parquet(folder / f"part-{k:05d}.parquet") for k in chunks], ignore_index=True)


def best(table: Any) -> Any:
    """The designs that no other beats in time and weight at once, lightest first."""
    able = table.dropna().sort_values(["mass", "cycle"])
    return able[able["cycle"] < able["cycle"].cummin().shift(fill_value=np.inf)]


def at_least_one(text: str) -> int:
    """A number of the command line that counts something."""
    if (count := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"expected at least 1, got {count}")
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="where parts are kept, and looked for")
    parser.add_argument("--designs", type=at_least_one, default=10_000, help="how many (10,000)")
    parser.add_argument("--workers", type=at_least_one, default=os.cpu_count(), help="processes here (one a core)")
    parser.add_argument("--size", type=at_least_one, default=50, help="designs of a part (50)")
    parser.add_argument("--scheduler", help="the address of a cluster, whose workers see the same folder")
    given = parser.parse_args()
    from distributed import Client, LocalCluster

    with ExitStack() as opened:
        where = given.scheduler
        if where is None:
            Path(given.folder).mkdir(parents=True, exist_ok=True)
            where = opened.enter_context(
                LocalCluster(
                    n_workers=given.workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=None,
                    local_directory=str(Path(given.folder, "_dask")),
                )
            )  # fmt: skip
        client = opened.enter_context(Client(where))
        client.wait_for_workers(1)
        client.run(torques)  # compiled once, before the clock starts
        begin = time.perf_counter()
        table = sweep(client, given.folder, given.designs, given.size)
        took = time.perf_counter() - begin
        print(f"{len(table):,} designs in {took:.1f} s, workers: {len(client.scheduler_info()['workers'])}")
    print(f"{table['cycle'].notna().sum():,} can do all lines; those that no other beats:")
    print(best(table).round(3).to_string(index=False))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit("stopped; what is written stays, and the same command goes on") from None
