"""Measure Linkwise beside its peers: python benchmarks/run.py [SECTION ...] [--json FILE]."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
os.environ.setdefault("OMP_NUM_THREADS", "1")


def main() -> None:
    import clearance
    import closed
    import derivatives
    import design_sweep
    import elastic
    import excitation
    import float32
    import forward_dynamics
    import install
    import inverse_dynamics
    import jax_libraries
    import large
    import limit
    import loading
    import obstacles
    import operations
    import paths
    import plain
    import plans
    import rates
    import rollouts
    import standing
    import startup
    import tasks
    import tools

    import export
    import identification
    import planning
    import platforms
    import view
    import walking

    sections = {
        "inverse_dynamics": inverse_dynamics.run,
        "forward_dynamics": forward_dynamics.run,
        "rollouts": rollouts.run,
        "derivatives": derivatives.run,
        "plain": plain.run,
        "float32": float32.run,
        "limit": limit.run,
        "operations": operations.run,
        "closed": closed.run,
        "platforms": platforms.run,
        "rates": rates.run,
        "clearance": clearance.run,
        "planning": planning.run,
        "obstacles": obstacles.run,
        "excitation": excitation.run,
        "plans": plans.run,
        "paths": paths.run,
        "standing": standing.run,
        "walking": walking.run,
        "elastic": elastic.run,
        "large": large.run,
        "identification": identification.run,
        "loading": loading.run,
        "startup": startup.run,
        "view": view.run,
        "tools": tools.run,
        "jax_libraries": jax_libraries.run,
        "tasks": tasks.run,
        "install": install.run,
        "design_sweep": design_sweep.run,
        "export": export.run,
    }
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", help=f"which of {', '.join(sections)}; all by default")
    parser.add_argument("--json", metavar="FILE", help="write the results there too")
    given = parser.parse_args()
    for name in given.sections:
        if name not in sections:
            parser.error(f"unknown section {name!r}; there are {', '.join(sections)}")
    results = {"machine": platform.processor() or platform.machine()}
    for name in given.sections or sections:
        print(f"== {name}")
        results[name] = sections[name]()
        print()
    if given.json:
        Path(given.json).write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
