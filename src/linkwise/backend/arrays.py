"""The interpreter over whole batches with NumPy: for machines without LLVM, and for programs with empty arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from linkwise.graph.program import Program

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "exp": np.exp,
    "tanh": np.tanh,
    "sign": np.sign,
    "abs": np.abs,
    "less": lambda a, b: np.less(a, b).astype(float),
    "where": lambda c, a, b: np.where(c != 0.0, a, b),
}


def function(program: Program) -> Callable[..., Any]:
    """A callable with the manners of a generalised ufunc: leading axes broadcast, `out=` is filled."""
    uses: dict[int, int] = {}
    for k, n in enumerate(program.schedule):
        for a in n.args:
            uses[a.index] = k
    kept = {n.index for group in program.results for n in group}
    dying: dict[int, list[int]] = {}
    for index, k in uses.items():
        if index not in kept:
            dying.setdefault(k, []).append(index)

    def call(*inputs: Any, out: Any = None) -> Any:
        arrays = []
        for port, given in zip(program.inputs, inputs, strict=True):
            array = np.asarray(given)
            if not np.can_cast(array.dtype, np.float64, "safe"):
                raise TypeError(f"cannot cast {port.name} from {array.dtype} to float64")
            rank = len(port.shape)
            if array.ndim < rank or array.shape[array.ndim - rank :] != port.shape:
                raise ValueError(f"{port.name} has shape {array.shape}, which does not end in {port.shape}")
            arrays.append(array.astype(float, copy=False))
        batch = np.broadcast_shapes(
            *(a.shape[: a.ndim - len(p.shape)] for a, p in zip(arrays, program.inputs, strict=True))
        )
        results = targets(program, batch, out)
        if out is not None:  # an output may be one of the inputs
            arrays = [a.copy() if any(np.may_share_memory(a, r) for r in results) else a for a in arrays]
        value: dict[int, Any] = {}
        for leaves, array, port in zip(program.leaves, arrays, program.inputs, strict=True):
            flat = array.reshape(*array.shape[: array.ndim - len(port.shape)], port.size)
            value.update({n.index: flat[..., k] for k, n in enumerate(leaves)})
        with np.errstate(all="ignore"):
            for k, n in enumerate(program.schedule):
                value[n.index] = FUNCTIONS[n.op](*[a.value if a.op == "const" else value[a.index] for a in n.args])
                for index in dying.get(k, ()):
                    value.pop(index, None)
        for result, group, port in zip(results, program.results, program.outputs, strict=True):
            for place, n in zip(np.ndindex(port.shape), group, strict=True):
                result[(..., *place)] = n.value if n.op == "const" else value[n.index]
        final = [r[()] if out is None else r for r in results]
        return final[0] if len(final) == 1 else tuple(final)

    return call


def targets(program: Program, batch: tuple[int, ...], out: Any) -> list[Any]:
    """The arrays to fill: those given as `out`, by the rules of a ufunc, or new ones."""
    given = out if isinstance(out, tuple) else (out,) * (len(program.outputs) if out is None else 1)
    if len(given) != len(program.outputs):
        raise ValueError(f"out has {len(given)} arrays, expected {len(program.outputs)}")
    for port, target in zip(program.outputs, given, strict=True):
        if target is None:
            continue
        shape = (*batch, *port.shape)
        if not isinstance(target, np.ndarray) or target.shape != shape:
            raise ValueError(f"out for {port.name} has no shape {shape}")
        if not np.can_cast(np.float64, target.dtype, "same_kind"):
            raise TypeError(f"cannot cast {port.name} from float64 to {target.dtype}")
        if not target.flags.writeable:
            raise ValueError(f"out for {port.name} is read-only")
    return [np.empty((*batch, *p.shape)) if o is None else o for o, p in zip(given, program.outputs, strict=True)]
