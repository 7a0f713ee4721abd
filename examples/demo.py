"""Inverse dynamics of real robots, checked against Pinocchio and timed beside it. Run by `make demo`."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import linkwise as lw

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "benchmarks")]


def first_steps() -> None:
    """Torques of a small arm along a swing, from a URDF file."""
    robot = lw.load(HERE / "arm.urdf")
    dyn = lw.compile(robot)
    t = np.linspace(0.0, 1.0, 5)[:, None]
    amplitude = np.array([0.8, 0.5, -0.7])
    q = amplitude * (1 - np.cos(np.pi * t))
    qd = amplitude * np.pi * np.sin(np.pi * t)
    qdd = amplitude * np.pi**2 * np.cos(np.pi * t)
    tau = dyn.inverse_dynamics(q, qd, qdd)
    print(f"{robot.name}: a swing of one second, torques in N m")
    print("    time " + "".join(f"{name:>10}" for name in robot.names))
    for time, row in zip(t[:, 0], tau, strict=True):
        print(f"  {time:5.2f} s" + "".join(f"{x:10.3f}" for x in row))
    operations = dyn.inverse_dynamics.count()
    print(f"  compiled to {operations['mul']} multiplications and {operations['add']} additions; the first line of its"
          " symbolic listing that names a link's angular velocity:")  # fmt: skip
    line = next(x for x in dyn.inverse_dynamics.listing().splitlines() if x.startswith("omega"))
    print(f"    {line}\n")


def real_robots() -> bool:
    """Panda, UR5 and TALOS: agreement with Pinocchio, and time a row beside its one-thread batch call."""
    import inverse_dynamics
    import robots

    if not robots.has("pinocchio"):
        print("Pinocchio is not installed here: `make demo` installs it.")
        return True
    good = True
    print(f"inverse dynamics, batches of {inverse_dynamics.BATCH}, one core, without friction")
    head = ("joints", 7), ("mul", 7), ("add", 7), ("Linkwise", 13), ("Pinocchio", 14), ("faster", 9), ("difference", 13)
    print(f"  {'robot':8}" + "".join(f"{title:>{width}}" for title, width in head))
    for name in robots.FILES:
        r = inverse_dynamics.measure(name)
        ours, theirs = r["ns a row"]["linkwise"]["best"], r["ns a row"]["Pinocchio, rneaInParallel(1)"]["best"]
        error = r["difference"]["Pinocchio, rneaInParallel(1)"]
        good &= error < 1e-10
        operations = r["operations"]
        print(f"  {name:8}{r['nv']:7}{operations['mul']:7}{operations['add']:7}{ours:10.1f} ns{theirs:11.1f} ns"
              f"{theirs / ours:8.1f}x{error:13.1e}")  # fmt: skip
    return good


def sources() -> bool:
    """The experiments of the sources, into a report."""
    from papers.experiments import EXPERIMENTS, run
    from papers.html import write

    print("\nexperiments of the sources")
    found = []
    for name in EXPERIMENTS:
        found.append(run(name))
        print(f"  {name}: {found[-1].finding}")
    report = Path("report.html").resolve()
    write(found, report)
    print(f"  tables, plots and assumptions: {report}")
    return all(experiment.agrees for experiment in found)


if __name__ == "__main__":
    first_steps()
    if not real_robots():
        sys.exit("The torques differ from Pinocchio's: this should not happen; please report it.")
    if not sources():
        sys.exit("An experiment does not give what it should: this should not happen; please report it.")
    print("\nNext: README.md for ten lines of Python, docs/guide.md for all a kernel can do, `make bench` for figures.")
