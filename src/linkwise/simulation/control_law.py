"""What a control law inside a rollout is called with: vectors of traced numbers, and the robot's algorithms on them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import partial, partialmethod
from typing import Any

import numpy as np

from linkwise import algorithms, scalar
from linkwise.algorithms.algorithm import Algorithm
from linkwise.algorithms.environment import called
from linkwise.errors import InputError, UnknownNameError
from linkwise.kernel.closure import POSITIONS
from linkwise.kernel.options import Options
from linkwise.kernel.robot_tracing import trace_kernel
from linkwise.kernel.tracing import Program, inlined
from linkwise.robot.robot import Robot
from linkwise.scalar import Scalar

Control = Callable[..., Any]

# what NumPy calls the functions of `linkwise.scalar`
FUNCTIONS: dict[Any, Callable[..., Scalar]] = {
    np.sin: scalar.sin,
    np.cos: scalar.cos,
    np.sqrt: scalar.sqrt,
    np.exp: scalar.exp,
    np.tanh: scalar.tanh,
    np.arctan2: scalar.atan2,
    np.sign: scalar.sign,
    np.absolute: scalar.absolute,
    np.minimum: scalar.minimum,
    np.maximum: scalar.maximum,
}


def _applied(vector: Any, function: Callable[..., Scalar], *others: Any) -> Any:
    """The function applied to each number of a vector, and to those of the others beside it."""
    return _each(function, vector, *others)


class Vector(np.ndarray):
    """An array of traced numbers, with arithmetic, slices, `@`, sums, and the functions of NumPy and of `scalar`."""

    @classmethod
    def of(cls, values: Sequence[Scalar], shape: tuple[int, ...] = (-1,)) -> Vector:
        """The array of these numbers, row after row."""
        found = np.empty(len(values), dtype=object)
        found[:] = values
        return found.reshape(shape).view(cls)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [np.asarray(x) if isinstance(x, np.ndarray) else x for x in inputs]
        if ufunc in FUNCTIONS and method == "__call__" and not options:
            return _each(FUNCTIONS[ufunc], *plain)
        if "out" in options:
            options["out"] = tuple(np.asarray(x) for x in options["out"])
        return _viewed(getattr(ufunc, method)(*plain, **options))

    def clip(self, lower: Any = None, upper: Any = None, **options: Any) -> Any:  # type: ignore[override]
        """The same within bounds."""
        lower, upper = options.pop("min", lower), options.pop("max", upper)
        found = self if lower is None else _each(scalar.maximum, self, lower)
        return found if upper is None else _each(scalar.minimum, found, upper)

    # what the functions of `scalar` ask of what is not a number

    sin = partialmethod(_applied, scalar.sin)
    cos = partialmethod(_applied, scalar.cos)
    sqrt = partialmethod(_applied, scalar.sqrt)
    exp = partialmethod(_applied, scalar.exp)
    tanh = partialmethod(_applied, scalar.tanh)
    sign = partialmethod(_applied, scalar.sign)
    atan2 = partialmethod(_applied, scalar.atan2)
    minimum = partialmethod(_applied, scalar.minimum)
    maximum = partialmethod(_applied, scalar.maximum)
    less = partialmethod(_applied, scalar.less)
    where = partialmethod(_applied, scalar.where)

    def atan2_of(self, y: Any) -> Any:
        return _each(scalar.atan2, y, self)

    def greater(self, other: Any) -> Any:
        return _each(scalar.less, other, self)

    def choose(self, condition: Any, a: Any, b: Any) -> Any:  # type: ignore[override]
        return _each(scalar.where, condition, a, b)


def _each(function: Callable[..., Scalar], *inputs: Any) -> Any:
    """The function applied to each number, arrays broadcast."""
    plain = [np.asarray(x, dtype=object) for x in inputs]
    return _viewed(np.frompyfunc(function, len(plain), 1)(*plain))


def _viewed(found: Any) -> Any:
    return found.view(Vector) if isinstance(found, np.ndarray) and found.dtype == object else found


class Model:
    """The algorithms of a robot as functions of traced numbers, by the names that `lw.compile(robot)` has.

    `dyn.gravity_forces(q)` is a vector, `dyn.mass_matrix(q)` a matrix, `dyn.jacobian(q, "tool")` too. Several
    results come as a tuple. It knows the robot's own numbers, whatever a rollout takes for `parameters` and `gravity`:
    a controller has a model, not the robot.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self._programs: dict[Any, Program] = {}
        self._state: tuple[Sequence[Scalar], Sequence[Scalar]] = (), ()

    def where(self, q: Sequence[Scalar], followers: Sequence[Scalar]) -> Model:
        """The same for a state whose loops are closed by Newton's method, with what that found."""
        found = copy(self)
        found._state = q, followers
        return found

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(algorithms, name, None)
        if not isinstance(found, Algorithm):
            names = [n for n in dir(algorithms) if isinstance(getattr(algorithms, n), Algorithm)]
            raise UnknownNameError("function of dyn in control", name, names)
        return partial(self._run, found)

    def _run(self, algorithm: Algorithm, *inputs: Any, **static: Any) -> Any:
        if inputs and isinstance(inputs[-1], str):
            inputs, static = inputs[:-1], {**static, "frame": inputs[-1]}
        key = (algorithm.name, *sorted(static.items()))
        if key not in self._programs:
            self._programs[key] = trace_kernel(self.robot, algorithm, Options(), static)
        program = self._programs[key]
        ports = program.arguments
        flat = [np.ravel(np.asarray(x, dtype=object)).tolist() for x in inputs]
        if [len(x) for x in flat] != [p.size for p in ports]:
            wanted, got = (", ".join(map(str, x)) for x in ([f"{p.name}{p.shape}" for p in ports], map(len, flat)))
            raise InputError(f"dyn.{algorithm.name} in control: expected {wanted}, got {got or 'no'} numbers.")
        given = dict(zip((p.name for p in ports), flat, strict=True))
        if program.before:
            given |= {name: self._followers(algorithm, given) for name in program.before.hidden}
            program = replace(program, before=None)
        results = inlined(program, *(given[p.name] for p in program.inputs))
        outputs = zip(results, program.outputs, strict=True)
        found = tuple(Vector.of(x, port.shape) if port.shape else x[0] for x, port in outputs)
        return found[0] if len(found) == 1 else found

    def _followers(self, algorithm: Algorithm, given: dict[str, Any]) -> list[Scalar]:
        """What Newton's method found, for a function of the positions in which the robot is."""
        asked, (q, found) = next(given[name] for name in POSITIONS if name in given), self._state
        if any(a is not b for a, b in zip(asked, q, strict=False)):
            raise InputError(
                f"dyn.{algorithm.name} in control: expected the positions q that control is called with, got others:"
                f" loops of robot {self.robot.name!r} are closed by Newton's method, which runs once a step."
            )
        return list(found)


def torques(
    control: Control, model: Model, q: Sequence[Scalar], qd: Sequence[Scalar], u: Sequence[Scalar]
) -> list[Scalar]:
    """What a control asks for; one that has an argument `dyn` gets the model there."""
    known = {"dyn": model} if takes_model(control) else {}
    n, tau = model.robot.nu, called("control", control, *map(Vector.of, (q, qd, u)), **known)
    if not hasattr(tau, "__len__"):
        raise InputError(f"control: expected {n} torques, got {tau!r}.")
    found = list(tau)
    if len(found) != n or any(hasattr(x, "__len__") for x in found):
        got = len(found) if len(found) != n else f"an array of shape {np.shape(tau)}"
        raise InputError(f"control: expected {n} torques, got {got}.")
    return found


def takes_model(control: Control) -> bool:
    """Whether a control has an argument `dyn`."""
    try:
        return "dyn" in inspect.signature(control).parameters
    except (TypeError, ValueError):  # of what is not written in Python
        return False
