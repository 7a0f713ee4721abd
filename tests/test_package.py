"""The public names, which come when they are first asked for."""

import ast
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import linkwise as lw
from linkwise.deprecated import MOVED

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
    every = [value for value in vars(lw.algorithms).values() if isinstance(value, lw.Algorithm)]
    assert len(every) > 40
    assert all(getattr(lw, a.name) is a for a in every if a.name in lw.__all__)
    for a in every:
        assert inspect.getdoc(a) == inspect.getdoc(a.function)
    assert repr(lw.inverse_dynamics) == "<Algorithm inverse_dynamics(q, qd, qdd) -> tau>"
    assert repr(lw.algorithms.integrate) == "<Algorithm integrate(q, qd, dt) -> q_next>"


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'lod'"):
        _ = lw.lod


def test_there_are_few():
    assert len(lw.__all__) <= 70


def test_no_module_has_the_name_of_something_else():
    """So that importing a module never hides a function."""
    modules = {m.name for m in pkgutil.iter_modules(lw.__path__)}
    for name in modules & (set(lw.__all__) | set(MOVED)):
        assert inspect.ismodule(getattr(lw, name)), name
    assert type(lw) is type(pkgutil)


@pytest.mark.parametrize("name", ["compile", "base_parameters", "simulate", "plan", "load"])
def test_functions_stay_themselves_when_their_modules_are_imported(name):
    home = lw._HOME[name]
    text = f"import linkwise as lw\nimport {home}\nassert callable(lw.{name}), lw.{name}\n"
    text += f"from linkwise import {name}\nassert {name} is lw.{name}\n"
    subprocess.run([sys.executable, "-c", text], check=True)


def test_public_modules_say_what_they_hold():
    for module in (getattr(lw, n) for n in lw.__all__):
        if inspect.ismodule(module):
            assert module.__doc__, module


def test_import_brings_nothing_heavy():
    text = "import sys, linkwise; print([m for m in ('numpy', 'linkwise.robot') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_loading_a_tree_brings_no_platforms():
    text = "import sys, linkwise as lw; lw.load('rr'); print('linkwise.platforms' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
