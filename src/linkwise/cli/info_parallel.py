"""`linkwise info` of a parallel robot."""

from __future__ import annotations

from typing import Any

from linkwise.cli import show


def print_parallel(facts: dict[str, Any]) -> None:
    """Its platform, its legs with their joints, and what looks wrong."""
    show.line(facts["name"], bold=True)
    legs, motors = show.plural(len(facts["legs"]), "leg"), show.plural(len(facts["names"]), "actuated joint")
    show.line(f"a {facts['mobility']} platform on {legs}, {motors}; total mass {facts['mass']:.6g} kg")
    show.line("gravity " + ", ".join(f"{x:g}" for x in facts["gravity"]) + " m/s^2")
    show.line(f"a pose has {facts['nq']} numbers, a velocity {facts['nv']}")
    show.line(f"order of forces: {', '.join(facts['names'])}")
    show.title("Legs")
    head = ("leg", "joints", "actuated", "mass (kg)", "joins the platform at (m)")
    rows = [
        (
            leg["name"],
            ", ".join(f"{j['name']} ({j['kind']})" for j in leg["joint_table"]),
            ", ".join(leg["actuated"]),
            show.number(leg["mass"]),
            " ".join(f"{x:.4g}" for x in leg["at"]),
        )
        for leg in facts["legs"]
    ]
    show.table(head, rows, right=("mass (kg)",))
