"""`linkwise info`: what a robot is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from linkwise.cli import show
from linkwise.cli.arguments import json_option, load, robot_argument, robot_options

if TYPE_CHECKING:
    from linkwise.robot.robot import Robot

DEEP = 24  # levels from which a tree is indented at branches only


@click.command(short_help="Show a robot and what its kernels cost.")
@robot_argument
@robot_options
@click.option("--all", "everything", is_flag=True, help="Count every kernel, however large the robot.")
@json_option
def info(robot: str, everything: bool, as_json: bool, **options: Any) -> None:
    """Show a robot: its tree, sizes, masses, limits, drives, what looks wrong, and what its kernels cost.

    Operations are those of one evaluation; they are found by tracing, nothing is compiled.

    \b
    Examples:
      linkwise info arm.urdf
      linkwise info stanford
      linkwise info gough_stewart
      linkwise info walker.urdf --base floating
      linkwise info arm.urdf --lock elbow=0.5 --no-friction
      linkwise info arm.urdf --json | jq .mass
    """
    from linkwise.cli.summary import forward_routes, operations, summary

    model = load(robot, **options)
    facts = summary(model)
    facts["operations"] = operations(model, everything)
    if isinstance(facts["operations"].get("forward_dynamics"), dict):
        facts["forward_dynamics"] = forward_routes(model)
    if as_json:
        show.as_json(facts)
        return
    _overview(facts)
    show.title("Tree")
    for line in tree_lines(model):
        show.line(line)
    if facts["joint_table"]:
        show.title("Joints")
        _joints(facts["joint_table"])
    _frames(facts)
    if facts["provenance"]:
        show.title("Provenance of the numbers")
        show.table(("entry", "text"), list(facts["provenance"].items()))
    _diagnostics_and_operations(facts)
    _routes(facts.get("forward_dynamics", {}))


def _diagnostics_and_operations(facts: dict[str, Any]) -> None:
    show.title("Diagnostics")
    if facts["diagnostics"]:
        rows = [(show.level(d["level"]), d["where"], d["message"]) for d in facts["diagnostics"]]
        show.table(("level", "where", "message"), rows)
    else:
        show.line("none")
    show.title("Operations of one evaluation")
    _operations(facts["operations"])


def _overview(facts: dict[str, Any]) -> None:
    show.line(facts["name"], bold=True)
    sizes = f"{show.plural(facts['links'], 'link')}, {show.plural(facts['joints'], 'joint')}"
    show.line(f"{sizes}; nq = {facts['nq']}, nv = {facts['nv']}; total mass {facts['mass']:.6g} kg")
    show.line("gravity " + ", ".join(f"{x:g}" for x in facts["gravity"]) + " m/s^2")
    if facts["coordinates"]:
        names = facts["coordinates"]
        more = f", ... and {len(names) - 40} more" if len(names) > 40 else ""
        show.line(f"order of q: {', '.join(names[:40])}{more}")
    if facts["followers"]:
        show.line(f"order of tau: {', '.join(facts['drives'])}")
        show.line(f"{', '.join(facts['followers'])} follow from the loops")


def tree_lines(robot: Robot) -> Iterator[str]:
    """The tree of links and joints, a line each; in a deep one, an only child stands straight below."""
    children: dict[str, list[Any]] = {link.name: [] for link in robot.links}
    depth = {robot.root.name: 0}
    for j in robot.joints:
        children[j.parent].append(j)
        depth[j.child] = depth[j.parent] + 1
    deep = max(depth.values()) > DEEP
    masses = {link.name: link.mass for link in robot.links}
    yield _labelled(robot.root.name, masses)
    stack = [(j, "", "├─" if k else "└─") for k, j in enumerate(children[robot.root.name][::-1])]
    while stack:
        j, indent, branch = stack.pop()
        kind = f"mimics {j.mimic.joint}" if j.mimic else j.kind
        yield f"{indent}{branch} {j.name} ({kind}) → {_labelled(j.child, masses)}"
        below = children[j.child][::-1]
        inner = indent + {"├─": "│  ", "└─": "   ", "↓": ""}[branch]
        if deep and len(below) == 1:
            stack.append((below[0], inner, "↓"))
        else:
            stack += [(c, inner, "├─" if k else "└─") for k, c in enumerate(below)]


def _labelled(link: str, masses: dict[str, float]) -> str:
    return f"{link}, {masses[link]:.4g} kg" if masses[link] else link


def _joints(joints: list[dict[str, Any]]) -> None:
    optional = {"armature": _armature, "drive": _drive, "follows": _mimic, "spring": _spring}
    used = {title: cell for title, cell in optional.items() if any(cell(j) for j in joints)}
    head = ("joint", "kind", "parent → child", "axis", "position", "velocity", "effort", "friction", *used)
    rows = []
    for j in joints:
        limits = j.get("limits", {})
        span = f"{_bound(limits, 'lower')} to {_bound(limits, 'upper')}" if {"lower", "upper"} & set(limits) else ""
        rows.append((
            j["name"], j["kind"], f"{j['parent']} → {j['child']}", _axis(j), span,
            show.number(limits.get("velocity")), show.number(limits.get("effort")), _friction(j.get("friction")),
            *(cell(j) for cell in used.values()),
        ))  # fmt: skip
    show.table(head, rows)


def _bound(limits: dict[str, float], key: str) -> str:
    return show.number(limits[key]) if key in limits else "∞" if key == "upper" else "-∞"


def _axis(joint: dict[str, Any]) -> str:
    if "axis" not in joint:
        return ""
    axis = joint["axis"]
    for k, letter in enumerate("xyz"):
        if abs(axis[k]) == 1.0:
            return letter if axis[k] > 0 else f"-{letter}"
    return " ".join(f"{x:.3g}" for x in axis)


def _friction(friction: dict[str, Any] | None) -> str:
    if not friction:
        return ""
    parts = [f"{key} {friction[key]:g}" for key in ("viscous", "coulomb", "static", "offset") if friction.get(key)]
    return ", ".join([*parts, *([friction["law"]] if friction["law"] != "coulomb" else [])])


def _armature(joint: dict[str, Any]) -> str:
    return show.number(joint.get("armature"))


def _drive(joint: dict[str, Any]) -> str:
    drive = joint.get("drive")
    if not drive:
        return ""
    parts = [f"gear {drive['gear']:g}"]
    if "motor" in drive:
        parts.append(f"motor on {drive['motor']['link']}, rotor {drive['motor']['rotor']:g}")
    parts += [f"{key} {drive[key]:g}" for key in ("stiffness", "power") if key in drive]
    return "; ".join(parts)


def _mimic(joint: dict[str, Any]) -> str:
    mimic = joint.get("mimic")
    return f"{mimic['ratio']:g} {mimic['joint']} {mimic['offset']:+g}" if mimic else ""


def _spring(joint: dict[str, Any]) -> str:
    spring = joint.get("spring")
    return f"{spring['stiffness']:g} about {spring['rest']:g}" if spring else ""


def _frames(facts: dict[str, Any]) -> None:
    if facts["frames"]:
        show.title("Frames")
        rows = [(f["name"], f["link"], " ".join(f"{x:.4g}" for x in f["xyz"])) for f in facts["frames"]]
        show.table(("frame", "on link", "at (m)"), rows)
    if facts["loops"]:
        show.title("Loops")
        loops = [(c["name"], c["kind"], f"{c['a']}, {c['b']}", ", ".join(c["active"])) for c in facts["loops"]]
        show.table(("loop", "kind", "joins", "active"), loops)


KINDS = ["mul", "add", "sincos"]  # of operations, with columns of their own


def _cells(count: dict[str, int]) -> tuple[str, ...]:
    others = ", ".join(f"{v} {k}" for k, v in count.items() if k not in KINDS)
    return *(str(count.get(k, 0)) for k in KINDS), others


def _routes(facts: dict[str, Any]) -> None:
    """Forward dynamics by each of its routes; nothing where none can be taken, which is said already."""
    if not facts or not facts["taken"]:
        return
    show.title("Forward dynamics by route")
    rows = [
        (route, *_cells(count), "taken by compile" if route == facts["taken"] else "")
        for route, count in facts["routes"].items()
        if not isinstance(count, str)
    ]
    show.table(("route", *KINDS, "others", ""), rows, right=KINDS)
    for route, reason in facts["routes"].items():
        if isinstance(reason, str):
            show.line(f"not by {route}: {reason}")


def _operations(counts: dict[str, Any]) -> None:
    rows: list[tuple[str, ...]] = []
    refusals: dict[str, list[str]] = {}
    for name, count in counts.items():
        if isinstance(count, str):
            refusals.setdefault(count, []).append(name)
            continue
        if any(count.values()):  # else there is nothing to compute
            rows.append((name, *_cells(count)))
    if rows:
        show.table(("kernel", *KINDS, "others"), rows, right=KINDS)
    for reason, names in refusals.items():
        show.line(f"none for {', '.join(names)}: {reason}")
