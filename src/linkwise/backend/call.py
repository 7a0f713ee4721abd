"""A program as a Python function with names, whose errors say what was wrong with the arguments."""

from __future__ import annotations

import keyword
import warnings
from collections import namedtuple
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from linkwise.backend import native
from linkwise.backend.arrays import castable, refuse_masks
from linkwise.errors import InputError, LinkwiseError
from linkwise.graph.program import Port, Program

# whose expressions no kernel can take, and the door for them
DOORS = {
    "jax": "kernel.jax()",
    "jaxlib": "kernel.jax()",
    "casadi": "kernel.casadi()",
    "torch": "kernel.torch()",
    "sympy": "kernel.symbolic()",
    "mpmath": "",
}
SEEN = 1000  # entries of a list that are looked at


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

    def explain(error: Exception, inputs: Sequence[Any], out: Any) -> Exception:
        return explanation(program, error, inputs, out)

    arguments = ", ".join(names)
    text = f"""
def make(ufunc, result, explain, numeric, plain, refuse_masks, tuple_of):
    def call({arguments}, out=None):
        try:
            found = ufunc({arguments}) if out is None else ufunc({arguments}, out=numeric(out))
            if type(found{"[0]" if several else ""}) is not plain:
                refuse_masks(({arguments},))
        except (TypeError, ValueError, RuntimeError, Warning) as error:
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


def explanation(program: Program, error: Exception, inputs: Sequence[Any], out: Any) -> Exception:
    """What was wrong with the arguments of a call, found after NumPy refused them; or the error, if nothing was."""
    if isinstance(error, LinkwiseError):
        return error
    batches = []
    for port, given in zip(program.arguments, inputs, strict=True):
        what = f"{program.name}: expected {port.name} of shape {_shape_text(port)}"
        array = _array(given)
        numeric = (
            array is not None and array.dtype.kind != "O" and _package(given) != "casadi"
        )  # whose columns are matrices
        if not numeric and (found := _foreign(given)) is not None:
            return InputError(f"{what} and real numbers, got {_named(found)}. {_door(program, found)}")
        if array is None:
            known = isinstance(error, (TypeError, ValueError))
            return InputError(f"{what}, got rows of different lengths.") if known else error
        if array.dtype.kind not in "biuf" or not castable(array.dtype, program.dtype):
            return InputError(f"{what} and real numbers, got {array.dtype}. Convert it to {program.dtype} first.")
        if not port.fits(array.shape):
            return InputError(f"{what}, got {array.shape}.")
        batches.append(array.shape[: array.ndim - port.rank])
    if not isinstance(error, (TypeError, ValueError)):
        return error
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


def _array(given: Any) -> Any:
    """The array of what was given; None where it makes none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return np.asarray(given)
        except Exception:  # each library has errors of its own for what is no number
            return None


def _package(x: Any) -> str:
    return type(x).__module__.partition(".")[0]


def _foreign(given: Any) -> Any:
    """What belongs to another library: the argument, or an entry of it; None where there is no such thing."""
    if _package(given) in DOORS:
        return given
    if isinstance(given, np.ndarray):
        given = given.ravel()[:SEEN].tolist()
    if not isinstance(given, (list, tuple)):
        return None
    return next((x for y in given[:SEEN] if (x := _foreign(y)) is not None), None)


def _named(x: Any) -> str:
    """What something is, with what keeps a tensor from being an array."""
    held = [f"on the device {x.device}"] if str(getattr(x, "device", "cpu")) != "cpu" and _package(x) == "torch" else []
    held += ["that requires a gradient"] if getattr(x, "requires_grad", False) else []
    return " ".join([f"a {type(x).__name__} of {_package(x).removesuffix('lib')}", *held])


def _door(program: Program, x: Any) -> str:
    """What takes such a thing."""
    door, plain = DOORS[_package(x)], f"{program.name}.plain(robot, ...)"
    if _package(x) in ("jax", "jaxlib", "torch"):
        return f"A kernel takes arrays of numbers: call {door}, which is a function of such things."
    return f"A kernel takes arrays of numbers: run the algorithm on it, {plain}{f', or call {door}' if door else ''}."


def _shape_text(port: Port) -> str:
    return f"({', '.join(['...', *port.axes])})"
