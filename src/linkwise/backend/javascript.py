"""JavaScript of a program: one function of arrays, no dependency but Math, whose sine takes any angle."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import c_float

from linkwise.backend.source import Source, Statement, indented
from linkwise.graph.program import Program
from linkwise.graph.show import free

EXPRESSIONS = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "div": "{0} / {1}",
    "neg": "-{0}",
    "sqrt": "Math.sqrt({0})",
    "sin": "Math.sin({0})",
    "cos": "Math.cos({0})",
    "exp": "Math.exp({0})",
    "tanh": "Math.tanh({0})",
    "atan2": "Math.atan2({0}, {1})",
    "sign": "Math.sign({0})",
    "abs": "Math.abs({0})",
    "min": "({0} < {1} || {0} !== {0} ? {0} : {1})",
    "max": "({0} > {1} || {0} !== {0} ? {0} : {1})",
    "less": "({0} < {1} ? 1.0 : 0.0)",
    "where": "({0} !== 0.0 ? {1} : {2})",
}

# names that a function, an argument or a value must not have
WORDS = """
    arguments await break case catch class const continue debugger default delete do else enum eval export extends false
    finally for function if implements import in instanceof interface let new null package private protected public
    return static super switch this throw true try typeof var void while with yield
    Float64Array Infinity Math NaN undefined
"""
RESERVED = frozenset(WORDS.split())

# statements of one function: V8 leaves those of more than 60 kB of bytecode uncompiled, ten times slower
LONGEST = {"float64": 3200, "float32": 900}


class JavaScript(Source):
    """A program in JavaScript; in float32 every number is rounded to one."""

    language, method = "JavaScript", "javascript_source"
    expressions, reserved = EXPRESSIONS, RESERVED
    counter, nan = "let", "NaN"

    def _rounded(self, text: str) -> str:
        return f"Math.fround({text})" if self.program.dtype == "float32" else text

    def number(self, value: float) -> str:
        exact = c_float(value).value if self.program.dtype == "float32" else value
        return repr(exact).replace("inf", "Infinity").replace("nan", self.nan)

    def operation(self, op: str, arguments: Sequence[str]) -> str:
        return self._rounded(super().operation(op, arguments))

    def read(self, array: str, k: int) -> str:
        return self._rounded(f"{array}[{k}]")

    def value(self, name: str, text: str) -> str:
        return f"const {name} = {text};"

    def array(self, name: str, numbers: Sequence[str]) -> str:
        return f"const {name} = [{', '.join(numbers)}];"

    def signature(self) -> str:
        inputs, outputs = self.arguments
        return f"function {self.function}({', '.join([*inputs, *outputs])})"

    def body(self, statements: Sequence[Statement], taken: Sequence[str]) -> list[str]:
        """The statements, many of them cut into functions, which pass on values by an array."""
        longest = LONGEST[self.program.dtype]
        if len(statements) <= longest:
            return super().body(statements, taken)
        size = longest // 3  # compiled sooner, and there is room for what is passed on
        parts = [statements[k : k + size] for k in range(0, len(statements), size)]
        home = {s.defines: k for k, part in enumerate(parts) for s in part if s.defines}
        needed = [dict.fromkeys(r for s in part for r in s.reads if home[r] != k) for k, part in enumerate(parts)]
        place = {name: k for k, name in enumerate(dict.fromkeys(name for part in needed for name in part))}
        kept = free("kept", taken)
        lines = [self.value(kept, f"new Float64Array({len(place)})")]
        for part, wanted in zip(parts, needed, strict=True):
            inside = [self.value(name, f"{kept}[{place[name]}]") for name in wanted]
            inside += [s.text for s in part]
            inside += [f"{kept}[{place[s.defines]}] = {s.defines};" for s in part if s.defines in place]
            lines += ["(() => {", *(f"    {line}" for line in inside), "})();"]
        return lines


def source(program: Program, name: str | None, title: str) -> str:
    """The JavaScript source of a program: one function, which has that of a turn of its loop inside."""
    js = JavaScript(program, name)
    turn = [f"{js.turn.signature()} {{", *(f"    {line}" for line in js.turn.lines()), "}"] if js.turn else []
    return f"{js.comment(title)}\n{js.signature()} {{\n{indented([*turn, *js.lines()])}\n}}\n"
