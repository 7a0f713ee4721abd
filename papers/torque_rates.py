"""Torque rates of the Stanford arm, what they cost, and Newton-Euler beside the recursive Lagrangian method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from linkwise.algorithms.algorithm import Algorithm
from linkwise.algorithms.force_rates import force_rates
from linkwise.algorithms.inverse_dynamics import inverse_dynamics
from linkwise.algorithms.recursive_lagrangian import recursive_lagrangian
from linkwise.formats.registry import load
from linkwise.kernel.compile import compile
from linkwise.motion.trajectory import Array
from linkwise.peers.times import interleaved, states
from linkwise.robot.robot import Robot
from papers.experiments import Cell, Experiment, Picture, Table
from papers.forward_routes import general_chain
from papers.pictures import inline_svg, panels
from papers.stanford import joint_titles, published_motion, rates_along, sampling_errors

TOLERANCE = 1e-11  # of rates, relative to the largest
PRINTED = 2.462e-2  # N m/s, joint 1 at the shortest sampling time
ROTORS = (0.953, 2.193, 0.782, 0.106, 0.097, 0.02)  # kg m^2 or kg, Paul's actuator inertias
REGRESSION = (2.40222e-2, 2.46201e-2)  # of joint 1, without and with its rotor
STEPS = (1e-4, 1e-3, 1e-2)
JOINTS = range(2, 11)
BATCH = 4096
PUBLISHED_TIMES = (2.399e-5, 5.255e-5)  # s, tau alone, and with its rate
# published operations of tau and tau_dot of N joints: multiplications and additions, each a N + b
PUBLISHED = {
    "Guarino Lo Bianco, modified DH": ((309, -162), (268, -138)),
    "Guarino Lo Bianco and Fantini 2006, standard DH": ((327, -81), (274, -72)),
}
# and of tau alone by the two methods
PUBLISHED_TORQUES = {
    "Newton-Euler, Luh, Walker and Paul 1980": ((150, -48), (131, -48)),
    "recursive Lagrangian, 4 by 4, Hollerbach 1980": ((830, -592), (675, -464)),
}


def torque_rates() -> Experiment:
    """Torque rates of the Stanford arm, errors of differences, and costs, beside Guarino Lo Bianco's numbers."""
    reference, motion = published_motion()
    robot = load("stanford")
    driven = robot.replace(*(replace(j, armature=a) for j, a in zip(robot.joints, ROTORS, strict=True)))
    plain, with_rotors = (rates_along(r, motion) for r in (robot, driven))
    at = np.array([s["t"] for s in reference["samples"]])
    given = np.array([s["tau_dot"] for s in reference["samples"]])
    ours = plain(at)[1]
    worst = float(np.abs(ours - given).max() / np.abs(given).max())
    errors = {step: [sampling_errors(f, step, motion[2]) for f in (plain, with_rotors)] for step in STEPS}
    index = [float(e[0]) for e in errors[STEPS[0]]]
    counted, printed = operations(force_rates, 6), [a * 6 + b for a, b in PUBLISHED["Guarino Lo Bianco, modified DH"]]
    times = measured(robot)
    return Experiment(
        name="torque-rates",
        title="Rates of torques, and what they cost",
        source="Guarino Lo Bianco, sections III to V; Barman, chapters I and III, for Newton-Euler against Lagrange",
        finding=f"All rates agree with independent ones to {worst:.0e} of the largest. Torques and rates of six"
        f" general joints take {counted[0]} multiplications and {counted[1]} additions, published {printed[0]} and"
        f" {printed[1]}; on the Stanford arm {times['ratio']:.2f} times the time of torques alone, published"
        f" {PUBLISHED_TIMES[1] / PUBLISHED_TIMES[0]:.2f}.",
        text=(
            "The source carries absolute derivatives of all vectors. Here the rates of their components in the moving"
            " axes are carried, which need fewer operations: a body's wrench and its rate come from one and the same"
            " linear map, and the rate of a torque is a component of what is carried.",
            "The thesis of Barman rests on the statement that recursive Newton-Euler dynamics needs less computation"
            " than the recursive Lagrangian form with 4 by 4 matrices. Both are traced here and simplified alike.",
        ),
        tables=(
            _errors_table(robot, errors),
            _counts_table(),
            _times_table(times),
            _lagrangian_table(lagrangian_times()),
            _rates_table(robot.names, at, given, ours),
        ),
        pictures=(_picture(robot, motion[2], plain, at, given),),
        assumptions=(
            "Motion and arm are those of the experiment stanford; there it is said what the source leaves open.",
            "The rotors are Paul's actuator inertias of all joints. The source says that it neglects motors, but its"
            " one printed number is met in all digits with the rotor of joint 1.",
            "Chains for the counts are general: modified DH without zeros or right angles, full inertias, gravity, and"
            " a wrench on the last link with its rate. Ours are counted after constants are folded and base parameters"
            " taken; sines are not counted.",
            f"Times are CPU times of batches of {BATCH} states on one core, measured in turns in one process;"
            " the published ones were taken in Matlab on a PC of 1.4 GHz.",
        ),
        agrees=worst <= TOLERANCE
        and all(abs(a - b) < 1e-7 for a, b in zip(index, REGRESSION, strict=True))
        and all(a < b for a, b in zip(counted, printed, strict=True)),
    )


def operations(algorithm: Algorithm, joints: int, load: bool = True) -> tuple[int, int]:
    """Multiplications and additions of an algorithm for a general chain, with a wrench on its last link."""
    robot = general_chain(joints)
    count = compile(robot, algorithm, external=robot.links[-1].name if load else ()).count()
    return count["mul"], count["add"]


def fitted(algorithm: Algorithm, load: bool = True) -> tuple[tuple[int, int], ...]:
    """a and b of the multiplications aN + b, and of the additions, from the longest chains."""
    before, last = (operations(algorithm, n, load) for n in JOINTS[-2:])
    return tuple((y - x, y - (y - x) * JOINTS[-1]) for x, y in zip(before, last, strict=True))


def measured(robot: Robot, rounds: int = 9) -> dict[str, float]:
    """Nanoseconds a state of torques alone, of torques with rates, and the ratio of the two."""
    q, qd, qdd = states(robot, BATCH)
    alone, both = compile(robot, inverse_dynamics), compile(robot, force_rates)
    qddd = qdd[::-1].copy()
    tau, results = alone(q, qd, qdd), tuple(both(q, qd, qdd, qddd))
    candidates: dict[str, Callable[[], Any]] = {
        "tau": lambda: alone(q, qd, qdd, out=tau),
        "tau and tau_dot": lambda: both(q, qd, qdd, qddd, out=results),
    }
    found = {name: 1e9 * t["median"] / BATCH for name, t in interleaved(candidates, rounds).items()}
    return {**found, "ratio": found["tau and tau_dot"] / found["tau"]}


def lagrangian_times(joints: int = 6, rounds: int = 9) -> dict[str, float]:
    """Nanoseconds a state of inverse dynamics of a general chain by both methods."""
    robot = general_chain(joints)
    given = states(robot, BATCH)
    kernels = [compile(robot, a) for a in (inverse_dynamics, recursive_lagrangian)]
    out = kernels[0](*given)
    candidates: dict[str, Callable[[], Any]] = {k.algorithm.name: partial(k, *given, out=out) for k in kernels}
    return {name: 1e9 * t["median"] / BATCH for name, t in interleaved(candidates, rounds).items()}


def _errors_table(robot: Robot, errors: dict[float, list[Array]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for step, found in errors.items():
        for label, values in zip(("", "with rotors"), found, strict=True):
            published = f"{PRINTED}" if step == STEPS[0] and label else ""
            rows.append((f"{step:g} s" if not label else "", label, published, *map(float, values)))
    note = "The source prints joint 1 at 1e-4 s alone. N m/s, and N/s for the prismatic joint3."
    head = ("step", "", "published", *robot.names)
    return Table("Largest difference of tau_dot and the backward difference of tau", head, tuple(rows), note, 4)


def _line(terms: tuple[int, int]) -> str:
    return f"{terms[0]} N {terms[1]:+d}".replace("+", "+ ").replace("-", "- ")


def _counts_table() -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, (mul, add) in PUBLISHED.items():
        rows.append((name, _line(mul), _line(add), mul[0] * 6 + mul[1], add[0] * 6 + add[1]))
    mul, add = fitted(force_rates)
    rows.append(("ours, tau and tau_dot", _line(mul), _line(add), *operations(force_rates, 6)))
    mul, add = fitted(inverse_dynamics)
    rows.append(("ours, tau alone", _line(mul), _line(add), *operations(inverse_dynamics, 6)))
    count = compile(load("stanford"), force_rates).count()
    rows.append(("ours, tau and tau_dot of the Stanford arm", None, None, count["mul"], count["add"]))
    head = ("", "multiplications", "additions", "mult., N = 6", "add., N = 6")
    note = f"General chains of N revolute joints; ours, for N = {JOINTS[0]} to {JOINTS[-1]}, lie on the line from 3 on."
    return Table("Operations of torques and their rates", head, tuple(rows), note)


def _times_table(times: dict[str, float]) -> Table:
    published = [f"{1e6 * t:.2f} us" for t in PUBLISHED_TIMES]
    rows: tuple[tuple[Cell, ...], ...] = (
        ("tau", published[0], f"{times['tau']:.1f} ns"),
        ("tau and tau_dot", published[1], f"{times['tau and tau_dot']:.1f} ns"),
        ("ratio", f"{PUBLISHED_TIMES[1] / PUBLISHED_TIMES[0]:.2f}", f"{times['ratio']:.2f}"),
    )
    return Table("Time for one state of the Stanford arm", ("", "published", "ours"), rows)


def _lagrangian_table(times: dict[str, float]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, (mul, add) in PUBLISHED_TORQUES.items():
        rows.append((name, _line(mul), _line(add), mul[0] * 6 + mul[1], add[0] * 6 + add[1], None))
    for label, chosen in (("Newton-Euler, ours", inverse_dynamics), ("4 by 4 Lagrangian, ours", recursive_lagrangian)):
        mul, add = fitted(chosen, load=False)
        counts = operations(chosen, 6, load=False)
        rows.append((label, _line(mul), _line(add), *counts, f"{times[chosen.name]:.0f} ns"))
    head = ("", "multiplications", "additions", "mult., N = 6", "add., N = 6", "time, N = 6")
    note = "Torques alone of general chains without load; the published counts are of untraced programs."
    return Table("Newton-Euler beside the recursive Lagrangian form", head, tuple(rows), note)


def _rates_table(names: tuple[str, ...], at: Array, given: Array, ours: Array) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for time, published, found in zip(at, given, ours, strict=True):
        rows.append((f"{time:g} s", "reference", *map(float, published), None))
        rows.append(("", "ours", *map(float, found), float(np.abs(published - found).max())))
    head = ("time", "", *names, "largest difference")
    return Table("Rates at the reference times", head, tuple(rows), "N m/s, and N/s for the prismatic joint3.")


def _picture(
    robot: Robot, tf: float, rates: Callable[[Array], tuple[Array, Array]], at: Array, given: Array
) -> Picture:
    caption = "Rates of the torques along the motion, with the reference values as dots."
    t = np.linspace(0.0, tf, 401)
    titles = joint_titles(robot.joints, "N m/s", "N/s")
    curves = dict(zip(titles, rates(t)[1].T, strict=True))
    marks = {title: (at, values) for title, values in zip(titles, given.T, strict=True)}
    return Picture(caption, inline_svg(panels(t, curves, marks, "time, s", "reference"), "torque-rates", caption))
