"""Inverse dynamics against Pinocchio and MuJoCo, in batches and call by call, and against the arithmetic limit."""

from __future__ import annotations

import numpy as np
import robots
from peak import peak_flops

import linkwise as lw
from linkwise.peers.times import BATCH, Peer, compare, interleaved, mujoco_peers, pinocchio_peers, states

SINCOS = 2.4e-9  # seconds we allow the limit for sine and cosine of one angle


def measure(name: str) -> dict:
    """Times of one robot's inverse dynamics, in nanoseconds a row, with ratios and the largest disagreement.

    The peers read the robot's URDF themselves.
    """
    robot = robots.robot(name)
    given, plain = states(robot, BATCH), lw.compile(robot).inverse_dynamics
    peers = [Peer("linkwise, plain call", BATCH, lambda: plain(*given))]  # the other one has out=
    if robots.has("pinocchio"):
        peers += pinocchio_peers(*robots.pinocchio_model(name), given)
    if robots.has("mujoco"):
        peers += mujoco_peers(*robots.mujoco_model(name), given)
    found = compare(robot, given, peers) | {"robot": name}
    count = found["operations"]
    limit = 1e9 * ((count["mul"] + count["add"]) / peak_flops() + SINCOS * count["sincos"])
    found["limit ns"], found["times the limit"] = limit, found["ns a row"]["linkwise"]["best"] / limit
    return found


def single(name: str = "Panda") -> dict:
    """One call on one state from Python, against `pin.rnea`."""
    robot = robots.robot(name)
    kernel = lw.compile(robot).inverse_dynamics
    q, qd, qdd = (x[0] for x in states(robot, 1))
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
    print(f"  {'linkwise':36} {own['median']:9.1f} ns a row (best {own['best']:.1f})")
    for peer, ratio in result["ratio"].items():
        time = result["ns a row"][peer]
        print(f"  {peer:36} {time['median']:9.1f} ns a row (best {time['best']:.1f})"
              f"   {ratio['median']:6.1f} times slower (best against best {ratio['best']:.1f})")  # fmt: skip
    print(f"  limit {result['limit ns']:.1f} ns; linkwise at {result['times the limit']:.2f} times the limit (best)")
    differences = result["difference"].items()
    print("  largest relative difference: " + ", ".join(f"to {k} {v:.1e}" for k, v in differences))


def run() -> list[dict]:
    results = []
    for name in robots.FILES:
        results.append(measure(name))
        report(results[-1])
    results.append(single())
    report(results[-1])
    return results
