"""Files: written so that nothing is lost when something fails on the way, and the packages that some need."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

from linkwise.errors import InputError, LinkwiseError

UNREADABLE = (ValueError, TypeError, KeyError, EOFError, zipfile.BadZipFile, zlib.error)  # of damaged archives


@contextmanager
def replacing(path: str | PathLike[str]) -> Iterator[Path]:
    """A path beside `path` to write to, which takes the place of `path` once the block has ended well.

    A reader sees the old file or the new one, never half of one; a block that fails leaves the old file alone.
    """
    try:
        target = Path(path).resolve()
        part = target.with_name(f".{target.stem}.{os.getpid()}{target.suffix}")
        try:
            yield part
            os.replace(part, target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"{os.fspath(path)!r}: expected a file that can be written, got: {reason}.") from error


@contextmanager
def reading(path: str | PathLike[str], otherwise: str) -> Iterator[None]:
    """A block that reads a file of ours, in which whatever goes wrong becomes an error that says `otherwise`."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"{os.fspath(path)!r}: expected a file that can be read, got: {reason}.") from error
    except LinkwiseError:
        raise
    except UNREADABLE as error:
        raise InputError(f"{Path(path).name}: {otherwise}") from error


def required(module: str, what: str) -> Any:
    """A module that Linkwise does not bring itself."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise InputError(
            f"{what}: expected the package {package!r} to be installed, got none."
            f" Install it with: pip install 'linkwise[tables]', or save to .npz or .csv."
        ) from error
