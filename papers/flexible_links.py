"""Links that bend, as chains of rigid pieces with springs: against Euler and Bernoulli's beam, at rest and turning."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np

from linkwise.figures import COLOURS, style
from linkwise.kernel.compile import compile
from linkwise.kernel.dynamics import Dynamics
from linkwise.motion.trajectory import Array
from linkwise.robot.beam import beam
from linkwise.robot.joint import Joint
from linkwise.robot.link import Link
from linkwise.robot.robot import Robot
from linkwise.vector import EZ
from papers.experiments import Cell, Experiment, Picture, Table
from papers.pictures import inline_svg

LENGTH, MASS, RIGIDITY = 1.3, 0.8, 25.0  # m, kg, N m^2
SEGMENTS = (5, 10, 20, 40)
WHIRL = 40  # segments of the beam that turns
MODES = 3
UNIT = np.sqrt(RIGIDITY / (MASS * LENGTH**3))  # rad/s, of which the numbers without dimension are multiples
SPEEDS = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0)
# lowest frequency of flapping by the speed of the root, both in that unit: Wright and others 1982, without offset
PUBLISHED = {0.0: 3.5160, 1.0: 3.6816, 2.0: 4.1373, 3.0: 4.7973, 4.0: 5.5850, 5.0: 6.4495, 6.0: 7.3604, 8.0: 9.2568,
             10.0: 11.2023, 12.0: 13.1702}  # fmt: skip
POWERS = 14  # of the independent solution


def frequencies(segments: int, speed: float = 0.0) -> Array:
    """Lowest frequencies of flapping of a beam whose root turns about z, in `UNIT`, from compiled derivatives."""
    dyn = rotor(segments)
    n, qd = dyn.robot.nv, np.zeros(dyn.robot.nv)
    qd[0] = speed * UNIT
    found = dyn.inverse_dynamics_derivatives(np.zeros(n), qd, np.zeros(n))
    K, M = (np.asarray(x)[1:, 1:] for x in (found.dtau_dq, found.M))
    return np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real)[:MODES]) / UNIT


@cache
def rotor(segments: int) -> Dynamics:
    """A beam that bends about y alone on a root that turns about z, without gravity."""
    blade = beam(LENGTH, MASS, bending=(RIGIDITY, 0.0), segments=segments)
    hub = Robot([Link("ground"), Link("hub")], [Joint("spin", "ground", "hub", axis=EZ)], gravity=(0, 0, 0))
    return compile(hub.attach(blade, at="hub", prefix="blade_"))


def by_powers(speed: float = 0.0) -> Array:
    """The same by Ritz's method with powers of x for the shape: an independent solution of the continuous beam.

    V = 1/2 integral of w''^2 + speed^2 (1 - x^2)/2 w'^2,  T = 1/2 integral of w_dot^2,  0 <= x <= 1
    """
    x, weight = np.polynomial.legendre.leggauss(4 * POWERS)
    x, weight = 0.5 * (x + 1.0), 0.5 * weight
    # Legendre's polynomials times x^2, which are clamped at the root
    shapes = [np.polynomial.Polynomial([0.0, 0.0, 1.0]) * _legendre(k) for k in range(POWERS)]
    w, bent, slope = (np.array([s.deriv(k)(x) if k else s(x) for s in shapes]) for k in (0, 2, 1))
    pull = 0.5 * speed**2 * (1.0 - x**2)
    K, M = (bent * weight) @ bent.T + (slope * weight * pull) @ slope.T, (w * weight) @ w.T
    return np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real)[:MODES])


def _legendre(k: int) -> np.polynomial.Polynomial:
    """Legendre's polynomial of degree k on [0, 1]."""
    return np.polynomial.Legendre.basis(k, domain=[0.0, 1.0]).convert(kind=np.polynomial.Polynomial)


def sag(segments: int, force: float = 1e-3) -> float:
    """Deflection of the tip under a small force, over F L^3 / 3 EI."""
    robot = beam(LENGTH, MASS, bending=(RIGIDITY, 0.0), segments=segments, gravity=(0.0, 0.0, 0.0))
    dyn = compile(robot)
    soft = [joint.spring.stiffness for joint in robot.joints if joint.spring]
    bent = np.asarray(dyn.jacobian(robot.q(), "tip"))[2] * force / np.array(soft)
    return float(dyn.pose(bent, "tip")[2, 3] / (force * LENGTH**3 / (3.0 * RIGIDITY)))


def flexible_links() -> Experiment:
    """A slender link as rigid pieces with springs, against the beam of Euler and Bernoulli, still and turning."""
    still = by_powers()
    found = {n: (frequencies(n), sag(n)) for n in SEGMENTS}
    errors = {n: np.abs(f / still - 1.0) for n, (f, _) in found.items()}
    order = float(np.log2(errors[SEGMENTS[-2]][0] / errors[SEGMENTS[-1]][0]))
    turning = {speed: (frequencies(WHIRL, speed)[0], by_powers(speed)[0]) for speed in SPEEDS}
    off = max(abs(ours / true - 1.0) for ours, true in turning.values())
    witness = max(abs(true - PUBLISHED[speed]) for speed, (_, true) in turning.items())
    return Experiment(
        name="flexible-links",
        title="Links that bend",
        source="Khalil, section 8, which names flexible links as the next step; Wright and others, Journal of Applied"
        " Mechanics 49 (1982), for the beam that turns",
        finding=f"With {SEGMENTS[1]} pieces the lowest frequency is off by {errors[SEGMENTS[1]][0]:.1%}; the error"
        f" falls with the power {order:.1f} of their length. On a root that turns, centrifugal forces stiffen the"
        f" beam as published, to {off:.1%} with {WHIRL} pieces.",
        text=(
            "A slender link is cut into rigid pieces with springs between them, joints of an ordinary robot: no new"
            " equations, and every function of a robot has it. Frequencies are those of the compiled derivatives of"
            " the torques, dtau/dq and the mass matrix.",
            "On a root that turns, stiffness from centrifugal forces is in dtau/dq by itself. Linear models of flexible"
            " links lose it unless it is put in by hand.",
        ),
        tables=(_still_table(found, still), _turning_table(turning)),
        pictures=(_picture(errors, turning),),
        assumptions=(
            f"The beam is invented: {LENGTH} m, {MASS} kg, E I = {RIGIDITY:g} N m^2, without thickness.",
            "The independent solution is Ritz's method on the continuous beam; it agrees with the published numbers to"
            f" {witness:.0e}, which is their rounding.",
        ),
        agrees=abs(order - 2.0) < 0.1 and errors[SEGMENTS[1]][0] < 5e-3 and off < 2e-3 and witness < 2e-4,
    )


def _still_table(found: Mapping[int, tuple[Array, float]], still: Array) -> Table:
    rows: list[tuple[Cell, ...]] = [(f"{n} pieces", *map(float, f), tip) for n, (f, tip) in found.items()]
    rows.append(("Euler and Bernoulli", *map(float, still), 1.0))
    head = ("", *(f"mode {k + 1}" for k in range(MODES)), "sag of the tip over F L^3 / 3 EI")
    return Table("A clamped beam at rest", head, tuple(rows), "Frequencies over sqrt(EI / (m L^3)).", digits=5)


def _turning_table(turning: Mapping[float, tuple[float, float]]) -> Table:
    rows = tuple((f"{speed:g}", PUBLISHED[speed], float(true), float(ours)) for speed, (ours, true) in turning.items())
    head = ("speed of the root", "published", "Ritz's method", f"ours, {WHIRL} pieces")
    note = "Lowest frequency across the plane of turning, and speeds, over sqrt(EI / (m L^3))."
    return Table("A beam whose root turns", head, rows, note, digits=5)


def _picture(errors: Mapping[int, Array], turning: Mapping[float, tuple[float, float]]) -> Picture:
    from matplotlib.figure import Figure

    caption = (
        "Left, errors of the three lowest frequencies against the number of pieces; right, the lowest frequency against"
        " the speed of the root, with published values as dots."
    )
    with style():
        figure = Figure(figsize=(9.0, 3.2), layout="constrained")
        left, right = figure.subplots(1, 2)
        for k in range(MODES):
            left.loglog(list(errors), [e[k] for e in errors.values()], marker="o", ms=4, color=COLOURS[k],
                        label=f"mode {k + 1}")  # fmt: skip
        left.set(xlabel="pieces", ylabel="relative error")
        left.set_xticks(list(errors), [str(n) for n in errors])
        left.xaxis.minorticks_off()
        left.yaxis.set_major_formatter("{x:g}")
        left.legend()
        right.plot(list(turning), [ours for ours, _ in turning.values()], color=COLOURS[0], label="ours")
        right.plot(
            list(PUBLISHED), list(PUBLISHED.values()), ls="", marker="o", ms=4, color=COLOURS[1], label="published"
        )
        right.set(xlabel="speed of the root", ylabel="lowest frequency", ylim=(0.0, None))
        right.legend(loc="lower right")
    return Picture(caption, inline_svg(figure, "flexible-links", caption))
