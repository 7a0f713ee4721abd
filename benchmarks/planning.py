"""Planning: one first-order evaluation beside Pinocchio's derivatives in a loop, and whole solves of the RR arm."""

from __future__ import annotations

import dataclasses
import itertools
import tempfile
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

import linkwise as lw
from linkwise.peers.times import interleaved
from linkwise.planning.curve import Basis, Curve
from linkwise.planning.ends import State
from linkwise.planning.problem import Problem
from linkwise.planning.term_and_constraint import Sum
from papers.two_link_plans import minimum_time

POINTS, COUNT, DEGREE = 200, 20, 4


def seven_axes() -> lw.Robot:
    """The seven-axis arm without what Pinocchio leaves out: friction and rotors."""
    robot = lw.load("arm7").without_friction()
    return robot.replace(*(dataclasses.replace(j, armature=0.0) for j in robot.joints))


def problem(robot: lw.Robot) -> Problem:
    """Minimum time under limits of torque, at 200 points."""
    goal = 0.5 + 0.1 * np.arange(robot.nv)
    basis = Basis.uniform(DEGREE, COUNT)
    return Problem(robot, State(robot.q()), State(goal), Sum.of(lw.cost.time()), (lw.limit.joints("effort"),), basis)


def by_pinocchio(robot: lw.Robot, program, s: np.ndarray):
    """The same rows and slopes from Pinocchio's derivatives, point after point."""
    import pinocchio as pin

    with tempfile.TemporaryDirectory() as folder:
        lw.save(robot, Path(folder) / "arm.urdf")
        model = pin.buildModelFromUrdf(str(Path(folder) / "arm.urdf"))
    data = model.createData()
    assert list(model.names)[1:] == list(robot.names)
    variables, n = program.variables, robot.nv
    start, band, _ = variables.basis.bands(s, 3)
    effort = np.array([robot.joint(name).limits.effort for name in robot.names])
    width = DEGREE + 1

    def evaluate(x):
        P, T = variables.split(x)
        g, by_points, by_time = np.empty((len(s), n)), np.empty((len(s), n, width, n)), np.empty((len(s), n))
        scales = np.array([1.0, 1.0 / T, 1.0 / T**2])
        for i in range(len(s)):
            near = P[start[i] : start[i] + width]
            B = band[i] * scales[:, None]
            q, qd, qdd = B @ near
            pin.computeRNEADerivatives(model, data, q, qd, qdd)
            M = np.triu(data.M)
            M = M + np.triu(M, 1).T
            g[i] = data.tau / effort
            slopes = (data.dtau_dq, data.dtau_dv, M)
            by_points[i] = (
                sum(b[None, :, None] * d[:, None, :] for b, d in zip(B, slopes, strict=True)) / effort[:, None, None]
            )
            by_time[i] = -(data.dtau_dv @ qd + 2.0 * (M @ qdd)) / (T * effort)
        return T, g, by_points, by_time

    return evaluate


def first_order() -> dict:
    """Time of f, g and the sparse jacobian of 1400 torque rows."""
    robot = seven_axes()
    made = problem(robot)
    variables = made.variables(1.5)
    s = np.linspace(0.0, 1.0, POINTS)
    program = made.program(variables, s)
    theirs = by_pinocchio(robot, program, s)
    line = np.linspace(0.0, 1.0, COUNT)[:, None] * (0.5 + 0.1 * np.arange(robot.nv))
    x = variables.of(Curve(made.basis, line, 1.5))
    places = itertools.cycle([x, x * (1.0 + 1e-6)])  # another place each time, for the program keeps its last one

    def ours():
        at = next(places)
        return program.f(at), program.g(at), program.gradient(at), program.jacobian(at)

    _, g, by_points, by_time = theirs(x)
    np.testing.assert_allclose(program.g(x), g.ravel(), rtol=1e-9, atol=1e-12)
    J, K = np.zeros((program.m, program.n)), np.zeros((program.m, len(variables.lower)))
    J[program.jac_rows, program.jac_columns] = program.jacobian(x)
    start = made.basis.spans(s)
    for i, k, j, c in itertools.product(range(POINTS), range(robot.nv), range(DEGREE + 1), range(robot.nv)):
        K[i * robot.nv + k, (start[i] + j) * robot.nv + c] = by_points[i, k, j, c]
    K[:, -1] = by_time.ravel()
    np.testing.assert_allclose(J, K[:, variables.free], rtol=1e-8, atol=1e-9)
    with threadpool_limits(1):
        found = interleaved({"linkwise": ours, "pinocchio in a loop": lambda: theirs(x)}, rounds=9)
    times = {name: t["median"] for name, t in found.items()}
    times["ratio"] = times["pinocchio in a loop"] / times["linkwise"]
    print(
        f"first-order evaluation, 7 axes, {POINTS} points, {program.m} rows, {len(program.jac_rows)} slopes:"
        f" {1e6 * times['linkwise']:.0f} us, Pinocchio in a loop {1e6 * times['pinocchio in a loop']:.0f} us,"
        f" ratio {times['ratio']:.1f}"
    )
    return times


def solves() -> dict:
    """Whole solves of the RR arm with 20 control points, and the share of our functions."""
    found = {}
    for solver in ("scipy", "ipopt", "uno"):
        minimum_time(20, solver=solver, progress=False)  # compiled by now
        plan = minimum_time(20, solver=solver, progress=False)
        share = plan.facts["seconds_in_functions"] / plan.facts["seconds"]
        found[solver] = {"T": plan.duration, "seconds": plan.facts["seconds"], "share": share}
        print(
            f"RR, 20 control points, {solver:6} T = {plan.duration:.6f} s in {plan.facts['iterations']} iterations,"
            f" {1e3 * plan.facts['seconds']:.0f} ms, {100.0 * share:.0f} % of it in our functions"
        )
    return found


def run() -> dict:
    return {"first order": first_order(), "solves": solves()}


if __name__ == "__main__":
    run()
