"""Machine code kept on disk between processes, and treated as code.

The directory is private to the user (mode 0700, owner checked); a file is named by a hash of all that decides its
content and carries a hash of that and of its name. Whatever is unexpected is ignored and rebuilt, with one warning,
and never executed. `LINKWISE_CACHE` names another directory; `LINKWISE_CACHE=off` turns the cache off.
"""

from __future__ import annotations

import hashlib
import os
import stat
import struct
import tempfile
import warnings
from pathlib import Path

MAGIC = b"linkwise-code-2\n"
OFF = ("off", "0", "no", "none", "")


class CacheWarning(UserWarning):
    """The cache of compiled kernels could not be used as it is."""


_warned = False


def directory() -> Path | None:
    """The cache's directory, made if need be; None where it is off or cannot be trusted."""
    setting = os.environ.get("LINKWISE_CACHE")
    if setting is not None and setting.lower() in OFF:
        return None
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        path = Path(setting) if setting else (Path(base) if base else Path.home() / ".cache") / "linkwise"
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        info = path.stat()
    except (OSError, RuntimeError) as error:
        _warn(f"the kernel cache cannot be used ({error}); kernels are compiled in every process.")
        return None
    if hasattr(os, "getuid") and (info.st_uid != os.getuid() or stat.S_IMODE(info.st_mode) & 0o077):
        _warn(f"the kernel cache {path} is not used: it must belong to you alone. Run: chmod 700 {path}")
        return None
    return path


def read(key: str) -> list[bytes] | None:
    """The object files kept under a key, or None."""
    folder = directory()
    if folder is None:
        return None
    path = folder / f"{key}.bin"
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        _warn(f"the kernel cache entry {path} cannot be read ({error}); it is rebuilt.")
        return None
    objects = _unpack(key, data)
    if objects is None:
        _warn(f"the kernel cache entry {path} is damaged; it is rebuilt.")
    return objects


def write(key: str, objects: list[bytes]) -> None:
    """Keep object files under a key; a failure is only a warning."""
    folder = directory()
    if folder is None:
        return
    try:
        handle, name = tempfile.mkstemp(dir=folder, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_pack(key, objects))
            os.replace(name, folder / f"{key}.bin")
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        _warn(f"the kernel cache {folder} cannot be written ({error}).")


def _pack(key: str, objects: list[bytes]) -> bytes:
    body = struct.pack("<Q", len(objects)) + b"".join(struct.pack("<Q", len(o)) + o for o in objects)
    return MAGIC + _hash(key, body) + body


def _unpack(key: str, data: bytes) -> list[bytes] | None:
    start = len(MAGIC) + 32
    body = data[start:]
    if not data.startswith(MAGIC) or _hash(key, body) != data[len(MAGIC) : start]:
        return None
    (count,), at, objects = struct.unpack_from("<Q", body), 8, []
    for _ in range(count):
        (size,) = struct.unpack_from("<Q", body, at)
        objects.append(body[at + 8 : at + 8 + size])
        at += 8 + size
    return objects


def _hash(key: str, body: bytes) -> bytes:
    """Over name and content, so that an entry under another's name is refused too."""
    return hashlib.sha256(key.encode() + body).digest()


def _warn(message: str) -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(message, CacheWarning, stacklevel=2)
