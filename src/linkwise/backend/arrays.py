"""The interpreter over whole batches with NumPy: for machines without LLVM, and for programs with empty arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from linkwise.backend import memory
from linkwise.graph.iteration import Before
from linkwise.graph.op import FARTHEST
from linkwise.graph.program import Port, Program


def _near(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Sine or cosine as native code has them: NaN far out, where the angle modulo a turn is lost."""
    return lambda x: function(np.where(np.abs(x) < FARTHEST[x.dtype.name], x, x.dtype.type(np.nan)))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "sqrt": np.sqrt,
    "sin": _near(np.sin),
    "cos": _near(np.cos),
    "exp": np.exp,
    "tanh": np.tanh,
    "atan2": np.arctan2,
    "sign": np.sign,
    "abs": np.abs,
    "min": np.minimum,
    "max": np.maximum,
    "less": lambda a, b: np.less(a, b).astype(np.result_type(a, b)),
    "where": lambda c, a, b: np.where(c != 0.0, a, b),
}


def _operations(program: Program) -> Callable[[dict[int, Any]], None]:
    """What takes the values of inputs, by node index, and adds those of results; others are dropped after their use."""
    number = np.dtype(program.dtype).type
    uses: dict[int, int] = {}
    for k, n in enumerate(program.schedule):
        for a in n.args:
            uses[a.index] = k
    kept = {n.index for group in program.results for n in group}
    dying: dict[int, list[int]] = {}
    for index, k in uses.items():
        if index not in kept:
            dying.setdefault(k, []).append(index)

    def once(value: dict[int, Any]) -> None:
        for k, n in enumerate(program.schedule):
            value[n.index] = FUNCTIONS[n.op](*[number(a.value) if a.op == "const" else value[a.index] for a in n.args])
            for index in dying.get(k, ()):
                value.pop(index, None)

    return once


def function(program: Program) -> Callable[..., Any]:
    """A callable with the manners of a generalised ufunc: leading axes broadcast, `out=` is filled."""
    once, loop = _operations(program), _turns(program, program.before) if program.before else None
    groups = [g for g, p in zip(program.leaves, program.inputs, strict=True) if p in program.arguments]

    def call(*inputs: Any, out: Any = None) -> Any:
        ports = program.arguments
        arrays = [checked(port, given, program.dtype) for port, given in zip(ports, inputs, strict=True)]
        batch = np.broadcast_shapes(*(a.shape[: a.ndim - p.rank] for a, p in zip(arrays, ports, strict=True)))
        count = {a.shape[a.ndim - p.rank] for a, p in zip(arrays, ports, strict=True) if p.steps}
        if len(count) > 1:
            raise ValueError(f"inputs have different numbers of steps: {sorted(count)}")
        steps = count.pop() if count else 1
        results = targets(program, batch, out, steps)
        if out is not None:  # an output may be one of the inputs
            arrays = [a.copy() if any(np.may_share_memory(a, r) for r in results) else a for a in arrays]
        start: dict[int, Any] = {}
        streams = []
        for leaves, array, port in zip(groups, arrays, ports, strict=True):
            flat = array.reshape(*array.shape[: array.ndim - len(port.shape)], port.size)
            if port.steps:
                streams.append((leaves, flat))
            else:
                start.update({n.index: flat[..., k] for k, n in enumerate(leaves)})
        with np.errstate(all="ignore"):
            for step in range(steps):
                value = dict(start)
                for leaves, flat in streams:
                    value.update({n.index: flat[..., step, k] for k, n in enumerate(leaves)})
                if loop:
                    loop(value, batch)
                once(value)
                _store(program, results, value, step, steps)
                for source, target in program.carries:
                    for n, leaf in zip(program.results[source], program.leaves[target], strict=True):
                        start[leaf.index] = n.value if n.op == "const" else value[n.index]
        final = [r[()] if out is None else r for r in results]
        return final[0] if len(final) == 1 else tuple(final)

    return call


def _turns(program: Program, before: Before) -> Callable[[dict[int, Any], tuple[int, ...]], None]:
    """What runs the loop before a program: it adds the values of the inputs that the loop gives, by node index."""
    body, once = before.body, _operations(before.body)
    leaves = {p.name: group for p, group in zip(program.inputs, program.leaves, strict=True)}
    carried = body.leaves[: len(before.start)]

    def run(value: dict[int, Any], batch: tuple[int, ...]) -> None:
        shared: dict[int, Any] = {}
        for port, group in zip(before.shared, body.leaves[len(before.start) :], strict=True):
            shared.update({n.index: value[m.index] for n, m in zip(group, leaves[port.name], strict=True)})
        held: dict[int, Any] = {}
        for group, start in zip(carried, before.start, strict=True):
            begin = [value[m.index] for m in leaves[start]] if isinstance(start, str) else np.array(start, body.dtype)
            held.update({n.index: np.broadcast_to(x, batch) for n, x in zip(group, begin, strict=True)})
        going = np.ones(batch, bool)
        for _ in range(before.most):
            found = {**shared, **held}
            once(found)
            *after, (left,) = [[n.value if n.op == "const" else found[n.index] for n in g] for g in body.results]
            for group, values in zip(carried, after, strict=True):  # rows that are done keep theirs
                held.update({n.index: np.where(going, x, held[n.index]) for n, x in zip(group, values, strict=True)})
            going = going & (left != 0.0) & (left == left)
            if not going.any():
                break
        for k, name in before.gives:
            for n, m in zip(carried[k], leaves[name], strict=True):
                value[m.index] = np.where(going, np.nan, held[n.index])

    return run


def refuse_masks(inputs: Iterable[Any]) -> None:
    """Refuse masked numbers: NumPy would pass a mask on place by place, whatever a result depends on."""
    for x in inputs:
        if hasattr(x, "mask") and isinstance(x, np.ma.MaskedArray) and np.ma.is_masked(x):
            raise ValueError("masked numbers")


def castable(given: Any, dtype: str) -> bool:
    """Whether a kernel takes numbers of one kind for its own: shorter ones, and for float32 all that are real."""
    return np.can_cast(given, dtype, "safe" if dtype == "float64" else "same_kind")


def checked(port: Port, given: Any, dtype: str) -> Any:
    """An input as an array of the kernel's numbers, by the rules of a ufunc."""
    refuse_masks((given,))
    array = np.asarray(given)
    if not castable(array.dtype, dtype):
        raise TypeError(f"cannot cast {port.name} from {array.dtype} to {dtype}")
    if not port.fits(array.shape):
        raise ValueError(f"{port.name} has shape {array.shape}, which does not end in {port.shape}")
    return array.astype(dtype, copy=False)


def _store(program: Program, results: list[Any], value: dict[int, Any], step: int, steps: int) -> None:
    for result, group, port in zip(results, program.results, program.outputs, strict=True):
        every = steps // result.shape[result.ndim - port.rank] if port.thinned else 1
        if (step + 1) % every:
            continue
        for place, n in zip(np.ndindex(port.shape), group, strict=True):
            at = (..., step // every, *place) if port.steps else (..., *place)
            result[at] = n.value if n.op == "const" else value[n.index]


def targets(program: Program, batch: tuple[int, ...], out: Any, steps: int = 0) -> list[Any]:
    """The arrays to fill: those given as `out`, by the rules of a ufunc, or new ones."""
    given = out if isinstance(out, tuple) else (out,) * (len(program.outputs) if out is None else 1)
    if len(given) != len(program.outputs):
        raise ValueError(f"out has {len(given)} arrays, expected {len(program.outputs)}")
    kept = [_kept(p, target, len(batch), steps) for p, target in zip(program.outputs, given, strict=True)]
    shapes = [(*batch, *([count] if p.steps else []), *p.shape) for p, count in zip(program.outputs, kept, strict=True)]
    for port, target, shape in zip(program.outputs, given, shapes, strict=True):
        if target is None:
            continue
        if not isinstance(target, np.ndarray) or target.shape != shape:
            raise ValueError(f"out for {port.name} has no shape {shape}")
        if not np.can_cast(program.dtype, target.dtype, "same_kind"):
            raise TypeError(f"cannot cast {port.name} from {program.dtype} to {target.dtype}")
        if not target.flags.writeable:
            raise ValueError(f"out for {port.name} is read-only")
    return [memory.empty(shape, program.dtype) if o is None else o for o, shape in zip(given, shapes, strict=True)]


def _kept(port: Port, target: Any, axis: int, steps: int) -> int:
    """How many steps are kept of an output: of a thinned one as many as its array has room for."""
    if not port.thinned or not isinstance(target, np.ndarray) or target.ndim <= axis:
        return steps
    count = target.shape[axis]
    if count < 1 or steps % count:
        raise ValueError(f"out for {port.name} has room for {count} rows, which {steps} steps are no multiple of")
    return count
