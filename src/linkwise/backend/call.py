"""A program as a Python function with names, whose errors say what was wrong with the arguments."""

from __future__ import annotations

import keyword
from collections import namedtuple
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from linkwise.backend import native
from linkwise.backend.arrays import castable, refuse_masks
from linkwise.errors import InputError, LinkwiseError
from linkwise.graph.program import Port, Program

FOREIGN = ("jax", "jaxlib", "casadi", "sympy")  # whose expressions no kernel can take


def caller(
    program: Program, doc: str, threads: int | str, make: Callable[[], Callable[..., Any]] | None = None
) -> Callable[..., Any]:
    """A closure with the algorithm's own argument names around the ufunc, which is compiled at the first call.

    With `make`, the program only says what goes in and out, and the function around which to close is made by that.
    """
    names, fields = [p.name for p in program.arguments], [p.name for p in program.outputs]
    if not all(n.isidentifier() and not keyword.iskeyword(n) for n in [program.name, *names, *fields]):
        raise LinkwiseError(f"{program.name}: names of algorithms, inputs and outputs must be Python identifiers.")
    result = result_of(program)
    several = len(program.outputs) > 1

    def first(*inputs: Any, **kwargs: Any) -> Any:
        function = make() if make else native.function(program, doc, threads)
        become(function if make or not native.is_native(program) else partial(second, function))
        return function(*inputs, **kwargs)

    def second(held: Any, *inputs: Any, **kwargs: Any) -> Any:  # what is held stays loaded meanwhile
        function = native.function(program, doc, threads, directly=True)
        become(function)
        return function(*inputs, **kwargs)

    def explain(error: Exception, inputs: Sequence[Any], out: Any) -> LinkwiseError:
        return explanation(program, error, inputs, out)

    arguments = ", ".join(names)
    text = f"""
def make(ufunc, result, explain, numeric, plain, refuse_masks, tuple_of):
    def call({arguments}, out=None):
        try:
            found = ufunc({arguments}) if out is None else ufunc({arguments}, out=numeric(out))
            if type(found{"[0]" if several else ""}) is not plain:
                refuse_masks(({arguments},))
        except (TypeError, ValueError) as error:
            raise explain(error, ({arguments},), out) from None
        return {"tuple_of(result, found)" if several else "found"}
    def become(function):
        nonlocal ufunc
        ufunc = function
    return call, become
"""
    space: dict[str, Any] = {}
    exec(text, space)
    call, become = space["make"](first, result, explain, _numeric, np.ndarray, refuse_masks, tuple.__new__)
    call.__name__ = call.__qualname__ = program.name
    call.__doc__ = doc
    return call


def result_of(program: Program) -> Any:
    """The class of what a program with several outputs gives."""
    return _result(program.name.title().replace("_", ""), tuple(p.name for p in program.outputs))


@cache
def _result(name: str, fields: tuple[str, ...]) -> Any:
    """The class of results with several fields; another process makes it again, from its name and fields."""
    base: Any = namedtuple(name, fields)  # type: ignore[misc]
    return type(name, (base,), {"__slots__": (), "__reduce__": lambda x: (_result_of, (name, fields, tuple(x)))})


def _result_of(name: str, fields: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    return _result(name, fields)(*values)


def _numeric(out: Any) -> Any:
    """The arrays to fill; NumPy itself would write numbers as texts and objects too."""
    for array in out if isinstance(out, tuple) else (out,):
        if isinstance(array, np.ndarray) and array.dtype.kind not in "fc":
            raise TypeError(f"{array.dtype} holds no real numbers")
    return out


def explanation(program: Program, error: Exception, inputs: Sequence[Any], out: Any) -> LinkwiseError:
    """What was wrong with the arguments of a call, found after NumPy refused them."""
    if isinstance(error, LinkwiseError):
        return error
    batches = []
    for port, given in zip(program.arguments, inputs, strict=True):
        what = f"{program.name}: expected {port.name} of shape {_shape_text(port)}"
        package = type(given).__module__.partition(".")[0]
        if package in FOREIGN:
            return InputError(
                f"{what} and real numbers, got a {type(given).__name__} of {package}. A kernel takes arrays of numbers,"
                f" not expressions: give their values, or run the algorithm itself on them."
            )
        try:
            array = np.asarray(given)
        except (TypeError, ValueError):
            return InputError(f"{what}, got rows of different lengths.")
        if array.dtype.kind not in "biuf" or not castable(array.dtype, program.dtype):
            return InputError(f"{what} and real numbers, got {array.dtype}. Convert it to {program.dtype} first.")
        if not port.fits(array.shape):
            return InputError(f"{what}, got {array.shape}.")
        batches.append(array.shape[: array.ndim - port.rank])
    masked = [p.name for p, x in zip(program.arguments, inputs, strict=True) if isinstance(x, np.ma.MaskedArray)]
    try:
        batch = np.broadcast_shapes(*batches)
    except ValueError:
        pairs = ", ".join(f"{p.name} {b}" for p, b in zip(program.arguments, batches, strict=True))
        return InputError(f"{program.name}: the leading axes do not broadcast: {pairs}.")
    if masked:
        return InputError(
            f"{program.name}: expected arrays without masks, got a masked {', '.join(masked)}."
            f" Give its numbers: {masked[0]}.filled(np.nan) makes rows with masked ones NaN."
        )
    if out is not None:
        expected = ", ".join(str((*batch, *p.shape)) for p in program.outputs)
        return InputError(f"{program.name}: out must be writable {program.dtype} array(s) of shape {expected}: {error}")
    return InputError(f"{program.name}: {error}")


def _shape_text(port: Port) -> str:
    return f"({', '.join(['...', *port.axes])})"
