"""Operation counts of customised inverse dynamics, beside published ones; and numbers of base parameters."""

from __future__ import annotations

import robots

import linkwise as lw

PUBLISHED = {
    "general 6R": "Luh, Walker, Paul 1980: 150N-48 mul, 131N-48 add; Craig's book: 126N-99 mul, 106N-92 add",
    "stanford": "Luh, Walker, Paul 1980: 150N-48 mul, 131N-48 add",
    "puma560": "Luh, Walker, Paul 1980: 150N-48 mul, 131N-48 add; Armstrong, Khatib, Burdick 1986: 305 operations,"
    " explicit model with terms below 1 % dropped",
}


def counts() -> list[dict]:
    found = []
    for robot in (robots.general_chain(6), robots.puma560(), robots.stanford()):
        kernel = lw.compile(robot, lw.inverse_dynamics)
        n, count = robot.nv, kernel.count()
        base = lw.base_parameters(robot)
        inertial = sum(1 for k in base.kept if k < 10 * n)
        found.append({
            "robot": robot.name, "mul": count["mul"], "add": count["add"], "sincos": count["sincos"],
            "Luh mul": 150 * n - 48, "Luh add": 131 * n - 48, "published": PUBLISHED[robot.name],
            "base parameters of links and rotors": len(base) - 2 * n, "of links": inertial,
        })  # fmt: skip
    return found


def chains() -> list[dict]:
    """Counts of general chains, which grow as aN + b."""
    found = []
    for n in range(2, 11):
        count = lw.compile(robots.general_chain(n), lw.inverse_dynamics).count()
        found.append({"N": n, "mul": count["mul"], "add": count["add"]})
    return found


def run() -> list[dict]:
    table = counts()
    for row in table:
        ours = f"{row['mul']:4} mul {row['add']:4} add {row['sincos']} sincos"
        luh = f"{row['Luh mul']} mul {row['Luh add']} add"
        base = f"{row['base parameters of links and rotors']} ({row['of links']} of links)"
        print(f"{row['robot']:12} {ours}   (Luh's general count: {luh}); base parameters {base}")
        print(f"             published: {row['published']}")
    growth = chains()
    last, before = growth[-1], growth[-2]
    for kind in ("mul", "add"):
        slope = last[kind] - before[kind]
        print(f"general chains: {slope}N{last[kind] - slope * last['N']:+} {kind}")
    return [*table, *growth]
