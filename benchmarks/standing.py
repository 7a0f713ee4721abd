"""Robots and persons on their feet: seconds a plan takes, and how well it keeps what contacts ask for.

STANDING=squat,lift takes some of them; without it all.
"""

from __future__ import annotations

import os
import time

import numpy as np
import pinocchio as pin

from examples.standing import MOTIONS, STILL, described, kept
from linkwise.planning import Plan

AIM = "contact wrenches against the momentum balance at most 1e-8, friction and pressure kept"


def witness(plan: Plan) -> float:
    """The largest difference from Pinocchio's torques of TALOS with the same forces on its soles, in weights."""
    full = pin.buildModelFromUrdf(described("talos_reduced.urdf"), pin.JointModelFreeFlyer())
    model = pin.buildReducedModel(full, [full.getJointId(name) for name in STILL], pin.neutral(full))
    data, worst, weight = model.createData(), 0.0, plan.chart.stances[0].weight
    places = [(model.joints[model.getJointId(n)], k) for k, n in enumerate(plan.robot.names[1:])]
    for t in np.linspace(0.0, plan.duration, 201):
        q, v, a = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
        q[:7], v[:6], a[:6] = plan.q(t)[:7], plan.qd(t)[:6], plan.qdd(t)[:6]
        for joint, k in places:
            q[joint.idx_q], v[joint.idx_v], a[joint.idx_v] = plan.q(t)[7 + k], plan.qd(t)[6 + k], plan.qdd(t)[6 + k]
        pushed = [pin.Force.Zero() for _ in range(model.njoints)]
        for name in plan.contacts:
            frame = model.frames[model.getFrameId(name)]
            pushed[frame.parentJoint] += frame.placement.act(pin.Force(plan.contact_wrench(name, t)))
        tau = pin.rnea(model, data, q, v, a, pushed)
        ours = np.append(np.zeros(6), plan.tau(t))
        theirs = np.append(tau[:6], [tau[joint.idx_v] for joint, _ in places])
        worst = max(worst, float(np.abs(ours - theirs).max()))
    return worst / weight


def run() -> dict:
    print(f"must reach: {AIM}; 2001 instants; forces in weights of the robot")
    print(f"{'motion':8} {'status':10} {'solver':6} {'variables':>9} {'iterations':>10} {'wall s':>7} {'cpu s':>6}"
          f" {'momentum':>9} {'cone':>9} {'normal':>9} {'edge mm':>8} {'slip mm':>8}")  # fmt: skip
    found: dict = {}
    for name in os.environ["STANDING"].split(",") if "STANDING" in os.environ else MOTIONS:
        began, busy = time.perf_counter(), time.process_time()
        plan = MOTIONS[name]()
        wall, busy = time.perf_counter() - began, time.process_time() - busy
        facts, seen = plan.facts, kept(plan)
        found[name] = {"status": plan.status, "wall": wall, "cpu": busy, **seen._asdict()}
        print(f"{name:8} {plan.status:10} {facts['solver']:6} {facts['variables']:9} {facts['iterations']:10}"
              f" {wall:7.1f} {busy:6.1f} {seen.momentum:9.1e} {seen.cone:9.1e} {seen.pull:9.1e} {1e3 * seen.edge:8.2f}"
              f" {1e3 * seen.slip:8.2f}", flush=True)  # fmt: skip
        if name == "squat":
            found[name]["pinocchio"] = witness(plan)
            print(f"         torques of Pinocchio with the same forces on the soles: {found[name]['pinocchio']:.1e}")
    return found
