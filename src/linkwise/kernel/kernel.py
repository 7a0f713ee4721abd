"""An algorithm for one robot: traced or recalled, and compiled when it is first called."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkwise.algorithms.algorithm import Algorithm
from linkwise.backend.call import caller
from linkwise.backend.program_cache import recalled
from linkwise.graph.program import Port, Program
from linkwise.kernel.fingerprint import facts_of
from linkwise.kernel.options import Options
from linkwise.kernel.robot_tracing import trace_kernel
from linkwise.robot.robot import Robot

if TYPE_CHECKING:
    from linkwise.backend.address import Address
    from linkwise.kernel.packed import Packed
    from linkwise.kernel.symbolic import Symbolic
    from linkwise.kernel.together import Together


class Compiled(functools.partial):  # type: ignore[type-arg]
    """A traced program as a function of arrays whose leading axes broadcast; what all kernels have in common.

    Nothing is compiled before the first call. A subclass of `partial` because that is the cheapest object with methods
    that Python can call.
    """

    program: Program
    robot: Robot

    @property
    def inputs(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the arguments, batch axes left out."""
        return {p.name: p.shape for p in self.program.arguments}

    @property
    def outputs(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the results, batch axes left out."""
        return {p.name: p.shape for p in self.program.outputs}

    @property
    def dtype(self) -> np.dtype[Any]:
        """The numbers in which the kernel computes, and which its results are: float64 or float32."""
        return np.dtype(self.program.dtype)

    def count(self) -> Counter[str]:
        """Operations of one evaluation: mul, add, div, neg, sincos and others; of a loop inside, those of one turn."""
        return self.program.count()

    def address(self, *, rows: bool = False) -> Address:
        """The bare function of this kernel, compiled if it is not yet: an address that numba, ctypes, cffi and C call.

        In C it is `void f(const double *q, ..., double *tau)`. Pointers to the inputs come first, then those to the
        outputs, each to numbers row after row, of `dtype`. The results are the kernel's to the last bit. The function
        is thread-safe, and stays loaded as long as the address, its `function` or this kernel is held. Loops are closed
        from the robot's reference; threads are not used.

        Args:
            rows: take the number of rows first, `void f(int64_t rows, const double *q, ...)`, which follow each other.
        """
        from linkwise.backend.address import Address

        return Address.of(self._whole("address"), self.__doc__ or "", rows)

    def c_source(self, name: str | None = None) -> str:
        """Dependency-free C99 of this kernel: a function of pointers to its numbers, documented."""
        from linkwise.backend.c import source

        return source(self._whole("C source"), name, self._title())

    def c_header(self, name: str | None = None) -> str:
        """The header that declares the function of `c_source`."""
        from linkwise.backend.c import header

        return header(self._whole("C header"), name, self._title())

    def javascript_source(self, name: str | None = None) -> str:
        """This kernel as one JavaScript function without dependencies, of flat arrays: its inputs, then its outputs."""
        from linkwise.backend.javascript import source

        return source(self._whole("JavaScript source"), name, self._title())

    def rust_source(self, name: str | None = None) -> str:
        """This kernel as one Rust function without dependencies, of references to flat arrays: inputs, then outputs."""
        from linkwise.backend.rust import source

        return source(self._whole("Rust source"), name, self._title())

    def export(
        self, folder: str | PathLike[str], *others: Compiled, to: str = "c", name: str | None = None
    ) -> dict[str, Path]:
        """Write a folder that compiles by itself: sources, a test with numbers, an example, a README.

        It needs no library: sine, cosine and the like are its own, and nothing in it branches, allocates or keeps a
        state, so that every call takes the same steps. With several kernels there is a function for each, and one named
        `together` that computes all of them at once and what they have in common once.

        Args:
            folder: where to write; it is made if it does not exist. Files that Linkwise did not write stay.
            others: further kernels, in the same numbers.
            to: "c" with a Makefile, "cmake", "arduino", "rust" or "javascript".
            name: of the library, the robot's if not given; letters, digits and _.

        Returns:
            What was written, by name.
        """
        from linkwise.kernel.export.folder import export

        return export((self, *others), folder, to, name)

    def together(self, *others: Compiled) -> Together:
        """This kernel and others in one function, which computes what they have in common once."""
        from linkwise.kernel.together import Together

        return Together.of(self, *others)

    def casadi(self, name: str | None = None, *, compiled: bool = False, second: bool = False, **options: Any) -> Any:
        """This kernel as a `casadi.Function` with the names of its inputs and outputs; needs CasADi.

        Args:
            name: of the function.
            compiled: call the compiled code, which needs a C compiler and lives as long as this process. Otherwise the
                function consists of scalar expressions, which CasADi differentiates and writes in C.
            second: compile second derivatives too, for exact Hessians of compiled functions.
            options: of `casadi.Function`, or of `casadi.external`.
        """
        from linkwise.backend import casadi_external, casadi_function

        name = casadi_function.checked_name(self.program.name if name is None else name)
        if compiled:
            return casadi_external.function(self._whole("CasADi function"), name, second, options)
        return casadi_function.function(self._whole("CasADi function"), name, options)

    def jax(self, *, lower: str = "native") -> Callable[..., Any]:
        """This kernel as a function of JAX, which `jit`, `vmap`, `grad`, `jvp` and `vjp` know; needs JAX.

        Leading axes broadcast, as in the kernel. Derivatives of any order are compiled when they are first needed; by q
        they are by its numbers, quaternions being normalised inside. A kernel in float64 needs JAX's x64 mode.

        Args:
            lower: "native" calls the compiled code on the processor; "xla" writes the kernel in operations of XLA,
                which compile slowly but run on any device; "callback" calls the compiled code through Python.
        """
        from linkwise.backend.jax_function import function
        from linkwise.kernel.lent import Lent

        return Lent.of(function(self._whole("JAX function"), lower, self.__doc__ or ""), self, "jax", lower=lower)

    def torch(self) -> Callable[..., Any]:
        """This kernel as a function of PyTorch's tensors on the processor, without copies; needs PyTorch.

        Leading axes broadcast, as in the kernel. `backward` and derivatives of any order call programs that are
        compiled when they are first needed; by q they are by its numbers, quaternions being normalised inside.
        """
        from linkwise.backend.torch_function import function
        from linkwise.kernel.lent import Lent

        return Lent.of(function(self._whole("PyTorch function"), self.__doc__ or ""), self, "torch")

    def listing(self) -> str:
        """The customised symbolic model, one assignment a line."""
        from linkwise.graph.show import listing

        return listing(self._whole("listing"), self._title())

    @functools.cached_property
    def packed(self) -> Packed:
        """This kernel with one output: all entries that are not always zero, whose `places` say where they belong."""
        from linkwise.kernel.packed import Packed

        return Packed.of(self)

    def _calling(self, program: Program, again: Callable[[Compiled], Compiled]) -> Callable[..., Any]:
        """Another program as a function called like this one; `again` makes the same of another kernel."""
        return caller(program, self.__doc__ or "", 1)

    def _whole(self, what: str) -> Program:
        """The program, of which there is something to be made."""
        return self.program

    def _title(self) -> str:
        return self.program.name

    def __repr__(self) -> str:
        def side(ports: Sequence[Port]) -> str:
            return ", ".join(f"{p.name}{p.shape}" for p in ports)

        ends = f"{side(self.program.arguments)} -> {side(self.program.outputs)}"
        return f"<Kernel {self._title()}: {ends}{'' if self.dtype == float else f', {self.dtype}'}>"

    def _repr_html_(self) -> str:
        """The card of a notebook: what it computes, from what, and what that costs."""
        import linkwise.card as card

        ports = [("input", *x) for x in self.inputs.items()] + [("output", *x) for x in self.outputs.items()]
        count = ", ".join(f"{n} {kind}" for kind, n in self.count().items())
        first = (self.__doc__ or "").strip().partition("\n")[0]
        costs = f"operations of one evaluation: {count or 'none'}; numbers are {self.dtype}"
        return card.card(self._title(), card.line(first), card.table(("", "name", "shape"), ports), card.line(costs))


class Kernel(Compiled):
    """An algorithm compiled for one robot: call it with arrays whose leading axes broadcast."""

    algorithm: Algorithm
    options: Options
    static: dict[str, Any]

    @classmethod
    def of(cls, robot: Robot, algorithm: Algorithm, options: Options, static: dict[str, Any]) -> Kernel:
        """The kernel of an algorithm for one robot, traced or known to the cache, but not yet compiled."""
        facts = facts_of(robot, algorithm, options, static)
        program, _ = recalled(facts, lambda: (trace_kernel(robot, algorithm, options, static), None))
        kernel = cls(_called(program, robot, algorithm, options, static))
        kernel.robot, kernel.algorithm, kernel.program = robot, algorithm, program
        kernel.options, kernel.static = options, static
        kernel.__doc__ = algorithm.doc
        return kernel

    @property
    def parameters(self) -> NDArray[np.float64]:
        """The robot's own values of the input `parameters`, in its order."""
        return np.array([x for group in self.options.values(self.robot).values() for x in group], dtype=float)

    def symbolic(
        self, symbols: bool | str | Iterable[str] = True, *, names: bool = False, simplify: bool = True
    ) -> Symbolic:
        """The formulas of this kernel: SymPy's expressions, LaTeX, or a listing with symbols; needs SymPy.

        Args:
            symbols: which numbers of the model become symbols: True for all masses m, centres c, inertias I, lengths l,
                friction, gravity g and the like; False for none; or quantities and paths, such as ("mass", "hand.com").
                Numbers that are zero, and the directions of axes, stay numbers.
            names: call symbols by the names of links and joints, m_upper, instead of numbers, m_1.
            simplify: multiply formulas out, with sums of angles, and group them by masses, as long as that leaves few
                terms; otherwise they stay as they are computed.
        """
        from linkwise.kernel.symbolic import Symbolic

        return Symbolic.of(self, symbols, names, simplify)

    def _calling(self, program: Program, again: Callable[[Compiled], Compiled]) -> Callable[..., Any]:
        return _called(program, self.robot, self.algorithm, self.options, self.static, again)

    def _title(self) -> str:
        return f"{self.algorithm.name} of the robot {self.robot.name!r}"

    def __reduce__(self) -> Any:
        return Kernel.of, (self.robot, self.algorithm, self.options, self.static)


def _called(
    program: Program,
    robot: Robot,
    algorithm: Algorithm,
    options: Options,
    static: dict[str, Any],
    again: Callable[[Kernel], Compiled] = lambda kernel: kernel,
) -> Callable[..., Any]:
    """A program as a function; with loops it takes a `guess`, for which `again` makes the same of another kernel."""
    call = caller(program, algorithm.doc, options.threads)
    if not robot.loops:
        return call
    from linkwise.kernel import closure  # trees need nothing of it

    return closure.guided(call, robot, lambda other: again(Kernel.of(other, algorithm, options, static)))
