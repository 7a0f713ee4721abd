"""Platforms on legs in batches on one core, and the Gough-Stewart platform beside Pinocchio's constrained dynamics."""

from __future__ import annotations

import numpy as np
import robots

import linkwise as lw
from linkwise.mechanism.machine import machine_of
from linkwise.peers import models
from linkwise.peers.times import BATCH, interleaved

LOOP = 256
MACHINES = {
    "Gough-Stewart": (lw.gough_stewart, (0.02, 0.03, 0.75, 0.05, -0.04, 0.03, 1.0)),
    "Delta": (lw.delta, (0.03, -0.02, -0.5)),
    "3-RRR": (lw.three_rrr, (0.03, -0.04, 0.1)),
}


def states(robot: lw.Robot, home: tuple[float, ...], rows: int) -> tuple[np.ndarray, ...]:
    """Poses around a home, velocities and accelerations."""
    rng = np.random.default_rng(0)
    pose = np.array(home) + 0.03 * rng.uniform(-1.0, 1.0, (rows, robot.nq))
    if robot.nq == 7:
        pose[:, 3:] /= np.linalg.norm(pose[:, 3:], axis=1, keepdims=True)
    return pose, *rng.uniform(-1.0, 1.0, (2, rows, robot.nv))


def measure(name: str) -> dict:
    """Nanoseconds a row of each quantity, and operations."""
    build, home = MACHINES[name]
    robot = build()
    dyn = lw.compile(robot)
    q, qd, qdd = states(robot, home, BATCH)
    tau = dyn.inverse_dynamics(q, qd, qdd)
    slots = robot.opened().slots
    drives = dyn.positions(q).q[:, [slots[n].q for n in robot.drives]]
    candidates = {
        "inverse dynamics": lambda: dyn.inverse_dynamics(q, qd, qdd, out=tau),
        "forward dynamics": lambda: dyn.forward_dynamics(q, qd, tau),
        "mass matrix": lambda: dyn.mass_matrix(q),
        "positions": lambda: dyn.positions(q),
        "positions by drives": lambda: dyn.positions(drives=drives),
    }
    times = interleaved(candidates, rounds=15)
    count = {k: dict(getattr(dyn, k).count()) for k in ("inverse_dynamics", "forward_dynamics")}
    back = np.abs(dyn.forward_dynamics(q, qd, tau) - qdd).max() / np.abs(qdd).max()
    ns = {k: 1e9 * t["best"] / BATCH for k, t in times.items()}
    return {"robot": name, "ns": ns, "operations": count, "forward after inverse": float(back)}


def against_pinocchio() -> dict:
    """Forward dynamics by `constraintDynamics`, and `rnea` of the tree alone, which any inverse dynamics needs more of.

    Both are called row by row from Python.
    """
    import pinocchio as pin

    build, home = MACHINES["Gough-Stewart"]
    robot = build()
    dyn = lw.compile(robot)
    q, qd, qdd = states(robot, home, LOOP)
    forces, whole = dyn.inverse_dynamics(q, qd, qdd), dyn.positions(q).q
    model, contacts, active = _tree(robot)
    data, datas = model.createData(), [c.createData() for c in contacts]
    pin.initConstraintDynamics(model, data, contacts, datas)
    settings = pin.ProximalSettings(1e-12, 1e-10, 10)
    machine = machine_of(robot)
    rows = []
    for k in range(LOOP):
        tau = np.zeros(model.nv)
        tau[active] = forces[k]
        rows.append((whole[k], np.array(machine.at(list(q[k])).rates(list(qd[k]))), tau))
    theirs = np.array([pin.constraintDynamics(model, data, *row, contacts, datas, settings)[:6] for row in rows])
    zeros = np.zeros(model.nv)
    many = states(robot, home, BATCH)
    pushed = dyn.inverse_dynamics(*many)
    times = interleaved(
        {
            "forward": lambda: dyn.forward_dynamics(*many[:2], pushed),
            "inverse": lambda: dyn.inverse_dynamics(*many),
            "constraintDynamics": lambda: [
                pin.constraintDynamics(model, data, *row, contacts, datas, settings) for row in rows
            ],
            "rnea": lambda: [pin.rnea(model, data, *row[:2], zeros) for row in rows],
        },
        rounds=15,
    )
    ns = {k: 1e9 * t["best"] / (BATCH if k in ("forward", "inverse") else LOOP) for k, t in times.items()}
    return {
        "robot": "Gough-Stewart beside Pinocchio", "ns": ns, "forward": ns["constraintDynamics"] / ns["forward"],
        "inverse": ns["rnea"] / ns["inverse"], "difference": float(np.abs(theirs - qdd).max() / np.abs(qdd).max()),
    }  # fmt: skip


def _tree(robot: lw.Robot) -> tuple:
    """Platform and legs as a tree of Pinocchio's with point constraints, and the places of the slides."""
    import pinocchio as pin

    model = pin.Model()
    at = {"world": (0, pin.SE3.Identity())}
    kinds = {"floating": pin.JointModelFreeFlyer, "prismatic": pin.JointModelPZ}
    for j in robot.joints:
        parent, X = at[j.parent]
        X = X * models.se3(j.origin)
        if j.is_fixed:
            at[j.child] = parent, X
            continue
        kind = kinds.get(j.kind) or (pin.JointModelRX if j.axis.x else pin.JointModelRY)
        place = model.addJoint(parent, kind(), X, j.name)
        model.appendBodyToJoint(place, models.pinocchio_inertia(robot.link(j.child)), pin.SE3.Identity())
        at[j.child] = place, pin.SE3.Identity()
    three, ends = pin.ContactType.CONTACT_3D, []
    for loop in robot.loops:
        (i, X), (k, Y) = at[loop.b], at[loop.a]
        ends.append((i, X * models.se3(loop.origin_b), k, Y * models.se3(loop.origin_a)))
    active = [model.joints[model.getJointId(name)].idx_v for name in robot.drives]
    return model, [pin.RigidConstraintModel(three, model, *end) for end in ends], active


def run() -> list[dict]:
    results = []
    for name in MACHINES:
        r = measure(name)
        results.append(r)
        rate = 1e3 / r["ns"]["inverse dynamics"]
        count = r["operations"]["inverse_dynamics"]
        operations = f"{count['mul']} mul + {count['add']} add"
        print(f"{name}, batch {BATCH}: inverse dynamics {rate:.1f} million a second, {operations}")
        print("  " + ", ".join(f"{k} {t:.0f} ns" for k, t in r["ns"].items()))
        print(f"  forward after inverse {r['forward after inverse']:.1e}")
    if robots.has("pinocchio"):
        r = against_pinocchio()
        results.append(r)
        print(f"Pinocchio: constraintDynamics {r['ns']['constraintDynamics']:.0f} ns, {r['forward']:.0f} times ours;"
              f" rnea of the open tree alone {r['ns']['rnea']:.0f} ns, {r['inverse']:.0f} times our inverse dynamics;"
              f" largest difference {r['difference']:.1e}")  # fmt: skip
    return results
