"""Forces along a path as functions of the speed along it."""

from __future__ import annotations

from collections.abc import Sequence

from linkwise.algorithms.algorithm import Outputs, World, algorithm
from linkwise.algorithms.inverse_dynamics import inverse_dynamics
from linkwise.jet import Jet, is_zero, part
from linkwise.mechanism.machine import AnyMachine
from linkwise.mechanism.series import along_motion
from linkwise.scalar import Scalar, number

NU, NR = ("nu",), ("nr",)


@algorithm(
    inputs="q qd qdd qddd",
    outputs={"m": NU, "c": NU, "g": NU, "dm": NU, "dc": NU, "dg": NU},
    uses="gravity external",
    torques_only=True,
)
def path_forces(
    machine: AnyMachine,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    qddd: Sequence[Scalar],
    world: World,
) -> Outputs:
    """The parts of the torques along a path q(s), and their derivatives by s, friction left out.

        tau = m s_ddot + c s_dot^2 + g

    m = M q', c = M q'' + C(q, q') q', and g holds gravity, springs and external wrenches. Inverse dynamics is run on
    series in s, so that each part comes with its derivative.

    Args:
        machine: the robot.
        q: positions (nq).
        qd: q' (nv), the first derivative by s.
        qdd: q''.
        qddd: q'''.
        world: gravity, and external wrenches that stay as they are.
    """
    bare, none = machine.without_forces(), [0.0] * machine.nv
    at, first, second = along_motion(machine, (q, qd, qdd, qddd), 1)
    (m,) = inverse_dynamics.function(bare, at, none, first, world=World())
    (c,) = inverse_dynamics.function(bare, at, first, second, world=World())
    (g,) = inverse_dynamics.function(machine, at, none, none, world=world)
    return tuple([part(x, k) for x in values] for k in (0, 1) for values in (m, c, g))


@algorithm(inputs="q qd qdd dt", outputs={"friction": NU, "by_speed": NU, "by_place": NU}, torques_only=True)
def path_friction(
    machine: AnyMachine, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar], dt: Sequence[Scalar]
) -> Outputs:
    """The torques of friction and damping along a path at a speed s_dot, and their derivatives by s_dot and by s.

    Args:
        machine: the robot.
        q: positions (nq).
        qd: q' (nv).
        qdd: q''.
        dt: the speed s_dot, 1/s.
    """
    (speed,) = dt
    at, slope = along_motion(machine, (q, qd, qdd), 1)
    by_speed = _resistance(machine, q, [x * Jet([speed, 1.0]) for x in qd])
    by_place = _resistance(machine, at, [x * speed for x in slope])
    return [part(x) for x in by_speed], [part(x, 1) for x in by_speed], [part(x, 1) for x in by_place]


@algorithm(
    inputs="q qd qdd qddd", outputs={"parts": (10, "nu"), "slope": NR}, uses="gravity external", torques_only=True
)
def path_parts(
    machine: AnyMachine,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    qddd: Sequence[Scalar],
    world: World,
) -> Outputs:
    """The parts of the torques along a path with friction: the rows m, c, g, a, b and their derivatives by s; and q'.

        tau = m s_ddot + c s_dot^2 + g + a + b s_dot

    a + b s_dot is friction: exactly at the speeds 1 and 2, at all others where it is viscous and Coulomb friction. The
    slopes q' are those of all joints, those that follow too.
    """
    m, c, g, dm, dc, dg = path_forces.function(machine, q, qd, qdd, qddd, world)
    at, slope = along_motion(machine, (q, qd, qdd), 1)
    once, twice = (_resistance(machine, at, [x * speed for x in slope]) for speed in (1.0, 2.0))
    b = [y - x for x, y in zip(once, twice, strict=True)]
    a = [x - y for x, y in zip(once, b, strict=True)]
    friction = [[part(x, k) for x in values] for k in (0, 1) for values in (a, b)]
    every = machine.at(q).rates(qd)
    return [*m, *c, *g, *friction[0], *friction[1], *dm, *dc, *dg, *friction[2], *friction[3]], list(every)


@algorithm(inputs="q qd qdd qddd", outputs={"q_tree": ("nt",), "first": NR, "second": NR, "third": NR})
def path_joints(
    machine: AnyMachine, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar], qddd: Sequence[Scalar]
) -> Outputs:
    """Positions of all joints along a path, those that follow too, and three derivatives of them by s."""
    _, q_tree, first, second, third = machine.complete(q, qd, qdd, qddd)
    return [number(x) for x in q_tree], first, second, third


def _resistance(machine: AnyMachine, q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Scalar]:
    """What friction and damping take at each drive: the resistance of all joints less that at rest."""
    at = machine.at(q)
    rates, _ = at.led(qd, [0.0] * machine.nv)
    total: list[Scalar] = [0.0] * at.tree.nv
    none = [0.0] * at.tree.nv
    for body in at.tree.bodies[1:]:
        if body.is_single:
            total[body.v] += body.resistance(at.q, rates, none) - body.resistance(at.q, none, none)
    return list(at.drives(total)) if not all(map(is_zero, total)) else [0.0] * len(at.drive_rates(rates))
