"""A folder that belongs to the user alone, and files in it.

Whoever can write to a folder above this one can put another in its place at any moment. So it is opened once, what was
opened is checked, and files are reached from there: never again by the folder's name. Windows has no such way; there
names are used, in a folder of the user's profile.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

BY_DESCRIPTOR = hasattr(os, "O_NOFOLLOW") and {os.open, os.stat, os.unlink, os.rename} <= os.supports_dir_fd
READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
ROOT = (0, 65534)  # who owns the folders of the system; the second number where a container does not know the first
STALE = 3600.0  # seconds after which a half-written file was left by a process that is no more
PART = ".new-"  # what the name of a half-written file begins with


class NotPrivate(OSError):
    """A folder or file that others could have written."""


class Folder:
    """An open folder; file names are relative to it."""

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self.path, self.at = path, descriptor

    def read(self, name: str) -> bytes:
        """A file's content; it counts as used now."""
        descriptor = os.open(self._name(name), READ, dir_fd=self.at)
        try:
            info = os.fstat(descriptor)
            if not stat.S_ISREG(info.st_mode) or not _mine(info) or stat.S_IMODE(info.st_mode) & 0o022 * BY_DESCRIPTOR:
                raise NotPrivate("it is no file that you alone can write")
            with suppress(OSError):  # where nothing can be written, reading is good enough
                if os.utime in os.supports_fd:
                    os.utime(descriptor)
            with open(descriptor, "rb", closefd=False) as file:
                return file.read()
        finally:
            os.close(descriptor)

    def write(self, name: str, data: bytes) -> None:
        """Write a file; a reader sees the old one or the new one, never half of one."""
        part = f"{PART}{os.getpid()}-{token_hex(8)}"
        try:
            with os.fdopen(os.open(self._name(part), WRITE, 0o600, dir_fd=self.at), "wb") as file:
                file.write(data)
            os.replace(self._name(part), self._name(name), src_dir_fd=self.at, dst_dir_fd=self.at)
        except BaseException as error:
            self.remove(part)
            if not (isinstance(error, PermissionError) and self.at is None and (self.path / name).exists()):
                raise  # but on Windows a file that another process reads stays as it is, which is as good

    def remove(self, name: str) -> None:
        """Remove a file, if it is there and can be removed."""
        with suppress(OSError):  # another process was faster, or has it open
            os.unlink(self._name(name), dir_fd=self.at)

    def trim(self, suffix: str, limit: float, now: float) -> None:
        """Remove what dead processes left half-written and, above the limit in bytes, the files used longest ago."""
        found, total = [], 0
        with os.scandir(self.path if self.at is None else self.at) as entries:
            for entry in entries:
                try:
                    info = entry.stat(follow_symlinks=False)
                except OSError:  # gone meanwhile
                    continue
                if entry.name.startswith(PART):
                    if now - info.st_mtime > STALE:
                        self.remove(entry.name)
                elif entry.name.endswith(suffix):
                    found.append((info.st_mtime, info.st_size, entry.name))
                    total += info.st_size
        for _, size, name in sorted(found):
            if total <= limit:
                break
            self.remove(name)
            total -= size

    def _name(self, name: str) -> str:
        return name if self.at is not None else str(self.path / name)


@contextmanager
def private(path: Path) -> Iterator[Folder]:
    """The folder at a path, made if need be; `NotPrivate` where others could have written to it."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if sys.platform == "win32" or not BY_DESCRIPTOR:
        yield Folder(path, None)
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _check(path, descriptor)
        yield Folder(path, descriptor)
    finally:
        os.close(descriptor)


def _check(path: Path, descriptor: int) -> None:
    """See that an open folder is the user's alone, and that no other user can put another in its place."""
    if sys.platform == "win32":  # which has no owners and modes
        return
    below = os.fstat(descriptor)
    if not _mine(below) or stat.S_IMODE(below.st_mode) & 0o077:
        raise NotPrivate(f"it must belong to you alone. Run: chmod 700 {path}")
    up = ".."
    while True:
        above = os.stat(up, dir_fd=descriptor)
        if os.path.samestat(above, below):  # the root is its own parent
            return
        shared = above.st_mode & stat.S_IWOTH or (above.st_mode & stat.S_IWGRP and above.st_gid != os.getgid())
        if (shared and not above.st_mode & stat.S_ISVTX) or above.st_uid not in (os.getuid(), *ROOT):
            place = os.path.normpath(path.resolve() / up)
            raise NotPrivate(f"others can replace what is in {place}. Name another folder by LINKWISE_CACHE")
        up, below = f"../{up}", above


def _mine(info: os.stat_result) -> bool:
    return not hasattr(os, "getuid") or info.st_uid == os.getuid()
