"""Derivatives of any algorithm: which outputs by which inputs. The traced algorithm is differentiated when compiled."""

from __future__ import annotations

from typing import Any

from linkwise.algorithms.algorithm import INPUTS, Algorithm, Derivation, Shape
from linkwise.errors import InputError, UnknownNameError

# inputs that compile may add, each with what the algorithm must use for it
OPTIONS = {
    "f_ext": "external", "base_velocity": "base_motion", "base_acceleration": "base_motion",
    "parameters": "", "gravity": "gravity",
}  # fmt: skip


def derivation(base: Algorithm, *pairs: tuple[str, str]) -> Derivation:
    """The derivatives of outputs of `base` by inputs, in this order."""
    return Derivation(base, pairs)


def derivative(algorithm: Algorithm, *wrt: str, of: str | None = None) -> Algorithm:
    """The derivatives of an algorithm's outputs by its inputs, as an algorithm to compile.

    Each is named like dtau_dq and has the axes of the output, then those of the input. With respect to `q` they are
    taken along tangent vectors (nv): a floating joint's small motion in its own axes. Second derivatives are
    derivatives of derivatives.

        lw.compile(robot, lw.derivative(lw.inverse_dynamics, "f_ext", "parameters"), external="tool",
                   parameters=("hand.mass",))

    Args:
        algorithm: such as `lw.inverse_dynamics`.
        wrt: names of its inputs, or of those that options of `compile` add: f_ext, base_velocity, base_acceleration,
            parameters, gravity.
        of: one of its outputs; all without it.
    """
    if not isinstance(algorithm, Algorithm):
        raise InputError(f"derivative: expected an algorithm such as linkwise.inverse_dynamics, got {algorithm!r}.")
    if algorithm.grown or algorithm.rates:
        raise InputError(f"derivative: {algorithm.name} has rates of its inputs, which are not independent of them.")
    if not wrt:
        raise InputError(f"derivative of {algorithm.name}: expected names of inputs, got none.")
    valid = [*algorithm.inputs, *(name for name, use in OPTIONS.items() if not use or use in algorithm.uses)]
    for name in wrt:
        if name not in valid:
            raise UnknownNameError(f"input of {algorithm.name}", name, valid)
    if len(set(wrt)) < len(wrt):
        raise InputError(f"derivative of {algorithm.name}: expected each input once, got {wrt}.")
    if of is not None and of not in algorithm.outputs:
        raise UnknownNameError(f"output of {algorithm.name}", of, algorithm.outputs)
    pairs = [(output, x) for output in ([of] if of else algorithm.outputs) for x in wrt]
    outputs = {f"d{output}_d{x}": (*algorithm.outputs[output], *_axes(x)) for output, x in pairs}
    title = f"Derivatives of {algorithm.name}: {', '.join(outputs)}."
    derives = Derivation(algorithm, tuple(pairs), (*wrt, of))
    return Algorithm(
        f"{algorithm.name}_by_{'_'.join(wrt)}",
        _not_plain,
        algorithm.inputs,
        outputs,
        algorithm.uses,
        algorithm.torques_only,
        algorithm.static,
        f"{title}\n\n{algorithm.doc}",
        derives=derives,
        columns=derives,
    )


def _axes(name: str) -> Shape:
    """The axes of an input as tangent vectors have them; of options' inputs the name, whose shape compile knows."""
    if name in OPTIONS:
        return (name,)
    return tuple("nv" if axis == "nq" else axis for axis in INPUTS[name])


def by_graph_alone(name: str) -> InputError:
    """The answer to running such an algorithm in plain Python."""
    return InputError(f"{name} is taken by the graph and has no plain form: compile it with lw.compile.")


def _not_plain(*_: Any, **__: Any) -> Any:
    raise by_graph_alone("a derivative of another algorithm")
