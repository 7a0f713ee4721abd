"""The public names, which come when they are first asked for."""

import ast
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import linkwise as lw
import linkwise.robot
from linkwise.deprecated import MOVED


def test_every_public_name_is_there():
    for name in lw.__all__:
        assert getattr(lw, name) is not None
    assert set(lw.__all__) <= set(dir(lw))


@pytest.mark.parametrize("package", [lw, lw.algorithms, linkwise.robot])
def test_what_type_checkers_see_is_what_there_is(package):
    body = ast.parse(Path(package.__file__).read_text()).body
    guard = next(n for n in body if isinstance(n, ast.If) and isinstance(n.test, ast.Name))
    seen = {alias.name: n.module for n in guard.body if isinstance(n, ast.ImportFrom) for alias in n.names}
    assert seen == package._HOME
    assert set(seen) <= set(package.__all__) <= set(dir(package))


@pytest.mark.parametrize("package", [lw.algorithms, linkwise.robot])
def test_modules_hide_no_names(package):
    """Whichever is imported first, also where a module has the name of what it holds."""
    text = """
import importlib, inspect, sys
package = importlib.import_module(sys.argv[1])
for name, home in sorted(package._HOME.items(), reverse="r" in sys.argv):
    module = importlib.import_module(home)
    assert getattr(package, name) is getattr(module, name), name
    assert not inspect.ismodule(getattr(package, name)), name
for name in list(vars(package)):
    value = vars(package)[name]
    assert not inspect.ismodule(value) or name not in package._HOME, name
exec(f"from {sys.argv[1]} import *")
"""
    for order in ("forth", "r"):
        subprocess.run([sys.executable, "-c", text, package.__name__, order], check=True)
    with pytest.raises(AttributeError, match="no attribute 'lod'"):
        _ = package.lod


def test_modules_import_names_from_their_homes():
    """Not from packages that look them up: a thread that imports would wait for one that loads, and that one for it."""
    for file in Path(lw.__file__).parent.glob("*/**/*.py"):
        for n in ast.walk(ast.parse(file.read_text())):
            package = {"linkwise.algorithms": lw.algorithms, "linkwise.robot": linkwise.robot}.get(
                getattr(n, "module", None)
            )
            if package and isinstance(n, ast.ImportFrom):
                assert not {a.name for a in n.names} & set(package._HOME), (file, n.lineno)


def test_algorithms_say_what_they_are():
    """To `help`, to editors and in a prompt: their own words, not those of the class."""
    every = [a for a in (getattr(lw.algorithms, name) for name in lw.algorithms.__all__) if isinstance(a, lw.Algorithm)]
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
    assert len(lw.__all__) <= 75


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


def test_what_a_tree_does_not_need_is_not_imported():
    text = """
import sys, linkwise as lw
lw.compile(lw.load('rr')).inverse_dynamics([0, 0], [0, 0], [0, 0])
few = "robot.mjcf robot.urdf robot.xml algorithms.hybrid_dynamics algorithms.sensitivities kernel.columns"
print([m for m in few.split() + ["platforms", "mechanism.linkage"] if f"linkwise.{m}" in sys.modules])
print([m for m in ("difflib", "concurrent.futures", "xml", "scipy") if m in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[]", "[]"]
