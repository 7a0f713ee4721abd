"""Robot + algorithm + back end: the only place where they meet."""

from __future__ import annotations

import functools
import keyword
from collections import Counter, namedtuple
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise import algorithms as alg
from linkwise.algorithms.algorithm import INPUTS, Algorithm, World, external_on_bodies, sizes
from linkwise.errors import InputError, LinkwiseError, UnknownNameError
from linkwise.graph.program import Port, Program, trace
from linkwise.robot import numbers
from linkwise.robot.align import aligned
from linkwise.robot.regroup import regrouped
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree
from linkwise.spatial import Motion, Wrench
from linkwise.vector import Vec3


class Options:
    """The checked options of `compile`, common to all kernels of a robot."""

    def __init__(
        self, robot: Robot, external: Any, base_motion: Any, parameters: Any, gravity: Any, threads: Any
    ) -> None:
        self.external = _names(external, "external")
        for name in self.external:
            robot.frame(name)
        self.parameters = _names(parameters, "parameters")
        self.values = {path: numbers.read(robot, path) for path in self.parameters}
        if not isinstance(base_motion, bool):
            raise InputError(f"base_motion: expected True or False, got {base_motion!r}.")
        self.base_motion = base_motion
        self.gravity: Vec3 | str = _gravity(robot, gravity)
        if not isinstance(threads, int) or isinstance(threads, bool) or threads < 1:
            raise InputError(f"threads: expected a whole number of at least 1, got {threads!r}.")
        self.threads = threads

    def ports(self, algorithm: Algorithm) -> list[Port]:
        """The inputs that options add, in their fixed order."""
        ports = []
        if self.external and "external" in algorithm.uses:
            ports.append(Port("f_ext", (len(self.external), 6)))
        if self.base_motion and "base_motion" in algorithm.uses:
            ports += [Port("base_velocity", (6,)), Port("base_acceleration", (6,))]
        if self.parameters:
            ports.append(Port("parameters", (sum(map(len, self.values.values())),)))
        if self.gravity == "input" and "gravity" in algorithm.uses:
            ports.append(Port("gravity", (3,)))
        return ports


def trace_kernel(robot: Robot, algorithm: Algorithm, options: Options, static: dict[str, Any]) -> Program:
    """The program of an algorithm for one robot."""
    arguments = algorithm.arguments(robot, static)
    keep = arguments.pop("keep", ())
    widths = sizes(robot)
    standard = [Port(name, _shape(INPUTS[name], widths)) for name in algorithm.inputs]
    extra = options.ports(algorithm)
    outputs = [Port(name, _shape(shape, widths)) for name, shape in algorithm.outputs.items()]

    def run(*inputs: list[Any]) -> Sequence[Any]:
        given = dict(zip((p.name for p in extra), inputs[len(standard) :], strict=True))
        model = (
            numbers.substitute(robot, _substitutions(options, given["parameters"])) if "parameters" in given else robot
        )
        tree = Tree.of(model, keep)
        if algorithm.torques_only:
            tree = regrouped(aligned(tree))
        world = _world(tree, options, given)
        return algorithm.function(
            tree, *inputs[: len(standard)], **({"world": world} if algorithm.uses else {}), **arguments
        )

    return trace(algorithm.name, run, [*standard, *extra], outputs)


def _world(tree: Tree, options: Options, given: dict[str, list[Any]]) -> World:
    """What surrounds the robot, from constants and inputs."""
    rows = given.get("f_ext", [])
    wrenches = {}
    for k, name in enumerate(options.external if rows else ()):
        wrenches[name] = Wrench(Vec3(*rows[6 * k : 6 * k + 3]), Vec3(*rows[6 * k + 3 : 6 * k + 6]))
    v, a = given.get("base_velocity", [0.0] * 6), given.get("base_acceleration", [0.0] * 6)
    gravity = Vec3(*given["gravity"]) if "gravity" in given else options.gravity
    return World(
        gravity=gravity if isinstance(gravity, Vec3) else tree.gravity,
        base_velocity=Motion(Vec3(*v[:3]), Vec3(*v[3:])),
        base_acceleration=Motion(Vec3(*a[:3]), Vec3(*a[3:])),
        external=external_on_bodies(tree, wrenches),
    )


class Kernel(functools.partial):  # type: ignore[type-arg]
    """An algorithm compiled for one robot: call it with arrays whose leading axes broadcast.

    Nothing is compiled before the first call. A subclass of `partial` because that is the cheapest object with methods
    that Python can call.
    """

    robot: Robot
    algorithm: Algorithm
    program: Program

    @classmethod
    def of(cls, robot: Robot, algorithm: Algorithm, options: Options, static: dict[str, Any]) -> Kernel:
        program = trace_kernel(robot, algorithm, options, static)
        kernel = cls(_caller(program, algorithm.doc, options.threads))
        kernel.robot, kernel.algorithm, kernel.program = robot, algorithm, program
        kernel._options, kernel._static = options, static
        kernel.__doc__ = algorithm.doc
        return kernel

    _options: Options
    _static: dict[str, Any]

    @property
    def inputs(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the arguments, batch axes left out."""
        return {p.name: p.shape for p in self.program.inputs}

    @property
    def outputs(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the results, batch axes left out."""
        return {p.name: p.shape for p in self.program.outputs}

    @property
    def parameters(self) -> NDArray[np.float64]:
        """The robot's own values of the input `parameters`, in its order."""
        return np.array([x for group in self._options.values.values() for x in group], dtype=float)

    def count(self) -> Counter[str]:
        """Operations of one evaluation: mul, add, div, neg, sincos and others."""
        return self.program.count()

    def c_source(self, name: str | None = None) -> str:
        """Dependency-free C99 of this kernel: a function of pointers to double, documented."""
        from linkwise.backend.c import source

        return source(self.program, name, self._title())

    def c_header(self, name: str | None = None) -> str:
        """The header that declares the function of `c_source`."""
        from linkwise.backend.c import header

        return header(self.program, name, self._title())

    def listing(self) -> str:
        """The customised symbolic model, one assignment a line."""
        from linkwise.graph.show import listing

        return listing(self.program, self._title())

    def _title(self) -> str:
        return f"{self.algorithm.name} of the robot {self.robot.name!r}"

    def __repr__(self) -> str:
        def side(ports: Sequence[Port]) -> str:
            return ", ".join(f"{p.name}{p.shape}" for p in ports)

        return f"<Kernel {self._title()}: {side(self.program.inputs)} -> {side(self.program.outputs)}>"

    def __reduce__(self) -> Any:
        o = self._options
        return _again, (
            self.robot,
            self.algorithm,
            (o.external, o.base_motion, o.parameters, o.gravity, o.threads),
            self._static,
        )


def _again(robot: Robot, algorithm: Algorithm, options: tuple[Any, ...], static: dict[str, Any]) -> Kernel:
    return Kernel.of(robot, algorithm, Options(robot, *options), static)


class Dynamics:
    """Every standard algorithm of one robot, as functions of NumPy arrays that are compiled when first called."""

    def __init__(self, robot: Robot, options: Options) -> None:
        self.robot = robot
        self._options = options
        self._frames: dict[tuple[Any, ...], Kernel] = {}

    def _kernel(self, algorithm: Algorithm) -> Kernel:
        return Kernel.of(self.robot, algorithm, self._options, {})

    def _at(self, algorithm: Algorithm, inputs: tuple[Any, ...], **static: Any) -> Any:
        """A kernel that belongs to one frame, kept for the next call."""
        key = (algorithm.name, *static.values())
        try:
            kernel = self._frames[key]
        except (KeyError, TypeError):
            kernel = self._frames[key] = Kernel.of(self.robot, algorithm, self._options, static)
        return kernel(*inputs)

    @cached_property
    def inverse_dynamics(self) -> Kernel:
        """(q, qd, qdd) -> tau."""
        return self._kernel(alg.inverse_dynamics)

    @cached_property
    def joint_wrenches(self) -> Kernel:
        """(q, qd, qdd) -> tau, wrench (nb, 6)."""
        return self._kernel(alg.joint_wrenches)

    @cached_property
    def mass_matrix(self) -> Kernel:
        """(q) -> M."""
        return self._kernel(alg.mass_matrix)

    @cached_property
    def coriolis_matrix(self) -> Kernel:
        """(q, qd) -> C, with M_dot - 2 C skew-symmetric."""
        return self._kernel(alg.coriolis_matrix)

    @cached_property
    def bias_forces(self) -> Kernel:
        """(q, qd) -> h, with tau = M qdd + h."""
        return self._kernel(alg.bias_forces)

    @cached_property
    def gravity_forces(self) -> Kernel:
        """(q) -> g."""
        return self._kernel(alg.gravity_forces)

    @cached_property
    def kinetic_energy(self) -> Kernel:
        """(q, qd) -> T."""
        return self._kernel(alg.kinetic_energy)

    @cached_property
    def potential_energy(self) -> Kernel:
        """(q) -> V."""
        return self._kernel(alg.potential_energy)

    @cached_property
    def momentum(self) -> Kernel:
        """(q, qd) -> linear, then angular momentum about the world's origin."""
        return self._kernel(alg.momentum)

    @cached_property
    def regressor(self) -> Kernel:
        """(q, qd, qdd) -> Y, with tau = Y @ robot.parameters()."""
        return self._kernel(alg.regressor)

    @cached_property
    def poses(self) -> Kernel:
        """(q) -> T (nb, 4, 4) of all moving links."""
        return self._kernel(alg.poses)

    def pose(self, q: Any, frame: str, *extra: Any) -> NDArray[np.float64]:
        """T_world_frame (..., 4, 4) of a frame or link; `extra` are the inputs that options add."""
        return self._at(alg.pose, (q, *extra), frame=frame)

    def jacobian(self, q: Any, frame: str, *extra: Any, axes: str = "world") -> NDArray[np.float64]:
        """J (..., 6, nv) at the frame's origin, linear rows first, in world or (axes="local") the frame's axes."""
        return self._at(alg.jacobian, (q, *extra), frame=frame, axes=axes)

    def velocity(self, q: Any, qd: Any, frame: str, *extra: Any, axes: str = "world") -> NDArray[np.float64]:
        """Velocity (..., 6) of a frame, linear then angular."""
        return self._at(alg.velocity, (q, qd, *extra), frame=frame, axes=axes)

    def acceleration(
        self, q: Any, qd: Any, qdd: Any, frame: str, *extra: Any, axes: str = "world"
    ) -> NDArray[np.float64]:
        """Classical acceleration (..., 6) of a frame, linear then angular; gravity is not counted."""
        return self._at(alg.acceleration, (q, qd, qdd, *extra), frame=frame, axes=axes)

    def wrench_at(self, sensor: str) -> Kernel:
        """A kernel (q, qd, qdd) -> wrench (6) through a fixed joint, named by itself or by its child link."""
        fixed = [j for j in self.robot.joints if j.is_fixed]
        for j in fixed:
            if sensor in (j.name, j.child):
                key = ("wrench_at", j.name)
                if key not in self._frames:
                    self._frames[key] = Kernel.of(self.robot, alg.wrench_at, self._options, {"keep": (j.name,)})
                return self._frames[key]
        raise UnknownNameError("fixed joint", sensor, [j.name for j in fixed])

    def __repr__(self) -> str:
        return f"<Dynamics of the robot {self.robot.name!r}, {self.robot.nv} degrees of freedom>"

    def __reduce__(self) -> Any:
        o = self._options
        return _dynamics_again, (self.robot, (o.external, o.base_motion, o.parameters, o.gravity, o.threads))


def _dynamics_again(robot: Robot, options: tuple[Any, ...]) -> Dynamics:
    return Dynamics(robot, Options(robot, *options))


def _caller(program: Program, doc: str, threads: int) -> Callable[..., Any]:
    """A closure with the algorithm's own argument names around the ufunc, which is compiled at the first call."""
    names, fields = [p.name for p in program.inputs], [p.name for p in program.outputs]
    if not all(n.isidentifier() and not keyword.iskeyword(n) for n in [program.name, *names, *fields]):
        raise LinkwiseError(f"{program.name}: names of algorithms, inputs and outputs must be Python identifiers.")
    result = namedtuple(_title_case(program.name), fields)  # type: ignore[misc]
    several = len(program.outputs) > 1

    def first(*inputs: Any, **kwargs: Any) -> Any:
        from linkwise.backend import native
        from linkwise.backend import threads as pool

        function = native.function(program, doc)
        if threads > 1:
            function = pool.split(program, function, threads)
        become(function)
        return function(*inputs, **kwargs)

    def explain(error: Exception, inputs: Sequence[Any], out: Any) -> LinkwiseError:
        return _explanation(program, error, inputs, out)

    arguments = ", ".join(names)
    wrapped = "result._make({})" if several else "{}"
    text = f"""
def make(ufunc, result, explain):
    def call({arguments}, out=None):
        try:
            if out is None:
                return {wrapped.format(f"ufunc({arguments})")}
            return {wrapped.format(f"ufunc({arguments}, out=out)")}
        except (TypeError, ValueError) as error:
            raise explain(error, ({arguments},), out) from None
    def become(function):
        nonlocal ufunc
        ufunc = function
    return call, become
"""
    space: dict[str, Any] = {}
    exec(text, space)
    call, become = space["make"](first, result, explain)
    call.__name__ = call.__qualname__ = program.name
    call.__doc__ = doc
    return call


def _explanation(program: Program, error: Exception, inputs: Sequence[Any], out: Any) -> LinkwiseError:
    """What was wrong with the arguments of a call, found after NumPy refused them."""
    if isinstance(error, LinkwiseError):
        return error
    batches = []
    for port, given in zip(program.inputs, inputs, strict=True):
        what = f"{program.name}: expected {port.name} of shape {_shape_text(port)}"
        try:
            array = np.asarray(given)
        except (TypeError, ValueError):
            return InputError(f"{what}, got rows of different lengths.")
        if array.dtype.kind not in "biuf" or not np.can_cast(array.dtype, np.float64, "safe"):
            return InputError(f"{what} and real numbers, got {array.dtype}. Convert it to float64 first.")
        rank = len(port.shape)
        if array.ndim < rank or array.shape[array.ndim - rank :] != port.shape:
            return InputError(f"{what}, got {array.shape}.")
        batches.append(array.shape[: array.ndim - rank])
    try:
        batch = np.broadcast_shapes(*batches)
    except ValueError:
        pairs = ", ".join(f"{p.name} {b}" for p, b in zip(program.inputs, batches, strict=True))
        return InputError(f"{program.name}: the leading axes do not broadcast: {pairs}.")
    if out is not None:
        expected = ", ".join(str((*batch, *p.shape)) for p in program.outputs)
        return InputError(f"{program.name}: out must be writable float64 array(s) of shape {expected}: {error}")
    return InputError(f"{program.name}: {error}")


def _shape_text(port: Port) -> str:
    return f"(..., {', '.join(map(str, port.shape))})" if port.shape else "(...)"


def _title_case(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def _shape(shape: Iterable[str | int], widths: dict[str, int]) -> tuple[int, ...]:
    return tuple(widths[s] if isinstance(s, str) else s for s in shape)


def _names(value: Any, what: str) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    try:
        names = tuple(value)
    except TypeError as error:
        raise InputError(f"{what}: expected a tuple of names, got {value!r}.") from error
    for n in names:
        if not isinstance(n, str):
            raise InputError(f"{what}: expected names, got {n!r}.")
    if len(set(names)) < len(names):
        raise InputError(f"{what}: expected each name once, got {names}.")
    return names


def _gravity(robot: Robot, value: Any) -> Vec3 | str:
    from linkwise.robot import check

    if value is None:
        return robot.gravity
    if isinstance(value, str):
        if value != "input":
            raise InputError(f"gravity: expected a vector of three, 'input' or None, got {value!r}.")
        return value
    return check.vector(value, "gravity")


def _substitutions(options: Options, flat: list[Any]) -> dict[str, tuple[Any, ...]]:
    found, at = {}, 0
    for path, values in options.values.items():
        found[path] = tuple(flat[at : at + len(values)])
        at += len(values)
    return found


def compile(
    robot: Robot,
    algorithm: Algorithm | None = None,
    *,
    external: Any = (),
    base_motion: bool = False,
    parameters: Any = (),
    gravity: Any = None,
    threads: int = 1,
    **static: Any,
) -> Any:
    """Functions of NumPy arrays for one robot.

    Args:
        robot: what to compile for.
        algorithm: one algorithm, such as `lw.inverse_dynamics`, for a `Kernel`; none for all of them, as a `Dynamics`.
        external: frames or links on which the environment exerts wrenches; adds the input `f_ext` (k, 6), in the
            frames' axes at their origins.
        base_motion: adds the inputs `base_velocity` and `base_acceleration` (6 each, classical, in base axes).
        parameters: numbers of the model to turn into an input, such as ("hand.mass", "elbow.viscous").
        gravity: a vector to use instead of the robot's, or "input" to add it as an input.
        threads: over how many threads large batches are split.
        static: further options of the algorithm, such as frame="tool".

    Returns:
        A `Dynamics`, or a `Kernel` for the algorithm given.
    """
    if not isinstance(robot, Robot):
        raise InputError(f"compile: expected a Robot, got {robot!r}. Load one with lw.load(...).")
    options = Options(robot, external, base_motion, parameters, gravity, threads)
    if algorithm is None:
        if static:
            valid = ("external", "base_motion", "parameters", "gravity", "threads")
            raise UnknownNameError("option of compile", next(iter(static)), valid)
        return Dynamics(robot, options)
    if not isinstance(algorithm, Algorithm):
        raise InputError(f"compile: expected an algorithm such as linkwise.inverse_dynamics, got {algorithm!r}.")
    asked = {
        "external": bool(options.external),
        "base_motion": options.base_motion,
        "gravity": gravity is not None,
    }
    for option, given in asked.items():
        if given and option not in algorithm.uses:
            raise UnknownNameError(
                f"option of {algorithm.name}",
                option,
                [*algorithm.static, *sorted(algorithm.uses), "parameters", "threads"],
            )
    return Kernel.of(robot, algorithm, options, static)
