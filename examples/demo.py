"""A gallery of machines in motion, torques beside Pinocchio's, the experiments of the sources. Run by `make demo`."""

import argparse
import os
import sys
import time
import webbrowser
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "benchmarks")]

import gallery  # noqa: E402
from machines import CARDS  # noqa: E402
from rich.console import Console  # noqa: E402

GALLERY, REPORT = Path("gallery.html"), Path("report.html")
MOST = 8  # processes at a time, of a few hundred megabytes each
HEAD = ("robot", "joints", "mul", "add", "Linkwise", "Pinocchio", "faster", "difference")
console = Console(highlight=False, soft_wrap=True)


@contextmanager
def part(title: str) -> Iterator[None]:
    """A part of the demonstration: its title, what it says, and how long it took."""
    console.print(f"[bold]{title}")
    start = time.perf_counter()
    yield
    console.print(f"  [dim]{time.perf_counter() - start:.0f} s[/]\n")


def machines() -> list[gallery.Made]:
    """All cards, a line each."""
    cards = []
    for card in CARDS:
        with console.status(f"{card.title} ..."):
            cards.append(gallery.made(card))
        found = cards[-1]
        console.print(f"  {found.seconds:5.1f} s  {card.title}: ", end="")
        console.print(found.failure or found.number, markup=False, style="red" if found.failure else None)
    return cards


def against_pinocchio() -> tuple[str, bool]:
    """Panda, UR5 and TALOS beside Pinocchio's one-thread batch call, as a table; and whether torques agree."""
    import inverse_dynamics
    import robots

    if not (robots.has("pinocchio") and robots.ROBOTS.is_dir()):
        console.print("  Pinocchio or example-robot-data is not installed here: `make demo` installs both.")
        return "", True
    rows, good = [], True
    console.print(f"  {HEAD[0]:8}" + "".join(f"{title:>12}" for title in HEAD[1:]))
    for name in robots.FILES:
        with console.status(f"{name} ..."):
            r = inverse_dynamics.measure(name)
        ours, theirs = r["ns a row"]["linkwise"]["best"], r["ns a row"]["Pinocchio, rneaInParallel(1)"]["best"]
        error = r["difference"]["Pinocchio, rneaInParallel(1)"]
        good &= error < 1e-10
        counts = (str(r["nv"]), *(str(r["operations"][kind]) for kind in ("mul", "add")))
        times = (f"{ours:.1f} ns", f"{theirs:.1f} ns", f"{theirs / ours:.1f}x", f"{error:.1e}")
        rows.append((name, *counts, *times))
        console.print(f"  {name:8}" + "".join(f"{x:>12}" for x in rows[-1][1:]))
    note = (
        f"Batches of {inverse_dynamics.BATCH} random states, one core, without friction; Pinocchio's rneaInParallel"
        " with one thread. Times a row are the best of many rounds in which both took turns, on the machine that made"
        " this page. The difference is the largest over the batch, relative to the largest torque."
    )
    return gallery.table(HEAD, rows, "Inverse dynamics beside Pinocchio", note), good


def sources() -> bool:
    """The experiments of the sources into a report, one on each core."""
    from papers.experiments import EXPERIMENTS, run
    from papers.html import write

    with ProcessPoolExecutor(min(os.cpu_count() or 1, MOST), mp_context=get_context("spawn")) as pool:
        tasks = {name: pool.submit(run, name) for name in EXPERIMENTS}
        found = []
        for name, task in tasks.items():
            with console.status(f"{name} ..."):
                found.append(task.result())
            console.print(f"  {name}: {found[-1].finding}", markup=False)
    write(found, REPORT)
    return all(experiment.agrees for experiment in found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--open", action="store_true", help="open gallery.html in the browser at the end")
    opens = parser.parse_args().open
    with part("machines in motion"):
        cards = machines()
        gallery.write(GALLERY, cards)
        console.print(f"  page: {GALLERY.resolve()}")
    with part("inverse dynamics beside Pinocchio"):
        table, agrees = against_pinocchio()
        gallery.write(GALLERY, cards, table=table)
    if not agrees:
        sys.exit("The torques differ from Pinocchio's: this should not happen; please report it.")
    with part("experiments of the sources"):
        good = sources()
        gallery.write(GALLERY, cards, table=table, report=REPORT.name)
        console.print(f"  tables, plots and assumptions: {REPORT.resolve()}")
    console.print(f"[bold]Look:[/] {GALLERY.resolve()}\nThen README.md, or docs/guide.md for all a kernel can do.")
    if opens:
        webbrowser.open(GALLERY.resolve().as_uri())
    if not good:
        sys.exit("An experiment does not give what it should: this should not happen; please report it.")


if __name__ == "__main__":
    main()
