"""Programs as functions of JAX: one primitive that runs a program, and whose derivatives are programs again.

`jit`, `vmap`, `grad`, `jvp` and their combinations follow from four rules: how it is lowered, batched, pushed forward
and transposed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from linkwise.backend import jax_target
from linkwise.backend.call import explanation, result_of
from linkwise.backend.differentiable import Differentiable
from linkwise.errors import InputError, UnknownNameError
from linkwise.files import required
from linkwise.graph.inline import WRITTEN, inlined
from linkwise.graph.program import Program

LOWERINGS = ("native", "xla", "callback")


def function(program: Program, lower: str, doc: str) -> Callable[..., Any]:
    """The program as a function of arrays of JAX, with the names of its inputs."""
    required("jax", "jax")
    if lower not in LOWERINGS:
        raise UnknownNameError("lowering", lower, LOWERINGS)
    if program.repeated:
        raise InputError(f"jax: expected a function of one state, got {program.name}, which runs in steps.")
    if lower == "xla" and program.before:
        raise InputError(
            f"jax: {program.name} closes loops by Newton's method, which expressions of XLA cannot hold."
            " Use lower='native', which calls the compiled function and has its derivatives."
        )
    if lower == "native":
        jax_target.check()
    whole, result = Differentiable(program), result_of(program) if len(program.outputs) > 1 else None

    def call(*inputs: Any, **named: Any) -> Any:
        found = _bind(whole, lower, _arguments(whole, inputs, named))
        return result(*found) if result else found[0]

    call.__name__ = call.__qualname__ = program.name
    call.__doc__ = doc
    return call


def _arguments(whole: Differentiable, inputs: Sequence[Any], named: dict[str, Any]) -> list[Any]:
    """The arguments in order, as arrays of the program's kind."""
    jnp, program = required("jax.numpy", "jax"), whole.program
    if required("jax", "jax").dtypes.canonicalize_dtype(program.dtype) != program.dtype:
        raise InputError(
            f"{program.name}: this kernel computes in {program.dtype}, which JAX has switched off. Call"
            " jax.config.update('jax_enable_x64', True) first, or compile the kernel with dtype='float32'."
        )
    given = whole.in_order(inputs, named)
    try:
        arrays = [jnp.asarray(x) for x in given]
        real = not any(jnp.iscomplexobj(x) for x in arrays)
    except (TypeError, ValueError, Warning) as error:
        raise explanation(program, error, given, None) from None
    if not real:
        raise explanation(program, TypeError(), given, None)
    arrays = [x.astype(program.dtype) for x in arrays]
    for port, x in zip(program.arguments, arrays, strict=True):
        if not port.fits(x.shape):
            raise explanation(program, ValueError(), [np.broadcast_to(np.zeros(()), x.shape) for x in arrays], None)
    return arrays


def _bind(whole: Differentiable, lower: str, arrays: Sequence[Any]) -> list[Any]:
    """The primitive on arrays with leading axes that broadcast: each has all of them, or none."""
    jnp = required("jax.numpy", "jax")
    ports = whole.program.arguments
    leads = [x.shape[: x.ndim - p.rank] for p, x in zip(ports, arrays, strict=True)]
    try:
        batch = np.broadcast_shapes(*leads)
    except ValueError:
        raise explanation(whole.program, ValueError(), [np.broadcast_to(0.0, x.shape) for x in arrays], None) from None
    spread = [
        x if lead in ((), batch) else jnp.broadcast_to(x, (*batch, *p.shape))
        for p, x, lead in zip(ports, arrays, leads, strict=True)
    ]
    return list(_primitive().bind(*spread, whole=whole, lower=lower))


@cache
def _primitive() -> Any:
    """The primitive with its rules."""
    jax: Any = required("jax", "jax")
    ad, batching, mlir = (required(f"jax.interpreters.{name}", "jax") for name in ("ad", "batching", "mlir"))
    primitive: Any = required("jax.extend.core", "jax").Primitive("linkwise")
    primitive.multiple_results = True

    def shapes(*avals: Any, whole: Differentiable, lower: str) -> list[Any]:
        leads = [a.shape[: a.ndim - p.rank] for p, a in zip(whole.program.arguments, avals, strict=True)]
        batch = np.broadcast_shapes(*leads)
        kind = np.dtype(whole.program.dtype)
        return [jax.core.ShapedArray((*batch, *p.shape), kind) for p in whole.program.outputs]

    @cache
    def alone(whole: Differentiable, lower: str) -> Any:
        return jax.jit(partial(primitive.bind, whole=whole, lower=lower))

    def push(primals: Any, tangents: Any, *, whole: Differentiable, lower: str) -> Any:
        wrt = tuple(k for k, t in enumerate(tangents) if type(t) is not ad.Zero)
        changes = _bind(whole.forward(wrt), lower, [*primals, *(tangents[k] for k in wrt)])
        return _bind(whole, lower, primals), changes

    def transpose(weights: Any, *inputs: Any, whole: Differentiable, lower: str) -> Any:
        wrt = tuple(k for k, x in enumerate(inputs) if ad.is_undefined_primal(x))
        back = whole.transposed(wrt)
        batch = np.broadcast_shapes(
            *(_shape(x)[: len(_shape(x)) - p.rank] for p, x in zip(whole.program.arguments, inputs, strict=True))
        )
        filled = [
            jax.numpy.zeros((*batch, *p.shape), p_type(whole)) if type(w) is ad.Zero else w
            for p, w in zip(whole.program.outputs, weights, strict=True)
        ]
        found = iter(_bind(back, lower, whole.given_to(back, inputs, filled)))
        return [_summed(next(found), _shape(inputs[k])) if k in wrt else None for k in range(len(inputs))]

    def batched(arrays: Any, axes: Any, *, whole: Differentiable, lower: str) -> Any:
        ports = whole.program.arguments
        own = max(x.ndim - p.rank - (a is not None) for p, x, a in zip(ports, arrays, axes, strict=True))
        moved = []
        for p, x, a in zip(ports, arrays, axes, strict=True):
            if a is not None:
                x = jax.numpy.moveaxis(x, a, 0)
                x = x.reshape(x.shape[0], *(1,) * (own + p.rank + 1 - x.ndim), *x.shape[1:])
            moved.append(x)
        return _bind(whole, lower, moved), [0] * len(whole.program.outputs)

    def p_type(whole: Differentiable) -> Any:
        return np.dtype(whole.program.dtype)

    def native(context: Any, *operands: Any, whole: Differentiable, lower: str) -> Any:
        if lower == "native":
            return jax.ffi.ffi_lowering(jax_target.name(whole.program))(context, *operands)
        replayed = _replayed if lower == "xla" else _called
        return mlir.lower_fun(partial(replayed, whole), multiple_results=True)(context, *operands)

    def anywhere(context: Any, *operands: Any, whole: Differentiable, lower: str) -> Any:
        if lower == "native":
            raise InputError(
                f"jax: {whole.program.name} is compiled for the processor, and JAX computes on another device."
                " Use kernel.jax(lower='xla'), or jax.default_device(jax.devices('cpu')[0])."
            )
        return native(context, *operands, whole=whole, lower=lower)

    primitive.def_impl(lambda *arrays, whole, lower: alone(whole, lower)(*arrays))
    primitive.def_abstract_eval(shapes)
    mlir.register_lowering(primitive, anywhere)
    mlir.register_lowering(primitive, native, platform="cpu")
    ad.primitive_jvps[primitive] = push
    ad.primitive_transposes[primitive] = transpose
    batching.primitive_batchers[primitive] = batched
    return primitive


def _shape(x: Any) -> tuple[int, ...]:
    return tuple(x.aval.shape if hasattr(x, "aval") else x.shape)


def _summed(x: Any, shape: tuple[int, ...]) -> Any:
    """A gradient summed over the leading axes that its input did not have."""
    more = x.ndim - len(shape)
    return x.sum(tuple(range(more))) if more else x


def _replayed(whole: Differentiable, *arrays: Any) -> list[Any]:
    """The program written out in operations of JAX, on arrays of all leading axes."""
    jnp, program = required("jax.numpy", "jax"), whole.program.whole
    leads = [x.shape[: x.ndim - p.rank] for p, x in zip(program.arguments, arrays, strict=True)]
    batch = np.broadcast_shapes(*leads)
    table: dict[str, Callable[..., Any]] = {
        **WRITTEN, "sqrt": jnp.sqrt, "sin": jnp.sin, "cos": jnp.cos, "exp": jnp.exp, "tanh": jnp.tanh,
        "atan2": jnp.arctan2, "sign": jnp.sign, "abs": jnp.abs, "min": jnp.minimum, "max": jnp.maximum,
        "less": lambda a, b: jnp.where(a < b, 1.0, 0.0), "where": lambda c, a, b: jnp.where(c != 0.0, a, b),
    }  # fmt: skip
    kind = np.dtype(program.dtype)
    entries = [
        [x.reshape(*lead, p.size)[..., k] for k in range(p.size)]
        for p, x, lead in zip(program.arguments, arrays, leads, strict=True)
    ]
    values = inlined(program, *entries, table=table, number=kind.type)
    return [
        jnp.stack([jnp.broadcast_to(jnp.asarray(x, kind), batch) for x in flat], -1).reshape(*batch, *p.shape)
        for p, flat in zip(program.outputs, values, strict=True)
    ]


def _called(whole: Differentiable, *arrays: Any) -> Any:
    """The compiled program, called through Python."""
    jax, program = required("jax", "jax"), whole.program
    leads = [x.shape[: x.ndim - p.rank] for p, x in zip(program.arguments, arrays, strict=True)]
    batch = np.broadcast_shapes(*leads)
    shapes = [jax.ShapeDtypeStruct((*batch, *p.shape), program.dtype) for p in program.outputs]
    return jax.pure_callback(lambda *given: [np.asarray(x) for x in whole(*map(np.asarray, given))], shapes, *arrays)
