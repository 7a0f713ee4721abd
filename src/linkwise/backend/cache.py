"""Machine code kept on disk between processes, and treated as code.

The directory is private to the user (mode 0700, owner checked, no other user above it); a file is named by a hash of
all that decides its content and carries a hash of that and of its name. Whatever is unexpected is ignored and rebuilt,
with one warning, and never executed. `LINKWISE_CACHE` names another directory; `LINKWISE_CACHE=off` turns the cache
off. Above `LINKWISE_CACHE_SIZE`, 1 GiB if not set, the entries used longest ago make room.
"""

from __future__ import annotations

import hashlib
import os
import re
import struct
import sys
import time
import warnings
from pathlib import Path

from linkwise.backend.folder import NotPrivate, private

MAGIC = b"linkwise-code-2\n"
OFF = ("off", "0", "no", "none", "")
SIZE = 2**30  # bytes
REMEDY = "Name a folder that can be written by LINKWISE_CACHE, or LINKWISE_CACHE=off."
UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


class CacheWarning(UserWarning):
    """The cache of compiled kernels could not be used as it is."""


_warned = False


def directory() -> Path | None:
    """Where the cache is: as `LINKWISE_CACHE` says, in `XDG_CACHE_HOME`, or in the home directory; None if nowhere."""
    setting = os.environ.get("LINKWISE_CACHE")
    if setting is not None and setting.lower() in OFF:
        return None
    try:
        if setting:
            parts = Path(setting).parts
            return _home().joinpath(*parts[1:]) if parts[:1] == ("~",) else Path(setting).expanduser()
        base = Path(os.environ.get("XDG_CACHE_HOME", ""))
        return (base if base.is_absolute() else _home() / ".cache") / "linkwise"  # as its specification says
    except RuntimeError as error:
        _warn(f"the kernel cache cannot be used ({error}); kernels are compiled in every process.")
        return None


def _home() -> Path:
    """The user's home directory, which the root directory is not."""
    if sys.platform == "win32":
        return Path.home()
    import pwd

    try:
        known = pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        known = ""
    for home in (os.environ.get("HOME", ""), known):
        if Path(home).is_absolute() and Path(home) != Path("/"):
            return Path(home)
    raise RuntimeError("you have no home directory: set HOME, or LINKWISE_CACHE")


def limit() -> float:
    """How many bytes may be kept."""
    setting = os.environ.get("LINKWISE_CACHE_SIZE", "").strip()
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([kmgt]?)(?:i?b)?", setting.lower())
    if found is None:
        if setting:
            _warn(f"LINKWISE_CACHE_SIZE: expected a size such as 500M or 2G, got {setting!r}. 1 GiB is used.")
        return SIZE
    return float(found[1]) * UNITS[found[2]]


def read(key: str) -> list[bytes] | None:
    """The object files kept under a key, or None."""
    path = directory()
    if path is None:
        return None
    try:
        with private(path) as folder:
            try:
                data = folder.read(f"{key}.bin")
            except FileNotFoundError:
                return None
            except OSError as error:
                _warn(f"the kernel cache entry {path / key}.bin cannot be read ({error}); it is rebuilt.")
                return None
    except NotPrivate as error:
        _warn(f"the kernel cache {path} is not used: {error}")
        return None
    except OSError as error:
        _warn(f"the kernel cache cannot be used ({error}); kernels are compiled in every process. {REMEDY}")
        return None
    objects = _unpack(key, data)
    if objects is None:
        _warn(f"the kernel cache entry {path / key}.bin is damaged; it is rebuilt.")
    return objects


def write(key: str, objects: list[bytes]) -> None:
    """Keep object files under a key; a failure is only a warning."""
    path = directory()
    if path is None:
        return
    try:
        with private(path) as folder:
            data, most = _pack(key, objects), limit()
            if len(data) <= most:
                folder.write(f"{key}.bin", data)
            folder.trim(".bin", most, time.time())
    except OSError as error:
        _warn(f"the kernel cache {path} cannot be written ({error}). {REMEDY}")


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
