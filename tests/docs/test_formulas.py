"""Formulas of pages become MathML as LaTeX means them."""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))

from docutils.utils.math.latex2mathml import tex2mathml

from extensions.formulas import prepared

SPACE = "{http://www.w3.org/1998/Math/MathML}"


def shown(tex: str) -> str:
    """The elements of a formula, nested in parentheses."""

    def walk(element: ElementTree.Element) -> str:
        inner = " ".join(map(walk, element)) or (element.text or "").strip()
        return f"{element.tag.removeprefix(SPACE)}({inner})"

    return " ".join(map(walk, ElementTree.fromstring(tex2mathml(prepared(tex)))))


@pytest.mark.parametrize("accent", [r"\dot", r"\ddot", r"\hat", r"\bar"])
def test_an_index_stands_beside_an_accent_not_below_it(accent):
    assert "munder" not in shown(rf"{accent} q_i")
    assert "munder" not in shown(rf"{accent}{{\boldsymbol\omega}}_i^2")
    assert shown(rf"{accent} q_i").endswith("msub(mrow() mi(i))")
    assert shown(rf"\tau {accent} q").startswith("mi(τ) mover(mi(q)")


def test_bold_greek_is_one_letter():
    assert shown(r"\boldsymbol\omega_i") == "msub(mi(\N{MATHEMATICAL BOLD ITALIC SMALL OMEGA}) mi(i))"
    assert shown(r"\boldsymbol{\lambda}") == "mi(\N{MATHEMATICAL BOLD ITALIC SMALL LAMDA})"


def test_sums_keep_their_limits():
    assert shown(r"\sum_{i}").startswith("msub(mo(∑)") or shown(r"\sum_{i}").startswith("munder(mo(∑)")
