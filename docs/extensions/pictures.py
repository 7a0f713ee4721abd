"""Pictures that are drawn when pages are built: a directive that runs Python and shows the figure it ends with."""

import ast
import io
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from extensions import drawing

EXAMPLES = Path(__file__).parents[2] / "examples"


@contextmanager
def workplace() -> Iterator[None]:
    """A folder with the files of examples/, which code may write to."""
    with tempfile.TemporaryDirectory() as folder, chdir(shutil.copytree(EXAMPLES, Path(folder, "examples"))):
        yield


def value_of(code: str, names: dict[str, Any], where: str) -> Any:
    """Run code, and give the value of the expression at its end."""
    tree = ast.parse(code, where)
    last = tree.body.pop()
    if not isinstance(last, ast.Expr):
        raise ValueError(f"{where}: expected an expression in the last line, got a statement.")
    with workplace():
        exec(compile(tree, where, "exec"), names)
        return eval(compile(ast.Expression(last.value), where, "eval"), names)


def inline(svg: str, label: str = "") -> str:
    """An SVG to stand in a page: its grey becomes the colour of the page's text."""
    svg = svg[svg.index("<svg") :].replace(drawing.INK, "currentColor")
    return svg.replace("<svg", f'<svg role="img" aria-label="{escape(label)}"' if label else "<svg", 1)


def svg_of(value: Any) -> str:
    """The SVG of a figure, of axes, or of a text that is one."""
    if isinstance(value, str):
        return value
    figure = getattr(value, "figure", value)
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()


class Run(SphinxDirective):
    """A directive whose content is Python; its argument says what the reader sees, and stands below it."""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True

    def html(self, value: Any, label: str) -> str:
        raise NotImplementedError

    def run(self) -> list[nodes.Node]:
        where = f"{self.env.docname}, line {self.lineno}"
        names = self.env.temp_data.setdefault("linkwise names", dict(drawing.NAMES))
        caption, messages = self.parse_inline(self.arguments[0], lineno=self.lineno)
        text = nodes.caption("", "", *caption)
        html = self.html(value_of("\n".join(self.content), names, where), text.astext())
        drawing.plt.close("all")
        return [nodes.figure("", nodes.raw("", html, format="html"), text, classes=["picture"]), *messages]


class Picture(Run):
    """A Matplotlib figure, or the text of an SVG."""

    def html(self, value: Any, label: str) -> str:
        return inline(svg_of(value), label)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("picture", Picture)
    return {"parallel_read_safe": True}
