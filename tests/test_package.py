"""The public names, which come when they are first asked for."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import linkwise as lw

SOURCE = Path(lw.__file__).read_text()


def test_every_public_name_is_there():
    for name in lw.__all__:
        assert getattr(lw, name) is not None
    assert set(lw.__all__) <= set(dir(lw))


def test_what_type_checkers_see_is_what_there_is():
    guard = next(n for n in ast.parse(SOURCE).body if isinstance(n, ast.If) and isinstance(n.test, ast.Name))
    seen = {alias.name: n.module for n in guard.body if isinstance(n, ast.ImportFrom) for alias in n.names}
    assert seen == lw._HOME


def test_algorithms_say_what_they_are():
    """To `help`, to editors and in a prompt: their own words, not those of the class."""
    every = [value for value in (getattr(lw, name) for name in lw.__all__) if isinstance(value, lw.Algorithm)]
    assert len(every) > 40
    for a in every:
        assert inspect.getdoc(a) == inspect.getdoc(a.function)
    assert repr(lw.inverse_dynamics) == "<Algorithm inverse_dynamics(q, qd, qdd) -> tau>"
    assert repr(lw.integrate) == "<Algorithm integrate(q, qd, dt) -> q_next>"


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'lod'"):
        _ = lw.lod


@pytest.mark.parametrize("name", ["compile", "base_parameters", "simulate"])
@pytest.mark.parametrize(
    "order", ["import linkwise.{0}", "lw.{0}; import linkwise.{0}", "from linkwise.{0} import {0}"]
)
def test_a_function_keeps_its_name_against_its_module(name, order):
    text = f"import linkwise as lw\n{order.format(name)}\nassert callable(lw.{name}), lw.{name}\n"
    text += f"from linkwise import {name}\nassert callable({name})\n"
    subprocess.run([sys.executable, "-c", text], check=True)


def test_import_brings_nothing_heavy():
    text = "import sys, linkwise; print([m for m in ('numpy', 'linkwise.robot') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
