"""Algorithms in API pages as users call them: `.. algorithms:: inverse_dynamics mass_matrix` in a block of eval-rst.

A traced function takes a machine, sequences of scalars and a world; what a user calls takes arrays. Inputs, outputs,
shapes and the inputs that options of `lw.compile` add are those that the library itself has.
"""

import inspect
import re
from collections.abc import Iterator
from itertools import groupby
from textwrap import dedent, indent

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.ext.napoleon import GoogleDocstring
from sphinx.util.docutils import SphinxDirective

import linkwise as lw
from linkwise.algorithms.algorithm import INPUTS, LOADS, MOTION, REFERENCES, Cheapest
from linkwise.kernel.options import Options

DERIVATIVES = ("positions", "velocities", "accelerations", "jerks", "snaps")
WORDS = {
    **{name: f"{what} of the joints alone, without motors" for name, what in zip(LOADS, DERIVATIVES, strict=False)},
    **{name: f"{what} that are wanted" for name, what in zip(REFERENCES, DERIVATIVES, strict=False)},
    **dict(zip(MOTION, DERIVATIVES, strict=False)),
    "tau": "torques of the drives, N m or N",
    "f_ext": "wrenches of the environment on the frames `external=`: force, then moment, in each frame's axes",
    "base_velocity": "of the base, linear then angular, in its axes; with `base_motion=True`",
    "base_acceleration": "its classical acceleration; with `base_motion=True`",
    "base_jerk": "its jerk; with `base_motion=True`",
    "base_snap": "its snap; with `base_motion=True`",
    "parameters": "numbers of the model named by `parameters=`",
    "gravity": 'the acceleration of free fall; with `gravity="input"`',
    "given": "for each coordinate its acceleration if its joint is driven, else its force",
    "weights": "a positive weight for each drive",
    "direction": "the direction, of (q, qd, qdd)",
    "force": "at the leading coordinates",
    "dt": "time, s",
    "q0": "positions at the start",
    "q1": "positions at the end",
    "a": "accelerations, classical for floating joints",
    "f_ext_dot": "rates of the numbers in f_ext",
    "f_ext_ddot": "their second rates",
    "frame": "name of a frame or link",
    "axes": '"world" or "local": the axes of the result',
    "route": "how to compute it; the cheaper route by default",
    "driven": "names of the joints whose accelerations are given",
    "sensor": "name of a fixed joint, or of the link that it carries",
}
INTERNAL = {"machine", "tree", "world", "motion", "signals", "keep"}


def shape(dims) -> str:
    return f"({', '.join(['...', *map(str, dims)])})"


def section(doc: str, title: str) -> tuple[str, str]:
    """A docstring without one of its sections, and that section."""
    found = re.search(rf"^{title}:\n((?:[ ]+.*\n?|\n(?=[ ]))+)", doc, flags=re.MULTILINE)
    return (doc.replace(found[0], ""), dedent(found[1])) if found else (doc, "")


def words_of(text: str) -> dict[str, str]:
    """What a section of arguments says of each, in one line; their shapes come from the library."""
    each = re.findall(r"^(\w+): (.*(?:\n[ ]+.*)*)", text, flags=re.MULTILINE)
    return {name: re.sub(r" \((nq|nv|nu)\)", "", " ".join(words.split())) for name, words in each}


def added_inputs(algorithm: lw.Algorithm) -> list[tuple[str, str]]:
    """The inputs that options add, with their shapes."""
    robot = lw.load("rr")
    tip = robot.links[-1].name
    options = Options.checked(robot, external=(tip,), base_motion=True, gravity="input", parameters=(f"{tip}.mass",))
    order = int(algorithm.static["order"]) if algorithm.grown else algorithm.rates
    many = {"f_ext": ("k", 6), "f_ext_dot": ("k", 6), "f_ext_ddot": ("k", 6), "parameters": ("k",)}
    return [(p.name, shape(many.get(p.name, p.shape))) for p in options.ports(robot, algorithm, order)]


def call(algorithm: lw.Algorithm, added: list[str]) -> str:
    """How a user calls it: inputs, then what belongs to the one frame for which it is compiled, then further inputs."""
    member = getattr(lw.Dynamics, algorithm.name, None)
    inputs, options = ", ".join(algorithm.inputs), ""
    if inspect.isfunction(member):
        own = [name for name in inspect.signature(member).parameters if name not in ("self", "extra", "axes")]
        inputs = f"sensor)({inputs}" if own == ["sensor"] else ", ".join(own)  # one function for each sensor
        options = "".join(f', {k}="{v}"' for k, v in algorithm.static.items() if k == "axes")
    together = [list(names) for _, names in groupby(added, key=lambda name: name.split("_")[0])]  # by one option
    further = "".join(f"[, {', '.join(names)}]" for names in together)
    return f"{algorithm.name}({inputs}{further}{options}) -> {', '.join(algorithm.outputs)}"


def fields(algorithm: lw.Algorithm, words: dict[str, str], added: list[tuple[str, str]]) -> Iterator[str]:
    """The arguments, what compile may be told, and what comes out."""
    said = words.pop("returns", "")
    words = WORDS | words
    member = getattr(lw.Dynamics, algorithm.name, None)
    for name in algorithm.inputs:
        yield f":param {name}: ``{shape(INPUTS[name])}`` {words.get(name, '')}"
    inspected = [*inspect.signature(member).parameters] if inspect.isfunction(member) else []
    for name in inspected:
        if name not in ("self", "extra", *algorithm.inputs):
            yield f":param {name}: {words.get(name, '')}"
    for name, dims in added:
        yield f":param {name}: ``{dims}`` {words.get(name, '')}"
    static = {k: v for k, v in algorithm.static.items() if k not in (*inspected, *INTERNAL)}
    for name, value in static.items():
        default = "" if isinstance(value, (type, Cheapest)) else f", {value!r} by default"
        yield f":Option of compile, {name}=: {words.get(name, words.get('gains', ''))}{default}"
    outputs = ", ".join(f"``{name}`` ``{shape(dims)}``" for name, dims in algorithm.outputs.items())
    yield f":returns: {outputs}{'. ' + said if said else ''}"


class Algorithms(SphinxDirective):
    """The algorithms that are named, one after the other."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        found: list[nodes.Node] = []
        for name in self.arguments[0].split():
            home = "linkwise.control" if hasattr(lw.control, name) else "linkwise.algorithms"
            found += self.one(getattr(lw.control if home.endswith("control") else lw.algorithms, name), home)
        return found

    def one(self, algorithm: lw.Algorithm, home: str) -> list[nodes.Node]:
        member = hasattr(lw.Dynamics, algorithm.name)
        doc, asked = section(inspect.getdoc(algorithm) or "", "Args")
        doc, given = section(doc, "Returns")
        words = words_of(asked) | {"returns": " ".join(given.split())}
        added = added_inputs(algorithm)
        body = [*str(GoogleDocstring(doc, self.config)).splitlines(), ""]
        short = f"lw.{algorithm.name}" if algorithm.name in lw.__all__ else f"lw.{home[9:]}.{algorithm.name}"
        if not member:
            needed = [k for k, v in algorithm.static.items() if isinstance(v, type) and k not in INTERNAL]
            told = "".join(f", {k}=..." for k in needed)
            body += [f"``kernel = lw.compile(robot, {short}{told})`` makes the function.", ""]
        elif short.count(".") == 1:
            body += [f"``lw.compile(robot, {short}, ...)`` makes this function alone.", ""]
        body += fields(algorithm, words, added)
        lines = [f".. py:function:: {call(algorithm, [n for n, _ in added])}", f"   :module: {home}", ""]
        parsed = self.parse_text_to_nodes("\n".join([*lines, indent("\n".join(body), "   ")]))
        for node in parsed:
            for prefix in node.findall(addnodes.desc_addname):
                prefix.clear()
                prefix += nodes.Text("dyn." if member else "")
            for result in node.findall(addnodes.desc_returns):  # names of results, not of types to look up
                text = "".join(child.astext() for child in result.children)
                result.clear()
                result += nodes.Text(text)
        return parsed


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("algorithms", Algorithms)
    return {"parallel_read_safe": True}
