"""Packages whose names come from their modules, each imported when one of its names is first used."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

from linkwise.locks import loading

BEGAN = time.time_ns()  # when the first module of Linkwise was imported


class Lazy(ModuleType):
    """A package that knows the module of each of its names."""

    _HOME: dict[str, str]

    def __getattr__(self, name: str) -> Any:
        if name not in self._HOME:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        with loading:
            value = getattr(import_module(self._HOME[name]), name)
        setattr(self, name, value)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        """A module that is imported does not hide what has its name."""
        hides = isinstance(value, ModuleType) and name in self._HOME
        super().__setattr__(name, getattr(value, name) if hides else value)

    def __reduce__(self) -> Any:
        return import_module, (self.__name__,)

    def __dir__(self) -> list[str]:
        return sorted({*vars(self), *self._HOME})


def lazy(package: str, homes: Mapping[str, str]) -> None:
    """Give a package its names: those of each module, with spaces between.

    Modules of Linkwise import a name from its module, not from such a package: they would wait for whoever is loading
    while he waits for them.
    """
    module: Any = sys.modules[package]
    module._HOME = {name: f"{package}.{home}" for home, names in homes.items() for name in names.split()}
    module.__all__ = sorted(module._HOME)
    module.__class__ = Lazy
