"""Programs as functions of PyTorch on the processor, without copies; their derivatives are programs again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from inspect import signature
from typing import Any

import numpy as np

from linkwise.backend.call import explanation, result_of
from linkwise.backend.differentiable import Differentiable
from linkwise.errors import InputError
from linkwise.files import required
from linkwise.graph.program import Program


def function(program: Program, doc: str) -> Callable[..., Any]:
    """The program as a function of tensors, with the names of its inputs."""
    torch = required("torch", "torch")
    if program.repeated:
        raise InputError(f"torch: expected a function of one state, got {program.name}, which runs in steps.")
    whole, kind = Differentiable(program), getattr(torch, program.dtype)
    result = result_of(program) if len(program.outputs) > 1 else None
    run, watched = _call(), _watched()
    tensor, dense, grads = torch.Tensor, torch.strided, torch.is_grad_enabled

    def body(*inputs: Any, **named: Any) -> Any:
        given = whole.in_order(inputs, named)
        plain = not watched()
        for k, x in enumerate(given):
            if type(x) is not tensor or x.dtype is not kind or not x.is_cpu or x.is_neg() or x.layout is not dense:
                given[k] = x = _converted(whole, k, x)
            plain = plain and not (x.requires_grad and grads())
        found = _evaluated(whole, given) if plain else run(whole, given)
        return result(*found) if result else found[0]

    apart = torch.compiler.disable(body)  # PyTorch's compiler cannot look inside

    def call(*inputs: Any, **named: Any) -> Any:
        return (apart if torch.compiler.is_compiling() else body)(*inputs, **named)

    call.__name__ = call.__qualname__ = program.name
    call.__doc__ = doc
    return call


def _converted(whole: Differentiable, k: int, x: Any) -> Any:
    """What was given for an input, as a dense tensor of real numbers of the program's kind on the processor."""
    torch: Any = required("torch", "torch")
    name, wanted = whole.names[k], f"{whole.program.name}: expected {whole.names[k]}"
    try:
        x = x if isinstance(x, torch.Tensor) else torch.from_numpy(np.require(x, requirements=("C", "W")))
    except Exception as error:  # each library has errors of its own for what is no number
        raise InputError(f"{wanted} as a tensor or an array of real numbers, got {type(x).__name__}: {error}") from None
    if not x.is_cpu:
        raise InputError(
            f"{wanted} on the processor, where kernels compute, got a tensor on {x.device}. Give {name}.cpu(); for"
            " other devices there is kernel.jax(lower='xla')."
        )
    if x.is_complex():
        raise InputError(f"{wanted} of real numbers, got {x.dtype}. Give {name}.real.")
    if x.layout is not torch.strided:
        raise InputError(f"{wanted} as a dense tensor, got {x.layout}. Give {name}.to_dense().")
    return x.to(getattr(torch, whole.program.dtype)).resolve_neg()


def _evaluated(whole: Differentiable, tensors: Sequence[Any]) -> tuple[Any, ...]:
    """The outputs of a program, of which nothing is kept."""
    try:
        arrays = [x.detach().numpy() if x.requires_grad else x.numpy() for x in tensors]
    except RuntimeError as error:  # nested tensors, and those of which only a description is there
        raise InputError(f"{whole.program.name}: expected tensors that are arrays of numbers: {error}") from None
    try:
        return tuple(map(_from_numpy(), whole(*arrays)))
    except (TypeError, ValueError) as error:
        raise explanation(whole.program, error, arrays, None) from None


@cache
def _from_numpy() -> Callable[[Any], Any]:
    """What makes a tensor of an array, or of the number that a kernel without axes gives."""
    torch: Any = required("torch", "torch")
    return lambda x: torch.from_numpy(np.asarray(x))


def _watched() -> Callable[[], bool]:
    """What says whether PyTorch vectorises or differentiates forwards now; always, where it does not tell."""
    torch: Any = required("torch", "torch")
    forward_ad = torch.autograd.forward_ad
    active = getattr(torch._C, "_are_functorch_transforms_active", None)
    if active is None or not hasattr(forward_ad, "_current_level"):
        return lambda: True
    return lambda: active() or forward_ad._current_level >= 0


@cache
def _call() -> Callable[[Differentiable, Sequence[Any]], tuple[Any, ...]]:
    """What calls a program, as PyTorch's differentiation and vectorisation know it."""
    torch: Any = required("torch", "torch")

    class Call(torch.autograd.Function):  # type: ignore[misc]
        """A program; its derivatives are calls of other programs."""

        @staticmethod
        def forward(whole: Differentiable, *tensors: Any) -> Any:
            return _evaluated(whole, tensors)

        @staticmethod
        def setup_context(context: Any, inputs: Any, output: Any) -> None:
            context.whole, *tensors = inputs
            context.save_for_backward(*tensors)
            context.save_for_forward(*tensors)

        @staticmethod
        def backward(context: Any, *weights: Any) -> Any:
            whole, tensors = context.whole, context.saved_tensors
            wrt = tuple(k for k in range(len(tensors)) if context.needs_input_grad[k + 1])
            back = whole.backward(wrt)
            found = iter(call(back, whole.given_to(back, tensors, weights)))
            return None, *(_summed(next(found), x.shape) if k in wrt else None for k, x in enumerate(tensors))

        @staticmethod
        def jvp(context: Any, _: Any, *changes: Any) -> Any:
            wrt = tuple(k for k, x in enumerate(changes) if x is not None)
            return call(context.whole.forward(wrt), [*context.saved_tensors, *(changes[k] for k in wrt)])

        @staticmethod
        def vmap(info: Any, axes: Any, whole: Differentiable, *tensors: Any) -> Any:
            _, *along = axes
            ranks = [p.rank for p in whole.program.arguments]
            own = max(x.ndim - r - (a is not None) for r, x, a in zip(ranks, tensors, along, strict=True))
            moved = []
            for r, x, a in zip(ranks, tensors, along, strict=True):
                if a is not None:
                    x = x.movedim(a, 0)
                    x = x.reshape(x.shape[0], *(1,) * (own + r + 1 - x.ndim), *x.shape[1:])
                moved.append(x)
            found = call(whole, moved)
            return found, (0,) * len(found)

    Call.forward.__signature__ = signature(Call.forward)  # type: ignore[attr-defined]  # asked for in every call

    def call(whole: Differentiable, tensors: Sequence[Any]) -> tuple[Any, ...]:
        return Call.apply(whole, *tensors)

    return call


def _summed(x: Any, shape: Sequence[int]) -> Any:
    """A gradient summed over the leading axes along which its input was repeated."""
    return x.sum_to_size(shape)
