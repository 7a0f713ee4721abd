"""Steps between configurations as functions of a robot and arrays, as the last release had them under `lw`."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

import linkwise.algorithms as alg
from linkwise.algorithms.algorithm import Algorithm
from linkwise.kernel.compile import compile
from linkwise.kernel.kernel import Kernel
from linkwise.robot.robot import Robot

KEPT = 128  # kernels; those not used for long are traced again


@dataclass(frozen=True, repr=False)
class OfArrays(Algorithm):
    """An algorithm that is called with a robot and arrays whose leading axes broadcast; `compile` takes it too."""

    @classmethod
    def of(cls, algorithm: Algorithm) -> OfArrays:
        """The same algorithm, to be called so."""
        return cls(**{f.name: getattr(algorithm, f.name) for f in fields(algorithm)})

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "__module__", __name__)  # where pickle finds it

    def __call__(self, robot: Robot, *inputs: Any, **out: Any) -> Any:
        """Run the robot's kernel, compiled when it is first needed; `out=` works."""
        return _kernel(_Same(robot), self.name)(*inputs, **out)


class _Same:
    """A robot as the one object it is: comparing all that robots are made of costs more than a call."""

    __slots__ = ("robot",)

    def __init__(self, robot: Robot) -> None:
        self.robot = robot

    def __hash__(self) -> int:
        return id(self.robot)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.robot is other.robot


@lru_cache(maxsize=KEPT)
def _kernel(key: _Same, name: str) -> Kernel:
    return compile(key.robot, getattr(alg, name))


integrate = OfArrays.of(alg.integrate)
difference = OfArrays.of(alg.difference)
q_dot = OfArrays.of(alg.q_dot)
classical_acceleration = OfArrays.of(alg.classical_acceleration)
component_acceleration = OfArrays.of(alg.component_acceleration)
