"""Torques with their rates: operations of general chains beside published ones, and time over torques alone."""

from __future__ import annotations

import robots

import linkwise as lw
from papers.torque_rates import JOINTS, PUBLISHED, fitted, lagrangian_times, measured, operations


def chains() -> list[dict]:
    """Counts of general chains with a wrench on the last link, by each route."""
    found = []
    for n in JOINTS:
        robot = robots.general_chain(n)
        row: dict = {"N": n}
        for route in ("recursion", "series"):
            count = lw.compile(robot, lw.force_rates, external=robot.links[-1].name, route=route).count()
            row[route] = {"mul": count["mul"], "add": count["add"]}
        row["tau alone"] = dict(zip(("mul", "add"), operations(lw.inverse_dynamics, n), strict=True))
        found.append(row)
    return found


def run() -> dict:
    table = chains()
    for row in table:
        counts = "   ".join(f"{k} {v['mul']:5} mul {v['add']:5} add" for k, v in row.items() if k != "N")
        print(f"N = {row['N']:2}   {counts}")
    lines = {"ours": fitted(lw.force_rates), "ours, tau alone": fitted(lw.inverse_dynamics), **PUBLISHED}
    for name, (mul, add) in lines.items():
        print(f"{name:48} {mul[0]}N{mul[1]:+} mul, {add[0]}N{add[1]:+} add")
    customised, times = {}, {}
    for robot in (robots.stanford(), robots.puma560(), *(robots.robot(name) for name in ("Panda", "UR5", "TALOS"))):
        count = lw.compile(robot, lw.force_rates).count()
        customised[robot.name] = {"mul": count["mul"], "add": count["add"]}
        times[robot.name] = t = measured(robot, rounds=15)
        print(
            f"{robot.name:12} {count['mul']:5} mul {count['add']:5} add   tau {t['tau']:6.1f} ns,"
            f" with rates {t['tau and tau_dot']:6.1f} ns, ratio {t['ratio']:.2f} (published for the Stanford arm: 2.19)"
        )
    both = lagrangian_times(rounds=15)
    print("general 6R   " + ", ".join(f"{name} {ns:.1f} ns" for name, ns in both.items()))
    return {"chains": table, "customised": customised, "times": times, "methods": both}
