"""A folder that compiles: the files of a library, written so that nothing of anybody else's is lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path

from linkwise.errors import InputError, UnknownNameError
from linkwise.files import replacing
from linkwise.kernel.export import c, javascript, rust
from linkwise.kernel.export.parts import MARK, Package
from linkwise.kernel.export.readme import readme
from linkwise.kernel.kernel import Compiled

TARGETS: dict[str, Callable[[Package], dict[str, str]]] = {
    "c": c.with_makefile,
    "cmake": c.with_cmake,
    "arduino": c.for_arduino,
    "rust": rust.crate,
    "javascript": javascript.module,
}


def export(
    kernels: Sequence[Compiled], folder: str | PathLike[str], to: str, name: str | None = None
) -> dict[str, Path]:
    """Write a library, and say which files it has; see `Compiled.export`."""
    if to not in TARGETS:
        raise UnknownNameError("target of export", to, TARGETS)
    package = Package.of(kernels, name)
    files = {"README.md": readme(package, to), **TARGETS[to](package)}
    home = Path(folder)
    paths = {file: home / file for file in files}
    for path in paths.values():
        _refuse_foreign(path)
    for file, path in paths.items():
        _make(path.parent)
        with replacing(path) as part:
            part.write_text(files[file], encoding="utf-8", newline="\n")
    return paths


def _refuse_foreign(path: Path) -> None:
    """Refuse to write over a file that was not generated."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError(f"{str(path)!r}: expected a file that can be written, got: {error.strerror}.") from error
    if MARK not in text:
        raise InputError(
            f"{str(path)!r}: expected a file {MARK}, or none, got another one. Give another folder, or remove it."
        )


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{str(folder)!r}: expected a folder that can be made, got: {error.strerror}.") from error
