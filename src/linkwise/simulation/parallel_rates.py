"""What an integrator of motions asks of a parallel robot: rates of its pose, accelerations, and where energy goes."""

from __future__ import annotations

from collections.abc import Sequence

from linkwise.algorithms.algorithm import Outputs
from linkwise.parallel.mechanics import Machine
from linkwise.parallel.quantities import accelerated
from linkwise.parallel.quantity import quantity
from linkwise.scalar import Scalar
from linkwise.simulation.rates import dissipation

PARALLEL_POWERS = ("control", "environment", "friction")  # friction is what it takes away


@quantity(
    inputs="pose velocity forces",
    outputs={"pose_dot": ("nq",), "acceleration": ("nv",), "power": (len(PARALLEL_POWERS),)},
    uses="gravity external",
)
def parallel_rates(
    machine: Machine, pose: Sequence[Scalar], velocity: Sequence[Scalar], forces: Sequence[Scalar]
) -> Outputs:
    """Rates of the pose, the platform's acceleration, and the powers of `PARALLEL_POWERS`.

    d/dt (kinetic + potential energy) = control + environment - friction
    """
    acceleration, places, motions = accelerated(machine, pose, velocity, forces)
    given = iter(forces)
    control: Scalar = 0.0
    friction: Scalar = 0.0
    for place, moving in zip(places, motions, strict=True):
        for k in place.model.active:
            control = control + next(given) * moving.qd[k]
        for body in place.model.tree.bodies[1:]:
            friction = friction + dissipation(body, moving.qd)
    environment = machine.external.power(machine.motion.motion(velocity))
    return machine.motion.rate(pose, velocity), acceleration, [control, environment, friction]
