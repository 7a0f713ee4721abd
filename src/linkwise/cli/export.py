"""`linkwise export`: a robot's functions as a folder of source code that compiles by itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from linkwise.cli import show
from linkwise.cli.arguments import ParamType, json_option, load, robot_argument, robot_options
from linkwise.errors import UnknownNameError

if TYPE_CHECKING:
    from linkwise.algorithms.algorithm import Algorithm
    from linkwise.robot.robot import Robot

NEXT = {
    "c": "make -C {folder} test",
    "cmake": "cmake -S {folder} -B {folder}/build && cmake --build {folder}/build && ctest --test-dir {folder}/build",
    "arduino": "copy {folder} into the folder `libraries` of your sketches",
    "rust": "cargo test --manifest-path {folder}/Cargo.toml",
    "javascript": "node {folder}/test.js",
}

USES = {"external": "--external", "base_motion": "--base-motion", "gravity": "--gravity-input"}


def known() -> dict[str, Algorithm]:
    """All algorithms and controllers, by name; those of distances need a scene, which no command line has."""
    import linkwise as lw

    homes = (lw.algorithms, lw.control)
    every = {name: getattr(home, name) for home in homes for name in dir(home) if not name.startswith("_")}
    return {name: x for name, x in sorted(every.items()) if isinstance(x, lw.Algorithm) and "bodies" not in x.static}


class AlgorithmType(ParamType):
    """An algorithm or a controller, after @ the frame for which it is asked; stays a string."""

    name = "algorithm"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if (name := str(value).partition("@")[0]) not in known():
            raise UnknownNameError("algorithm", name, known())
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(name) for name in known() if name.startswith(incomplete)]


class OptionType(ParamType):
    """NAME=VALUE: numbers separated by commas, or a word."""

    name = "NAME=VALUE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, Any]:
        if isinstance(value, tuple):
            return value[0], value[1]
        name, mark, text = value.partition("=")
        if not (mark and name and text):
            self.fail(f"expected NAME=VALUE, such as kp=100 or kp=100,80,60, got {value!r}.", param, ctx)
        try:
            many = [float(x) if "." in x or "e" in x.lower() else int(x) for x in text.split(",")]
        except ValueError:
            return name, text
        return name, many[0] if len(many) == 1 else many


@click.command(short_help="Write functions as C, Rust or JavaScript that compiles by itself.")
@robot_argument
@click.argument("algorithms", nargs=-1, required=True, type=AlgorithmType(), metavar="ALGORITHM[@FRAME]...")
@click.option("--to", type=click.Choice(tuple(NEXT)), default="c", show_default=True, help="What to write.")
@click.option("--output", "-o", "folder", type=click.Path(path_type=Path), help="The folder; by default the name.")
@click.option("--name", help="What the library is called; by default as the robot.")
@click.option("--dtype", type=click.Choice(("float64", "float32")),
              help="The numbers; by default float32 for an Arduino, else float64.")  # fmt: skip
@click.option("--set", "static", type=OptionType(), multiple=True, metavar="NAME=VALUE",
              help="An option of those that have it, as the gain kp=100 or kp=100,80,60. May be repeated.")  # fmt: skip
@click.option("--external", multiple=True, metavar="FRAME",
              help="A frame on which the environment pushes: adds the input f_ext. May be repeated.")  # fmt: skip
@click.option("--parameter", "parameters", multiple=True, metavar="PATH",
              help="A number of the robot that becomes an input, as hand.mass. May be repeated.")  # fmt: skip
@click.option("--base-motion", is_flag=True, help="Add the base's velocity and acceleration as inputs.")
@click.option("--gravity-input", is_flag=True, help="Add gravity as an input, for a base that is not level.")
@robot_options
@json_option
def export(
    robot: str, algorithms: tuple[str, ...], to: str, folder: Path | None, name: str | None, dtype: str | None,
    static: tuple[tuple[str, Any], ...], external: tuple[str, ...], parameters: tuple[str, ...], base_motion: bool,
    gravity_input: bool, as_json: bool, **options: Any,
) -> None:  # fmt: skip
    """Write functions of a robot as a folder of source code that compiles by itself.

    The folder has the sources, a test with numbers, an example of a control loop, and a README with inputs, units,
    operations and stack. The code needs no library, allocates nothing and does not branch: in a controller every call
    takes the same time. Several algorithms become a function each, and one named `together` that computes all of them
    and each sine once. ALGORITHM is a name as in `linkwise.algorithms`, or a controller as in `linkwise.control`;
    @FRAME says for which frame or link.

    \b
    Examples:
      linkwise export puma560 inverse_dynamics
      linkwise export puma560 inverse_dynamics mass_matrix jacobian@link6 --to cmake -o puma
      linkwise export scara computed_torque --set kp=100 --set kd=20 --to arduino
      linkwise export rr inverse_dynamics_derivatives --to rust --dtype float32
      linkwise export fivebar forward_dynamics --to javascript
      linkwise export puma560 inverse_dynamics --external link6 --parameter link6.mass --json
    """
    model = load(robot, **options)
    common: dict[str, Any] = {
        "dtype": dtype or ("float32" if to == "arduino" else "float64"),
        "external": external,
        "parameters": parameters,
        "base_motion": base_motion,
    }
    if gravity_input:
        common["gravity"] = "input"
    kernels = [_kernel(model, text, common, static) for text in algorithms]
    _check_used(static, common, [k.algorithm for k in kernels])
    home = folder or Path(name or _folder(model))
    files = kernels[0].export(home, *kernels[1:], to=to, name=name)
    if as_json:
        facts = {k.program.name: {"inputs": k.inputs, "outputs": k.outputs, "count": k.count()} for k in kernels}
        show.as_json({"robot": model.name, "to": to, "files": [str(p) for p in files.values()], "functions": facts})
        return
    show.line(f"{model.name}: {show.plural(len(files), 'file')} written to {home}")
    asked = [text.replace("@", "_") for text in algorithms]
    rows = [
        (text, ", ".join(k.inputs), ", ".join(k.outputs), sum(k.count().values()))
        for text, k in zip(asked, kernels, strict=True)
    ]
    show.table(("function", "inputs", "outputs", "operations"), rows, right=["operations"])
    show.line(f"Next: {NEXT[to].format(folder=home)}")


def _folder(model: Robot) -> str:
    """The folder of a library without a name of its own."""
    from linkwise.kernel.export.parts import identifier

    return identifier(model.name)


def _kernel(model: Robot, text: str, common: dict[str, Any], static: Sequence[tuple[str, Any]]) -> Any:
    """The kernel of an algorithm, with those of the options that it knows; others are for its neighbours."""
    import linkwise as lw

    name, mark, frame = text.partition("@")
    algorithm = known()[name]
    if bool(mark) != bool({"frame", "keep"}.intersection(algorithm.static)):
        remedy = f"as {name}@{model.moving_links[-1]}" if not mark and model.moving_links else "without @"
        raise click.UsageError(f"{name}: expected {'no frame' if mark else 'a frame or link'}, {remedy}")
    fitting = {k: v for k, v in common.items() if k not in USES or k in algorithm.uses}
    if "keep" in algorithm.static:  # at a sensor, which is a fixed joint
        return lw.compile(model, **fitting).wrench_at(frame)
    own = {key: value for key, value in static if key in algorithm.static} | ({"frame": frame} if mark else {})
    return lw.compile(model, algorithm, **fitting, **own)


def _check_used(static: Sequence[tuple[str, Any]], common: dict[str, Any], algorithms: Sequence[Algorithm]) -> None:
    """Refuse an option that none of the algorithms has."""
    for option, flag in USES.items():
        if common.get(option) and not any(option in a.uses for a in algorithms):
            raise click.UsageError(f"{flag}: expected an algorithm that knows it, as inverse_dynamics")
    every = sorted({key for a in algorithms for key in a.static} - {"frame"})
    for key, _ in static:
        if key not in every:
            expected = f"one of {', '.join(every)}" if every else "an algorithm with options"
            raise click.UsageError(f"--set {key}: expected {expected}")
