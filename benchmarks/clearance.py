"""Clearance beside Pinocchio and coal: least distances of Panda's own pairs, covered by spheres and by capsules.

The 59 spheres are those of VAMP (the source distribution vamp-planner 0.6.4 of the Python package index, unpacked):
the variable VAMP names its folder, or it stands in the working directory.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import robots
import vamp

import linkwise as lw
from linkwise.kernel.clearance import Clearance
from linkwise.peers.times import interleaved
from linkwise.robot.covering import covered

BATCH, LOOP = 4096, 64  # rows for us, and for Pinocchio, which is called row by row
AIMS = {"spheres": "at most 1000 ns, 40 times", "capsules": "at most 300 ns"}


def spheres(folder: Path) -> Clearance:
    """Panda as 59 spheres, less the pairs that its SRDF file leaves out: 690 pairs of spheres are left."""
    full = lw.load(folder / "panda_spherized.urdf")
    robot = full.lock(robots.locked(full.names))
    return lw.compile(robot).clearance.among(ignore=vamp.ignored(folder, robot))


def capsules() -> Clearance:
    """Panda as 10 capsules: one for each mesh, and one for both fingers."""
    robot, shapes = robots.robot("Panda"), []
    for shape in (s for s in robot.shapes if s.kind == "mesh" and s.is_collision):
        (volume,), _ = covered(shape, 1)
        (axis,), (half,) = volume.axes or ((0.0, 0.0, 1.0),), volume.half or (1e-6,)
        turn = lw.Pose(_turned(np.array(axis)), volume.centre)
        shapes.append(lw.Shape(shape.link, "capsule", (volume.radius, 2.0 * half), turn, "collision"))
    finger = lw.Pose.of((0.0, 0.0, 0.09), (np.pi / 2.0, 0.0, 0.0))
    shapes.append(lw.Shape("panda_leftfinger", "capsule", (0.03, 0.08), replace(finger), "collision"))
    return lw.compile(robot.replace(shapes=shapes)).clearance


def _turned(axis: np.ndarray):
    from linkwise.rotation import with_z_along
    from linkwise.vector import Vec3

    return with_z_along(Vec3(*axis.tolist()))


def theirs(near: Clearance, q: np.ndarray):
    """A loop of Pinocchio's distances of the same shapes and pairs, its least ones, and how many pairs it has."""
    import coal
    import pinocchio as pin

    model, order = robots.pinocchio_model("Panda")
    geometry, places = pin.GeometryModel(), {}
    tree = lw.compile(near.scene.robot)
    data = model.createData()
    pin.forwardKinematics(model, data, np.zeros(model.nq))
    pin.updateFramePlacements(model, data)
    for k, shape in enumerate(s for s in near.scene.robot.shapes if s.is_collision):
        frame = model.frames[model.getFrameId(shape.link)]
        T = np.linalg.inv(data.oMi[frame.parentJoint].homogeneous) @ tree.pose(near.scene.robot.q(), shape.link)
        made = {"sphere": coal.Sphere, "capsule": coal.Capsule}[shape.kind](*shape.size)
        at = pin.SE3(T @ np.array(shape.origin.matrix()))
        index = geometry.addGeometryObject(pin.GeometryObject(f"{k}", frame.parentJoint, at, made))
        places.setdefault(shape.link, []).append(index)
    for a, b in near.pairs:
        for i in places[a]:
            for j in places[b]:
                geometry.addCollisionPair(pin.CollisionPair(i, j))
    values = geometry.createData()
    rows = np.ascontiguousarray(q[:LOOP, order.q])

    def loop() -> None:
        for row in rows:
            pin.computeDistances(model, data, geometry, values, row)

    least = [
        values.distanceResults[pin.computeDistances(model, data, geometry, values, row)].min_distance for row in rows
    ]
    return loop, np.array(least), len(geometry.collisionPairs)


def measured(name: str, near: Clearance) -> dict:
    """Nanoseconds a configuration of all functions, beside Pinocchio's loop."""
    limits = [j.limits for j in near.scene.robot.joints if j.name in near.scene.robot.names]
    low, high = np.array([x.lower for x in limits]), np.array([x.upper for x in limits])
    q = np.random.default_rng(0).uniform(low, high, (BATCH, near.scene.robot.nq))
    start = time.perf_counter()
    found = near(q)
    first = time.perf_counter() - start
    loop, expected, pairs = theirs(near, q)
    functions = {
        "distance, pair": near,
        "gradient": near.gradient,
        "distances": near.distances,
        "jacobian": near.jacobian,
    }
    candidates = {what: (lambda f=f: f(q)) for what, f in functions.items()} | {"Pinocchio": loop}
    times = interleaved(candidates, rounds=15)
    ns = {what: 1e9 * times[what]["best"] / (LOOP if what == "Pinocchio" else BATCH) for what in candidates}
    return {
        "shapes": name, "pairs": pairs, "ns": ns, "ratio": ns["Pinocchio"] / ns["distance, pair"], "first call": first,
        "difference": float(np.abs(found.distance[:LOOP] - expected).max()),
    }  # fmt: skip


def run() -> dict:
    folder, results = vamp.folder(), []
    if folder is None:
        print(
            f"{vamp.FOLDER} is not here: set VAMP to the folder of the unpacked source distribution for the 59 spheres"
        )
    for name, near in {**({"spheres": spheres(folder)} if folder else {}), "capsules": capsules()}.items():
        row = measured(name, near)
        results.append(row)
        ns = row["ns"]
        print(
            f"Panda, {name}: {row['pairs']} pairs, {ns['distance, pair']:.0f} ns, Pinocchio and coal"
            f" {ns['Pinocchio']:.0f} ns: {row['ratio']:.0f} times (aim: {AIMS[name]}); differs by"
            f" {row['difference']:.1e}; first call {row['first call']:.1f} s"
        )
        print(
            "  "
            + ", ".join(f"{what} {x:.0f} ns" for what, x in ns.items() if what not in ("distance, pair", "Pinocchio"))
        )
    return {"clearance": results}
