"""Formulas as MathML, made when pages are built: browsers show them by themselves, without a script or a network."""

import re
import unicodedata

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

log = logging.getLogger(__name__)
# docutils hangs an index that follows an accent on the letter below: an empty group takes it instead
GROUP = r"(?:\\[a-zA-Z]+|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}|\w)"
ACCENT = re.compile(rf"(\\(?:d{{0,3}}ot|hat|bar|tilde|vec|underline|overline)(?![a-zA-Z])\s*{GROUP})(?=\s*[_^])")


BOLD = re.compile(r"\\boldsymbol(?:\s*\\([a-z]+)|\{\\([a-z]+)\})")


def bold(found: re.Match[str]) -> str:
    """A Greek letter in bold italics, which Unicode has."""
    name = (found[1] or found[2]).upper().replace("LAMBDA", "LAMDA")
    return unicodedata.lookup(f"MATHEMATICAL BOLD ITALIC SMALL {name}")


def prepared(tex: str) -> str:
    """LaTeX that docutils reads well."""
    return ACCENT.sub(r"\1{}", BOLD.sub(bold, tex))


def mathml(node: nodes.math | nodes.math_block) -> str:
    """The formula of a node; one that docutils cannot read is a warning, and shown as it was written."""
    try:
        return tex2mathml(prepared(node.astext()), as_block=isinstance(node, nodes.math_block))
    except MathError as error:
        log.warning("formula %r: %s", node.astext(), error, location=node)
        return f"<code>{nodes.Text(node.astext())}</code>"


def inline(writer, node: nodes.math) -> None:
    writer.body.append(mathml(node))
    raise nodes.SkipNode


def block(writer, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="formula">{mathml(node)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True}
