"""Parallel robots in batches on one core, and the Gough-Stewart platform beside Pinocchio's constrained dynamics."""

from __future__ import annotations

import numpy as np
import robots

import linkwise as lw
from linkwise.report import peers
from linkwise.report.bench import BATCH, interleaved

LOOP = 256
MACHINES = {
    "Gough-Stewart": (lw.gough_stewart, (0.02, 0.03, 0.75, 0.05, -0.04, 0.03, 1.0)),
    "Delta": (lw.delta, (0.03, -0.02, -0.5)),
    "3-RRR": (lw.three_rrr, (0.03, -0.04, 0.1)),
}


def states(robot: lw.parallel.ParallelRobot, home: tuple[float, ...], rows: int) -> tuple[np.ndarray, ...]:
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
    par = lw.compile(robot)
    pose, v, a = states(robot, home, BATCH)
    forces = par.inverse_dynamics(pose, v, a)
    positions, guess = par.actuators(pose), np.array(home)
    candidates = {
        "inverse dynamics": lambda: par.inverse_dynamics(pose, v, a, out=forces),
        "forward dynamics": lambda: par.forward_dynamics(pose, v, forces),
        "mass matrix": lambda: par.mass_matrix(pose),
        "actuator positions": lambda: par.actuators(pose),
        "forward kinematics": lambda: par.forward_kinematics(positions, guess),
    }
    times = interleaved(candidates, rounds=15)
    count = {k: dict(getattr(par, k).count()) for k in ("inverse_dynamics", "forward_dynamics")}
    back = np.abs(par.forward_dynamics(pose, v, forces) - a).max() / np.abs(a).max()
    ns = {k: 1e9 * t["best"] / BATCH for k, t in times.items()}
    return {"robot": name, "ns": ns, "operations": count, "forward after inverse": float(back)}


def against_pinocchio() -> dict:
    """Forward dynamics by `constraintDynamics`, and `rnea` of the tree alone, which any inverse dynamics needs more of.

    Both are called row by row from Python.
    """
    import pinocchio as pin

    build, home = MACHINES["Gough-Stewart"]
    robot = build()
    par = lw.compile(robot)
    pose, v, a = states(robot, home, LOOP)
    forces, legs, q = par.inverse_dynamics(pose, v, a), par.leg_motion(pose, v, a), par.inverse_kinematics(pose)
    model, contacts, active = _tree(robot)
    data, datas = model.createData(), [c.createData() for c in contacts]
    pin.initConstraintDynamics(model, data, contacts, datas)
    settings = pin.ProximalSettings(1e-12, 1e-10, 10)
    rows = []
    for k in range(LOOP):
        R = pin.Quaternion(pose[k, 3:]).toRotationMatrix()
        tau = np.zeros(model.nv)
        tau[active] = forces[k]
        rows.append(
            (np.concatenate([pose[k], q[k]]), np.concatenate([R.T @ v[k, :3], R.T @ v[k, 3:], legs.qd[k]]), tau, R)
        )
    found = np.array([pin.constraintDynamics(model, data, *row[:3], contacts, datas, settings)[:6] for row in rows])
    theirs = np.array([
        np.concatenate([row[3] @ x[:3] + np.cross(w[3:], w[:3]), row[3] @ x[3:]])
        for row, x, w in zip(rows, found, v, strict=True)
    ])  # fmt: skip
    zeros = np.zeros(model.nv)
    many = states(robot, home, BATCH)
    pushed = par.inverse_dynamics(*many)
    times = interleaved(
        {
            "forward": lambda: par.forward_dynamics(*many[:2], pushed),
            "inverse": lambda: par.inverse_dynamics(*many),
            "constraintDynamics": lambda: [
                pin.constraintDynamics(model, data, *row[:3], contacts, datas, settings) for row in rows
            ],
            "rnea": lambda: [pin.rnea(model, data, *row[:2], zeros) for row in rows],
        },
        rounds=15,
    )
    ns = {k: 1e9 * t["best"] / (BATCH if k in ("forward", "inverse") else LOOP) for k, t in times.items()}
    return {
        "robot": "Gough-Stewart beside Pinocchio", "ns": ns, "forward": ns["constraintDynamics"] / ns["forward"],
        "inverse": ns["rnea"] / ns["inverse"], "difference": float(np.abs(theirs - a).max() / np.abs(a).max()),
    }  # fmt: skip


def _tree(robot: lw.parallel.ParallelRobot) -> tuple:
    """Platform and legs as a tree of Pinocchio's with point constraints, and the places of the slides."""
    import pinocchio as pin

    model = pin.Model()
    platform = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "platform")
    model.appendBodyToJoint(platform, peers.pinocchio_inertia(robot.platform), pin.SE3.Identity())
    contacts, active = [], []
    for leg in robot.legs:
        parent, X = 0, peers.se3(leg.base)
        kinds = (pin.JointModelRX, pin.JointModelRY, pin.JointModelPZ)
        for j, kind in zip(leg.robot.joints, kinds, strict=True):
            parent = model.addJoint(parent, kind(), X, f"{leg.name}.{j.name}")
            model.appendBodyToJoint(parent, peers.pinocchio_inertia(leg.robot.link(j.child)), pin.SE3.Identity())
            X = pin.SE3.Identity()
        active.append(model.nv - 1)
        contacts.append((parent, pin.SE3(np.eye(3), np.array(leg.at))))
    three = pin.ContactType.CONTACT_3D
    ends = [(parent, pin.SE3.Identity(), platform, at) for parent, at in contacts]
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
