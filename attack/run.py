"""Attack Linkwise: thousands of random tries, good and bad, each judged; exit code 1 if one ended badly.

Examples:
  python attack/run.py                          everything: more than 100,000 tries in about a quarter of an hour
  python attack/run.py --quick                  the short form, which `make test` runs too
  python attack/run.py calls files --seed 7     two campaigns, other tries
  python attack/run.py calls --seed 7 --only 41 one try again; a bad one is printed with this line
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from importlib import import_module
from itertools import pairwise
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), *(str(HERE.parent / folder) for folder in ("src", "tests", ""))]
os.environ.setdefault("OMP_NUM_THREADS", "1")

from arena import Part, Score, run, work  # noqa: E402
from verdict import KINDS  # noqa: E402

CAMPAIGNS = {
    "signals": "Ctrl-C at any instant: the process lives, and the next call is right",
    "commands": "command lines without sense, streams that are closed or full",
    "files": "results and robots in damaged, hostile and special files, and many who write one",
    "calls": "kernels called with good and bad arguments",
    "numerics": "laws of mechanics on random machines, at ordinary and extreme states",
    "forks": "processes forked while others compile, and pools",
    "threads": "kernels compiled and called by several threads at once",
    "caches": "entries and folders of the cache that someone has changed, and processes that share one",
    "pickles": "everything public sent between processes",
    "sizes": "robots and requests that are too large, under a limit of memory",
}
MOST_SHOWN = 40  # bad tries of a campaign


def main() -> None:
    if sys.argv[1:2] == ["--worker"]:
        part, report, folder = sys.argv[2:]
        work(Part(**json.loads(part)), int(report), Path(folder))
        return
    given = arguments()
    names = given.campaigns or list(CAMPAIGNS)
    scores = {name: Score() for name in names}
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that workers are ended too
    begin = time.perf_counter()
    run(parts(names, given), given.jobs, scores, told=lambda part: progress(part, begin))
    if sys.stderr.isatty():
        print(file=sys.stderr)
    print(scorecard(scores))
    for name, score in scores.items():
        show_bad(name, score, given)
    if given.json:
        Path(given.json).write_text(json.dumps({name: vars(score) for name, score in scores.items()}, indent=1))
    sys.exit(1 if any(score.bad for score in scores.values()) else 0)


def arguments() -> argparse.Namespace:
    campaigns = "\n".join(f"  {name:10}{text}" for name, text in CAMPAIGNS.items())
    verdicts = "\n".join(f"  {kind:10}{text}" for kind, text in KINDS.items())
    parser = argparse.ArgumentParser(
        description=f"{__doc__}\ncampaigns:\n{campaigns}\n\nverdicts:\n{verdicts}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("campaigns", nargs="*", metavar="CAMPAIGN", help="which; all by default")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers (0)")
    parser.add_argument("--quick", action="store_true", help="few tries of each campaign")
    parser.add_argument("--tries", type=int, metavar="N", help="so many of each campaign")
    parser.add_argument("--only", type=int, metavar="K", help="the try of this number alone")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes at a time (2)")
    parser.add_argument("--json", metavar="FILE", help="write the scores there too")
    given = parser.parse_args()
    for name in given.campaigns:
        if name not in CAMPAIGNS:
            parser.error(f"unknown campaign {name!r}; there are {', '.join(CAMPAIGNS)}")
    return given


def parts(names: list[str], given: argparse.Namespace) -> list[Part]:
    """The tries of all campaigns in pieces, as many of each as there are processes."""
    found = []
    for name in names:
        campaign = import_module(name)
        count = given.tries or (campaign.QUICK if given.quick else campaign.TRIES)
        if given.only is not None:
            found.append(Part(name, given.seed, given.only, given.only + 1, given.quick))
            continue
        pieces = 1 if given.quick else given.jobs
        edges = [count * k // pieces for k in range(pieces + 1)]
        found += [Part(name, given.seed, a, b, given.quick) for a, b in pairwise(edges) if b > a]
    return found


def progress(part: Part, begin: float) -> None:
    if sys.stderr.isatty():
        print(f"\r{time.perf_counter() - begin:6.0f} s: {part.name} up to {part.last}\x1b[K", end="", file=sys.stderr)


def scorecard(scores: dict[str, Score]) -> str:
    """The table of verdicts by campaign and in total."""
    heads = ["campaign", "tries", "crashes", "hangs", *list(KINDS)[2:], "seconds"]
    rows = [
        [name, s.tries, *(s.counts.get(kind, 0) for kind in KINDS), f"{s.seconds:.0f}"] for name, s in scores.items()
    ]
    total = [sum(column) for column in zip(*(row[1:-1] for row in rows), strict=True)]
    rows.append(["total", *total, f"{sum(s.seconds for s in scores.values()):.0f}"])
    return "\n".join("".join(f"{x!s:{'<' if k == 0 else '>'}10}" for k, x in enumerate(row)) for row in [heads, *rows])


def show_bad(name: str, score: Score, given: argparse.Namespace) -> None:
    """Each bad try, and how to see it again."""
    for number, kind, why in score.bad[:MOST_SHOWN]:
        quick = " --quick" if given.quick else ""
        print(f"\n{kind}: {why}\n  python attack/run.py {name} --seed {given.seed} --only {number}{quick}")
    if len(score.bad) > MOST_SHOWN:
        print(f"\n... and {len(score.bad) - MOST_SHOWN} more of {name}")


if __name__ == "__main__":
    main()
