"""Inverse dynamics against Pinocchio and MuJoCo, in batches and call by call, and against the arithmetic limit."""

from __future__ import annotations

import numpy as np
import robots
from peak import peak_flops
from timing import interleaved

import linkwise as lw

BATCH = 4096
LOOP = 256  # rows for peers that are called row by row
SINCOS = 2.4e-9  # seconds we allow the limit for sine and cosine of one angle


def states(n: int, rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.uniform(-2, 2, (rows, n)), rng.normal(size=(rows, n)), rng.normal(size=(rows, n))


def measure(name: str) -> dict:
    """Times of one robot's inverse dynamics, in nanoseconds a row, with ratios and the largest disagreement."""
    robot = robots.robot(name)
    kernel = lw.compile(robot).inverse_dynamics
    q, qd, qdd = states(robot.nv, BATCH)
    tau = np.empty_like(q)
    rows = {"linkwise": BATCH}
    candidates = {"linkwise": lambda: kernel(q, qd, qdd, out=tau)}
    found: dict = {"robot": name, "nv": robot.nv, "operations": dict(kernel.count())}
    kernel(q, qd, qdd, out=tau)
    scale = np.abs(tau).max()
    if robots.has("pinocchio"):
        import pinocchio as pin

        model, order = robots.pinocchio_model(name)
        data, pool = model.createData(), pin.ModelPool(model, 1)
        ours = [np.ascontiguousarray(x[:, order.v]) for x in (q, qd, qdd)]
        columns = [np.asfortranarray(x.T) for x in ours]
        theirs = np.empty((robot.nv, BATCH), order="F")
        candidates["rneaInParallel(1)"] = lambda: pin.rneaInParallel(1, pool, *columns, theirs)
        candidates["rnea, Python loop"] = lambda: [
            pin.rnea(model, data, *x) for x in zip(*(a[:LOOP] for a in ours), strict=True)
        ]
        rows |= {"rneaInParallel(1)": BATCH, "rnea, Python loop": LOOP}
        candidates["rneaInParallel(1)"]()
        found["error to Pinocchio"] = float(np.abs(theirs.T[:, order.v_back] - tau).max() / scale)
    if robots.has("mujoco"):
        import mujoco

        mj, at = robots.mujoco_model(name)
        state = mujoco.MjData(mj)
        mj_rows = [x[:LOOP, at.v] for x in (q, qd, qdd)]
        forces = np.empty((LOOP, robot.nv))

        def inverse() -> None:
            for k in range(LOOP):
                state.qpos[:], state.qvel[:], state.qacc[:] = (x[k] for x in mj_rows)
                mujoco.mj_inverse(mj, state)
                forces[k] = state.qfrc_inverse

        candidates["mj_inverse, Python loop"] = inverse
        rows["mj_inverse, Python loop"] = LOOP
        inverse()
        found["error to MuJoCo"] = float(np.abs(forces[:, at.v_back] - tau[:LOOP]).max() / np.abs(tau[:LOOP]).max())
    times = interleaved(candidates)
    found["ns a row"] = {k: {m: 1e9 * t[m] / rows[k] for m in t} for k, t in times.items()}
    own = found["ns a row"]["linkwise"]
    found["ratio"] = {k: {m: t[m] / own[m] for m in t} for k, t in found["ns a row"].items() if k != "linkwise"}
    count = kernel.count()
    limit = 1e9 * ((count["mul"] + count["add"]) / peak_flops() + SINCOS * count["sincos"])
    found["limit ns"], found["times the limit"] = limit, own["best"] / limit
    return found


def single(name: str = "Panda") -> dict:
    """One call on one state from Python, against `pin.rnea`."""
    robot = robots.robot(name)
    kernel = lw.compile(robot).inverse_dynamics
    q, qd, qdd = (x[0] for x in states(robot.nv, 1))
    candidates = {"linkwise": lambda: kernel(q, qd, qdd)}
    if robots.has("pinocchio"):
        import pinocchio as pin

        model, order = robots.pinocchio_model(name)
        data = model.createData()
        a, b, c = (np.ascontiguousarray(x[order.v]) for x in (q, qd, qdd))
        candidates["pin.rnea"] = lambda: pin.rnea(model, data, a, b, c)
    times = interleaved(candidates, rounds=40)
    return {"robot": name, "ns a call": {k: {m: 1e9 * t[m] for m in t} for k, t in times.items()}}


def report(result: dict) -> None:
    if "ns a call" in result:
        calls = result["ns a call"]
        print(
            f"one call, {result['robot']}: "
            + ", ".join(f"{k} {t['median']:.0f} ns (best {t['best']:.0f})" for k, t in calls.items())
        )
        return
    own = result["ns a row"]["linkwise"]
    operations = result["operations"]
    print(f"{result['robot']} ({result['nv']} joints, {operations['mul']} mul + {operations['add']} add +"
          f" {operations['sincos']} sincos), batch {BATCH}:")  # fmt: skip
    print(f"  {'linkwise':26} {own['median']:9.1f} ns a row (best {own['best']:.1f})")
    for peer, ratio in result["ratio"].items():
        time = result["ns a row"][peer]
        print(f"  {peer:26} {time['median']:9.1f} ns a row (best {time['best']:.1f})"
              f"   {ratio['median']:6.1f} times slower (best against best {ratio['best']:.1f})")  # fmt: skip
    print(f"  limit {result['limit ns']:.1f} ns; linkwise at {result['times the limit']:.2f} times the limit (best)")
    errors = {k: v for k, v in result.items() if k.startswith("error")}
    print("  " + ", ".join(f"largest relative {k} {v:.1e}" for k, v in errors.items()))


def run() -> list[dict]:
    results = []
    for name in robots.FILES:
        results.append(measure(name))
        report(results[-1])
    results.append(single())
    report(results[-1])
    return results
