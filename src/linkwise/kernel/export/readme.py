"""The README of a library: its functions with inputs, units, operations and stack, and rules that its code keeps."""

from __future__ import annotations

import re

from linkwise.backend.own_math import FARTHEST
from linkwise.errors import printable
from linkwise.graph.program import Port
from linkwise.graph.show import operations
from linkwise.kernel.export.parts import MARK, Package, Part, meaning

BUILD = {
    "c": "`make` builds `lib{name}.a`, `make test` compares it with numbers, `make run` runs the example, `make stack`"
    " prints the stack that GCC uses.",
    "cmake": "`cmake -B build && cmake --build build && ctest --test-dir build`; `cmake --install build` installs the"
    " target `{name}::{name}` for `find_package({name})`. In a ROS 2 package copy this folder beside your sources, then"
    " `add_subdirectory({name})` and `target_link_libraries(your_controller {name})`. `control_loop.c` is plain C in"
    " the manner of ros2_control, without ROS 2.",
    "arduino": "Copy this folder into the folder `libraries` of your sketches; the example is under File, Examples."
    " `extras` has a test with numbers for a computer: `cc -Isrc src/*.c extras/test_{name}.c -lm`. Where the processor"
    " has no unit for reals, as on an Uno or a Mega, the time of an operation depends on its numbers.",
    "rust": "`cargo test` compares it with numbers, `cargo run --release --example control_loop` runs the example.",
    "javascript": "`node test.js` compares it with numbers; `import {{ {last} }} from './{name}.js'` in a browser or in"
    " Node.",
}

RULES = """## Rules that the code keeps

- Every function has one entry and one exit, and calls nothing but the small functions beside it: no recursion, no goto.
- No memory is allocated, no array has a size that is not known, no pointer is moved: arguments are only indexed.
- Nothing global or static changes: functions may run in interrupts and in several threads at once.
- All that a function computes once stays constant; each constant has one meaning.
- Nothing is converted silently: `-Wall -Wextra -Wpedantic -Wconversion` find nothing.
- {loops}
- All inputs are read before an output is written, so that in C an output may be one of the inputs.
- Whatever is not a number in an input is not a number in the outputs that depend on it; no call fails.

In the manner of MISRA C, whose rules on unions and on comparing reals it does not keep: a union gives `exp` and `tanh`
the exponent of a number, and NaN is what differs from itself. No claim of compliance is made.
"""
STRAIGHT = "There is no branch and no loop: every call takes the same steps, so that the slowest is any."
NEWTON = "Loops of the mechanism are closed by Newton's method, the only loop: at most {most} turns, often fewer."


def readme(package: Package, to: str) -> str:
    """The text of README.md."""
    last = package.parts[-1].name
    lines = [
        f"# {package.name}",
        "",
        f"Dynamics of the robot {plain(package.robot.name)}, {MARK}. Numbers are {package.dtype}; angles are in rad,"
        " lengths in m, times in s, masses in kg.",
        "",
        BUILD[to].format(name=package.name, last=last),
        "",
    ]
    if len(package.parts) > 1:
        lines += [f"`{last}` computes what all the others do at once, and what they have in common once.", ""]
    for part in package.parts:
        lines += _part(package, part)
    far = f"{FARTHEST[package.dtype]:,.0f}"
    if to != "javascript":
        mosts = [p.program.before.most for p in package.parts if p.program.before]
        lines += [
            RULES.format(loops=NEWTON.format(most=max(mosts)) if mosts else STRAIGHT),
            f"Sine and cosine are good to two units in the last place up to {far} rad, and NaN beyond."
            " Compile without `-ffast-math`.",
        ]
    return "\n".join(lines).rstrip() + "\n"


def _part(package: Package, part: Part) -> list[str]:
    program = part.program
    rows = [("input", p) for p in program.arguments] + [("output", p) for p in program.outputs]
    few, most = part.stack
    first = (part.kernel.__doc__ or "").strip().partition("\n")[0]
    return [
        f"## {part.name}",
        "",
        plain(first),
        "",
        "| | name | numbers | what |",
        "|---|---|---|---|",
        *(f"| {what} | `{p.name}` | {_shape(p)} | {plain(meaning(package.robot, p))} |" for what, p in rows),
        "",
        f"- operations: {operations(program)}",
        f"- stack: about {few:,} bytes, since {part.alive} values are needed at once; at most {most:,} bytes, where a"
        " compiler keeps all",
        "",
    ]


def _shape(port: Port) -> str:
    return " x ".join(map(str, port.shape)) or "1"


def plain(text: str) -> str:
    """Text of users within Markdown."""
    return re.sub(r"([\\`*_{}\[\]<>|#])", r"\\\1", printable(" ".join(text.split())))
