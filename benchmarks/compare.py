"""Two records of `benchmarks/run.py --json` side by side: python benchmarks/compare.py LAST NOW [--change 0.2].

Prints a table of the numbers that differ by more than a part, in Markdown. It judges nothing: machines of a cloud
differ by more than most changes of code do.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CHANGE = 0.2  # of a number, below which it counts as the same
MOST = 100  # rows


def numbers(found: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], float]]:
    """The numbers of a record, each by its path; entries of lists are known by their texts, such as a robot's name."""
    if isinstance(found, dict):
        for key, value in found.items():
            yield from numbers(value, (*path, str(key)))
    elif isinstance(found, list):
        for k, value in enumerate(found):
            words = [x for x in value.values() if isinstance(x, str)] if isinstance(value, dict) else []
            yield from numbers(value, (*path, " ".join(words) or str(k)))
    elif isinstance(found, int | float) and not isinstance(found, bool):
        yield path, float(found)


def differences(last: Any, now: Any, change: float = CHANGE) -> list[tuple[str, float, float]]:
    """What differs by more than a part, the largest change first: name, the number before, the number now."""
    before, after = dict(numbers(last)), dict(numbers(now))
    found = [(" / ".join(p), before[p], x) for p, x in after.items() if p in before]
    changed = [f for f in found if abs(f[2] - f[1]) > change * min(abs(f[1]), abs(f[2]))]
    return sorted(changed, key=lambda f: -max(abs(f[1]), abs(f[2])) / max(min(abs(f[1]), abs(f[2])), 1e-300))


def table(last: Any, now: Any, change: float = CHANGE) -> str:
    """The differences in Markdown, and in a sentence how many numbers there are."""
    if last is None:
        return "No earlier record: this is the first."
    rows = differences(last, now, change)
    shared = len(dict(numbers(last)).keys() & dict(numbers(now)).keys())
    head = f"{len(rows)} of {shared} numbers differ by more than {change:.0%} from the last run."
    if last.get("machine") != now.get("machine"):
        head += f" The machine was {last.get('machine')}, now it is {now.get('machine')}."
    lines = [f"| {name} | {a:.4g} | {b:.4g} | {b / a if a else float('nan'):.2f} |" for name, a, b in rows[:MOST]]
    return "\n".join([head, "", "| number | last | now | ratio |", "|---|---|---|---|", *lines])


def read(path: str) -> Any:
    """A record, or None where there is no such file."""
    file = Path(path)
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("last", help="the record of the run before; a file that is not there is none")
    parser.add_argument("now", help="the record of this run")
    parser.add_argument("--change", type=float, default=CHANGE, help=f"a part that counts as a change ({CHANGE})")
    given = parser.parse_args()
    print(table(read(given.last), read(given.now), given.change))


if __name__ == "__main__":
    main()
