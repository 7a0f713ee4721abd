"""Files: written so that nothing is lost when something fails on the way, and read without trust."""

from __future__ import annotations

import errno
import io
import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

from linkwise.errors import InputError, LinkwiseError

LARGEST = 4 << 30  # bytes of a file of numbers, and of the arrays in an archive: a log of 1,000,000 rows has a quarter
KINDS = {
    stat.S_IFDIR: "a folder", stat.S_IFIFO: "a named pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}  # fmt: skip
# what a shell passes on, by `|`, `<` and `<(...)`: its other end is open already, so that reading ends
PASSED_ON = re.compile(r"/dev/stdin|(/dev|/proc/self)/fd/\d+")


# ---- writing


@contextmanager
def replacing(path: str | PathLike[str]) -> Iterator[Path]:
    """A new file beside `path` to write to, which takes the place of `path` once the block has ended well.

    A reader sees the old file or the new one, never half of one; a block that fails leaves the old file alone. Of
    several writers, in threads or processes, the last to end wins. A link is followed, and a file that was there keeps
    its mode and owner. The file's name ends in the suffix of `path`, in small letters.
    """
    target, old = output(path)
    part = target.with_name(f".linkwise-{os.urandom(8).hex()}{target.suffix[:16].lower()}")
    try:
        try:
            os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666 if old is None else 0o600))
            yield part
            if old is not None:
                _take_after(part, old)
            os.replace(part, target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise _unusable(path, "written", error) from error


def output(path: str | PathLike[str]) -> tuple[Path, os.stat_result | None]:
    """The file that is to be written, behind links, and what it is now; refused where no file could take its place."""
    try:
        target = Path(os.path.realpath(path))
        old = os.stat(path)
    except FileNotFoundError:
        return target, None
    except (OSError, ValueError) as error:
        raise _unusable(path, "written", error) from error
    if not stat.S_ISREG(old.st_mode):
        raise _unusable(path, "written", f"{_kind(old)}. Give the name of a file, new or to be replaced")
    if not (old.st_mode & 0o222 and os.access(path, os.W_OK)):
        raise _unusable(path, "written", "one that is read-only. Give another name, or remove it first")
    return target, old


def _take_after(part: Path, old: os.stat_result) -> None:
    """Give a file the mode and, where that is allowed, the owner of the one that it replaces."""
    made = os.stat(part)
    if sys.platform != "win32" and (made.st_uid, made.st_gid) != (old.st_uid, old.st_gid):
        with suppress(OSError):
            os.chown(part, old.st_uid, old.st_gid)
    os.chmod(part, stat.S_IMODE(old.st_mode))


# ---- reading


@contextmanager
def reading(path: str | PathLike[str], otherwise: str, most: int = LARGEST) -> Iterator[BinaryIO]:
    """A file to read from, in a block where whatever goes wrong becomes an error that says `otherwise`.

    Folders, named pipes and devices are refused before they are opened, as are files of more than `most` bytes.
    """
    try:
        with _opened(path, most) as file:
            yield file
    except LinkwiseError:
        raise
    except Exception as error:  # damage has no bounds: zipfile, NumPy, JSON and Arrow each have errors of their own
        if isinstance(error, OSError) and error.errno is not None:
            raise _unusable(path, "read", error) from error
        raise InputError(f"{Path(path).name}: {otherwise}") from error


def contents(path: str | PathLike[str], most: int) -> bytes:
    """The bytes of a file, at most so many."""
    with reading(path, "expected a file that can be read.", most) as file:
        data = file.read()
    if data.startswith(b"version https://git-lfs.github.com/"):
        raise InputError(f"{Path(path).name}: expected the file itself, got its Git LFS pointer. Run `git lfs pull`.")
    return data


def foreign_arrays(path: str | PathLike[str]) -> dict[str, Any] | None:
    """The arrays of an .npz archive that does not list its columns, as ours do; None for one that does."""
    import zipfile

    with reading(path, "expected an archive of arrays, got something else, or a part of it.") as file:
        with zipfile.ZipFile(file) as archive:
            if "columns.npy" in archive.namelist():
                return None
        return arrays(file)


def arrays(file: BinaryIO, most: int = LARGEST) -> dict[str, Any]:
    """The arrays of an .npz archive, all of numbers or texts, each read to its end, where its checksum is compared."""
    import zipfile

    from numpy.lib import format as npy

    found = {}
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        file.seek(-22, os.SEEK_END)
        end = file.read(22)  # which says how many there are; a damaged directory may have lost some
        if end.startswith(b"PK\5\6") and int.from_bytes(end[10:12], "little") not in (len(members), 0xFFFF):
            raise ValueError("fewer arrays than the archive says")
        if sum(m.file_size for m in members) > most:
            raise _too_large(getattr(file, "name", "archive"), most)
        for member in members:
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # whose output can be bounded
                raise ValueError("compressed in a way of which NumPy knows nothing")
            with archive.open(member) as data:
                array = npy.read_array(data, allow_pickle=False)
                if data.read(1) or array.size > member.file_size:
                    raise ValueError("an array of another size than its file")
            found[member.filename.removesuffix(".npy")] = array
    if len(found) < len(members):
        raise ValueError("two arrays of one name")
    return found


@contextmanager
def _opened(path: str | PathLike[str], most: int) -> Iterator[BinaryIO]:
    """A file open for reading that is no longer than `most`; what a shell passes on is read to its end first."""
    try:
        found = os.stat(path)
    except ValueError as error:  # a name that no file can have
        raise _unusable(path, "read", error) from error
    _check_input(path, found, most)
    if PASSED_ON.fullmatch(os.fspath(path)):
        with open(path, "rb") as stream:
            data = stream.read(most + 1)
        if len(data) > most:
            raise _too_large(path, most)
        yield io.BytesIO(data)
        return
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0))) as file:
        _check_input(path, os.fstat(file.fileno()), most)  # it may have been exchanged
        yield file


def _check_input(path: str | PathLike[str], found: os.stat_result, most: int) -> None:
    if stat.S_ISDIR(found.st_mode):  # on Windows opening it says something else
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(found.st_mode) and not PASSED_ON.fullmatch(os.fspath(path)):
        raise _unusable(path, "read", f"{_kind(found)}. Write its data to a file first")
    if found.st_size > most:
        raise _too_large(path, most)


# ---- words


def _kind(found: os.stat_result) -> str:
    return KINDS.get(stat.S_IFMT(found.st_mode), "something else")


def _size(count: int) -> str:
    return f"{count} bytes" if count < 1 << 20 else f"{count >> 20} MB" if count < 1 << 30 else f"{count >> 30} GB"


def _too_large(path: str | PathLike[str], most: int) -> InputError:
    remedy = "Split it, or leave out what is not needed."
    return InputError(f"{Path(path).name}: expected at most {_size(most)}, got more. {remedy}")


def _unusable(path: str | PathLike[str], verb: str, why: OSError | ValueError | str) -> InputError:
    reason = why if isinstance(why, str) else getattr(why, "strerror", None) or str(why)
    return InputError(f"{os.fspath(path)[:200]!r}: expected a file that can be {verb}, got: {reason}.")


# the extra of ours that brings a package, and what does without it
EXTRAS = {name: (name, "") for name in ("casadi", "jax", "torch")} | {"sympy": ("symbolic", "")}
EXTRAS |= dict.fromkeys(("rosbags", "mcap"), ("logs", ""))
_WITHOUT = ", or do without meshes: give links other shapes, or view(meshes=False), --no-meshes"
EXTRAS |= dict.fromkeys(("trimesh", "fast_simplification"), ("view", _WITHOUT))


def required(module: str, what: str) -> Any:
    """A module that Linkwise does not bring itself."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        extra, instead = EXTRAS.get(package, ("tables", ", or save to .npz or .csv"))
        raise InputError(
            f"{what}: expected the package {package!r} to be installed, got none."
            f' Install it with: pip install "linkwise[{extra}]"{instead}.'
        ) from error
