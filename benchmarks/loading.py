"""Time to load a URDF: every file of example-robot-data, beside Pinocchio's reader."""

from __future__ import annotations

import robots

import linkwise as lw
from linkwise.peers.times import interleaved


def run(rounds: int = 3) -> list[dict]:
    """Milliseconds for each file that both load; prints the medians over files and the extremes."""
    import pinocchio as pin

    results = []
    for path in sorted(robots.ROBOTS.rglob("*.urdf")):
        try:
            links = len(lw.load(path).links)
            pin.buildModelFromUrdf(str(path))
        except (lw.LinkwiseError, ValueError, RuntimeError):
            continue
        candidates = {
            "Linkwise": lambda path=path: lw.load(path),
            "Pinocchio": lambda path=path: pin.buildModelFromUrdf(str(path)),
        }
        best = {name: 1e3 * t["best"] for name, t in interleaved(candidates, rounds).items()}
        results.append({"file": path.name, "links": links, **best, "ratio": best["Linkwise"] / best["Pinocchio"]})
    report(results)
    return results


def report(results: list[dict]) -> None:
    def median(key: str) -> float:
        values = sorted(r[key] for r in results)
        return values[len(values) // 2]

    print(f"{len(results)} files, best of a few loads, CPU time; medians over the files:")
    print(f"  lw.load {median('Linkwise'):.2f} ms, pin.buildModelFromUrdf {median('Pinocchio'):.2f} ms")
    by_ratio = sorted(results, key=lambda r: r["ratio"])
    print(f"  ratio {median('ratio'):.1f}, from {by_ratio[0]['ratio']:.1f} to {by_ratio[-1]['ratio']:.1f}")
    print(f"  {'file':36} {'links':>5} {'Linkwise':>9} {'Pinocchio':>9} {'ratio':>5}")
    for r in by_ratio[:: max(1, len(by_ratio) // 10)]:
        print(f"  {r['file']:36} {r['links']:5} {r['Linkwise']:6.2f} ms {r['Pinocchio']:6.2f} ms {r['ratio']:5.1f}")
