"""Functions of configurations that are closed already: kernels, compiled when they are first called."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.algorithms.integration import difference, integrate
from linkwise.closed.kernels import ClosedKernel
from linkwise.closed.questions import QUESTIONS
from linkwise.errors import UnknownNameError
from linkwise.kernel.kernel import Kernel
from linkwise.kernel.options import Options
from linkwise.mechanism.structure import Structure
from linkwise.robot.robot import Robot


class Assembled:
    """Kernels that take positions `q` (nq) of the whole tree, which must close the loops; the fast path.

    The names are those of `QUESTIONS`: closure, rates, drift, motion, jerks, velocity_map, inverse_dynamics, reactions,
    drives, joint_wrenches, force_rates, joint_wrench_rates, mass_matrix, bias_forces, forward_dynamics,
    multiplier_dynamics, share, inverse_dynamics_derivatives, and the steps newton, nearby and hold of the solver.
    """

    def __init__(self, robot: Robot, options: Options, structure: Structure) -> None:
        self.robot, self.options, self.structure = robot, options, structure

    def __getattr__(self, name: str) -> ClosedKernel:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in QUESTIONS:
            raise _Unknown(str(UnknownNameError("function of closed configurations", name, QUESTIONS)))
        kernel = ClosedKernel.ask(self.robot, self.options, self.structure.part, name)
        self.__dict__[name] = kernel
        return kernel

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *QUESTIONS]

    @cached_property
    def independent(self) -> list[int]:
        """Places of the independent coordinates in `qd`."""
        return list(self.structure.part.independent)

    @cached_property
    def places(self) -> NDArray[np.intp]:
        """Places of the independent positions in `q`."""
        slots = [self.robot.opened().slots[n] for n in self.structure.independent]
        return np.array([s.q + k for s in slots for k in range(s.nq)], dtype=int)

    @cached_property
    def passive(self) -> list[int]:
        """Places of the passive coordinates in `qd`."""
        return list(self.structure.part.passive)

    @cached_property
    def reach(self) -> NDArray[np.float64]:
        """How far a passive coordinate may go for a turn of one radian: 1, or the mechanism's size for a length."""
        sliding = {j.name for j in self.robot.joints if j.freedom.slides}
        sizes = {
            n: [self.structure.part.size if n in sliding else 1.0] * s.nv for n, s in self.robot.opened().slots.items()
        }
        return np.array([x for n in self.structure.passive for x in sizes[n]])

    @cached_property
    def difference(self) -> Callable[..., Any]:
        """(q0, q1) -> the velocity that leads from one to the other in unit time."""
        return Kernel.of(self.robot.opened(), difference, Options(), {})

    @cached_property
    def integrate(self) -> Callable[..., Any]:
        """(q, qd, dt) -> q after that time at constant velocity."""
        return Kernel.of(self.robot.opened(), integrate, Options(), {})

    def __reduce__(self) -> Any:
        return Assembled, (self.robot, self.options, self.structure)


class _Unknown(UnknownNameError, AttributeError):
    """An unknown name that `hasattr` understands."""

    def __init__(self, message: str) -> None:
        ValueError.__init__(self, message)
